"""Equations in quasi-velocities, proved equal to those with multipliers, also for level axes."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from tests.effort import SOAK
from tests.interpreted import interpreted

#: A board on two trucks that steer, a rotor on it (Lewis, Ostrowski, Burdick, Murray 1994).
SNAKEBOARD = """model snakeboard; coordinates x, y, theta = 0.3, psi, front = 0.4, back = -0.5;
Board | Sx(x), Sy(y), Rz(theta) | m(6), Jz(0.5); Rotor~Board | Rz(psi) | m(0.1), Jz(0.4);
Front~Board | Sx(0.3), Rz(front) | m(0.5), Jz(0.02); Back~Board | Sx(-0.3), Rz(back) | m(0.5), Jz(0.02);
output F = Front (0, 0, 0); output B = Back (0, 0, 0);
constraint front_wheels | F.y'*cos(theta + front) - F.x'*sin(theta + front) = 0;
constraint back_wheels  | B.y'*cos(theta + back) - B.x'*sin(theta + back) = 0;
"""
#: A model and the quasi-velocities it is written in.
MODELS = {
    "knife-edge": (
        kg.write(kg.load("knife-edge")), "quasivelocity u = cos(theta)*x' + sin(theta)*y'; quasivelocity w = theta';",
    ),
    "rolling-disc": (
        kg.write(kg.load("rolling-disc")),
        "quasivelocity wx = lean'; quasivelocity wy = phi' + psi'*sin(lean); quasivelocity wz = psi'*cos(lean);",
    ),
    "snakeboard": (
        SNAKEBOARD,
        """quasivelocity u = cos(theta)*x' + sin(theta)*y'; quasivelocity r = psi';
        quasivelocity f = front'; quasivelocity b = back';""",
    ),
    "bicycle": (
        kg.write(kg.load("bicycle")), "quasivelocity wr = roll'; quasivelocity ws = steer'; quasivelocity ww = rear';",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS if SOAK else [*MODELS][:3])
def test_equations_in_quasi_velocities_are_proved_equal_to_multipliers(name):
    """The request itself proves them equal: first derived by multipliers, reduced in quasi-velocities."""
    model, quasi = MODELS[name]
    mechanism = kg.parse(model + quasi)
    kernel = kg.compile(mechanism, "qdd", closure="partition")
    usual = interpreted(mechanism, "qdd")
    assert "proved" in str(kernel.proof)
    random = np.random.default_rng(3)
    size = len(mechanism.layout.velocities)
    start = kg.assemble(mechanism)
    for _ in range(4):
        place = Assembler(mechanism).assembled(start.q + random.normal(0, 0.1, size), random.normal(size=size))
        tau = random.normal(size=size)
        wanted = usual(place.q, place.v, tau)
        np.testing.assert_allclose(kernel(place.q, place.v, tau), wanted, atol=1e-9 * max(1, np.abs(wanted).max()))
    if name in ("knife-edge", "rolling-disc"):
        assert kernel.operations.total < usual.operations.total


def test_a_blade_along_an_axis_is_no_dead_point():
    """At theta = 0 a pivot of an elimination would be zero; a determinant is not."""
    kernel = kg.compile(kg.parse("".join(MODELS["knife-edge"])), "qdd", closure="partition")
    usual = kg.compile("knife-edge", "qdd")
    for theta in (0, np.pi / 2, -np.pi):
        state = [0, 0, theta], [0.8 * np.cos(theta), 0.8 * np.sin(theta), 1.7], [1, 2, 3]
        np.testing.assert_allclose(kernel(*state), usual(*state), rtol=1e-12, atol=1e-12)


def test_quasi_velocities_that_follow_from_constraints_are_refused():
    """The speed across the blade is zero, so it does not determine the motion."""
    model = MODELS["knife-edge"][0] + "quasivelocity u = x'; quasivelocity w = cos(theta)*y' - sin(theta)*x';"
    with pytest.raises(kg.KinegraphError, match="do not determine all velocities"):
        kg.compile(kg.parse(model), "qdd", closure="partition")
