"""What is fuzzed: how an input is made of chance, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from random import Random


class Depth(IntEnum):
    """How far a case goes with what it has read."""

    READ = 0
    WRITE = 1  # back into text, and read again
    DERIVE = 2  # equations, derivatives, a quick reduction
    COMPILE = 3  # machine code, called once


_DEPTHS = (Depth.READ,) * 78 + (Depth.WRITE,) * 15 + (Depth.DERIVE,) * 6 + (Depth.COMPILE,)


@dataclass(frozen=True)
class Subject:
    """One way into the program.

    share: how many of 1000 cases. make: an input as text, of chance alone. run: what is done with it; it may raise a
    KinegraphError, and nothing else.
    """

    name: str
    share: int
    make: Callable[[Random], str]
    run: Callable[[str, Depth], None]

    def case(self, seed: int, number: int) -> tuple[str, Depth]:
        """The input of one case and how far it goes: always the same for the same numbers."""
        chance = Random(f"{self.name}/{seed}/{number}")
        depth = chance.choice(_DEPTHS)
        return self.make(chance), depth


def chance_of(text: str) -> Random:
    """Chance that depends on an input alone, so that it is the same when the input is run again by itself."""
    return Random(text.encode("utf-8", "surrogatepass"))
