"""A X = B at many times: what is determined, and by how much A is singular.

Whether A is singular is judged by its entries as parts of the largest of their column (and, over several times, of
their row) at any time: a column that vanishes at one time is small there, and not because of its unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from kinegraph.derive.constraints.rank import row_rank
from kinegraph.errors import TaskError
from kinegraph.tasks.linear.tangent import solved_columns
from kinegraph.tasks.operating_point import Floats

#: Singular values below this part of the largest count as zero.
_RANK = 1e-10
#: A is called near-singular at times where its singular values are this far apart.
NEAR_SINGULAR = 1e-3
#: Equations are violated where more is missing than this part of their terms.
_MISSING = 1e-8


@dataclass(frozen=True, eq=False)
class ForceEquations:
    """A and B of a tree at every time; with loops, J dq = 0 at every time, along the motions these allow.

    measured: the coordinates whose equations are kept. With loops they are independent, and forces on them do the same
    work as forces on all: what is missing in an equation is missing on that coordinate.
    """

    times: Floats
    full_a: Floats
    full_b: Floats
    jacobians: Floats | None
    measured: tuple[int, ...]

    @cached_property
    def pair(self) -> tuple[Floats, Floats]:
        """A and B by the coordinates that are measured."""
        if self.jacobians is None:
            return self.full_a, self.full_b
        both = np.concatenate([self.full_a, self.full_b[:, :, None]], axis=2)
        bases = tangents(self.jacobians)
        rows = [
            np.linalg.solve(basis[list(self.measured)].T, basis.T @ one) for basis, one in zip(bases, both, strict=True)
        ]
        return np.array(rows)[:, :, :-1], np.array(rows)[:, :, -1]

    @cached_property
    def scaled(self) -> tuple[Floats, Floats]:
        """A whose columns and rows have no units, in orthonormal directions; and the sizes of the columns."""
        columns = _sizes(self.full_a, axis=(0, 1))
        even = self.full_a / columns
        rows = _sizes(even, axis=(0, 2)) if len(self.times) > 1 else np.ones(even.shape[1])
        even = even / rows[:, None]
        if self.jacobians is None:
            return even, columns
        bases = tangents(self.jacobians / rows)
        return np.array([basis.T @ one for basis, one in zip(bases, even, strict=True)]), columns


def tangents(jacobians: Floats) -> list[Floats]:
    """Orthonormal bases of the motions that rows allow, each with the sense of the one before."""
    found: list[Floats] = []
    for jacobian in jacobians:
        basis = np.asarray(null_space(jacobian, rcond=1e-9))
        if found and basis.shape != found[-1].shape:
            raise TaskError("the motion passes a singular position of the loops: leave its time out")
        if found and basis.size and np.linalg.det(found[-1].T @ basis) < 0:
            basis[:, 0] *= -1
        found.append(basis)
    return found


def independent_coordinates(jacobian: Floats, first: list[int]) -> tuple[int, ...]:
    """Coordinates that determine all motions the rows allow: as many of the first as do, then others."""
    order = list(dict.fromkeys([*first, *solved_columns(jacobian)[0], *range(jacobian.shape[1])]))
    basis = np.asarray(null_space(jacobian, rcond=1e-9))
    return tuple(order[k] for k in row_rank(basis[order], tolerance=1e-9).independent)


def _sizes(values: Floats, axis: tuple[int, int]) -> Floats:
    sizes = np.max(np.abs(values), axis=axis, initial=0.0)
    return np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True)
class Missing:
    """The time at which most is missing beside the terms of its equation; singular: whether A has less rank there."""

    time: float
    singular: bool


@dataclass(frozen=True)
class Solved:
    """X at every time; determinate: by unknown; residual: the largest |A X - B|; missing: None if that is rounding.

    near_singular: times at which A is nearly singular, or next to which it becomes singular; crossings: pairs of times
    between which it becomes singular.
    """

    values: Floats
    determinate: tuple[bool, ...]
    residual: float
    missing: Missing | None
    near_singular: Floats
    crossings: tuple[tuple[float, float], ...]

    def require_possible(self, least_squares: bool = False) -> None:
        """TaskError if no X satisfies the equations."""
        if self.missing is None or least_squares:
            return
        remedy = "mark more forces as unknown, e.g. tau:NAME for every driven coordinate, or ask for least squares"
        if self.missing.singular:
            remedy = "the position is singular for these unknowns: leave this time out, or choose others"
        raise TaskError(
            f"these unknowns cannot cause this motion: {self.residual:.3g} N (N m) are missing in some equation\n"
            f"  at t = {self.missing.time:.6g}; {remedy}"
        )


def solved(equations: ForceEquations, least_norm: bool) -> Solved:
    """Solutions of least squares and least norm; NaN where X is not determined, unless least_norm.

    Least squares: of what is missing on the coordinates that are measured. Least norm: of X in its own units.
    """
    times, (a, b), (scaled, columns) = equations.times, equations.pair, equations.scaled
    size = a.shape[2]
    values, determinate = np.full((len(times), size), np.nan), np.ones(size, dtype=bool)
    _, sizes, vectors = np.linalg.svd(scaled, full_matrices=True)
    ranks = np.sum(sizes > _RANK * _usual_size(sizes), axis=1)
    residual, worst, missing = 0.0, 1.0, None
    for k, (matrix, right, rank) in enumerate(zip(a, b, ranks.tolist(), strict=True)):
        seen, unseen = vectors[k, :rank].T, vectors[k, rank:]
        directions = seen / columns[:, None]
        solution = directions @ np.linalg.lstsq(matrix @ directions, right, rcond=None)[0]
        free = np.any(np.abs(unseen) > 1e-9, axis=0)
        determinate &= ~free
        values[k] = _shortest(solution, seen, columns) if least_norm else np.where(free, np.nan, solution)
        lacking = float(np.max(np.abs(matrix @ solution - right), initial=0.0))
        terms = float(np.max(np.abs(matrix) @ np.abs(solution) + np.abs(right), initial=0.0))
        residual = max(residual, lacking)
        if lacking > worst * _MISSING * max(1.0, terms):
            worst = lacking / (_MISSING * max(1.0, terms))
            missing = Missing(float(times[k]), rank < min(a.shape[1:]))
    near, crossings = _near_singular(times, scaled, sizes, int(np.max(ranks, initial=0)))
    return Solved(values, tuple(determinate.tolist()), residual, missing, near, crossings)


def _usual_size(sizes: Floats) -> float:
    """What singular values are compared with: the largest at any time; at a single time no less than a whole column."""
    largest = float(np.max(sizes, initial=0.0))
    return max(largest, 1.0 if len(sizes) == 1 else 1e-300)


def _shortest(solution: Floats, seen: Floats, columns: Floats) -> Floats:
    """The solution without its part in the directions that A does not see."""
    unseen = null_space((seen * columns[:, None]).T, rcond=1e-12)
    return np.asarray(solution - unseen @ (unseen.T @ solution))


def _near_singular(
    times: Floats, scaled: Floats, sizes: Floats, rank: int
) -> tuple[Floats, tuple[tuple[float, float], ...]]:
    """Times at which A nearly loses rank; and steps of time in which a square A changes its sign, and so loses it."""
    near = np.zeros(len(times), dtype=bool)
    if rank:
        near = sizes[:, rank - 1] < NEAR_SINGULAR * _usual_size(sizes)
    crossed: list[int] = []
    if rank == scaled.shape[1] == scaled.shape[2]:
        signs = np.linalg.slogdet(scaled)[0]
        crossed = np.flatnonzero(signs[:-1] * signs[1:] < 0).tolist()
    for k in crossed:
        near[k] = near[k + 1] = True
    return times[near], tuple((float(times[k]), float(times[k + 1])) for k in crossed)
