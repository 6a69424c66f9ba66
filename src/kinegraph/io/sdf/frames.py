"""Frames of an SDF model: the pose of each link, joint and frame, as short exact transforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.placement import AngleReader, plus, shifts
from kinegraph.io.robot.right_angles import pi_multiple
from kinegraph.io.robot.xml import Element, Written, numbers
from kinegraph.model.evaluate import value
from kinegraph.model.expressions import PI, Expression, Number, names, negative
from kinegraph.model.mechanism import ZERO, Axis, Quaternion, Rotation, Shift, Transform, inverse
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind


def simplified(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The same motion in fewer transforms: adjacent shifts and rotations about the same axis are added."""
    found: list[Transform] = []
    for transform in transforms:
        _append(found, transform)
    return tuple(found)


def rotations(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The rotations of transforms, without shifts."""
    return simplified(one for one in transforms if not isinstance(one, Shift))


def _append(found: list[Transform], new: Transform) -> None:
    if isinstance(new, Shift):
        _shift(found, new)
    elif isinstance(new, Quaternion) and found and (found[-1],) == inverse((new,)):
        found.pop()
    elif isinstance(new, Rotation) and found and isinstance(last := found[-1], Rotation) and last.axis is new.axis:
        found.pop()
        angle = _total(last.angle, new.angle)
        if angle != ZERO:
            found.append(Rotation(new.axis, angle))
    else:
        found.append(new)


def _shift(found: list[Transform], new: Shift) -> None:
    """Append a shift; shifts commute, so it is added to an earlier adjacent shift along the same axis."""
    for place in range(len(found) - 1, -1, -1):
        old = found[place]
        if not isinstance(old, Shift):
            break
        if old.axis is new.axis:
            distance = _total(old.distance, new.distance)
            found[place : place + 1] = [Shift(new.axis, distance)] if distance != ZERO else []
            return
    found.append(new)


def _total(first: Expression, second: Expression) -> Expression:
    if isinstance(first, Number) and isinstance(second, Number):
        return Number(first.value + second.value)
    if second == negative(first):
        return ZERO
    turns = [_turns(first), _turns(second)]
    if turns[0] is not None and turns[1] is not None:
        return pi_multiple(turns[0] + turns[1])
    return plus(first, second)


def _turns(angle: Expression) -> Fraction | None:
    """The factor of a multiple of pi; None for other angles."""
    if names(angle) != {PI}:
        return None
    nothing, once, twice = (value(angle, {PI: Fraction(amount)}) for amount in (0, 1, 2))
    exact = isinstance(once, Fraction) and nothing == 0 and twice == 2 * once
    return Fraction(once) if exact else None


# Values that SDFormat writes as text of elements

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def stated(element: Element) -> Element:
    """The element with the texts of its children as attributes, the first of each."""
    texts = {child.tag: child.text for child in reversed(element.children)}
    return Element(element.tag, texts, element.place)


def flag(element: Element, tag: str) -> bool:
    """Whether the text of a child is `true`; False if it is missing."""
    child = element.first(tag)
    if child is None:
        return False
    if child.text not in _FLAGS:
        raise ModelError(f"invalid value `{child.text[:40]}` of <{tag}>", child.place, "write true or false")
    return _FLAGS[child.text]


# Poses of links, joints and frames

WORLD = "world"
MODEL = "__model__"


@dataclass(frozen=True, eq=False)
class SdfFrame:
    """A frame: its pose in another, and the frame it is fixed to (itself, if it is a link)."""

    element: Element
    base: str
    pose: tuple[Transform, ...]
    attached_to: str


class Frames:
    """All frames of one model by name."""

    def __init__(self, model: Element, angle_reader: AngleReader) -> None:
        self.model = model
        self.angle_reader = angle_reader
        self.links = {element.required("name"): element for element in model.all("link")}
        self._first = next(iter(self.links), "")
        self.world_link = self.links.pop(WORLD, None)
        if not self.links:
            raise ModelError("the model has no links", model.place, 'write at least one <link name="...">')
        self._frames: dict[str, SdfFrame] = {}
        for element in model.children:
            if element.tag in ("link", "joint", "frame") and element is not self.world_link:
                self._enter(element)
        self._paths: dict[str, tuple[Transform, ...]] = {MODEL: ()}
        self._paths[WORLD] = inverse(self._placed())
        self.world_pose: tuple[Transform, ...] = ()
        if self.world_link is not None:
            self._take_as_world(self.world_link)

    def _enter(self, element: Element) -> None:
        name = element.required("name")
        if name in self._frames or name in (WORLD, MODEL):
            message = f"two frames have the name {name}"
            raise ModelError(message, element.place, "links, joints and frames share one set of names: rename one")
        attached = name
        base = MODEL
        if element.tag == "joint":
            attached = base = end_of(element, "child")
        elif element.tag == "frame":
            attached = base = element.get("attached_to") or MODEL
        pose = element.first("pose")
        relative = (pose.get("relative_to") if pose is not None else None) or base
        self._frames[name] = SdfFrame(element, relative, self.pose(element, f"the {element.tag} {name}"), attached)

    def _take_as_world(self, link: Element) -> None:
        """Use a link with the name `world` as a part of the fixed frame, at its pose."""
        pose = link.first("pose")
        base = (pose.get("relative_to") if pose is not None else None) or MODEL
        self.world_pose = simplified((*self.between(WORLD, base, link), *self.pose(link, "the link world")))
        if self.world_pose and (named := next(_references(self.model, WORLD), None)):
            message = "the link `world` does not coincide with the world, and a frame refers to one of them"
            raise ModelError(message, named.place, "rename the link and its references, or remove its pose")
        message = "the link `world` is fixed"
        self.angle_reader.findings.add(FindingKind.ASSUMED, message, link.place, "links called world")

    def _placed(self) -> tuple[Transform, ...]:
        """The pose of the model in the world; if it names a placement frame, its pose is that of this frame."""
        pose = self.pose(self.model, "the model")
        frame = self.model.get("placement_frame")
        return simplified((*pose, *inverse(self.path(frame, self.model)))) if frame else pose

    def pose(self, element: Element, what: str) -> tuple[Transform, ...]:
        """The transforms of the <pose> of an element; empty if it has none."""
        pose = element.first("pose")
        if pose is None or not pose.text:
            return ()
        form = pose.get("rotation_format") or "euler_rpy"
        count = {"euler_rpy": 6, "quat_xyzw": 7}.get(form)
        found = numbers(stated(element), "pose") or ()
        if count is None or len(found) != count:
            message = f"<pose> of {what} has {len(found)} numbers"
            remedy = 'write x y z roll pitch yaw, or with rotation_format="quat_xyzw" x y z and a quaternion'
            raise ModelError(message, pose.place, remedy)
        return (*shifts([item.value for item in found[:3]]), *self._turned(found[3:], pose, what))

    def _turned(self, written: tuple[Written, ...], pose: Element, what: str) -> tuple[Transform, ...]:
        if len(written) == 4:
            x, y, z, scalar = written
            return self.angle_reader.quaternion((scalar, x, y, z), what, pose.place, "0 0 0 1")
        if pose.get("degrees") not in ("true", "1"):
            return self.angle_reader.roll_pitch_yaw(written, what, pose.place)
        angles: Iterator[tuple[Axis, Expression]] = (
            (axis, pi_multiple(item.value / 180)) for axis, item in zip(Axis, written, strict=True)
        )
        return tuple(Rotation(axis, angle) for axis, angle in reversed(list(angles)) if angle != ZERO)

    def path(self, name: str, element: Element) -> tuple[Transform, ...]:
        """The transforms from the model's frame to a frame; `element` refers to it."""
        passed: list[str] = []
        while name not in self._paths:
            if name in passed:
                message = f"the poses of frames form a cycle: {' -> '.join((*passed, name))}"
                raise ModelError(message, element.place, "place one of them relative to the model")
            passed.append(name)
            name = self._found(name, element).base
        for here in reversed(passed):
            frame = self._frames[here]
            self._paths[here] = simplified((*self._paths[frame.base], *frame.pose))
        return self._paths[passed[0] if passed else name]

    def between(self, start: str, end: str, element: Element) -> tuple[Transform, ...]:
        """The transforms from one frame to another, at the initial poses."""
        return simplified((*inverse(self.path(start, element)), *self.path(end, element)))

    def link_of(self, name: str, element: Element) -> str:
        """The link (or the world) that a frame is fixed to."""
        passed: list[str] = []
        while name not in self.links and name != WORLD:
            if name in passed:
                message = f"the attachments of frames form a cycle: {' -> '.join((*passed, name))}"
                raise ModelError(message, element.place, "attach one of them to a link")
            passed.append(name)
            name = self.canonical if name == MODEL else self._found(name, element).attached_to
        return name

    @property
    def canonical(self) -> str:
        """The link that the model's frame is fixed to."""
        name = self.model.get("canonical_link") or self._first
        if name not in self.links and not (name == WORLD and self.world_link is not None):
            message = f"unknown link '{name}' as canonical_link"
            raise ModelError(message, self.model.place, did_you_mean(name, self.links))
        return name

    def _found(self, name: str, element: Element) -> SdfFrame:
        if name not in self._frames:
            message = f"unknown link, joint or frame '{name}' in <{element.tag}>"
            raise ModelError(message, element.place, did_you_mean(name, self._frames))
        return self._frames[name]


def _references(model: Element, name: str) -> Iterator[Element]:
    """The elements whose attributes name a frame."""
    pending = [model]
    while pending:
        element = pending.pop()
        pending += element.children
        if name in (element.get(word) for word in ("relative_to", "attached_to", "expressed_in")):
            yield element


def end_of(joint: Element, which: str) -> str:
    """The name in <parent> or <child> of a joint."""
    found = joint.first(which)
    if found is None or not found.text:
        message = f"the joint {joint.get('name')} has no <{which}>"
        raise ModelError(message, joint.place, f"write <{which}>LINK</{which}>")
    return found.text
