"""Drawings of elements and contacts: springs, dampers, pistons, forces as arrows, floors and walls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from kinegraph.derive.tree.links import JointKind
from kinegraph.model.axes import Axes
from kinegraph.model.constraints import Contact
from kinegraph.model.elements import (
    Anchor,
    Damper,
    Element,
    Force,
    Friction,
    Limit,
    Moment,
    PointForce,
    Span,
    Spring,
    Target,
)
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import TIME, Expression, Name, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import Component, component
from kinegraph.model.states import is_force, moved_by
from kinegraph.simulate.contacts.equations import force_columns
from kinegraph.solve.problem import Floats
from kinegraph.view.page.frames import AXES, FrameOnLink, Frames, LinkPoses, States, completed
from kinegraph.view.page.meshes import Part, packed

# Elements: springs, dampers and pistons between points and in joints, forces as arrows, floors.

Working: TypeAlias = Spring | Damper | Friction | Force | Limit

#: How an element is drawn: between two points, and in a revolute joint.
_BETWEEN = {Spring: "spring", Damper: "damper", Friction: "damper", Force: "piston", Limit: "rope"}
_IN_JOINT = {Spring: "torsion", Damper: "brake", Friction: "brake"}


class ElementDrawer:
    """The parts of a scene that show elements, with numbers for the parameters."""

    def __init__(
        self, mechanism: Mechanism, frames: Frames, motion: LinkPoses, values: Mapping[str, Value], states: States
    ) -> None:
        self.mechanism = mechanism
        self.frames = frames
        self.motion = motion
        self.values = values
        self.states = completed(states, mechanism, frames, motion)
        self.points = {point.name: frames.point(place) for place, point in enumerate(mechanism.points)}
        self.joints = _first_joints(frames)

    def parts(self) -> Iterator[Part]:
        """All drawable elements and external forces."""
        for element in self.mechanism.elements:
            yield from self._element(element)
        for symbol in self.states.inputs:
            if is_force(symbol) and symbol in self.states.columns:
                coordinate = moved_by(symbol)
                yield from self._joint_force(coordinate, self.states.columns[symbol], coordinate)

    def _element(self, element: Element) -> Iterator[Part]:
        match element:
            case PointForce():
                yield from self._vector("force", self._anchor(element.at), element)
            case Moment():
                yield from self._vector("moment", self._anchor(Anchor(element.on)), element)
            case Limit(on=Name(text=text)) if "." in text:
                yield from self._floor(element, text)
            case Spring() | Damper() | Friction() | Force() | Limit():
                yield from self._working(element, element.on)

    def _working(self, element: Working, on: Target) -> Iterator[Part]:
        return self._between(element, on) if isinstance(on, Span) else self._in_joint(element, on)

    # between points

    def _between(self, element: Working, span: Span) -> Iterator[Part]:
        ends = [self._anchor(anchor) for anchor in (span.first, span.second)]
        if all(ends):
            yield {"kind": _BETWEEN[type(element)], "name": element.name, "ends": [_end(end) for end in ends if end]}

    def _anchor(self, anchor: Anchor) -> FrameOnLink | None:
        """The position of a point an element acts on; None if it moves along a path in its body."""
        if any(TIME in names(item) for item in anchor.position):
            return None
        base = self.points[anchor.of] if anchor.of in self.points else self.frames.body(anchor.of)
        offset = np.array([number(item, self.values) for item in anchor.position])
        return FrameOnLink(base.link, base.rotation, base.position + base.rotation @ offset)

    # in joints

    def _in_joint(self, element: Working, on: Expression) -> Iterator[Part]:
        coordinate = self._only_coordinate(on)
        link = self.joints.get(coordinate or "")
        if coordinate is None or link is None or isinstance(element, Limit):
            return
        if isinstance(element, Force):
            found = self.frames.evaluate([element.value], self.states.columns)
            if found is not None:
                yield from self._joint_force(coordinate, found[:, 0] * self._slope(on, coordinate), element.name)
            return
        place, axis, kind = self._joint(link)
        if kind is JointKind.REVOLUTE:
            look = {"link": place.link, "place": place.numbers, "axis": axis}
            yield {"kind": _IN_JOINT[type(element)], "name": element.name, **look}
        else:
            ends = [_end(place), _end(FrameOnLink(link, np.eye(3), np.zeros(3)))]
            along = place.rotation[:, axis].tolist()
            yield {"kind": _BETWEEN[type(element)], "name": element.name, "ends": ends, "rail": along}

    def _joint(self, link: int) -> tuple[FrameOnLink, int, JointKind]:
        joint = self.frames.tree.links[link].joint
        assert joint is not None
        return self.frames.joint_place(link), joint.axis, joint.kind

    def _only_coordinate(self, on: Expression) -> str | None:
        """The coordinate of an element if there is only one, given by itself or by its rate."""
        used = {name.removesuffix("'") for name in names(on) - self.values.keys()}
        return used.pop() if len(used) == 1 and used <= set(self.mechanism.layout.positions) else None

    def _slope(self, on: Expression, coordinate: str) -> float:
        """The slope of a target by its coordinate, at the first time."""
        name = coordinate if coordinate in names(on) else f"{coordinate}'"
        start = {key: column[:1] for key, column in self.states.columns.items()}
        ends = [self.frames.evaluate([on], start | {name: np.full(1, value)}) for value in (0.0, 1.0)]
        return 1.0 if ends[0] is None or ends[1] is None else float(ends[1][0, 0] - ends[0][0, 0])

    # forces and moments as arrows

    def _vector(self, kind: str, at: FrameOnLink | None, element: PointForce | Moment) -> Iterator[Part]:
        found = self.frames.evaluate(element.components, self.states.columns)
        if at is None or found is None:
            return
        if element.axes is Axes.WORLD:
            yield arrow(kind, element.name, at, 0, found)
        else:
            yield arrow(kind, element.name, at, at.link, found @ at.rotation.T)

    def _joint_force(self, coordinate: str, force: Floats, name: str) -> Iterator[Part]:
        """The force on a coordinate, drawn at the first joint it moves."""
        link = self.joints.get(coordinate)
        if link is None:
            return
        place, axis, joint_kind = self._joint(link)
        vectors = np.outer(force, place.rotation[:, axis] / self.frames.slopes(link)[coordinate])
        if joint_kind is JointKind.REVOLUTE:
            yield arrow("moment", name, place, place.link, vectors)
        else:
            yield arrow("force", name, FrameOnLink(link, np.eye(3), np.zeros(3)), place.link, vectors)

    # floors

    def _floor(self, limit: Limit, on: str) -> Iterator[Part]:
        """A limit of a point's coordinate in the fixed frame is a floor, a wall or a ceiling."""
        point, _, letter = on.rpartition(".")
        if letter not in AXES:
            return
        place = self.points[point] if point in self.points else self.frames.body(point)
        track = self.motion.at(place)[1]
        for bound, side in ((limit.lower, 1.0), (limit.upper, -1.0)):
            found = None if bound is None else self.frames.evaluate([bound], self.states.columns)
            if found is not None:
                yield plane(limit.name, track, AXES[letter], float(found[0, 0]), side)


def _first_joints(frames: Frames) -> dict[str, int]:
    """For every coordinate the first link it moves."""
    found: dict[str, int] = {}
    for link in range(len(frames.tree.links)):
        for name in frames.slopes(link):
            found.setdefault(name, link)
    return found


def _end(place: FrameOnLink) -> Part:
    return {"link": place.link, "position": place.position.tolist()}


def arrow(kind: str, name: str, at: FrameOnLink, axes: int, vectors: Floats) -> Part:
    """An arrow at a point; its vectors over time are in the axes of a link."""
    numbers = packed(np.nan_to_num(vectors).astype("<f4"))
    return {"kind": kind, "name": name, **_end(at), "axes": axes, "vectors": numbers}


def plane(name: str, track: Floats, axis: int, level: float, side: float) -> Part:
    """A plane normal to an axis of the fixed frame at a level, below the track of a point; `side` is its free side."""
    low, high = track.min(axis=0), track.max(axis=0)
    middle = (low + high) / 2
    middle[axis] = level
    normal = np.zeros(3)
    normal[axis] = side
    reach = float(np.delete(high - low, axis).max())
    return {"kind": "plane", "name": name, "middle": middle.tolist(), "normal": normal.tolist(), "reach": reach}


# Contacts: floors and walls that points touch, and the forces there as arrows.


class ContactDrawer:
    """The parts of a scene that show contacts of a point and a plane of the fixed frame."""

    def __init__(self, mechanism: Mechanism, frames: Frames, motion: LinkPoses, states: States) -> None:
        self.mechanism, self.frames, self.motion, self.states = mechanism, frames, motion, states
        self.points: Mapping[str, FrameOnLink] = {
            point.name: frames.point(place) for place, point in enumerate(mechanism.points)
        }

    def parts(self) -> Iterator[Part]:
        """Floors, each once, and forces."""
        drawn: set[tuple[int, float, float]] = set()
        for contact in self.mechanism.contacts:
            surface = self._contact_frame(contact)
            if surface is None:
                continue
            place, axis, level, side = surface
            if (axis, level, side) not in drawn:
                drawn.add((axis, level, side))
                yield plane(contact.name, self.motion.at(place)[1], axis, level, side)
            yield from self._force(contact, place, axis, side)

    def _contact_frame(self, contact: Contact) -> tuple[FrameOnLink, int, float, float] | None:
        """The point that touches a plane, the normal axis, its level and its free side; None for other contacts."""
        found = [component(name) for name in names(contact.gap)]
        moving = [one for one in found if one is not None and not one.rate]
        if len(moving) != 1 or TIME in names(contact.gap):
            return None
        one = moving[0]
        name = f"{one.point}.{one.axis}"
        ends = [self.frames.evaluate([contact.gap], {name: np.full(1, value)}) for value in (0.0, 1.0)]
        if ends[0] is None or ends[1] is None:
            return None
        at_zero, slope = float(ends[0][0, 0]), float(ends[1][0, 0] - ends[0][0, 0])
        if abs(slope) != 1.0:
            return None
        return self._place(one), AXES[one.axis], -at_zero / slope, slope

    def _place(self, one: Component) -> FrameOnLink:
        return self.points[one.point] if one.point in self.points else self.frames.body(one.point)

    def _force(self, contact: Contact, place: FrameOnLink, axis: int, side: float) -> Iterator[Part]:
        """The force on the point, if the run has computed it."""
        columns = force_columns(contact)
        if not all(column in self.states.columns for column in columns):
            return
        normal, *sliding = (self.states.columns[column] for column in columns)
        vectors: Floats = np.zeros((len(normal), 3))
        vectors[:, axis] = side * normal
        for law, force in zip(contact.slip, sliding, strict=True):
            along = [component(name) for name in names(law)]
            if len(along) == 1 and along[0] is not None and along[0].rate:
                vectors[:, AXES[along[0].axis]] += force
        yield arrow("force", contact.name, place, 0, vectors)
