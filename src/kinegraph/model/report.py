"""Places in a model file, and the findings of its reader: omissions, rounded values, oddities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from kinegraph.errors import Place, shortened

# What a reader found in a file: what is left out of the equations, what was rounded, what is odd.


class FindingKind(Enum):
    """What a line of the report is about; the value is its heading."""

    LEFT_OUT = "left out: the equations do not have it"
    NOT_UNDERSTOOD = "not understood, left out"
    RIGHT_ANGLE = "rounded right angle, taken as exact"
    DOUBLE_ANGLE = "right angle in double precision, taken as exact"
    MESH = "mesh that pages cannot draw"
    NEAR_RIGHT_ANGLE = "almost a right angle, taken as written"
    ASSUMED = "not stated, assumed"
    INERTIA = "inertia no real body has, taken as stated"
    MASSLESS = "joint that moves no mass"
    NOT_USED = "no bearing on the motion, not used"


#: What every command mentions and `kg.load` warns of. The others are for `check` and those who ask.
MENTIONED = frozenset({FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD, FindingKind.RIGHT_ANGLE, FindingKind.MESH})

#: What was made exact.
ROUNDED = frozenset({FindingKind.RIGHT_ANGLE, FindingKind.DOUBLE_ANGLE})

#: What is in the file and not in the mechanism.
MISSING = frozenset({FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD, FindingKind.MESH, FindingKind.NOT_USED})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing about a file.

    `topic` is a short plural noun (actuators, contacts) by which findings are counted; `count` is how many times the
    file says it, `place` where for the first time, `distance` how far what was rounded is away.
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
        return "".join(letter if letter.isprintable() else "?" for letter in line)  # a file may name things anything


@dataclass(frozen=True, slots=True)
class Report:
    """Everything worth knowing about a file that could be read."""

    findings: tuple[Finding, ...] = ()

    def of(self, *kinds: FindingKind) -> tuple[Finding, ...]:
        """The findings of these kinds, in the order they were made."""
        return tuple(finding for finding in self.findings if finding.kind in kinds)

    @property
    def complete(self) -> bool:
        """Whether everything that bears on the motion is in the equations."""
        return not self.of(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)

    def with_more(self, more: Iterable[Finding]) -> Report:
        """The report with findings added."""
        return Report((*self.findings, *more))

    def summary(self, *kinds: FindingKind) -> str:
        """What is left out or rounded (or of these kinds), by topic and number, on one line; empty if nothing is."""
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


# Where in a model file each piece of a mechanism was written.

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
