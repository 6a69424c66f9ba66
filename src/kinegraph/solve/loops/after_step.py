"""What comes before the first step and after every step, the same for every method: events, saving, the clock."""

from __future__ import annotations

from kinegraph.solve.loops.events.act import react
from kinegraph.solve.loops.events.in_run import begin_events, watch_step
from kinegraph.solve.loops.events.watch import MOST_DIPS, Watch
from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.record import (
    BASE,
    BEGUN,
    CUT,
    DONE,
    END,
    EVENTS,
    LAST_ERROR,
    NEXT_GRID,
    NO_ROOM,
    RUNNING,
    SAVED,
    SINCE_START,
    STEP,
    STEPS,
    TIME,
    Saving,
    has_grid_until,
    save,
    save_step,
)
from kinegraph.solve.loops.step import System, Work, interpolate


@part
def begin_run(system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers) -> int:
    """The first saved state and the sides of events; what happens at once acts on work.y. Says how the run goes on."""
    t = clock[TIME]
    counters[BEGUN] = 1
    if len(saving.grid) == 0:
        save(saving, counters, t, work.y)
    elif has_grid_until(saving, counters, t):
        save_step(saving, counters, work, t, 1.0, t)
    resets = counters[EVENTS]
    code = begin_events(system, watch, counters, work, t)
    if counters[EVENTS] > resets:
        for d in range(len(work.y)):
            work.y[d] = work.end[d]
        if len(saving.grid) == 0:
            save(saving, counters, t, work.y)
    return int(code)


@part
def fixed_step(clock: Floats, counters: Integers) -> float:
    """The next of the steps of one length, counted from BASE so that times do not drift; the last one is cut."""
    t, end = clock[TIME], clock[END]
    following = clock[BASE] + (counters[SINCE_START] + 1) * clock[STEP]
    return float(end - t if following > end - 1e-9 * clock[STEP] else following - t)


@part
def room(saving: Saving, watch: Watch, counters: Integers) -> bool:
    """Whether one more step can be saved, with as many events as it can have."""
    free = len(saving.grid) > 0 or counters[SAVED] + 3 < len(saving.times)
    events = (watch.samples + MOST_DIPS + 1) * len(watch.side) + len(watch.recent) + 2
    return bool(free and counters[EVENTS] + events < len(watch.times))


@part
def may_step(clock: Floats, watch: Watch, saving: Saving, counters: Integers) -> int:
    """RUNNING where a step is to be taken; DONE at the end, NO_ROOM where Python must make some first."""
    if clock[TIME] >= clock[END]:
        return DONE
    return RUNNING if room(saving, watch, counters) else NO_ROOM


@part
def end_of(clock: Floats, h: float) -> float:
    """The time at the end of a step of length h: exactly the end of the run if it goes there."""
    t, end = clock[TIME], clock[END]
    return float(end if h == end - t else t + h)


@part
def needs_dense(watch: Watch, saving: Saving, counters: Integers, t_new: float) -> bool:
    """Whether anything inside the step to t_new is asked for."""
    return bool(len(watch.side)) or has_grid_before(saving, counters, t_new)


@part
def has_grid_before(saving: Saving, counters: Integers, t_new: float) -> bool:
    """Whether a grid time lies inside the step to t_new."""
    return bool(has_grid_until(saving, counters, t_new) and saving.grid[counters[NEXT_GRID]] < t_new)


@part
def finish_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:  # fmt: skip
    """Look for events in a step from work.y to work.end, save it, and move the clock. Dense output is prepared.

    RUNNING: the step stands, work.end is to become work.y. CUT: it ended at an event, work.y is the state to go on
    from. Everything else ends the run.
    """
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_step(system, watch, counters, work, clock[TIME], h)
    return int(end_step(system, work, clock, watch, saving, counters, code, u, h))


@part
def end_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, code: int, u: float,
    h: float,
) -> int:  # fmt: skip
    """Save a step and move the clock, after what events did in it; returns as `finish_step` does."""
    counters[STEPS] += 1
    counters[SINCE_START] += 1
    t, t_new = clock[TIME], end_of(clock, h)
    if code == CUT:
        return int(cut_step(system, work, clock, watch, saving, counters, u, h))
    if code != RUNNING:
        return int(code)
    save_step(saving, counters, work, t, h, t_new)
    clock[TIME] = t_new
    return RUNNING


@part
def cut_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, u: float, h: float
) -> int:
    """End the step at an event, save what came before it, and stop there (the code says why) or go on: CUT."""
    t = clock[TIME]
    at = t + u * h
    interpolate(work, u, work.end)
    save_step(saving, counters, work, t, h, at)
    if len(saving.grid) == 0 and counters[STEPS] % saving.every:
        save(saving, counters, at, work.end)
    code = react(system, watch, counters, work, at)
    if code == RUNNING and len(saving.grid) == 0:
        save(saving, counters, at, work.end)
    for d in range(len(work.y)):
        work.y[d] = work.x[d] = work.end[d]
    clock[TIME] = clock[BASE] = at
    counters[SINCE_START] = 0
    clock[LAST_ERROR] = 1e-4
    return CUT if code == RUNNING else int(code)
