"""Accelerations and multipliers of a constrained mechanism: H a = f + J^T lambda, J a = gamma.

With H = L^T D L from the tips to the base (`forward.py`), y = L^-T J^T keeps the zeros of the chains, and
S = y^T D^-1 y is what the multipliers are solved from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import row_group

#: mu of the proximal solve, of the sum of the rows' own entries: far below them, far above their rounding.
_PROXIMAL = Fraction(1, 10**7)

#: Below this pivot a position is singular: accelerations and forces of constraints have hardly a digit.
SINGULAR_PIVOT = Fraction(1, 10**11)


class ConstrainedSystem:
    """The linear system of constrained accelerations; `names` are of the rows, for errors.

    sizes: of rows that are chosen by position, by index, what no row chosen before them says (`overconstrained`).
    """

    def __init__(
        self,
        inertia: Factorised,
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
    def factorised(self) -> Factorised:
        """S, ready to be solved with."""
        try:
            return Factorised(self.compliance, range(len(self._rows)), self._names)
        except DerivationError:
            raise DerivationError(
                f"the constraints {', '.join(self._names)} follow from each other, or contradict each other\n"
                "  which of them could be left out is known where the mechanism can be assembled: check them, and the "
                "initial values"
            ) from None

    @cached_property
    def guarded(self) -> Factorised:
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
        system = Factorised(shifted, size, self._names)
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


def pivots_of(compliance: Square, factorised: Factorised, groups: Sequence[object]) -> list[Scalar]:
    """For every row the product of its group's pivots over that of their mean diagonal entry, between 0 and 1.

    A group are the rows of one loop and one unit (a row that is chosen by position is one of its own): their product
    does not depend on the axes they are taken in. Near 0 the rows depend on others, or nothing moves along one of
    them: the position is singular.
    """
    measures = {group: _measure(compliance, factorised, group) for _, group in _members(groups)}
    ratios = {group: pivots * scale.reciprocal() for group, (pivots, scale) in measures.items()}
    return [ratios[group] for _, group in _members(groups)]


def guarded(compliance: Square, factorised: Factorised, groups: Sequence[object]) -> Factorised:
    """S, ready to be solved with, but no numbers where a pivot (as `pivots_of`) is below SINGULAR_PIVOT."""
    room = {}
    for i, group in _members(groups):
        pivots, scale = _measure(compliance, factorised, group)
        room[i] = pivots - scale.number(SINGULAR_PIVOT) * scale
    return factorised.guarded(room)


def _members(groups: Sequence[object]) -> list[tuple[int, tuple[int, ...]]]:
    """Every row with the rows of its group."""
    return [(i, tuple(k for k, other in enumerate(groups) if other == own)) for i, own in enumerate(groups)]


def _measure(compliance: Square, factorised: Factorised, group: Sequence[int]) -> tuple[Scalar, Scalar]:
    """The product of the pivots of rows, and for comparison the product of as many mean diagonal entries."""
    pivots = factorised.pivots
    product = pivots[group[0]]
    for k in group[1:]:
        product = product * pivots[k]
    return product, (_group_sum(compliance, group) / len(group)) ** len(group)


def _group_sum(compliance: Square, group: Sequence[int]) -> Scalar:
    first, *others = (compliance[k][k] for k in group)
    return sum(others, first)
