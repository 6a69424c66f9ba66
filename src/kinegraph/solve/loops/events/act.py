"""Events act on the state, one after the other, until none is due; resets that accumulate are noticed."""

from __future__ import annotations

from kinegraph.solve.loops.events.happen import note
from kinegraph.solve.loops.events.values import event_rates, event_values
from kinegraph.solve.loops.events.watch import (
    CALM,
    DUE,
    RESOLUTION,
    STOP,
    Watch,
    is_beyond,
    leave_surface,
    next_due,
    passes,
    put_on_surface,
    sign,
)
from kinegraph.solve.loops.marks import Integers, call, part
from kinegraph.solve.loops.record import ACCUMULATED, EVENT, EVENT_TOTAL, RESETS, RUNNING, STOPPED, TOO_MANY_EVENTS
from kinegraph.solve.loops.step import System, Work, project, set_inputs

_SLOPES = 1e-10  # a reset that leaves less than this part of a slope has made it zero, but for rounding
_ACCUMULATED = 1e-10  # the part of the run within which the last resets lie if they accumulate
_CHATTER = 1e-5  # the same for resets that would accumulate, if rounding did not keep them from going on faster


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
        if not (watch.boundary[event] == 1 and watch.side[event] * watch.rates[event] > 0.0):
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
def sort_out(watch: Watch, counters: Integers, work: Work, acted: int, t: float) -> int:
    """The side of every event after one has acted, and what happens by that; returns an event that stops, or -1."""
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
                note(watch, counters, k, t, work.x)
                stop = k
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
    return bool(counters[RESETS] > 0 and last == t and watch.boundary[event] == 1 and watch.rates[event] == 0.0)


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
