"""Linearization: reference matrices, and the linear system against the nonlinear one."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.linearize import linearize
from tests.tasks.reference import reference

CART = """
    parameters M = 1.5, m1 = 0.4, m2 = 0.3, l1 = 0.5, l2 = 0.4, c1 = 0.23, c2 = 0.19, J1 = 0.009, J2 = 0.005;
    coordinates x, th1, th2;
    gravity 0, 0, -9.81;
    Cart        | Sx(x)              | m(M);
    Lower~Cart  | Ry(th1)            | Sz(c1), m(m1), Jy(J1);
    Upper~Lower | Sz(l1), Ry({angle}) | Sz(c2), m(m2), Jy(J2);
    damper ground | on(x) damping(0.2);
    damper first  | on(th1) damping(0.003);
    damper second | on({angle}) damping(0.002);
"""


@pytest.mark.parametrize(("form", "angle"), [("absolute", "th2 - th1"), ("relative", "th2")])
def test_cart_with_double_pendulum(form, angle):
    wanted = reference("linearisation_cart_double_pendulum")["forms"][form]
    found = linearize(kg.parse(CART.format(angle=angle)))
    assert found.states == ("x", "th1", "th2", "x'", "th1'", "th2'")
    np.testing.assert_allclose(found.A, wanted["A"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.B[:, found.inputs.index("tau:x")], wanted["B"], rtol=0, atol=1e-13)
    values = [complex(one["re"], one["im"]) for one in wanted["eigenvalues"]]
    np.testing.assert_allclose(sorted(found.eigenvalues, key=lambda z: z.real), values, atol=1e-12)
    assert not found.stable


def test_a_state_that_accelerates_is_refused():
    cart = kg.parse(CART.format(angle="th2"))
    with pytest.raises(TaskError, match=r"neither an equilibrium nor a steady motion: th"):
        linearize(cart, {"th1": 0.1})
    assert linearize(cart, {"th1": 0.1}, steady=False).A.shape == (6, 6)


def test_a_spinning_body_in_quaternions():
    """About steady rotation with w = (0, 0, W): eigenvalues +-iW(C - A)/A twice, +-iW twice and zeros."""
    body = kg.parse("""
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
        Body | Q(e0, e1, e2, e3) | m(1), Jx(2), Jy(2), Jz(3);
    """)
    found = linearize(body, {"wz": 4})
    frequencies = np.sort(np.abs(found.eigenvalues.imag))
    np.testing.assert_allclose(frequencies, [0, 0, 2, 2, 4, 4], atol=1e-6)


def test_outputs_are_quantities():
    pendulum = kg.parse("""
        coordinates q;
        gravity 0, 0, -9.81;
        Rod | Ry(q) | Sz(-0.5), m(1), Jy(0.1);
        output tip = Rod (0, 0, -1);
    """)
    found = linearize(pendulum, outputs="pose:tip")
    assert found.C.shape == (16, 2)
    np.testing.assert_allclose(found.C[3], [-1, 0], atol=1e-15)  # x of the tip
    assert not found.D.any()


def test_outputs_may_take_forces_and_accelerations():
    """y = qdd repeats the lower half of A and B; y = tau, the force of inverse dynamics, is w itself."""
    found = linearize(kg.load("double-pendulum"), {"q1": 0, "q2": 0}, outputs="qdd,tau")
    size = len(found.A) // 2
    np.testing.assert_allclose(np.hstack([found.C, found.D])[:size], np.hstack([found.A, found.B])[size:], atol=1e-12)
    np.testing.assert_allclose(found.C[size:], 0, atol=1e-12)
    np.testing.assert_allclose(found.D[size:], np.eye(size), atol=1e-12)
