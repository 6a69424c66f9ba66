"""Joints of MJCF bodies: hinge, slide, ball and free, several on one body, each about its own point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.numeric import cleaned, pose
from kinegraph.io.mjcf.orientation import DIGITS, Orienter
from kinegraph.io.mjcf.settings import Settings
from kinegraph.io.robot.attributes import Written, vector
from kinegraph.io.robot.joint_motion import JointMotion, Orientation, ball, free
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import linear, negative, shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Expression, Name, Number
from kinegraph.model.mechanism import ZERO, Coordinate, Transform
from kinegraph.model.names import did_you_mean

_UP = (Written(Fraction(0)), Written(Fraction(0)), Written(Fraction(1)))
_ORIGIN = (Fraction(0), Fraction(0), Fraction(0))
Position = tuple[Expression, Expression, Expression]


class MjcfJointKind(Enum):
    """The joint types of MJCF."""

    HINGE = "hinge"
    SLIDE = "slide"
    BALL = "ball"
    FREE = "free"


@dataclass(frozen=True)
class MjcfJoint:
    """One joint with the attributes of its class filled in; `name` is unique in the model.

    `around` are the frames between the body and it.
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
        raise ModelError(f"a joint is of an unknown type `{word}`", element.place, remedy) from None


class JointReader:
    """Reads joints by the settings of one model."""

    def __init__(self, names: NameTable, orienter: Orienter, settings: Settings) -> None:
        self.names = names
        self.orienter = orienter
        self.settings = settings

    def free(self, joint: MjcfJoint, start: Position, orientation: Orientation) -> JointMotion:
        """A body that moves freely; its own placement is where it starts."""
        return free(self.names, joint.name, start, orientation)

    def motion(self, joints: Sequence[MjcfJoint]) -> tuple[tuple[Transform, ...], list[tuple[MjcfJoint, JointMotion]]]:
        """The transforms of all joints of a body, each in the frame the ones before have moved."""
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
