"""One step in a compiled loop: the system, its memory, weighted sums of slopes, error estimate, dense output, saved
states.
"""

from __future__ import annotations

from functools import cache
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import inlined, intrinsic, part
from kinegraph.solve.loops.marks import call
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4, Tableau

SUBDIVISIONS = 4  # equal parts of a step at which events and outputs are sampled, with the weights of Boole's rule


class CompiledTableau(NamedTuple):
    """A tableau as an argument of loops: one type for all tableaux, so that loops are compiled once.

    tableau: its place in TABLEAUX. nodes: c of all slopes. stages, errors, terms: of a step, of error estimates and of
    dense output.
    sums, each_sums: addresses of the code of its weighted sums, with one h and with one for each entry; zero where
    loops are interpreted.
    """

    tableau: int
    nodes: Floats
    stages: int
    errors: int
    terms: int
    sums: int
    each_sums: int


TABLEAUX = (RK4, DORMAND_PRINCE_5, DORMAND_PRINCE_8)


def rows_of(tableau: Tableau) -> Floats:
    """All weights: rows of a (stages, end, dense stages), error estimates, terms of dense output, states inside."""
    size = tableau.all_stages
    errors = np.zeros((len(tableau.error), size))
    errors[:, : tableau.stages + 1] = tableau.error_weights()
    return np.vstack([tableau.matrix(), errors, tableau.dense_weights(), _inside(tableau)])


def _inside(tableau: Tableau) -> Floats:
    """Weights of the states at equal parts of a step, by dense output."""
    found = np.zeros((SUBDIVISIONS, tableau.all_stages))
    for u, total in zip(np.arange(1, SUBDIVISIONS + 1) / SUBDIVISIONS, found, strict=True):
        for row, term in reversed(list(enumerate(tableau.dense_weights()))):
            total += term
            total *= u if row % 2 == 0 else 1.0 - u
    return found


@intrinsic
def weighted(
    method: CompiledTableau,
    row: int,
    h: float | Floats,
    base: Floats,
    slopes: Floats,
    size: int,
    target: Floats,
    start: int,
) -> None:
    """target[start + d] = base[d] + h sum_j weights[row, j] slopes[j, d] for d < size.

    h is a number, or an array with one entry for each d.
    """
    weights = _prefixes(method.tableau)[row]
    target.reshape(-1)[start : start + size] = base[:size] + h * (weights @ slopes[: len(weights), :size])


@cache
def _prefixes(tableau: int) -> list[Floats]:
    """The rows of one of TABLEAUX without the zeros at their ends: slopes that belong there may not be known yet."""
    return [np.trim_zeros(row, "b") for row in rows_of(TABLEAUX[tableau])]


# Dense output: y + u (F0 + (1-u) (F1 + u (F2 + ...))), or F0 + F1 (u-1) + F2 (u-1)^2 + ...
NESTED, TAYLOR = range(2)

# Newton steps onto constraints end after a change so small that the next change would be rounding. If even the last of
# many changes is large, there is no state on the constraints nearby.
FEW_PROJECTIONS, MOST_PROJECTIONS, SMALL_CHANGE, LARGE_CHANGE = 4, 20, 1e-9, 1e-5

# Notes after state and pivots in the memory of the projection: the lowest pivot of the latest state and of the step,
# the highest of these, the row of the lowest pivot of the step, the pivot at the beginning of the step, and the last
# change of a failed projection of the step, 0 if none failed.
LATEST, LOWEST, HIGHEST, ROW, BEGINNING, LEFT, NOTES = -6, -5, -4, -3, -2, -1, 6


class System(NamedTuple):
    """A right-hand side for compiled code; `projection` is code, or 0 without constraints."""

    code: Code
    knots: Floats
    coefficients: Floats
    quaternions: Integers
    projection: Code


class Work(NamedTuple):
    """Memory of one trajectory: x of the kernel, y at both ends of the step, slopes, errors, terms of dense output.

    projected: the results of the projection, and notes of its pivots. basis: of dense output, NESTED or TAYLOR.
    """

    x: Floats
    y: Floats
    end: Floats
    slopes: Floats
    errors: Floats
    dense: Floats
    zero: Floats
    projected: Floats
    basis: int


@part
def piece_of(knots: Floats, t: float) -> int:
    """The piece of a signal at time t."""
    low, high = 0, len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= t:
            low = middle
        else:
            high = middle
    return low


@part
def set_inputs(knots: Floats, coefficients: Floats, t: float, x: Floats, first: int) -> None:
    """Write the values of the signals at t to x[first:]."""
    count = coefficients.shape[1]
    if count == 0:
        return
    piece = piece_of(knots, t)
    s = min(max(t, knots[0]), knots[-1]) - knots[piece]
    for k in range(count):
        c = coefficients[piece, k]
        x[first + k] = c[0] + s * (c[1] + s * (c[2] + s * c[3]))


@part
def set_input_rates(knots: Floats, coefficients: Floats, t: float, x: Floats, first: int) -> None:
    """Write the slopes of the signals at t to x[first:]."""
    count = coefficients.shape[1]
    if count == 0:
        return
    piece = piece_of(knots, t)
    s = t - knots[piece]
    outside = t < knots[0] or t > knots[-1]
    for k in range(count):
        c = coefficients[piece, k]
        x[first + k] = 0.0 if outside else c[1] + s * (2.0 * c[2] + s * 3.0 * c[3])


@part
def onto_constraints(projection: Code, x: Floats, size: int, projected: Floats) -> None:
    """Newton steps that take x[:size] onto the constraints; x[size] is the time. Notes the lowest pivot.

    Near a singular position a rate makes sense only on the constraints: what is missing by 1e-8 counts there as much
    as all else.
    """
    change = 1.0
    for number in range(MOST_PROJECTIONS):
        call(projection, x, projected, 0)
        change = 0.0
        for d in range(size):
            change = max(change, abs(projected[d] - x[d]) / (1.0 + abs(x[d])))
            x[d] = projected[d]
        if change < (SMALL_CHANGE if number + 1 < FEW_PROJECTIONS else LARGE_CHANGE):
            break
    if change >= LARGE_CHANGE:
        projected[LEFT] = change
    note_pivots(size, projected)


@part
def note_pivots(size: int, projected: Floats) -> None:
    """The lowest pivot of the latest state and of all states since it was last set to one, and the usual one."""
    lowest, row = 1.0, 0
    for place in range(size, len(projected) - NOTES):
        if not projected[place] >= lowest:  # NaN counts as zero
            lowest = projected[place] if projected[place] >= 0.0 else 0.0
            row = place - size
    projected[LATEST] = lowest
    if lowest < projected[LOWEST]:
        projected[LOWEST], projected[ROW] = lowest, row
    projected[HIGHEST] = max(lowest, projected[HIGHEST])


@inlined
def begin_notes(projected: Floats) -> None:
    """Reset the lowest pivot and failures for another step."""
    projected[LOWEST], projected[LEFT] = 1.0, 0.0


@inlined
def evaluate(system: System, work: Work, t: float, slopes: Floats, row: int) -> None:
    """Write f(x[:n], t) to a row of slopes; with constraints x[:n] is projected first."""
    size = len(work.y)
    work.x[size] = t
    if system.projection != 0:
        onto_constraints(system.projection, work.x, size, work.projected)
    set_inputs(system.knots, system.coefficients, t, work.x, size + 1)
    call(system.code, work.x, slopes, row * size)


@inlined
def normalize(quaternions: Integers, y: Floats) -> None:
    """Bring quaternions back to unit length."""
    for start in quaternions:
        length = sqrt(y[start] ** 2 + y[start + 1] ** 2 + y[start + 2] ** 2 + y[start + 3] ** 2)
        for k in range(start, start + 4):
            y[k] /= length


@part
def project(system: System, work: Work, t: float) -> None:
    """Project x[:n] onto unit quaternions, closed loops, and constraints at t."""
    normalize(system.quaternions, work.x)
    if system.projection != 0:
        size = len(work.y)
        work.x[size] = t
        onto_constraints(system.projection, work.x, size, work.projected)


@inlined
def combine(method: CompiledTableau, work: Work, row: int, h: float) -> None:
    """x[:n] = y + h sum_j a_row,j K_j."""
    weighted(method, row, h, work.y, work.slopes, len(work.y), work.x, 0)


@part
def take_step(system: System, method: CompiledTableau, work: Work, t: float, h: float) -> None:
    """All slopes of the step from y at t (whose slope is row 0), and y at its end."""
    size = len(work.y)
    for stage in range(1, method.stages):
        combine(method, work, stage, h)
        evaluate(system, work, t + method.nodes[stage] * h, work.slopes, stage)
    combine(method, work, method.stages, h)
    project(system, work, t + h)
    for d in range(size):
        work.end[d] = work.x[d]
    evaluate(system, work, t + h, work.slopes, method.stages)


@part
def estimate_errors(method: CompiledTableau, work: Work) -> None:
    """The estimated errors of all components per unit of h, one row for each estimate."""
    size = len(work.y)
    for row in range(method.errors):
        weighted(method, len(method.nodes) + row, 1.0, work.zero, work.slopes, size, work.errors, row * size)


@part
def error_norm(method: CompiledTableau, work: Work, h: float, rtol: float, atol: Floats) -> float:
    """The error of the step in units of the tolerance."""
    estimate_errors(method, work)
    return norm_of(work, work.errors, method.errors, 0, h, rtol, atol)


@part
def norm_of(work: Work, errors: Floats, estimates: int, start: int, h: float, rtol: float, atol: Floats) -> float:
    """Estimates from the column `start` on in units of the tolerance; of two as in Hairer's DOP853."""
    size = len(work.y)
    one, other = errors[0], errors[estimates - 1]
    first = second = 0.0
    for d in range(size):
        scale = 1.0 / (atol[d] + rtol * max(abs(work.y[d]), abs(work.end[d])))
        first += (scale * one[start + d]) ** 2
        second += (scale * other[start + d]) ** 2
    if estimates == 1:
        return float(h * sqrt(first / size))
    return 0.0 if first == 0.0 else float(h * first / sqrt((first + 0.01 * second) * size))


@part
def worst_component(method: CompiledTableau, work: Work, rtol: float, atol: Floats) -> int:
    """The first component whose slope is not finite; else the component with the largest error."""
    for stage in range(method.stages + 1):
        for d in range(len(work.y)):
            if not isfinite(work.slopes[stage, d]):
                return d
    worst, most = 0, -1.0
    estimate_errors(method, work)
    for d in range(len(work.y)):
        error = abs(work.errors[0, d]) / (atol[d] + rtol * max(abs(work.y[d]), abs(work.end[d])))
        if error > most:
            worst, most = d, error
    return worst


@part
def prepare_dense(system: System, method: CompiledTableau, work: Work, t: float, h: float) -> None:
    """The terms of dense output over the step just taken."""
    size = len(work.y)
    count = len(method.nodes)
    for stage in range(method.stages + 1, count):
        combine(method, work, stage, h)
        evaluate(system, work, t + method.nodes[stage] * h, work.slopes, stage)
    for row in range(method.terms):
        weighted(method, count + method.errors + row, h, work.zero, work.slopes, size, work.dense, row * size)


@part
def interpolate(work: Work, u: float, target: Floats) -> None:
    """The state at t + u h into target[:n]."""
    size, rows = len(work.y), len(work.dense)
    if u == 0.0:
        for d in range(size):
            target[d] = work.y[d]
        return
    for d in range(size):
        target[d] = 0.0
    for row in range(rows - 1, -1, -1):
        terms, factor = work.dense[row], u if row % 2 == 0 else 1.0 - u
        if work.basis == TAYLOR:
            for d in range(size):
                target[d] = target[d] * (u - 1.0) + terms[d]
        else:
            for d in range(size):
                target[d] = (target[d] + terms[d]) * factor
    if work.basis != TAYLOR:
        for d in range(size):
            target[d] += work.y[d]


@part
def initial_step(
    system: System, method: CompiledTableau, work: Work, t: float, rtol: float, atol: Floats, order: int
) -> float:
    """A first step by the size of the slope and its change (Hairer-Norsett-Wanner, II.4). Needs slope row 0."""
    size = len(work.y)
    level = slope = 0.0
    for d in range(size):
        scale = atol[d] + rtol * abs(work.y[d])
        level += (work.y[d] / scale) ** 2
        slope += (work.slopes[0, d] / scale) ** 2
    level, slope = sqrt(level / size), sqrt(slope / size)
    trial = 1e-6 if level < 1e-5 or slope < 1e-5 else 0.01 * level / slope
    if not trial > 0.0:  # the square of a steep slope is infinite, or a slope is NaN
        trial = 1e-6
    for d in range(size):
        work.x[d] = work.y[d] + trial * work.slopes[0, d]
    evaluate(system, work, t + trial, work.slopes, 1)
    change = 0.0
    for d in range(size):
        scale = atol[d] + rtol * abs(work.y[d])
        change += ((work.slopes[1, d] - work.slopes[0, d]) / scale) ** 2
    change = sqrt(change / size) / trial
    most = max(slope, change)
    if most <= 1e-15:
        return max(1e-6, trial * 1e-3)
    step = min(100 * trial, (0.01 / most) ** (1.0 / (order + 1)))
    return float(step if step > 0.0 else 1e-6)  # after a slope that is NaN


# How a slice ended. CUT: a step ended at an event, and the run continues from another state.
RUNNING, DONE, NO_ROOM, NOT_A_NUMBER, TOO_SMALL, TOO_MANY_STEPS, STOPPED, TOO_MANY_EVENTS, NO_CONVERGENCE = range(9)
ACCUMULATED, CUT, INTERRUPTED, SINGULAR_PLACE, LOOPS_OPEN = 9, 10, 11, 12, 13

# Places in the array `clock`: time, next step, end, last error, where steps of fixed length are counted from.
TIME, STEP, END, LAST_ERROR, BASE = range(5)

# Places in the integer array `counters` of a run. COMPONENT: the entry of the state that failed, or -1 - the event that
# failed, or the constraint row of SINGULAR_PLACE or LOOPS_OPEN. EVENT: the last event that acted. BEGUN: 1 after
# the start of the run.
STEPS, REJECTED, SAVED, NEXT_GRID, EVENTS, EVENT_TOTAL, COMPONENT, SINCE_START, EVALUATIONS, EVENT, RESETS = range(11)
BEGUN = 11
COUNTERS = 12


class Saving(NamedTuple):
    """Where states are saved: at the times of `grid`, or (if it is empty) every so many steps."""

    grid: Floats
    every: int
    times: Floats
    states: Floats


@part
def save(saving: Saving, counters: Integers, t: float, y: Floats) -> None:
    """Append one state."""
    place = counters[SAVED]
    saving.times[place] = t
    for d in range(saving.states.shape[1]):
        saving.states[place, d] = y[d]
    counters[SAVED] = place + 1


@part
def has_grid_until(saving: Saving, counters: Integers, t: float) -> bool:
    """Whether a grid time at or before t is not saved yet."""
    following = counters[NEXT_GRID]
    return bool(following < len(saving.grid) and saving.grid[following] <= t)


@part
def save_step(saving: Saving, counters: Integers, work: Work, t: float, h: float, t_new: float) -> None:
    """Save the states of the step from t to t_new; h: the length that dense output was prepared for."""
    if len(saving.grid) == 0:
        if counters[STEPS] % saving.every == 0:
            save(saving, counters, t_new, work.end)
        return
    while has_grid_until(saving, counters, t_new):
        at = saving.grid[counters[NEXT_GRID]]
        place = counters[SAVED]
        saving.times[place] = at
        if at == t_new:
            for d in range(saving.states.shape[1]):
                saving.states[place, d] = work.end[d]
        else:
            interpolate(work, (at - t) / h, saving.states[place])
        counters[SAVED] = place + 1
        counters[NEXT_GRID] += 1
