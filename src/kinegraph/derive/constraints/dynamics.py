"""The motion of a constrained mechanism: accelerations and multipliers from its rows, its inertia and its forces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.constraints.analysis import Analysis, entries_at
from kinegraph.derive.constraints.multipliers import ConstrainedSystem
from kinegraph.derive.constraints.overconstrained.by_position import ChosenRow, rows_by_position
from kinegraph.derive.constraints.partition import LeastSquares, Partition, PartitionedSystem
from kinegraph.derive.constraints.ties import TieRow, Ties
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.node import Output
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Loop, row_names
from kinegraph.model.expression import Expression


class ConstrainedDynamics:
    """One mechanism's constraints in one derivation.

    Rows that are empty, or that the analysis names redundant, do not take part: the motion does not determine their
    multipliers, which are given as zero. Where rows follow from others in changing ways, those that take part are
    chosen by position.
    """

    def __init__(
        self, ties: Ties, inertia: Callable[[], Factorised], analysis: Analysis, bound: Mapping[str, Expression]
    ) -> None:
        self.analysis = analysis
        self.ties = ties.in_own_axes(_told_by_name(ties, analysis))
        self._factorised = inertia
        self._bound = bound

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
        """The rows that take part; of rows that are chosen by position as many as are independent stand for them."""
        redundant = self._left_out
        return [k for k, row in enumerate(self.rows) if not row.is_empty and row.name not in redundant]

    @property
    def _left_out(self) -> frozenset[str]:
        """The names of redundant rows in the axes rows are computed in here."""
        counted = {name for loop in self._counted for name in row_names(loop)[:3]}
        return self.analysis.redundant - counted

    @cached_property
    def _counted(self) -> list[Loop]:
        """Loops on moving bodies whose points are compared in the ancestor's axes: rows that say nothing are empty."""
        return [loop for loop in self.ties.loops_on_moving_bodies() if not self.ties.has_own_axes(loop)]

    @cached_property
    def _chosen(self) -> dict[int, tuple[ChosenRow, list[int]]]:
        """The rows that are chosen by position, by the place they stand for, with the places they are chosen from."""
        found: dict[int, tuple[ChosenRow, list[int]]] = {}
        for cluster in self.analysis.clusters:
            among = [k for k, row in enumerate(self.rows) if row.name in cluster.rows and not row.is_empty]
            places = [k for k in self.places if k in among]
            names = [self.rows[k].name for k in places]
            rows = rows_by_position([self.rows[k] for k in among], names, cluster)
            found |= {place: (row, among) for place, row in zip(places, rows, strict=True)}
        return found

    @cached_property
    def taken(self) -> list[TieRow]:
        """Those rows themselves."""
        return [self._chosen[k][0].row if k in self._chosen else self.rows[k] for k in self.places]

    @cached_property
    def system(self) -> ConstrainedSystem:
        """The linear system of the rows that take part."""
        names = [row.name for row in self.taken]
        sizes = {index: self._chosen[k][0].size for index, k in enumerate(self.places) if k in self._chosen}
        return ConstrainedSystem(self.inertia, [list(row.jacobian) for row in self.taken], names, sizes)

    @cached_property
    def gamma(self) -> list[Scalar]:
        """What J a has to be."""
        return [-row.bias for row in self.taken]

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
        found = self.spread(multipliers, 0)
        for k, (one, among) in self._chosen.items():
            multiplier = multipliers[self.places.index(k)]
            found[k] = found[k] - multiplier
            for place, weight in zip(among, one.weights, strict=True):
                found[place] = found[place] + weight * multiplier
        return self.ties.in_stated_axes(found)

    def increments(self) -> Square:
        """By velocity and stated row: what the dependent coordinates move to take away one unit that the row misses."""
        like = self.ties.layout.tree.like
        size = range(len(self.places))
        columns = [self.partition.offset([like.number(-1 if k == one else 0) for k in size]) for one in size]
        by_velocity = zip(*columns, strict=True) if columns else [[]] * len(self.ties.mechanism.layout.velocities)
        return [self.in_stated_axes(list(row)) for row in by_velocity]

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
        jacobian = [list(row.jacobian) for row in self.taken]
        if self._chosen:
            return PartitionedSystem(jacobian, dependent, names, elimination=LeastSquares(jacobian, dependent, names))
        return PartitionedSystem(jacobian, dependent, names, self._entries)

    @property
    def _entries(self) -> Sequence[Sequence[float]]:
        """The entries of the rows that take part at the state the analysis knows; in the axes they are computed in."""
        if not self._counted:
            sample = dict(self.analysis.sample)
            return [sample.get(self.rows[k].name, ()) for k in self.places]
        nodes = tuple(entry.index for row in self.taken for entry in row.jacobian)
        graph = self.ties.builder.graph([Output("rows", (len(nodes),), nodes)])
        mechanism = self.ties.mechanism
        return [*entries_at(mechanism, self._bound, graph, self.analysis.place).reshape(len(self.places), -1).tolist()]

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


def _told_by_name(ties: Ties, analysis: Analysis) -> Iterator[str]:
    """Loops on moving bodies with redundant rows, or rows that are chosen by position, that the axes their ancestor is
    computed in do not show as empty: names mean rows in the axes of the first frame."""
    if not analysis.redundant:
        return
    clustered = {name for cluster in analysis.clusters for name in cluster.rows}
    for loop in ties.loops_on_moving_bodies():
        names = row_names(loop)[:3]
        present = sum(not row.is_empty for row in ties.loop_rows(loop)[:3])
        if present != sum(name not in analysis.redundant for name in names) or not clustered.isdisjoint(names):
            yield loop.name
