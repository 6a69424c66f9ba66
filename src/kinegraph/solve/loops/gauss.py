"""The compiled loop of Gauss methods: implicit, symplectic, of order twice the number of stages.

The equations of a step are solved by fixed-point iteration down to rounding. Compensated summation keeps the digits
that rounding drops from the state (Hairer-Lubich-Wanner, VIII); otherwise the energy would drift.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.after_step import begin_run, finish_with_cubic, fixed_step, may_step
from kinegraph.solve.loops.step import (
    BEGUN,
    COMPONENT,
    CUT,
    DONE,
    END,
    EVALUATIONS,
    NO_CONVERGENCE,
    NOT_A_NUMBER,
    RUNNING,
    TIME,
    Saving,
    System,
    Work,
    evaluate,
)
from kinegraph.solve.loops.zero_crossings import Watch

_MOST_ITERATIONS = 60


class Gauss(NamedTuple):
    """A Gauss method for compiled code; `ahead` carries the slopes of one step on to the next as a first guess."""

    a: Floats
    b: Floats
    c: Floats
    ahead: Floats
    guess: Floats
    carry: Floats


@part
def begin(
    system: System, gauss: Gauss, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers
) -> int:
    """Begin the run, with the first slope; RUNNING, or how it ends."""
    code = begin_run(system, work, clock, watch, saving, counters)
    first_guess(system, gauss, work, clock[TIME])
    return int(code)


@part
def first_guess(system: System, gauss: Gauss, work: Work, t: float) -> None:
    """Guess all slopes as at the beginning of the step."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.y[d]
        gauss.carry[d] = 0.0
    for stage in range(len(gauss.b)):
        evaluate(system, work, t, work.slopes, stage)


@part
def next_guess(gauss: Gauss, slopes: Floats) -> None:
    """Guess the slopes of the next step by the polynomial through those of the last."""
    stages = len(gauss.b)
    for d in range(slopes.shape[1]):
        for i in range(stages):
            total = 0.0
            for j in range(stages):
                total += gauss.ahead[i, j] * slopes[j, d]
            gauss.guess[i] = total
        for i in range(stages):
            slopes[i, d] = gauss.guess[i]


@part
def iterate(system: System, gauss: Gauss, work: Work, t: float, h: float) -> float:
    """One fixed-point iteration; returns the largest change of h times a slope, relative to the state."""
    size = len(work.y)
    change = 0.0
    for stage in range(len(gauss.b)):
        for d in range(size):
            total = 0.0
            for j in range(len(gauss.b)):
                total += gauss.a[stage, j] * work.slopes[j, d]
            work.x[d] = work.y[d] + h * total
        evaluate(system, work, t + gauss.c[stage] * h, work.errors, 0)
        for d in range(size):
            moved = abs(h * (work.errors[0, d] - work.slopes[stage, d])) / (1.0 + abs(work.y[d]))
            if not moved <= change:  # NaN counts as a change
                change = moved
            work.slopes[stage, d] = work.errors[0, d]
    return change


@part
def solve_stages(system: System, gauss: Gauss, work: Work, t: float, h: float, counters: Integers) -> bool:
    """Iterate until only rounding changes; False if the iteration does not converge."""
    last = 1e300
    for _ in range(_MOST_ITERATIONS):
        change = iterate(system, gauss, work, t, h)
        counters[EVALUATIONS] += len(gauss.b)
        if change == 0.0 or (change < 1e-14 and change >= last):
            return True
        if not isfinite(change):
            return False
        last = change
    return last < 1e-13


@part
def end_of_step(gauss: Gauss, work: Work, h: float) -> int:
    """y at the end, by compensated summation; returns the first component that is not finite, or -1."""
    bad = -1
    for d in range(len(work.y)):
        total = 0.0
        for j in range(len(gauss.b)):
            total += gauss.b[j] * work.slopes[j, d]
        increment = h * total + gauss.carry[d]
        end = work.y[d] + increment
        gauss.carry[d] = increment - (end - work.y[d])
        work.end[d] = end
        if bad < 0 and not isfinite(end):
            bad = d
    return bad


@part
def one_step(system: System, gauss: Gauss, work: Work, clock: Floats, counters: Integers) -> tuple[int, float]:
    """Take a step; returns its code and length."""
    t, h = clock[TIME], fixed_step(clock, counters)
    converged = solve_stages(system, gauss, work, t, h, counters)
    bad = end_of_step(gauss, work, h)
    if bad >= 0 or not converged:
        counters[COMPONENT] = max(bad, 0)
        return (NO_CONVERGENCE if bad < 0 else NOT_A_NUMBER), h
    return RUNNING, h


@loop
def advance(
    system: System, gauss: Gauss, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers,
    slice_steps: int,
) -> int:  # fmt: skip
    """Begin, or go on, for up to `slice_steps` steps, or until Python has something to do."""
    if not counters[BEGUN]:
        code = begin(system, gauss, work, clock, watch, saving, counters)
        if code != RUNNING:
            return code
    for _ in range(slice_steps):
        code = may_step(clock, watch, saving, counters)
        if code != RUNNING:
            return code
        code, h = one_step(system, gauss, work, clock, counters)
        if code == RUNNING:
            code = finish_with_cubic(system, work, clock, watch, saving, counters, h)
        if code == RUNNING:
            next_guess(gauss, work.slopes)
        elif code == CUT:
            first_guess(system, gauss, work, clock[TIME])
        else:
            return code
    return DONE if clock[TIME] >= clock[END] else RUNNING
