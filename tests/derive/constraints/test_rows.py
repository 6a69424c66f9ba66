"""The rows of every joint type: Jacobian, rate and bias are derivatives of the values; free motions are free."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.derive.tree.displacements import unit_quaternions
from tests.interpreted import interpreted

#: Two chains of three and two joints about skew axes, on a base that moves, closed by a joint between their ends.
CHAINS = """
    coordinates x, a = 0.3, b = -0.7, c = 0.4, e = 1.1, f = -0.2;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
    gravity 0, 0, -9.81;
    Base    | Sx(x), Rz(a)                       | m(3), Jx(1), Jy(1), Jz(1);
    A1~Base | Sy(0.4), Rx(b)                     | Sz(0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
    A2~A1   | Sz(0.5), Ry(c), Sx(0.1)            | Sz(0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
    B1~Base | Sy(-0.4), Rz(0.3), Ry(e)           | Sz(0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
    B2~B1   | Sz(0.4), Sx(f), Q(e0, e1, e2, e3)  | Sz(0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
    loop tie | {joint} | A2: Sz(0.3), Rx(0.2) | B2: Sz(0.25), Ry(-0.4);
"""
TYPES = {
    "fixed": 6, "revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4, "spherical": 3, "planar": 3,
    "point_on_line": 2, "point_on_plane": 1, "distance(0.8)": 1,
}  # fmt: skip


def random_state(mechanism, seed=0):
    random = np.random.default_rng(seed)
    q = random.normal(size=len(mechanism.layout.positions))
    for start in mechanism.layout.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, random.normal(size=len(mechanism.layout.velocities))


@pytest.mark.parametrize(("joint", "rows"), TYPES.items())
def test_jacobians_and_rates_are_derivatives(joint, rows):
    mechanism = kg.parse(CHAINS.format(joint=joint))
    kernel = interpreted(mechanism, "constraints,constraint_jacobian,constraint_rates")
    q, v = random_state(mechanism)
    found = kernel(q, v)
    assert found["constraints"].shape == (rows,)
    step = 1e-6
    for k in range(len(v)):
        unit = np.eye(len(v))[k] * step
        ahead, behind = (kernel(moved_positions(mechanism, q, d), v)["constraints"] for d in (unit, -unit))
        np.testing.assert_allclose((ahead - behind) / (2 * step), found["constraint_jacobian"][:, k], atol=2e-9)
    np.testing.assert_allclose(found["constraint_jacobian"] @ v, found["constraint_rates"], atol=1e-13)


@pytest.mark.parametrize("joint", TYPES)
def test_proved_equal_to_differentiated_values(joint):
    mechanism = kg.parse(CHAINS.format(joint=joint))
    rows = kg.derive(mechanism, "constraint_jacobian")
    slopes = kg.derive(mechanism, "d(constraints)/d(dq)")
    renamed = type(slopes)(slopes.nodes, tuple(one._replace(name="constraint_jacobian") for one in slopes.outputs))
    assert not kg.prove(rows, renamed, quaternions=unit_quaternions(mechanism)).differences
