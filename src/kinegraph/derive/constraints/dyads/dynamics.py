"""A mechanism whose loops have closed forms: its equations in independent coordinates alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod

from kinegraph.derive.constraints.dyads.blocks import BlockElimination
from kinegraph.derive.constraints.dyads.choice import Block
from kinegraph.derive.constraints.dyads.solutions import Solution
from kinegraph.derive.constraints.dyads.unknowns import GIVEN, NoClosedForm, Turn
from kinegraph.derive.constraints.dyads.written import Written
from kinegraph.derive.constraints.partition import Partition, PartitionedSystem
from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Dyads:
    """Loops in the order in which they are solved; `rows` are those that take part, `names` of the velocities."""

    builder: GraphBuilder
    blocks: tuple[Block, ...]
    rows: Sequence[TieRow]
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
    def solutions(self) -> list[Solution]:
        """The closed forms, each in independent coordinates alone."""
        found: list[Solution] = []
        for block in self.blocks:
            for one in block.solutions:
                found.append(self._rewritten(one, Written(self.builder, found)))
        return [self._rewritten(one, self._as_given) for one in found]

    @staticmethod
    def _rewritten(solution: Solution, write: Written) -> Solution:
        turns = {angle: Turn(*write(turn)) for angle, turn in solution.turns.items()}
        values = dict(zip(solution.values, write(list(solution.values.values())), strict=True))
        root = None if solution.root is None else write([solution.root])[0]
        return Solution(solution.angles, turns, values, root)

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


__all__ = ["Dyads", "NoClosedForm"]
