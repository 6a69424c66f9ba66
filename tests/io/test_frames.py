"""Frames by matrices and by quaternions of formulas, and angular velocities in fixed axes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.model import Mechanism
from tests.interpreted import interpreted

_TILTED = Rotation.from_euler("xyz", [0.3, 1.2, -2.0]).as_matrix()


def _body(transforms: str) -> Mechanism:
    inertia = "Sx(0.3), Sz(0.1), m(2), Jx(0.3), Jy(0.4), Jz(0.5)"
    return kg.parse(f"parameters a = 0.4; coordinates q = 0.5; gravity 0, 0, -9.81; A | {transforms} | {inertia};")


def _written(matrix: np.ndarray, form: str) -> str:
    return f"R({', '.join(format(float(entry), form) for entry in np.ravel(matrix))})"


@pytest.mark.parametrize("matrix", [_TILTED, np.diag([-1.0, -1, 1]), np.eye(3), Rotation.random(rng=5).as_matrix()])
def test_a_matrix_is_the_frame_whose_axes_are_its_columns(matrix: np.ndarray) -> None:
    model = _body(f"{_written(matrix, '.17g')}, Rz(q)")
    found = kg.compile(model, "pose:A")(q=[0.5])[:3, :3]
    assert found == pytest.approx(matrix @ Rotation.from_euler("z", 0.5).as_matrix(), abs=1e-15)
    assert kg.parse(kg.write(model)) == model


def test_rounded_matrices_become_the_nearest_rotation() -> None:
    found = kg.compile(_body(f"{_written(_TILTED, '.7f')}, Rz(q)"), "pose:A")(q=[0.0])[:3, :3]
    assert found.T @ found == pytest.approx(np.eye(3), abs=1e-15)
    assert found == pytest.approx(_TILTED, abs=1e-7)


@pytest.mark.parametrize(
    ("transforms", "message"),
    [
        ("R(1, 0, 0, 0, 1, 0, 0, 0, -1), Sx(q)", "is a reflection"),
        ("R(1, 0, 0, 0, 1, 0, 0, 0, 1.001), Sx(q)", "differs from 1 by 0.002"),
        ("R(1, 0, 0, 0), Sx(q)", "R takes 9 arguments, found 4"),
        ("R(a, 0, 0, 0, 1, 0, 0, 0, 1), Sx(q)", "the entries of R are numbers: a has no value"),
        ("Q(cos(q/2), sin(q/2), sin(q/2), 0)", "depends on the coordinate q"),
    ],
)
def test_what_is_not_a_frame_is_refused(transforms: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        _body(transforms)


@pytest.mark.parametrize(("parts", "axis"), [("s, 0, 0", "x"), ("0, s, 0", "y"), ("0, 0, s", "z")])
def test_a_quaternion_of_formulas_about_one_axis_is_that_rotation(parts: str, axis: str) -> None:
    """Scaled by any factor: quaternions of formulas need no unit length."""
    turn = f"Q(3*cos(q/2 + t), {parts.replace('s', '3*sin(q/2 + t)')})"
    words = ["H", "gravity", "pose:A", "velocity:A"]
    one, other = (interpreted(_body(f"Rx(a), {way}, Sy(0.2)"), words) for way in (turn, f"R{axis}(q + 2*t)"))
    for q in (0.5, 3.0, -7.0):
        found, wanted = one(q=[q], v=[1.3], t=0.2), other(q=[q], v=[1.3], t=0.2)
        assert all(found[word] == pytest.approx(wanted[word], abs=1e-13) for word in words)


_CHAIN = """
    parameters a = 0.3; coordinates q1 = 0.4, q2 = -0.7, q3 = 0.2; initial q1' = 1, q2' = 2;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (0.5, 0.5, -0.5, 0.5);
    A | Rz(q1 + 0.3*sin(2*t)) | Sx(1), m(1), Jx(0.1), Jy(0.2), Jz(0.25);
    B~A | Sx(1), Rx(a), Ry(q2) | Sx(1), m(1), Jx(0.1), Jy(0.2), Jz(0.25);
    C~B | Sz(q3), Rx(0.2), Q(e0, e1, e2, e3) | Sx(0.4), m(2), Jx(0.1), Jy(0.2), Jz(0.25);
    output tip = C (0, 0, 1) | Rx(1);
"""
_V = [1.0, 2.0, -0.5, 0.3, 0.4, -0.9]


@pytest.mark.parametrize("name", ["C", "tip"])
def test_angular_velocities_in_fixed_axes_are_those_of_the_quantity(name: str) -> None:
    model = kg.parse(f"{_CHAIN} define s = {name}.wx*{name}.wy + {name}.wz; force f | value(s), on(q1);")
    found = interpreted(model, ["forces", "velocity:C"])(q=[0.4, -0.7, 0.2, 0.5, 0.5, -0.5, 0.5], v=_V, t=0.3)
    wx, wy, wz = found["velocity:C"][3:]
    assert found["forces"][0] == pytest.approx(wx * wy + wz, rel=1e-13)


def test_an_element_on_an_angular_velocity_acts_through_its_row() -> None:
    model = kg.parse(f"{_CHAIN} damper d | on(C.wz), damping(2);")
    arguments = {"q": [0.4, -0.7, 0.2, 0.5, 0.5, -0.5, 0.5], "v": _V, "t": 0.3}
    found = interpreted(model, ["forces", "velocity:C"])(**arguments)
    row = interpreted(model, "jacobian:C")(q=arguments["q"], t=0.3)[5]
    assert found["forces"] == pytest.approx(-2 * found["velocity:C"][5] * row, abs=1e-13)


def test_an_angular_velocity_can_be_prescribed() -> None:
    model = kg.parse(f"{_CHAIN} constraint spin | C.wz = 1.5 + t;")
    run = kg.simulate(model, 0.2, native=False)
    q = [run[name][-1] for name in model.layout.positions]
    v = [run[name][-1] for name in model.layout.velocities]
    assert interpreted(model, "velocity:C")(q=q, v=v, t=0.2)[5] == pytest.approx(1.7, abs=1e-9)


def test_components_that_do_not_exist_are_named() -> None:
    for name in ("C.wz'", "C.w", "C.rx"):
        with pytest.raises(ModelError, match=r"C\.x'.*C\.wx, C\.wy, C\.wz"):
            kg.parse(f"{_CHAIN} force f | value({name}), on(q1);")
