"""The end of a step that has no dense output of its own: the cubic of Hermite serves."""

from __future__ import annotations

from kinegraph.solve.loops.after_step import end_of, finish_step, needs_dense
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.record import RUNNING, TIME, Saving
from kinegraph.solve.loops.step import System, Work, evaluate


@part
def prepare_cubic(system: System, work: Work, t: float, h: float) -> None:
    """Terms of the cubic of Hermite over the step, as dense output."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.y[d]
    evaluate(system, work, t, work.errors, 0)
    for d in range(size):
        work.dense[0, d] = work.end[d] - work.y[d]
        work.dense[1, d] = h * work.errors[0, d] - work.dense[0, d]
        work.x[d] = work.end[d]
    evaluate(system, work, t + h, work.errors, 0)
    for d in range(size):
        work.dense[2, d] = work.dense[0, d] - h * work.errors[0, d] - work.dense[1, d]


@part
def finish_with_cubic(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:
    """As `finish_step`, with the cubic prepared; where the step stands, its end becomes the state."""
    if needs_dense(watch, saving, counters, end_of(clock, h)):
        prepare_cubic(system, work, clock[TIME], h)
    code = finish_step(system, work, clock, watch, saving, counters, h)
    if code == RUNNING:
        for d in range(len(work.y)):
            work.y[d] = work.end[d]
    return int(code)
