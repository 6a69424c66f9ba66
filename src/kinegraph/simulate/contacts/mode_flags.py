"""A mode as the numbers that x ends with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.derive.contacts.flags import (
    ALONG,
    CLOSED,
    CONE,
    DRAG,
    MARGIN,
    SLIP_MARGIN,
    SLIPS,
    STICKS,
    ContactFlags,
)
from kinegraph.model.constraints.records import Contact
from kinegraph.solve.contacts.mode import ContactMode, Mode, Watched
from kinegraph.solve.problem.problem import Floats


def mode_flags(contacts: Sequence[Contact], mode: Mode) -> Floats:
    """The flags of a mode, in the order of x."""
    found: list[float] = []
    for contact, one in zip(contacts, mode, strict=True):
        values = _flags(one, len(contact.slip))
        found += [values[word] for word in ContactFlags(contact).words]
    return np.array(found)


def _flags(one: ContactMode, directions: int) -> dict[str, float]:
    values = {CLOSED: float(one.closed), MARGIN: one.margin, STICKS: float(one.sticks)}
    values |= {CONE: float(one.watched is Watched.CONE), SLIPS: 0.0, DRAG: 0.0}
    values[SLIP_MARGIN] = 1.0 if one.watched is Watched.NOTHING else one.slip_margin
    if directions == 1 and one.drag:
        values[DRAG] = one.drag[0]
        values[SLIPS] = -float(np.sign(one.drag[0])) if one.watched is Watched.SLIP else 0.0
    if directions == 2:
        length = float(np.linalg.norm(one.drag)) if one.drag else 0.0
        along = [-part / length for part in one.drag] if length > 0.0 else [0.0, 0.0]
        values |= dict(zip(ALONG, along, strict=True))
        values[DRAG] = -length
        values[SLIPS] = float(one.watched is Watched.SLIP)
    return values
