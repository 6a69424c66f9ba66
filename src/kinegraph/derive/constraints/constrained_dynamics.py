"""Dynamics with Lagrange multipliers: accelerations, multipliers, and the choice of independent rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.partitioning import LeastSquares, Partition, PartitionedSystem
from kinegraph.derive.constraints.passing_time import OpenRow
from kinegraph.derive.constraints.redundancy import Analysis, Cluster, entries_at
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Output
from kinegraph.model.constraints import Loop, row_group, row_names
from kinegraph.model.expressions import Expression

#: mu of the proximal solve, relative to the trace of S: far below its entries, far above their rounding.
_PROXIMAL = Fraction(1, 10**7)

#: Below this pivot a position is singular: accelerations and constraint forces have hardly a correct digit.
SINGULAR_PIVOT = Fraction(1, 10**11)


def contradicting(rows: Sequence[str]) -> DerivationError:
    """Rows that depend on each other in a mechanism that cannot be assembled."""
    return DerivationError(
        f"the constraints {', '.join(rows)} are redundant or contradictory\n"
        "  redundant ones are removed if the mechanism can be assembled: check the constraints and the initial values, "
        "and give values of all parameters"
    )


def opens_in_time(row: OpenRow) -> DerivationError:
    """A row that its loop or constraint cannot keep as time passes."""
    missed = f"its rate is {row.missed:.3g}" if row.by_velocity else f"it misses {row.missed:.3g}"
    return DerivationError(
        f"{row.name} cannot hold as time passes: {missed} at t = {row.time:g}, and no coordinate can change that\n"
        "  let explicit time move frames only where coordinates can follow, or choose a joint that leaves this free"
    )


class ConstrainedSystem:
    """The linear system of constrained accelerations: H a = f + J^T lambda, J a = gamma.

    With H = L^T D L from the tips to the base (`inertia_factorization`), y = L^-T J^T keeps the zeros of the chains,
    and S = y^T D^-1 y is the matrix of the multipliers.

    names: the rows, for errors. sizes: for rows chosen by position, by index, the part that is independent of the rows
    chosen before them (`ChosenRow.size`).
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
        """S = J H^-1 J^T: accelerations of the rows under unit multipliers."""
        count = len(self._rows)
        entries = [[self.inertia.weighted(self._rows[i], self._rows[j]) for j in range(i + 1)] for i in range(count)]
        return [[entries[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]

    @cached_property
    def factorized(self) -> Factorized:
        """The factorization of S."""
        try:
            return Factorized(self.compliance, range(len(self._rows)), self._names)
        except DerivationError:
            raise contradicting(self._names) from None

    @cached_property
    def guarded(self) -> Factorized:
        """The factorization of S that gives NaN in singular positions."""
        found = guarded(self.compliance, self.factorized, self._groups)
        least = Fraction(SINGULAR_PIVOT)
        return found.guarded({k: size - least for k, size in self._sizes.items()}) if self._sizes else found

    def multipliers(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """lambda from the generalized forces f (minus the bias) and gamma."""
        return self.guarded.solve(self._right(force, gamma))

    def _right(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        upper = self.inertia.solve_upper(force)
        return [wanted - self.inertia.weighted(row, upper) for wanted, row in zip(gamma, self._rows, strict=True)]

    def proximal_multipliers(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """lambda by three solves with S + mu: (S + mu) l[k+1] = r + mu l[k], with mu a small fraction of the trace.

        Directions in the null space of S keep lambda = 0; the relative error of the others is (mu/s)^3.
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
        """For every row: how independent the rows of its group are of earlier rows (see `pivots_of`)."""
        return pivots_of(self.compliance, self.factorized, self._groups)

    def row_pivots(self) -> list[Scalar]:
        """For every row: its pivot over the sum of its group's diagonal entries; depends on the axes of the rows."""
        inverse = self.factorized.inverse
        return [(_group_sum(self.compliance, group) * inverse[i]).reciprocal() for i, group in _members(self._groups)]


def pivots_of(compliance: Square, factorized: Factorized, groups: Sequence[object]) -> list[Scalar]:
    """For every row: the product of its group's pivots, relative to the mean diagonal entry; between 0 and 1.

    A group has the rows of one loop and one unit; a row chosen by position is a group of one. The product does not
    depend on the axes of the rows. Near 0 the position is singular: rows depend on others, or nothing moves along one.
    """
    measures = {group: _measure(compliance, factorized, group) for _, group in _members(groups)}
    ratios = {group: pivots * scale.reciprocal() for group, (pivots, scale) in measures.items()}
    return [ratios[group] for _, group in _members(groups)]


def guarded(compliance: Square, factorized: Factorized, groups: Sequence[object]) -> Factorized:
    """The factorization of S that gives NaN where a pivot (see `pivots_of`) is below SINGULAR_PIVOT."""
    room = {}
    for i, group in _members(groups):
        pivots, scale = _measure(compliance, factorized, group)
        room[i] = pivots - scale.number(SINGULAR_PIVOT) * scale
    return factorized.guarded(room)


def _members(groups: Sequence[object]) -> list[tuple[int, tuple[int, ...]]]:
    """Every row and the rows of its group."""
    return [(i, tuple(k for k, other in enumerate(groups) if other == own)) for i, own in enumerate(groups)]


def _measure(compliance: Square, factorized: Factorized, group: Sequence[int]) -> tuple[Scalar, Scalar]:
    """The product of the pivots of a group, and for comparison that of as many mean diagonal entries."""
    pivots = factorized.pivots
    product = pivots[group[0]]
    for k in group[1:]:
        product = product * pivots[k]
    return product, (_group_sum(compliance, group) / len(group)) ** len(group)


def _group_sum(compliance: Square, group: Sequence[int]) -> Scalar:
    first, *others = (compliance[k][k] for k in group)
    return sum(others, first)


# ---- Rows chosen by position, for overconstrained loops whose redundant rows change


@dataclass(frozen=True)
class ChosenRow:
    """A chosen row. weights: for each row of the cluster 1 if it is the chosen one, otherwise 0.

    size: the square of its part that is independent of the rows chosen before, relative to rows of its kind.
    """

    row: ConstraintRow
    weights: tuple[Scalar, ...]
    size: Scalar


def rows_by_position(rows: Sequence[ConstraintRow], names: Sequence[str], cluster: Cluster) -> list[ChosenRow]:
    """As many rows as are independent, with these names.

    The Gram matrix of the rows is eliminated with diagonal pivoting: each step takes the row with the largest
    remainder. `select` makes the choice, so the graph repeats it at every state.
    """
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
    """The largest size, and its entries."""
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


# ---- The constrained mechanism


class ConstrainedDynamics:
    """The constraints of one mechanism in one derivation: accelerations and multipliers.

    Rows that are empty or redundant are inactive: the motion does not determine their multipliers, which are set to
    zero. If the set of redundant rows changes with the position, the active rows are chosen by position.
    """

    def __init__(
        self,
        equations: ConstraintEquations,
        inertia: Callable[[], Factorized],
        analysis: Analysis,
        bound: Mapping[str, Expression],
    ) -> None:
        self.analysis = analysis
        self.equations = equations.in_own_axes(_loops_in_own_axes(equations, analysis))
        self._factorize_inertia = inertia
        self._bound = bound

    @cached_property
    def inertia(self) -> Factorized:
        """The factorization of H."""
        return self._factorize_inertia()

    @cached_property
    def rows(self) -> list[ConstraintRow]:
        """All rows as they are computed."""
        return self.equations.rows()

    @cached_property
    def stated(self) -> list[ConstraintRow]:
        """All rows as the model states them."""
        return self.equations.rows(stated=True)

    @cached_property
    def places(self) -> list[int]:
        """The indices of active rows; rows chosen by position take as many places as are independent."""
        redundant = self._left_out
        return [k for k, row in enumerate(self.rows) if not row.is_empty and row.name not in redundant]

    @property
    def _left_out(self) -> frozenset[str]:
        """The names of redundant rows in the axes of this computation."""
        counted = {name for loop in self._counted for name in row_names(loop)[:3]}
        return self.analysis.redundant - counted

    @cached_property
    def _counted(self) -> list[Loop]:
        """Loops on moving bodies with points compared in the ancestor's axes, where redundant rows are empty."""
        return [loop for loop in self.equations.loops_on_moving_bodies() if not self.equations.has_own_axes(loop)]

    @cached_property
    def _chosen(self) -> dict[int, tuple[ChosenRow, list[int]]]:
        """Rows chosen by position, by place, with the places they are chosen from."""
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
        """The active rows; DerivationError if other rows do not follow from them."""
        if self.analysis.open_row is not None:
            raise opens_in_time(self.analysis.open_row)
        if self.analysis.unresolved:
            raise contradicting([self.rows[k].name for k in self.places])
        return [self._chosen[k][0].row if k in self._chosen else self.rows[k] for k in self.places]

    @cached_property
    def system(self) -> ConstrainedSystem:
        """The linear system of the active rows."""
        names = [row.name for row in self.taken]
        sizes = {index: self._chosen[k][0].size for index, k in enumerate(self.places) if k in self._chosen}
        return ConstrainedSystem(self.inertia, [list(row.jacobian) for row in self.taken], names, sizes)

    @cached_property
    def gamma(self) -> list[Scalar]:
        """The required value of J a."""
        return [-row.bias for row in self.taken]

    def accelerations(self, force: Sequence[Scalar]) -> list[Scalar]:
        """a, from the generalized forces minus the bias."""
        if not self.places:
            return self.inertia.solve(force)
        return self.system.accelerations(force, self.system.multipliers(force, self.gamma))

    def stabilized(self, force: Sequence[Scalar], alpha: float, beta: float) -> tuple[list[Scalar], list[Scalar]]:
        """a and lambda with Baumgarte stabilization: value'' + 2 alpha value' + beta^2 value = 0."""
        if not self.places:
            return self.inertia.solve(force), []
        rows = self.taken
        damped, drawn = rows[0].rate.number(Fraction(2 * alpha)), rows[0].rate.number(Fraction(beta) ** 2)
        gamma = [-(row.bias + damped * row.rate + drawn * row.zero_value()) for row in rows]
        multipliers = self.system.multipliers(force, gamma)
        return self.system.accelerations(force, multipliers), multipliers

    def proximal_accelerations(self, force: Sequence[Scalar]) -> list[Scalar]:
        """a, also if rows depend on each other: the least-squares solution with the smallest multipliers."""
        if not self.places:
            return self.inertia.solve(force)
        return self.system.accelerations(force, self.system.proximal_multipliers(force, self.gamma))

    def multipliers(self, force: Sequence[Scalar]) -> list[Scalar]:
        """For every stated row: the force or moment that its first frame exerts on the second."""
        return self.in_stated_axes(self.system.multipliers(force, self.gamma) if self.places else [])

    def in_stated_axes(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of all stated rows from those of the active rows."""
        found = self.spread(multipliers, 0)
        for k, (one, among) in self._chosen.items():
            multiplier = multipliers[self.places.index(k)]
            found[k] = found[k] - multiplier
            for place, weight in zip(among, one.weights, strict=True):
                found[place] = found[place] + weight * multiplier
        return self.equations.in_stated_axes(found)

    def increments(self) -> Square:
        """By velocity and stated row: the displacement of dependent coordinates that removes one unit of residual."""
        like = self.equations.layout.tree.like
        size = range(len(self.places))
        columns = [self.partition.offset([like.number(-1 if k == one else 0) for k in size]) for one in size]
        by_velocity = zip(*columns, strict=True) if columns else [[]] * len(self.equations.mechanism.layout.velocities)
        return [self.in_stated_axes(list(row)) for row in by_velocity]

    def closing_columns(
        self, loop: Loop, dependent: bool, chosen: Collection[int] | None = None, rows: Square | None = None
    ) -> Square:
        """A (for dependent velocities) or B (for the others, with opposite sign) of a loop: A dp = B du + errors.

        Six rows: the motion of the second frame relative to the first, along and about the axes of the first. chosen:
        the velocities whose columns are wanted, instead of those that follow from the position. rows: the motion of all
        velocities, if it was derived otherwise.
        """
        if chosen is None:
            chosen = self.partition.dependent if dependent else self.partition.independent
        rows = self.equations.closing_rows(loop) if rows is None else rows
        zero = self.equations.layout.tree.like.number(0)
        return [
            [zero if k not in chosen else entry if dependent else -entry for k, entry in enumerate(row)] for row in rows
        ]

    @cached_property
    def partition(self) -> PartitionedSystem:
        """The dependent velocities as functions of the independent ones."""
        names = self.equations.mechanism.layout.velocities
        dependent = Partition(self.analysis.dependent_of(names))
        if len(dependent.dependent) != len(self.places):
            raise DerivationError(
                f"{self.equations.mechanism.name}: the dependent coordinates are unknown: "
                "give values of all parameters, and an initial position that can be assembled"
            )
        jacobian = [list(row.jacobian) for row in self.taken]
        if self._chosen:
            return PartitionedSystem(jacobian, dependent, names, elimination=LeastSquares(jacobian, dependent, names))
        return PartitionedSystem(jacobian, dependent, names, self._entries)

    @property
    def _entries(self) -> Sequence[Sequence[float]]:
        """The entries of the active rows at the analyzed state, in the axes of this computation."""
        if not self._counted:
            sample = dict(self.analysis.sample)
            return [sample.get(self.rows[k].name, ()) for k in self.places]
        nodes = tuple(entry.index for row in self.taken for entry in row.jacobian)
        graph = self.equations.builder.graph([Output("rows", (len(nodes),), nodes)])
        mechanism = self.equations.mechanism
        return [*entries_at(mechanism, self._bound, graph, self.analysis.place).reshape(len(self.places), -1).tolist()]

    def on_independent(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Equivalent forces on the independent coordinates of forces on all coordinates."""
        if not self.places:
            return list(forces)
        found = [forces[0].number(0)] * len(forces)
        for index, force in zip(self.partition.independent, self.partition.project(forces), strict=True):
            found[index] = force
        return found

    def pivots(self) -> list[Scalar]:
        """For every row: how independent it is, 1 for inactive rows and near 0 if it depends on others."""
        return self.spread(self.system.pivots() if self.places else [], 1)

    def jacobian(self) -> Square:
        """By stated row and velocity."""
        return [list(row.jacobian) for row in self.stated]

    def values(self) -> list[Scalar]:
        """The residuals by stated row; zero for rows that restrict velocities only."""
        return [row.zero_value() for row in self.stated]

    def rates(self) -> list[Scalar]:
        """The rates of the residuals, by stated row."""
        return [row.rate for row in self.stated]

    def row_accelerations(self, accelerations: Sequence[Scalar]) -> list[Scalar]:
        """The accelerations of the residuals, by stated row: J a plus the bias."""
        return [sum((j * a for j, a in zip(row.jacobian, accelerations, strict=True)), row.bias) for row in self.stated]

    def spread(self, found: Sequence[Scalar], other: int) -> list[Scalar]:
        """Entries of active rows placed among all rows; `other` for the rest."""
        like = self.equations.layout.tree.like
        entries = [like.number(other)] * len(self.rows)
        for place, entry in zip(self.places, found, strict=True):
            entries[place] = entry
        return entries


def _loops_in_own_axes(equations: ConstraintEquations, analysis: Analysis) -> Iterator[str]:
    """Loops on moving bodies that must be computed in the axes of their first frame, to which row names refer: their
    redundant rows are not empty in the ancestor's axes, or their rows are chosen by position."""
    if not analysis.redundant:
        return
    clustered = {name for cluster in analysis.clusters for name in cluster.rows}
    for loop in equations.loops_on_moving_bodies():
        names = row_names(loop)[:3]
        present = sum(not row.is_empty for row in equations.loop_rows(loop)[:3])
        if present != sum(name not in analysis.redundant for name in names) or not clustered.isdisjoint(names):
            yield loop.name
