"""Legal names for whatever a file calls its parts: different names stay different, legal names stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kinegraph.model.names import MAX_NAME, name_fault

_ILLEGAL = re.compile(r"[^\w$]+")
_BEGINNING = re.compile(r"[^\W\d_]")


class NameTable:
    """Gives out names that are legal and used once.

    The names of `originals` that are legal keep themselves, before anything else is named; the others are spelt with
    `_` for what a name must not contain, and a number after `$` where that would be taken.
    """

    def __init__(self, originals: Iterable[str], forbidden: Iterable[str] = ()) -> None:
        self._forbidden = frozenset(forbidden)
        self._given: dict[str, str] = {}
        listed = list(dict.fromkeys(originals))
        self._taken = {name for name in listed if self._legal(name)}
        for name in listed:
            self._given[name] = name if name in self._taken else self.fresh(name)

    def __getitem__(self, original: str) -> str:
        """The legal name of an original."""
        return self._given[original]

    @property
    def values(self) -> tuple[str, ...]:
        """All names given out."""
        return tuple(self._given.values())

    def fresh(self, wanted: str) -> str:
        """A new legal name like the one wanted."""
        spelt = _ILLEGAL.sub("_", wanted).strip("_")[: MAX_NAME - 12] or "unnamed"
        if not _BEGINNING.match(spelt):
            spelt = f"n_{spelt}"
        if not self._legal(spelt):
            spelt += "_"
        name, number = spelt, 1
        while name in self._taken or not self._legal(name):
            number += 1
            name = f"{spelt}${number}"
        self._taken.add(name)
        return name

    def _legal(self, name: str) -> bool:
        return name_fault(name) is None and name not in self._forbidden
