"""The events of a run as one record, and the side of zero each is on."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.codegen.kernel import Code
from kinegraph.solve.loops.marks import Floats, Integers, part

# What an event does.
RECORD, STOP, RESET = range(3)

# Where an event stands at the moment that is looked at: nothing has happened, it is to act, it has been recorded.
CALM, DUE, DONE = range(3)

HOLDS = 2  # of a boundary

MOST_DIPS = 4  # places of a step that are looked at beside the usual ones (see `dips`)

RESOLUTION = 1e-14  # times that differ by less than this part of the run are the same


class Watch(NamedTuple):
    """Events: the kernels of their values, slopes and new states, what each does, where they are recorded.

    code: x -> value of each event. slope: [x, y', u'] -> its rate. reset: x -> new states, one row for each event.
    boundary: 1 for an event that stops or resets by a condition of positions: the motion is on its inner side. With
    HOLDS added, one that stops wherever its condition is beyond zero.
    side: of zero each event is on; 0 is not known. stage: CALM, DUE or DONE.
    before, values: at both ends of what is looked at. rates, ahead: slopes and sides at its end.
    incoming: slopes before any reset acted. residual: how far from zero an event was found.
    on_surface: whether an event was put on its surface and has not left it; with the value `zero`, at the time `since`.
    noise: what rounding may add to a value. recent: times of the last resets, in a ring.
    span: the largest time of the run, which resolutions refer to.
    enclosure: a box of states and rates -> enclosures of gaps; 0 where there are none. enclosed: the event of each gap.
    active: how it is watched for dips inside of steps. needed: entries of the state that gaps depend on.
    rounding: of each gap. box, bounds, spread: memory of `dips`.
    projects: whether conditions are looked at on the constraints.
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
    """1, -1, or 0 for zero and what is not a number."""
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
def next_due(watch: Watch) -> int:
    """The first event that is to act, or -1."""
    for event in range(len(watch.side)):
        if watch.stage[event] == DUE:
            return event
    return -1
