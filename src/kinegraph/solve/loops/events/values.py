"""Values and slopes of events at one place of a step, and the side each value is on or goes to."""

from __future__ import annotations

from kinegraph.solve.loops.events.watch import Watch, sign
from kinegraph.solve.loops.marks import Floats, call, part
from kinegraph.solve.loops.step import System, Work, interpolate, project, set_input_rates, set_inputs

_ROUNDING, _LARGEST = 1e-15, 1e300  # of a value, by the size of what it is made of; slopes beyond say nothing
_EXPLAINED, _FAR = 16.0, 1e3  # times slope and time, a value may be; times its rounding, it is not zero in any case


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
def state_at(system: System, watch: Watch, work: Work, t: float, h: float, u: float) -> None:
    """The state at t + u h into work.x, on the constraints where what dense output misses would count."""
    interpolate(work, u, work.x)
    if watch.projects[0] and system.projection != 0:
        project(system, work, t + u * h)


@part
def look(system: System, watch: Watch, work: Work, t: float, h: float, u: float) -> None:
    """The values of all events at t + u h and the sides they are on, by their slopes where these are needed."""
    size = len(work.y)
    state_at(system, watch, work, t, h, u)
    event_values(system, watch, work.x, size, t + u * h, watch.values)
    for event in range(len(watch.side)):
        if watch.values[event] == 0.0 or watch.on_surface[event]:
            event_rates(system, watch, work.x, size, t + u * h)
            break
    for event in range(len(watch.side)):
        watch.ahead[event] = following(watch, event, t + u * h)


@part
def value_at(system: System, watch: Watch, work: Work, t: float, h: float, event: int, u: float) -> float:
    """The value of one event at t + u h."""
    state_at(system, watch, work, t, h, u)
    event_values(system, watch, work.x, len(work.y), t + u * h, watch.fresh)
    return float(watch.fresh[event] - watch.zero[event])
