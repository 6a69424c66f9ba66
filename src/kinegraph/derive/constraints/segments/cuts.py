"""The forces at the cuts between segments: a block-tridiagonal system, eliminated from both ends towards one cut.

What is left at that cut is the compliance of the whole loop when only that joint is open, J H^-1 J^T of the multiplier
form: it alone becomes singular where the loop does, and its pivots measure how far that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.algebra import sum_of_products
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar


class _Eliminated:
    """A cut taken out; `columns` are, for every direction of the next cut, the entries here."""

    def __init__(self, block: Square, columns: Square, right: Sequence[Scalar]) -> None:
        self._factors = Factorised(block, range(len(block)), ["a cut"] * len(block))
        self._coupling = [self._factors.solve_upper(column) for column in columns]
        self._right = self._factors.solve_upper(right)

    @cached_property
    def _scaled(self) -> Square:
        """The coupling with signs changed, ready to be taken off."""
        return [[-item for item in self._factors.scaled(row)] for row in self._coupling]

    def taken_off(self, block: Square) -> Square:
        """The block of the next cut less what this one takes up."""
        size = len(block)
        lower = [
            [sum_of_products(self._coupling[i], self._scaled[j], block[i][j]) for j in range(i + 1)]
            for i in range(size)
        ]
        return [[lower[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]

    def taken_off_right(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The right side of the next cut less what this one takes up."""
        return [sum_of_products(row, self._right, item) for row, item in zip(self._scaled, right, strict=True)]

    def forces(self, following: Sequence[Scalar]) -> list[Scalar]:
        """The forces here, from those at the next cut."""
        against = [-force for force in following]
        columns = zip(*self._coupling, strict=True)
        upper = [sum_of_products(column, against, item) for column, item in zip(columns, self._right, strict=True)]
        return self._factors.solve_lower(upper)


class Cuts:
    """`diagonal[k]` and `right[k]` belong to cut k, `coupling[k][i][j]` joins row i of cut k to column j of cut k + 1.

    `compliance` and `remaining` are what is left of block and right side at the cut `last`.
    """

    def __init__(
        self, diagonal: Sequence[Square], coupling: Sequence[Square], right: Sequence[Sequence[Scalar]], last: int
    ) -> None:
        columns = [[list(column) for column in zip(*block, strict=True)] for block in coupling]
        self._before = _eliminated(diagonal[:last], columns[:last], right[:last])
        self._after = _eliminated(diagonal[:last:-1], coupling[last:][::-1], right[:last:-1])
        self.compliance, self.remaining = diagonal[last], list(right[last])
        for one in self._before[-1:] + self._after[-1:]:
            self.compliance = one.taken_off(self.compliance)
            self.remaining = one.taken_off_right(self.remaining)

    def forces(self, at_last: Sequence[Scalar]) -> list[list[Scalar]]:
        """The forces at all cuts, from those at the cut that was kept for the end."""
        before, after = _recovered(self._before, at_last), _recovered(self._after, at_last)
        return [*before[::-1], list(at_last), *after]


def _eliminated(
    diagonal: Sequence[Square], columns: Sequence[Square], right: Sequence[Sequence[Scalar]]
) -> list[_Eliminated]:
    found: list[_Eliminated] = []
    for block, coupling, side in zip(diagonal, columns, right, strict=True):
        for one in found[-1:]:
            block, side = one.taken_off(block), one.taken_off_right(side)
        found.append(_Eliminated(block, coupling, side))
    return found


def _recovered(eliminated: Sequence[_Eliminated], at_last: Sequence[Scalar]) -> list[list[Scalar]]:
    found, following = [], at_last
    for one in reversed(eliminated):
        following = one.forces(following)
        found.append(following)
    return found
