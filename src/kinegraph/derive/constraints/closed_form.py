"""Loops with closed forms: choose the dependent coordinates, solve for their rates, derive the reduced equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from math import prod
from typing import TypeAlias

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.dyads import DyadSolution, Substitution, closed_form_solution, rod_solution
from kinegraph.derive.constraints.partitioning import Elimination, Partition, PartitionedSystem
from kinegraph.derive.constraints.trigonometric_polynomials import GIVEN, NoClosedForm, SineCosine, Unknowns
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof import prove
from kinegraph.model.constraints import Constraint, Coupling, Loop

# ---- The choice of the coordinates that each loop determines

#: The number of choices that are tried.
_MOST_TRIES = 2000
#: There is no closed form of loops with more rows.
_MOST_ROWS = 3


@dataclass(frozen=True)
class ClosedFormBlock:
    """Rows by their place among the active rows, the velocities they determine, and the closed form."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    solutions: tuple[DyadSolution, ...]


@dataclass(frozen=True)
class _LoopEquations:
    """One loop or constraint: its rows, their velocities (`columns`), and the coordinates that occur in them.

    The axes of a loop may rotate with more coordinates than the loop depends on.
    """

    constraint: Loop | Coupling | Constraint
    rows: tuple[int, ...]
    columns: frozenset[int]
    mentioned: frozenset[int]


class ClosedFormChoice:
    """The search for one mechanism; rows: the active rows; symbols: those of ordinary coordinates.

    A loop with r rows may determine r of its coordinates if it has a closed form in them. Coordinates of that loop only
    are tried first, then those that come last in the model, because models name their drives first. A coordinate that
    one loop takes as known must not be determined by a later loop.
    """

    def __init__(
        self,
        equations: ConstraintEquations,
        rows: Sequence[ConstraintRow],
        names: Sequence[str],
        symbols: dict[int, int],
    ) -> None:
        self.equations, self.rows = equations, rows
        self._symbol_of = {column: symbol for symbol, column in symbols.items()}
        constraints = (*equations.mechanism.loops, *equations.mechanism.constraints)
        self._loops = [self._loop_equations(one, names) for one in constraints]
        self._known: dict[tuple[int, tuple[int, ...]], tuple[DyadSolution, ...] | None] = {}
        self._left = _MOST_TRIES

    def _loop_equations(self, constraint: Loop | Coupling | Constraint, names: Sequence[str]) -> _LoopEquations:
        own = constraint.name
        rows = [k for k, name in enumerate(names) if name == own or name.startswith(f"{own}.")]
        columns = {c for k in rows for c, entry in enumerate(self.rows[k].jacobian) if not entry.is_zero}
        values = [self.rows[k].zero_value().index for k in rows]
        nodes = {index for value in values for index in below(self.equations.builder, value)}
        mentioned = {column for column, symbol in self._symbol_of.items() if symbol in nodes}
        return _LoopEquations(constraint, tuple(rows), frozenset(columns), frozenset(columns | mentioned))

    def blocks(self) -> list[ClosedFormBlock] | None:
        """A block for every loop, in an order in which each can be solved; None if there is no such choice."""
        if any(row.value is None for row in self.rows):
            return None
        waiting = [k for k, loop in enumerate(self._loops) if loop.rows]
        if any(len(self._loops[k].rows) > _MOST_ROWS for k in waiting):
            return None
        return self._extended([], waiting, frozenset())

    def _extended(
        self, found: list[ClosedFormBlock], waiting: list[int], used: frozenset[int]
    ) -> list[ClosedFormBlock] | None:
        """used: coordinates that earlier loops determine or take as known."""
        if not waiting:
            return found
        ranked = sorted((one for k in waiting for one in self._candidates(k, used)), key=lambda one: one[0])
        for _, k, columns in ranked:
            self._left -= 1
            if self._left < 0:
                return None
            solutions = self._solutions(k, columns)
            if solutions is not None:
                block = ClosedFormBlock(self._loops[k].rows, columns, solutions)
                rest = [other for other in waiting if other != k]
                whole = self._extended([*found, block], rest, used | self._loops[k].mentioned)
                if whole is not None:
                    return whole
        return None

    def _candidates(self, k: int, used: frozenset[int]) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        loop = self._loops[k]
        free = sorted(c for c in loop.columns - used if c in self._symbol_of)
        for columns in combinations(free, len(loop.rows)):
            shared = sum(column in other.columns for other in self._loops for column in columns)
            yield (shared, *(-column for column in reversed(columns))), k, columns

    def _solutions(self, k: int, columns: tuple[int, ...]) -> tuple[DyadSolution, ...] | None:
        if (k, columns) not in self._known:
            self._known[k, columns] = self._new(k, columns)
        return self._known[k, columns]

    def _new(self, k: int, columns: tuple[int, ...]) -> tuple[DyadSolution, ...] | None:
        loop = self._loops[k]
        symbols = frozenset(self._symbol_of[column] for column in columns)
        try:
            if len(loop.rows) < _MOST_ROWS:
                values = [self.rows[row].zero_value() for row in loop.rows]
                return (closed_form_solution(Unknowns(self.equations.builder, symbols), values),)
            if isinstance(loop.constraint, Loop):
                return tuple(rod_solution(self.equations, loop.constraint, symbols))
        except NoClosedForm:
            pass
        return None


# ---- The rates that loops determine

Sample: TypeAlias = Sequence[Sequence[float]]

#: At a dead point the square of a determinant is below this fraction of the product of its columns' squares.
_DEAD_POINT = Fraction(1, 10**10)
#: Larger blocks have too many cofactors.
_MOST_COFACTORS = 3


class BlockElimination:
    """Solves the rows of one loop after the other for the velocities it determines, each by its determinant.

    A determinant vanishes only at the dead points of its loop; a pivot may vanish at other positions too.

    columns: all determined velocities, in order. sample: the entries at some state, if known, for blocks that are too
    large for cofactors. determinants: known determinants of blocks by their columns, guarded by the caller.
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
        self._blocks = [_BlockSolver(jacobian, block, sample, known.get(block.columns)) for block in blocks]
        self._columns = columns

    def determinants(self) -> dict[tuple[int, ...], Scalar]:
        """The determinants of all blocks, by their columns."""
        return {solver.block.columns: solver.determinant for solver in self._blocks}

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with jacobian x = right, for the determined velocities; the others are zero."""
        found: dict[int, Scalar] = {}
        for solver in self._blocks:
            sides = []
            for row in solver.block.rows:
                entries = self._jacobian[row]
                sides.append(sum((-(entries[c] * x) for c, x in found.items()), right[row]))
            found.update(zip(solver.block.columns, solver.solve(sides), strict=True))
        return [found[column] for column in self._columns]


def triangular_blocks(matrix: Square) -> list[ClosedFormBlock]:
    """The block-triangular form of a square matrix: groups of rows and columns, in the order of their solution."""
    size = len(matrix)
    from scipy.sparse import csr_array  # takes a third of a second, so only if it is needed
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    present = csr_array([[int(not entry.is_zero) for entry in row] for row in matrix])
    column_of = maximum_bipartite_matching(present, perm_type="column")
    if (column_of < 0).any():
        raise DerivationError("quasi-velocities and constraints do not determine all velocities: choose other ones")
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


class _BlockSolver:
    """Solves one block: by cofactors up to three rows, otherwise by elimination."""

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


# ---- Equations in independent coordinates


@dataclass(frozen=True)
class Dyads:
    """Loops with closed forms in the order of their solution. rows: the active rows. names: the velocities."""

    builder: GraphBuilder
    blocks: tuple[ClosedFormBlock, ...]
    rows: Sequence[ConstraintRow]
    names: Sequence[str]

    @cached_property
    def dependent(self) -> tuple[int, ...]:
        """The indices of the velocities that loops determine."""
        return tuple(sorted(column for block in self.blocks for column in block.columns))

    @property
    def independent(self) -> tuple[str, ...]:
        """The velocities that determine all others."""
        return tuple(name for k, name in enumerate(self.names) if k not in self.dependent)

    def partition(self, jacobian: Square, closed: bool = False) -> PartitionedSystem:
        """The equations of motion in independent coordinates, from rows in any axes, in the same order.

        closed: the result will be written in closed form.
        """
        known = self._placeholders if closed else None
        elimination = BlockElimination(jacobian, self.blocks, self.dependent, determinants=known)
        return PartitionedSystem(jacobian, Partition(self.dependent), self.names, elimination=elimination)

    @cached_property
    def solutions(self) -> list[DyadSolution]:
        """The closed forms, in independent coordinates only."""
        found: list[DyadSolution] = []
        for block in self.blocks:
            for one in block.solutions:
                found.append(self._rewritten(one, Substitution(self.builder, found)))
        return [self._rewritten(one, self._as_given) for one in found]

    @staticmethod
    def _rewritten(solution: DyadSolution, write: Substitution) -> DyadSolution:
        turns = {angle: SineCosine(*write(turn)) for angle, turn in solution.turns.items()}
        values = dict(zip(solution.values, write(list(solution.values.values())), strict=True))
        root = None if solution.root is None else write([solution.root])[0]
        return DyadSolution(solution.angles, turns, values, root)

    @cached_property
    def _determinants(self) -> dict[tuple[int, ...], Scalar]:
        """The determinants that equal products of roots of closed forms, which are known before the angles."""
        wanted = self._products
        elimination = BlockElimination([list(row.jacobian) for row in self.rows], self.blocks, self.dependent)
        whole = elimination.determinants() if wanted else {}
        written = Substitution(self.builder, self.solutions)([whole[columns] for columns, _ in wanted])
        found = {}
        for (columns, root), determinant in zip(wanted, written, strict=True):
            for candidate in (root, -root):
                if prove(self._graph(determinant), self._graph(candidate)):
                    found[columns] = candidate
        return found

    @cached_property
    def _placeholders(self) -> dict[tuple[int, ...], Scalar]:
        """Temporary symbols for these determinants, so that the roots keep their branch."""
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
        """The product of the roots of every block that has roots."""
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
    def _as_given(self) -> Substitution:
        """Replaces the symbols of given coordinates, which determine the branch of roots."""
        meant = {}
        for index, node in enumerate(tuple(self.builder.nodes)):
            if isinstance(node, Symbol) and node.name.startswith(GIVEN):
                meant[index] = Scalar(self.builder, self.builder.symbol(node.kind, node.name.removeprefix(GIVEN)))
        return Substitution(self.builder, [], meant)

    @cached_property
    def rates(self) -> dict[int, Scalar]:
        """The dependent velocities, by symbol."""
        v = [Scalar(self.builder, self.builder.symbol(Kind.VELOCITY, name)) for name in self.names]
        still = Substitution(self.builder, [], {one.index: one.number(0) for one in v})
        drift = still([row.rate for row in self.rows])
        free = [k for k in range(len(v)) if k not in self.dependent]
        right = [-sum((row.jacobian[k] * v[k] for k in free), d) for row, d in zip(self.rows, drift, strict=True)]
        jacobian = [list(row.jacobian) for row in self.rows]
        elimination = BlockElimination(jacobian, self.blocks, self.dependent, determinants=self._placeholders)
        found = Substitution(self.builder, self.solutions, self._roots)(elimination.solve(right))
        return {v[k].index: rate for k, rate in zip(self.dependent, found, strict=True)}

    @cached_property
    def _written(self) -> Substitution:
        return Substitution(self.builder, self.solutions, self.rates | self._roots)

    def written(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """Scalars in independent coordinates and velocities only; NoClosedForm if this takes half an angle."""
        return self._written(scalars)
