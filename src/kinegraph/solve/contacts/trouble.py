"""What may go wrong at a contact: the run ends there and says what."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


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
