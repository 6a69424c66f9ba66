"""The compiled loop of RATTLE: symplectic and symmetric steps on loops and holonomic constraints.

With H(q, p), g(q) = 0 and G = dg/dq one step is (Hairer-Lubich-Wanner, VII.1.4; Jay 1996)

    p' = p0 - h/2 (H_q(q0, p') + G(q0)^T lambda),  q1 = q0 + h/2 (H_p(q0, p') + H_p(q1, p')),  g(q1) = 0,
    p1 = p' - h/2 (H_q(q1, p') + G(q1)^T mu),      G(q1) H_p(q1, p1) = 0.

It has order 2; compositions of steps of other lengths, backward ones among them, have order 4 to 8. Equations
are solved by iteration down to rounding.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.after_step import begin_run, finish_with_cubic, fixed_step, may_step
from kinegraph.solve.loops.marks import call
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
    SINGULAR_PLACE,
    TIME,
    Saving,
    System,
    Work,
)
from kinegraph.solve.loops.zero_crossings import Watch

_MOST_ITERATIONS = 100
_SMALL = 1e-10  # smaller changes that no longer fall are rounding: of lambda, 1/h^2 times that of positions
_NEAR = 1e-7  # a step should not end at smaller pivots; it is then taken in two parts
_CLOSE = 1e-3  # a smaller pivot explains why a step has no solution
# The change of energy allowed in a step, relative to the largest kinetic energy, and the squared sine by which
# velocities may turn, unless they are slow. Both limits adapt to recent steps: a multiple of their values, which fade.
_LEAP, _TURN, _SLOW = 0.02, 0.4, 0.01
_LITTLE, _MORE, _FADING = 0.01, 10.0, 0.8
_SPLITS = (1.0, 0.37, 0.61, 0.83, 0.29)
_SINGULAR = 1e-11  # a pivot below this part of its row: constraints depend on each other


class Rattle(NamedTuple):
    """A composition for compiled code, and its memory.

    free: x -> q', p' without constraints. values: x -> g. rows: x -> G and G H^-1, by row. parts: lengths of the
    composition's steps, of the step's. now, ahead: G and G H^-1 at the beginning, and at a trial end.
    matrix: G H^-1 G^T, factorized. square: the same between beginning and end.
    pivot: the lowest pivot, its row, twice the largest kinetic energy so far, recent changes of energy and direction,
    and whether these count (`is_continued`).
    before, speeds, pulls: where a part begins, its velocities, and the forces there at rest; rest: zero momenta.
    """

    free: Code
    values: Code
    rows: Code
    parts: Floats
    gaps: Floats
    now: Floats
    matrix: Floats
    forces: Floats
    guess: Floats
    start: Floats
    pivot: Floats
    change: Floats
    first: Floats
    second: Floats
    half: Floats
    trial: Floats
    ahead: Floats
    square: Floats
    before: Floats
    speeds: Floats
    pulls: Floats
    rest: Floats


@part
def free_rate(rattle: Rattle, work: Work, q: Floats, p: Floats, rate: Floats) -> None:
    """H_p and -H_q at the positions of one state and the momenta of another."""
    count = len(work.y) // 2
    for d in range(count):
        work.x[d], work.x[count + d] = q[d], p[count + d]
    call(rattle.free, work.x, rate, 0)


@part
def prepare_rows(rattle: Rattle, work: Work, y: Floats) -> int:
    """G, G H^-1 and the factorized G H^-1 G^T at positions; the first row that depends on others, or -1."""
    count, size = len(work.y) // 2, len(rattle.gaps)
    for d in range(len(y)):
        work.x[d] = y[d]
    call(rattle.rows, work.x, rattle.now, 0)
    for i in range(size):
        for j in range(size):
            total = 0.0
            for d in range(count):
                total += rattle.now[size + i, d] * rattle.now[j, d]
            rattle.matrix[i, j] = total
    return factorize(rattle.matrix, size, rattle.pivot)


@part
def factorize(matrix: Floats, size: int, pivot: Floats) -> int:
    """L D L^T in place of a symmetric matrix, its lowest pivot noted.

    Returns the first row with a pivot that is nothing beside its entry, or -1.
    """
    for k in range(size):
        before = matrix[k, k]
        for j in range(k):
            before -= matrix[k, j] * matrix[k, j] * matrix[j, j]
        if not before >= pivot[0] * matrix[k, k]:
            pivot[0], pivot[1] = before / matrix[k, k], k
        if not before > _SINGULAR * matrix[k, k]:
            return k
        matrix[k, k] = before
        for i in range(k + 1, size):
            total = matrix[i, k]
            for j in range(k):
                total -= matrix[i, j] * matrix[k, j] * matrix[j, j]
            matrix[i, k] = total / before
    return -1


@part
def solve(matrix: Floats, values: Floats) -> None:
    """Solve with the factorized matrix, in place."""
    size = len(values)
    for i in range(size):
        for j in range(i):
            values[i] -= matrix[i, j] * values[j]
    for i in range(size):
        values[i] /= matrix[i, i]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            values[i] -= matrix[j, i] * values[j]


@part
def push(rattle: Rattle, p: Floats, count: int, factor: float, forces: Floats) -> None:
    """Add factor G^T forces to the momenta of a state."""
    for row in range(len(forces)):
        for d in range(count):
            p[count + d] += factor * rattle.now[row, d] * forces[row]


@part
def iterate(rattle: Rattle, work: Work, start: Floats, h: float, exact: bool) -> float:
    """Iterate the momenta in the middle, the positions at the end and lambda; returns the largest change.

    exact: with the rows at the trial end, as steps over a singular position need it. There lambda is hardly determined,
    but the projection at the end removes the undetermined part: only the change of positions counts.
    """
    count, end = len(start) // 2, rattle.trial
    largest = 0.0
    for d in range(count):
        rattle.change[d] = rattle.half[count + d]
        rattle.half[count + d] = start[count + d] + 0.5 * h * rattle.first[count + d]
    push(rattle, rattle.half, count, -0.5 * h, rattle.forces)
    for d in range(count):
        moved = abs(rattle.half[count + d] - rattle.change[d]) / (1.0 + abs(start[count + d]))
        if not exact:
            largest = largest if moved <= largest else moved  # NaN counts as a change
    free_rate(rattle, work, start, rattle.half, rattle.first)
    free_rate(rattle, work, end, rattle.half, rattle.second)
    for d in range(count):
        place = start[d] + 0.5 * h * (rattle.first[d] + rattle.second[d])
        moved = abs(place - end[d]) / (1.0 + abs(place))
        largest = largest if moved <= largest else moved
        end[d] = place
        work.x[d] = place
    call(rattle.values, work.x, rattle.gaps, 0)
    if exact:
        solve_ahead(rattle, work, count)
    else:
        solve(rattle.matrix, rattle.gaps)
    for row in range(len(rattle.gaps)):
        rattle.forces[row] += 2.0 / (h * h) * rattle.gaps[row]
    return float(largest)


@part
def solve_ahead(rattle: Rattle, work: Work, count: int) -> None:
    """Solve G(q1) H^-1 G(q0)^T x = gaps in place, by elimination with row exchanges."""
    size, square, gaps = len(rattle.gaps), rattle.square, rattle.gaps
    call(rattle.rows, work.x, rattle.ahead, 0)
    for i in range(size):
        for j in range(size):
            square[i, j] = 0.0
            for d in range(count):
                square[i, j] += rattle.ahead[i, d] * rattle.now[size + j, d]
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            best = i if abs(square[i, k]) > abs(square[best, k]) else best
        gaps[k], gaps[best] = gaps[best], gaps[k]
        for j in range(size):
            square[k, j], square[best, j] = square[best, j], square[k, j]
        for i in range(k + 1, size):
            factor = square[i, k] / square[k, k]
            gaps[i] -= factor * gaps[k]
            for j in range(k, size):
                square[i, j] -= factor * square[k, j]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            gaps[i] -= square[i, j] * gaps[j]
        gaps[i] /= square[i, i]


@part
def solve_part(rattle: Rattle, work: Work, state: Floats, h: float, counters: Integers, exact: bool) -> int:
    """Momenta in the middle and positions at the end; RUNNING, or why there are none."""
    last, stalled = 1e300, 0
    for d in range(len(state)):
        rattle.half[d] = rattle.trial[d] = state[d]
    free_rate(rattle, work, state, rattle.half, rattle.first)
    for _ in range(_MOST_ITERATIONS):
        change = iterate(rattle, work, state, h, exact)
        counters[EVALUATIONS] += 2
        if not isfinite(change):
            return NOT_A_NUMBER
        stalled += 1 if change < _SMALL and change > 0.5 * last else 0
        last = change
        if change == 0.0 or stalled == 2:
            break
    return RUNNING if last < _SMALL else NO_CONVERGENCE


@part
def take_part(rattle: Rattle, work: Work, state: Floats, h: float, counters: Integers) -> int:
    """One step of the composition, in place; RUNNING, or why it failed. The current rows are those at its beginning."""
    for row in range(len(rattle.forces)):
        rattle.guess[row] = rattle.forces[row]
    code = NO_CONVERGENCE
    for attempt in range(2):
        if attempt == 1:
            for row in range(len(rattle.forces)):
                rattle.forces[row] = rattle.guess[row]
            prepare_rows(rattle, work, rattle.before)
        code = solve_part(rattle, work, rattle.before, h, counters, attempt == 1)
        if code == RUNNING:
            code = end_part(rattle, work, state, h, counters)
        if code in (RUNNING, SINGULAR_PLACE):
            break
    return int(code)


@part
def end_part(rattle: Rattle, work: Work, state: Floats, h: float, counters: Integers) -> int:
    """The state at the end of a part that is solved; NO_CONVERGENCE where it does not continue the motion."""
    count = len(state) // 2
    free_rate(rattle, work, rattle.trial, rattle.half, rattle.second)
    bad = prepare_rows(rattle, work, rattle.trial)
    if bad >= 0:
        counters[COMPONENT] = bad
        return SINGULAR_PLACE
    for d in range(count):
        state[d] = rattle.trial[d]
        state[count + d] = rattle.half[count + d] + 0.5 * h * rattle.second[count + d]
    onto_velocities(rattle, state, count)
    observe_state(rattle, work, state)
    if not is_continued(rattle, state):
        return NO_CONVERGENCE
    note_beginning(rattle, state)
    return RUNNING


@part
def observe_state(rattle: Rattle, work: Work, state: Floats) -> None:
    """Velocities of a state to `first`, the forces on it while it is at rest to `second`."""
    free_rate(rattle, work, state, state, rattle.first)
    free_rate(rattle, work, state, rattle.rest, rattle.second)


@part
def twice_kinetic_energy(state: Floats, velocities: Floats) -> float:
    """Twice the kinetic energy of a state, if the velocities are its own."""
    count, total = len(state) // 2, 0.0
    for d in range(count):
        total += state[count + d] * velocities[d]
    return total


@part
def note_beginning(rattle: Rattle, state: Floats) -> None:
    """The next part begins at the observed state."""
    count = len(state) // 2
    for d in range(count):
        rattle.before[d], rattle.before[count + d] = state[d], state[count + d]
        rattle.speeds[d], rattle.pulls[d] = rattle.first[d], rattle.second[count + d]
    rattle.pivot[2] = max(rattle.pivot[2], twice_kinetic_energy(state, rattle.first))


@part
def is_continued(rattle: Rattle, state: Floats) -> bool:
    """Whether the observed state continues the motion: energy (by the trapezoidal rule) and direction are conserved.

    Beyond a singular position the equations of a step have several solutions, as loops may fold in several ways.
    """
    count, work_done = len(state) // 2, 0.0
    for d in range(count):
        work_done += 0.5 * (rattle.pulls[d] + rattle.second[count + d]) * (state[d] - rattle.before[d])
    moving, left = twice_kinetic_energy(rattle.before, rattle.speeds), twice_kinetic_energy(state, rattle.first)
    along = twice_kinetic_energy(state, rattle.speeds)
    highest = max(rattle.pivot[2], left, 2.0 * abs(work_done))
    if highest == 0.0:
        return True
    leap, turn = abs(left - moving - 2.0 * work_done) / highest, 0.0
    if min(left, moving) >= _SLOW * highest:
        turn = 1.0 - along * abs(along) / (left * moving)
    usual_leap, usual_turn = rattle.pivot[3], rattle.pivot[4]
    most_leap, most_turn = _LEAP, _TURN
    if rattle.pivot[5] > 0.0:
        most_leap = min(_LEAP, max(_LITTLE * _LEAP, _MORE * usual_leap))
        most_turn = min(_TURN, max(_LITTLE * _TURN, _MORE * usual_turn))
    if not (leap <= most_leap and turn <= most_turn):
        return False
    rattle.pivot[3], rattle.pivot[4] = max(leap, _FADING * usual_leap), max(turn, _FADING * usual_turn)
    return True


@part
def onto_velocities(rattle: Rattle, state: Floats, count: int) -> None:
    """Project the momenta so that velocities satisfy the current rows: an exact linear step."""
    size = len(rattle.gaps)
    for row in range(size):
        total = 0.0
        for d in range(count):
            total += rattle.now[size + row, d] * state[count + d]
        rattle.gaps[row] = total
    solve(rattle.matrix, rattle.gaps)
    push(rattle, state, count, -1.0, rattle.gaps)


@part
def one_step(rattle: Rattle, work: Work, clock: Floats, counters: Integers) -> tuple[int, float]:
    """Take all steps of the composition; returns the code and the length."""
    h, code = fixed_step(clock, counters), RUNNING
    for row in range(len(rattle.forces)):
        rattle.start[row] = rattle.forces[row]
    for strict in range(1, -1, -1):  # limits by recent steps first; long steps may exceed them
        rattle.pivot[5] = strict
        for split in _SPLITS:
            code = take_split(rattle, work, h, split, counters)
            if code == RUNNING and rattle.pivot[0] > _NEAR:
                return RUNNING, h
            for row in range(len(rattle.forces)):
                rattle.forces[row] = rattle.start[row]
            prepare_rows(rattle, work, work.y)
        if code == RUNNING:
            break
    if code in (NO_CONVERGENCE, NOT_A_NUMBER):
        prepare_rows(rattle, work, work.y)
        counters[COMPONENT] = int(rattle.pivot[1])
        return (SINGULAR_PLACE if rattle.pivot[0] < _CLOSE else NO_CONVERGENCE), h
    if code == RUNNING and not rattle.pivot[0] > _NEAR:  # all splits come near it: take the whole step
        code = take_split(rattle, work, h, 1.0, counters)
    return code, h


@part
def take_split(rattle: Rattle, work: Work, h: float, split: float, counters: Integers) -> int:
    """The step from work.y to work.end, in one part or in two. Notes the lowest pivot."""
    rattle.pivot[0] = 1.0
    for d in range(len(work.y)):
        work.end[d] = work.y[d]
    observe_state(rattle, work, work.y)
    note_beginning(rattle, work.y)
    for share in range(2):
        whole = split * h if share == 0 else (1.0 - split) * h
        for length in rattle.parts:
            if whole == 0.0:
                break
            code = take_part(rattle, work, work.end, length * whole, counters)
            if code != RUNNING:
                return int(code)
    return RUNNING


@part
def begin(
    system: System, rattle: Rattle, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers
) -> int:
    """Begin the run, with the rows at the start."""
    code = begin_run(system, work, clock, watch, saving, counters)
    return int(begin_again(rattle, work, counters, code))


@part
def begin_again(rattle: Rattle, work: Work, counters: Integers, code: int) -> int:
    """The rows at the current state, at the start or after an event."""
    rattle.forces[:] = 0.0
    bad = prepare_rows(rattle, work, work.y)
    if bad >= 0:
        counters[COMPONENT] = bad
        return SINGULAR_PLACE
    return code


@loop
def advance(
    system: System, rattle: Rattle, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers,
    slice_steps: int,
) -> int:  # fmt: skip
    """Begin, or go on, for up to `slice_steps` steps, or until Python has something to do."""
    if not counters[BEGUN]:
        code = begin(system, rattle, work, clock, watch, saving, counters)
        if code != RUNNING:
            return code
    for _ in range(slice_steps):
        code = may_step(clock, watch, saving, counters)
        if code != RUNNING:
            return code
        code, h = one_step(rattle, work, clock, counters)
        if code == RUNNING:
            code = finish_with_cubic(system, work, clock, watch, saving, counters, h)
        if code == CUT:
            code = begin_again(rattle, work, counters, RUNNING)
        if code != RUNNING:
            return code
    return DONE if clock[TIME] >= clock[END] else RUNNING
