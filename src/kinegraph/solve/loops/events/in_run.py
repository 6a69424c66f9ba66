"""What a run does about events: the sides they begin on, and the search through every step."""

from __future__ import annotations

from kinegraph.solve.loops.events.act import react
from kinegraph.solve.loops.events.happen import happen, note
from kinegraph.solve.loops.events.locate import first_event
from kinegraph.solve.loops.events.values import event_rates, event_values, find_noise, look
from kinegraph.solve.loops.events.watch import (
    RESOLUTION,
    Watch,
    is_beyond,
    leave_surface,
    next_due,
    passes,
    put_on_surface,
    sign,
)
from kinegraph.solve.loops.marks import Floats, Integers, part
from kinegraph.solve.loops.record import COMPONENT, CUT, EVENT_TOTAL, NOT_A_NUMBER, RUNNING, TOO_MANY_EVENTS
from kinegraph.solve.loops.step import System, Work


@part
def begin_events(system: System, watch: Watch, counters: Integers, work: Work, t: float) -> int:
    """The side each event begins on; what begins at a boundary and goes outwards, or holds, acts at once, on work.end.

    What has acted at this very moment, before the run, is on its surface as if it had acted within it.
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
                note(watch, counters, k, t, work.x)
            continue
        put_on_surface(watch, k, t)
        watch.side[k] = sign(watch.rates[k])
        if watch.boundary[k] and not acted:
            watch.side[k] = -1 if watch.directions[k] > 0 else 1
            if passes(watch.side[k], sign(watch.rates[k]), watch.directions[k]):
                note(watch, counters, k, t, work.x)
    return react(system, watch, counters, work, t)


@part
def watch_step(system: System, watch: Watch, counters: Integers, work: Work, t: float, h: float) -> tuple[int, float]:
    """Look for events in the step, whose dense output is prepared: CUT and where, if one must act there.

    RUNNING if none must, those that only record are recorded; NOT_A_NUMBER and TOO_MANY_EVENTS end the run.
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
        look(system, watch, work, t, h, high)
        event, u = first_event(system, watch, work, t, h, low, high)
        if event < 0:
            if undefined(watch, counters):
                return NOT_A_NUMBER, low
            arrive(watch)
            low = high
            continue
        happen(system, watch, counters, work, event, t, h, u)
        if next_due(watch) >= 0:
            return CUT, u
        low = u
        if counters[EVENT_TOTAL] >= watch.limit:
            return TOO_MANY_EVENTS, u
    return RUNNING, end


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


@part
def calm_inside(watch: Watch, values: Floats, lane: int) -> bool:
    """Whether all values inside a step, values[place, lane, event], are on the sides of zero their events are on.

    Where they are not, or an event may stand on its surface, `watch_step` finds out what happens.
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
def arrive_calmly(watch: Watch, values: Floats, lane: int) -> None:
    """Go on from the end of a step inside which nothing happened."""
    for event in range(len(watch.side)):
        watch.before[event] = watch.values[event] = values[-1, lane, event]
