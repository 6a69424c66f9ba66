"""Events in a step, the same for every method: where a condition passes zero, what is recorded, and what acts.

Each condition is on one side of zero. The side, not the last value, says what a passage is: a state that was put on the
surface of an event (by the start of a run, or by a reset) has a value of any sign, for rounding decides it. There the
side comes from the slope. So a rebound that is over before the first look at the next step is found all the same.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.codegen.kernel import Code
from kinegraph.solve.loops.marks import Floats, Integers, call, part
from kinegraph.solve.loops.record import (
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
)
from kinegraph.solve.loops.step import System, Work, interpolate, project, set_input_rates, set_inputs

# What an event does.
RECORD, STOP, RESET = range(3)

# Where an event stands at the moment that is looked at: nothing has happened, it is to act, it has been recorded.
CALM, DUE, DONE = range(3)

_SLOPES = 1e-10  # a reset that leaves less than this part of a slope has made it zero, but for rounding
_RESOLUTION = 1e-14  # times that differ by less than this part of the run are the same
_ROUNDING, _LARGEST = 1e-15, 1e300  # of a value, by the size of what it is made of; slopes beyond say nothing
_EXPLAINED, _FAR = 16.0, 1e3  # times slope and time, a value may be; times its rounding, it is not zero in any case
_ACCUMULATED = 1e-10  # the part of the run within which the last resets lie if they accumulate
_CHATTER = 1e-5  # the same for resets that would accumulate, if rounding did not keep them from going on faster
_HALVINGS, _LOOKS = 64, 250  # at most, to find where an event leaves the surface and where it passes zero


class Watch(NamedTuple):
    """Events: the kernels of their values, slopes and new states, what each does, where they are recorded.

    code: x -> value of each event. slope: [x, y', u'] -> its rate. reset: x -> new states, one row for each event.
    boundary: whether an event stops or resets, by a condition of positions. The motion is on its inner side.
    side: of zero each event is on; 0 is not known. stage: CALM, DUE or DONE.
    before, values: at both ends of what is looked at. rates, ahead: slopes and sides at its end.
    incoming: slopes before any reset acted. residual: how far from zero an event was found.
    on_surface: whether an event was put on its surface and has not left it; with the value `zero`, at the time `since`.
    noise: what rounding may add to a value. recent: times of the last resets, in a ring.
    span: the largest time of the run, which resolutions refer to.
    """

    code: Code
    slope: Code
    reset: Code
    directions: Integers
    actions: Integers
    boundary: Integers
    side: Integers
    ahead: Integers
    stage: Integers
    on_surface: Integers
    before: Floats
    values: Floats
    rates: Floats
    incoming: Floats
    residual: Floats
    zero: Floats
    since: Floats
    noise: Floats
    argument: Floats
    fresh: Floats
    recent: Floats
    times: Floats
    which: Integers
    states: Floats
    samples: int
    limit: int
    span: float


@part
def sign(value: float) -> int:
    """1, -1, or 0 for zero and what is not a number."""
    return int(value > 0.0) - int(value < 0.0)


@part
def passes(side: int, following: int, direction: int) -> bool:
    """Whether going from one side of zero to another counts."""
    return bool(side * following < 0 and side * direction <= 0)


# values and slopes


@part
def event_values(system: System, watch: Watch, x: Floats, size: int, t: float, values: Floats) -> None:
    """The values of all events for the state in x[:size]."""
    x[size] = t
    set_inputs(system.knots, system.coefficients, t, x, size + 1)
    call(watch.code, x, values, 0)


@part
def event_rates(system: System, watch: Watch, x: Floats, size: int, t: float) -> None:
    """The slopes of all events along the motion, for the state in x[:size], into watch.rates."""
    count = len(x)
    x[size] = t
    set_inputs(system.knots, system.coefficients, t, x, size + 1)
    for place in range(count):
        watch.argument[place] = x[place]
    call(system.code, x, watch.argument, count)
    set_input_rates(system.knots, system.coefficients, t, watch.argument, count + size)
    call(watch.slope, watch.argument, watch.rates, 0)


@part
def find_noise(watch: Watch, work: Work) -> None:
    """What rounding may add to values: their slopes by all entries of the state, times its size (at least one).

    watch.argument holds the state; the rates that stood there are overwritten.
    """
    count = len(work.x)
    for place in range(count, len(watch.argument)):
        watch.argument[place] = 0.0
    for d in range(len(work.y)):
        watch.argument[count + d] = 1.0
        call(watch.slope, watch.argument, watch.fresh, 0)
        watch.argument[count + d] = 0.0
        for event in range(len(watch.side)):
            slope = abs(watch.fresh[event])
            if slope < _LARGEST:
                watch.noise[event] += _ROUNDING * slope * (1.0 + abs(work.y[d]))


@part
def following(watch: Watch, event: int, t: float) -> int:
    """The side a value is on or, where it is zero, goes to.

    An event that was put on its surface has left it when its slope explains the value, or when that is large. As long
    as it has not, this is 0.
    """
    value, rate = watch.values[event] - watch.zero[event], watch.rates[event]
    if not watch.on_surface[event]:
        return sign(rate) if value == 0.0 else sign(value)
    moved = abs(value) <= _EXPLAINED * abs(rate) * (t - watch.since[event])
    return sign(value) if moved or abs(value) > _FAR * watch.noise[event] else 0


@part
def look(system: System, watch: Watch, work: Work, t: float, h: float, u: float) -> None:
    """The values of all events at t + u h and the sides they are on, by their slopes where these are needed."""
    size = len(work.y)
    interpolate(work, u, work.x)
    event_values(system, watch, work.x, size, t + u * h, watch.values)
    for event in range(len(watch.side)):
        if watch.values[event] == 0.0 or watch.on_surface[event]:
            event_rates(system, watch, work.x, size, t + u * h)
            break
    for event in range(len(watch.side)):
        watch.ahead[event] = following(watch, event, t + u * h)


# finding


@part
def value_at(system: System, watch: Watch, work: Work, t: float, h: float, event: int, u: float) -> float:
    """The value of one event at t + u h."""
    interpolate(work, u, work.x)
    event_values(system, watch, work.x, len(work.y), t + u * h, watch.fresh)
    return float(watch.fresh[event] - watch.zero[event])


@part
def leaving(
    system: System, watch: Watch, work: Work, t: float, h: float, event: int, low: float, high: float
) -> tuple[float, float]:
    """Places between which an event that begins at the surface, and leaves it for its side, passes zero.

    Both are `low` where it does not leave as far as rounding shows.
    """
    inner = outer = high
    for _ in range(_HALVINGS):
        inner = low + 0.5 * (inner - low)
        if (inner - low) * h <= 1e-17 * abs(t):
            break
        if watch.side[event] * value_at(system, watch, work, t, h, event, inner) > 0.0:
            return inner, outer
        outer = inner
    return low, low


@part
def locate(system: System, watch: Watch, work: Work, t: float, h: float, event: int, low: float, high: float) -> float:
    """Where in the step (low <= u <= high) an event passes zero, on the far side: the secant rule of Illinois.

    Where that does not halve the bracket in three steps, as with x^3, the middle is taken.
    """
    side = watch.side[event]
    value_low, value_high = watch.before[event] - watch.zero[event], watch.values[event] - watch.zero[event]
    if not side * value_low > 0.0:
        low, high = leaving(system, watch, work, t, h, event, low, high)
        if low == high:
            return low
        value_low = value_at(system, watch, work, t, h, event, low)
        value_high = value_at(system, watch, work, t, h, event, high)
    last, width, tried = 0, high - low, 0
    for _ in range(_LOOKS):
        if high - low <= 4e-16 * max(high, abs(t) / h) or value_high == 0.0:
            break
        u = high - value_high * (high - low) / (value_high - value_low)
        tried += 1
        if tried > 3 or not low < u < high:
            u = 0.5 * (low + high)
        if tried > 3 or high - low <= 0.5 * width:
            width, tried = high - low, 0
        value = value_at(system, watch, work, t, h, event, u)
        if side * value > 0.0:
            low, value_low = u, value
            value_high *= 0.5 if last == -1 else 1.0
            last = -1
        else:
            high, value_high = u, value
            value_low *= 0.5 if last == 1 else 1.0
            last = 1
    return high


@part
def first_event(
    system: System, watch: Watch, work: Work, t: float, h: float, low: float, high: float
) -> tuple[int, float]:
    """The earliest event between two places of the step, or -1. `values` and `ahead` are those at `high`."""
    found, where = -1, 2.0
    for event in range(len(watch.side)):
        if passes(watch.side[event], watch.ahead[event], watch.directions[event]):
            u = locate(system, watch, work, t, h, event, low, high)
            if u < where:
                found, where = event, u
    return found, where


@part
def watch_step(system: System, watch: Watch, counters: Integers, work: Work, t: float, h: float) -> tuple[int, float]:
    """Look for events in the step, whose dense output is prepared: CUT and where, if one must act there.

    RUNNING if none must, those that only record are recorded; NOT_A_NUMBER and TOO_MANY_EVENTS end the run.
    """
    low = 0.0
    sample = 1
    while sample <= watch.samples:
        high = sample / watch.samples
        look(system, watch, work, t, h, high)
        event, u = first_event(system, watch, work, t, h, low, high)
        if event < 0:
            if undefined(watch, counters):
                return NOT_A_NUMBER, low
            arrive(watch)
            low = high
            sample += 1
            continue
        happen(system, watch, counters, work, event, t, h, u)
        if next_due(watch) >= 0:
            return CUT, u
        low = u
        if counters[EVENT_TOTAL] >= watch.limit:
            return TOO_MANY_EVENTS, u
        if u >= 1.0:
            break
    return RUNNING, 1.0


@part
def undefined(watch: Watch, counters: Integers) -> bool:
    """Whether a value is not a number; says which."""
    for event in range(len(watch.side)):
        if watch.values[event] != watch.values[event]:
            counters[COMPONENT] = -1 - event
            return True
    return False


@part
def arrive(watch: Watch) -> None:
    """Go on from a place where nothing happened."""
    for event in range(len(watch.side)):
        ahead = watch.ahead[event]
        if ahead != 0:
            watch.side[event] = ahead
        if ahead * watch.values[event] > 0.0:
            leave_surface(watch, event)
        watch.before[event] = watch.values[event]


# happening


@part
def put_on_surface(watch: Watch, event: int, t: float) -> None:
    """The value at hand is zero until the event has left its surface."""
    watch.on_surface[event] = 1
    watch.zero[event] = watch.values[event]
    watch.since[event] = t


@part
def leave_surface(watch: Watch, event: int) -> None:
    """Zero is zero again."""
    watch.on_surface[event] = 0
    watch.zero[event] = 0.0


@part
def note(watch: Watch, counters: Integers, event: int, t: float, y: Floats) -> None:
    """Record one event, with the state before it acts. It is done, or it is due to act."""
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
def happen(
    system: System, watch: Watch, counters: Integers, work: Work, event: int, t: float, h: float, u: float
) -> None:
    """Record an event, and all others that happen at the same time."""
    look(system, watch, work, t, h, u)
    event_rates(system, watch, work.x, len(work.y), t + u * h)
    for k in range(len(watch.side)):
        happens = k == event or passes(watch.side[k], watch.ahead[k], watch.directions[k])
        watch.incoming[k] = watch.rates[k]
        watch.before[k] = watch.values[k]
        watch.residual[k] = abs(watch.values[k] - watch.zero[k]) if happens else 0.0
        watch.stage[k] = CALM
        if happens:
            note(watch, counters, k, t + u * h, work.x)
        elif watch.ahead[k] != 0:
            watch.side[k] = watch.ahead[k]


@part
def begin_events(system: System, watch: Watch, counters: Integers, work: Work, t: float) -> int:
    """The side each event begins on; what begins at a boundary and goes outwards acts at once, on work.end."""
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
        if not abs(watch.values[k]) <= max(watch.noise[k], _RESOLUTION * watch.span * abs(watch.rates[k])):
            watch.side[k] = sign(watch.values[k])
            continue
        put_on_surface(watch, k, t)
        watch.side[k] = sign(watch.rates[k])
        if watch.boundary[k]:
            watch.side[k] = -1 if watch.directions[k] > 0 else 1
            if passes(watch.side[k], sign(watch.rates[k]), watch.directions[k]):
                note(watch, counters, k, t, work.x)
    return react(system, watch, counters, work, t)


# acting


@part
def act(system: System, watch: Watch, work: Work, event: int, t: float) -> None:
    """Replace the state in work.end by the one an event resets it to."""
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
        if not (watch.boundary[event] and watch.side[event] * watch.rates[event] > 0.0):
            act(system, watch, work, event, t)
        for d in range(size):
            work.x[d] = work.end[d]
        event_values(system, watch, work.x, size, t, watch.values)
        event_rates(system, watch, work.x, size, t)
        stop = sort_out(watch, counters, work, event, t)
        if stop >= 0:
            counters[EVENT] = stop
            return STOPPED
        if accumulated(watch, counters, t):
            return ACCUMULATED
        if counters[EVENT_TOTAL] >= watch.limit:
            return TOO_MANY_EVENTS


@part
def next_due(watch: Watch) -> int:
    """The first event that is to act, or -1."""
    for event in range(len(watch.side)):
        if watch.stage[event] == DUE:
            return event
    return -1


@part
def sort_out(watch: Watch, counters: Integers, work: Work, acted: int, t: float) -> int:
    """The side of every event after one has acted, and what happens by that; returns an event that stops, or -1."""
    stop = -1
    for k in range(len(watch.side)):
        value, rate, incoming = watch.values[k], watch.rates[k], abs(watch.incoming[k])
        near = 2.0 * watch.residual[k] + _RESOLUTION * watch.span * (abs(rate) + incoming)
        watch.before[k] = value
        if not abs(value - watch.zero[k]) <= max(watch.noise[k], near):
            leave_surface(watch, k)
            watch.side[k] = sign(value)
            if watch.boundary[k]:
                watch.stage[k] = CALM
            continue
        put_on_surface(watch, k, t)
        ahead = sign(rate) if abs(rate) > _SLOPES * incoming else 0
        if watch.stage[k] == DUE or ahead == 0:
            continue
        if k != acted and watch.stage[k] == CALM and passes(watch.side[k], ahead, watch.directions[k]):
            note(watch, counters, k, t, work.x)
            if watch.actions[k] == STOP:
                stop = k
        else:
            watch.side[k] = ahead
    return stop


@part
def rests(watch: Watch, counters: Integers, event: int, t: float) -> bool:
    """Whether an event is due at the time of the last reset again, without any speed to rebound with."""
    last = watch.recent[(counters[RESETS] - 1) % len(watch.recent)]
    return bool(counters[RESETS] > 0 and last == t and watch.boundary[event] and watch.rates[event] == 0.0)


@part
def accumulated(watch: Watch, counters: Integers, t: float) -> bool:
    """Whether resets follow each other ever faster, so that they will not get beyond a point of time."""
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
