"""What the equations of contacts take and give: flags of the contact mode, as inputs, and the names of outputs.

One graph serves all modes. A row whose flag is zero is inactive: it is multiplied by zero, and its multiplier is the
solution of 1 lambda = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.constraints import Contact

#: Outputs: conditions of the mode and contact forces; and for impacts: gaps and their scales, rates of all rows and
#: their scales, accelerations of the rows with open contacts, responses of rows and of velocities to unit impulses.
CONDITIONS, FORCES = "conditions", "contact_forces"
GAPS, SPANS, REACHES, RATES, SPEEDS, FREE, COMPLIANCE, RESPONSES = (
    "gaps", "spans", "reaches", "rates", "speeds", "free", "compliance", "responses",
)  # fmt: skip

#: Flags of every contact: 1 if it is closed, and the margin added to its condition.
CLOSED, MARGIN = "closed", "margin"
#: Flags of friction: 1 if it sticks; the friction force per normal force while it slips; the condition that is
#: monitored (the force is within the cone, the slip continues); and the margin added to it.
STICKS, DRAG, CONE, SLIPS, SLIP_MARGIN = "sticks", "drag", "cone", "slips", "slip_margin"
#: For two slip directions: the direction of slip that the condition refers to.
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
