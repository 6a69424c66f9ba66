"""Legs of one type written so that nothing but symbols differs, to be computed side by side in the lanes of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.platforms.legs.constants import LegNumbers
from kinegraph.derive.tree.limbs import SideBySide, known_numbers
from kinegraph.graph.node import Kind, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.recognise import FoundLeg, Platform
from kinegraph.model.state_layout import force_on


@dataclass(frozen=True)
class LegsSideBySide(SideBySide):
    """The legs in symbols."""

    legs: tuple[LegNumbers, ...]


def legs_side_by_side(platform: Platform, numbers: Sequence[LegNumbers]) -> LegsSideBySide:
    """Symbols for the numbers in which legs of one type differ."""
    legs = list(numbers)
    static = known_numbers(numbers[0].armature.builder)
    if not all(static[item.index] for one in numbers for item in one.numbers):
        return LegsSideBySide({}, {}, tuple(legs))
    known: dict[Symbol, Scalar] = {}
    exchange: dict[Exchanged, Exchanged] = {}
    for group in _groups(platform):
        symbols_of: dict[tuple[Scalar, ...], list[Symbol]] = {}
        for place, column in enumerate(zip(*(numbers[k].numbers for k in group), strict=True)):
            if all(item == column[0] for item in column):
                continue
            # Numbers that agree in all legs keep doing so: round parts stay round.
            symbols = symbols_of.setdefault(
                column, [Symbol(Kind.PARAMETER, f"number {place} of leg {k}") for k in group]
            )
            known |= dict(zip(symbols, column, strict=True))
            exchange |= _cycle(symbols)
            for k, symbol in zip(group, symbols, strict=True):
                legs[k] = _with_number(legs[k], place, column[0].symbol(*symbol))
        exchange |= _coordinates([platform.legs[k] for k in group])
    return LegsSideBySide(known, exchange, tuple(legs))


def _groups(platform: Platform) -> list[list[int]]:
    """The legs by type, several of each."""
    types = dict.fromkeys(leg.type for leg in platform.legs)
    found = [[k for k, leg in enumerate(platform.legs) if leg.type is kind] for kind in types]
    return [group for group in found if len(group) > 1]


def _with_number(leg: LegNumbers, place: int, item: Scalar) -> LegNumbers:
    numbers = list(leg.numbers)
    numbers[place] = item
    return leg.with_numbers(numbers)


def _coordinates(legs: Sequence[FoundLeg]) -> dict[Exchanged, Exchanged]:
    """How the symbols of motion and force go over from leg to leg."""
    found: dict[Exchanged, Exchanged] = {}
    for names in zip(*(leg.coordinates for leg in legs), strict=True):
        found |= _cycle([Symbol(Kind.COORDINATE, name) for name in names])
        found |= _cycle([Symbol(Kind.VELOCITY, name + "'") for name in names])
        found |= _cycle([Symbol(Kind.ACCELERATION, name + "''") for name in names])
        found |= _cycle([Symbol(Kind.INPUT, force_on(name + "'")) for name in names])
    return found


def _cycle(symbols: Sequence[Symbol]) -> dict[Exchanged, Exchanged]:
    found: dict[Exchanged, Exchanged] = {}
    found.update(pairwise([*symbols, symbols[0]]))
    return found
