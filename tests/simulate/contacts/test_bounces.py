"""A ball with a contact: its bounces are a geometric series, and then it rests on the floor, pressed by its weight."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate import Action, Direction, Status
from tests.simulate.contacts.models import BALL

METHODS = [
    ("dop853", {}, 1e-11),
    ("dopri5", {}, 1e-11),
    ("rk4", {"step": 0.05}, 1e-11),
    ("adams", {}, 1e-6),
    ("bdf", {}, 1e-6),
]
REFERENCE = json.loads((Path(__file__).parents[2] / "data/bouncing_ball.json").read_text())


def times(solution, word):
    return np.array([event.time for event in solution.events if event.name.endswith(word)])


@pytest.mark.parametrize(("method", "options", "accuracy"), METHODS)
def test_the_reference_ball(method, options, accuracy):
    model = kg.parse(BALL.format(height=1.2, speed=0.4, restitution=0.75))
    grid = [row["t"] for row in REFERENCE["states"]]
    found = kg.simulate(model, 5, method=method, times=grid, native=False, **options)
    wanted = np.array([row["t"] for row in REFERENCE["bounces"]])
    assert found.status is Status.FINISHED
    np.testing.assert_allclose(times(found, "impact")[: len(wanted)], wanted, atol=accuracy)
    np.testing.assert_allclose(times(found, "rest"), [REFERENCE["time_at_rest"]], atol=accuracy)
    for k, row in enumerate(REFERENCE["states"]):
        np.testing.assert_allclose([found["z"][k], found["z'"][k]], [row["height"], row["velocity"]], atol=accuracy)
        assert found["floor.normal"][k] == (9.81 if row["t"] > 3.52 else 0.0)
        assert found["floor.mode"][k] == float(row["t"] > 3.52)


def test_twenty_seconds_at_nine_tenths():
    found = kg.simulate(kg.parse(BALL.format(height=1, speed=0, restitution=0.9)), 20, native=False, times=10)
    first = np.sqrt(2 / 9.81)
    impacts = times(found, "impact")
    wanted = first + np.concatenate([[0.0], np.cumsum(2 * first * 0.9 ** np.arange(1, len(impacts)))])
    assert len(impacts) > 150
    np.testing.assert_allclose(impacts, wanted, atol=1e-10)
    np.testing.assert_allclose(times(found, "rest"), [first * (1 + 2 * 0.9 / 0.1)], atol=1e-10)
    assert found["z"][-1] == 0.0 and found["floor.normal"][-1] == 9.81


@pytest.mark.parametrize("speed", [-1.0, 0.0])
def test_a_start_on_the_floor(speed):
    found = kg.simulate(kg.parse(BALL.format(height=0, speed=speed, restitution=0.5)), 1, native=False, times=4)
    assert found.status is Status.FINISHED
    np.testing.assert_allclose(times(found, "rest"), [2 * 0.5 * -speed / 9.81 / 0.5], atol=1e-11)
    assert found["z"][-1] == 0.0 and np.min(found["z"]) >= 0.0


def test_a_start_inside_the_floor_is_refused():
    found = kg.simulate(kg.parse(BALL.format(height=-0.1, speed=0, restitution=0.5)), 1, native=False, times=4)
    assert found.status is Status.CONTACT
    assert "floor: the gap is negative at the start (-0.1)" in str(found.ending)


def test_without_restitution_it_stays_at_once():
    found = kg.simulate(kg.parse(BALL.format(height=1, speed=0, restitution=0)), 2, native=False, times=None)
    assert [event.name for event in found.events] == ["floor: impact", "floor: rest"]
    assert found["z"][-1] == 0.0 and found["z'"][-1] == 0.0
    at = np.searchsorted(found.t, np.sqrt(2 / 9.81) - 1e-9)  # both states at the impact are saved
    np.testing.assert_allclose(found["z'"][at : at + 2], [-np.sqrt(2 * 9.81), 0.0], atol=1e-12)


def test_a_floor_that_moves_throws_and_releases():
    """A table 0.1 sin(12 t): its acceleration exceeds g, so what lies on it leaves where 14.4 sin(12 t) = 9.81."""
    text = "model table; coordinates z = 0; initial z' = 1.2; gravity 0, 0, -9.81; B | Sz(z) | m(2); "
    model = kg.parse(text + "contact table | z - 0.1*sin(12*t) >= 0;")
    found = kg.simulate(model, 0.2, native=False, times=40)
    left = np.arcsin(9.81 / 14.4) / 12
    np.testing.assert_allclose(times(found, "release"), [left], atol=1e-9)
    resting = found.t < left
    np.testing.assert_allclose(
        found["table.normal"][resting], 2 * (9.81 - 14.4 * np.sin(12 * found.t[resting])), atol=1e-9
    )
    assert np.all(found["table.normal"][~resting] == 0.0) and found["table.gap"][-1] > 0.0


def test_events_and_resets_of_the_user_work_beside_contacts():
    model = kg.parse(BALL.format(height=1, speed=0, restitution=0.5))
    events = [kg.Event("top", "z'", Direction.FALLING), kg.Event("kick", "t - 1.5", reset={"z'": "3"})]
    found = kg.simulate(model, 3, native=False, times=6, events=events)
    names = [event.name for event in found.events]
    first = np.sqrt(2 / 9.81)
    assert names.count("kick") == 1 and names.count("floor: rest") == 2
    assert abs(next(event.time for event in found.events if event.name == "top") - 1.5 * first) < 1e-10
    assert found["z"][-1] == 0.0


def test_a_stop_of_the_user_ends_the_run():
    model = kg.parse(BALL.format(height=1, speed=0, restitution=0.5))
    stop = kg.Event("low", "z - 0.1", Direction.RISING, Action.STOP)
    found = kg.simulate(model, 3, native=False, times=6, events=[stop])
    assert found.status is Status.EVENT and found.ending.detail == "low" and found["z"][-1] == pytest.approx(0.1)


def test_symplectic_methods_say_that_they_cannot():
    with pytest.raises(SolveError, match="does not support contacts"):
        kg.simulate(kg.parse(BALL.format(height=1, speed=0, restitution=0.5)), 1, method="symplectic", step=0.01)


def test_the_number_of_bounces_does_not_depend_on_the_unit_of_length():
    counts = set()
    for unit in (1e-6, 1.0, 1e6):
        text = f"""coordinates z = {unit!r}; gravity 0, 0, {-9.81 * unit!r}; Ball | Sz(z) | m(1);
            contact floor | z >= 0 | restitution(0.5);"""
        found = kg.simulate(kg.parse(text), 2, native=False, times=None, atol=1e-12 * unit)
        assert found.status is Status.FINISHED
        counts.add(len(found.events))
    assert len(counts) == 1
