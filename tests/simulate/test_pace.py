"""Surfaces and conditions that move faster than a body that flies tells: steps follow them, none is passed over."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from scipy.optimize import brentq

import kinegraph as kg
from kinegraph.simulate import Adaptive, Event

TABLE = """
    model table; parameters a = 0.01, w = 50, e = 0.3; coordinates z = 0.001; gravity 0, 0, -9.81;
    Ball | Sz(z) | m(1); contact c | z - a*sin(w*t) >= 0 | restitution(e);
"""


def impacts(count: int, a: float = 0.01, w: float = 50.0, e: float = 0.3, g: float = 9.81) -> list[float]:
    """Times of the first impacts: parabolas between them, each root by small steps and bisection."""
    t, z, v, found = 0.0, 0.001, 0.0, []
    for _ in range(count):

        def gap(s: float, t: float = t, z: float = z, v: float = v) -> float:
            return z + v * s - g * s * s / 2 - a * sin(w * (t + s))

        s = 1e-6
        while gap(s + 1e-5) > 0:
            s += 1e-5
        s = brentq(gap, s, s + 1e-5, xtol=1e-15)
        t, speed = t + s, v - g * s
        z, surface = a * sin(w * t), a * w * cos(w * t)
        v = surface - e * (speed - surface)
        found.append(t)
    return found


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_a_ball_on_a_table_that_shakes(method: str) -> None:
    run = kg.simulate(kg.parse(TABLE), 3, native=False, times=1000, method=method)
    times = [one.time for one in run.events if one.name == "c: impact"]
    assert times[:20] == pytest.approx(impacts(20), abs=1e-8)
    assert run["c.gap"].min() > -1e-12
    assert run.statistics.steps < 200


@pytest.mark.parametrize("method", ["dop853", "bdf"])
def test_an_event_whose_condition_swings(method: str) -> None:
    """The same impacts as a reset."""
    ball = kg.parse(TABLE[: TABLE.index("contact")])
    hit = Event("hit", "z - a*sin(w*t)", reset={"z'": "(1 + e)*a*w*cos(w*t) - e*z'"})
    run = kg.simulate(ball, 1.4, events=[hit], native=False, method=method, rtol=1e-10)
    times = [one.time for one in run.events]
    assert times == pytest.approx(impacts(len(times)), abs=1e-7) and len(times) == 12


def test_times_of_events_leave_steps_as_they_are() -> None:
    ball = kg.parse(TABLE[: TABLE.index("contact")])
    runs = [kg.simulate(ball, 5, events=events, native=False, times=None) for events in ({}, {"late": "t - 4.9999"})]
    assert runs[0].statistics.steps == runs[1].statistics.steps


def test_surfaces_that_do_not_swing_leave_steps_as_they_are() -> None:
    """A body that falls beside a lift is one step, and one to its end."""
    lift = kg.parse("model lift; coordinates z = 9; gravity 0, 0, -1; A | Sz(z) | m(1); contact c | z - 0.1*t^2 >= 0;")
    run = kg.simulate(lift, 2, native=False, times=[0.0, 2.0])
    assert run.statistics.steps < 12 and run["z"][-1] == pytest.approx(7)


def test_what_was_asked_for_stays_shorter() -> None:
    run = kg.simulate(kg.parse(TABLE), 0.1, native=False, times=None, control=Adaptive(1e-8, max_step=1e-3))
    assert np.max(np.diff(run.t)) <= 1e-3 * (1 + 1e-9)
