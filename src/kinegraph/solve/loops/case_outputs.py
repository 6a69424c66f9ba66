"""Outputs along a run: end values, extremes, integrals, and event times.

A study of a million cases keeps no trajectories. Extremes are searched inside every step, on its dense output,
so the peak of a short contact is found however few steps there are.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import LOOKS, System, Work, interpolate, set_inputs
from kinegraph.solve.loops.zero_crossings import Watch

_HALVINGS = 24  # of the golden section: an extreme is found to 1e-5 of a step, its value to the square of that
_GOLDEN = 0.6180339887498949


class Tally(NamedTuple):
    """Outputs and events of cases, by row. `code` is x -> outputs; `along` says whether steps are looked into.

    highs, lows, areas: for each output, whether its largest value, its smallest one and its integral are wanted.
    known: its entry is one where the last sample is also the first one of the next step.
    high, low, area: extremes and integrals over the run. high_at, low_at: when. samples: memory for one step.
    count, first_at, last_at: of each event. at_first, at_last: all outputs there, just before the event acted.
    """

    code: Code
    along: bool
    highs: Integers
    lows: Integers
    areas: Integers
    known: Integers
    samples: Floats
    probe: Floats
    first: Floats
    last: Floats
    high: Floats
    high_at: Floats
    low: Floats
    low_at: Floats
    area: Floats
    happened: Integers
    first_at: Floats
    last_at: Floats
    at_first: Floats
    at_last: Floats


@part
def outputs_of(system: System, tally: Tally, work: Work, t: float, values: Floats, start: int) -> None:
    """The outputs for the state in work.x, to values[start:]."""
    size = len(work.y)
    work.x[size] = t
    set_inputs(system.knots, system.coefficients, t, work.x, size + 1)
    call(tally.code, work.x, values, start)


@part
def begin_tally(system: System, tally: Tally, work: Work, row: int, t: float) -> None:
    """The outputs at the start: extremes begin there, integrals at zero."""
    outputs = tally.first.shape[1]
    tally.known[0] = 0
    if outputs == 0:
        return
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    outputs_of(system, tally, work, t, tally.first, row * outputs)
    for k in range(outputs):
        tally.high[row, k] = tally.low[row, k] = tally.first[row, k]
        tally.high_at[row, k] = tally.low_at[row, k] = t
        tally.area[row, k] = 0.0


@part
def end_tally(system: System, tally: Tally, work: Work, row: int, t: float) -> None:
    """The outputs at the end, for the state in work.y."""
    outputs = tally.first.shape[1]
    if outputs == 0:
        return
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    outputs_of(system, tally, work, t, tally.last, row * outputs)


@part
def output_at(system: System, tally: Tally, work: Work, output: int, t: float, h: float, u: float) -> float:
    """One output at t + u h."""
    interpolate(work, u, work.x)
    outputs_of(system, tally, work, t + u * h, tally.probe, 0)
    return float(tally.probe[output])


@part
def summit(
    system: System, tally: Tally, work: Work, output: int, t: float, h: float, low: float, high: float, side: float
) -> tuple[float, float]:
    """Where between two places of the step an output times `side` is largest, and that value: golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = side * output_at(system, tally, work, output, t, h, left)
    at_right = side * output_at(system, tally, work, output, t, h, right)
    for _ in range(_HALVINGS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = side * output_at(system, tally, work, output, t, h, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = side * output_at(system, tally, work, output, t, h, right)
    return (left, at_left) if at_left >= at_right else (right, at_right)


@part
def best_of(tally: Tally, row: int, output: int, side: float) -> float:
    """The extreme so far, times `side`: 1 for the largest value, -1 for the smallest."""
    return float(tally.high[row, output] if side > 0.0 else -tally.low[row, output])


@part
def raise_to(tally: Tally, row: int, output: int, side: float, value: float, t: float) -> None:
    """Note an extreme, times `side`, and when it was."""
    if side > 0.0:
        tally.high[row, output], tally.high_at[row, output] = value, t
    else:
        tally.low[row, output], tally.low_at[row, output] = -value, t


@part
def hides_more(tally: Tally, output: int, side: float, k: int, best: float) -> bool:
    """Whether the parabola through three looks says that more than the best lies between them."""
    before, here = side * tally.samples[k - 1, output], side * tally.samples[k, output]
    after = side * tally.samples[k + 1, output]
    bend, slope = before - 2.0 * here + after, 0.5 * (after - before)
    return bool(bend < 0.0 and abs(slope) <= -bend and here - 0.5 * slope * slope / bend > best)


@part
def note_looks(tally: Tally, row: int, output: int, t: float, h: float, end: float, side: float) -> bool:
    """Raise an extreme by what was looked at; says whether more may lie between."""
    best, more = best_of(tally, row, output, side), False
    for k in range(LOOKS + 1):
        value = side * tally.samples[k, output]
        if value > best:
            best = value
            raise_to(tally, row, output, side, value, t + k * end / LOOKS * h)
    for k in range(1, LOOKS):
        more = more or hides_more(tally, output, side, k, best)
    return more


@part
def climb(
    system: System, tally: Tally, work: Work, row: int, output: int, t: float, h: float, end: float, side: float
) -> None:
    """Raise an extreme by what lies between looks; dense output is prepared."""
    width = end / LOOKS
    for k in range(1, LOOKS):
        best = best_of(tally, row, output, side)
        if hides_more(tally, output, side, k, best):
            u, value = summit(system, tally, work, output, t, h, (k - 1) * width, (k + 1) * width, side)
            if value > best:
                raise_to(tally, row, output, side, value, t + u * h)


@part
def look_through(tally: Tally, row: int, t: float, h: float, end: float) -> bool:
    """Extremes and integrals over the step from t to the part `end` of it; says whether `climb_all` may find more."""
    more = False
    for output in range(tally.first.shape[1]):
        if tally.areas[output]:
            ends = tally.samples[0, output] + tally.samples[4, output]
            quarters = tally.samples[1, output] + tally.samples[3, output]
            boole = 7.0 * ends + 32.0 * quarters + 12.0 * tally.samples[2, output]
            tally.area[row, output] += end * h / 90.0 * boole
        if tally.highs[output]:
            more = note_looks(tally, row, output, t, h, end, 1.0) or more
        if tally.lows[output]:
            more = note_looks(tally, row, output, t, h, end, -1.0) or more
    return more


@part
def climb_all(system: System, tally: Tally, work: Work, row: int, t: float, h: float, end: float) -> None:
    """Raise all extremes that are wanted by what lies between looks."""
    for output in range(tally.first.shape[1]):
        if tally.highs[output]:
            climb(system, tally, work, row, output, t, h, end, 1.0)
        if tally.lows[output]:
            climb(system, tally, work, row, output, t, h, end, -1.0)


@part
def look_at_samples(system: System, tally: Tally, work: Work, t: float, h: float, end: float) -> None:
    """The outputs at equal intervals of the step; the first one may be known from the step before."""
    outputs = tally.first.shape[1]
    look_at_first(system, tally, work, t)
    for k in range(1, LOOKS + 1):
        interpolate(work, k * end / LOOKS, work.x)
        outputs_of(system, tally, work, t + k * end / LOOKS * h, tally.samples, k * outputs)


@part
def take_looks(system: System, tally: Tally, work: Work, looked: Floats, lane: int, t: float) -> None:
    """The same from what batch code has computed."""
    look_at_first(system, tally, work, t)
    for k in range(LOOKS):
        for output in range(tally.first.shape[1]):
            tally.samples[k + 1, output] = looked[k, lane, output]


@part
def look_at_first(system: System, tally: Tally, work: Work, t: float) -> None:
    """The outputs at the beginning of the step, at its end before if that is the same."""
    if tally.known[0]:
        for output in range(tally.first.shape[1]):
            tally.samples[0, output] = tally.samples[LOOKS, output]
        return
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    outputs_of(system, tally, work, t, tally.samples, 0)


@part
def note_events(system: System, tally: Tally, watch: Watch, work: Work, row: int, first: int, last: int) -> None:
    """Count the events at these places of the record, and note the outputs at each one's first and last.

    What is numbered beyond the events of the tally is not told.
    """
    outputs, kinds = tally.first.shape[1], tally.happened.shape[1]
    for place in range(first, last):
        event, t = watch.which[place], watch.times[place]
        if event >= kinds:
            continue
        if outputs > 0:
            for d in range(len(work.y)):
                work.x[d] = watch.states[place, d]
            start = (row * kinds + event) * outputs
            outputs_of(system, tally, work, t, tally.at_last, start)
            if tally.happened[row, event] == 0:
                outputs_of(system, tally, work, t, tally.at_first, start)
        if tally.happened[row, event] == 0:
            tally.first_at[row, event] = t
        tally.last_at[row, event] = t
        tally.happened[row, event] += 1
