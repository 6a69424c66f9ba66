"""Statics: balancing forces against closed forms, virtual work on a crane, and what rest does not determine."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from tests.tasks.test_unknown_forces import SLIDER_CRANK

LADDER = """
    parameters m = 3, l = 2, k = 40;
    coordinates q = 0.4;
    gravity 0, 0, -9.81;
    unknown P;
    Rod | Ry(q) | Sx(l/2), m(m), Jy(1);
    output tip = Rod (l, 0, 0);
    spring coil | on(q), stiffness(k), rest(0.1);
    force hold | at(tip), world(P*cos(0.2), 0, P*sin(0.2));
"""


def test_an_unknown_force_balances_weight_and_spring():
    found = kg.statics(kg.parse(LADDER), {"q": 0.4})
    q, weight = 0.4, 3 * 9.81
    # Ry(q) lowers the tip: (x, z) = l (cos q, -sin q); virtual work of weight, spring and P
    needed = 40 * (q - 0.1) - weight * np.cos(q)
    lever = 2 * (-np.sin(q) * np.cos(0.2) - np.cos(q) * np.sin(0.2))
    assert found["P"] == pytest.approx(needed / lever, rel=1e-13)
    assert found.determinate == (True,) and "P = " in str(found)


def test_drives_of_a_pendulum_are_its_gravity_forces():
    pendulum = kg.load("double-pendulum")
    found = kg.statics(pendulum, {"q1": 0.5, "q2": -0.3}, joints=["Upper", "Lower"])
    gravity = kg.compile(pendulum, "gravity")([0.5, -0.3])
    np.testing.assert_allclose(found.values, gravity, atol=1e-12)
    np.testing.assert_allclose(found.reactions[0].force, [0, 0, 2 * 9.81], atol=1e-10)


@pytest.mark.parametrize("model", ["crane", "crane-linkage"])
def test_the_rack_of_a_crane_by_virtual_work(model):
    joints = ["Boom"] if model == "crane-linkage" else []
    found = kg.statics(model, {"s": 5.0}, unknown=["S"], joints=joints)
    energy = kg.compile("crane", "energy")
    rise = (energy([5.0 + 1e-4], [0.0])[1] - energy([5.0 - 1e-4], [0.0])[1]) / 2e-4
    assert found["S"] == pytest.approx(-rise, rel=1e-7)
    assert all(one.determinate[:2] == (True, True) for one in found.reactions)


def test_what_rest_does_not_determine_is_said():
    text = LADDER.replace("unknown P;", "unknown P, M;") + "moment twist | at(Rod), world(0, M, 0);"
    found = kg.statics(kg.parse(text))
    assert found.determinate == (False, False) and np.isnan(found["P"])
    assert "does not determine" in str(found)
    least = kg.statics(kg.parse(text), least_norm=True)
    assert np.isfinite(least.values).all()


def test_forces_with_hardly_any_hold_are_said():
    slider = kg.parse(SLIDER_CRANK)
    near = kg.statics(slider, {"c": 1e-6}, unknown=["tau:s"])
    assert near.near_singular and "nearly a singular position" in str(near)
    assert not kg.statics(slider, {"c": 1.0}, unknown=["tau:s"]).near_singular
    with pytest.raises(TaskError, match="singular for these unknowns"):
        kg.statics(slider, {"c": 0}, unknown=["tau:s"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kg.statics("crane", {"s": 5.0}), "input 'S' has no value"),
        (lambda: kg.statics("crane", {"s": 50.0}, unknown=["S"]), "no finite value"),
        (lambda: kg.statics("double-pendulum", unknown=["tau:q1"]), "cannot cause"),
        (lambda: kg.statics("double-pendulum", {"q1'": 1}), "is not a coordinate"),
        (lambda: kg.statics("double-pendulum", unknown=["tau:q3"]), "unknown force 'tau:q3'"),
        (lambda: kg.statics("double-pendulum")["x"], "unknown force 'x'"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(TaskError, match=message):
        call()
