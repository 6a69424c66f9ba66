"""Where in a step an event passes zero."""

from __future__ import annotations

from kinegraph.solve.loops.events.values import value_at
from kinegraph.solve.loops.events.watch import Watch, passes
from kinegraph.solve.loops.marks import part
from kinegraph.solve.loops.step import System, Work

_HALVINGS, _LOOKS = 64, 250  # at most, to find where an event leaves the surface and where it passes zero


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
