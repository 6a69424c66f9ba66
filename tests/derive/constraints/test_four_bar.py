"""The Grashof four-bar: accelerations and pin forces of a maximal-coordinate solution with 50 digits, both branches."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import driving_forces
from kinegraph.derive.tree.expressions import output

REFERENCE = json.loads((Path(__file__).parents[2] / "data/closed_loops/fourbar_grashof.json").read_text("utf-8"))
FOUR_BAR = """
    parameters a = 0.5, b = 1.2, c = 0.8, d = 1, rho = 2;
    coordinates crank, coupler, rocker;
    gravity 0, {gravity}, 0;
    Crank         | Rz(crank)                  | Sx(a/2), m(rho*a), Jz(rho*a^3/12);
    Coupler~Crank | Sx(a), Rz(coupler - crank) | Sx(b/2), m(rho*b), Jz(rho*b^3/12);
    Rocker        | Sx(d), Rz(rocker)          | Sx(c/2), m(rho*c), Jz(rho*c^3/12);
    loop pin | revolute | Coupler: Sx(b) | Rocker: Sx(c);
"""
NAMES = ("crank", "coupler", "rocker")


def state(case):
    q = np.array([case["angles"][name] for name in NAMES])
    v = np.array([case["crank_rate"], case["rates"]["coupler"], case["rates"]["rocker"]])
    return q, v, np.array([case["torque"], 0.0, 0.0])


@pytest.mark.parametrize("case", REFERENCE["forward"])
@pytest.mark.parametrize(("gravity", "key"), [("-9.81", "gravity_on"), ("0", "gravity_off")])
def test_forward_dynamics(case, gravity, key):
    mechanism = kg.parse(FOUR_BAR.format(gravity=gravity))
    q, v, tau = state(case)
    found = kg.compile(mechanism, "qdd,multipliers,constraints,constraint_rates,pivots")(q, v, tau)
    wanted = case[key]["angular_accelerations"]
    np.testing.assert_allclose(found["qdd"], [wanted[name] for name in NAMES], rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(found["constraints"], 0, atol=1e-14)
    np.testing.assert_allclose(found["constraint_rates"], 0, atol=1e-14)
    assert np.all(found["pivots"] > 0.01)
    turn = np.array([[np.cos(q[1]), -np.sin(q[1])], [np.sin(q[1]), np.cos(q[1])]])  # of the coupler, the first frame
    pin = case[key]["pin_forces"]["C_coupler_on_rocker"]
    np.testing.assert_allclose(turn @ found["multipliers"][:2], pin, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("branch", ["open", "crossed"])
@pytest.mark.parametrize("number", range(12))
def test_inverse_dynamics_through_a_turn(branch, number):
    """The torque on the crank for a steady turn; nothing acts on the other two angles."""
    case = REFERENCE["driven"]["positions"][branch][number]
    mechanism = kg.parse(FOUR_BAR.format(gravity="-9.81"))
    q = np.array([case["angles"][name] for name in NAMES])
    v = np.array([5.0, case["rates"]["coupler"], case["rates"]["rocker"]])
    wanted = case["gravity_on"]
    a = np.array([0.0, *(wanted["angular_accelerations"][name] for name in NAMES[1:])])
    found = kg.compile(mechanism, "tau")(q, v, a)
    np.testing.assert_allclose(found, [wanted["torque"], 0, 0], rtol=1e-12, atol=1e-11)


def test_two_formulations_are_proved_equal():
    """Multipliers and partitioning are different derivations of the same accelerations."""
    mechanism = kg.parse(FOUR_BAR.format(gravity="-9.81"))
    derivation = Derivation(mechanism, {}, Plan())
    constrained, force = derivation.constrained, driving_forces(derivation)
    ways = [
        constrained.accelerations(force),
        constrained.partition.accelerations(derivation.inertia, force, constrained.gamma),
    ]
    first, second = (derivation.builder.graph([output("qdd", (3,), way)]) for way in ways)
    assert not kg.prove(first, second).differences
