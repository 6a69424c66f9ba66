"""Places in a model file, and the findings of its reader: omissions, rounded values, unusual data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from kinegraph.errors import Place, shortened


class FindingKind(Enum):
    """The kinds of findings; the value is the heading in the report."""

    LEFT_OUT = "left out: not in the equations of motion"
    NOT_UNDERSTOOD = "not understood, left out"
    RIGHT_ANGLE = "rounded right angle, taken as exact"
    DOUBLE_ANGLE = "right angle in double precision, taken as exact"
    MESH = "mesh that cannot be drawn"
    NEAR_RIGHT_ANGLE = "almost a right angle, used as written"
    ASSUMED = "not specified, assumed"
    INERTIA = "physically impossible inertia, used as given"
    MASSLESS = "joint that moves no mass"
    CONTACTS = "left out of contacts in `kg.simulator`, which are rigid"
    NOT_USED = "no effect on the motion, not used"


#: Findings that every command mentions and `kg.load` warns about. `kinegraph check` lists all.
MENTIONED = frozenset({FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD, FindingKind.RIGHT_ANGLE, FindingKind.MESH})

#: Findings on values that were made exact.
ROUNDED = frozenset({FindingKind.RIGHT_ANGLE, FindingKind.DOUBLE_ANGLE})

#: Findings on data of the file that is not in the mechanism.
MISSING = frozenset({FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD, FindingKind.MESH, FindingKind.CONTACTS,
                     FindingKind.NOT_USED})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact that the user should know about a file.

    `topic` is a short plural noun (actuators, contacts) by which findings are counted. `count` is the number of
    occurrences in the file, `place` the first of them, `distance` the change of a rounded value.
    """

    kind: FindingKind
    message: str
    place: Place | None = None
    topic: str = ""
    count: int = 1
    distance: float = 0.0

    def __str__(self) -> str:
        where = f"line {self.place.line}: " if self.place else ""
        line = f"{where}{shortened(self.message, 500)}"
        return "".join(letter if letter.isprintable() else "?" for letter in line)  # names may contain any character


@dataclass(frozen=True, slots=True)
class Report:
    """All findings on a file that was read."""

    findings: tuple[Finding, ...] = ()

    def of(self, *kinds: FindingKind) -> tuple[Finding, ...]:
        """The findings of these kinds, in order."""
        return tuple(finding for finding in self.findings if finding.kind in kinds)

    @property
    def complete(self) -> bool:
        """Whether everything that affects the motion is in the equations."""
        return not self.of(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)

    def with_more(self, more: Iterable[Finding]) -> Report:
        """The report with findings added."""
        return Report((*self.findings, *more))

    def summary(self, *kinds: FindingKind) -> str:
        """Omissions and rounded values (or findings of these kinds) by topic and count, on one line; may be empty."""
        counts: dict[str, int] = {}
        for finding in self.of(*(kinds or MENTIONED)):
            topic = finding.topic or finding.kind.value
            counts[topic] = counts.get(topic, 0) + finding.count
        return ", ".join(f"{topic} ({count})" if count > 1 else topic for topic, count in counts.items())

    def __str__(self) -> str:
        lines: list[str] = []
        for kind in FindingKind:
            found = self.of(kind)
            if kind is FindingKind.NOT_USED and found:
                lines += [f"{kind.value}:", f"  {'; '.join(finding.message for finding in found)}"]
            elif found:
                lines += [f"{kind.value} ({len(found)}):", *(f"  {finding}" for finding in found)]
        return "\n".join(lines) or "nothing to report"


T = TypeVar("T")


class Places:
    """Places in a file by object identity. The mechanism itself does not store them, so equal models compare equal."""

    def __init__(self) -> None:
        self._places: dict[int, dict[str, Place]] = {}
        self._alive: list[object] = []  # an id is valid only while its object lives

    def mark(self, item: T, place: Place, part: str = "") -> T:
        """Store the place of `item` (or of a named part of it); returns `item`."""
        if id(item) not in self._places:
            self._places[id(item)] = {}
            self._alive.append(item)
        self._places[id(item)][part] = place
        return item

    def of(self, item: object, part: str = "") -> Place | None:
        """The place of `item`, or of a part of it if that is known; None if it was not read from a file."""
        parts = self._places.get(id(item), {})
        return parts.get(part) or parts.get("")

    def renew(self, old: object, new: T) -> T:
        """Give `new` the places of `old`; returns `new`."""
        for part, place in self._places.get(id(old), {}).items():
            self.mark(new, place, part)
        return new
