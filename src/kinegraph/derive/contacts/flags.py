"""How a mode is told to the equations: numbers beside the state, some for each contact.

One graph serves all modes. A row whose flag is zero takes no part: it is multiplied by zero, and its multiplier is the
solution of 1 lambda = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.constraints.records import Contact

#: Flags of every contact: whether it is closed, and what is added to its condition.
CLOSED, MARGIN = "closed", "margin"
#: Flags of friction: whether it sticks, the friction force per normal force while it slips, which condition is watched
#: (that the force stays within the cone, that the slip goes on), and what is added to it.
STICKS, DRAG, CONE, SLIPS, SLIP_MARGIN = "sticks", "drag", "cone", "slips", "slip_margin"
#: Along two directions: the direction of slip that the condition refers to.
ALONG = ("along_1", "along_2")


@dataclass(frozen=True, slots=True)
class ContactFlags:
    """The symbols of one contact's flags."""

    contact: Contact

    def symbol(self, word: str) -> Symbol:
        """The symbol of one flag."""
        return Symbol(Kind.INPUT, f"mode:{self.contact.name}:{word}")

    @property
    def words(self) -> tuple[str, ...]:
        """The flags of this contact, in the order of the argument."""
        if not self.contact.slip:
            return CLOSED, MARGIN
        further = ALONG if len(self.contact.slip) == 2 else ()
        return (CLOSED, MARGIN, STICKS, DRAG, CONE, SLIPS, SLIP_MARGIN, *further)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The flags as symbols."""
        return tuple(self.symbol(word) for word in self.words)


def flag_symbols(contacts: tuple[Contact, ...]) -> tuple[Symbol, ...]:
    """The flags of all contacts."""
    return tuple(symbol for contact in contacts for symbol in ContactFlags(contact).symbols)
