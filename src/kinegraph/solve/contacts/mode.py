"""The mode of a run with contacts: which of them act and how, the quantities that decide it, and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from kinegraph.model.mechanism import Impacts
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.loops.contact_tolerances import BELOW, FLOOR, SHIFT, UNSEEN

# The mode of a run with contacts: which of them act, and how; and the numbers that decide on it.


class Watched(Enum):
    """What is watched of the friction of a contact."""

    NOTHING = 0
    CONE = 1
    SLIP = 2


@dataclass(frozen=True)
class ContactMode:
    """One contact.

    closed: its force acts and holds the gap at zero. held: the gap is zero, and other closed contacts keep it so as
    long as the surfaces let them: it is watched.
    sticks: nothing slips, by its own force. drag: the friction force along each slip direction per normal force, while
    it slips. watched: what is watched of its friction. margin, slip_margin: what its conditions may go below zero.
    """

    closed: bool = False
    held: bool = False
    sticks: bool = False
    drag: tuple[float, ...] = ()
    watched: Watched = Watched.NOTHING
    margin: float = 0.0
    slip_margin: float = 0.0


Mode = tuple[ContactMode, ...]


@dataclass(frozen=True)
class Phase:
    """A part of a run in one mode: when it began, and the first row of the run that was saved in it."""

    mode: Mode
    start: float
    row: int


@dataclass(frozen=True)
class Snapshot:
    """What a state says of its contacts. Rows: contact by contact, the normal first, then the slip directions.

    gaps, spans: of each contact, and the size of what a gap is the difference of. reaches: by how much unit motions of
    all coordinates change a gap. rates, speeds: the same of the
    velocities of all rows. free: accelerations of the rows with all contacts open. compliance: of rows by unit
    impulses along rows. responses: of all that impulses change, by these.
    """

    gaps: Floats
    spans: Floats
    reaches: Floats
    rates: Floats
    speeds: Floats
    free: Floats
    compliance: Floats
    responses: Floats

    def closed_below(self, contact: int) -> float:
        """Gaps up to this are closed: they are what rounding leaves."""
        return float(BELOW * self.spans[contact] + FLOOR)

    def margin_below(self, contact: int) -> float:
        """What a gap that rests at zero may go below it: more than events take for rounding."""
        return self.closed_below(contact) + UNSEEN * float(self.reaches[contact])


@dataclass(frozen=True)
class ContactSet:
    """The contacts of a model in numbers; look: time and state -> what the state says.

    slips: how many slip directions each has. changed: where what impulses change is in the state: velocities, and where
    laws of time move something what they supply. duration: of the run.
    """

    names: tuple[str, ...]
    restitution: tuple[float, ...]
    friction: tuple[float, ...]
    slips: tuple[int, ...]
    impacts: Impacts
    look: Callable[[float, Floats], Snapshot]
    changed: slice
    duration: float

    @cached_property
    def normals(self) -> tuple[int, ...]:
        """The row of each contact's normal."""
        places, place = [], 0
        for count in self.slips:
            places.append(place)
            place += 1 + count
        return tuple(places)

    def noise(self, time: float, state: Floats) -> Floats:
        """What rounding may do to the accelerations of the rows, seen by moving the state a little to both sides."""
        shift = SHIFT * (1.0 + np.abs(state))
        shift[1::2] *= -0.7  # not all the same way, which may change nothing
        apart = self.look(time, state + shift).free - self.look(time, state - shift).free
        return np.asarray(np.abs(apart))

    def tangents(self, contact: int) -> tuple[int, ...]:
        """The rows of a contact's slip directions."""
        first = self.normals[contact] + 1
        return tuple(range(first, first + self.slips[contact]))


# What may go wrong at a contact: the run ends there and says what.


class Trouble(Enum):
    """Why no mode was found; the value is the message."""

    PENETRATES = "the gap is negative at the start"
    ENERGY = "the impact would create energy: with friction this law of restitution contradicts itself here"
    NO_IMPULSE = "no impulse obeys the laws of impact and friction"
    NO_FORCE = "no force obeys Coulomb's law, and no impulse along the surface ends the slip (Painleve)"
    CHATTER = "the mode changes again and again at one time"


class ContactTrouble(Exception):
    """The contacts concerned, by name."""

    def __init__(self, trouble: Trouble, names: Sequence[str], amount: str = "") -> None:
        self.trouble, self.names = trouble, tuple(names)
        super().__init__(f"{', '.join(names)}: {trouble.value}{amount}")
