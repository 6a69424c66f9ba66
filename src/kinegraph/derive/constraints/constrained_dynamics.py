"""Dynamics with Lagrange multipliers: accelerations, multipliers, and the choice of independent rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.partitioning import LeastSquares, Partition, PartitionedSystem
from kinegraph.derive.constraints.redundancy import Analysis, Cluster, entries_at
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Output
from kinegraph.model.constraints import Loop, row_group, row_names
from kinegraph.model.expressions import Expression

# Accelerations and multipliers of a constrained mechanism: H a = f + J^T lambda, J a = gamma.
#
# With H = L^T D L from the tips to the base (`forward.py`), y = L^-T J^T keeps the zeros of the chains, and
# S = y^T D^-1 y is what the multipliers are solved from.

#: mu of the proximal solve, of the sum of the rows' own entries: far below them, far above their rounding.
_PROXIMAL = Fraction(1, 10**7)

#: Below this pivot a position is singular: accelerations and forces of constraints have hardly a digit.
SINGULAR_PIVOT = Fraction(1, 10**11)


def contradicting(rows: Sequence[str]) -> DerivationError:
    """Rows that depend on each other in a mechanism that cannot be assembled."""
    return DerivationError(
        f"the constraints {', '.join(rows)} follow from each other, or contradict each other\n"
        "  which of them could be left out is known where the mechanism can be assembled: check them, and the "
        "initial values"
    )


class ConstrainedSystem:
    """The linear system of constrained accelerations; `names` are of the rows, for errors.

    sizes: of rows that are chosen by position, by index, what no row chosen before them says (`overconstrained`).
    """

    def __init__(
        self,
        inertia: Factorized,
        jacobian: Square,
        names: Sequence[str],
        sizes: Mapping[int, Scalar] | None = None,
    ) -> None:
        self.inertia = inertia
        self.jacobian = jacobian
        self._names = names
        self._sizes = sizes or {}
        self._groups = [("", k) if k in self._sizes else row_group(name) for k, name in enumerate(names)]
        self._rows = [inertia.solve_upper(row) for row in jacobian]

    @cached_property
    def compliance(self) -> Square:
        """S = J H^-1 J^T: how the rows accelerate under unit multipliers."""
        count = len(self._rows)
        entries = [[self.inertia.weighted(self._rows[i], self._rows[j]) for j in range(i + 1)] for i in range(count)]
        return [[entries[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]

    @cached_property
    def factorised(self) -> Factorized:
        """S, ready to be solved with."""
        try:
            return Factorized(self.compliance, range(len(self._rows)), self._names)
        except DerivationError:
            raise contradicting(self._names) from None

    @cached_property
    def guarded(self) -> Factorized:
        """S, ready to be solved with; in singular positions there are no numbers."""
        found = guarded(self.compliance, self.factorised, self._groups)
        least = Fraction(SINGULAR_PIVOT)
        return found.guarded({k: size - least for k, size in self._sizes.items()}) if self._sizes else found

    def multipliers(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """lambda from the generalized forces f (bias taken off) and gamma."""
        return self.guarded.solve(self._right(force, gamma))

    def _right(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        upper = self.inertia.solve_upper(force)
        return [wanted - self.inertia.weighted(row, upper) for wanted, row in zip(gamma, self._rows, strict=True)]

    def proximal_multipliers(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """lambda by three solves with S + mu: (S + mu) l[k+1] = r + mu l[k], mu a small part of the rows' own entries.

        Directions that S does not see keep lambda = 0; the others lose mu/s to the third power.
        """
        right = self._right(force, gamma)
        own = [self.compliance[k][k] for k in range(len(right))]
        mu = sum(own[1:], own[0]) * own[0].number(_PROXIMAL)
        size = range(len(right))
        shifted = [[self.compliance[i][j] + mu if i == j else self.compliance[i][j] for j in size] for i in size]
        system = Factorized(shifted, size, self._names)
        found = system.solve(right)
        for _ in range(2):
            found = system.solve([item + mu * before for item, before in zip(right, found, strict=True)])
        return found

    def accelerations(self, force: Sequence[Scalar], multipliers: Sequence[Scalar]) -> list[Scalar]:
        """a = H^-1 (f + J^T lambda)."""
        upper = self.inertia.solve_upper(force)
        for row, multiplier in zip(self._rows, multipliers, strict=True):
            upper = [item + entry * multiplier for item, entry in zip(upper, row, strict=True)]
        return self.inertia.solve_lower(upper)

    def pivots(self) -> list[Scalar]:
        """For every row how independent the rows of its group are of those before them."""
        return pivots_of(self.compliance, self.factorised, self._groups)

    def row_pivots(self) -> list[Scalar]:
        """For every row its own pivot over the diagonal entries of its group: depends on the axes rows are taken in."""
        inverse = self.factorised.inverse
        return [(_group_sum(self.compliance, group) * inverse[i]).reciprocal() for i, group in _members(self._groups)]


def pivots_of(compliance: Square, factorised: Factorized, groups: Sequence[object]) -> list[Scalar]:
    """For every row the product of its group's pivots over that of their mean diagonal entry, between 0 and 1.

    A group are the rows of one loop and one unit (a row that is chosen by position is one of its own): their product
    does not depend on the axes they are taken in. Near 0 the rows depend on others, or nothing moves along one of
    them: the position is singular.
    """
    measures = {group: _measure(compliance, factorised, group) for _, group in _members(groups)}
    ratios = {group: pivots * scale.reciprocal() for group, (pivots, scale) in measures.items()}
    return [ratios[group] for _, group in _members(groups)]


def guarded(compliance: Square, factorised: Factorized, groups: Sequence[object]) -> Factorized:
    """S, ready to be solved with, but no numbers where a pivot (as `pivots_of`) is below SINGULAR_PIVOT."""
    room = {}
    for i, group in _members(groups):
        pivots, scale = _measure(compliance, factorised, group)
        room[i] = pivots - scale.number(SINGULAR_PIVOT) * scale
    return factorised.guarded(room)


def _members(groups: Sequence[object]) -> list[tuple[int, tuple[int, ...]]]:
    """Every row with the rows of its group."""
    return [(i, tuple(k for k, other in enumerate(groups) if other == own)) for i, own in enumerate(groups)]


def _measure(compliance: Square, factorised: Factorized, group: Sequence[int]) -> tuple[Scalar, Scalar]:
    """The product of the pivots of rows, and for comparison the product of as many mean diagonal entries."""
    pivots = factorised.pivots
    product = pivots[group[0]]
    for k in group[1:]:
        product = product * pivots[k]
    return product, (_group_sum(compliance, group) / len(group)) ** len(group)


def _group_sum(compliance: Square, group: Sequence[int]) -> Scalar:
    first, *others = (compliance[k][k] for k in group)
    return sum(others, first)


# Independent rows chosen by position, where rows of overconstrained loops follow from others in changing ways.
#
# At every position the row is taken of which most is left after those taken before it: Gram's matrix of the rows is
# eliminated with pivots on its diagonal. The choice is made by `select`, so it is made anew at every state.


@dataclass(frozen=True)
class ChosenRow:
    """The row that is taken; `weights`: by row of the cluster, 1 for the one it is and 0 for the others.

    size: the part of it that no row before it says, squared, beside rows of its kind.
    """

    row: ConstraintRow
    weights: tuple[Scalar, ...]
    size: Scalar


def rows_by_position(rows: Sequence[ConstraintRow], names: Sequence[str], cluster: Cluster) -> list[ChosenRow]:
    """As many of the rows as are independent, under these names."""
    like = rows[0].rate
    scales = [like.number(Fraction(cluster.scales[cluster.rows.index(row.name)])) for row in rows]
    left = _gram(rows, [like.number(Fraction(weight)) for weight in cluster.weights])
    units = [[like.number(int(k == i)) for k in range(len(rows))] for i in range(len(rows))]
    found = []
    for name in names:
        sizes = [scale * left[k][k] for k, scale in enumerate(scales)]
        entries = [_entries(row, units[k], left[k]) for k, row in enumerate(rows)]
        size, best = _largest(sizes, entries)
        row, (weights, column) = _row(name, rows[0], best), _parts(best, len(rows))
        found.append(ChosenRow(row, tuple(weights), size))
        pivot = _total([weight * entry for weight, entry in zip(weights, column, strict=True)])
        ratios = [entry * pivot.reciprocal() for entry in column]
        left = [
            [left[j][i] if j < i else left[i][j] - ratios[i] * column[j] for j in range(len(rows))]
            for i in range(len(rows))
        ]
        left = [[left[min(i, j)][max(i, j)] for j in range(len(rows))] for i in range(len(rows))]
    return found


def _gram(rows: Sequence[ConstraintRow], weights: Sequence[Scalar]) -> list[list[Scalar]]:
    weighted = [[weight * entry for weight, entry in zip(weights, row.jacobian, strict=True)] for row in rows]
    upper = [
        [_total([a * b for a, b in zip(weighted[i], rows[j].jacobian, strict=True)]) for j in range(i, len(rows))]
        for i in range(len(rows))
    ]
    return [[upper[min(i, j)][abs(i - j)] for j in range(len(rows))] for i in range(len(rows))]


def _largest(sizes: Sequence[Scalar], entries: Sequence[list[Scalar]]) -> tuple[Scalar, list[Scalar]]:
    """The largest size, and the entries that belong to it."""
    size, best = sizes[0], entries[0]
    for other, candidate in zip(sizes[1:], entries[1:], strict=True):
        larger = other - size
        size = larger.apply("select", other, size)
        best = [larger.apply("select", new, old) for new, old in zip(candidate, best, strict=True)]
    return size, best


def _entries(row: ConstraintRow, unit: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
    return [*row.jacobian, row.zero_value(), row.rate, row.bias, *unit, *column]


def _row(name: str, like: ConstraintRow, entries: Sequence[Scalar]) -> ConstraintRow:
    size = len(like.jacobian)
    value, rate, bias = entries[size : size + 3]
    return ConstraintRow(name, None if like.value is None else value, tuple(entries[:size]), rate, bias)


def _parts(entries: Sequence[Scalar], count: int) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    return entries[-2 * count : -count], entries[-count:]


def _total(items: Sequence[Scalar]) -> Scalar:
    return sum(items[1:], items[0])


# The motion of a constrained mechanism: accelerations and multipliers from its rows, its inertia and its forces.


class ConstrainedDynamics:
    """One mechanism's constraints in one derivation.

    Rows that are empty, or that the analysis names redundant, do not take part: the motion does not determine their
    multipliers, which are given as zero. Where rows follow from others in changing ways, those that take part are
    chosen by position.
    """

    def __init__(
        self,
        ties: ConstraintEquations,
        inertia: Callable[[], Factorized],
        analysis: Analysis,
        bound: Mapping[str, Expression],
    ) -> None:
        self.analysis = analysis
        self.ties = ties.in_own_axes(_told_by_name(ties, analysis))
        self._factorised = inertia
        self._bound = bound

    @cached_property
    def inertia(self) -> Factorized:
        """H, ready to be solved with."""
        return self._factorised()

    @cached_property
    def rows(self) -> list[ConstraintRow]:
        """All rows as they are computed with."""
        return self.ties.rows()

    @cached_property
    def stated(self) -> list[ConstraintRow]:
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
    def taken(self) -> list[ConstraintRow]:
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


def _told_by_name(ties: ConstraintEquations, analysis: Analysis) -> Iterator[str]:
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
