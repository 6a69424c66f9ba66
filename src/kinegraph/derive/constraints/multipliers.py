"""Accelerations and multipliers of a constrained mechanism: H a = f + J^T lambda, J a = gamma.

With H = L^T D L from the tips to the base (`forward.py`), y = L^-T J^T keeps the zeros of the chains, and
S = y^T D^-1 y is what the multipliers are solved from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar


class ConstrainedSystem:
    """The linear system of constrained accelerations; `names` are of the rows, for errors."""

    def __init__(self, inertia: Factorised, jacobian: Square, names: Sequence[str]) -> None:
        self.inertia = inertia
        self.jacobian = jacobian
        self._names = names
        self._rows = [inertia.solve_upper(row) for row in jacobian]

    @cached_property
    def compliance(self) -> Square:
        """S = J H^-1 J^T: how the rows accelerate under unit multipliers."""
        count = len(self._rows)
        entries = [[self._weighted(self._rows[i], self._rows[j]) for j in range(i + 1)] for i in range(count)]
        return [[entries[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]

    @cached_property
    def factorised(self) -> Factorised:
        return Factorised(self.compliance, range(len(self._rows)), self._names)

    def multipliers(self, force: Sequence[Scalar], gamma: Sequence[Scalar]) -> list[Scalar]:
        """lambda from the generalized forces f (bias taken off) and gamma."""
        upper = self.inertia.solve_upper(force)
        right = [wanted - self._weighted(row, upper) for wanted, row in zip(gamma, self._rows, strict=True)]
        return self.factorised.solve(right)

    def accelerations(self, force: Sequence[Scalar], multipliers: Sequence[Scalar]) -> list[Scalar]:
        """a = H^-1 (f + J^T lambda)."""
        upper = self.inertia.solve_upper(force)
        for row, multiplier in zip(self._rows, multipliers, strict=True):
            upper = [item + entry * multiplier for item, entry in zip(upper, row, strict=True)]
        return self.inertia.solve_lower(upper)

    def pivots(self) -> list[Scalar]:
        """Every pivot of S over the diagonal entries of its loop's rows of one unit, between 0 and 1.

        Near 0 the row depends on others, or nothing moves along it: the position is singular.
        """
        groups = [_group(name) for name in self._names]
        found = []
        for i, group in enumerate(groups):
            first, *others = (self.compliance[k][k] for k, other in enumerate(groups) if other == group)
            found.append((sum(others, first) * self.factorised.inverse[i]).reciprocal())
        return found

    def _weighted(self, first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
        inverse = self.inertia.inverse
        total = first[0].number(0)
        for index in range(len(first)):
            if not (first[index].is_zero or second[index].is_zero):
                total = total + first[index] * second[index] * inverse[index]
        return total


def _group(name: str) -> tuple[str, bool]:
    """The loop of a row, and whether it is about turns: those have another unit than translations."""
    loop, _, row = name.partition(".")
    return loop, row.startswith("turn")
