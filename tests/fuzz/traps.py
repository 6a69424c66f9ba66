"""A program that does wrong in every way the fuzzer has to notice."""

from __future__ import annotations

import ctypes
from random import Random

from kinegraph.errors import KinegraphError
from tests.fuzz.subject import Depth, Subject

WAYS = ("nothing", "refuse", "raise", "memory", "crash", "spin")


def make(chance: Random) -> str:
    """One of the ways."""
    return chance.choice(WAYS)


def run(way: str, depth: Depth) -> None:
    """Do wrong this way."""
    if way == "refuse":
        raise KinegraphError("no")
    if way == "raise":
        raise KeyError(way)
    if way == "memory":
        bytearray(3 * 1024**3)
    if way == "crash":
        ctypes.string_at(0)
    while way == "spin":
        pass


#: No part of a campaign.
TRAPS = Subject("traps", 0, make, run)
