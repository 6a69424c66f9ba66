"""The equations A X = B of unknown forces: form them as one graph, and solve them at many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import derived
from kinegraph.derive.constraints.conditions import row_rank
from kinegraph.errors import DerivationError, TaskError
from kinegraph.model.constraints import Unknown
from kinegraph.model.elements import Input
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.tasks.operating_point import Floats, called_rows, kernel_of
from kinegraph.tasks.tangent_space import solved_columns

# A X = B by one of two methods (KiDyM). The old method derives the complete equations U(q, v, a, X) and differentiates
# them: B = U at X = 0, A = -dU/dX. The new method sorts the elements: those with an unknown contribute to
# A = W^T dR/dX, all others to B.

#: The quantities of the new method, and of the old one.
MATRIX, KNOWN = "A_unknown", "B_unknown"
FORCES, SLOPES = "tau", "d(tau)/d(all:u)"


class Formation(Enum):
    """How A and B are formed."""

    OLD = "old"
    NEW = "new"

    @property
    def quantities(self) -> tuple[str, str]:
        """What A follows from, and B."""
        return (SLOPES, FORCES) if self is Formation.OLD else (MATRIX, KNOWN)


def with_inputs(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """The model with unknowns as inputs: free inputs for the named ones, zero for the others."""
    declared = (Input(one.name, None if one.name in names else ZERO) for one in mechanism.unknowns)
    return replace(mechanism, inputs=(*mechanism.inputs, *declared), unknowns=())


def with_unknowns(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """The model whose unknowns are the named inputs, in this order; its own others are zero."""
    driven = with_inputs(mechanism, names)
    others = tuple(one for one in driven.inputs if one.name not in names)
    return replace(driven, inputs=others, unknowns=tuple(map(Unknown, inputs_among(mechanism, names))))


def inputs_among(mechanism: Mechanism, names: Sequence[str]) -> list[str]:
    """The named inputs and unknowns; other names are forces on coordinates."""
    return [name for name in names if name in mechanism.layout.inputs]


def force_matrices(
    mechanism: Mechanism,
    names: Sequence[str],
    way: Formation,
    parameters: Mapping[str, Scalar] | None,
    values: Mapping[str, Floats | float],
) -> tuple[Floats, Floats]:
    """A, with a row for every velocity and a column for every name, and B, of a tree for rows of states."""
    tree = replace(with_unknowns(mechanism, names), loops=(), constraints=())
    inputs, forces = [one.name for one in tree.unknowns], tree.layout.forces
    wanted = way.quantities if inputs else (FORCES,)
    _require_linear(tree, mechanism)
    found = called_rows(kernel_of(tree, wanted, parameters), {**values, "u": np.zeros(len(inputs))})
    b = found[wanted[-1]]
    a = np.zeros((len(b), len(forces), len(names)))
    for k, name in enumerate(names):
        if name in inputs:
            column = found[wanted[0]][:, :, inputs.index(name)]
            a[:, :, k] = -column if way is Formation.OLD else column
        else:
            a[:, forces.index(name), k] = 1
    return a, b


def _require_linear(tree: Mechanism, given: Mechanism) -> None:
    """TaskError if A depends on an unknown. Those that the model declares are linear; a free input may be anything."""
    if all(one in given.unknowns for one in tree.unknowns):
        return
    try:
        derived(request_of(tree, MATRIX))
    except DerivationError as error:
        raise TaskError(str(error)) from None


# Solution of A X = B at many times: which unknowns are determined, and how singular A is. Entries of A are judged
# relative to the largest of their column (and, over several times, of their row) at any time: a column that vanishes at
# one time is then small, whatever its unit.

#: Singular values below this fraction of the largest count as zero.
_RANK = 1e-10
#: A is near-singular at times where the ratio of its singular values is below this.
NEAR_SINGULAR = 1e-3
#: Equations are violated if the residual exceeds this fraction of their terms.
_MISSING = 1e-8


@dataclass(frozen=True, eq=False)
class ForceEquations:
    """A and B of a tree at every time; with loops, projected onto the motions with J dq = 0.

    measured: the coordinates whose equations are used. With loops they are independent, and forces on them do the
    same work as forces on all: a residual belongs to that coordinate.
    """

    times: Floats
    full_a: Floats
    full_b: Floats
    jacobians: Floats | None
    measured: tuple[int, ...]

    @cached_property
    def pair(self) -> tuple[Floats, Floats]:
        """A and B by measured coordinate."""
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
        """A with dimensionless columns and rows, in orthonormal directions; and the sizes of the columns."""
        columns = _sizes(self.full_a, axis=(0, 1))
        even = self.full_a / columns
        rows = _sizes(even, axis=(0, 2)) if len(self.times) > 1 else np.ones(even.shape[1])
        even = even / rows[:, None]
        if self.jacobians is None:
            return even, columns
        bases = tangents(self.jacobians / rows)
        return np.array([basis.T @ one for basis, one in zip(bases, even, strict=True)]), columns


def tangents(jacobians: Floats) -> list[Floats]:
    """Orthonormal bases of the motions that rows allow, with consistent signs."""
    found: list[Floats] = []
    for rows in jacobians:
        basis = np.asarray(null_space(rows, rcond=1e-9))
        if found and basis.shape != found[-1].shape:
            raise TaskError("the motion crosses a singular position of the loops: omit this time")
        if found and basis.size and np.linalg.det(found[-1].T @ basis) < 0:
            basis[:, 0] *= -1
        found.append(basis)
    return found


def independent_coordinates(jacobian: Floats, first: list[int]) -> tuple[int, ...]:
    """Coordinates that determine all motions the rows allow: as many of the first as possible, then others."""
    order = list(dict.fromkeys([*first, *solved_columns(jacobian)[0], *range(jacobian.shape[1])]))
    basis = np.asarray(null_space(jacobian, rcond=1e-9))
    return tuple(order[k] for k in row_rank(basis[order], tolerance=1e-9).independent)


def _sizes(values: Floats, axis: tuple[int, int]) -> Floats:
    sizes = np.max(np.abs(values), axis=axis, initial=0.0)
    return np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True)
class Missing:
    """The time with the largest residual relative to the terms of its equation; singular: whether A loses rank
    there."""

    time: float
    singular: bool


@dataclass(frozen=True)
class Solved:
    """X at every time. determinate: by unknown. residual: the largest |A X - B|. missing: None if that is a rounding
    error.

    near_singular: times at or next to which A is singular or nearly so. crossings: pairs of times between which it
    becomes singular.
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
        remedy = "mark more forces as unknown, e.g. tau:NAME for every driven coordinate, or request least squares"
        if self.missing.singular:
            remedy = "the position is singular for these unknowns: omit this time, or choose other unknowns"
        raise TaskError(
            f"these unknowns cannot cause this motion: an equation has a residual of {self.residual:.3g} N "
            "(N m)\n"
            f"  at t = {self.missing.time:.6g}; {remedy}"
        )


def solved(equations: ForceEquations, least_norm: bool) -> Solved:
    """Solutions of least squares and least norm; NaN where X is not determined, unless least_norm.

    Least squares: of the residuals on the measured coordinates. Least norm: of X in its own units.
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
    """The reference for singular values: the largest at any time; at a single time at least a whole column."""
    largest = float(np.max(sizes, initial=0.0))
    return max(largest, 1.0 if len(sizes) == 1 else 1e-300)


def _shortest(solution: Floats, seen: Floats, columns: Floats) -> Floats:
    """The solution without its part in the null space of A."""
    unseen = null_space((seen * columns[:, None]).T, rcond=1e-12)
    return np.asarray(solution - unseen @ (unseen.T @ solution))


def _near_singular(
    times: Floats, scaled: Floats, sizes: Floats, rank: int
) -> tuple[Floats, tuple[tuple[float, float], ...]]:
    """Times at which A nearly loses rank; and time steps in which the determinant of a square A changes sign."""
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
