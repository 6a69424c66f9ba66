"""Running a loop slice by slice: progress, interruption, and what the codes of the loop mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kinegraph.solve.loops import record as codes
from kinegraph.solve.loops.record import COMPONENT, NO_ROOM, RUNNING
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Recorder, Run
from kinegraph.solve.results.status import Ending, Status

_SHORT, _LONG = 0.02, 0.08  # seconds a slice should take: Ctrl-C waits no longer
_FIRST_STEPS, _MOST_STEPS = 8, 1 << 40


@dataclass(frozen=True)
class Loop:
    """The functions of a loop, what they take, and where it is: clock[0] is the time of `state`."""

    begin: Callable[..., None]
    advance: Callable[..., int]
    arguments: tuple[Any, ...]
    clock: Floats
    state: Floats


def drive(loop: Loop, problem: CauchyProblem, recorder: Recorder, progress: Progress) -> Run:
    """Run a loop until it says that the run has ended."""
    begun = perf_counter()
    advance = problem.runnable(loop.advance)
    problem.runnable(loop.begin)(*loop.arguments)
    advance(*loop.arguments, 0)  # compiles or loads it, where there is something to compile
    loading = perf_counter() - begun if problem.native else 0.0
    status = Status.FINISHED
    with progress, np.errstate(all="ignore"):
        try:
            status = _slices(lambda steps: advance(*loop.arguments, steps), loop.clock, recorder, progress)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    time = float(loop.clock[0])
    ending = _ending(status, problem, recorder, time)
    return recorder.run(ending, (time, loop.state.copy()), perf_counter() - begun, loading)


def _slices(advance: Callable[[int], int], clock: Floats, recorder: Recorder, progress: Progress) -> Status:
    """Call `advance(steps)` until it says that the run has ended, with as many steps as take a moment."""
    steps, code = _FIRST_STEPS, RUNNING
    while code in (RUNNING, NO_ROOM):
        before = perf_counter()
        code = advance(steps)
        recorder.drain()
        taken = perf_counter() - before
        if taken < _SHORT:
            steps = min(2 * steps, _MOST_STEPS)
        elif taken > _LONG:
            steps = max(steps // 2, 1)
        progress.reached(float(clock[0]))
    return _STATUSES[code]


_STATUSES = {
    codes.DONE: Status.FINISHED,
    codes.NOT_A_NUMBER: Status.NOT_A_NUMBER,
    codes.TOO_SMALL: Status.STEP_TOO_SMALL,
    codes.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
    codes.STOPPED: Status.EVENT,
    codes.TOO_MANY_EVENTS: Status.TOO_MANY_EVENTS,
    codes.NO_CONVERGENCE: Status.NO_CONVERGENCE,
}


def status_of(code: int) -> Status:
    """What a code of the loops means."""
    return _STATUSES[code]


def _ending(status: Status, problem: CauchyProblem, recorder: Recorder, time: float) -> Ending:
    if status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL, Status.NO_CONVERGENCE):
        return Ending(status, time, problem.rhs.names[int(recorder.counters[COMPONENT])])
    if status is Status.EVENT:
        return Ending(status, time, detail=recorder.last_event)
    return Ending(status, time)
