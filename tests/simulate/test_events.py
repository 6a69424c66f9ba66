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
    run = simulate(kg.parse(BALL), 2, method=method, rtol=1e-10, events=[stop], times=grid, **fixed)
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
    with pytest.raises(SolveError, match="cannot parse"):
        simulate(ball, 1, events={"x": "z +* 2"})
    with pytest.raises(kg.KinegraphError, match="no variable 'zz'"):
        simulate(ball, 1, events={"x": "zz"})
    with pytest.raises(SolveError, match="output point"):
        simulate(ball, 1, events={"x": "tip.z"})
    with pytest.raises(SolveError, match="reset"):
        Event("x", "z", action=Action.RESET)
    with pytest.raises(SolveError, match="unknown variable 'y' in the reset"):
        simulate(ball, 1, events=[Event("x", "z", reset={"y": 1})])
    with pytest.raises(SolveError, match="same name"):
        simulate(ball, 1, events=[Event("x", "z"), Event("x", "z'")])


@pytest.mark.parametrize("method", ["dop853", "rk4", "bdf"])
@pytest.mark.parametrize(
    ("condition", "direction", "time"),
    [("z - 0.5", Direction.RISING, 0.0), ("-z", Direction.FALLING, 0.0), ("z - 0.5", Direction.FALLING, FALL / sqrt(2)),
     ("-z' - 1", Direction.RISING, 1 / 9.81), ("0.1 - z'^2", Direction.RISING, 0.0)],
)  # fmt: skip
def test_what_holds_stops_at_the_start_too(method: str, condition: str, direction: Direction, time: float) -> None:
    fixed = {"step": 0.01} if method == "rk4" else {}
    stop = Event("hold", condition, direction, Action.STOP, holds=True)
    run = simulate(kg.parse(BALL), 2, method=method, events=[stop], native=False, **fixed)
    assert run.status is Status.EVENT and [one.name for one in run.events] == ["hold"]
    assert run.t[-1] == pytest.approx(time, abs=1e-7) and len(run.t) == len(run["z"])
    assert bool(run.t[-1] == 0.0) is (time == 0.0)


def test_without_that_an_event_is_a_passage() -> None:
    section = Event("section", "z - 0.5", Direction.RISING, Action.STOP)
    assert simulate(kg.parse(BALL), 0.4, events=[section], native=False).status is Status.FINISHED


def test_what_a_jump_brings_about_stops_there() -> None:
    """By a reset, by an impact, and by a controller that changes a force at once."""
    fast = Event("fast", "z' - 3", Direction.RISING, Action.STOP, holds=True)
    bounce = Event("bounce", "z", reset={"z'": "-0.9*z'"})
    assert simulate(kg.parse(BALL), 2, events=[bounce, fast], native=False).t[-1] == pytest.approx(FALL)
    floor = kg.parse(BALL + "contact floor | z >= 0 | restitution(0.9);")
    for method in ("dop853", "bdf"):
        run = simulate(floor, 2, events=[fast], native=False, method=method)
        assert run.status is Status.EVENT and run.t[-1] == pytest.approx(FALL, abs=1e-7)
    load = Event("load", "qdd[0] + 8.5", Direction.RISING, Action.STOP, holds=True)
    pushed = {"z": kg.Feedback(lambda t, state: 2.0 if t > 0.15 else 0.0, 0.1)}
    run = simulate(kg.parse(BALL), 0.4, events=[load], inputs=pushed, native=False)
    assert run.status is Status.EVENT and run.t[-1] == pytest.approx(0.2)


@pytest.mark.parametrize("wrong", [{"action": Action.RECORD}, {"direction": Direction.BOTH}])
def test_what_holds_stops_and_has_a_side(wrong: dict[str, object]) -> None:
    with pytest.raises(SolveError, match="STOP and a direction"):
        Event(
            **{"name": "e", "condition": "z", "direction": Direction.RISING, "action": Action.STOP} | wrong, holds=True
        )


def test_events_may_name_the_accounts_of_energy() -> None:
    damped = kg.parse(
        "model o; coordinates x = 1; A | Sx(x) | m(1); spring s | on(x), stiffness(1); damper d | on(x), damping(0.1);"
    )
    run = simulate(damped, 20, events=[Event("half", "dissipated - 0.25", action=Action.STOP)], native=False)
    assert run.status is Status.EVENT and run["energy"][-1] == pytest.approx(0.25, abs=1e-8)
    with pytest.raises(SolveError, match="did you mean `supplied`"):
        simulate(damped, 1, events={"wrong": "suplied"}, native=False)


@pytest.mark.parametrize("condition", ["tip.y", "sin(q)^2 + cos(q)^2 - 1", "q - q"])
def test_a_condition_that_is_always_zero_is_refused(condition):
    """A rod that swings in a plane: across it nothing moves."""
    rod = kg.parse("coordinates q = 1; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-1), m(1); output tip = Rod (0, 0, -1);")
    with pytest.raises(SolveError, match="event side: the condition is zero at every state"):
        kg.simulate(rod, 1, events={"side": condition}, native=False)


def test_directions_and_actions_may_be_words() -> None:
    assert Event("e", "q", "falling", "STOP") == Event("e", "q", Direction.FALLING, Action.STOP)
    for wrong, known in (({"direction": "down"}, "both, rising, falling"), ({"action": 1}, "record, stop, reset")):
        with pytest.raises(SolveError, match=f"event e: .* choose one of {known}"):
            Event("e", "q", **wrong)
    with pytest.raises(SolveError, match="events contains 'q'; give Event"):
        simulate(kg.parse(BALL), 1, events=["q"], native=False)
    with pytest.raises(SolveError, match="choose from rk4"):
        simulate(kg.parse(BALL), 1, method=5, native=False)
