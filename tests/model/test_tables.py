"""Tables: values and derivatives beside SciPy's, in every kind of kernel, and everything that is refused."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, RegularGridInterpolator

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.model import Builder, Mechanism, Name, Sx, inertia
from kinegraph.model.tables import Interpolation, Outside, Table
from tests.interpreted import interpreted

SLOPE = "d(forces)/d(q)"
X = np.array([-1.0, -0.4, 0.3, 0.5, 1.7, 2.0])
Y = np.array([3.0, -1.0, 2.0, 2.5, -4.0, 3.0])
#: Inside, at points, and in the first and last piece.
PLACES = np.array([-0.999, -0.7, -0.4, 0.1, 0.3, 0.45, 1.2, 1.9999])


def _slider(interpolation: str, outside: str) -> tuple[Mechanism, Table]:
    """A mass that the table pushes."""
    builder = Builder("slider")
    q = builder.coordinate("q")
    table = builder.table("push", X, Y, interpolation=interpolation, outside=outside)
    builder.body("Block", transforms=[Sx(q)], inertia=inertia(mass=2))
    builder.force("f", table(q), q)
    return builder.build(), table


def _peer(kind: str, outside: str) -> tuple[object, object]:
    if kind == "linear":
        slopes = np.diff(Y) / np.diff(X)
        return (lambda x: np.interp(x, X, Y)), (lambda x: slopes[np.searchsorted(X, x, side="right") - 1])
    made = PchipInterpolator(X, Y) if kind == "monotone" else None
    ends = "periodic" if outside == "periodic" else "not-a-knot"
    made = made or CubicSpline(X, Y, bc_type=ends)
    return made, made.derivative()


@pytest.mark.parametrize("kind", ["linear", "spline", "monotone"])
@pytest.mark.parametrize("outside", ["refuse", "hold", "extrapolate", "periodic"])
def test_values_and_slopes_are_those_of_scipy_in_every_kernel(kind: str, outside: str) -> None:
    if kind == "monotone" and outside == "periodic":
        with pytest.raises(ModelError, match="periodic and cannot be monotone"):
            _slider(kind, outside)
        return
    model, table = _slider(kind, outside)
    value, slope = _peer(kind, outside)
    exact = [float(table.at([Fraction(float(q))])) for q in PLACES]
    assert exact == pytest.approx(value(PLACES), abs=1e-13)
    for make in (kg.compile, interpreted):
        kernel = make(model, ["forces", SLOPE])
        found = [kernel(q=[q], v=[0.0]) for q in PLACES]
        assert [float(f["forces"][0]) for f in found] == pytest.approx(exact, abs=1e-13)
        inner = [i for i, q in enumerate(PLACES) if q not in X]  # the slope of straight lines jumps at the points
        assert [float(found[i][SLOPE].item()) for i in inner] == pytest.approx(slope(PLACES[inner]), abs=1e-12)


def test_outside_its_points_a_table_does_what_it_states() -> None:
    beyond = np.array([-3.2, 2.6])
    hold, _ = _slider("linear", "hold")
    assert [float(kg.compile(hold, "forces")(q=[q], v=[0])[0]) for q in beyond] == pytest.approx([3, 3], abs=1e-14)
    assert [float(kg.compile(hold, "d(forces)/d(q)")(q=[q], v=[0]).item()) for q in beyond] == [0.0, 0.0]
    further, _ = _slider("spline", "extrapolate")
    found = [float(kg.compile(further, "forces")(q=[q], v=[0])[0]) for q in beyond]
    assert found == pytest.approx(CubicSpline(X, Y)(beyond), rel=1e-13)
    again, table = _slider("linear", "periodic")
    found = [float(kg.compile(again, "forces")(q=[q], v=[0])[0]) for q in beyond]
    assert found == pytest.approx(np.interp((beyond + 1) % 3 - 1, X, Y), abs=1e-12)
    assert [float(table.at([q])) for q in beyond] == pytest.approx(found, abs=1e-12)
    refused, table = _slider("linear", "refuse")
    assert all(np.isnan(kg.compile(refused, "forces")(q=[q], v=[0])[0]) for q in beyond)
    assert all(np.isnan(float(table.at([q]))) for q in beyond)


def test_tables_of_two_arguments_interpolate_as_scipy_does() -> None:
    x, y = np.array([0.0, 1.0, 1.5, 3.0, 4.0]), np.array([-2.0, 0.0, 1.0, 5.0])
    z = np.sin(x[:, None]) + np.cos(y) * x[:, None]
    places = np.array([(0.2, -1.0), (1.2, 0.5), (3.9, 4.0), (1.5, 1.0)])
    for kind in ("linear", "spline"):
        builder = Builder("map")
        q, p = builder.coordinate("q"), builder.coordinate("p")
        table = builder.table("map2", x, z, y, interpolation=kind, outside="refuse")
        builder.body("A", transforms=[Sx(q), Sx(p)], inertia=inertia(mass=1))
        builder.force("f", table(q, p), q)
        kernel = kg.compile(builder.build(), ["forces", SLOPE])

        def value(at: np.ndarray, kernel: kg.codegen.kernel.Kernel = kernel) -> float:
            return float(kernel(q=at, v=[0, 0])["forces"][0])

        found = np.array([value(at) for at in places])
        if kind == "linear":
            assert found == pytest.approx(RegularGridInterpolator((x, y), z)(places), abs=1e-13)
        else:
            across = [[CubicSpline(y, row)(b) for row in z] for _, b in places]
            assert found == pytest.approx(
                [float(CubicSpline(x, row)(a)) for row, (a, _) in zip(across, places, strict=True)]
            )
            step = np.array([1e-6, 0])
            slopes = [(value(at + step) - value(at - step)) / 2e-6 for at in places[:3]]
            exact = [float(np.ravel(kernel(q=at, v=[0, 0])[SLOPE])[0]) for at in places[:3]]
            assert exact == pytest.approx(slopes, abs=1e-7)


def test_one_table_gives_one_answer_however_it_is_described(tmp_path: Path) -> None:
    body = "coordinates q = 0.2; initial q' = 1; Block | Sx(q) | m(2); force f | value(push(q)), on(q);"
    points = ", ".join(f"({x}, {y})" for x, y in zip(X, Y, strict=True))
    listed = kg.parse(f"table push | {points} | spline, hold; {body}")
    axes = f"x({', '.join(map(str, X))}), values({', '.join(map(str, Y))})"
    assert kg.parse(f"table push | {axes} | spline, hold; {body}") == listed
    rows = "\n".join(f"{k}; {x} ; {y}" for k, (x, y) in enumerate(zip(X, Y, strict=True)))
    (tmp_path / "push.csv").write_text("# measured\nrow; x; y\n" + rows)
    for columns in ("x, y", "2, 3"):
        file = tmp_path / "model.kg"
        file.write_text(f'model mechanism; table push | file("push.csv", {columns}) | spline, hold; {body}')
        assert kg.load(file) == listed
    assert kg.parse(kg.write(listed)) == listed
    assert pickle.loads(pickle.dumps(listed)) == listed
    assert hash(pickle.loads(pickle.dumps(listed.tables[0]))) == hash(listed.tables[0])


def test_a_table_counts_in_every_task() -> None:
    model, _ = _slider("spline", "extrapolate")
    peer = CubicSpline(X, Y)
    rest = kg.equilibria(model, bounds={"q": (-3, 3)})
    at = float(rest[0].q[0])
    assert [float(one.q[0]) for one in rest] == pytest.approx(peer.roots(), abs=1e-9)
    assert kg.linearize(model, {"q": at}).A[1, 0] == pytest.approx(peer(at, 1) / 2)
    assert kg.compile(model, "qdd")([0.1], [0], [0])[0] == pytest.approx(peer(0.1) / 2)
    zeros = 0 * PLACES[:, None]
    rows = kg.compile(model, "qdd").batch(PLACES[:, None], zeros, zeros)
    assert np.ravel(rows) == pytest.approx(peer(PLACES) / 2)
    run = kg.simulate(model, 0.5, state={"q": 0.1})
    energy = run["q'"] ** 2 - (peer.antiderivative()(run["q"]) - peer.antiderivative()(0.1))
    assert np.abs(energy).max() < 1e-6


def test_a_table_in_a_transform_moves_exactly() -> None:
    """A follower led by a cam table: its velocity and acceleration are the derivatives of the spline."""
    model = kg.parse("""
        coordinates th = 1; initial th' = 3;
        table lift | (0, 0), (pi/2, 0.02), (pi, 0.05), (3*pi/2, 0.01), (2*pi, 0) | spline, periodic;
        Cam | Rz(th) | m(1), Jz(0.1);
        Follower | Sy(lift(th)) | m(0.5);
    """)
    angle = np.arange(5) * np.pi / 2
    peer = CubicSpline(angle, [0, 0.02, 0.05, 0.01, 0], bc_type="periodic")
    kernel = kg.compile(model, ["H", "pose:Follower"])
    for th in (1.0, 4.0, -2.0, 20.0):
        found = kernel(q=[th])
        H, pose = found["H"], found["pose:Follower"]
        assert pose[1, 3] == pytest.approx(peer(th % (2 * np.pi)), abs=1e-14)
        assert H[0, 0] == pytest.approx(0.1 + 0.5 * peer(th % (2 * np.pi), 1) ** 2, abs=1e-14)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("table T | (0, 1) | linear, hold;", "too few points"),
        ("table T | (0, 1, 2), (1, 1, 2) | linear, hold;", "two numbers"),
        ("table T | (0, 1), (1, 2) | periodic, linear;", "ends with 2, but begins with 1"),
        ("table T | (0, 1), (1, 2) | cubic, hold;", "unknown word 'cubic'"),
        ("table T | (0, 1), (1, 2) | linear, spline, hold;", "does not state the curve between its points once"),
        ("table T | x(0, 1), y(0, 1), values((1, 2), (3, 4)) | monotone, hold;", "cannot be monotone"),
        ("table T | x(0, 1), y(0, 1), values((1, 2), (3, 4, 5)) | linear, hold;", "do not fit the axes"),
        ('table T | file("x.csv") | linear, hold;', "a model without a file"),
        ("table sin | (0, 1), (1, 2) | linear, hold;", "reserved name"),
        ("table q | (0, 1), (1, 2) | linear, hold;", "declared twice"),
        ("table T | (0, 1), (1, 2) | linear, hold; force g | value(T(q, q)), on(q);", "takes 1 argument, found 2"),
        ("parameters a = T(7); table T | (0, 1), (1, 2) | linear, refuse;", "T is not defined there"),
    ],
)
def test_faults_of_tables_are_named(statement: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        kg.parse(f"coordinates q; Block | Sx(q) | m(1); {statement}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("../x.csv", "", "not in the folder of the model"),
        ("/etc/passwd", "", "not in the folder of the model"),
        ("missing.csv", None, "No such file"),
        ("x.csv", "a,b\n", "has no numbers"),
        ("x.csv", "1,2\n2,x\n", "line 2, column 1: `2,x` is not a row of numbers"),
        ("x.csv", "1,2\n2\n", "has 1 columns, the rows before have 2"),
        ("x.csv", "1,2,3\n2,3,4\n", "has 3 columns"),
        ("x.csv", "1,nan\n2,3\n", "is not a row of numbers"),
    ],
)
def test_faults_of_table_files_are_named(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    if content is not None and "/" not in name:
        (tmp_path / name).write_text(content)
    model = tmp_path / "m.kg"
    model.write_text(f'coordinates q; Block | Sx(q) | m(1); table T | file("{name}") | linear, hold;')
    with pytest.raises(ModelError, match=message):
        kg.load(model)


def test_a_body_may_be_called_table() -> None:
    model = kg.parse(
        "coordinates q; table | Sx(q) | m(1); Cup~table | | m(1); table T | (0, 1), (1, 2) | linear, hold;"
    )
    assert [body.name for body in model.bodies] == ["table", "Cup"]
    assert model.tables[0].interpolation is Interpolation.LINEAR
    assert model.tables[0].outside is Outside.HOLD
    assert Name("q") in model.tables[0](Name("q")).arguments
