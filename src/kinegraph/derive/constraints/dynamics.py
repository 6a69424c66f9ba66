"""The motion of a constrained mechanism: accelerations and multipliers from its rows, its inertia and its forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.constraints.analysis import Analysis
from kinegraph.derive.constraints.multipliers import ConstrainedSystem
from kinegraph.derive.constraints.partition import Partition, PartitionedSystem
from kinegraph.derive.constraints.ties import TieRow, Ties
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Loop


class ConstrainedDynamics:
    """One mechanism's constraints in one derivation.

    Rows that are empty, or that the analysis names redundant, do not take part: the motion does not determine their
    multipliers, which are given as zero.
    """

    def __init__(self, ties: Ties, inertia: Callable[[], Factorised], analysis: Analysis) -> None:
        self.ties = ties
        self._factorised = inertia
        self.analysis = analysis

    @cached_property
    def inertia(self) -> Factorised:
        """H, ready to be solved with."""
        return self._factorised()

    @cached_property
    def rows(self) -> list[TieRow]:
        """All rows as they are computed with."""
        return self.ties.rows()

    @cached_property
    def stated(self) -> list[TieRow]:
        """All rows as the model states them."""
        return self.ties.rows(stated=True)

    @cached_property
    def places(self) -> list[int]:
        """The rows that take part."""
        return [k for k, row in enumerate(self.rows) if not row.is_empty and row.name not in self.analysis.redundant]

    @property
    def taken(self) -> list[TieRow]:
        """Those rows themselves."""
        return [self.rows[k] for k in self.places]

    @cached_property
    def system(self) -> ConstrainedSystem:
        """The linear system of the rows that take part."""
        names = [row.name for row in self.taken]
        return ConstrainedSystem(self.inertia, [list(row.jacobian) for row in self.taken], names)

    @cached_property
    def gamma(self) -> list[Scalar]:
        """What J a has to be."""
        return [-self.rows[k].bias for k in self.places]

    def accelerations(self, force: Sequence[Scalar]) -> list[Scalar]:
        """a, from the generalized forces less the bias."""
        if not self.places:
            return self.inertia.solve(force)
        return self.system.accelerations(force, self.system.multipliers(force, self.gamma))

    def stabilised(self, force: Sequence[Scalar], alpha: float, beta: float) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda with rows that decay: value'' + 2 alpha value' + beta^2 value = 0 (Baumgarte)."""
        if not self.places:
            return self.inertia.solve(force), []
        rows = self.taken
        damped, drawn = rows[0].rate.number(Fraction(2 * alpha)), rows[0].rate.number(Fraction(beta) ** 2)
        gamma = [-(row.bias + damped * row.rate + drawn * row.zero_value()) for row in rows]
        multipliers = self.system.multipliers(force, gamma)
        return self.system.accelerations(force, multipliers), multipliers

    def proximal_accelerations(self, force: Sequence[Scalar]) -> list[Scalar]:
        """a, also where rows depend on each other: what all rows can agree on, with the least multipliers."""
        if not self.places:
            return self.inertia.solve(force)
        return self.system.accelerations(force, self.system.proximal_multipliers(force, self.gamma))

    def multipliers(self, force: Sequence[Scalar]) -> list[Scalar]:
        """For every stated row the force or moment its first frame exerts on the second."""
        return self.in_stated_axes(self.system.multipliers(force, self.gamma) if self.places else [])

    def in_stated_axes(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """The multipliers of the rows that take part as those of all stated rows."""
        return self.ties.in_stated_axes(self.spread(multipliers, 0))

    def increments(self) -> Square:
        """By velocity and stated row: what the dependent coordinates move to take away one unit that the row misses."""
        like = self.ties.layout.tree.like
        columns = []
        for taken in range(len(self.places)):
            unit = [like.number(-1 if k == taken else 0) for k in range(len(self.places))]
            columns.append(self.partition.offset(unit))
        still = [like.number(0)] * self.partition.size if self.places else []
        whole = [columns[self.places.index(k)] if k in self.places else still for k in range(len(self.rows))]
        return [self.ties.in_stated_axes(row) for row in zip(*whole, strict=True)]

    def closing_columns(self, loop: Loop, dependent: bool) -> Square:
        """A (by dependent velocities) or B (by the others, with the other sign) of a loop: A dp = B du + errors.

        Six rows: how the second frame moves against the first, along and about the axes of the first.
        """
        wanted = self.partition.dependent if dependent else self.partition.independent
        rows = self.ties.closing_rows(loop)
        zero = self.ties.layout.tree.like.number(0)
        return [
            [zero if k not in wanted else entry if dependent else -entry for k, entry in enumerate(row)] for row in rows
        ]

    @cached_property
    def partition(self) -> PartitionedSystem:
        """The dependent velocities by the independent ones."""
        names = self.ties.mechanism.layout.velocities
        dependent = Partition(self.analysis.dependent_of(names))
        if len(dependent.dependent) != len(self.places):
            raise DerivationError(
                f"{self.ties.mechanism.name}: which coordinates depend on the others is not known: "
                "give all parameters values, and an initial position that can be assembled"
            )
        sample = dict(self.analysis.sample)
        entries = [sample.get(self.rows[k].name, ()) for k in self.places]
        return PartitionedSystem([list(self.rows[k].jacobian) for k in self.places], dependent, names, entries)

    def on_independent(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Forces on the independent coordinates that do what these forces on all coordinates do."""
        if not self.places:
            return list(forces)
        found = [forces[0].number(0)] * len(forces)
        for index, force in zip(self.partition.independent, self.partition.project(forces), strict=True):
            found[index] = force
        return found

    def pivots(self) -> list[Scalar]:
        """For every row its pivot over its diagonal entry, 1 where it takes no part: near 0 it depends on others."""
        return self.spread(self.system.pivots() if self.places else [], 1)

    def jacobian(self) -> Square:
        """By stated row and velocity."""
        return [list(row.jacobian) for row in self.stated]

    def values(self) -> list[Scalar]:
        """What is missing to fit, by stated row; nothing for rows that restrict velocities only."""
        return [row.zero_value() for row in self.stated]

    def rates(self) -> list[Scalar]:
        """How fast what is missing changes, by stated row."""
        return [row.rate for row in self.stated]

    def row_accelerations(self, accelerations: Sequence[Scalar]) -> list[Scalar]:
        """What is missing by acceleration, by stated row: J a and what changes although velocities do not."""
        return [sum((j * a for j, a in zip(row.jacobian, accelerations, strict=True)), row.bias) for row in self.stated]

    def spread(self, found: Sequence[Scalar], other: int) -> list[Scalar]:
        """Entries of the rows that take part, among all rows; `other` for the rest."""
        like = self.ties.layout.tree.like
        entries = [like.number(other)] * len(self.rows)
        for place, entry in zip(self.places, found, strict=True):
            entries[place] = entry
        return entries
