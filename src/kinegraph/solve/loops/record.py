"""Compiled parts that every method shares: saving states, and finding, recording and acting on events."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinegraph.solve.loops.marks import call, part
from kinegraph.solve.loops.step import System, Work, evaluate, interpolate, set_inputs

Array = Any

# How a slice ended.
RUNNING, DONE, NO_ROOM, NOT_A_NUMBER, TOO_SMALL, TOO_MANY_STEPS, STOPPED, TOO_MANY_EVENTS, NO_CONVERGENCE = range(9)

# Places in the array `clock`: time, next step, end, last error, where steps of fixed length are counted from.
TIME, STEP, END, LAST_ERROR, BASE = range(5)

# Places in the integer array `counters` of a run.
STEPS, REJECTED, SAVED, NEXT_GRID, EVENTS, EVENT_TOTAL, COMPONENT, SINCE_START, EVALUATIONS = range(9)
COUNTERS = 9

# What an event does, and what happened to a step.
RECORD, STOP, RESET = range(3)


class Saving(NamedTuple):
    """Where states are saved: at the times of `grid`, or (if it is empty) after every so many steps."""

    grid: Array
    every: int
    times: Array
    states: Array


class Watch(NamedTuple):
    """Events: the kernel of their values, how each acts, where they are recorded.

    `before` holds the last value of each event; zero means it has just happened, so that it counts again only after
    leaving zero. `reset` is the kernel of new states, one row for each event.
    """

    code: Any
    directions: Array
    actions: Array
    before: Array
    values: Array
    samples: int
    reset: Any
    fresh: Array
    times: Array
    which: Array
    states: Array
    limit: int
    knots: Array
    coefficients: Array


@part
def save(saving: Saving, counters: Array, t: float, y: Array) -> None:
    """Append one state."""
    place = counters[SAVED]
    saving.times[place] = t
    for d in range(saving.states.shape[1]):
        saving.states[place, d] = y[d]
    counters[SAVED] = place + 1


@part
def has_grid_until(saving: Saving, counters: Array, t: float) -> bool:
    """Whether a grid time lies at or before t that is not saved yet."""
    following = counters[NEXT_GRID]
    return bool(following < len(saving.grid) and saving.grid[following] <= t)


@part
def save_step(saving: Saving, counters: Array, work: Work, t: float, h: float, t_new: float) -> None:
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


@part
def event_values(watch: Watch, x: Array, size: int, t: float, values: Array) -> None:
    """The values of all events for the state in x[:size]."""
    x[size] = t
    set_inputs(watch.knots, watch.coefficients, t, x, size + 1)
    call(watch.code, x, values, 0)


@part
def crossed(before: float, after: float, direction: int) -> bool:
    """Whether a value passes zero the way that counts; from zero itself nothing is passed."""
    rising = before < 0.0 and after >= 0.0
    falling = before > 0.0 and after <= 0.0
    return (rising and direction >= 0) or (falling and direction <= 0)


@part
def locate(watch: Watch, work: Work, t: float, h: float, event: int, low: float, high: float) -> float:
    """Where in the step (low < u <= high) one event happens: the secant rule of Illinois, on the far side of zero."""
    size = len(work.y)
    value_low = watch.before[event]
    value_high = watch.values[event]
    side = 0
    for _ in range(100):
        if high - low <= 4e-16 * max(1.0, abs(t) / h) or value_high == 0.0:
            break
        u = high - value_high * (high - low) / (value_high - value_low)
        if not low < u < high:
            u = 0.5 * (low + high)
        interpolate(work, u, work.x)
        event_values(watch, work.x, size, t + u * h, watch.fresh)
        value = watch.fresh[event]
        if (value > 0.0) == (value_high > 0.0) or value == 0.0:
            high, value_high = u, value
            if side == 1:
                value_low *= 0.5
            side = 1
        else:
            low, value_low = u, value
            if side == -1:
                value_high *= 0.5
            side = -1
    return high


@part
def first_event(watch: Watch, work: Work, t: float, h: float, low: float, high: float) -> tuple[int, float]:
    """The earliest event between two samples of the step, or -1. `values` holds those at `high`."""
    found, where = -1, 2.0
    for event in range(len(watch.before)):
        if crossed(watch.before[event], watch.values[event], watch.directions[event]):
            u = locate(watch, work, t, h, event, low, high)
            if u < where:
                found, where = event, u
    return found, where


@part
def note(watch: Watch, counters: Array, work: Work, event: int, t: float, u: float) -> None:
    """Record one event, with the state before it acts."""
    place = counters[EVENTS]
    watch.times[place] = t
    watch.which[place] = event
    interpolate(work, u, watch.states[place])
    counters[EVENTS] = place + 1
    counters[EVENT_TOTAL] += 1


@part
def watch_step(watch: Watch, counters: Array, work: Work, t: float, h: float) -> tuple[int, float]:
    """Look for events in the step; dense output is prepared. Returns the event that ends the step (or -1) and where."""
    size = len(work.y)
    low = 0.0
    sample = 1
    while sample <= watch.samples:
        high = sample / watch.samples
        interpolate(work, high, work.x)
        event_values(watch, work.x, size, t + high * h, watch.values)
        event, u = first_event(watch, work, t, h, low, high)
        if event < 0:
            for k in range(len(watch.before)):
                watch.before[k] = watch.values[k]
            low = high
            sample += 1
            continue
        acting = happen(watch, counters, work, event, t, h, u)
        if acting >= 0:
            return acting, u
        low = u
        if counters[EVENT_TOTAL] >= watch.limit or u >= 1.0:
            break
    return -1, 1.0


@part
def happen(watch: Watch, counters: Array, work: Work, event: int, t: float, h: float, u: float) -> int:
    """Record an event and all others at the same time; returns the one that acts, a stop before a reset, or -1."""
    interpolate(work, u, work.x)
    event_values(watch, work.x, len(work.y), t + u * h, watch.fresh)
    acting = -1
    for k in range(len(watch.before)):
        if k != event and not crossed(watch.before[k], watch.fresh[k], watch.directions[k]):
            watch.before[k] = watch.fresh[k]
            continue
        note(watch, counters, work, k, t + u * h, u)
        watch.before[k] = 0.0
        if watch.actions[k] == STOP or (watch.actions[k] == RESET and acting < 0):
            acting = k
    return acting


@part
def act(watch: Watch, work: Work, event: int, t: float) -> None:
    """Replace the state in work.end by the one the event resets it to."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.end[d]
    work.x[size] = t
    set_inputs(watch.knots, watch.coefficients, t, work.x, size + 1)
    call(watch.reset, work.x, watch.fresh, 0)
    for d in range(size):
        work.end[d] = watch.fresh[event * size + d]


@part
def begin_record(work: Work, t: float, watch: Watch, saving: Saving, counters: Array) -> None:
    """The first values of events and the first saved state."""
    size = len(work.y)
    if len(watch.before):
        for d in range(size):
            work.x[d] = work.y[d]
        event_values(watch, work.x, size, t, watch.before)
    if len(saving.grid) == 0:
        save(saving, counters, t, work.y)
    elif has_grid_until(saving, counters, t):
        save_step(saving, counters, work, t, 1.0, t)


@part
def fixed_step(clock: Array, counters: Array) -> float:
    """The next of the steps of one length, counted from BASE so that times do not drift; the last one is cut."""
    t, end = clock[TIME], clock[END]
    following = clock[BASE] + (counters[SINCE_START] + 1) * clock[STEP]
    return float(end - t if following > end - 1e-9 * clock[STEP] else following - t)


@part
def cut_step(
    system: System, work: Work, watch: Watch, saving: Saving, counters: Array, clock: Array,
    event: int, u: float, h: float,
) -> int:  # fmt: skip
    """End the step at an event, save what came before it, and stop there or go on from the new state."""
    size = len(work.y)
    t = clock[TIME]
    at = t + u * h
    interpolate(work, u, work.end)
    save_step(saving, counters, work, t, h, at)
    if len(saving.grid) == 0 and counters[STEPS] % saving.every:
        save(saving, counters, at, work.end)
    code = STOPPED
    if watch.actions[event] != STOP:
        act(watch, work, event, at)
        if len(saving.grid) == 0:
            save(saving, counters, at, work.end)
        code = RUNNING
    for d in range(size):
        work.y[d] = work.x[d] = work.end[d]
    evaluate(system, work.x, size, at, work.slopes, 0)
    for d in range(size):
        work.x[d] = work.y[d]
    event_values(watch, work.x, size, at, watch.values)
    for k in range(len(watch.before)):
        if watch.before[k] != 0.0:  # what has just happened counts again after leaving zero
            watch.before[k] = watch.values[k]
    clock[TIME] = clock[BASE] = at
    counters[SINCE_START] = 0
    clock[LAST_ERROR] = 1e-4
    return code


@part
def room(saving: Saving, watch: Watch, counters: Array) -> bool:
    """Whether one more step can be saved, with as many events as it can have."""
    free = len(saving.grid) > 0 or counters[SAVED] + 3 < len(saving.times)
    return bool(free and counters[EVENTS] + watch.samples * len(watch.before) < len(watch.times))
