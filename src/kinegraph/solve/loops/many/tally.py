"""What is kept of a case while it runs: outputs at its ends, their extremes and integrals, and when events happened.

A study of a million cases keeps no trajectories. Extremes are looked for inside every step, on its dense output, so
that the peak of a short contact is found however few steps there are.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.codegen.kernel import Code
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.marks import Floats, Integers, call, part
from kinegraph.solve.loops.record import EVENTS
from kinegraph.solve.loops.step import System, Work, interpolate, set_inputs

_SAMPLES = 4  # intervals a step is looked at in; the weights of Boole's rule belong to them
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
def search(
    system: System, tally: Tally, work: Work, row: int, output: int, t: float, h: float, end: float, side: float
) -> None:
    """Raise the extreme of one output (`side` 1: the largest, -1: the smallest) by what the step reaches."""
    best, where = tally.high[row, output], tally.high_at[row, output]
    if side < 0.0:
        best, where = -tally.low[row, output], tally.low_at[row, output]
    width = end / _SAMPLES
    for k in range(_SAMPLES + 1):
        value = side * tally.samples[k, output]
        if value > best:
            best, where = value, t + k * width * h
    for k in range(1, _SAMPLES):
        before, here = side * tally.samples[k - 1, output], side * tally.samples[k, output]
        after = side * tally.samples[k + 1, output]
        bend, slope = before - 2.0 * here + after, 0.5 * (after - before)
        # The parabola through three looks says whether anything higher lies between them.
        if bend < 0.0 and abs(slope) <= -bend and here - 0.5 * slope * slope / bend > best:
            u, value = summit(system, tally, work, output, t, h, (k - 1) * width, (k + 1) * width, side)
            if value > best:
                best, where = value, t + u * h
    if side > 0.0:
        tally.high[row, output], tally.high_at[row, output] = best, where
    else:
        tally.low[row, output], tally.low_at[row, output] = -best, where


@part
def look_along(system: System, tally: Tally, work: Work, row: int, t: float, h: float, end: float) -> None:
    """Extremes and integrals over the step from work.y at t to the part `end` of it; dense output is prepared."""
    outputs = tally.first.shape[1]
    if outputs == 0 or not tally.along:
        return
    look_at_samples(system, tally, work, t, h, end)
    for output in range(outputs):
        if tally.areas[output]:
            ends = tally.samples[0, output] + tally.samples[4, output]
            quarters = tally.samples[1, output] + tally.samples[3, output]
            boole = 7.0 * ends + 32.0 * quarters + 12.0 * tally.samples[2, output]
            tally.area[row, output] += end * h / 90.0 * boole
        if tally.highs[output]:
            search(system, tally, work, row, output, t, h, end, 1.0)
        if tally.lows[output]:
            search(system, tally, work, row, output, t, h, end, -1.0)


@part
def look_at_samples(system: System, tally: Tally, work: Work, t: float, h: float, end: float) -> None:
    """The outputs at equal intervals of the step; the first one may be known from the step before."""
    outputs = tally.first.shape[1]
    begin = 0
    if tally.known[0]:
        begin = 1
        for output in range(outputs):
            tally.samples[0, output] = tally.samples[_SAMPLES, output]
    for k in range(begin, _SAMPLES + 1):
        interpolate(work, k * end / _SAMPLES, work.x)
        outputs_of(system, tally, work, t + k * end / _SAMPLES * h, tally.samples, k * outputs)


@part
def take_events(system: System, tally: Tally, watch: Watch, counters: Integers, work: Work, row: int) -> None:
    """Count the events that were recorded since the last call, and note the outputs at each one's first and last."""
    outputs, kinds = tally.first.shape[1], len(watch.side)
    for place in range(counters[EVENTS]):
        event, t = watch.which[place], watch.times[place]
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
    counters[EVENTS] = 0
