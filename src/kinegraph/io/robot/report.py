"""What reading a robot file gives: the mechanism, the names it was given, and a report of what was found on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from kinegraph.errors import ModelError, Place
from kinegraph.io.robot.xml import Element
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.places import Places
from kinegraph.model.validation.inertia import check_inertia


class Base(Enum):
    """How the root link of a robot stands: fixed, or free with six degrees of freedom."""

    FIXED = "fixed"
    FLOATING = "floating"


class FindingKind(Enum):
    """What a line of the report is about."""

    RIGHT_ANGLE = "right angle taken as exact"
    NEAR_RIGHT_ANGLE = "almost a right angle, kept as written"
    INERTIA = "inertia no real body has, taken as stated"
    MASSLESS = "joint that moves no mass"
    MESH = "mesh not found"
    IGNORED = "not used"
    UNSUPPORTED = "not supported yet, left out"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing about a file."""

    kind: FindingKind
    message: str
    place: Place | None = None

    def __str__(self) -> str:
        where = f"line {self.place.line}: " if self.place else ""
        return f"{where}{self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything worth knowing about a file that could be read."""

    findings: tuple[Finding, ...] = ()

    def of(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind is kind)

    def __str__(self) -> str:
        lines: list[str] = []
        for kind in FindingKind:
            found = self.of(kind)
            lines += [f"{kind.value} ({len(found)}):", *(f"  {finding}" for finding in found)] if found else []
        return "\n".join(lines) or "nothing to report"


@dataclass(frozen=True)
class Robot:
    """A mechanism read from a robot file.

    `links` maps the name of every body to the name the file uses, `joints` that of every position and quasi-velocity
    coordinate to the joint it belongs to.
    """

    mechanism: Mechanism
    report: Report
    links: Mapping[str, str]
    joints: Mapping[str, str]


@dataclass
class Findings:
    """Collects findings while a file is read."""

    found: list[Finding] = field(default_factory=list)
    _ignored: Counter[str] = field(default_factory=Counter)

    def add(self, kind: FindingKind, message: str, place: Place | None = None) -> None:
        self.found.append(Finding(kind, message, place))

    def ignore(self, element: Element, inside: str = "") -> None:
        """An element that has no bearing on the mechanism; counted, not listed one by one."""
        self._ignored[f"<{element.tag}>{' of ' + inside if inside else ''}"] += 1

    def report(self) -> Report:
        """The report; elements not used come last, with how often they occur."""
        counted = [
            Finding(FindingKind.IGNORED, f"{what}, {times} time{'s' * (times > 1)}")
            for what, times in sorted(self._ignored.items())
        ]
        return Report((*self.found, *counted))


def accepted_where_needed(body: Body, places: Places, findings: Findings) -> Body:
    """The body, its inertia marked as accepted (and reported) if it breaks the triangle inequality."""
    try:
        check_inertia(body, {}, Places())
    except ModelError as error:
        taken = places.renew(body, replace(body, inertia=replace(body.inertia, accepted=True)))
        check_inertia(taken, {}, places)
        findings.add(FindingKind.INERTIA, str(error).partition("\n")[0], places.of(body, "Jx"))
        return taken
    return body
