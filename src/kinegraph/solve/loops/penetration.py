"""Penetration inside a step: a gap that is negative between two ends where it is positive.

Sampling a step misses bodies that pass through each other between samples. Gaps are therefore enclosed: over a
part of the step, dense output and its slope are intervals, and a kernel bounds each gap and its rate. A part is
clear if the gap cannot reach zero there: by its own enclosure, by its rate from the middle of the part, or
because it only rises. Other parts are halved. Where the enclosure of the rate shrinks with the part and allows
only dips of the size of the gap, a cubic through values and rates at both ends may clear the part, too.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.events import watch_part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import RUNNING, TAYLOR, System, Work
from kinegraph.solve.loops.zero_crossings import MOST_DIPS, Watch

NO_DIP = 2.0  # a place beyond the step
# How a gap is watched: not at all, because it is closed; for all dips; for dips that dense output does not explain.
CLOSED_GAP, ALWAYS, LOOSELY = range(3)

_ROUNDING = 1e-15  # of a gap, relative to its terms
_EXACT, _LOOSE = 1e3, 1e8  # a dip is deeper than so many times the rounding
_SHRINKS, _SIZE = 0.6, 16.0  # of the radius of a rate over twice the length, times the gap: see `is_resolved`
_SHORTEST = 1e-12  # part of a step
_PARTS = 2000  # of one step; afterwards cubics are enough, and after twice as many the search ends
_SAFETY = 32.0  # the error of a cubic is at most so many times that in the middle
_CLOSED, _CLOSED_SIZE, _CLOSED_PARTS = 1e10, 100.0, 400  # the same for closed gaps, which dense output misses a little
_KNOWN = 1e290  # larger radii are meaningless
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
def find_rounding(watch: Watch, work: Work, t: float) -> None:
    """The rounding of gaps: their slopes by all entries of the state work.y, times its size (at least one)."""
    size, count, gaps = len(work.y), len(work.x), len(watch.enclosed)
    if watch.enclosure == 0:
        return
    watch.box[:] = 0.0
    watch.rounding[:] = 0.0
    for place in range(count):
        watch.box[place] = work.y[place] if place < size else work.x[place]
    watch.box[size] = t
    for d in watch.needed:
        watch.box[count + size + 1 + d] = 1.0
        call(watch.enclosure, watch.box, watch.bounds, _BOX)
        watch.box[count + size + 1 + d] = 0.0
        for k in range(gaps):
            slope = abs(watch.bounds[_BOX, 2 * gaps + k])
            if slope < _KNOWN:
                watch.rounding[k] += _ROUNDING * slope * (1.0 + abs(work.y[d]))


@part
def slack(watch: Watch, k: int) -> float:
    """How far below zero a gap may be without a dip."""
    return float(watch.rounding[k] * (_EXACT if watch.active[k] == ALWAYS else _LOOSE))


@part
def gap(watch: Watch, row: int, k: int) -> float:
    """The middle of a gap's enclosure above where it is a dip: its value there, if the part is a point."""
    return float(watch.bounds[row, k] - watch.zero[watch.enclosed[k]] + slack(watch, k))


@part
def watch_gaps(system: System, watch: Watch, counters: Integers, work: Work, t: float, h: float) -> tuple[int, float]:
    """As `watch_step`, with every dip of a gap among the places of the search."""
    low = 0.0
    for _ in range(MOST_DIPS if watch.enclosure != 0 else 0):
        dip = min(first_dip(watch, work, t, h, low, 1.0), 1.0)
        code, u = watch_part(system, watch, counters, work, t, h, low, dip)
        if code != RUNNING or dip >= 1.0:
            return code, u
        low = dip
    return watch_part(system, watch, counters, work, t, h, low, 1.0)


@part
def is_watched(watch: Watch, k: int) -> bool:
    """Whether a gap is positive and its crossing would count."""
    return bool(watch.active[k] > 0 and watch.side[watch.enclosed[k]] > 0)


@part
def is_clear_by_values(watch: Watch) -> bool:
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
    """Whether the cubic of Hermite stays above zero, by far more than its error in the middle."""
    rates = 2 * len(watch.enclosed) + k
    low, high = gap(watch, _LOW, k), gap(watch, _HIGH, k)
    rise, fall = time * watch.bounds[_LOW, rates], time * watch.bounds[_HIGH, rates]
    error = abs(0.5 * (low + high) + 0.125 * (rise - fall) - gap(watch, _MIDDLE, k))
    error += 0.25 * abs(time * watch.bounds[_MIDDLE, rates] - 1.5 * (high - low) + 0.25 * (rise + fall))
    for place in range(8):
        s = lowest_of_cubic(low, high, rise, fall) if place == 0 else place / 8.0
        r = 1.0 - s
        cubic = low * (1.0 + 2.0 * s) * r * r + high * (3.0 - 2.0 * s) * s * s + s * r * (rise * r - fall * s)
        if not cubic > _SAFETY * error * (4.0 * s * r) ** 2:
            return False
    return True


@part
def lowest_of_cubic(low: float, high: float, rise: float, fall: float) -> float:
    """Where a cubic between 0 and 1 has its minimum; the middle if it has none in between."""
    b = 3.0 * (high - low) - 2.0 * rise - fall
    square = b * b - 3.0 * (rise + fall - 2.0 * (high - low)) * rise
    root = sqrt(square) if square > 0.0 else 0.0
    s = -rise / (b + root) if b + root != 0.0 else 0.5
    return s if 0.0 < s < 1.0 else 0.5


@part
def first_dip(watch: Watch, work: Work, t: float, h: float, low: float, high: float) -> float:
    """A place between two of the step where a gap is negative and has passed zero once; or NO_DIP."""
    length, parts, calm = high - low, 0, 0
    watch.spread[:] = 0.0
    while low < high and parts < 2 * _PARTS:
        end = low + length if low + 1.5 * length < high else high
        parts += 1
        enclose(watch, work, t, h, low, end, _BOX)
        code = _CLEAR
        if not is_clear_by_values(watch):
            code = check_interval(watch, work, t, h, low, end, parts > _PARTS)
            calm -= 1
        if code == _FALLEN or (code == _DIP and end - low < _SHORTEST):
            return end
        if code == _DIP:
            high = end
        if code == _DIP_IN_THE_MIDDLE:
            high = 0.5 * (low + end)
        calm += 2
        if code != _CLEAR and end - low >= _SHORTEST:
            length, calm = 0.5 * (end - low), 0
            continue
        low = end
        if calm >= 2:  # clear by values, or twice by the finer check
            length, calm = 2.0 * length, 0
            watch.spread[:] = 0.0
    return NO_DIP


@part
def check_interval(watch: Watch, work: Work, t: float, h: float, low: float, high: float, lenient: bool) -> int:
    """The worst verdict on a part whose box is known; radii of open gaps are kept."""
    count, middle, worst = len(watch.enclosed), 0.5 * (low + high), _CLEAR
    enclose(watch, work, t, h, middle, middle, _MIDDLE)
    enclose(watch, work, t, h, low, low, _LOW)
    enclose(watch, work, t, h, high, high, _HIGH)
    for k in range(count):
        if is_watched(watch, k):
            worst = worse(worst, verdict(watch, k, (high - low) * h, lenient))
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


# closed gaps


@part
def oversteps(watch: Watch, work: Work, t: float, h: float, rtol: float) -> bool:
    """Whether a closed gap is far from zero somewhere in the step: its surface bends between the stages of the method.

    Then the step is too long, though no stage and so no estimate of errors has noticed.
    """
    low, length, parts = 0.0, 1.0, 0
    watch.spread[:] = 0.0
    while low < 1.0 and parts < _CLOSED_PARTS:
        end = low + length if low + 1.5 * length < 1.0 else 1.0
        parts += 1
        enclose(watch, work, t, h, low, end, _BOX)
        if all_stay_closed(watch, rtol):
            low, length = end, 2.0 * length
            watch.spread[:] = 0.0
            continue
        enclose(watch, work, t, h, 0.5 * (low + end), 0.5 * (low + end), _MIDDLE)
        code = worst_of_closed(watch, (end - low) * h, rtol)
        if code == _DIP:
            return True
        if code == _CLEAR:
            low = end
        else:
            length = 0.5 * (end - low)
    return False


@part
def room_of(watch: Watch, k: int, rtol: float) -> float:
    """How far from zero dense output may take a closed gap."""
    return float(watch.rounding[k] * max(_CLOSED, 100.0 * rtol / _ROUNDING))


@part
def all_stay_closed(watch: Watch, rtol: float) -> bool:
    """Whether no closed gap leaves zero by the enclosures of their values."""
    count = len(watch.enclosed)
    for k in range(count):
        reach = abs(watch.bounds[_BOX, k]) + watch.bounds[_BOX, count + k]
        if watch.active[k] == CLOSED_GAP and not reach <= room_of(watch, k, rtol):
            return False
    return True


@part
def worst_of_closed(watch: Watch, time: float, rtol: float) -> int:
    """_DIP where a closed gap is far from zero in the middle of a part, _OPEN where it may be elsewhere."""
    count, worst = len(watch.enclosed), _CLEAR
    for k in range(count):
        if watch.active[k] != CLOSED_GAP:
            continue
        room, spread = room_of(watch, k, rtol), watch.bounds[_BOX, 3 * count + k]
        middle, rate = abs(watch.bounds[_MIDDLE, k]), abs(watch.bounds[_MIDDLE, 2 * count + k])
        if middle > room:
            return _DIP
        reach = middle + 0.5 * time * (abs(watch.bounds[_BOX, 2 * count + k]) + spread)
        resolved = spread <= _SHRINKS * watch.spread[k] and 0.5 * time * spread <= _CLOSED_SIZE * room
        if not (reach <= room or (resolved and middle + 0.25 * time * rate <= room)):
            worst = _OPEN
        watch.spread[k] = spread
    return worst
