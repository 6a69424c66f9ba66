"""Drawings of the shapes of compliant contacts: guides, pads, probes and receptacles, on the bodies that carry them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from kinegraph.model.elements import (
    Anchor,
    Arc,
    Capsule,
    CompliantContact,
    Cone,
    ContactShape,
    Cylinder,
    Plane,
    Sphere,
    Torus,
    Triple,
    anchors_of,
)
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import TIME, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem import Floats
from kinegraph.view.page.frames import FrameOnLink, Frames
from kinegraph.view.page.meshes import Part

#: A ring is drawn as so many rods; a plane on a body as a disc of this radius and thickness, relative to the model.
_RODS = 36
_DISC, _THIN = 0.1, 0.004
_GLASS = [0.62, 0.68, 0.76, 0.35]
_LEAST = 1e-9
_ROD = 0.015  # thickness of the rods of a cone, of its length


class ContactShapeDrawer:
    """The parts of a scene that show what compliant contacts touch. A shape of several contacts is drawn once."""

    def __init__(self, mechanism: Mechanism, frames: Frames, values: Mapping[str, Value]) -> None:
        self.mechanism, self.frames, self.values = mechanism, frames, values
        self.points = {point.name: (point.body, frames.point(k)) for k, point in enumerate(mechanism.points)}
        self.order = {body.name: place for place, body in enumerate(mechanism.bodies)}

    def parts(self) -> Iterator[Part]:
        """All shapes whose points do not move on their bodies."""
        contacts = [one for one in self.mechanism.elements if isinstance(one, CompliantContact)]
        shapes = dict.fromkeys(shape for one in contacts for shape in one.shapes)
        reach = self._reach(list(shapes))
        for shape in shapes:
            if not any(TIME in names(item) for anchor in anchors_of(shape) for item in anchor.position):
                yield from self._shape(shape, reach)

    def _reach(self, shapes: list[ContactShape]) -> float:
        """How far points of shapes are from the origins of their bodies: the size of planes follows from it."""
        found = [self._number(one.ring) for one in shapes if isinstance(one, Torus | Arc)]
        found += [self._number(one.radius) for one in shapes if not isinstance(one, Plane | Cone)]
        for shape in shapes:
            for anchor in anchors_of(shape):
                place = self._place(anchor)
                origin = self.frames.body(self._body(anchor)).position
                found.append(float(np.linalg.norm(place.position - origin)))
        return max(found, default=0.0)

    def _shape(self, shape: ContactShape, reach: float) -> Iterator[Part]:
        place = self._place(anchors_of(shape)[0])
        body = self._body(anchors_of(shape)[0])
        match shape:
            case Sphere():
                yield self._part("sphere", place, np.eye(3), [self._number(shape.radius)], body)
            case Capsule() | Cylinder():
                kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
                ends = place.position, self._place(shape.second).position
                yield self._rod(kind, place.link, ends, self._number(shape.radius), body)
            case Torus() | Arc():
                yield from self._ring(shape, place, body)
            case Cone():
                yield from self._wall(shape, place, body)
            case Plane():
                normal, size = place.rotation @ self._direction(shape.normal), max(reach, _LEAST)
                if body is None:
                    yield _ground(place.position, normal, 2 * size)
                    return
                ends = place.position - 2 * _THIN * size * normal, place.position
                yield {**self._rod("cylinder", place.link, ends, (1 + _DISC) * size, body), "color": _GLASS}

    def _ring(self, ring: Torus | Arc, place: FrameOnLink, body: str | None) -> Iterator[Part]:
        """A ring or an arc as a row of rods."""
        axis = self._direction(ring.normal)
        if isinstance(ring, Arc):
            first = _across(self._direction(ring.middle), axis)
            half = self._number(ring.half_angle)
        else:
            first, half = _across(np.eye(3)[int(np.argmin(np.abs(axis)))], axis), np.pi
        second = np.cross(axis, first)
        count = max(2, int(np.ceil(_RODS * half / np.pi)))
        size, radius = self._number(ring.ring), self._number(ring.radius)
        turns = np.linspace(-half, half, count + 1)
        around = [place.rotation @ (size * (np.cos(one) * first + np.sin(one) * second)) for one in turns]
        for ends in pairwise(around):
            yield self._rod("capsule", place.link, (place.position + ends[0], place.position + ends[1]), radius, body)

    def _wall(self, cone: Cone, place: FrameOnLink, body: str | None) -> Iterator[Part]:
        """A cone as rods along its wall, and its rim."""
        axis = self._direction(cone.axis)
        first = _across(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
        second = np.cross(axis, first)
        half, length = self._number(cone.half_angle), self._number(cone.length)
        radius = _ROD * length
        turns = np.linspace(0, 2 * np.pi, _RODS + 1)
        rim = [length * (np.cos(half) * axis + np.sin(half) * (np.cos(t) * first + np.sin(t) * second)) for t in turns]
        ends = [place.position + place.rotation @ one for one in rim]
        for pair in pairwise(ends):
            yield self._rod("capsule", place.link, pair, radius, body)
        for end in ends[:-1:3]:
            yield self._rod("capsule", place.link, (place.position, end), radius, body)

    def _rod(self, kind: str, link: int, ends: tuple[Floats, Floats], radius: float, body: str | None) -> Part:
        """A capsule or a cylinder between two points of a link; its own axis is z."""
        along = ends[1] - ends[0]
        length = float(np.linalg.norm(along))
        z = along / length if length > 0 else np.array([0.0, 0.0, 1.0])
        x = _across(np.eye(3)[int(np.argmin(np.abs(z)))], z)
        turn = np.column_stack([x, np.cross(z, x), z])
        return self._part(kind, FrameOnLink(link, turn, (ends[0] + ends[1]) / 2), np.eye(3), [radius, length], body)

    def _part(self, kind: str, place: FrameOnLink, turn: Floats, sizes: list[float], body: str | None) -> Part:
        found = FrameOnLink(place.link, place.rotation @ turn, place.position)
        order = self.order[body] if body is not None else -1
        return {"kind": kind, "link": found.link, "place": found.numbers, "sizes": sizes, "color": None, "body": order}

    def _place(self, anchor: Anchor) -> FrameOnLink:
        base = self.points[str(anchor.of)][1] if self._is_point(anchor) else self.frames.body(anchor.of)
        offset = np.array([self._number(item) for item in anchor.position])
        return FrameOnLink(base.link, base.rotation, base.position + base.rotation @ offset)

    def _body(self, anchor: Anchor) -> str | None:
        return self.points[str(anchor.of)][0] if self._is_point(anchor) else anchor.of

    def _is_point(self, anchor: Anchor) -> bool:
        return anchor.of in self.points and anchor.of not in self.order

    def _direction(self, components: Triple) -> Floats:
        given = np.array([self._number(item) for item in components])
        return np.asarray(given / np.linalg.norm(given))

    def _number(self, item: object) -> float:
        return float(number(item, self.values))  # type: ignore[arg-type]


def _ground(middle: Floats, normal: Floats, reach: float) -> Part:
    return {"kind": "plane", "name": "", "middle": middle.tolist(), "normal": normal.tolist(), "reach": reach}


def _across(vector: Floats, axis: Floats) -> Floats:
    """The unit vector along the part of a vector that is perpendicular to an axis."""
    flat = vector - axis * (vector @ axis)
    return np.asarray(flat / np.linalg.norm(flat))
