"""Events in a run: search each step, record the events, and act on the state; the same for every method."""

from __future__ import annotations

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import (
    ACCUMULATED,
    COMPONENT,
    CUT,
    EVENT,
    EVENT_TOTAL,
    EVENTS,
    NOT_A_NUMBER,
    RESETS,
    RUNNING,
    STOPPED,
    TOO_MANY_EVENTS,
    System,
    Work,
    project,
    set_inputs,
)
from kinegraph.solve.loops.zero_crossings import (
    CALM,
    DONE,
    DUE,
    RECORD,
    RESOLUTION,
    STOP,
    Watch,
    event_rates,
    event_values,
    find_noise,
    first_event,
    is_beyond,
    leave_surface,
    next_due,
    observe_events,
    passes,
    put_on_surface,
    sign,
)

# Records


@part
def record_event(watch: Watch, counters: Integers, event: int, t: float, y: Floats) -> None:
    """Record one event, with the state before it acts. Then it is done, or due to act."""
    place = counters[EVENTS]
    watch.times[place] = t
    watch.which[place] = event
    for d in range(watch.states.shape[1]):
        watch.states[place, d] = y[d]
    counters[EVENTS] = place + 1
    counters[EVENT_TOTAL] += 1
    if watch.actions[event] == RECORD:
        watch.side[event] = -watch.side[event]
        watch.stage[event] = DONE
    else:
        watch.stage[event] = DUE


@part
def record_events(
    system: System, watch: Watch, counters: Integers, work: Work, event: int, t: float, h: float, u: float
) -> None:
    """Record an event, and all others at the same time."""
    observe_events(system, watch, work, t, h, u)
    event_rates(system, watch, work.x, len(work.y), t + u * h)
    for k in range(len(watch.side)):
        happens = k == event or passes(watch.side[k], watch.ahead[k], watch.directions[k])
        watch.incoming[k] = watch.rates[k]
        watch.before[k] = watch.values[k]
        watch.residual[k] = abs(watch.values[k] - watch.zero[k]) if happens else 0.0
        watch.stage[k] = CALM
        if happens:
            record_event(watch, counters, k, t + u * h, work.x)
        elif watch.ahead[k] != 0:
            watch.side[k] = watch.ahead[k]


# Actions: events act on the state, one after the other, until none is due.

_SLOPES = 1e-10  # a reset that leaves less than this part of a slope sets it to zero, up to rounding
_ACCUMULATED = 1e-10  # the part of the run in which the last resets occur if they accumulate
_CHATTER = 1e-5  # the same for resets that would accumulate without rounding


@part
def act(system: System, watch: Watch, work: Work, event: int, t: float) -> None:
    """Replace the state in work.end by the new state of an event."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.end[d]
    work.x[size] = t
    set_inputs(system.knots, system.coefficients, t, work.x, size + 1)
    call(watch.reset, work.x, watch.fresh, 0)
    for d in range(size):
        work.x[d] = watch.fresh[event * size + d]
    project(system, work, t)
    for d in range(size):
        work.end[d] = work.x[d]


@part
def react(system: System, watch: Watch, counters: Integers, work: Work, t: float) -> int:
    """Let all events that are due act on work.end, one after the other; a stop comes first.

    A reset may bring about other events at the same time. A boundary acts on what goes outwards, so one that another
    reset has turned back does nothing.
    """
    size = len(work.y)
    for event in range(len(watch.side)):
        if watch.stage[event] == DUE and watch.actions[event] == STOP:
            counters[EVENT] = event
            return STOPPED
    while True:
        event = next_due(watch)
        if event < 0:
            return RUNNING
        counters[EVENT] = event
        watch.stage[event] = CALM
        if rests(watch, counters, event, t):
            return ACCUMULATED
        if not (watch.boundary[event] == 1 and watch.side[event] * watch.rates[event] > 0.0):
            act(system, watch, work, event, t)
        for d in range(size):
            work.x[d] = work.end[d]
        event_values(system, watch, work.x, size, t, watch.values)
        event_rates(system, watch, work.x, size, t)
        stop = update_sides(watch, counters, work, event, t)
        if stop >= 0:
            counters[EVENT] = stop
            return STOPPED
        if accumulated(watch, counters, t):
            return ACCUMULATED
        if counters[EVENT_TOTAL] >= watch.limit:
            return TOO_MANY_EVENTS


@part
def update_sides(watch: Watch, counters: Integers, work: Work, acted: int, t: float) -> int:
    """Update the side of every event after one has acted, and record new events; returns an event that stops, or -1."""
    stop = -1
    for k in range(len(watch.side)):
        value, rate, incoming = watch.values[k], watch.rates[k], abs(watch.incoming[k])
        near = 2.0 * watch.residual[k] + RESOLUTION * watch.span * (abs(rate) + incoming)
        watch.before[k] = value
        if not abs(value - watch.zero[k]) <= max(watch.noise[k], near):
            leave_surface(watch, k)
            watch.side[k] = sign(value)
            if watch.boundary[k] == 1:
                watch.stage[k] = CALM
            elif is_beyond(watch, k) and watch.stage[k] == CALM:
                record_event(watch, counters, k, t, work.x)
                stop = k
            continue
        put_on_surface(watch, k, t)
        ahead = sign(rate) if abs(rate) > _SLOPES * incoming else 0
        if watch.stage[k] == DUE or ahead == 0:
            continue
        if k != acted and watch.stage[k] == CALM and passes(watch.side[k], ahead, watch.directions[k]):
            record_event(watch, counters, k, t, work.x)
            if watch.actions[k] == STOP:
                stop = k
        else:
            watch.side[k] = ahead
    return stop


@part
def rests(watch: Watch, counters: Integers, event: int, t: float) -> bool:
    """Whether an event is due again at the time of the last reset, without a speed to rebound with."""
    last = watch.recent[(counters[RESETS] - 1) % len(watch.recent)]
    return bool(counters[RESETS] > 0 and last == t and watch.boundary[event] == 1 and watch.rates[event] == 0.0)


@part
def accumulated(watch: Watch, counters: Integers, t: float) -> bool:
    """Whether resets follow each other faster and faster, so that they never pass a certain time."""
    count = len(watch.recent)
    place = counters[RESETS] % count
    first = watch.recent[place]
    watch.recent[place] = t
    counters[RESETS] += 1
    if counters[RESETS] <= count:
        return False
    if t - first <= _ACCUMULATED * watch.span:
        return True
    middle = watch.recent[(place + count // 2) % count]
    return bool(t - first <= _CHATTER * watch.span and t - middle >= 0.99 * (middle - first))


# Search


@part
def begin_events(system: System, watch: Watch, counters: Integers, work: Work, t: float) -> int:
    """Find the side of each event. Events at a boundary that go outwards, or hold, act at once on work.end.

    An event that acted at this time before the run is on its surface, as if it had acted within the run.
    """
    size = len(work.y)
    if len(watch.side) == 0:
        return RUNNING
    for d in range(size):
        work.x[d] = work.end[d] = work.y[d]
    event_values(system, watch, work.x, size, t, watch.values)
    event_rates(system, watch, work.x, size, t)
    find_noise(watch, work)
    for k in range(len(watch.side)):
        watch.before[k], watch.incoming[k] = watch.values[k], watch.rates[k]
        acted, near = watch.on_surface[k], max(watch.noise[k], RESOLUTION * watch.span * abs(watch.rates[k]))
        if not abs(watch.values[k]) <= near + 2.0 * watch.residual[k]:
            watch.side[k] = sign(watch.values[k])
            leave_surface(watch, k)
            if is_beyond(watch, k):
                record_event(watch, counters, k, t, work.x)
            continue
        put_on_surface(watch, k, t)
        watch.side[k] = sign(watch.rates[k])
        if watch.boundary[k] and not acted:
            watch.side[k] = -1 if watch.directions[k] > 0 else 1
            if passes(watch.side[k], sign(watch.rates[k]), watch.directions[k]):
                record_event(watch, counters, k, t, work.x)
    return react(system, watch, counters, work, t)


@part
def watch_step(system: System, watch: Watch, counters: Integers, work: Work, t: float, h: float) -> tuple[int, float]:
    """Search the step for events; dense output is prepared. CUT and the place, if an event must act there.

    RUNNING otherwise, after recording others; NOT_A_NUMBER and TOO_MANY_EVENTS end the run.
    """
    return watch_part(system, watch, counters, work, t, h, 0.0, 1.0)


@part
def watch_part(
    system: System, watch: Watch, counters: Integers, work: Work, t: float, h: float, low: float, end: float
) -> tuple[int, float]:
    """The same between two places of the step."""
    sample = 1
    while low < end:
        while sample / watch.samples <= low:
            sample += 1
        high = min(sample / watch.samples, end)
        observe_events(system, watch, work, t, h, high)
        event, u = first_event(system, watch, work, t, h, low, high)
        if event < 0:
            if undefined(watch, counters):
                return NOT_A_NUMBER, low
            arrive(watch)
            low = high
            continue
        record_events(system, watch, counters, work, event, t, h, u)
        if next_due(watch) >= 0:
            return CUT, u
        low = u
        if counters[EVENT_TOTAL] >= watch.limit:
            return TOO_MANY_EVENTS, u
    return RUNNING, end


@part
def undefined(watch: Watch, counters: Integers) -> bool:
    """Whether a value is NaN; its event is noted."""
    for event in range(len(watch.side)):
        if watch.values[event] != watch.values[event]:
            counters[COMPONENT] = -1 - event
            return True
    return False


@part
def arrive(watch: Watch) -> None:
    """Continue from a place without events."""
    for event in range(len(watch.side)):
        ahead = watch.ahead[event]
        if ahead != 0:
            watch.side[event] = ahead
        if ahead * watch.values[event] > 0.0:
            leave_surface(watch, event)
        watch.before[event] = watch.values[event]


@part
def has_no_crossing(watch: Watch, values: Floats, lane: int) -> bool:
    """Whether all values inside a step, values[place, lane, event], are on the sides of their events.

    Otherwise, or if an event may be on its surface, `watch_step` searches the step.
    """
    for event in range(len(watch.side)):
        side = watch.side[event]
        if watch.on_surface[event]:
            return False
        for place in range(len(values)):
            if not side * values[place, lane, event] > 0.0:
                return False
    return True


@part
def skip_quiet_step(watch: Watch, values: Floats, lane: int) -> None:
    """Continue from the end of a step without events."""
    for event in range(len(watch.side)):
        watch.before[event] = watch.values[event] = values[-1, lane, event]
