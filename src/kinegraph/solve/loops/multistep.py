"""What multistep methods, which step elsewhere, take of the loops: the beginning of a run and what follows a step."""

from __future__ import annotations

from kinegraph.solve.loops.after_step import begin_run, finish_step
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.marks import Floats, Integers, loop
from kinegraph.solve.loops.record import BEGUN, Saving
from kinegraph.solve.loops.step import System, Work


@loop
def follow(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:
    """Begin a run, or follow a step of length h from work.y to work.end (see `finish_step`)."""
    if not counters[BEGUN]:
        return int(begin_run(system, work, clock, watch, saving, counters))
    return int(finish_step(system, work, clock, watch, saving, counters, h))
