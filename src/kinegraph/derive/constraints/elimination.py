"""Linear systems of rows that are not symmetric: elimination in an order that is fixed when the graph is made.

A graph cannot choose pivots by their size, so the columns to solve for are chosen beforehand, at a state. Entries that
are exactly zero are skipped, which keeps the blocks of separate loops separate. Others may be zero without showing it
(sums that cancel by the circle's equation): where numbers at a state are known, rows are chosen by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.constraints.rank import NEARLY_DEPENDENT
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar

#: A row serves as pivot if its entry has this part of the largest at the state that is known.
_ENOUGH = 1e-3


class Elimination:
    """A square matrix in triangular form, ready to be solved with.

    names: of the unknowns, for errors; sample: the matrix in numbers at some state.
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
        """The first row with an entry: a number where there is one, for dividing by it costs nothing."""
        rows = range(column, len(self._u))
        present = [row for row in rows if not self._u[self._order[row]][column].is_zero]
        if self._numbers is not None and present:
            sizes = {row: abs(self._numbers[self._order[row]][column]) for row in present}
            present = [row for row in present if sizes[row] >= _ENOUGH * max(sizes.values())]
        if not present:
            raise DerivationError(f"the constraints do not determine {self._names[column]}: choose other coordinates")
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
        """One over the pivots; no numbers where a pivot is below NEARLY_DEPENDENT beside the row it is left of."""
        least = self._inverse[0].number(Fraction(str(NEARLY_DEPENDENT)) ** 2)
        found = []
        for column, (pivot, inverse) in enumerate(zip(self.pivots, self._inverse, strict=True)):
            first, *others = (entry * entry for entry in self._rows[self._order[column]] if not entry.is_zero)
            found.append(inverse.apply("guarded", pivot * pivot - least * sum(others, first)))
        return found
