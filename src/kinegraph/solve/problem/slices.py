"""Running a loop slice by slice: progress, interruption, and what the codes of the loop mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from kinegraph.interrupt import Interrupt
from kinegraph.solve.loops import record as codes
from kinegraph.solve.loops.record import COMPONENT, INTERRUPTED, NO_ROOM, RUNNING
from kinegraph.solve.problem.headway import Headway
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Recorder, Run
from kinegraph.solve.results.status import Ending, Status

_SHORT, _LONG = 0.02, 0.08  # seconds a slice should take: Ctrl-C waits no longer
_GOES_ON = RUNNING, NO_ROOM
FIRST_STEPS, _MOST_STEPS = 8, 1 << 40
STALLED = -1  # no code of the loops: what is seen between them


@dataclass(frozen=True)
class Loop:
    """The function of a loop, what it takes, and where it is: clock[0] is the time of `state`."""

    advance: Callable[..., int]
    arguments: tuple[object, ...]
    clock: Floats
    state: Floats


def run_in_slices(
    loop: Loop, problem: CauchyProblem, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> Run:
    """Run a loop until it says that the run has ended, or the token asks for it."""
    begun, loading, code = perf_counter(), 0.0, RUNNING
    # Ctrl-C waits for the end of a slice: a step is taken wholly or not at all, and code is loaded whole.
    with progress, np.errstate(all="ignore"), interrupt.catching(), interrupt.deferring():
        advance = problem.bound(loop.advance, *loop.arguments)
        code = advance(0)  # begins the run
        loading = perf_counter() - begun if problem.native else 0.0
        code = run_slices(code, advance, loop.clock, recorder, progress, interrupt)
    if interrupt.requested:
        code = INTERRUPTED
    time = float(loop.clock[0])
    ending = ending_of(code, problem, recorder, time)
    return recorder.run(ending, (time, loop.state.copy()), perf_counter() - begun, loading)


def run_slices(
    code: int, advance: Callable[[int], int], clock: Floats, recorder: Recorder, progress: Progress,
    interrupt: Interrupt, steps: int = FIRST_STEPS,
) -> int:  # fmt: skip
    """Call `advance(steps)` until it says that the run has ended, with as many steps as take a moment."""
    headway = Headway(clock, recorder.counters)
    while code in _GOES_ON and not interrupt.requested:
        before = perf_counter()
        code = advance(steps)
        recorder.drain()
        taken = perf_counter() - before
        if taken < _SHORT:
            steps = min(2 * steps, _MOST_STEPS)
        elif taken > _LONG:
            steps = max(steps // 2, 1)
        if code in _GOES_ON:
            progress.reached(float(clock[0]))
            code = STALLED if headway.is_lost else code
    return code


_STATUSES = {
    codes.DONE: Status.FINISHED,
    codes.NOT_A_NUMBER: Status.NOT_A_NUMBER,
    codes.TOO_SMALL: Status.STEP_TOO_SMALL,
    codes.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
    codes.STOPPED: Status.EVENT,
    codes.TOO_MANY_EVENTS: Status.TOO_MANY_EVENTS,
    codes.NO_CONVERGENCE: Status.NO_CONVERGENCE,
    codes.ACCUMULATED: Status.ACCUMULATED,
    codes.INTERRUPTED: Status.INTERRUPTED,
    codes.SINGULAR_PLACE: Status.SINGULAR,
    codes.LOOPS_OPEN: Status.OPEN,
    STALLED: Status.STALLED,
}


def status_of(code: int) -> Status:
    """What a code of the loops means."""
    return _STATUSES[code]


def ending_of(code: int, problem: CauchyProblem, recorder: Recorder, time: float) -> Ending:
    """How a run ended, from the code of its loop and what the loop noted."""
    status = status_of(code)
    if status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL):
        component = int(recorder.counters[COMPONENT])
        if component < 0:
            return Ending(status, time, f"the condition of event {recorder.events.names[-1 - component]!r}")
        return Ending(status, time, problem.rhs.names[component])
    if status in (Status.SINGULAR, Status.OPEN):
        return Ending(status, time, f"the constraint {problem.rhs.rows[int(recorder.counters[COMPONENT])]}")
    if status in (Status.EVENT, Status.ACCUMULATED, Status.TOO_MANY_EVENTS, Status.STALLED):
        return Ending(status, time, detail=recorder.last_event)
    return Ending(status, time)
