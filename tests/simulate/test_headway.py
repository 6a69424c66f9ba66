"""Runs that chatter: forces that jump hold the state where they do, and steps become too short to reach the end."""

from __future__ import annotations

import logging

import pytest

import kinegraph as kg
from kinegraph.solve import execution as headway
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.recording import Status


def relay(force: float) -> kg.Mechanism:
    """A body that slides toward the origin along the line on which its force jumps."""
    body = "model relay; coordinates x = 1; initial x' = -1; Box | Sx(x) | m(1);"
    return kg.parse(f"{body} force f | value(-{force}*sign(x' + x)), on(x);")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headway, "WINDOW", 1000)


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_a_run_that_would_never_end_says_so_and_keeps_what_it_has(method: str) -> None:
    run = kg.simulate(relay(1e8), 10, method=method, native=False, progress=False)
    assert run.status is Status.STALLED and 0 < run["t"][-1] < 1e-4
    assert "the run stalled" in str(run.ending) and "width" in str(run.ending)
    assert run["x"][-1] == pytest.approx(1, abs=1e-4)


def test_a_slow_run_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    control = Adaptive(1e-8, max_steps=5000)
    with caplog.at_level(logging.WARNING, "kinegraph"):
        run = kg.simulate(relay(100), 10, method="dopri5", native=False, control=control, progress=False)
    assert run.status is Status.TOO_MANY_STEPS and "a discontinuous force" in str(run.ending)
    assert caplog.text.count("at this pace the rest takes") == 1


def test_common_runs_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "kinegraph"):
        run = kg.simulate("double-pendulum", 20, method="dopri5", native=False, rtol=1e-10, progress=False)
    assert run.status is Status.FINISHED and run.statistics.steps > 2000 and "pace" not in caplog.text
