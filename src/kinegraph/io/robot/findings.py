"""The result of reading a robot file: the mechanism, the names in the file, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from kinegraph.errors import ModelError, Place
from kinegraph.model.expressions import names
from kinegraph.model.mechanism import Body, Coordinate, Inertia, Mechanism, Rotation, Shift
from kinegraph.model.report import Finding, FindingKind, Places, Report
from kinegraph.model.robot_data import Extra, Shape, ShapeRole
from kinegraph.model.validation.mechanism import check_inertia


class Base(Enum):
    """The base of a robot: fixed, or floating with six degrees of freedom."""

    FIXED = "fixed"
    FLOATING = "floating"


@dataclass(frozen=True)
class Robot:
    """A mechanism read from a robot file.

    `links` maps the name of each body to its name in the file, `joints` maps each position and velocity to its joint.
    """

    mechanism: Mechanism
    links: Mapping[str, str]
    joints: Mapping[str, str]

    @property
    def report(self) -> Report:
        """The findings on the file, which are part of the mechanism."""
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
        """Add a finding with its own line; repeated findings are added once."""
        finding = Finding(kind, message, place, topic, distance=distance)
        if finding not in self._reported:
            self._reported.add(finding)
            self._found.append(finding)

    def count(self, kind: FindingKind, topic: str, what: str, place: Place | None, name: str = "") -> None:
        """Count an occurrence; all occurrences share one line, with their names."""
        found = self._counted.setdefault((kind, topic, what), _Occurrences(place))
        found.count += 1
        if name:
            found.names.append(name)

    def report(self) -> Report:
        """The report; counted findings come last."""
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
    """The body; its inertia is accepted (and reported) if it is physically impossible."""
    try:
        check_inertia(body, {}, Places())
    except ModelError as error:
        taken = places.renew(body, replace(body, inertia=replace(body.inertia, accepted=True)))
        check_inertia(taken, {}, places)
        findings.add(FindingKind.INERTIA, str(error).partition("\n")[0], places.of(body, "Jx"))
        return taken
    return body


def report_contacts(extras: Iterable[Extra], findings: Findings) -> None:
    """Report the number of collision shapes, whose contacts only simulators know."""
    solid = [extra for extra in extras if isinstance(extra, Shape) and extra.role is not ShapeRole.VISUAL]
    if solid:
        message = f"contacts of {len(solid)} collision shapes, which only kg.simulator uses"
        findings.add(FindingKind.LEFT_OUT, message, topic="contacts")


_EMPTY = Inertia()


def report_massless(mechanism: Mechanism, findings: Findings) -> None:
    """Report the coordinates that move no mass."""
    heavy = _carriers(mechanism)
    moving: set[str] = set()
    for body in mechanism.bodies:
        if body.name in heavy:
            moving.update(_coordinates(body))
    for coordinate in mechanism.coordinates:
        name = coordinate.name if isinstance(coordinate, Coordinate) else coordinate.names[0]
        if name not in moving:
            message = f"{name} moves no mass, so forward dynamics is not possible"
            findings.add(FindingKind.MASSLESS, message)


def _carriers(mechanism: Mechanism) -> set[str]:
    """Bodies with mass, and all their ancestors."""
    base = {body.name: body.base for body in mechanism.bodies}
    found: set[str] = set()
    for body in mechanism.bodies:
        inertia = body.inertia
        here = body.name if any(_stated(inertia)) else None
        while here is not None and here not in found:
            found.add(here)
            here = base[here]
    return found


def _stated(inertia: Inertia) -> Iterator[bool]:
    return (getattr(inertia, part) != getattr(_EMPTY, part) for part in ("mass", "Jx", "Jy", "Jz"))


def _coordinates(body: Body) -> Iterator[str]:
    for transform in body.transforms:
        if isinstance(transform, Rotation):
            yield from names(transform.angle)
        elif isinstance(transform, Shift):
            yield from names(transform.distance)
        else:
            for component in transform.components:
                yield from names(component)
