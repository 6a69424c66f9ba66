"""The library's mechanisms with contacts: reference numbers, and what they are known for."""

import numpy as np

import kinegraph as kg
from kinegraph.simulate import Status
from tests.tasks.reference import reference


def test_bouncing_ball_rests_where_its_series_ends():
    found = kg.simulate("bouncing-ball", 4, native=False, times=4)
    assert abs(found.events[-1].time - 3.5148550144507147) < 1e-11


def test_rod_on_floor_falls_as_the_reference_says():
    fall = reference("unilateral_rod_on_floor")["fall"]
    found = kg.simulate("rod-on-floor", 3, native=False, times=6)
    assert found.events[0].name == "floor_a: impact" and abs(found.events[0].time - fall["time_of_touch"]) < 1e-12
    assert abs(found.events[0].state[2] - fall["angle_at_touch"]) < 1e-12
    weight = found["floor_a.normal"][-1] + found["floor_b.normal"][-1]
    assert abs(weight - 2.5 * 9.81) < 1e-9 and found.status is Status.FINISHED


def test_newtons_cradle_swings_at_its_ends():
    found = kg.simulate("newtons-cradle", 4, native=False, times=80)
    assert found.status is Status.FINISHED and all(check.passed for check in found.checks)
    inner = np.array([found[f"q{k}"] for k in (2, 3, 4)])
    assert np.max(np.abs(inner)) < 1e-9
    assert abs(found["q1"].max() - 0.5) < 1e-9 and abs(found["q5"].min() + 0.5) < 1e-3


def test_bouncing_chain_comes_to_rest():
    found = kg.simulate("bouncing-chain", 3, native=False, times=6)
    forces = [found[f"f{k}.normal"][-1] for k in range(1, 5)]
    np.testing.assert_allclose(forces, np.array([1, 2, 2, 1]) * 9.81 / 2, rtol=1e-9)
    assert found["kinetic"][-1] < 1e-15
