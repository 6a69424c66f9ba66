"""What reading a robot file gives: the mechanism with a report of what was found, and the names the file uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from kinegraph.errors import ModelError, Place
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.places import Places
from kinegraph.model.report import Finding, FindingKind, Report
from kinegraph.model.validation.inertia import check_inertia


class Base(Enum):
    """How the root link of a robot stands: fixed, or free with six degrees of freedom."""

    FIXED = "fixed"
    FLOATING = "floating"


@dataclass(frozen=True)
class Robot:
    """A mechanism read from a robot file.

    `links` maps the name of every body to the name the file uses, `joints` that of every position and quasi-velocity
    coordinate to the joint it belongs to.
    """

    mechanism: Mechanism
    links: Mapping[str, str]
    joints: Mapping[str, str]

    @property
    def report(self) -> Report:
        """Everything worth knowing about the file; the mechanism keeps it."""
        return self.mechanism.report


class Findings:
    """Collects findings while a file is read."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._reported: set[Finding] = set()
        self._counted: dict[tuple[FindingKind, str, str], _Occurrences] = {}

    def add(
        self, kind: FindingKind, message: str, place: Place | None = None, topic: str = "", distance: float = 0.0
    ) -> None:
        """One thing that is worth a line of its own; said again of the same place, it is still one thing."""
        finding = Finding(kind, message, place, topic, distance=distance)
        if finding not in self._reported:
            self._reported.add(finding)
            self._found.append(finding)

    def count(self, kind: FindingKind, topic: str, what: str, place: Place | None, name: str = "") -> None:
        """One more occurrence of something that gets one line in all, with the names of those that have one."""
        found = self._counted.setdefault((kind, topic, what), _Occurrences(place))
        found.count += 1
        if name:
            found.names.append(name)

    def report(self) -> Report:
        """The report; what is counted comes last."""
        counted = [
            Finding(kind, found.message(what), found.place, topic, found.count)
            for (kind, topic, what), found in self._counted.items()
        ]
        return Report((*self._found, *counted))


@dataclass
class _Occurrences:
    place: Place | None
    count: int = 0
    names: list[str] = field(default_factory=list)

    def message(self, what: str) -> str:
        listed = ", ".join(self.names[:_NAMES]) + (", ..." if len(self.names) > _NAMES else "")
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{what}{times}{': ' + listed if listed else ''}"


_NAMES = 12


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
