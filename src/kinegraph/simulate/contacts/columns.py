"""What a run with contacts says of them: gaps, forces and modes over time, and states that fit the closed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kinegraph.derive.constraints.projection import PROJECTED
from kinegraph.derive.contacts.graphs import FORCES, GAPS
from kinegraph.graph.node import Graph, Symbol
from kinegraph.model.constraints.records import Contact
from kinegraph.simulate.equations import row_values
from kinegraph.solve.contacts.mode import ContactMode, Phase, Watched
from kinegraph.solve.problem.problem import Floats

#: The numbers of the column `NAME.mode`.
OPEN, CLOSED, SLIPS, STICKS = range(4)

_LEFT = 10.0  # times its margin: a contact that others hold has left the surface


def phase_slices(phases: Sequence[Phase], rows: int) -> Iterator[tuple[Phase, slice]]:
    """Every phase with the rows that were saved in it."""
    ends = [*(phase.row for phase in phases[1:]), rows]
    for phase, end in zip(phases, ends, strict=False):  # a start that the laws refuse has no phase
        if end > phase.row:
            yield phase, slice(phase.row, end)


def closed_states(projection: Graph, symbols: Sequence[Symbol], x: Floats, rows: Floats, size: int) -> Floats:
    """Rows of states; those in which a contact is closed are projected onto it. rows: which these are."""
    states = x[:, : x.shape[1]].copy()
    if np.any(rows):
        for _ in range(2):
            found = row_values(projection, symbols, states[rows])[PROJECTED]
            states[rows, :size] = found
    return states


def contact_columns(
    contacts: Sequence[Contact], forces: Graph, gaps: Graph, symbols: Sequence[Symbol], x: Floats
) -> dict[str, Floats]:
    """The gap and the force of every contact, along its normal and its slip directions."""
    columns: dict[str, Floats] = {}
    values = row_values(forces, symbols, x)[FORCES]
    distances = row_values(gaps, symbols, x)[GAPS]
    place = 0
    for number, contact in enumerate(contacts):
        columns[f"{contact.name}.gap"] = distances[:, number]
        for column in force_columns(contact):
            columns[column] = values[:, place]
            place += 1
    return columns


def force_columns(contact: Contact) -> tuple[str, ...]:
    """The names of the columns of a contact's forces."""
    sliding = ("friction",) if len(contact.slip) == 1 else tuple(f"friction_{k + 1}" for k in range(len(contact.slip)))
    return tuple(f"{contact.name}.{word}" for word in ("normal", *sliding))


def mode_columns(
    contacts: Sequence[Contact], phases: Sequence[Phase], gaps: Mapping[str, Floats], rows: int
) -> dict[str, Floats]:
    """For every contact 0 while it is open, 1 while it is closed without friction, 2 while it slips, 3 sticks."""
    columns = {f"{contact.name}.mode": np.zeros(rows) for contact in contacts}
    for phase, where in phase_slices(phases, rows):
        for contact, mode in zip(contacts, phase.mode, strict=True):
            left = mode.held & (gaps[f"{contact.name}.gap"][where] > _LEFT * mode.margin)
            columns[f"{contact.name}.mode"][where] = np.where(left, OPEN, _mode_number(contact, mode))
    return columns


def _mode_number(contact: Contact, mode: ContactMode) -> int:
    if not (mode.closed or mode.held):
        return OPEN
    if not contact.slip or mode.held:
        return CLOSED
    return SLIPS if mode.watched is Watched.SLIP else STICKS
