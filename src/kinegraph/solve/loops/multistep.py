"""What multistep methods, which step elsewhere, take of the loops: the beginning of a run and what follows a step."""

from __future__ import annotations

from kinegraph.solve.loops.after_step import begin_run, end_step
from kinegraph.solve.loops.events.dips import find_rounding, watch_gaps
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.marks import Floats, Integers, loop
from kinegraph.solve.loops.record import BEGUN, RUNNING, TIME, Saving
from kinegraph.solve.loops.step import System, Work


@loop
def follow(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:
    """Begin a run, or follow a step of length h from work.y to work.end (see `finish_step`)."""
    if not counters[BEGUN]:
        code = begin_run(system, work, clock, watch, saving, counters)
        find_rounding(watch, work, clock[TIME])
        return int(code)
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_gaps(system, watch, counters, work, clock[TIME], h)
    return int(end_step(system, work, clock, watch, saving, counters, code, u, h))
