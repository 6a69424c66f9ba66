"""Linear systems of rows that are not symmetric: elimination in an order that is fixed when the graph is made.

A graph cannot choose pivots by their size, so the columns to solve for are chosen beforehand, at a state. Entries that
are exactly zero are skipped, which keeps the blocks of separate loops separate.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar


class Elimination:
    """A square matrix in triangular form, ready to be solved with. `names` are of the unknowns, for errors."""

    def __init__(self, matrix: Square, names: Sequence[str]) -> None:
        self._names = names
        self._u = [list(row) for row in matrix]
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
        if not present:
            raise DerivationError(f"the constraints do not determine {self._names[column]}: choose other coordinates")
        return min(present, key=lambda row: (not self._u[self._order[row]][column].static, row))

    def _subtract(self, source: int, target: int, column: int, ratio: Scalar) -> None:
        self._steps.append((source, target, ratio))
        for k in range(column + 1, len(self._u)):
            if not self._u[source][k].is_zero:
                self._u[target][k] = self._u[target][k] - ratio * self._u[source][k]

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
            x[column] = total * self._inverse[column]
        return x
