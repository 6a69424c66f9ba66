"""Coordinate partitioning: eliminate the dependent velocities and project the equations of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from kinegraph.derive.constraints.conditions import NEARLY_DEPENDENT
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar

#: A row can be the pivot row if its entry has this fraction of the largest entry at the known state.
_ENOUGH = 1e-3


class Elimination:
    """The triangular form of an unsymmetric matrix, with a fixed order of pivots.

    A graph cannot choose pivots by size at run time, so they are chosen when it is derived. Exact zeros are skipped,
    which keeps the blocks of separate loops separate. Other entries may vanish identically without being recognized
    (sums that cancel because of sin^2 + cos^2 = 1). Therefore rows are chosen by numerical values, if these are known.

    names: the unknowns, for errors. sample: the matrix in numbers at some state.
    """

    def __init__(self, matrix: Square, names: Sequence[str], sample: Sequence[Sequence[float]] | None = None) -> None:
        self._names = names
        self._u = [list(row) for row in matrix]
        self._numbers = None if sample is None else [list(row) for row in sample]
        self._rows = [list(row) for row in matrix]
        self._order = list(range(len(matrix)))
        self._steps: list[tuple[int, int, Scalar]] = []
        self.pivots: list[Scalar] = []
        self._inverse: list[Scalar] = []
        for column in range(len(matrix)):
            self._eliminate(column)

    def _eliminate(self, column: int) -> None:
        row = self._pivot_row(column)
        self._order[column], self._order[row] = self._order[row], self._order[column]
        pivot = self._u[self._order[column]][column]
        self.pivots.append(pivot)
        self._inverse.append(pivot.reciprocal())
        for below in self._order[column + 1 :]:
            entry = self._u[below][column]
            if not entry.is_zero:
                self._subtract(self._order[column], below, column, entry * self._inverse[-1])

    def _pivot_row(self, column: int) -> int:
        """The first row with a nonzero entry, preferably a static one, because dividing by it is free."""
        rows = range(column, len(self._u))
        present = [row for row in rows if not self._u[self._order[row]][column].is_zero]
        if self._numbers is not None and present:
            sizes = {row: abs(self._numbers[self._order[row]][column]) for row in present}
            present = [row for row in present if sizes[row] >= _ENOUGH * max(sizes.values())]
        if not present:
            raise DerivationError(
                f"the constraints do not determine {self._names[column]}: choose other dependent coordinates"
            )
        return min(present, key=lambda row: (not self._u[self._order[row]][column].static, row))

    def _subtract(self, source: int, target: int, column: int, ratio: Scalar) -> None:
        self._steps.append((source, target, ratio))
        for k in range(column + 1, len(self._u)):
            if not self._u[source][k].is_zero:
                self._u[target][k] = self._u[target][k] - ratio * self._u[source][k]
        if self._numbers is not None:
            self._subtract_numbers(self._numbers[source], self._numbers[target], column)

    @staticmethod
    def _subtract_numbers(source: list[float], target: list[float], column: int) -> None:
        ratio = target[column] / source[column] if source[column] else 0.0
        for k in range(column, len(source)):
            target[k] -= ratio * source[k]

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with matrix x = right."""
        b = list(right)
        for source, target, ratio in self._steps:
            b[target] = b[target] - ratio * b[source]
        x: list[Scalar] = [b[0]] * len(b) if b else []
        for column in range(len(b) - 1, -1, -1):
            row = self._order[column]
            total = b[row]
            for k in range(column + 1, len(b)):
                total = total - self._u[row][k] * x[k]
            x[column] = total * self._guarded[column]
        return x

    @cached_property
    def _guarded(self) -> list[Scalar]:
        """The reciprocals of the pivots; NaN if a pivot is below NEARLY_DEPENDENT relative to its original row."""
        least = self._inverse[0].number(Fraction(str(NEARLY_DEPENDENT)) ** 2)
        found = []
        for column, (pivot, inverse) in enumerate(zip(self.pivots, self._inverse, strict=True)):
            first, *others = (entry * entry for entry in self._rows[self._order[column]] if not entry.is_zero)
            found.append(inverse.apply("guarded", pivot * pivot - least * sum(others, first)))
        return found


@dataclass(frozen=True)
class Partition:
    """The indices of the dependent velocities, as many as there are independent rows."""

    dependent: tuple[int, ...]

    def independent(self, size: int) -> tuple[int, ...]:
        """The other velocities."""
        return tuple(index for index in range(size) if index not in self.dependent)


class DependentSolver(Protocol):
    """Solves rows for the dependent velocities."""

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The solution for a right-hand side."""
        ...


class LeastSquares:
    """Solves rows chosen by position by normal equations: no fixed order of pivots suits them everywhere."""

    def __init__(self, jacobian: Square, partition: Partition, names: Sequence[str]) -> None:
        self._columns = [[row[k] for row in jacobian] for k in partition.dependent]
        matrix = [[_sum_of_products(a, b) for b in self._columns] for a in self._columns]
        found = Factorized(matrix, range(len(matrix)), [names[k] for k in partition.dependent])
        least = Fraction(str(NEARLY_DEPENDENT)) ** 2
        room = {k: found.pivots[k] - least * matrix[k][k] for k in range(len(matrix))}
        self._system = found.guarded(room)

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The solution for a right-hand side."""
        return self._system.solve([_sum_of_products(column, right) for column in self._columns])


class ReducedSystem:
    """The equations of motion A u' = f with A = B^T H B, one for each degree of freedom: a = B u' + offset."""

    #: The names of u, for errors.
    reduced_names: Sequence[str]

    @cached_property
    def map(self) -> Square:
        """B, with rows by velocity and columns by entries of u."""
        raise NotImplementedError

    def offset(self, gamma: Sequence[Scalar]) -> list[Scalar]:
        """Accelerations of all coordinates at u' = 0."""
        raise NotImplementedError

    def project(self, force: Sequence[Scalar]) -> list[Scalar]:
        """B^T f: the generalized forces on u."""
        columns = zip(*self.map, strict=True)
        return [_sum_of_products(column, force) for column in columns]

    def inertia(self, inertia: Square) -> Square:
        """A = B^T H B."""
        half = [[_sum_of_products(row, column) for column in zip(*self.map, strict=True)] for row in inertia]
        columns = list(zip(*half, strict=True))
        count = len(self.reduced_names)
        projected = [self.project(column) for column in columns]
        return [[projected[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]

    def accelerations(self, inertia: Square, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """All accelerations, from the generalized forces f (minus the bias)."""
        offset = self.offset(gamma)
        if not self.reduced_names:  # constraints and time determine the motion
            return offset
        remaining = [item - _sum_of_products(row, offset) for item, row in zip(force, inertia, strict=True)]
        system = Factorized(self.inertia(inertia), range(len(self.reduced_names)), self.reduced_names)
        solved = system.solve(self.project(remaining))
        return [_sum_of_products(row, solved) + extra for row, extra in zip(self.map, offset, strict=True)]


class PartitionedSystem(ReducedSystem):
    """The equations of motion in independent coordinates: v = B u + c, and B^T projects the forces.

    With J_d p' + J_i u = -drift the dependent rows of B are -J_d^-1 J_i. sample: the entries of the rows at some state,
    if known. elimination: the solver of the rows; by default `Elimination`.
    """

    def __init__(
        self,
        jacobian: Square,
        partition: Partition,
        names: Sequence[str],
        sample: Sequence[Sequence[float]] = (),
        elimination: DependentSolver | None = None,
    ) -> None:
        self.size = len(names)
        self.dependent = partition.dependent
        self.independent = partition.independent(self.size)
        self._jacobian = jacobian
        self._names = names
        self.reduced_names = [names[k] for k in self.independent]
        self.elimination: DependentSolver = elimination or self._elimination(sample)

    def _elimination(self, sample: Sequence[Sequence[float]]) -> Elimination:
        numbers = [[row[k] for k in self.dependent] for row in sample] if sample and all(sample) else None
        matrix = [[row[k] for k in self.dependent] for row in self._jacobian]
        return Elimination(matrix, [self._names[k] for k in self.dependent], numbers)

    @cached_property
    def map(self) -> Square:
        """B, with rows by velocity and columns by independent velocity."""
        like = self._jacobian[0][0]
        rows = [[like.number(0)] * len(self.independent) for _ in range(self.size)]
        for column, index in enumerate(self.independent):
            rows[index][column] = like.number(1)
            solved = self.elimination.solve([-row[index] for row in self._jacobian])
            for dependent, entry in zip(self.dependent, solved, strict=True):
                rows[dependent][column] = entry
        return rows

    def offset(self, gamma: Sequence[Scalar]) -> list[Scalar]:
        """Accelerations of all coordinates if those of the independent ones are zero."""
        zero = gamma[0].number(0)
        found = [zero] * self.size
        for dependent, entry in zip(self.dependent, self.elimination.solve(gamma), strict=True):
            found[dependent] = entry
        return found


def _sum_of_products(first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
    total = first[0].number(0)
    for a, b in zip(first, second, strict=True):
        if not (a.is_zero or b.is_zero):
            total = total + a * b
    return total
