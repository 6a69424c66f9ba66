"""The rows of contacts over the velocities: one along the normal, one or two along the surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.constraints.ties import TieRow, Ties
from kinegraph.derive.contacts.flags import ALONG, DRAG, STICKS, ContactFlags
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import Contact

_STANDS = Fraction(1, 10**24)  # squares of slip velocities below this have no direction


@dataclass(frozen=True)
class ContactRows:
    """One contact: its gap as a row, and the slip velocities as rows that restrict velocities only."""

    contact: Contact
    normal: TieRow
    tangents: tuple[TieRow, ...]
    friction: Scalar

    @property
    def rows(self) -> tuple[TieRow, ...]:
        """All rows, the normal one first."""
        return self.normal, *self.tangents

    def flag(self, word: str) -> Scalar:
        """A flag of this contact in the equations."""
        symbol = ContactFlags(self.contact).symbol(word)
        return self.normal.rate.symbol(symbol.kind, symbol.name)

    def force_row(self) -> list[Scalar]:
        """What a unit normal force does on every velocity, with the friction of slip that comes with it."""
        entries = list(self.normal.jacobian)
        for row, part in zip(self.tangents, self.slip_direction(), strict=True):
            factor = self.flag(DRAG) * part
            entries = [entry + factor * other for entry, other in zip(entries, row.jacobian, strict=True)]
        return entries

    def slip_direction(self) -> list[Scalar]:
        """The unit vector of slip. Along two directions it follows the velocity, on the side of the direction that the
        mode began with: so it goes on smoothly where the slip comes to an end."""
        if len(self.tangents) < 2:
            return [self.normal.rate.number(1)] * len(self.tangents)
        v, along = [row.rate for row in self.tangents], [self.flag(word) for word in ALONG]
        square = product(v, v)
        least = square.number(_STANDS)
        moves = square - least
        length = moves.apply("select", square, least).apply("sqrt")
        forward = product(v, along).apply("sign") * length.reciprocal()
        return [moves.apply("select", forward * rate, start) for rate, start in zip(v, along, strict=True)]

    def sticks(self) -> Scalar:
        """The flag of sticking."""
        return self.flag(STICKS)


def contact_rows(ties: Ties, contacts: Sequence[Contact]) -> list[ContactRows]:
    """The rows of contacts, in the order of the model."""
    return [_rows(ties, contact) for contact in contacts]


def _rows(ties: Ties, contact: Contact) -> ContactRows:
    normal = ties.holonomic(contact.name, ties.names.scalar(contact.gap))
    slips = [
        ties.nonholonomic(f"{contact.name}.slip_{place}", ties.names.scalar(item))
        for place, item in enumerate(contact.slip, 1)
    ]
    return ContactRows(contact, normal, tuple(slips), ties.names.scalar(contact.friction))


def product(first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
    """The sum of products."""
    total = first[0].number(0)
    for one, other in zip(first, second, strict=True):
        total = total + one * other
    return total
