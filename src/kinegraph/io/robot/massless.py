"""Joints that move no mass: forward dynamics has no answer for them, and the report says so."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.io.robot.report import Findings
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Body, Coordinate, Inertia, Mechanism, Rotation, Shift
from kinegraph.model.report import FindingKind

_EMPTY = Inertia()


def report_massless(mechanism: Mechanism, findings: Findings) -> None:
    """Report the coordinates none of whose bodies carries a body with mass."""
    heavy = _carriers(mechanism)
    moving: set[str] = set()
    for body in mechanism.bodies:
        if body.name in heavy:
            moving.update(_coordinates(body))
    for coordinate in mechanism.coordinates:
        name = coordinate.name if isinstance(coordinate, Coordinate) else coordinate.names[0]
        if name not in moving:
            message = f"{name} moves no mass; forward dynamics needs some"
            findings.add(FindingKind.MASSLESS, message)


def _carriers(mechanism: Mechanism) -> set[str]:
    """Bodies with mass, and all bodies that stand below one."""
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
