"""Loops with closed forms: select the dependent coordinates, solve for their rates, and derive the reduced
equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from math import prod
from typing import TypeAlias

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.dyads import DyadSolution, Written, solved, solved_rod
from kinegraph.derive.constraints.partitioning import Elimination, Partition, PartitionedSystem
from kinegraph.derive.constraints.trigonometric_polynomials import GIVEN, NoClosedForm, SineCosine, Unknowns
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof import prove
from kinegraph.model.constraints import Constraint, Coupling, Loop

# Which coordinates each loop determines in closed form, and in what order.
#
# A loop with r rows may determine r of the coordinates it contains, if it is one of the known forms in them. Those that
# belong to it alone are tried first, then those the model names last: drives come first. A coordinate that another loop
# took as known must not be determined later.

#: So many ways to share coordinates out are looked at.
_MOST_TRIES = 2000
#: A loop with more rows than these has no known form.
_MOST_ROWS = 3


@dataclass(frozen=True)
class ClosedFormBlock:
    """Rows by their place among those that take part, the velocities they determine, and the closed form."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    solutions: tuple[DyadSolution, ...]


@dataclass(frozen=True)
class _LoopEquations:
    """One loop or constraint: its rows, which velocities they contain, and which coordinates are written in them.

    The axes of a loop may turn with more coordinates than the loop depends on.
    """

    tie: Loop | Coupling | Constraint
    rows: tuple[int, ...]
    columns: frozenset[int]
    mentioned: frozenset[int]


class ClosedFormChoice:
    """The search for one mechanism; `rows` are those that take part, `symbols` those of ordinary coordinates."""

    def __init__(
        self, ties: ConstraintEquations, rows: Sequence[ConstraintRow], names: Sequence[str], symbols: dict[int, int]
    ) -> None:
        self.ties, self.rows = ties, rows
        self._symbol_of = {column: symbol for symbol, column in symbols.items()}
        self._ties = [self._tie(tie, names) for tie in (*ties.mechanism.loops, *ties.mechanism.constraints)]
        self._known: dict[tuple[int, tuple[int, ...]], tuple[DyadSolution, ...] | None] = {}
        self._left = _MOST_TRIES

    def _tie(self, tie: Loop | Coupling | Constraint, names: Sequence[str]) -> _LoopEquations:
        rows = [k for k, name in enumerate(names) if name == tie.name or name.startswith(f"{tie.name}.")]
        columns = {c for k in rows for c, entry in enumerate(self.rows[k].jacobian) if not entry.is_zero}
        values = [self.rows[k].zero_value().index for k in rows]
        nodes = {index for value in values for index in below(self.ties.builder, value)}
        mentioned = {column for column, symbol in self._symbol_of.items() if symbol in nodes}
        return _LoopEquations(tie, tuple(rows), frozenset(columns), frozenset(columns | mentioned))

    def blocks(self) -> list[ClosedFormBlock] | None:
        """A block for every loop, in an order in which each can be solved; None if there is no such choice."""
        if any(row.value is None for row in self.rows):
            return None
        waiting = [k for k, tie in enumerate(self._ties) if tie.rows]
        if any(len(self._ties[k].rows) > _MOST_ROWS for k in waiting):
            return None
        return self._extended([], waiting, frozenset())

    def _extended(
        self, found: list[ClosedFormBlock], waiting: list[int], used: frozenset[int]
    ) -> list[ClosedFormBlock] | None:
        """used: coordinates that loops before these determine or take as known."""
        if not waiting:
            return found
        ranked = sorted((one for k in waiting for one in self._candidates(k, used)), key=lambda one: one[0])
        for _, k, columns in ranked:
            self._left -= 1
            if self._left < 0:
                return None
            solutions = self._solutions(k, columns)
            if solutions is not None:
                block = ClosedFormBlock(self._ties[k].rows, columns, solutions)
                rest = [other for other in waiting if other != k]
                whole = self._extended([*found, block], rest, used | self._ties[k].mentioned)
                if whole is not None:
                    return whole
        return None

    def _candidates(self, k: int, used: frozenset[int]) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        tie = self._ties[k]
        free = sorted(c for c in tie.columns - used if c in self._symbol_of)
        for columns in combinations(free, len(tie.rows)):
            shared = sum(column in other.columns for other in self._ties for column in columns)
            yield (shared, *(-column for column in reversed(columns))), k, columns

    def _solutions(self, k: int, columns: tuple[int, ...]) -> tuple[DyadSolution, ...] | None:
        if (k, columns) not in self._known:
            self._known[k, columns] = self._new(k, columns)
        return self._known[k, columns]

    def _new(self, k: int, columns: tuple[int, ...]) -> tuple[DyadSolution, ...] | None:
        tie = self._ties[k]
        symbols = frozenset(self._symbol_of[column] for column in columns)
        try:
            if len(tie.rows) < _MOST_ROWS:
                values = [self.rows[row].zero_value() for row in tie.rows]
                return (solved(Unknowns(self.ties.builder, symbols), values),)
            if isinstance(tie.tie, Loop):
                return tuple(solved_rod(self.ties, tie.tie, symbols))
        except NoClosedForm:
            pass
        return None


# The rates that loops determine, loop by loop: small systems one after the other, each by its determinant.
#
# A determinant is zero in the dead points of its loop and nowhere else; a pivot of an elimination also where a bar
# happens to be level.

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
        blocks: Sequence[ClosedFormBlock],
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


def triangular_blocks(matrix: Square) -> list[ClosedFormBlock]:
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
    found = [ClosedFormBlock(tuple(one), tuple(int(column_of[k]) for k in one), ()) for one in rows]
    return _in_order(found, matrix)


def _in_order(blocks: Sequence[ClosedFormBlock], matrix: Square) -> list[ClosedFormBlock]:
    waiting, known, found = list(blocks), set[int](), list[ClosedFormBlock]()
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

    def __init__(self, jacobian: Square, block: ClosedFormBlock, sample: Sample | None, known: Scalar | None) -> None:
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


# A mechanism whose loops have closed forms: its equations in independent coordinates alone.


@dataclass(frozen=True)
class Dyads:
    """Loops in the order in which they are solved; `rows` are those that take part, `names` of the velocities."""

    builder: GraphBuilder
    blocks: tuple[ClosedFormBlock, ...]
    rows: Sequence[ConstraintRow]
    names: Sequence[str]

    @cached_property
    def dependent(self) -> tuple[int, ...]:
        """The velocities that loops determine, by index."""
        return tuple(sorted(column for block in self.blocks for column in block.columns))

    @property
    def independent(self) -> tuple[str, ...]:
        """The velocities all others follow from."""
        return tuple(name for k, name in enumerate(self.names) if k not in self.dependent)

    def partition(self, jacobian: Square, closed: bool = False) -> PartitionedSystem:
        """The equations of motion in independent coordinates, from rows in any axes of the same order.

        closed: they will be written in closed form.
        """
        known = self._placeholders if closed else None
        elimination = BlockElimination(jacobian, self.blocks, self.dependent, determinants=known)
        return PartitionedSystem(jacobian, Partition(self.dependent), self.names, elimination=elimination)

    @cached_property
    def solutions(self) -> list[DyadSolution]:
        """The closed forms, each in independent coordinates alone."""
        found: list[DyadSolution] = []
        for block in self.blocks:
            for one in block.solutions:
                found.append(self._rewritten(one, Written(self.builder, found)))
        return [self._rewritten(one, self._as_given) for one in found]

    @staticmethod
    def _rewritten(solution: DyadSolution, write: Written) -> DyadSolution:
        turns = {angle: SineCosine(*write(turn)) for angle, turn in solution.turns.items()}
        values = dict(zip(solution.values, write(list(solution.values.values())), strict=True))
        root = None if solution.root is None else write([solution.root])[0]
        return DyadSolution(solution.angles, turns, values, root)

    @cached_property
    def _determinants(self) -> dict[tuple[int, ...], Scalar]:
        """The determinants of loops' rates that are products of roots of closed forms: known before the angles are."""
        wanted = self._products
        elimination = BlockElimination([list(row.jacobian) for row in self.rows], self.blocks, self.dependent)
        whole = elimination.determinants() if wanted else {}
        written = Written(self.builder, self.solutions)([whole[columns] for columns, _ in wanted])
        found = {}
        for (columns, root), determinant in zip(wanted, written, strict=True):
            for candidate in (root, -root):
                if prove(self._graph(determinant), self._graph(candidate)):
                    found[columns] = candidate
        return found

    @cached_property
    def _placeholders(self) -> dict[tuple[int, ...], Scalar]:
        """Symbols that stand for these determinants until all is written: what tells the branch stays as given."""
        symbols = {columns: f"determinant {number}" for number, columns in enumerate(self._determinants)}
        return {
            columns: Scalar(self.builder, self.builder.symbol(Kind.COORDINATE, name))
            for columns, name in symbols.items()
        }

    @property
    def _roots(self) -> dict[int, Scalar]:
        return {one.index: self._determinants[columns] for columns, one in self._placeholders.items()}

    @property
    def _products(self) -> list[tuple[tuple[int, ...], Scalar]]:
        """The roots of every block that has some, multiplied."""
        found = []
        solutions = iter(self.solutions)
        for block in self.blocks:
            own = [one.root for one in islice(solutions, len(block.solutions)) if one.root is not None]
            if own:
                found.append((block.columns, prod(own[1:], start=own[0])))
        return found

    def _graph(self, scalar: Scalar) -> Graph:
        return self.builder.graph([Output("determinant", (1,), (scalar.index,))])

    @property
    def _as_given(self) -> Written:
        """Roots take the branch of the coordinates that are given."""
        meant = {}
        for index, node in enumerate(tuple(self.builder.nodes)):
            if isinstance(node, Symbol) and node.name.startswith(GIVEN):
                meant[index] = Scalar(self.builder, self.builder.symbol(node.kind, node.name.removeprefix(GIVEN)))
        return Written(self.builder, [], meant)

    @cached_property
    def rates(self) -> dict[int, Scalar]:
        """The dependent velocities by their symbols."""
        v = [Scalar(self.builder, self.builder.symbol(Kind.VELOCITY, name)) for name in self.names]
        still = Written(self.builder, [], {one.index: one.number(0) for one in v})
        drift = still([row.rate for row in self.rows])
        free = [k for k in range(len(v)) if k not in self.dependent]
        right = [-sum((row.jacobian[k] * v[k] for k in free), d) for row, d in zip(self.rows, drift, strict=True)]
        jacobian = [list(row.jacobian) for row in self.rows]
        elimination = BlockElimination(jacobian, self.blocks, self.dependent, determinants=self._placeholders)
        found = Written(self.builder, self.solutions, self._roots)(elimination.solve(right))
        return {v[k].index: rate for k, rate in zip(self.dependent, found, strict=True)}

    @cached_property
    def _written(self) -> Written:
        return Written(self.builder, self.solutions, self.rates | self._roots)

    def written(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """Scalars in independent coordinates and velocities alone; NoClosedForm where half an angle would be needed."""
        return self._written(scalars)
