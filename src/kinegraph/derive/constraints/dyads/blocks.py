"""The rates that loops determine, loop by loop: small systems one after the other, each by its determinant.

A determinant is zero in the dead points of its loop and nowhere else; a pivot of an elimination also where a bar
happens to be level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from kinegraph.derive.constraints.dyads.choice import Block
from kinegraph.derive.constraints.elimination import Elimination
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar

Sample: TypeAlias = Sequence[Sequence[float]]

#: The square of a determinant below this part of its columns' squares is that of a dead point.
_DEAD_POINT = Fraction(1, 10**10)
#: Larger blocks have too many cofactors.
_MOST_COFACTORS = 3


class BlockElimination:
    """Solves the rows of loops for the velocities each determines; `columns` are all of these, in order.

    sample: the entries at some state, if known, for blocks that are too large for cofactors. determinants: of blocks
    by their columns, where they are known by other means and guarded there.
    """

    def __init__(
        self,
        jacobian: Square,
        blocks: Sequence[Block],
        columns: Sequence[int],
        sample: Sample | None = None,
        determinants: Mapping[tuple[int, ...], Scalar] | None = None,
    ) -> None:
        self._jacobian = jacobian
        known = determinants or {}
        self._blocks = [_Small(jacobian, block, sample, known.get(block.columns)) for block in blocks]
        self._columns = columns

    def determinants(self) -> dict[tuple[int, ...], Scalar]:
        """The determinants of all blocks, by their columns."""
        return {small.block.columns: small.determinant for small in self._blocks}

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with jacobian x = right, by determined velocity; the others are zero."""
        found: dict[int, Scalar] = {}
        for small in self._blocks:
            sides = []
            for row in small.block.rows:
                entries = self._jacobian[row]
                sides.append(sum((-(entries[c] * x) for c, x in found.items()), right[row]))
            found.update(zip(small.block.columns, small.solve(sides), strict=True))
        return [found[column] for column in self._columns]


def triangular_blocks(matrix: Square) -> list[Block]:
    """Rows and columns of a square matrix in groups, each solvable after those before it: its block-triangular form."""
    size = len(matrix)
    from scipy.sparse import csr_array  # takes a third of a second: only where loops are partitioned
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    present = csr_array([[int(not entry.is_zero) for entry in row] for row in matrix])
    column_of = maximum_bipartite_matching(present, perm_type="column")
    if (column_of < 0).any():
        raise DerivationError("quasi-velocities and constraints together do not determine all velocities: name others")
    count, group = connected_components(present[:, column_of], connection="strong")
    rows = [[k for k in range(size) if group[k] == one] for one in range(count)]
    found = [Block(tuple(one), tuple(int(column_of[k]) for k in one), ()) for one in rows]
    return _in_order(found, matrix)


def _in_order(blocks: Sequence[Block], matrix: Square) -> list[Block]:
    waiting, known, found = list(blocks), set[int](), list[Block]()
    while waiting:
        for block in waiting:
            needed = {c for row in block.rows for c, entry in enumerate(matrix[row]) if not entry.is_zero}
            if needed <= known | set(block.columns):
                break
        waiting.remove(block)
        found.append(block)
        known |= set(block.columns)
    return found


class _Small:
    """A few rows: up to three by cofactors, more by elimination."""

    def __init__(self, jacobian: Square, block: Block, sample: Sample | None, known: Scalar | None) -> None:
        self.block = block
        self._known = known
        self._sample = sample
        self._matrix = [[jacobian[row][column] for column in block.columns] for row in block.rows]

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The velocities of the block."""
        size = range(len(right))
        if len(right) > _MOST_COFACTORS:
            return self._elimination.solve(right)
        sums = []
        for column in size:
            total = right[0].number(0)
            for row in size:
                if not self._cofactors[row][column].is_zero:
                    total = total + self._cofactors[row][column] * right[row]
            sums.append(total)
        return [total * self._inverse for total in sums]

    @cached_property
    def _elimination(self) -> Elimination:
        sample = self._sample and [[self._sample[r][c] for c in self.block.columns] for r in self.block.rows]
        return Elimination(self._matrix, ["a velocity"] * len(self._matrix), sample)

    @cached_property
    def determinant(self) -> Scalar:
        """The determinant of the block."""
        found = self._matrix[0][0].number(0)
        for entry, cofactor in zip(self._matrix[0], self._cofactors[0], strict=True):
            found = found + entry * cofactor
        return found

    @cached_property
    def _inverse(self) -> Scalar:
        if self._known is not None:
            return self._known.reciprocal()
        determinant = self.determinant
        scale = determinant.number(_DEAD_POINT)
        for column in zip(*self._matrix, strict=True):
            scale = scale * sum((entry * entry for entry in column[1:]), column[0] * column[0])
        return determinant.reciprocal().apply("guarded", determinant * determinant - scale)

    @cached_property
    def _cofactors(self) -> Square:
        m, size = self._matrix, len(self._matrix)
        if size == 1:
            return [[m[0][0].number(1)]]
        if size == 2:
            return [[m[1][1], -m[1][0]], [-m[0][1], m[0][0]]]
        turns = [[(k + 1) % 3, (k + 2) % 3] for k in range(3)]
        return [
            [m[a][c] * m[b][d] - m[a][d] * m[b][c] for c, d in turns]
            for a, b in turns
        ]  # fmt: skip
