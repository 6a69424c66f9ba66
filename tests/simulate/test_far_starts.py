"""Runs that begin far from t = 0: as exact as others, and on their constraints from the first instant."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Event

SPRING = "model o; coordinates x = 1; A | Sx(x) | m(1); spring s | on(x), stiffness(1); "
BALL = "model ball; coordinates z = 1; gravity 0, 0, -9.81; Ball | Sz(z) | m(1);"
HOW = {
    "dop853": {"rtol": 1e-12}, "dopri5": {"rtol": 1e-11}, "rk4": {"step": 0.02}, "symplectic": {"step": 0.05},
    "bdf": {"rtol": 1e-9}, "adams": {"rtol": 1e-9}, "ida": {"rtol": 1e-9},
}  # fmt: skip


def wrong(text: str, start: float, method: str) -> float:
    run = kg.simulate(kg.parse(text), 3, t0=start, method=method, native=False, times=20, **HOW[method])
    return float(np.abs(run["x"] - np.cos(run["t"] - start)).max())


@pytest.mark.parametrize("start", [1e6, 1e9, -1e9])
@pytest.mark.parametrize("method", HOW)
def test_a_spring_swings_as_at_zero(method: str, start: float) -> None:
    assert wrong(SPRING, start, method) <= 1.01 * wrong(SPRING, 0.0, method) + 1e-14


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4"])
def test_steps_are_what_times_differ_by(method: str) -> None:
    """Also where something names time, so that nothing can be counted from the start."""
    timed = SPRING + "force f | on(x), value(0.0*sin(t)*x^2);"
    assert wrong(timed, 1e9, method) <= 1.01 * wrong(timed, 0.0, method) + 1e-13


@pytest.mark.parametrize("method", ["dop853", "bdf"])
def test_events_are_as_exact_as_times_can_be(method: str) -> None:
    bounce = Event("bounce", "z", reset={"z'": "-z'"})
    run = kg.simulate(kg.parse(BALL), 3, t0=1e9, method=method, events=[bounce], native=False, rtol=1e-9)
    fall = np.sqrt(2 / 9.81)
    found = np.array([one.time for one in run.events]) - 1e9
    np.testing.assert_allclose(found, fall * (2 * np.arange(len(found)) + 1), rtol=0, atol=1.2e-7)
    assert run["t"][-1] == run.ending.time == 1e9 + 3


def test_contacts_far_from_zero_are_those_at_zero() -> None:
    ball = kg.parse(BALL + "contact floor | z >= 0 | restitution(0.5);")
    near, far = (kg.simulate(ball, 3, t0=start, native=False, times=30) for start in (0.0, 1e9))
    assert [one.name for one in near.events] == [one.name for one in far.events]
    np.testing.assert_allclose(far["z"], near["z"], rtol=0, atol=2e-7)


@pytest.mark.parametrize("method", ["dop853", "bdf", "ida"])
def test_a_run_begins_on_the_constraints_of_its_start(method: str) -> None:
    led = kg.parse("model led; coordinates x = 1, z; A | Sx(x), Sz(z) | m(1); constraint c | x = 0.1*t^2;")
    run = kg.simulate(led, 1, t0=5, native=False, times=4, method=method)
    np.testing.assert_allclose(run["x"], 0.1 * run["t"] ** 2, rtol=1e-9)
    assert run["energy"][0] == pytest.approx(0.5) and run["supplied"][-1] == pytest.approx(0.5 * 1.2**2 - 0.5)
    several = kg.sweep(led, 1, over={"z'": [0.0, 1.0]}, t0=5.0, times=4, native=False)
    np.testing.assert_allclose(several["x"][:, 0], 2.5)
