"""Zero crossings in a step: values and slopes of event conditions, their sides, and where they cross.

Each condition is on one side of zero. The side defines a crossing, not the last value: rounding decides the sign
of a condition whose state was put on its surface by the start of a run or by a reset. There the side comes from
the slope, so a rebound that ends before the next step is still found.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import System, Work, interpolate, project, set_input_rates, set_inputs

# The action of an event.
RECORD, STOP, RESET = range(3)

# The stage of an event at the current time: it does not occur, it must act, it has been recorded.
CALM, DUE, DONE = range(3)

HOLDS = 2  # of a boundary

MOST_DIPS = 4  # additional places of a step at which events are evaluated (see `penetration`)

RESOLUTION = 1e-14  # times that differ by less than this part of the run are the same


class Watch(NamedTuple):
    """Events: the kernels of their values, slopes and new states, their actions, and memory for their records.

    code: x -> value of each event. slope: [x, y', u'] -> its rate. reset: x -> new states, one row for each event.
    boundary: 1 for an event that stops or resets by a condition of positions: the motion is on its inner side. With
    HOLDS added, one that stops wherever its condition is beyond zero.
    side: the side of zero of each event; 0: not known. stage: CALM, DUE or DONE.
    before, values: at both ends of the current part of a step. rates, ahead: slopes and sides at its end.
    incoming: slopes before any reset acted. residual: the distance from zero of an event that was found.
    on_surface: whether an event was put on its surface and has not left it; with the value `zero`, at the time `since`.
    noise: the rounding of a value. recent: times of the last resets, in a ring.
    span: the largest time of the run, which resolutions refer to.
    enclosure: a box of states and rates -> enclosures of gaps; 0 where there are none. enclosed: the event of each gap.
    active: how it is watched for dips inside of steps. needed: entries of the state that gaps depend on.
    rounding: of each gap. box, bounds, spread: memory of `penetration`.
    projects: whether conditions are evaluated on the constraints.
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
    enclosure: Code
    enclosed: Integers
    active: Integers
    needed: Integers
    rounding: Floats
    box: Floats
    bounds: Floats
    spread: Floats
    projects: Integers


@part
def sign(value: float) -> int:
    """1, -1, or 0 for zero and NaN."""
    return int(value > 0.0) - int(value < 0.0)


@part
def passes(side: int, following: int, direction: int) -> bool:
    """Whether going from one side of zero to another counts."""
    return bool(side * following < 0 and side * direction <= 0)


@part
def is_beyond(watch: Watch, event: int) -> bool:
    """Whether an event stops by the side its value is on."""
    return bool(watch.boundary[event] >= HOLDS and watch.values[event] * watch.directions[event] > 0.0)


@part
def put_on_surface(watch: Watch, event: int, t: float) -> None:
    """The current value counts as zero until the event has left its surface."""
    watch.on_surface[event] = 1
    watch.zero[event] = watch.values[event]
    watch.since[event] = t


@part
def leave_surface(watch: Watch, event: int) -> None:
    """The value of an event counts as it is again."""
    watch.on_surface[event] = 0
    watch.zero[event] = 0.0


@part
def next_due(watch: Watch) -> int:
    """The first event that must act, or -1."""
    for event in range(len(watch.side)):
        if watch.stage[event] == DUE:
            return event
    return -1


# Values, slopes and sides at one place of a step

_ROUNDING, _LARGEST = 1e-15, 1e300  # of a value, relative to its terms; larger slopes are meaningless
_EXPLAINED, _FAR = (
    16.0,
    1e3,
)  # times slope and time: a value that is zero; times its rounding: a value that is not


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
    """The rounding of values: their slopes by all entries of the state, times its size (at least one).

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
    """The state at t + u h into work.x, projected onto constraints if the error of dense output matters."""
    interpolate(work, u, work.x)
    if watch.projects[0] and system.projection != 0:
        project(system, work, t + u * h)


@part
def observe_events(system: System, watch: Watch, work: Work, t: float, h: float, u: float) -> None:
    """The values of all events at t + u h and their sides, by their slopes where these are needed."""
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


# The place of a zero crossing

_HALVINGS, _EVALUATIONS = 64, 250  # at most, to find where an event leaves its surface and where it crosses zero


@part
def leaving(
    system: System, watch: Watch, work: Work, t: float, h: float, event: int, low: float, high: float
) -> tuple[float, float]:
    """Places between which an event that begins at the surface, and leaves it for its side, crosses zero.

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
    """Where in the step (low <= u <= high) an event crosses zero, on the far side, by the Illinois secant rule.

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
    for _ in range(_EVALUATIONS):
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
