"""Joints of MJCF bodies: motion, range, friction, springs, armature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.settings import Flags, Settings, switched_range
from kinegraph.io.mjcf.transforms import DIGITS, Orienter, cleaned
from kinegraph.io.robot.joint_motion import JointMotion, NameTable, Orientation, ball, free
from kinegraph.io.robot.placement import linear, shifts
from kinegraph.io.robot.xml import Element, Written, numbers, single, vector
from kinegraph.model.expressions import Expression, Name, Number, negative
from kinegraph.model.mechanism import ZERO, Coordinate, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.poses import pose
from kinegraph.model.robot_data import Extra, JointArmature, JointFriction, JointLimits, JointSpring

_UP = (Written(Fraction(0)), Written(Fraction(0)), Written(Fraction(1)))
_ORIGIN = (Fraction(0), Fraction(0), Fraction(0))
Position = tuple[Expression, Expression, Expression]


class MjcfJointKind(Enum):
    """The joint types of MJCF."""

    HINGE = "hinge"
    SLIDE = "slide"
    BALL = "ball"
    FREE = "free"


#: The joints with a single coordinate.
SCALAR_JOINTS = (MjcfJointKind.HINGE, MjcfJointKind.SLIDE)


@dataclass(frozen=True)
class MjcfJoint:
    """A joint, completed with the attributes of its class; `name` is unique in the model.

    `around` are the frames between the body and the joint.
    """

    name: str
    kind: MjcfJointKind
    element: Element
    around: tuple[Transform, ...] = ()


def joint_kind(element: Element) -> MjcfJointKind:
    """The type of a <joint> or <freejoint>."""
    if element.tag == "freejoint":
        return MjcfJointKind.FREE
    word = element.get("type") or "hinge"
    try:
        return MjcfJointKind(word)
    except ValueError:
        remedy = did_you_mean(word, [kind.value for kind in MjcfJointKind])
        raise ModelError(f"unknown joint type '{word}'", element.place, remedy) from None


class MjcfJointReader:
    """Reads joints with the settings of one model."""

    def __init__(self, names: NameTable, orienter: Orienter, settings: Settings) -> None:
        self.names = names
        self.orienter = orienter
        self.settings = settings

    def free(self, joint: MjcfJoint, start: Position, orientation: Orientation) -> JointMotion:
        """The motion of a free body; the placement of the body is its start."""
        return free(self.names, joint.name, start, orientation)

    def motion(self, joints: Sequence[MjcfJoint]) -> tuple[tuple[Transform, ...], list[tuple[MjcfJoint, JointMotion]]]:
        """The transforms of all joints of a body, each in the frame that the previous joints have moved."""
        moved: list[Transform] = []
        here = _ORIGIN
        motions: list[tuple[MjcfJoint, JointMotion]] = []
        for joint in joints:
            anchor = here if joint.kind is MjcfJointKind.SLIDE else self._anchor(joint)
            motion = self._motion_of(joint)
            moved += [*shifts(_difference(anchor, here)), *motion.transforms]
            here = anchor
            motions.append((joint, motion))
        return (*moved, *shifts(_difference(_ORIGIN, here))), motions

    def _anchor(self, joint: MjcfJoint) -> tuple[Fraction, Fraction, Fraction]:
        pos = vector(joint.element, "pos", 3)
        x, y, z = (item.value for item in pos) if pos else _ORIGIN
        if joint.around:
            rotation, position = pose(joint.around)
            x, y, z = (item.value for item in cleaned(position + rotation @ [float(x), float(y), float(z)]))
        return x, y, z

    def _motion_of(self, joint: MjcfJoint) -> JointMotion:
        if joint.kind is MjcfJointKind.BALL:
            return ball(self.names, joint.name)
        axis = self._axis(joint)
        direction = self.orienter.angle_reader.direction(axis, joint.element, f"the joint {joint.name}")
        own = Name(self.names[joint.name])
        reference = self.amount(joint, "ref") or ZERO
        displacement = linear(Fraction(1), own, negative(reference))
        turns = joint.kind is MjcfJointKind.HINGE
        moves = direction.rotation(displacement) if turns else direction.translation(displacement)
        return JointMotion(moves, (Coordinate(own.text, reference),), ((own,),))

    def _axis(self, joint: MjcfJoint) -> tuple[Written, ...]:
        axis = vector(joint.element, "axis", 3) or _UP
        if not joint.around:
            return axis
        turned = pose(joint.around)[0] @ [float(item.value) for item in axis]
        return tuple(Written(item.value, DIGITS) for item in cleaned(turned))

    def amount(self, joint: MjcfJoint, name: str) -> Expression | None:
        """A position of the joint: an angle in the model's unit, or a distance."""
        found = vector(joint.element, name, 1)
        return None if found is None else self.position(found[0], joint)

    def position(self, written: Written, joint: MjcfJoint) -> Expression:
        """A written number as a position of the joint: an angle in the model's unit, or a distance."""
        if joint.kind in (MjcfJointKind.SLIDE, MjcfJointKind.FREE):
            return Number(written.value)
        return self.orienter.angle(written, joint.element, f"the joint {joint.name}")


def _difference(to: Sequence[Fraction], start: Sequence[Fraction]) -> list[Fraction]:
    return [a - b for a, b in zip(to, start, strict=True)]


# Joint data beyond the motion: range, friction, spring and armature

#: MuJoCo's forces are polynomials of this degree.
_DEGREE = 3

Coefficients = tuple[Expression, ...]


@dataclass(frozen=True)
class SpringDamper:
    """Stiffness and damping for a given time constant and damping ratio of a joint."""

    time_constant: Fraction
    damping_ratio: Fraction

    def stiffness(self, inertia: float) -> Expression:
        """The stiffness for the inertia that the joint moves."""
        return _number(inertia / (float(self.time_constant) * float(self.damping_ratio)) ** 2)

    def damping(self, inertia: float) -> Expression:
        """The damping for the inertia that the joint moves."""
        return _number(2 * inertia / float(self.time_constant))


def spring_damper(joint: MjcfJoint) -> SpringDamper | None:
    """The values of `springdamper`; None for two zeros."""
    written = vector(joint.element, "springdamper", 2)
    if written is None or not any(item.value for item in written):
        return None
    if min(item.value for item in written) <= 0:
        message = f"springdamper of the joint {joint.name} is not positive"
        raise ModelError(message, joint.element.place, "write a time constant and a damping ratio above zero")
    return SpringDamper(written[0].value, written[1].value)


def armature(joint: MjcfJoint, motion: JointMotion) -> Iterator[JointArmature]:
    """The armature of all coordinates of a joint."""
    stated = single(joint.element, "armature")
    if stated:
        yield from (JointArmature(joint.name, moved, Number(stated)) for moved in motion.displacements)


class JointRecords:
    """Reads joint data with the settings of one model."""

    def __init__(self, reader: MjcfJointReader) -> None:
        self.reader = reader
        self.flags: Flags = reader.settings.flags

    def records(self, joint: MjcfJoint, motion: JointMotion, inertia: float | None) -> Iterator[Extra]:
        """All records of a joint. `inertia` is what the joint moves at the start, for `springdamper`."""
        stiffness, *higher_stiffness = self._polynomial(joint, "stiffness")
        damping, *higher_damping = self._polynomial(joint, "damping")
        automatic = spring_damper(joint)
        if automatic is not None and inertia is not None:
            stiffness, damping = automatic.stiffness(inertia), automatic.damping(inertia)
        yield from self._limits(joint, motion)
        yield from self._friction(joint, motion, (damping, *higher_damping))
        yield from self._springs(joint, motion, (stiffness, *higher_stiffness))
        yield from armature(joint, motion)

    def _polynomial(self, joint: MjcfJoint, name: str) -> Coefficients:
        """The coefficients of a force, the linear coefficient first, without trailing zeros."""
        found = numbers(joint.element, name) or ()
        if len(found) > _DEGREE:
            message = f"{name} of the joint {joint.name} takes up to {_DEGREE} numbers, found {len(found)}"
            raise ModelError(message, joint.element.place, "write the coefficients of x, x^2 and x^3")
        values = [item.value for item in found]
        while len(values) > 1 and not values[-1]:
            values.pop()
        return tuple(Number(value) for value in values or [Fraction(0)])

    def _springs(self, joint: MjcfJoint, motion: JointMotion, coefficients: Coefficients) -> Iterator[JointSpring]:
        if not self.flags.springs or not any(item != ZERO for item in coefficients):
            return
        linear, *higher = coefficients
        for displacement, rest in self._rests(joint, motion):
            yield JointSpring(joint.name, displacement, linear, rest, tuple(higher))

    def _rests(self, joint: MjcfJoint, motion: JointMotion) -> Iterator[tuple[Coefficients, Coefficients]]:
        """The displacements of springs and their rest values: `springref` for hinge and slide, else the start."""
        if joint.kind in SCALAR_JOINTS:
            yield motion.displacements[0], (self.reader.amount(joint, "springref") or ZERO,)
            return
        *lengths, turned = motion.displacements
        *starts, orientation = motion.coordinates
        if lengths:
            start = tuple(one.position for one in starts if isinstance(one, Coordinate))
            yield tuple(item for (item,) in lengths), start
        assert not isinstance(orientation, Coordinate)
        yield turned, orientation.position

    def _friction(self, joint: MjcfJoint, motion: JointMotion, coefficients: Coefficients) -> Iterator[JointFriction]:
        linear, *higher = coefficients if self.flags.dampers else (ZERO,)
        dry = single(joint.element, "frictionloss") if self.flags.dry_friction else None
        if linear == ZERO and not higher and not dry:
            return
        for displacement in motion.displacements:
            yield JointFriction(joint.name, displacement, linear, Number(dry or Fraction(0)), tuple(higher))

    def _limits(self, joint: MjcfJoint, motion: JointMotion) -> Iterator[JointLimits]:
        """The range, and for a single coordinate the force limit; a free joint has neither."""
        if joint.kind is MjcfJointKind.FREE:
            return
        settings = self.reader.settings
        within = switched_range(joint.element, "limited", "range", settings) if self.flags.limits else None
        force = force_range(joint, settings)
        if within is None and force is None:
            return
        lower, upper = (self.reader.position(item, joint) for item in within) if within else (None, None)
        effort = Number(max(abs(item.value) for item in force)) if force else None
        yield JointLimits(joint.name, motion.displacements[0], lower, upper, None, effort)


def force_range(joint: MjcfJoint, settings: Settings) -> tuple[Written, ...] | None:
    """The limits of the total force of all actuators on a joint with a single coordinate."""
    if joint.kind not in SCALAR_JOINTS:
        return None
    return switched_range(joint.element, "actuatorfrclimited", "actuatorfrcrange", settings)


def _number(value: float) -> Number:
    return Number(Fraction(repr(value)))
