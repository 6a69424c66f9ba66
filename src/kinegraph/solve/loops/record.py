"""Compiled parts that every method shares: how a run is counted and how its states are saved."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.step import Work, interpolate

# How a slice ended; CUT says that a step ended at an event and the run goes on from another state.
RUNNING, DONE, NO_ROOM, NOT_A_NUMBER, TOO_SMALL, TOO_MANY_STEPS, STOPPED, TOO_MANY_EVENTS, NO_CONVERGENCE = range(9)
ACCUMULATED, CUT, INTERRUPTED, SINGULAR_PLACE, LOOPS_OPEN = 9, 10, 11, 12, 13

# Places in the array `clock`: time, next step, end, last error, where steps of fixed length are counted from.
TIME, STEP, END, LAST_ERROR, BASE = range(5)

# Places in the integer array `counters` of a run; COMPONENT is the entry of the state that made trouble, or -1 - the
# event that did, or the row of the constraints in a SINGULAR_PLACE or of LOOPS_OPEN; EVENT is the one that acted last;
# BEGUN says that the beginning of the run is done.
STEPS, REJECTED, SAVED, NEXT_GRID, EVENTS, EVENT_TOTAL, COMPONENT, SINCE_START, EVALUATIONS, EVENT, RESETS = range(11)
BEGUN = 11
COUNTERS = 12


class Saving(NamedTuple):
    """Where states are saved: at the times of `grid`, or (if it is empty) after every so many steps."""

    grid: Floats
    every: int
    times: Floats
    states: Floats


@part
def save(saving: Saving, counters: Integers, t: float, y: Floats) -> None:
    """Append one state."""
    place = counters[SAVED]
    saving.times[place] = t
    for d in range(saving.states.shape[1]):
        saving.states[place, d] = y[d]
    counters[SAVED] = place + 1


@part
def has_grid_until(saving: Saving, counters: Integers, t: float) -> bool:
    """Whether a grid time lies at or before t that is not saved yet."""
    following = counters[NEXT_GRID]
    return bool(following < len(saving.grid) and saving.grid[following] <= t)


@part
def save_step(saving: Saving, counters: Integers, work: Work, t: float, h: float, t_new: float) -> None:
    """Save what the step from t to t_new reaches; `h` is the length dense output was prepared for."""
    if len(saving.grid) == 0:
        if counters[STEPS] % saving.every == 0:
            save(saving, counters, t_new, work.end)
        return
    while has_grid_until(saving, counters, t_new):
        at = saving.grid[counters[NEXT_GRID]]
        place = counters[SAVED]
        saving.times[place] = at
        if at == t_new:
            for d in range(saving.states.shape[1]):
                saving.states[place, d] = work.end[d]
        else:
            interpolate(work, (at - t) / h, saving.states[place])
        counters[SAVED] = place + 1
        counters[NEXT_GRID] += 1
