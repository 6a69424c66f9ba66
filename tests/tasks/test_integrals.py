"""First integrals: all that exist are found, none that does not (see the reference file for how they were checked)."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.integrals import integrals

TOP = """
    parameters A = 3/10, B = {B}, C = {C}, m = {m}, l = 1/5;
    coordinates psi, theta, phi;
    gravity 0, 0, {g};
    Top | Rz(psi), Rx(theta), Rz(phi) | Jx(A), Jy(B), Jz(C){more};
    {potential}
"""
LAGRANGE = TOP.format(B="3/10", C="1/5", m=2, g=0, more="", potential="potential weight | m*9.81*l*cos(theta);")
EULER = TOP.format(B="1/5", C="1/10", m=1, g=0, more="", potential="")
CART = """
    parameters M0 = 2, m = 1, l = 1/2, b = 1/10, bc = 3/10;
    coordinates x, theta;
    gravity 0, 0, -9.81;
    Cart      | Sx(x)      | m(M0);
    Bob~Cart  | Ry(-theta) | Sz(-l), m(m);
    {elements}
"""
SPRING = """
    coordinates x1, y1, x2, y2 = 1;
    First  | Sx(x1), Sy(y1) | m(1);
    Second | Sx(x2), Sy(y2) | m(2);
    spring s | between(First, Second) stiffness(30) rest(7/5);
"""


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LAGRANGE, {"energy", "p:psi", "p:phi"}),
        (EULER, {"energy", "p:psi", "Lx", "Ly"}),
        (SPRING, {"energy", "px", "py", "Lz"}),
        (CART.format(elements=""), {"energy", "p:x"}),
        (CART.format(elements="damper d | on(theta) damping(b);"), {"p:x"}),
        ("coordinates q1, q2; A | Ry(q1) | Sx(1), m(1); B~A | Sx(1), Ry(q2) | Sx(1), m(1);", {"energy", "p:q1"}),
    ],
)
def test_all_and_no_other(model, names):
    assert set(integrals(kg.parse(model)).names) == names


def test_ground_damping_leaves_momentum_plus_damping_times_way():
    (found,) = integrals(kg.parse(CART.format(elements="damper d | on(x) damping(bc);"))).integrals
    assert {name: str(factor) for name, factor in found.coefficients.items()} == {"p:x": "1", "x": "3/10"}
    state = {"x": 0.4, "theta": 0.3, "x'": 0.7, "theta'": -0.2, "t": 1.0}
    expected = 2 * 0.7 + (0.7 + 0.5 * np.cos(0.3) * -0.2) + 0.3 * 0.4
    assert interpret(found.graph, state)["integral"] == pytest.approx(expected, abs=1e-14)


def test_a_falling_body_keeps_momentum_and_weight_times_time():
    found = integrals(kg.parse("coordinates z; gravity 0, 0, -9.81; Stone | Sz(z) | m(2);"))
    assert [one.combination for one in found.integrals] == ["energy", "p:z + 981/50 t"]


def test_jacobi_of_a_bead_on_a_rotating_hoop():
    hoop = "coordinates q = 1; gravity 0, 0, -9.81; Bead | Rz(3*t), Ry(q) | Sz(-1), m(1);"
    assert integrals(kg.parse(hoop)).names == ("jacobi",)


def test_a_free_body_in_quaternions():
    body = """
        coordinates x, y, z;
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
        Body | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(2), Jx(1), Jy(2), Jz(5/2);
    """
    assert set(integrals(kg.parse(body)).names) == {"energy", "p:x", "p:y", "p:z", "Lx", "Ly", "Lz"}
