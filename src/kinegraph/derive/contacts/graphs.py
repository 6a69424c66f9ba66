"""What a run with contacts computes, as graphs in the state, the inputs and the flags of the mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from kinegraph.derive.constraints.projection import PIVOTS, PROJECTED
from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.contacts.flags import ALONG, CLOSED, CONE, MARGIN, SLIP_MARGIN, SLIPS
from kinegraph.derive.contacts.rows import ContactRows, product
from kinegraph.derive.contacts.system import ContactSystem
from kinegraph.derive.quantities.definitions.energy import energy
from kinegraph.derive.quantities.definitions.laws_of_time import motion_graph
from kinegraph.derive.quantities.derivation import Derivation, Plan
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.values import output
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.graph.differentiate import gradient
from kinegraph.graph.node import Graph
from kinegraph.graph.scalar import Scalar
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Coordinate, Mechanism

#: Outputs: conditions of the mode; forces of contacts; and for impacts gaps, rates of all rows, what these are sums of,
#: accelerations of the rows with open contacts, responses of rows and of velocities to unit impulses.
CONDITIONS, FORCES = "conditions", "contact_forces"
GAPS, SPANS, REACHES, RATES, SPEEDS, FREE, COMPLIANCE, RESPONSES = (
    "gaps", "spans", "reaches", "rates", "speeds", "free", "compliance", "responses",
)  # fmt: skip


class ContactGraphs:
    """The graphs of one mechanism."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression]) -> None:
        self.mechanism = replace(mechanism, contacts=())
        self.derivation = Derivation(self.mechanism, bound, Plan())
        self.system = ContactSystem(self.derivation, mechanism.contacts)

    def motion(self) -> Graph:
        """`qdd` in the mode of the flags, and the powers of elements and laws of time."""
        system = self.system
        tied = zip(system.bilateral, system.multipliers[: len(system.bilateral)], strict=True)
        contacts = zip(system.unilateral, chain.from_iterable(system.contact_forces()), strict=True)
        return motion_graph(self.derivation, system.accelerations(), [*tied, *contacts])

    def conditions(self) -> Graph:
        """For each contact what becomes negative when its mode ends, and the same for its friction."""
        forces = self.system.contact_forces()
        values = [
            one for contact, force in zip(self.system.contacts, forces, strict=True) for one in _watched(contact, force)
        ]
        return self.derivation.builder.graph([output(CONDITIONS, (len(values),), values)])

    def open_conditions(self) -> Graph:
        """The same where all contacts are open."""
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
        """The gaps of all contacts, of open ones with their margins."""
        values = [
            contact.normal.zero_value() + (1 - contact.flag(CLOSED)) * contact.flag(MARGIN)
            for contact in self.system.contacts
        ]
        return self.derivation.builder.graph([output(GAPS, (len(values),), values)])

    def projection(self) -> Graph:
        """Positions and velocities after a Newton step onto constraints and closed contacts; pivots of the former."""
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
        """What deciding on modes and impacts needs: see the names of the outputs.

        further: how many entries of the state follow the velocities, where laws of time supply the last of them.
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

    def _supplied(self, row: TieRow, response: Sequence[Scalar], further: int) -> list[Scalar]:
        """What a unit impulse along a row changes beyond velocities: what laws of time supply, and nothing else.

        With momenta p = H v + b an impulse P along r' = J v + r_t changes the energy by P times the mean of r' before
        and after, which is lost, and by P (b . response - r_t), which the laws supply: p . response - r'.
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
        """The size of what a gap is made of: slopes times coordinates (times one for turns of quaternions)."""
        one = self.derivation.zero.number(1)
        sizes: list[Scalar] = []
        for coordinate in self.mechanism.coordinates:
            sizes += [self.derivation.names[coordinate.name]] if isinstance(coordinate, Coordinate) else [one] * 3
        return self._sizes(jacobian, sizes)

    def _reaches(self, normals: Sequence[TieRow]) -> list[Scalar]:
        """By how much turns of one radian change each gap, and displacements by a length of the scene: what gaps are
        made of and levers of turns, all of them together. A unit of length would make rest depend on it."""
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


def _watched(contact: ContactRows, forces: Sequence[Scalar]) -> list[Scalar]:
    """The force while a contact is closed, else its gap; and for friction its cone or the slip."""
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
    """Positive while the slip goes on about where it went when the mode began; along one direction its velocity.

    The flag `slips` is the sign of the direction there.
    """
    rates = [row.rate for row in contact.tangents]
    if len(rates) == 1:
        return rates[0]
    forward = product(rates, [contact.flag(word) for word in ALONG])
    return forward * forward.apply("abs") - product(rates, rates) / 4
