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
from kinegraph.solve.loops.step import SUBDIVISIONS, System, Work, interpolate, set_inputs
from kinegraph.solve.loops.zero_crossings import Watch

_HALVINGS = 24  # of the golden section: an extreme is found to 1e-5 of a step, its value to the square of that
_GOLDEN = 0.6180339887498949


class Tally(NamedTuple):
    """Outputs and events of cases, by row. `code` is x -> outputs; along: whether steps are sampled.

    highs, lows, areas: for each output, whether its largest value, its smallest one and its integral are wanted.
    known: its entry is 1 if the last sample is also the first sample of the next step.
    high, low, area: extremes and integrals over the run. high_at, low_at: when. samples: memory for one step.
    occurrences, first_at, last_at: of each event. at_first, at_last: all outputs there, just before the event acted.
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
    occurrences: Integers
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
def locate_extreme(
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
    """Store an extreme, times `side`, and its time."""
    if side > 0.0:
        tally.high[row, output], tally.high_at[row, output] = value, t
    else:
        tally.low[row, output], tally.low_at[row, output] = -value, t


@part
def may_exceed(tally: Tally, output: int, side: float, k: int, best: float) -> bool:
    """Whether the parabola through three samples exceeds the best value between them."""
    before, here = side * tally.samples[k - 1, output], side * tally.samples[k, output]
    after = side * tally.samples[k + 1, output]
    bend, slope = before - 2.0 * here + after, 0.5 * (after - before)
    return bool(bend < 0.0 and abs(slope) <= -bend and here - 0.5 * slope * slope / bend > best)


@part
def raise_by_samples(tally: Tally, row: int, output: int, t: float, h: float, end: float, side: float) -> bool:
    """Raise an extreme by the samples; returns whether it may be exceeded between them."""
    best, more = best_of(tally, row, output, side), False
    for k in range(SUBDIVISIONS + 1):
        value = side * tally.samples[k, output]
        if value > best:
            best = value
            raise_to(tally, row, output, side, value, t + k * end / SUBDIVISIONS * h)
    for k in range(1, SUBDIVISIONS):
        more = more or may_exceed(tally, output, side, k, best)
    return more


@part
def refine_extreme(
    system: System, tally: Tally, work: Work, row: int, output: int, t: float, h: float, end: float, side: float
) -> None:
    """Raise an extreme by values between samples; dense output is prepared."""
    width = end / SUBDIVISIONS
    for k in range(1, SUBDIVISIONS):
        best = best_of(tally, row, output, side)
        if may_exceed(tally, output, side, k, best):
            u, value = locate_extreme(system, tally, work, output, t, h, (k - 1) * width, (k + 1) * width, side)
            if value > best:
                raise_to(tally, row, output, side, value, t + u * h)


@part
def observe_step(tally: Tally, row: int, t: float, h: float, end: float) -> bool:
    """Extremes and integrals up to the part `end` of the step; returns whether `refine_extremes` may find more."""
    more = False
    for output in range(tally.first.shape[1]):
        if tally.areas[output]:
            ends = tally.samples[0, output] + tally.samples[4, output]
            quarters = tally.samples[1, output] + tally.samples[3, output]
            boole = 7.0 * ends + 32.0 * quarters + 12.0 * tally.samples[2, output]
            tally.area[row, output] += end * h / 90.0 * boole
        if tally.highs[output]:
            more = raise_by_samples(tally, row, output, t, h, end, 1.0) or more
        if tally.lows[output]:
            more = raise_by_samples(tally, row, output, t, h, end, -1.0) or more
    return more


@part
def refine_extremes(system: System, tally: Tally, work: Work, row: int, t: float, h: float, end: float) -> None:
    """Raise all wanted extremes by values between samples."""
    for output in range(tally.first.shape[1]):
        if tally.highs[output]:
            refine_extreme(system, tally, work, row, output, t, h, end, 1.0)
        if tally.lows[output]:
            refine_extreme(system, tally, work, row, output, t, h, end, -1.0)


@part
def sample_outputs(system: System, tally: Tally, work: Work, t: float, h: float, end: float) -> None:
    """The outputs at equal intervals of the step; the first may be known from the last step."""
    outputs = tally.first.shape[1]
    sample_start(system, tally, work, t)
    for k in range(1, SUBDIVISIONS + 1):
        interpolate(work, k * end / SUBDIVISIONS, work.x)
        outputs_of(system, tally, work, t + k * end / SUBDIVISIONS * h, tally.samples, k * outputs)


@part
def take_samples(system: System, tally: Tally, work: Work, observed: Floats, lane: int, t: float) -> None:
    """The same from the results of batch code."""
    sample_start(system, tally, work, t)
    for k in range(SUBDIVISIONS):
        for output in range(tally.first.shape[1]):
            tally.samples[k + 1, output] = observed[k, lane, output]


@part
def sample_start(system: System, tally: Tally, work: Work, t: float) -> None:
    """The outputs at the beginning of the step; those at the end of the last step if they are known."""
    if tally.known[0]:
        for output in range(tally.first.shape[1]):
            tally.samples[0, output] = tally.samples[SUBDIVISIONS, output]
        return
    for d in range(len(work.y)):
        work.x[d] = work.y[d]
    outputs_of(system, tally, work, t, tally.samples, 0)


@part
def note_events(system: System, tally: Tally, watch: Watch, work: Work, row: int, first: int, last: int) -> None:
    """Count the events at these places of the record, and store the outputs at the first and last of each.

    What is numbered beyond the events of the tally is not told.
    """
    outputs, kinds = tally.first.shape[1], tally.occurrences.shape[1]
    for place in range(first, last):
        event, t = watch.which[place], watch.times[place]
        if event >= kinds:
            continue
        if outputs > 0:
            for d in range(len(work.y)):
                work.x[d] = watch.states[place, d]
            start = (row * kinds + event) * outputs
            outputs_of(system, tally, work, t, tally.at_last, start)
            if tally.occurrences[row, event] == 0:
                outputs_of(system, tally, work, t, tally.at_first, start)
        if tally.occurrences[row, event] == 0:
            tally.first_at[row, event] = t
        tally.last_at[row, event] = t
        tally.occurrences[row, event] += 1
