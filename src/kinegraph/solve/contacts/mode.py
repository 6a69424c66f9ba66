"""The mode of a run with contacts: which of them act and how; the contacts in numbers; and failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from kinegraph.model.mechanism import Impacts


class Watched(Enum):
    """The condition on a contact's friction that ends a mode."""

    NOTHING = 0
    CONE = 1
    SLIP = 2


@dataclass(frozen=True)
class ContactMode:
    """The mode of one contact.

    closed: its force acts and holds the gap at zero. held: the gap is zero without a force, because other closed
    contacts keep it so; it is watched. sticks: its friction force prevents slip. drag: the friction force along each
    slip direction per normal force, while it slips. watched: the condition on friction that ends the mode.
    margin, slip_margin: how far its conditions may fall below zero.
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
class ContactSet:
    """The contacts of a model in numbers.

    slips: the number of slip directions of each contact. changed: the part of the state that impulses change. These are
    the velocities, and with prescribed motions also the energy they supply. duration: the length of the run.
    """

    names: tuple[str, ...]
    restitution: tuple[float, ...]
    friction: tuple[float, ...]
    slips: tuple[int, ...]
    impacts: Impacts
    changed: slice
    duration: float

    @cached_property
    def normals(self) -> tuple[int, ...]:
        """The row of each contact's normal. Its slip directions follow."""
        return tuple(k + sum(self.slips[:k]) for k in range(len(self.slips)))


class Trouble(Enum):
    """Why no mode was found; the value is the message."""

    PENETRATES = "the gap is negative at the start"
    ENERGY = "the impact would create energy: with friction, this restitution law is inconsistent here"
    NO_IMPULSE = "no impulse satisfies the impact and friction laws"
    NO_FORCE = "no force satisfies Coulomb's law, and no impulse along the surface stops the slip (Painleve paradox)"
    CHATTER = "the mode changes repeatedly at one time"


class ContactTrouble(Exception):
    """A run ends because of its contacts; names: the contacts concerned."""

    def __init__(self, trouble: Trouble, names: Sequence[str], amount: str = "") -> None:
        self.trouble, self.names = trouble, tuple(names)
        super().__init__(f"{', '.join(names)}: {trouble.value}{amount}")
