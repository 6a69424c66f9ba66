"""Forward dynamics by the inertia matrix: the factorisation H = L^T D L, which keeps the zeros of a tree's H.

Featherstone's factorisation runs from the tips to the base, so a branch never fills in another; zeros are exact zeros
of the graph, so no list of branches is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.displacements import Motion
from kinegraph.errors import MasslessError
from kinegraph.graph.scalar import Scalar


def base_to_tip(motion: Motion) -> list[int]:
    """Velocity indices ordered so that what moves a link comes before what moves its children."""
    first: dict[int, int] = {}
    for link, columns in enumerate(motion.columns):
        for column in columns:
            for index in column:
                first.setdefault(index, link)
    return sorted(range(len(motion.velocities)), key=lambda index: (first.get(index, 0), index))


class LinearSystem(NamedTuple):
    """What solving takes besides numbers: the order of the unknowns, and the pairs (i, j) with an entry L_ij."""

    order: tuple[int, ...]
    lower: tuple[tuple[int, int], ...]


class Factorised:
    """A symmetric positive definite matrix ready to be solved with; `names` are of the velocities, for errors."""

    def __init__(self, matrix: Square, order: Sequence[int], names: Sequence[str]) -> None:
        self.order = order
        self.lower, self.inverse = _factorise([list(row) for row in matrix], order, names)

    @property
    def pivots(self) -> dict[int, Scalar]:
        """What was divided by, by index."""
        return {index: self.lower[index][index] for index in self.order}

    def guarded(self, room: Mapping[int, Scalar]) -> Factorised:
        """The same factors; solutions are no numbers where a `room`, by index, is below zero."""
        found = copy(self)
        found.inverse = {
            index: one.apply("guarded", room[index]) if index in room else one for index, one in self.inverse.items()
        }
        return found

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with matrix x = right."""
        return self.solve_lower(self.solve_upper(right))

    def solve_upper(self, right: Sequence[Scalar]) -> list[Scalar]:
        """y with L^T y = right."""
        y, order, lower = list(right), self.order, self.lower
        for position in range(len(order) - 1, -1, -1):
            i = order[position]
            for j in order[:position]:
                y[j] = y[j] - lower[i][j] * y[i]
        return y

    def solve_lower(self, upper: Sequence[Scalar]) -> list[Scalar]:
        """x with D L x = upper."""
        x = [self.inverse[i] * item for i, item in enumerate(upper)]
        for position, i in enumerate(self.order):
            for j in self.order[:position]:
                x[i] = x[i] - self.lower[i][j] * x[j]
        return x

    def scaled(self, upper: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 times L^-T a."""
        return [item * self.inverse[index] for index, item in enumerate(upper)]

    def weighted(self, first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
        """a^T matrix^-1 b, from L^-T a and L^-T b."""
        total = first[0].number(0)
        for index in range(len(first)):
            if not (first[index].is_zero or second[index].is_zero):
                total = total + first[index] * second[index] * self.inverse[index]
        return total

    def system(self) -> LinearSystem:
        """Where L has entries."""
        pairs = [
            (i, j)
            for position, i in enumerate(self.order)
            for j in self.order[:position]
            if not self.lower[i][j].is_zero
        ]
        return LinearSystem(tuple(self.order), tuple(pairs))

    def solve_columns(self, right: Square) -> Square:
        """X with matrix X = right."""
        columns = [self.solve(column) for column in zip(*right, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    def inverted(self) -> Square:
        """The inverse, by columns; of each only what the symmetry does not tell."""
        size = len(self.order)
        one, zero = self.lower[0][0].number(1), self.lower[0][0].number(0)
        matrix = self.solve_columns([[one if i == j else zero for j in range(size)] for i in range(size)])
        place = {index: position for position, index in enumerate(self.order)}
        for i in range(size):
            for j in range(size):
                if place[i] > place[j]:
                    matrix[i][j] = matrix[j][i]
        return matrix


def _factorise(h: Square, order: Sequence[int], names: Sequence[str]) -> tuple[Square, dict[int, Scalar]]:
    inverse: dict[int, Scalar] = {}
    for position in range(len(order) - 1, -1, -1):
        k = order[position]
        if h[k][k].is_zero:
            raise MasslessError(names[k])
        inverse[k] = h[k][k].reciprocal()
        below = [i for i in order[:position] if not h[k][i].is_zero]
        ratios = {i: h[k][i] * inverse[k] for i in below}
        for place, i in enumerate(below):
            for j in below[: place + 1]:
                h[i][j] = h[j][i] = h[i][j] - ratios[i] * h[k][j]
        for i in below:
            h[k][i] = ratios[i]
    return h, inverse
