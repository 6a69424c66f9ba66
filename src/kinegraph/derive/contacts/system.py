"""Accelerations and contact forces with some contacts closed: H a = f + F^T lambda, J a = gamma.

The rows are those of loops and constraints, which always act, and those of contacts, each with a flag. A normal force
brings its friction of slip along, so F differs from J there and the matrix J H^-1 F^T is not symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.constraints.elimination import Elimination
from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.contacts.flags import CLOSED
from kinegraph.derive.contacts.rows import contact_rows
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.quantities.definitions.accelerations import driving_forces
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Contact


class ContactSystem:
    """One mechanism's contacts in one derivation (of the mechanism without them)."""

    def __init__(self, derivation: Derivation, contacts: Sequence[Contact]) -> None:
        self.derivation = derivation
        self.contacts = contact_rows(derivation.ties, contacts)

    @cached_property
    def bilateral(self) -> list[TieRow]:
        """The rows that always act."""
        if not self.derivation.is_constrained:
            return []
        constrained = self.derivation.constrained
        return constrained.taken

    @cached_property
    def unilateral(self) -> list[TieRow]:
        """The rows of contacts, as they are numbered everywhere: contact by contact, the normal first."""
        return [row for contact in self.contacts for row in contact.rows]

    @cached_property
    def flags(self) -> list[Scalar]:
        """For every row whether it acts."""
        one = self.derivation.zero.number(1)
        found = [one] * len(self.bilateral)
        for contact in self.contacts:
            found += [contact.flag(CLOSED), *(contact.sticks() for _ in contact.tangents)]
        return found

    @cached_property
    def _jacobian(self) -> Square:
        rows = [*self.bilateral, *self.unilateral]
        return [[flag * entry for entry in row.jacobian] for flag, row in zip(self.flags, rows, strict=True)]

    @cached_property
    def _forces(self) -> Square:
        """What a unit of each multiplier does on every velocity."""
        rows = [list(row.jacobian) for row in self.bilateral]
        for contact in self.contacts:
            rows += [contact.force_row(), *(list(row.jacobian) for row in contact.tangents)]
        return [[flag * entry for entry in row] for flag, row in zip(self.flags, rows, strict=True)]

    @property
    def _inertia(self) -> Factorised:
        return self.derivation.factorised

    def _weighted(self, first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
        total = self.derivation.zero
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            if not (one.is_zero or other.is_zero):
                total = total + one * other * self._inertia.inverse[index]
        return total

    def _compliance(self, forces: Square) -> Square:
        """J H^-1 F^T, with one on the diagonal for each row that does not act."""
        upper = [self._inertia.solve_upper(row) for row in self._jacobian]
        other = [self._inertia.solve_upper(row) for row in forces]
        matrix = [[self._weighted(one, two) for two in other] for one in upper]
        for place, flag in enumerate(self.flags):
            matrix[place][place] = matrix[place][place] + 1 - flag
        return matrix

    @cached_property
    def _names(self) -> list[str]:
        return [row.name for row in (*self.bilateral, *self.unilateral)]

    @cached_property
    def driving(self) -> list[Scalar]:
        """The generalized forces less the bias."""
        return driving_forces(self.derivation)

    @cached_property
    def multipliers(self) -> list[Scalar]:
        """lambda of all rows; zero for those that do not act."""
        rows = [*self.bilateral, *self.unilateral]
        upper = self._inertia.solve_upper(self.driving)
        right = []
        for flag, row, entries in zip(self.flags, rows, self._jacobian, strict=True):
            right.append(-(flag * row.bias) - self._weighted(self._inertia.solve_upper(entries), upper))
        matrix = self._compliance(self._forces)
        if any(contact.tangents for contact in self.contacts):
            return Elimination(matrix, self._names).solve(right)
        return Factorised(matrix, range(len(matrix)), self._names).solve(right)

    def accelerations(self) -> list[Scalar]:
        """a."""
        return self._accelerated(self.driving, self._forces, self.multipliers)

    def contact_forces(self) -> list[list[Scalar]]:
        """For each contact the force along its normal and along its slip directions."""
        found, rest = [], iter(self.multipliers[len(self.bilateral) :])
        for contact in self.contacts:
            normal = next(rest)
            sliding = [contact.flag("drag") * part * normal for part in contact.slip_direction()]
            found.append([normal, *(force + next(rest) for force in sliding)])
        return found

    def correction(self, missing: Sequence[Scalar]) -> list[Scalar]:
        """- H^-1 J^T (J H^-1 J^T)^-1 missing, for what rows that act miss."""
        matrix = self._compliance(self._jacobian)
        factorised = Factorised(matrix, range(len(matrix)), self._names)
        wanted = [-(flag * item) for flag, item in zip(self.flags, missing, strict=True)]
        none = [self.derivation.zero] * self.derivation.size
        return self._accelerated(none, self._jacobian, factorised.solve(wanted))

    def _accelerated(self, force: Sequence[Scalar], rows: Square, multipliers: Sequence[Scalar]) -> list[Scalar]:
        total = list(force)
        for row, multiplier in zip(rows, multipliers, strict=True):
            total = [item + entry * multiplier for item, entry in zip(total, row, strict=True)]
        return self._inertia.solve(total)

    # without any contact

    def free_accelerations(self) -> list[Scalar]:
        """a with all contacts open."""
        return self._free(self.driving, acting=True)

    def responses(self) -> Square:
        """For every row of a contact the change of all velocities by a unit impulse along it."""
        return [self._free(row.jacobian, acting=False) for row in self.unilateral]

    def _free(self, force: Sequence[Scalar], acting: bool) -> list[Scalar]:
        if not self.bilateral:
            return self._inertia.solve(force)
        constrained = self.derivation.constrained
        gamma = constrained.gamma if acting else [self.derivation.zero] * len(self.bilateral)
        return constrained.system.accelerations(force, constrained.system.multipliers(force, gamma))
