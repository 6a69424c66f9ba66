"""Running a compiled loop slice by slice: progress, interruption, and what the codes of the loop mean."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from kinegraph.solve.problem import CauchyProblem, Floats
from kinegraph.solve.progress import Progress
from kinegraph.solve.recording import Recorder, Run
from kinegraph.solve.status import Ending, Status

_SHORT, _LONG = 0.02, 0.08  # seconds a slice should take: Ctrl-C waits no longer
_MOST_STEPS = 1 << 40


def drive(
    advance: Callable[[int], int],
    problem: CauchyProblem,
    recorder: Recorder,
    clock: Floats,
    state: Floats,
    progress: Progress,
) -> Run:
    """Call `advance(steps)` until it says that the run has ended; clock[0] and `state` are where it is."""
    from kinegraph.solve.record_loop import NO_ROOM, RUNNING

    begun = perf_counter()
    status = Status.FINISHED
    with progress:
        try:
            steps, code = 64, RUNNING
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
            status = statuses()[code]
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    ending = _ending(status, problem, recorder, float(clock[0]))
    return recorder.run(ending, (float(clock[0]), state.copy()), perf_counter() - begun)


def statuses() -> dict[int, Status]:
    """What the codes of compiled loops mean."""
    from kinegraph.solve import record_loop as codes

    return {
        codes.DONE: Status.FINISHED,
        codes.NOT_A_NUMBER: Status.NOT_A_NUMBER,
        codes.TOO_SMALL: Status.STEP_TOO_SMALL,
        codes.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
        codes.STOPPED: Status.EVENT,
        codes.TOO_MANY_EVENTS: Status.TOO_MANY_EVENTS,
        codes.NO_CONVERGENCE: Status.NO_CONVERGENCE,
    }


def _ending(status: Status, problem: CauchyProblem, recorder: Recorder, time: float) -> Ending:
    from kinegraph.solve.record_loop import COMPONENT

    if status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL, Status.NO_CONVERGENCE):
        return Ending(status, time, problem.rhs.names[int(recorder.counters[COMPONENT])])
    if status is Status.EVENT:
        return Ending(status, time, detail=recorder.last_event)
    return Ending(status, time)
