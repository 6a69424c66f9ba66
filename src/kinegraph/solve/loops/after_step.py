"""The start of a run and the end of every step, for all methods: events, saved states, the clock; a Hermite cubic
where a method has no dense output.
"""

from __future__ import annotations

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.events import begin_events, react, watch_step
from kinegraph.solve.loops.step import (
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
    System,
    Work,
    evaluate,
    has_grid_until,
    interpolate,
    save,
    save_step,
)
from kinegraph.solve.loops.zero_crossings import MOST_DIPS, Watch


@part
def begin_run(system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers) -> int:
    """Save the first state and find the sides of events; events at the start act on work.y. RUNNING, or how it ends."""
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
    """The next step of fixed length, counted from BASE so that times do not drift; the last step is cut."""
    t, end = clock[TIME], clock[END]
    following = clock[BASE] + (counters[SINCE_START] + 1) * clock[STEP]
    return float(end - t if following > end - 1e-9 * clock[STEP] else following - t)


@part
def room(saving: Saving, watch: Watch, counters: Integers) -> bool:
    """Whether there is room to save one more step with all events it may have."""
    free = len(saving.grid) > 0 or counters[SAVED] + 3 < len(saving.times)
    events = (watch.samples + MOST_DIPS + 1) * len(watch.side) + len(watch.recent) + 2
    return bool(free and counters[EVENTS] + events < len(watch.times))


@part
def may_step(clock: Floats, watch: Watch, saving: Saving, counters: Integers) -> int:
    """RUNNING if a step can be taken; DONE at the end, NO_ROOM if Python must make room first."""
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
    """Whether states inside the step to t_new are needed."""
    return bool(len(watch.side)) or has_grid_before(saving, counters, t_new)


@part
def has_grid_before(saving: Saving, counters: Integers, t_new: float) -> bool:
    """Whether a grid time is inside the step to t_new."""
    return bool(has_grid_until(saving, counters, t_new) and saving.grid[counters[NEXT_GRID]] < t_new)


@part
def finish_step(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:  # fmt: skip
    """Look for events in a step from work.y to work.end, save it, and move the clock. Dense output is prepared.

    RUNNING: the step is complete, and work.end becomes work.y. CUT: it ended at an event, and work.y is the state to
    continue from. All other codes end the run.
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
    """Save a step and move the clock, after its events (code, u); returns as `finish_step` does."""
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
    """End the step at an event and save the part before it. CUT if the run continues, else why it stops."""
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


# Methods without dense output use a Hermite cubic.


@part
def prepare_cubic(system: System, work: Work, t: float, h: float) -> None:
    """Terms of the Hermite cubic over the step, as dense output."""
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
    """As `finish_step`, with the cubic prepared; the end of a complete step becomes the state."""
    if needs_dense(watch, saving, counters, end_of(clock, h)):
        prepare_cubic(system, work, clock[TIME], h)
    code = finish_step(system, work, clock, watch, saving, counters, h)
    if code == RUNNING:
        for d in range(len(work.y)):
            work.y[d] = work.end[d]
    return int(code)
