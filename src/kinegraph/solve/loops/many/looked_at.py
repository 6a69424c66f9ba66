"""The end of a step of one trajectory, with a look at the outputs along it."""

from __future__ import annotations

from kinegraph.solve.loops.after_step import cut_step, end_of
from kinegraph.solve.loops.events.dips import watch_gaps
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.many.tally import Tally, climb_all, look_at_samples, look_through
from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.record import CUT, RUNNING, SINCE_START, STEPS, TIME, Saving, save_step
from kinegraph.solve.loops.step import System, Work


@part
def finish_looked_at(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, tally: Tally, row: int,
    h: float,
) -> int:  # fmt: skip
    """As `finish_step`, with a look at the outputs along the part of the step that stands."""
    counters[STEPS] += 1
    counters[SINCE_START] += 1
    t, t_new = clock[TIME], end_of(clock, h)
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_gaps(system, watch, counters, work, t, h)
    if code != RUNNING and code != CUT:
        return int(code)
    if tally.along:
        look_at_samples(system, tally, work, t, h, u)
        if look_through(tally, row, t, h, u):
            climb_all(system, tally, work, row, t, h, u)
    tally.known[0] = 1 if code == RUNNING else 0  # an event may change the state
    if code == CUT:
        return int(cut_step(system, work, clock, watch, saving, counters, u, h))
    save_step(saving, counters, work, t, h, t_new)
    clock[TIME] = t_new
    return RUNNING
