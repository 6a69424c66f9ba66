"""A run is asked by its token to end, where another way promises an earlier end; nothing is raised to change course."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.interrupt import Interrupt
from kinegraph.simulate import Status, simulate, sweep
from kinegraph.solve.methods.by_name import Method
from kinegraph.solve.methods.run_options import RunOptions
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.problem import execution
from kinegraph.solve.problem.execution import Alternatives, Execution, Forecast, Native
from kinegraph.solve.problem.problem import CauchyProblem, RightHandSide
from kinegraph.solve.problem.progress import Silent

TASK = CauchyProblem(
    RightHandSide(lambda x: [float(x[1]), -float(x[0])], ("y", "y'")), np.array([1.0, 0.0]), 0.0, 1e5, native=False
)


def forecast(token: Interrupt, native: float, arrived: bool = True) -> Forecast:
    others = Alternatives(lambda elapsed, done: {Execution.NATIVE: native}, lambda: arrived)
    return Forecast(Silent(), (0.0, 1e5), Execution.INTERPRETED, others, token)


@pytest.mark.parametrize("method", [Method.DOP853, Method.BDF, Method.SYMPLECTIC])
def test_a_better_way_ends_the_run_by_its_token(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_LOOK_AFTER", 0.01)
    token = Interrupt()
    looking = forecast(token, native=1e-3)
    control = FixedStep(0.01) if method is Method.SYMPLECTIC else Adaptive(1e-8)
    run = method.solver().integrate(TASK, control, RunOptions(progress=looking, interrupt=token))
    assert run.ending.status is Status.INTERRUPTED and 0 < run.ending.time < 1e5
    assert looking.better is not None and looking.better.execution is Execution.NATIVE
    assert looking.better.estimates[Execution.INTERPRETED] > looking.better.estimates[Execution.NATIVE]


@pytest.mark.parametrize(("native", "arrived"), [(1e9, True), (1e-3, False)])
def test_a_run_goes_on_where_nothing_better_is_there(
    native: float, arrived: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "_LOOK_AFTER", 0.0)
    monkeypatch.setattr(execution, "_LOOK_EVERY", 0.0)
    token = Interrupt()
    looking = forecast(token, native, arrived)
    with looking:
        looking.reached(100.0)
    assert looking.estimates and looking.better is None and not token.requested


def test_who_ends_a_run_for_good_does_not_begin_it_anew() -> None:
    outer = Interrupt()
    token = Interrupt(within=outer)
    looking = forecast(token, native=0.0)
    token.request()
    assert token.requested and not token.from_outside and not outer.requested
    outer.request()
    assert token.from_outside and looking.better is None


class Countdown(Interrupt):
    """What another thread may do while a run goes on: the request is there at the fifth look."""

    looks = 0

    @property
    def requested(self) -> bool:
        self.looks += 1
        return self.looks > 4


@pytest.mark.parametrize("native", [False, "auto"])
def test_another_thread_ends_a_run(native: Native) -> None:
    token = Countdown()
    run = simulate(kg.load("pendulum-6"), 1e5, native=native, grid=None, progress=False, interrupt=token)
    assert run.status is Status.INTERRUPTED and 0 < run.ending.time < 1e5


def test_another_thread_ends_a_sweep() -> None:
    token = Interrupt()
    token.request()
    runs = sweep(kg.load("double-pendulum"), 1.0, over={"q1": [0.1, 0.2]}, native=False, interrupt=token)
    assert set(runs.statuses) == {Status.INTERRUPTED}
