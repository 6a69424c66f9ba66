"""Consistent positions and velocities near approximate ones.

Positions are found by Gauss-Newton steps of least weighted length, so what the user gave is changed as little as the
constraints allow, and the assembly stays on the user's branch. Steps are limited: a full step may jump to another one.
Lengths count in units of the mechanism's longest lever (`Conditions.measured`), so that they compare with angles and no
unit of length matters: one such length is worth a radian.

Numbers in files are rounded, so rows that would follow from others contradict them by a little. Such loops close in the
sense of least squares: what remains is less than ROUNDED, and the mechanism moves with it unchanged to first order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from kinegraph.derive.constraints.conditions import DEPENDENT, Conditions, Floats, usual_lengths

#: No coordinate moves further than this in one step (radians, levers): far enough to arrive, too short to jump.
LARGEST_STEP = 0.3
MOST_STEPS = 200
#: A search that leaves more than this part of what is missing after so many steps creeps towards no closure.
_HEADWAY, _PATIENCE = 0.9, 15
#: Residuals below this (radians, or parts of the longest entries of their rows) count as closed.
CLOSED = 1e-10
#: And below this as nothing: a step would follow rounding, far where rows restrict nothing to first order.
_NOTHING = 1e-15
#: Loops that are redundant but for rounded numbers count as closed below this (radians, or parts of the longest entries
#: of their rows), and rows of which less than this part is left beside others as redundant.
ROUNDED = DEPENDENT
#: Singular values below this part of the largest are taken as zero where rows do not contradict each other.
RANK_TOLERANCE = 1e-10
#: How far along its motions a mechanism is moved to see whether rows contradict each other everywhere.
_TRIAL = 0.01
#: How far a place that closes exactly may lie from one that closes but for rounding.
_NEAR = 1e-2
#: How far beside the given positions a search begins again.
_BESIDE = (0.03, 0.1, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0)
#: And how far where frames should be parallel: from more than a quarter turn away rows lead elsewhere.
_FURTHER = (1.5, 2.0, 2.5, 3.0) * 8


@dataclass(frozen=True)
class Assembled:
    """Positions that fit (`closed`), or the nearest that were found; `residual` is what is missing row by row, in the
    units of the conditions that were given.

    rounded: rows contradict each other by no more than rounded numbers do, and what they miss is least.
    """

    q: Floats
    residual: Floats
    steps: int
    closed: bool
    turned_round: bool = False
    rounded: bool = False

    @property
    def fits(self) -> bool:
        """Whether nothing is missing, and no frame is turned away from the one it should be parallel to."""
        return self.closed and not self.turned_round

    @property
    def miss(self) -> float:
        """The largest residual."""
        return _largest(self.residual)


def assembled_positions(conditions: Conditions, q: Floats, weights: Floats, tolerance: float = 1e-12) -> Assembled:
    """Positions with value(q) = 0 near q. Displacements of zero weight are held; others move by their weight.

    A stretched position has no first-order way out; where the search ends open, or with frames that are turned
    away from each other, it begins again a little beside it, then further away.
    """
    measured = conditions.measured(q)
    best = _searched(measured, q, weights, tolerance)
    random = np.random.default_rng(11)
    for size in (*_BESIDE, *(_FURTHER if conditions.facing(q).size else ())):
        if best.fits:
            break
        aside = beside(measured, q, np.where(weights > 0, random.normal(0, size, len(weights)), 0.0))
        best = min(best, _searched(measured, aside, weights, tolerance), key=_worse)
    return replace(best, residual=best.residual * measured.row_sizes)


def beside(conditions: Conditions, q: Floats, displacement: Floats) -> Floats:
    """Positions beside others; coordinates that no row contains stay."""
    aside = conditions.moved(q, displacement)
    tied = np.any((conditions.jacobian(q) != 0) | (conditions.jacobian(aside) != 0), axis=0)
    return conditions.moved(q, np.where(tied, displacement, 0.0))


def _worse(one: Assembled) -> tuple[bool, bool, float]:
    return not one.fits, one.turned_round, one.miss


def searched(conditions: Conditions, q: Floats, weights: Floats, tolerance: float = 1e-12) -> Assembled:
    """Like assembled_positions, from this place alone."""
    measured = conditions.measured(q)
    found = _searched(measured, q, weights, tolerance)
    return replace(found, residual=found.residual * measured.row_sizes)


def _searched(conditions: Conditions, q: Floats, weights: Floats, tolerance: float) -> Assembled:
    found = _closed_but_for_rounding(conditions, q, weights, tolerance)
    return replace(found, turned_round=found.closed and conditions.turned_round(found.q))


def _closed_but_for_rounding(conditions: Conditions, q: Floats, weights: Floats, tolerance: float) -> Assembled:
    """Steps that leave alone what rounding alone decides; then exact ones, unless rows contradict each other."""
    first = _newton(conditions, q, weights, tolerance, ROUNDED)
    if _missing(conditions, first.q, first.residual) <= tolerance or not np.isfinite(first.residual).all():
        return first
    exact = first
    if _leaves_alone(conditions, first.q, weights):
        exact = _newton(conditions, first.q, weights, tolerance, RANK_TOLERANCE)
    if not _is_small(conditions, first):
        return exact
    if exact.closed and _largest((exact.q - first.q) / conditions.position_sizes) <= _NEAR:
        return exact
    if _contradicts_everywhere(conditions, first, tolerance):
        return replace(first, closed=True, rounded=True)
    return exact


def _leaves_alone(conditions: Conditions, q: Floats, weights: Floats) -> bool:
    """Whether there are directions that rounding may decide, and that exact steps would take."""
    sizes = np.linalg.svd(conditions.jacobian(q)[conditions.by_position] * weights, compute_uv=False)
    largest = float(sizes.max(initial=0.0))
    return bool(np.any((sizes > RANK_TOLERANCE * largest) & (sizes <= ROUNDED * largest)))


def closed_beside(conditions: Conditions, q: Floats) -> Floats:
    """Positions near some that almost fit, by steps that leave alone what rounding alone decides."""
    return _newton(conditions.measured(q), q, np.ones(len(conditions.sizes)), CLOSED, ROUNDED).q


def _is_small(conditions: Conditions, place: Assembled) -> bool:
    """Whether no row misses more than rounded numbers do."""
    usual = usual_lengths(np.linalg.norm(conditions.jacobian(place.q), axis=1), conditions.names)
    return bool(np.all(np.abs(place.residual) <= ROUNDED * np.minimum(usual, 1.0)[: len(place.residual)]))


def _missing(conditions: Conditions, q: Floats, residual: Floats) -> float:
    """The largest residual beside what its row could be here."""
    return _largest(residual / conditions.largest_entries(conditions.jacobian(q)))


def _contradicts_everywhere(conditions: Conditions, place: Assembled, tolerance: float) -> bool:
    """Whether no displacement takes away what rows miss, also after the mechanism has moved as they allow it to.

    A chain that is stretched and too short moves back; values that are held may be moved instead.
    """
    if not _is_least(conditions, place):
        return False
    jacobian = conditions.jacobian(place.q)[conditions.by_position]
    aim = np.asarray(np.random.default_rng(5).normal(size=jacobian.shape[1]))
    inverse = np.linalg.pinv(jacobian, rcond=ROUNDED)
    step = aim - inverse @ (jacobian @ aim)
    length = _largest(step)
    if length <= 1e-9 * _largest(aim):
        return True
    aside = conditions.moved(place.q, step * (_TRIAL / length))
    # Redundant rows look independent off the motion: return to it in the directions that restrict the mechanism here.
    for _ in range(3):
        aside = conditions.moved(aside, -inverse @ conditions.value(aside)[conditions.by_position])
    moved = _newton(conditions, aside, np.ones(len(aim)), tolerance, ROUNDED)
    return _is_small(conditions, moved) and _largest((moved.q - aside) / conditions.position_sizes) <= _TRIAL / 2


def _is_least(conditions: Conditions, place: Assembled) -> bool:
    rows = conditions.by_position
    jacobian, residual = conditions.jacobian(place.q)[rows], place.residual[rows]
    taken = jacobian @ np.linalg.lstsq(jacobian, residual, rcond=ROUNDED)[0]
    return _length(taken) <= 1e-3 * _length(residual)


def _newton(conditions: Conditions, q: Floats, weights: Floats, tolerance: float, rank: float) -> Assembled:
    residual, rows = conditions.value(q), conditions.by_position
    before = np.inf
    if _missing(conditions, q, residual) <= _NOTHING:
        return Assembled(q, residual, 0, True)
    for count in range(MOST_STEPS):
        if not np.isfinite(residual).all():
            return Assembled(q, residual, count, False)
        step = _least_step(conditions.jacobian(q)[rows], residual[rows], weights, rank)
        q, after, advanced = _advance(conditions, q, residual, step)
        missing = _missing(conditions, q, after)
        small = missing <= tolerance
        if small and (not advanced or _largest(step) <= 1e-9):
            return Assembled(q, after, count + 1, True)
        if not advanced or (_largest(step) <= 1e-13 and not small):
            return Assembled(q, after, count + 1, missing <= CLOSED)
        residual = after
        if count % _PATIENCE == 0:
            if not _length(residual) < _HEADWAY * before:
                return Assembled(q, residual, count + 1, missing <= CLOSED)
            before = _length(residual)
    return Assembled(q, residual, MOST_STEPS, _missing(conditions, q, residual) <= CLOSED)


def _least_step(jacobian: Floats, residual: Floats, weights: Floats, rank: float) -> Floats:
    """The shortest weighted displacement that removes the residual to first order."""
    scaled = np.linalg.lstsq(jacobian * weights, -residual, rcond=rank)[0]
    return np.asarray(weights * scaled)


def _advance(conditions: Conditions, q: Floats, residual: Floats, step: Floats) -> tuple[Floats, Floats, bool]:
    """The step, or as much of it as makes the residual smaller."""
    size = _largest(step)
    if size == 0.0:
        return q, residual, False
    part = min(1.0, LARGEST_STEP / size)
    before = _length(residual)
    while part > 1e-9:
        candidate = conditions.moved(q, part * step)
        after = conditions.value(candidate)
        if _length(after) < before:
            return candidate, after, True
        part /= 2
    return q, residual, False


def _largest(x: Floats) -> float:
    """The largest size of an entry. A method is called in half the time of NumPy's function: searches ask often."""
    return float(np.abs(x).max(initial=0.0))


def _length(x: Floats) -> float:
    return sqrt(x.dot(x))


def consistent_velocities(
    conditions: Conditions, q: Floats, v: Floats, weights: Floats, rounded: bool = False
) -> Floats:
    """Velocities with rate(q, v) = 0 near v; those of zero weight are held.

    rounded: rows contradict each other by rounding, and would stop the motion they allow: they are met but for that.
    """
    measured = conditions.measured(q)
    missing = measured.rate(q, v / measured.sizes)
    if missing.size == 0:
        return v
    step = _least_step(measured.jacobian(q), missing, weights, ROUNDED if rounded else RANK_TOLERANCE)
    return v + step * measured.sizes
