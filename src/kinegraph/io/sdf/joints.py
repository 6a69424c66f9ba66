"""Joints of an SDF model: motion, loops, mimic constraints, and the tree of links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.joint_motion import JointMotion, NameTable, ball
from kinegraph.io.robot.placement import Direction, linear
from kinegraph.io.robot.xml import Element, bound, single, vector
from kinegraph.io.sdf.frames import MODEL, WORLD, Frames, end_of, flag, rotations, simplified, stated
from kinegraph.model.constraints import Constraint, Frame, Joint, JointType, Loop
from kinegraph.model.expressions import PI, Expression, Name, Number, Operation
from kinegraph.model.mechanism import ZERO, Axis, Coordinate, Shift, Transform, inverse
from kinegraph.model.names import did_you_mean
from kinegraph.model.poses import pose
from kinegraph.model.report import Places
from kinegraph.model.robot_data import Extra, JointFriction, JointLimits, JointSpring
from kinegraph.model.topology import GROUND, Edge, SpanningTree, Vertex, shortest_tree

#: Limits of at least this size mean no limit.
_FAR = Fraction(10) ** 16


class SdfJointKind(Enum):
    """The supported joint types of SDFormat."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    SCREW = "screw"
    BALL = "ball"
    UNIVERSAL = "universal"
    REVOLUTE2 = "revolute2"
    GEARBOX = "gearbox"

    @property
    def axes(self) -> tuple[str, ...]:
        """The elements of its axes."""
        if self in (SdfJointKind.FIXED, SdfJointKind.BALL, SdfJointKind.GEARBOX):
            return ()
        return ("axis", "axis2") if self in (SdfJointKind.UNIVERSAL, SdfJointKind.REVOLUTE2) else ("axis",)


_LOOPS = {
    SdfJointKind.FIXED: JointType.FIXED,
    SdfJointKind.REVOLUTE: JointType.REVOLUTE,
    SdfJointKind.CONTINUOUS: JointType.REVOLUTE,
    SdfJointKind.PRISMATIC: JointType.PRISMATIC,
    SdfJointKind.BALL: JointType.SPHERICAL,
    SdfJointKind.UNIVERSAL: JointType.UNIVERSAL,
    SdfJointKind.REVOLUTE2: JointType.UNIVERSAL,
}


@dataclass(frozen=True, eq=False)
class SdfJoint:
    """A joint between two links (or the world and a link)."""

    name: str
    kind: SdfJointKind
    parent: str
    child: str
    element: Element

    @property
    def what(self) -> str:
        """In words, for messages."""
        return f"the joint {self.name}"


def read_joints(frames: Frames) -> list[SdfJoint]:
    """The joints of a model, in the order of the file."""
    return [_joint(element, frames) for element in frames.model.all("joint")]


def _joint(element: Element, frames: Frames) -> SdfJoint:
    name, word = element.required("name"), element.required("type")
    try:
        kind = SdfJointKind(word)
    except ValueError:
        remedy = did_you_mean(word, [kind.value for kind in SdfJointKind])
        raise ModelError(f"unknown type '{word}' of the joint {name}", element.place, remedy) from None
    parent, child = (frames.link_of(end_of(element, which), element) for which in ("parent", "child"))
    if parent == child:
        message = f"the joint {name} connects {parent} to itself"
        raise ModelError(message, element.place, "connect two links, or a link and the world")
    return SdfJoint(name, kind, parent, child, element)


class SdfJointReader:
    """Reads the joints of a model."""

    def __init__(self, frames: Frames, joints: Iterable[SdfJoint]) -> None:
        self.frames = frames
        self.names = NameTable(joint.name for joint in joints if len(joint.kind.axes) == 1)

    def directions(self, joint: SdfJoint) -> tuple[Direction, ...]:
        """The axes of a joint, in its own frame."""
        return tuple(self.direction(joint, tag) for tag in joint.kind.axes)

    def direction(self, joint: SdfJoint, tag: str) -> Direction:
        """An axis of a joint, in its own frame."""
        axis = joint.element.first(tag)
        if axis is None:
            raise ModelError(
                f"{joint.what} has no <{tag}>", joint.element.place, f"write <{tag}><xyz>0 0 1</xyz></{tag}>"
            )
        xyz = vector(stated(axis), "xyz", 3)
        if xyz is None:
            raise ModelError(f"the axis of {joint.what} has no <xyz>", axis.place, "write <xyz>0 0 1</xyz>")
        direction = self.frames.angle_reader.direction(xyz, axis, joint.what)
        written = axis.first("xyz") or axis
        of_model = flag(axis, "use_parent_model_frame")
        named = written.get("expressed_in") or (MODEL if of_model else joint.name)
        turned = rotations(self.frames.between(joint.name, named, written))
        return replace(direction, turns=simplified((*turned, *direction.turns)))

    # in the tree

    def motion(self, joint: SdfJoint) -> JointMotion:
        """The motion of the child relative to the parent, in the joint's frame."""
        if joint.kind is SdfJointKind.FIXED:
            return JointMotion()
        if joint.kind is SdfJointKind.BALL:
            return ball(self.names, joint.name)
        directions = self.directions(joint)
        names = self._coordinate_names(joint)
        moved = [self._moved(joint, one, Name(name)) for one, name in zip(directions, names, strict=True)]
        coordinates = tuple(Coordinate(name) for name in names)
        transforms = simplified(step for steps in moved for step in steps)
        return JointMotion(transforms, coordinates, tuple((Name(name),) for name in names))

    def _coordinate_names(self, joint: SdfJoint) -> list[str]:
        if len(joint.kind.axes) == 1:
            return [self.names[joint.name]]
        return [self.names.fresh(f"{joint.name}_{place}") for place, _ in enumerate(joint.kind.axes, start=1)]

    def _moved(self, joint: SdfJoint, direction: Direction, own: Name) -> tuple[Transform, ...]:
        if joint.kind is SdfJointKind.PRISMATIC:
            return direction.translation(own)
        if joint.kind is not SdfJointKind.SCREW:
            return direction.rotation(own)
        advance = Shift(direction.axis, linear(Fraction(direction.sign), _advance(joint, own)))
        turn, *back = direction.rotation(own)[len(direction.turns) :]
        return (*direction.turns, turn, advance, *back)

    def placed(self, joint: SdfJoint, motion: JointMotion, outwards: bool) -> tuple[Transform, ...]:
        """The transforms from one link of a joint to the other: from parent to child, or back."""
        ends = (joint.parent, joint.child) if outwards else (joint.child, joint.parent)
        # The coordinates of a ball joint describe the outer link, whether the file calls it child or parent.
        same = outwards or joint.kind is SdfJointKind.BALL
        moves = motion.transforms if same else inverse(motion.transforms)
        start, end = (
            self.frames.between(*pair, joint.element) for pair in ((ends[0], joint.name), (joint.name, ends[1]))
        )
        return simplified((*start, *moves, *end))

    # closing a loop

    def can_close(self, joint: SdfJoint) -> bool:
        """Whether it can close a loop; two axes must be perpendicular as written."""
        if len(joint.kind.axes) < 2:
            return joint.kind in _LOOPS
        first, second = self.directions(joint)
        return first.turns == second.turns and first.axis is not second.axis

    def loop(self, joint: SdfJoint, name: str, first: str | None, second: str | None) -> Loop:
        """The joint as a loop between two bodies, those of its parent and its child."""
        if not self.can_close(joint):
            message = f"{joint.what} ({joint.kind.value}) cannot close a loop"
            raise ModelError(
                message, joint.element.place, "close the loop at a revolute, prismatic, ball or fixed joint"
            )
        directions = self.directions(joint)
        turns = directions[0].turns if directions else ()
        axes = tuple(direction.axis for direction in directions)
        ends = zip((first, second), (joint.parent, joint.child), strict=True)
        frames = [
            Frame(body, simplified((*self.frames.between(link, joint.name, joint.element), *turns)))
            for body, link in ends
        ]
        return Loop(name, Joint(_LOOPS[joint.kind], axes), frames[0], frames[1])


def _advance(joint: SdfJoint, angle: Expression) -> Expression:
    """The travel of a screw at an angle. `thread_pitch` of old versions is in radians per meter, left-handed."""
    values = stated(joint.element)
    pitch, old = single(values, "screw_thread_pitch"), single(values, "thread_pitch")
    if pitch is not None:
        return Operation("/", (linear(pitch / 2, angle), Name(PI)))
    if not old:
        remedy = "write <screw_thread_pitch>, in meters per revolution"
        raise ModelError(f"{joint.what} is a screw without a pitch", joint.element.place, remedy)
    return linear(-1 / old, angle)


def read_extras(joint: SdfJoint, motion: JointMotion) -> Iterator[Extra]:
    """Limits, friction and springs of a joint, axis by axis, if given."""
    for tag, displacement in zip(joint.kind.axes, motion.displacements, strict=False):
        axis = joint.element.first(tag)
        assert axis is not None  # already read for its direction
        yield from _limits(joint, axis, displacement)
        yield from _dynamics(joint, axis, displacement)


def _limits(joint: SdfJoint, axis: Element, displacement: tuple[Expression, ...]) -> Iterator[Extra]:
    limit = axis.first("limit")
    if limit is None:
        return
    values = stated(limit)
    ends = [bound(values, name) for name in ("lower", "upper")]
    ranged = joint.kind is not SdfJointKind.CONTINUOUS
    lower, upper = (Number(end) if ranged and end is not None and abs(end) < _FAR else None for end in ends)
    # -1 means no limit.
    most = [bound(values, name) for name in ("velocity", "effort")]
    speed, effort = (Number(one) if one is not None and 0 <= one < _FAR else None for one in most)
    if any(one is not None for one in (lower, upper, speed, effort)):
        yield JointLimits(joint.name, displacement, lower, upper, speed, effort)


def _dynamics(joint: SdfJoint, axis: Element, displacement: tuple[Expression, ...]) -> Iterator[Extra]:
    dynamics = axis.first("dynamics")
    if dynamics is None:
        return
    values = stated(dynamics)
    words = ("damping", "friction", "spring_stiffness", "spring_reference")
    damping, dry, stiffness, rest = (Number(single(values, word) or Fraction(0)) for word in words)
    if (damping, dry) != (ZERO, ZERO):
        yield JointFriction(joint.name, displacement, damping, dry)
    if stiffness != ZERO:
        yield JointSpring(joint.name, displacement, stiffness, (rest,))


# <mimic> as a constraint on coordinates

Motions = Mapping[str, JointMotion]


def mimic_constraints(
    joints: Mapping[str, SdfJoint], motions: Motions, names: NameTable, places: Places
) -> tuple[Constraint, ...]:
    """follower = multiplier (leader - reference) + offset, for each axis with <mimic>; `motions` are those of joints
    in the tree."""
    return tuple(
        places.mark(_constraint(joint, tag, mimic, joints, motions, names), mimic.place)
        for joint in joints.values()
        for tag, mimic in _mimics(joint)
    )


def _mimics(joint: SdfJoint) -> Iterator[tuple[str, Element]]:
    for tag in joint.kind.axes:
        axis = joint.element.first(tag)
        mimic = axis.first("mimic") if axis is not None else None
        if mimic is not None:
            yield tag, mimic


def follows_or_leads(joint: SdfJoint, joints: Iterable[SdfJoint]) -> bool:
    """Whether a joint mimics another or is mimicked, so that it needs a coordinate."""
    leaders = {mimic.get("joint") for one in joints for _, mimic in _mimics(one)}
    return joint.name in leaders or any(_mimics(joint))


def _constraint(
    joint: SdfJoint,
    tag: str,
    mimic: Element,
    joints: Mapping[str, SdfJoint],
    motions: Motions,
    names: NameTable,
) -> Constraint:
    leader = mimic.required("joint")
    if leader not in joints:
        message = f"{joint.what} mimics the unknown joint '{leader}'"
        raise ModelError(message, mimic.place, did_you_mean(leader, joints))
    own = _coordinate(joint, tag, motions, mimic)
    other = _coordinate(joints[leader], mimic.get("axis") or "axis", motions, mimic)
    values = stated(mimic)
    factor, offset, reference = (single(values, word) for word in ("multiplier", "offset", "reference"))
    factor = Fraction(1) if factor is None else factor
    shift = (offset or Fraction(0)) - factor * (reference or Fraction(0))
    return Constraint(names.fresh(f"mimic_{joint.name}"), own, linear(factor, other, Number(shift)))


def _coordinate(joint: SdfJoint, tag: str, motions: Motions, mimic: Element) -> Expression:
    if tag not in joint.kind.axes or joint.name not in motions:
        message = f"<mimic> needs the {tag} of {joint.what}, which has no coordinate"
        raise ModelError(message, mimic.place, "name an axis of a joint that moves and does not close a loop")
    (own,) = motions[joint.name].displacements[joint.kind.axes.index(tag)]
    return own


# Gearboxes as constraints on coordinates


def gear_constraints(
    gears: Iterable[SdfJoint],
    joints: Mapping[str, SdfJoint],
    motions: Motions,
    reader: SdfJointReader,
    names: NameTable,
    places: Places,
) -> Iterator[Constraint]:
    """angle of the child = -ratio * angle of the parent, both seen from the reference body, about axis2 and axis."""
    for gear in gears:
        ratio = single(stated(gear.element), "gearbox_ratio")
        if ratio is None:
            message = f"{gear.what} has no <gearbox_ratio>"
            raise ModelError(message, gear.element.place, "write <gearbox_ratio>")
        first = _geared_angle(gear, "axis", gear.parent, joints, motions, reader)
        second = _geared_angle(gear, "axis2", gear.child, joints, motions, reader)
        yield places.mark(Constraint(names.fresh(gear.name), second, linear(-ratio, first)), gear.element.place)


def gear_reference(gear: SdfJoint, frames: Frames) -> str:
    """The link from which the angles of a gearbox are measured."""
    return frames.link_of(end_of(gear.element, "gearbox_reference_body"), gear.element)


def _geared(gear: SdfJoint, link: str, frames: Frames, joints: Iterable[SdfJoint]) -> SdfJoint | None:
    """The revolute joint between a link of a gearbox and its reference body."""
    ends = {gear_reference(gear, frames), link}
    hinges = (one for one in joints if one.kind in (SdfJointKind.REVOLUTE, SdfJointKind.CONTINUOUS))
    return next((one for one in hinges if {one.parent, one.child} == ends), None)


def _geared_angle(
    gear: SdfJoint,
    tag: str,
    link: str,
    joints: Mapping[str, SdfJoint],
    motions: Motions,
    reader: SdfJointReader,
) -> Expression:
    """The angle of a link relative to the reference body, about an axis of the gearbox."""
    joint = _geared(gear, link, reader.frames, joints.values())
    if joint is None or joint.name not in motions:
        message = f"{gear.what}: no revolute joint connects {link} with the gearbox_reference_body"
        raise ModelError(message, gear.element.place, "connect both links of a gearbox to its reference body")
    place = gear.element
    axes = [
        pose((*reader.frames.between(joint.name, one.name, place), *direction.turns))[0][
            :, list(Axis).index(direction.axis)
        ]
        * direction.sign
        for one, direction in ((joint, reader.directions(joint)[0]), (gear, reader.direction(gear, tag)))
    ]
    along = float(axes[0] @ axes[1])
    if abs(along) < 1 - 1e-6:
        message = f"the {tag} of {gear.what} is not parallel to the axis of {joint.name}"
        raise ModelError(message, place.place, "write the axis of the joint")
    ((own,),) = motions[joint.name].displacements
    outwards = joint.child == link
    return linear(Fraction(1 if outwards == (along > 0) else -1), own)


# The spanning tree of links

#: Prefix of the free joint of a link that is not connected to the world.
FREE = "::free::"


def link_tree(
    frames: Frames, joints: Collection[SdfJoint], gears: Collection[SdfJoint], reader: SdfJointReader
) -> SpanningTree:
    """The tree with the shortest chains; it contains joints with springs or friction if possible."""
    turned = [_geared(gear, link, frames, joints) for gear in gears for link in (gear.parent, gear.child)]
    edges = [_edge(joint, reader, joint in turned or follows_or_leads(joint, joints)) for joint in joints]
    free = [
        Edge(FREE + link, GROUND, link, False, False, may_stand=True, stays=True) for link in _roots(frames, joints)
    ]
    return shortest_tree([*free, *edges])


def _edge(joint: SdfJoint, reader: SdfJointReader, related: bool) -> Edge:
    may_close = reader.can_close(joint)
    stays = not may_close or related or any(_has_dynamics(joint))
    return Edge(joint.name, _vertex(joint.parent), _vertex(joint.child), False, may_close, may_stand=True, stays=stays)


def _has_dynamics(joint: SdfJoint) -> Iterator[bool]:
    for tag in joint.kind.axes:
        axis = joint.element.first(tag)
        yield axis is not None and axis.first("dynamics") is not None


def _vertex(link: str) -> Vertex:
    return GROUND if link == WORLD else link


def _roots(frames: Frames, joints: Collection[SdfJoint]) -> list[str]:
    """A root link of each part that is not connected to the world; a link that is not a child, if possible."""
    around: dict[str, list[str]] = {link: [] for link in (WORLD, *frames.links)}
    for joint in joints:
        around[joint.parent].append(joint.child)
        around[joint.child].append(joint.parent)
    children = {joint.child for joint in joints}
    reached: set[str] = set()
    found: list[str] = []
    for link in (WORLD, *sorted(frames.links, key=lambda one: one in children)):
        if link not in reached:
            found.append(link)
            _reach(link, around, reached)
    return found[1:]


def _reach(start: str, around: dict[str, list[str]], reached: set[str]) -> None:
    pending = [start]
    while pending:
        here = pending.pop()
        if here not in reached:
            reached.add(here)
            pending.extend(around[here])
