"""Where in a model file each piece of a mechanism was written."""

from __future__ import annotations

from typing import TypeVar

from kinegraph.errors import Place

T = TypeVar("T")


class Places:
    """Places by object identity, so that the mechanism itself need not carry them and equal models compare equal."""

    def __init__(self) -> None:
        self._places: dict[int, dict[str, Place]] = {}
        self._alive: list[object] = []  # an id is only good while its object lives

    def mark(self, item: T, place: Place, part: str = "") -> T:
        """Remember where `item` (or a named part of it) stands; returns `item`."""
        if id(item) not in self._places:
            self._places[id(item)] = {}
            self._alive.append(item)
        self._places[id(item)][part] = place
        return item

    def of(self, item: object, part: str = "") -> Place | None:
        """The place of `item`, or of a part of it if that is known; None when it was not read from a file."""
        parts = self._places.get(id(item), {})
        return parts.get(part) or parts.get("")

    def renew(self, old: object, new: T) -> T:
        """`new` stands where `old` stood; returns `new`."""
        for part, place in self._places.get(id(old), {}).items():
            self.mark(new, place, part)
        return new
