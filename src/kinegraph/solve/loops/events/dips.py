"""Dips: places inside a step where a gap is negative although it is positive at both ends.

Looking at some points of a step misses bodies that pass through each other in between. So gaps are enclosed: over a
part of the step, dense output and its slope are intervals, and a kernel says between which numbers each gap and its
rate stay. A part is clear if the gap cannot reach zero there: by its own enclosure, by its rate from the middle of the
part, or because it only rises. Other parts are halved. Where the enclosure of the rate shrinks with the part and allows
dips of the size of the gap only, a cubic through values and rates at both ends may clear the part, too.
"""

from __future__ import annotations

from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.marks import Floats, call, part
from kinegraph.solve.loops.step import TAYLOR, Work

NO_DIP = 2.0  # a place beyond the step
MOST_DIPS = 4  # places of a step that are looked at beside the usual ones
ALWAYS, LOOSELY = 1, 2  # how a gap is watched: whatever is below zero, or dips that dense output does not explain

_EXACT, _LOOSE = 1e3, 1e8  # times what rounding adds to a gap: less deep is not a dip
_SHRINKS, _SIZE = 0.6, 16.0  # of the radius of a rate over twice the length, times the gap: see `is_resolved`
_SHORTEST = 1e-12  # part of a step
_COARSEST = 1 / 128  # part of a step below which a gap without an enclosure is looked at by cubics
_PARTS = 5000  # of one step; after these, cubics are enough
_KNOWN = 1e290  # of a radius: more says nothing
_BOX, _MIDDLE, _LOW, _HIGH = range(4)  # rows of watch.bounds
_CLEAR, _OPEN, _FALLEN, _DIP, _DIP_IN_THE_MIDDLE = range(5)  # a gap falls below zero once; it is negative somewhere


@part
def enclose(watch: Watch, work: Work, t: float, h: float, low: float, high: float, row: int) -> None:
    """Enclosures of all gaps and their rates between two places of the step, to a row of watch.bounds."""
    size, count = len(work.y), len(work.x)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    for place in range(size + 1, count):
        watch.box[place] = work.x[place]
    watch.box[size], watch.box[count + size] = t + middle * h, half * h
    for d in watch.needed:
        enclose_entry(watch.box, work, d, h, middle, half)
    call(watch.enclosure, watch.box, watch.bounds, row * watch.bounds.shape[1])


@part
def enclose_entry(box: Floats, work: Work, d: int, h: float, middle: float, half: float) -> None:
    """One entry of the state and its slope over a part of the step, by Horner's rule with radii."""
    size, count = len(work.y), len(work.x)
    value = around = slope = spread = 0.0
    for row in range(len(work.dense) - 1, -1, -1):
        turn = 1.0
        if work.basis == TAYLOR:
            factor = middle - 1.0
        else:
            value += work.dense[row, d]
            factor = middle if row % 2 == 0 else 1.0 - middle
            turn = 1.0 if row % 2 == 0 else -1.0
        reach = abs(factor) + half
        spread = abs(slope) * half + spread * reach + around
        slope = slope * factor + turn * value
        around = abs(value) * half + around * reach
        value = value * factor
        if work.basis == TAYLOR:
            value += work.dense[row, d]
    box[d] = value if work.basis == TAYLOR else value + work.y[d]
    box[count + d] = around
    box[count + size + 1 + d] = slope / h
    box[count + 2 * size + 1 + d] = spread / h


@part
def slack(watch: Watch, k: int) -> float:
    """How far below zero a gap may be without a dip."""
    noise = watch.noise[watch.enclosed[k]]
    return float(noise * (_EXACT if watch.active[k] == ALWAYS else _LOOSE))


@part
def gap(watch: Watch, row: int, k: int) -> float:
    """The middle of a gap's enclosure above where it is a dip: its value there, if the part is a point."""
    return float(watch.bounds[row, k] - watch.zero[watch.enclosed[k]] + slack(watch, k))


@part
def is_watched(watch: Watch, k: int) -> bool:
    """Whether a gap is positive, and its passing below zero would count."""
    return bool(watch.active[k] > 0 and watch.side[watch.enclosed[k]] > 0)


@part
def all_clear_by_values(watch: Watch) -> bool:
    """Whether no gap reaches zero by the enclosures of their values."""
    count = len(watch.enclosed)
    for k in range(count):
        if is_watched(watch, k) and not gap(watch, _BOX, k) > watch.bounds[_BOX, count + k]:
            return False
    return True


@part
def verdict(watch: Watch, k: int, time: float, lenient: bool) -> int:
    """Whether one gap is clear in a part that takes `time`; everything is known at its ends and its middle."""
    count = len(watch.enclosed)
    rate, spread = watch.bounds[_BOX, 2 * count + k], watch.bounds[_BOX, 3 * count + k]
    falls = rate + spread < 0.0
    if gap(watch, _MIDDLE, k) < 0.0 and not falls:
        return _DIP_IN_THE_MIDDLE
    if gap(watch, _BOX, k) > watch.bounds[_BOX, count + k] or rate - spread > 0.0:
        return _CLEAR
    if gap(watch, _MIDDLE, k) > 0.5 * time * (abs(rate) + spread):
        return _CLEAR
    if gap(watch, _HIGH, k) < 0.0:
        return _FALLEN if falls else _DIP
    if falls:
        return _CLEAR
    return _CLEAR if (lenient or is_resolved(watch, k, time)) and clear_by_cubic(watch, k, time) else _OPEN


@part
def is_resolved(watch: Watch, k: int, time: float) -> bool:
    """Whether the enclosure of the rate says that nothing smaller than the part is hidden in it."""
    spread = watch.bounds[_BOX, 3 * len(watch.enclosed) + k]
    largest = max(gap(watch, _LOW, k), gap(watch, _MIDDLE, k), gap(watch, _HIGH, k))
    return bool(spread <= _SHRINKS * watch.spread[k] and 0.5 * time * spread <= _SIZE * largest)


@part
def clear_by_cubic(watch: Watch, k: int, time: float) -> bool:
    """Whether the cubic of Hermite stays above zero, with twice the error that it has in the middle."""
    rates = 2 * len(watch.enclosed) + k
    low, high = gap(watch, _LOW, k), gap(watch, _HIGH, k)
    rise, fall = time * watch.bounds[_LOW, rates], time * watch.bounds[_HIGH, rates]
    error = abs(0.5 * (low + high) + 0.125 * (rise - fall) - gap(watch, _MIDDLE, k))
    error += 0.25 * abs(time * watch.bounds[_MIDDLE, rates] - 1.5 * (high - low) + 0.25 * (rise + fall))
    for place in range(1, 16):
        s = place / 16.0
        r = 1.0 - s
        cubic = low * (1.0 + 2.0 * s) * r * r + high * (3.0 - 2.0 * s) * s * s + s * r * (rise * r - fall * s)
        if not cubic > 32.0 * error * (s * r) ** 2:
            return False
    return True


@part
def first_dip(watch: Watch, work: Work, t: float, h: float, low: float, high: float) -> float:
    """A place between two of the step where a gap is negative and has passed zero once; or NO_DIP."""
    length, parts = high - low, 0
    watch.spread[:] = 0.0
    while low < high:
        end = low + length if low + 1.5 * length < high else high
        parts += 1
        enclose(watch, work, t, h, low, end, _BOX)
        if all_clear_by_values(watch):
            low, length = end, 2.0 * length
            watch.spread[:] = 0.0
            continue
        code = looked_into(watch, work, t, h, low, end, parts > _PARTS)
        if code == _FALLEN or (code == _DIP and end - low < _SHORTEST):
            return end
        if code == _DIP:
            high = end
        if code == _DIP_IN_THE_MIDDLE:
            high = 0.5 * (low + end)
        if code == _CLEAR or end - low < _SHORTEST:
            low = end
        else:
            length = 0.5 * (end - low)
    return NO_DIP


@part
def looked_into(watch: Watch, work: Work, t: float, h: float, low: float, high: float, lenient: bool) -> int:
    """The worst verdict on a part whose box is at hand; radii of what is open are kept."""
    count, middle, worst = len(watch.enclosed), 0.5 * (low + high), _CLEAR
    enclose(watch, work, t, h, middle, middle, _MIDDLE)
    enclose(watch, work, t, h, low, low, _LOW)
    enclose(watch, work, t, h, high, high, _HIGH)
    for k in range(count):
        if is_watched(watch, k):
            unknown = not watch.bounds[_BOX, 3 * count + k] < _KNOWN and high - low <= _COARSEST
            worst = worse(worst, verdict(watch, k, (high - low) * h, lenient or unknown))
    if worst != _CLEAR and worst != _FALLEN:
        for k in range(count):
            watch.spread[k] = watch.bounds[_BOX, 3 * count + k]
    return worst


@part
def worse(one: int, other: int) -> int:
    """The verdict on two gaps; a dip is not the first while another gap is open."""
    if min(one, other) == _OPEN and max(one, other) == _FALLEN:
        return _DIP
    return max(one, other)
