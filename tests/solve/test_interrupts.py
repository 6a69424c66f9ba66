"""Another thread ends a run or a sweep by its token."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.interrupt import Interrupt
from kinegraph.simulate import Status, simulate, sweep
from kinegraph.solve.execution import Native


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
    run = simulate(kg.load("pendulum-6"), 1e5, native=native, times=None, progress=False, interrupt=token)
    assert run.status is Status.INTERRUPTED and 0 < run.ending.time < 1e5


def test_another_thread_ends_a_sweep() -> None:
    token = Interrupt()
    token.request()
    runs = sweep(kg.load("double-pendulum"), 1.0, over={"q1": [0.1, 0.2]}, native=False, interrupt=token)
    assert set(runs.statuses) == {Status.INTERRUPTED}
