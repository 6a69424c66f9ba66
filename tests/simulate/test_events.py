"""Events: found on time, in order, and doing what they say."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate import Action, Direction, Event, Status, simulate
from tests.solve.problems import BALL, PENDULUM

FALL = sqrt(2 / 9.81)
METHODS = ["dopri5", "dop853", "adams", "bdf"]


@pytest.mark.parametrize("method", METHODS)
def test_a_bouncing_ball(method: str) -> None:
    floor = Event("floor", "z", Direction.FALLING, reset={"z'": "-0.8*z'"})
    run = simulate(kg.parse(BALL), 2, method=method, rtol=1e-10, events=[floor, Event("top", "z'", Direction.FALLING)])
    bounces = [one.time for one in run.events if one.name == "floor"]
    assert bounces == pytest.approx([FALL, FALL * 2.6, FALL * 3.88], abs=1e-7)
    tops = [one for one in run.events if one.name == "top"]
    assert tops[0].state[0] == pytest.approx(0.64, abs=1e-8)
    assert run["z"].min() > -1e-9


@pytest.mark.parametrize("method", [*METHODS, "rk4"])
@pytest.mark.parametrize("grid", [10, None])
def test_stopping(method: str, grid: int | None) -> None:
    fixed = {"step": 0.01} if method == "rk4" else {}
    stop = Event("floor", "z", action=Action.STOP)
    run = simulate(kg.parse(BALL), 2, method=method, rtol=1e-10, events=[stop], grid=grid, **fixed)
    assert run.status is Status.EVENT
    assert "floor" in str(run.ending)
    assert run.t[-1] == pytest.approx(FALL, abs=1e-7)
    assert run["z"][-1] == pytest.approx(0, abs=1e-7)
    assert np.all(np.diff(run.t) > 0)


def test_directions_and_points() -> None:
    events = [
        Event("both", "mass.x"), Event("rising", "mass.x", Direction.RISING),
        Event("falling", "mass.x", Direction.FALLING),
    ]  # fmt: skip
    run = simulate(kg.parse(PENDULUM), 10, rtol=1e-12, events=events)
    times = {name: [one.time for one in run.events if one.name == name] for name in ("both", "rising", "falling")}
    period = 2.3678419475762373
    expected = period / 4 + period / 2 * np.arange(len(times["both"]))
    assert times["both"] == pytest.approx(expected, abs=1e-8)
    assert sorted(times["rising"] + times["falling"]) == pytest.approx(times["both"], abs=1e-12)
    assert len(times["rising"]) == len(times["both"]) // 2


def test_many_events_in_one_step_are_all_found() -> None:
    """DOP853 takes steps of seconds here, in which the condition passes zero several times."""
    still = kg.parse("model still; coordinates x; initial x' = 1; B | Sx(x) | m(1);")
    run = simulate(still, 20, events={"wave": "sin(x)"}, rtol=1e-6)
    assert [one.time for one in run.events][:2] == pytest.approx([pi, 2 * pi], abs=1e-6)


def test_events_of_the_symplectic_method_know_velocities() -> None:
    run = simulate(kg.parse(PENDULUM), 3, method="symplectic", step=1e-3, events={"turn": "q'"})
    assert [one.time for one in run.events] == pytest.approx([2.3678419475762373 / 2, 2.3678419475762373], abs=1e-6)


def test_mistakes() -> None:
    ball = kg.parse(BALL)
    with pytest.raises(SolveError, match="cannot read"):
        simulate(ball, 1, events={"x": "z +* 2"})
    with pytest.raises(kg.KinegraphError, match="there is no 'zz'"):
        simulate(ball, 1, events={"x": "zz"})
    with pytest.raises(SolveError, match="output point"):
        simulate(ball, 1, events={"x": "tip.z"})
    with pytest.raises(SolveError, match="reset"):
        Event("x", "z", action=Action.RESET)
    with pytest.raises(SolveError, match="to reset"):
        simulate(ball, 1, events=[Event("x", "z", reset={"y": 1})])
    with pytest.raises(SolveError, match="same name"):
        simulate(ball, 1, events=[Event("x", "z"), Event("x", "z'")])
