"""Rigid contacts: constraint rows, dynamics with closed contacts, and the graphs that a simulation evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain

from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.partitioning import Elimination
from kinegraph.derive.constraints.projection import PIVOTS, PROJECTED
from kinegraph.derive.contact_flags import (
    ALONG,
    CLOSED,
    COMPLIANCE,
    CONDITIONS,
    CONE,
    DRAG,
    FORCES,
    FREE,
    GAPS,
    MARGIN,
    RATES,
    REACHES,
    RESPONSES,
    SLIP_MARGIN,
    SLIPS,
    SPANS,
    SPEEDS,
    STICKS,
    ContactFlags,
)
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import driving_forces
from kinegraph.derive.quantities.energy import energy, motion_graph
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import output
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import gradient
from kinegraph.graph.node import Graph
from kinegraph.model.constraints import Contact
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Coordinate, Mechanism

# ---- Rows of contacts over the velocities: one along the normal, one or two along the surface

#: Slip velocities whose squares are below this have no direction.
_SLOWEST = Fraction(1, 10**24)


@dataclass(frozen=True)
class ContactRows:
    """One contact: its gap as a holonomic row, and its slip velocities as nonholonomic rows."""

    contact: Contact
    normal: ConstraintRow
    tangents: tuple[ConstraintRow, ...]
    friction: Scalar

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """All rows, the normal one first."""
        return self.normal, *self.tangents

    def flag(self, word: str) -> Scalar:
        """A flag of this contact in the equations."""
        symbol = ContactFlags(self.contact).symbol(word)
        return self.normal.rate.symbol(symbol.kind, symbol.name)

    def force_row(self) -> list[Scalar]:
        """The generalized forces of a unit normal force with its sliding friction."""
        entries = list(self.normal.jacobian)
        for row, part in zip(self.tangents, self.slip_direction(), strict=True):
            factor = self.flag(DRAG) * part
            entries = [entry + factor * other for entry, other in zip(entries, row.jacobian, strict=True)]
        return entries

    def slip_direction(self) -> list[Scalar]:
        """The unit vector of slip. With two directions it is the direction of the velocity, with the sign of the
        direction at the start of the mode, so that it is smooth when the slip ends."""
        if len(self.tangents) < 2:
            return [self.normal.rate.number(1)] * len(self.tangents)
        v, along = [row.rate for row in self.tangents], [self.flag(word) for word in ALONG]
        square = product(v, v)
        least = square.number(_SLOWEST)
        moves = square - least
        length = moves.apply("select", square, least).apply("sqrt")
        forward = product(v, along).apply("sign") * length.reciprocal()
        return [moves.apply("select", forward * rate, start) for rate, start in zip(v, along, strict=True)]

    def sticks(self) -> Scalar:
        """The flag of sticking."""
        return self.flag(STICKS)


def contact_rows(equations: ConstraintEquations, contacts: Sequence[Contact]) -> list[ContactRows]:
    """The rows of contacts, in the order of the model."""
    return [_rows(equations, contact) for contact in contacts]


def _rows(equations: ConstraintEquations, contact: Contact) -> ContactRows:
    normal = equations.holonomic(contact.name, equations.names.scalar(contact.gap))
    slips = [
        equations.nonholonomic(f"{contact.name}.slip_{place}", equations.names.scalar(item))
        for place, item in enumerate(contact.slip, 1)
    ]
    return ContactRows(contact, normal, tuple(slips), equations.names.scalar(contact.friction))


def product(first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
    """The inner product."""
    total = first[0].number(0)
    for one, other in zip(first, second, strict=True):
        total = total + one * other
    return total


# ---- Dynamics


class ContactSystem:
    """Accelerations and contact forces: H a = f + F^T lambda, J a = gamma.

    The rows are those of loops and constraints, which are always active, and those of contacts, each with a flag. A
    normal force includes its sliding friction, so F differs from J and the matrix J H^-1 F^T is not symmetric. The
    derivation is that of the mechanism without contacts.
    """

    def __init__(self, derivation: Derivation, contacts: Sequence[Contact]) -> None:
        self.derivation = derivation
        self.contacts = contact_rows(derivation.constraint_equations, contacts)

    @cached_property
    def bilateral(self) -> list[ConstraintRow]:
        """The rows of loops and constraints, which are always active."""
        if not self.derivation.is_constrained:
            return []
        constrained = self.derivation.constrained
        return constrained.taken

    @cached_property
    def unilateral(self) -> list[ConstraintRow]:
        """The rows of contacts: contact by contact, the normal first. All results use this order."""
        return [row for contact in self.contacts for row in contact.rows]

    @cached_property
    def flags(self) -> list[Scalar]:
        """For every row: 1 if it is active, otherwise 0."""
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
        """The generalized forces of unit multipliers."""
        rows = [list(row.jacobian) for row in self.bilateral]
        for contact in self.contacts:
            rows += [contact.force_row(), *(list(row.jacobian) for row in contact.tangents)]
        return [[flag * entry for entry in row] for flag, row in zip(self.flags, rows, strict=True)]

    @property
    def _inertia(self) -> Factorized:
        return self.derivation.factorized

    def _weighted(self, first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
        total = self.derivation.zero
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            if not (one.is_zero or other.is_zero):
                total = total + one * other * self._inertia.inverse[index]
        return total

    def _compliance(self, forces: Square) -> Square:
        """J H^-1 F^T, with one on the diagonal for each inactive row."""
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
        """The generalized forces minus the bias."""
        return driving_forces(self.derivation)

    @cached_property
    def multipliers(self) -> list[Scalar]:
        """lambda of all rows; zero for inactive rows."""
        rows = [*self.bilateral, *self.unilateral]
        upper = self._inertia.solve_upper(self.driving)
        right = []
        for flag, row, entries in zip(self.flags, rows, self._jacobian, strict=True):
            right.append(-(flag * row.bias) - self._weighted(self._inertia.solve_upper(entries), upper))
        matrix = self._compliance(self._forces)
        if any(contact.tangents for contact in self.contacts):
            return Elimination(matrix, self._names).solve(right)
        return Factorized(matrix, range(len(matrix)), self._names).solve(right)

    def accelerations(self) -> list[Scalar]:
        """The generalized accelerations with the forces of closed contacts."""
        return self._accelerated(self.driving, self._forces, self.multipliers)

    def contact_forces(self) -> list[list[Scalar]]:
        """For each contact: the force along its normal and along its slip directions."""
        found, rest = [], iter(self.multipliers[len(self.bilateral) :])
        for contact in self.contacts:
            normal = next(rest)
            sliding = [contact.flag("drag") * part * normal for part in contact.slip_direction()]
            found.append([normal, *(force + next(rest) for force in sliding)])
        return found

    def correction(self, missing: Sequence[Scalar]) -> list[Scalar]:
        """- H^-1 J^T (J H^-1 J^T)^-1 missing, where `missing` are the residuals of the rows."""
        matrix = self._compliance(self._jacobian)
        factorized = Factorized(matrix, range(len(matrix)), self._names)
        wanted = [-(flag * item) for flag, item in zip(self.flags, missing, strict=True)]
        none = [self.derivation.zero] * self.derivation.size
        return self._accelerated(none, self._jacobian, factorized.solve(wanted))

    def _accelerated(self, force: Sequence[Scalar], rows: Square, multipliers: Sequence[Scalar]) -> list[Scalar]:
        total = list(force)
        for row, multiplier in zip(rows, multipliers, strict=True):
            total = [item + entry * multiplier for item, entry in zip(total, row, strict=True)]
        return self._inertia.solve(total)

    # all contacts open

    def free_accelerations(self) -> list[Scalar]:
        """a with all contacts open."""
        return self._free(self.driving, acting=True)

    def responses(self) -> Square:
        """For every row of a contact: the change of all velocities by a unit impulse along it."""
        return [self._free(row.jacobian, acting=False) for row in self.unilateral]

    def _free(self, force: Sequence[Scalar], acting: bool) -> list[Scalar]:
        if not self.bilateral:
            return self._inertia.solve(force)
        constrained = self.derivation.constrained
        gamma = constrained.gamma if acting else [self.derivation.zero] * len(self.bilateral)
        return constrained.system.accelerations(force, constrained.system.multipliers(force, gamma))


# ---- Graphs of the state, the inputs and the flags


class ContactGraphs:
    """The graphs of one mechanism with contacts."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression]) -> None:
        self.mechanism = replace(mechanism, contacts=())
        self.derivation = Derivation(self.mechanism, bound, Plan())
        self.system = ContactSystem(self.derivation, mechanism.contacts)

    def motion(self) -> Graph:
        """`qdd` in the mode of the flags, and the powers of elements and prescribed motions."""
        system = self.system
        constraints = zip(system.bilateral, system.multipliers[: len(system.bilateral)], strict=True)
        contacts = zip(system.unilateral, chain.from_iterable(system.contact_forces()), strict=True)
        return motion_graph(self.derivation, system.accelerations(), [*constraints, *contacts])

    def conditions(self) -> Graph:
        """For each contact a condition that becomes negative when its mode ends, and the same for its friction."""
        forces = self.system.contact_forces()
        values = [
            one
            for contact, force in zip(self.system.contacts, forces, strict=True)
            for one in _monitored(contact, force)
        ]
        return self.derivation.builder.graph([output(CONDITIONS, (len(values),), values)])

    def open_conditions(self) -> Graph:
        """The conditions if all contacts are open."""
        values: list[Scalar] = []
        for contact in self.system.contacts:
            gap = contact.normal.zero_value() + contact.flag(MARGIN)
            values += [gap, *([gap.number(1)] if contact.tangents else [])]
        return self.derivation.builder.graph([output(CONDITIONS, (len(values),), values)])

    def forces(self) -> Graph:
        """The forces of all contacts, along their normals and slip directions."""
        values = [one for force in self.system.contact_forces() for one in force]
        return self.derivation.builder.graph([output(FORCES, (len(values),), values)])

    def gaps(self) -> Graph:
        """The gaps of all contacts, in the order of the model."""
        values = [contact.normal.zero_value() for contact in self.system.contacts]
        return self.derivation.builder.graph([output(GAPS, (len(values),), values)])

    def clearances(self) -> Graph:
        """The gaps of all contacts; open contacts include their margins."""
        values = [
            contact.normal.zero_value() + (1 - contact.flag(CLOSED)) * contact.flag(MARGIN)
            for contact in self.system.contacts
        ]
        return self.derivation.builder.graph([output(GAPS, (len(values),), values)])

    def projection(self) -> Graph:
        """Positions and velocities after a Newton step onto constraints and closed contacts; pivots of constraints."""
        derivation, system = self.derivation, self.system
        rows = [*system.bilateral, *system.unilateral]
        displacement = system.correction([row.zero_value() for row in rows])
        change = system.correction([row.rate for row in rows])
        layout = self.mechanism.layout
        moved = position_rates(self.mechanism, derivation.builder, displacement)
        projected = [derivation.names[name] + step for name, step in zip(layout.positions, moved, strict=True)]
        projected += [derivation.names[name] + step for name, step in zip(layout.velocities, change, strict=True)]
        pivots = derivation.constrained.system.pivots() if system.bilateral else []
        parts = {PROJECTED: projected, PIVOTS: pivots}
        return derivation.builder.graph([output(name, (len(values),), values) for name, values in parts.items()])

    def impact(self, further: int = 0) -> Graph:
        """The quantities that decide modes and impacts; see the names of the outputs.

        further: the number of state entries after the velocities; prescribed motions supply the last of them.
        """
        rows = self.system.unilateral
        responses = self.system.responses()
        changes = [[*one, *self._supplied(row, one, further)] for row, one in zip(rows, responses, strict=True)]
        free = self.system.free_accelerations()
        normals = [contact.normal for contact in self.system.contacts]
        count, size = len(rows), self.derivation.size
        outputs = (
            output(GAPS, (len(normals),), [row.zero_value() for row in normals]),
            output(SPANS, (len(normals),), [self._span(row.jacobian) for row in normals]),
            output(REACHES, (len(normals),), self._reaches(normals)),
            output(RATES, (count,), [row.rate for row in rows]),
            output(SPEEDS, (count,), [self._sizes(row.jacobian, self._velocities) for row in rows]),
            output(FREE, (count,), [product(row.jacobian, free) + row.bias for row in rows]),
            output(COMPLIANCE, (count, count), [[product(row.jacobian, other) for other in responses] for row in rows]),
            output(RESPONSES, (count, size + further), changes),
        )
        return self.derivation.builder.graph(outputs)

    def _supplied(self, row: ConstraintRow, response: Sequence[Scalar], further: int) -> list[Scalar]:
        """The energy that prescribed motions supply with a unit impulse along a row; other state entries do not change.

        With momenta p = H v + b, an impulse P along r' = J v + r_t changes the energy by P times the mean of r' before
        and after, which is lost, and by P (b . response - r_t), which prescribed motions supply: p . response - r'.
        """
        if not further:
            return []
        return [*[self.derivation.zero] * (further - 1), product(self._momenta, response) - row.rate]

    @cached_property
    def _momenta(self) -> list[Scalar]:
        """The derivatives of the kinetic energy by all velocities."""
        kinetic = energy(self.derivation, Quantity("energy"))[0]
        builder = self.derivation.builder
        symbols = [one.index for one in self._velocities]
        return [Scalar(builder, node) for node in gradient(builder, kinetic.index, symbols)]

    @property
    def _velocities(self) -> list[Scalar]:
        return [self.derivation.names[name] for name in self.mechanism.layout.velocities]

    def _span(self, jacobian: Sequence[Scalar]) -> Scalar:
        """The scale of a gap: the sum of its slopes times coordinates (times one for rotations of quaternions)."""
        one = self.derivation.zero.number(1)
        sizes: list[Scalar] = []
        for coordinate in self.mechanism.coordinates:
            sizes += [self.derivation.names[coordinate.name]] if isinstance(coordinate, Coordinate) else [one] * 3
        return self._sizes(jacobian, sizes)

    def _reaches(self, normals: Sequence[ConstraintRow]) -> list[Scalar]:
        """The change of each gap by rotations of one radian and displacements of one characteristic length, which is
        the sum of all gap scales and levers. A fixed unit of length would make results depend on the user's unit."""
        zero, one = self.derivation.zero, self.derivation.zero.number(1)
        lengths: list[bool] = []
        for coordinate in self.mechanism.coordinates:
            lengths += (
                [coordinate.name in self.mechanism.lengths] if isinstance(coordinate, Coordinate) else [False] * 3
            )
        turns = [self._sizes(row.jacobian, [zero if length else one for length in lengths]) for row in normals]
        shifts = [self._sizes(row.jacobian, [one if length else zero for length in lengths]) for row in normals]
        scene = sum(turns, zero) + sum((self._span(row.jacobian) for row in normals), zero)
        return [turn + shift * scene for turn, shift in zip(turns, shifts, strict=True)]

    def _sizes(self, jacobian: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
        return product([entry.apply("abs") for entry in jacobian], [value.apply("abs") for value in values])


def _monitored(contact: ContactRows, forces: Sequence[Scalar]) -> list[Scalar]:
    """The force of a closed contact or the gap of an open one; and for friction the cone or the slip."""
    normal, *sliding = forces
    closed = contact.flag(CLOSED)
    found = [closed * normal + (1 - closed) * contact.normal.zero_value() + contact.flag(MARGIN)]
    if sliding:
        bound = contact.friction * normal
        cone = bound * bound - product(sliding, sliding)
        further = contact.flag(CONE) * cone + contact.flag(SLIPS) * _slip(contact)
        found.append(further + contact.flag(SLIP_MARGIN))
    return found


def _slip(contact: ContactRows) -> Scalar:
    """Positive while the slip continues in about its direction at the start of the mode; in one dimension its velocity.

    The flag `slips` is the sign of that velocity.
    """
    rates = [row.rate for row in contact.tangents]
    if len(rates) == 1:
        return rates[0]
    forward = product(rates, [contact.flag(word) for word in ALONG])
    return forward * forward.apply("abs") - product(rates, rates) / 4
