"""Rigid contacts from the shapes of a robot file, so that bodies rest on fixed planes.

Spheres, capsules (both ends) and boxes (all corners) of moving bodies can touch the planes of the fixed frame. These
contacts are exact: each is a point, or a point with a radius. All other pairs are left out, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.model.constraints import Contact
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.model.expressions import Expression, Name, Scalar, expression
from kinegraph.model.mechanism import ZERO, Mechanism, Point
from kinegraph.model.platforms.initial_pose import pose
from kinegraph.model.poses import Floats
from kinegraph.model.report import Finding, FindingKind, Report
from kinegraph.model.robot_data import Shape, ShapeKind, ShapeRole

_TOPIC = "contacts"


@dataclass(frozen=True)
class _Tip:
    """A point of a body, and its distance from the surface that may touch; corner: the point itself touches."""

    body: str
    place: Floats
    radius: float
    corner: bool


def with_contacts(mechanism: Mechanism, *, restitution: Scalar = 0, friction: Scalar = 0) -> Mechanism:
    """The mechanism with a `contact` wherever one of its spheres, capsules or boxes may touch a fixed plane.

    friction: of the corners of boxes. Round shapes have no friction, because their contact point moves along them.
    """
    values = {name: float(value) for name, value in parameter_values(mechanism, {}).items()}
    solid = [one for one in mechanism.extras if isinstance(one, Shape) and one.role is not ShapeRole.VISUAL]
    planes = [pose(one.place, values) for one in solid if one.kind is ShapeKind.PLANE and one.body is None]
    if not planes:
        raise ModelError(f"{mechanism.name} has no plane on the fixed frame, so nothing can touch it")
    tips = [tip for shape in solid if shape.body is not None for tip in _tips(shape, shape.body, values)]
    points = [Point(f"touch_{k}", tip.body, _triple(tip.place)) for k, tip in enumerate(tips, 1)]
    contacts = [
        _contact(f"ground_{m}_{point.name}", plane, point.name, tip, expression(restitution), expression(friction))
        for m, plane in enumerate(planes, 1)
        for point, tip in zip(points, tips, strict=True)
    ]
    return replace(
        mechanism,
        points=(*mechanism.points, *points),
        contacts=(*mechanism.contacts, *contacts),
        report=_updated_report(mechanism.report, solid, tips, friction),
    )


def made_of_shapes(mechanism: Mechanism) -> tuple[str, ...]:
    """The names of the contacts that `with_contacts` has made of this mechanism's shapes."""
    bare = replace(mechanism, contacts=(), report=Report())
    try:
        made = {one.name: one.gap for one in with_contacts(bare).contacts}
    except ModelError:  # no plane
        return ()
    return tuple(one.name for one in mechanism.contacts if made.get(one.name) == one.gap)


def _tips(shape: Shape, body: str, values: Mapping[str, float]) -> Iterator[_Tip]:
    here = pose(shape.place, values)
    sizes = [float(number(size, values)) for size in shape.sizes]
    if shape.kind is ShapeKind.SPHERE:
        yield _Tip(body, here[:3, 3], sizes[0], False)
    elif shape.kind is ShapeKind.CAPSULE:
        for side in (-0.5, 0.5):
            yield _Tip(body, here[:3, 3] + side * sizes[1] * here[:3, 2], sizes[0], False)
    elif shape.kind is ShapeKind.BOX:
        for signs in product((-0.5, 0.5), repeat=3):
            yield _Tip(body, here[:3, 3] + here[:3, :3] @ (np.array(signs) * sizes), 0.0, True)


def _contact(name: str, plane: Floats, point: str, tip: _Tip, restitution: Expression, friction: Expression) -> Contact:
    distance = float(plane[:3, 2] @ plane[:3, 3]) + tip.radius
    gap = _along(plane[:3, 2], point, "") - expression(_rounded(distance))
    if not tip.corner or friction == ZERO:
        return Contact(name, gap, restitution)
    slip = tuple(_along(plane[:3, axis], point, "'") for axis in (0, 1))
    return Contact(name, gap, restitution, friction, slip)


def _along(direction: Floats, point: str, prime: str) -> Expression:
    """The position (or velocity) of a point along a direction."""
    terms = [
        expression(_rounded(part)) * Name(f"{point}.{axis}{prime}")
        for axis, part in zip("xyz", direction.tolist(), strict=True)
        if _rounded(part)
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _triple(place: Floats) -> tuple[Expression, Expression, Expression]:
    x, y, z = (expression(_rounded(part)) for part in place.tolist())
    return x, y, z


def _rounded(value: float) -> float:
    """Rounded, so that zeros and ones are exact."""
    return round(value, 15) + 0.0


def _updated_report(report: Report, solid: Sequence[Shape], tips: Sequence[_Tip], friction: Scalar) -> Report:
    """The report, in which only the contacts that are still missing are left out."""
    taken = {ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.BOX, ShapeKind.PLANE}
    others = [one for one in solid if one.kind not in taken]
    findings = [one for one in report.findings if one.topic != _TOPIC]
    messages = ["contacts between moving bodies"]
    messages += [f"contacts of {len(others)} cylinders, ellipsoids and meshes"] if others else []
    messages += ["friction of spheres and capsules"] if friction and any(not tip.corner for tip in tips) else []
    found = [Finding(FindingKind.LEFT_OUT, message, topic=_TOPIC) for message in messages]
    return Report((*findings, *found))
