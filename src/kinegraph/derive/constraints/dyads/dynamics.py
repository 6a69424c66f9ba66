"""A mechanism whose loops have closed forms: its equations in independent coordinates alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.constraints.dyads.blocks import BlockElimination
from kinegraph.derive.constraints.dyads.choice import Block
from kinegraph.derive.constraints.dyads.solutions import Solution
from kinegraph.derive.constraints.dyads.unknowns import GIVEN, NoClosedForm, Turn
from kinegraph.derive.constraints.dyads.written import Written
from kinegraph.derive.constraints.partition import Partition, PartitionedSystem
from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Symbol
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

    def partition(self, jacobian: Square) -> PartitionedSystem:
        """The equations of motion in independent coordinates, from rows in any axes of the same order."""
        elimination = BlockElimination(jacobian, self.blocks, self.dependent)
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
        return Solution(solution.angles, turns, values)

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
        elimination = BlockElimination([list(row.jacobian) for row in self.rows], self.blocks, self.dependent)
        found = Written(self.builder, self.solutions)(elimination.solve(right))
        return {v[k].index: rate for k, rate in zip(self.dependent, found, strict=True)}

    @cached_property
    def _written(self) -> Written:
        return Written(self.builder, self.solutions, self.rates)

    def written(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """Scalars in independent coordinates and velocities alone; NoClosedForm where half an angle would be needed."""
        return self._written(scalars)


__all__ = ["Dyads", "NoClosedForm"]
