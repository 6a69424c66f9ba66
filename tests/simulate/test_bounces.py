"""A ball on a floor: the times of its bounces are a geometric series, and it never falls through.

Every method, interpreted and compiled; the start on the surface, several events at once, and what comes to rest.
"""

from __future__ import annotations

import json
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinegraph as kg
from kinegraph.simulate import Action, Direction, Event, Solution, Status, simulate

G = 9.81
REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "bouncing_ball.json").read_text("utf-8"))

#: Methods with what they need, and how exact they are: one-step methods to rounding, CVODE to its tolerance.
ONE_STEP: list[tuple[str, dict[str, Any]]] = [
    ("dop853", {}), ("dopri5", {}), ("rk4", {"step": 0.01}), ("dop853", {"step": 0.01}), ("symplectic", {"step": 0.01}),
]  # fmt: skip
MULTISTEP: list[tuple[str, dict[str, Any]]] = [("adams", {"rtol": 1e-10}), ("bdf", {"rtol": 1e-10})]
METHODS = ONE_STEP + MULTISTEP
IDS = [f"{name}{'-fixed' if options.get('step') else ''}" for name, options in METHODS]

BOUNCE = Event("bounce", "z", reset={"z'": "-0.8*z'"})
STOP = Event("floor", "z", action=Action.STOP)


def ball(height: float = 1.0, speed: float = 0.0) -> kg.Mechanism:
    return kg.parse(
        f"model ball; coordinates z = {height!r}; initial z' = {speed!r}; gravity 0, 0, -9.81; A | Sz(z) | m(1);"
    )


def bounces(restitution: float, count: int, height: float = 1.0, speed: float = 0.0) -> np.ndarray:
    """The exact times: t1, then intervals of 2 e^n v1/g."""
    hit = sqrt(speed**2 + 2 * G * height)
    return (speed + hit) / G + np.concatenate([[0], np.cumsum(2 * hit / G * restitution ** np.arange(1, count))])


def at_rest(restitution: float, height: float = 1.0) -> float:
    hit = sqrt(2 * G * height)
    return hit / G + 2 * hit * restitution / (G * (1 - restitution))


def times(run: Solution, name: str = "bounce") -> list[float]:
    return [one.time for one in run.events if one.name == name]


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
@pytest.mark.parametrize(("restitution", "duration"), [(0.8, 5), pytest.param(0.9, 20, marks=pytest.mark.soak)])
def test_bounces_are_a_geometric_series_that_ends(
    restitution: float, duration: float, method: str, options: dict[str, Any], native: bool
) -> None:
    bounce = Event("bounce", "z", reset={"z'": f"-{restitution}*z'"})
    run = simulate(ball(), duration, method=method, events=[bounce], native=native, **options)
    found, exact = times(run), bounces(restitution, 40)
    rounding = (method, options) in ONE_STEP
    assert found[:40] == pytest.approx(exact, abs=1e-11 if rounding else 3e-5)
    assert run.status is Status.ACCUMULATED and not run.status.good
    assert run.ending.time == pytest.approx(at_rest(restitution), abs=1e-9 if rounding else 1e-4)
    assert all(one <= other for one, other in pairwise(found))
    assert run["z"].min() > -1e-12
    assert "bounce" in str(run.ending) and "rest" in str(run.ending)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_the_reference_ball(method: str, options: dict[str, Any]) -> None:
    """Times, speeds before each bounce and states in between, of a closed form with fifty digits."""
    model, exact = REFERENCE["model"], 2e-6 if (method, options) in MULTISTEP else 1e-10
    bounce = Event("bounce", "z", Direction.FALLING, reset={"z'": f"-{model['restitution']}*z'"})
    given = [state for state in REFERENCE["states"] if state["height"] > 0]
    mechanism = ball(model["height"], model["initial_velocity_up"])
    run = simulate(mechanism, 5, method=method, events=[bounce], times=[state["t"] for state in given], **options)
    for one, expected in zip(run.events, REFERENCE["bounces"], strict=False):
        assert one.time == pytest.approx(expected["t"], abs=exact)
        assert one.state[1] == pytest.approx(-expected["speed_before"], abs=10 * exact)
    for row, state in enumerate(given):
        assert run["z"][row] == pytest.approx(state["height"], abs=10 * exact)
        assert run["z'"][row] == pytest.approx(state["velocity"], abs=100 * exact)
    assert run.ending.time == pytest.approx(REFERENCE["time_at_rest"], abs=20 * exact)


@settings(max_examples=settings().max_examples // 3)
@given(
    restitution=st.floats(0.01, 0.95), height=st.floats(1e-6, 1e3), speed=st.floats(-10, 10),
    method=st.sampled_from(METHODS),
)  # fmt: skip
def test_it_never_falls(restitution: float, height: float, speed: float, method: tuple[str, dict[str, Any]]) -> None:
    bounce = Event("bounce", "z", reset={"z'": f"-{restitution!r}*z'"})
    hit = sqrt(speed**2 + 2 * G * height)
    options = {**method[1], "step": hit / 100} if "step" in method[1] else method[1]
    if method not in ONE_STEP:  # errors of CVODE are of the size of atol: it belongs to the height of the bounces
        options = {**options, "atol": 1e-10 * min(1.0, hit**2 / (2 * G))}
    duration = 2 * ((speed + hit) / G + 2 * hit * restitution / (G * (1 - restitution)))
    run = simulate(ball(height, speed), duration, method=method[0], events=[bounce], native=False, times=20, **options)
    assert run.status is Status.ACCUMULATED
    assert run.ending.time == pytest.approx(duration / 2, rel=1e-7 if method in ONE_STEP else 2e-3)
    assert run["z"].min() > -1e-9 * height


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_start_on_the_surface(method: str, options: dict[str, Any]) -> None:
    """Downwards the floor is met at once, upwards after the flight, and at rest at once, too."""
    down = simulate(ball(0, -1), 1, method=method, events=[STOP], **options)
    assert (down.status, down.ending.time, down["z'"][-1]) == (Status.EVENT, 0, -1)
    up = simulate(ball(0, 1), 1, method=method, events=[STOP], **options)
    assert up.status is Status.EVENT and up.ending.time == pytest.approx(2 / G, abs=1e-7)
    resting = simulate(ball(0, 0), 1, method=method, events=[STOP], **options)
    assert (resting.status, resting.ending.time) == (Status.EVENT, 0)
    again = simulate(ball(0, -1), 0.15, method=method, events=[BOUNCE], **options)
    assert times(again) == pytest.approx([0], abs=1e-7)
    assert again["z"][-1] == pytest.approx(0.8 * 0.15 - G / 2 * 0.15**2, abs=1e-7)
    still = simulate(ball(0, 0), 1, method=method, events=[BOUNCE], **options)
    assert (still.status, still.ending.time, still["z"][-1]) == (Status.ACCUMULATED, 0, 0)


def test_what_only_records_has_not_happened_at_the_start() -> None:
    """A pendulum that starts from rest turns after half a swing; the direction says on which side it began."""
    for condition, direction in (("z'", Direction.BOTH), ("-z'", Direction.RISING), ("z - 1", Direction.FALLING)):
        run = simulate(ball(), 0.1, events=[Event("turn", condition, direction)])
        assert run.events == ()
    stop = simulate(ball(), 1, events=[Event("turn", "z'", action=Action.STOP), BOUNCE])
    assert stop.status is Status.EVENT and stop.ending.time == pytest.approx(bounces(0.8, 1)[0] * 1.8)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_ball_without_rebound_stays(method: str, options: dict[str, Any]) -> None:
    run = simulate(ball(), 2, method=method, events=[Event("thud", "z", reset={"z'": 0})], **options)
    assert run.status is Status.ACCUMULATED
    assert run.ending.time == pytest.approx(sqrt(2 / G), abs=1e-7)
    assert run["z"][-1] == pytest.approx(0, abs=1e-12) and run["z'"][-1] == 0


ROLLING = "model b; coordinates x, z = 1; initial x' = 2; gravity 0, 0, -9.81; A | Sx(x), Sz(z) | m(1);"


@pytest.mark.parametrize("hold", ["lock", "constraint"])
def test_the_hint_keeps_its_promise(hold: str) -> None:
    """A ball that came to rest on the floor goes on along it, by a second run of a model that holds its height."""
    ball = kg.parse(ROLLING)
    run = simulate(ball, 5, events=[BOUNCE])
    assert run.status is Status.ACCUMULATED
    assert all(word in str(run.ending) for word in ("kg.lock", "constraint", "second run"))
    held = kg.lock(ball, z=0) if hold == "lock" else kg.parse(ROLLING + "constraint floor | z = 0;")
    initial = {name: run.final[name] for name in (*held.layout.positions, *held.layout.velocities)}
    on = simulate(held, 5 - run.ending.time, t0=run.ending.time, state=initial)
    assert on.status is Status.FINISHED and on["t"][-1] == pytest.approx(5)
    assert on["x"] == pytest.approx(2 * on["t"])
    assert hold == "lock" or np.abs(on["z"]).max() < 1e-12


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_passage_that_is_no_rebound(method: str, options: dict[str, Any]) -> None:
    """A reset that leaves the direction as it is has let the motion pass, once."""
    run = simulate(ball(), 0.6, method=method, events=[Event("brake", "z", reset={"z'": "z'/2"})], **options)
    first = sqrt(2 / G)
    assert times(run, "brake") == pytest.approx([first], abs=1e-7)
    left = 0.6 - first
    assert run["z"][-1] == pytest.approx(-G * first / 2 * left - G / 2 * left**2, abs=1e-7)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_two_balls_at_the_same_time(method: str, options: dict[str, Any]) -> None:
    two = kg.parse("model two; coordinates x = 1, z = 1; gravity 0, 0, -9.81; A | Sz(x) | m(1); B | Sz(z) | m(2);")
    events = [Event("first", "x", reset={"x'": "-0.8*x'"}), Event("second", "z", reset={"z'": "-0.8*z'"})]
    events.append(Event("seen", "x + z"))
    run = simulate(two, 2, method=method, events=events, **options)
    exact = bounces(0.8, 10)
    exact = exact[exact < 2]
    for name in ("first", "second", "seen"):
        assert times(run, name) == pytest.approx(exact, abs=2e-6)
    assert run["x"] == pytest.approx(run["z"], abs=1e-9)


def test_two_events_on_one_surface() -> None:
    """The second finds a ball that the first has turned back, and does nothing to it."""
    events = [BOUNCE, Event("same", "2*z", reset={"z'": "-0.8*z'"})]
    run = simulate(ball(), 2, events=events)
    exact = bounces(0.8, 10)
    assert times(run) == times(run, "same") == pytest.approx(exact[exact < 2])


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_touching_is_not_passing(method: str, options: dict[str, Any]) -> None:
    """A ball thrown up to a height, and squares; what is touched is not passed, and is seen when it is passed later."""
    events = [Event("top", "z - 0.5"), Event("square", "(z - 0.2)^2"), Event("later", "z - 0.1")]
    run = simulate(ball(0, sqrt(G)), 0.7, method=method, events=events, **options)
    passed = [run.events[k].name for k in range(len(run.events))]
    assert passed.count("square") == 0 and passed.count("later") == 2 and passed.count("top") in (0, 2)
    slow = kg.parse("model slow; coordinates x = -1; initial x' = 1; A | Sx(x) | m(1);")
    flat = simulate(slow, 2, method=method, events={"cube": "x^3", "square": "x^2"}, **options)
    assert [one.name for one in flat.events] == ["cube"]
    assert times(flat, "cube") == pytest.approx([1], abs=1e-5)


def test_values_of_exactly_zero() -> None:
    """Steps of a quarter meet the surface exactly; so does the end of the run."""
    slow = kg.parse("model slow; coordinates x = -1; initial x' = 1; A | Sx(x) | m(1);")
    events = [Event("x", "x"), Event("t", "t - 0.5"), Event("end", "2 - t"), Event("up", "x", Direction.RISING)]
    events += [Event("down", "x", Direction.FALLING), Event("touched", "abs(x)"), Event("back", "abs(x - 0.25) - 0.25")]
    run = simulate(slow, 2, method="rk4", step=0.25, events=events)
    assert [(one.name, one.time) for one in run.events] == [
        ("t", 0.5), ("x", 1), ("up", 1), ("back", 1), ("back", 1.5), ("end", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_reset_onto_the_surface_of_another_event(method: str, options: dict[str, Any]) -> None:
    """From above it is put on the floor: falling it bounces there and then, rising it is not met."""
    for sign, count in ((1, 1), (-1, 0)):
        jump = Event("jump", "z - 0.5", Direction.FALLING, reset={"z": 0, "z'": f"{sign}*z'"})
        run = simulate(ball(), 0.5, method=method, events=[jump, BOUNCE, Event("seen", "z + z'*0")], **options)
        at = sqrt(1 / G)
        assert times(run, "jump") == pytest.approx([at], abs=1e-7)
        assert times(run) == pytest.approx([at] * count, abs=1e-7)
        speed = G * at * (0.8 if count else 1)
        assert run["z"][-1] == pytest.approx(speed * (0.5 - at) - G / 2 * (0.5 - at) ** 2, abs=1e-6)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_resets_that_lead_to_each_other_end(method: str, options: dict[str, Any]) -> None:
    there = Event("there", "z", reset={"z": 1, "z'": "-z'"})
    back = Event("back", "z - 1", Direction.RISING, reset={"z": 0, "z'": "-z'"})
    run = simulate(ball(2, 0), 5, method=method, events=[there, back], **options)
    assert run.status is Status.ACCUMULATED
    assert run.ending.time == pytest.approx(sqrt(4 / G), abs=1e-7)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_three_balls_in_a_row(method: str, options: dict[str, Any]) -> None:
    """Two touch and rest; the third hits them, and at that moment its speed goes through to the last."""
    row = kg.parse(
        "model row; coordinates x = -1, y, z; initial x' = 2; A | Sx(x) | m(1); B | Sx(y) | m(1); C | Sx(z) | m(1);"
    )
    events = [
        Event("xy", "y - x", reset={"x'": "y'", "y'": "x'"}),
        Event("yz", "z - y", reset={"y'": "z'", "z'": "y'"}),
    ]
    run = simulate(row, 1, method=method, events=events, **options)
    assert [one.name for one in run.events] == ["xy", "yz"]
    assert [one.time for one in run.events] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert run.array("x", "y", "z")[-1] == pytest.approx([0, 0, 1], abs=1e-6)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_condition_that_is_not_a_number_is_named(method: str, options: dict[str, Any]) -> None:
    for condition, last in (("sqrt(z - 5)", 0.0), ("sqrt(z - 0.5)", sqrt(1 / G))):
        run = simulate(ball(), 1, method=method, events={"low": condition, "seen": "z - 0.99"}, **options)
        assert run.status is Status.NOT_A_NUMBER
        assert "condition of event 'low'" in str(run.ending)
        assert run.ending.time <= last + 1e-9
    stopped = simulate(ball(), 1, method=method, events=[STOP, Event("root", "sqrt(z) + 1")], **options)
    assert stopped.status is Status.EVENT  # beyond the floor nobody asks for the root


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_a_pendulum_that_hits_a_wall(method: str, options: dict[str, Any]) -> None:
    """A condition by a point of the mechanism, whose rounding is that of its length: it ends, too, and stays out."""
    pendulum = kg.parse(
        "model pendulum; coordinates q = 1; gravity 0, 0, -9.81; A | Ry(q) | Sz(-1), m(1); output tip = A (0, 0, -1);"
    )
    wall = Event("wall", "tip.x + 0.3", reset={"q'": "-0.5*q'"})
    run = simulate(pendulum, 10, method=method, events=[wall], native=False, **options)
    assert run.status in (Status.ACCUMULATED, Status.FINISHED)
    assert run["tip.x"][0] < -0.8 and run["tip.x"].max() < -0.3 + 1e-9


def test_an_input_in_a_condition() -> None:
    """The slope of a condition knows that of an input, too: 1 - u is zero at the start and falls."""
    slide = kg.parse("model slide; inputs u; coordinates x; A | Sx(x) | m(2); force motor | value(u), on(x);")
    run = simulate(slide, 2, inputs={"u": ([0, 1, 2], [1, 3, 0])}, events=[Event("one", "1 - u", action=Action.STOP)])
    assert (run.status, run.ending.time) == (Status.EVENT, 0)
    record = simulate(slide, 2, inputs={"u": ([0, 1, 2], [1, 3, 0])}, events={"one": "1 - u"})
    assert times(record, "one") == pytest.approx([5 / 3])


def test_quaternions_stay_of_unit_length_after_a_reset() -> None:
    top = kg.load("wing-nut")
    run = simulate(top, 1, events=[Event("turn", "t - 0.5", reset={"e0": 3, "e1": 4, "e2": 0, "e3": 0})], times=10)
    assert np.linalg.norm(run.array("e0", "e1", "e2", "e3"), axis=1) == pytest.approx(1)


def test_momenta_follow_a_reset_of_velocities() -> None:
    """A symplectic run of a double pendulum with a kick is the same as one in velocities."""
    kick = Event("kick", "q1", reset={"q1'": "q1' + 0.5", "q2'": "q2'/2", "q2": "q2 + 0.1"})
    arm = kg.load("double-pendulum")
    exact = simulate(arm, 2, events=[kick], rtol=1e-11, times=20)
    run = simulate(arm, 2, events=[kick], method="symplectic", step=1e-3, times=20)
    assert len(run.events) == len(exact.events) > 0
    assert np.abs(run.array() - exact.array()).max() < 1e-6
