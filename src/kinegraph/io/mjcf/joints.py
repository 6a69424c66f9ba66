"""Joints of MJCF bodies: hinge, slide, ball and free, several on one body, each about its own point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.mjcf.settings import Settings
from kinegraph.io.robot.attributes import Written, numbers, vector
from kinegraph.io.robot.joint_motion import Freedom, Orientation, ball, free
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import linear, negative, shifts
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Expression, Name, Number
from kinegraph.model.mechanism import ZERO, Coordinate, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra, JointArmature, JointFriction, JointLimits, JointSpring

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
    """One joint with the attributes of its class filled in; `name` is unique in the model."""

    name: str
    kind: MjcfJointKind
    element: Element


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

    def free(self, joint: MjcfJoint, start: Position, orientation: Orientation) -> Freedom:
        """A body that moves freely; its own placement is where it starts."""
        return free(self.names, joint.name, start, orientation)

    def motion(self, joints: Sequence[MjcfJoint]) -> tuple[tuple[Transform, ...], list[tuple[MjcfJoint, Freedom]]]:
        """The transforms of all joints of a body, each in the frame the ones before have moved."""
        moved: list[Transform] = []
        here = _ORIGIN
        freedoms: list[tuple[MjcfJoint, Freedom]] = []
        for joint in joints:
            anchor = here if joint.kind is MjcfJointKind.SLIDE else self._anchor(joint)
            freedom = self._freedom(joint)
            moved += [*shifts(_difference(anchor, here)), *freedom.transforms]
            here = anchor
            freedoms.append((joint, freedom))
        return (*moved, *shifts(_difference(_ORIGIN, here))), freedoms

    def _anchor(self, joint: MjcfJoint) -> tuple[Fraction, Fraction, Fraction]:
        pos = vector(joint.element, "pos", 3)
        if pos is None:
            return _ORIGIN
        x, y, z = (item.value for item in pos)
        return x, y, z

    def _freedom(self, joint: MjcfJoint) -> Freedom:
        if joint.kind is MjcfJointKind.BALL:
            return ball(self.names, joint.name)
        axis = vector(joint.element, "axis", 3) or _UP
        direction = self.orienter.placing.direction(axis, joint.element, f"the joint {joint.name}")
        own = Name(self.names[joint.name])
        reference = self._amount(joint, "ref") or ZERO
        displacement = linear(Fraction(1), own, negative(reference))
        turns = joint.kind is MjcfJointKind.HINGE
        moves = direction.rotation(displacement) if turns else direction.slide(displacement)
        return Freedom(moves, (Coordinate(own.text, reference),), ((own,),))

    def _amount(self, joint: MjcfJoint, name: str) -> Expression | None:
        """A position of the joint: an angle in the model's unit, or a distance."""
        found = vector(joint.element, name, 1)
        return None if found is None else self._position(found[0], joint)

    def _position(self, written: Written, joint: MjcfJoint) -> Expression:
        if joint.kind in (MjcfJointKind.SLIDE, MjcfJointKind.FREE):
            return Number(written.value)
        return self.orienter.angle(written, joint.element, f"the joint {joint.name}")

    def extras(self, joint: MjcfJoint, freedom: Freedom) -> Iterator[Extra]:
        """Limits, friction, spring and armature of a joint, as far as they are stated."""
        damping, dry, stiffness, armature = (
            self._coefficient(joint, name) for name in ("damping", "frictionloss", "stiffness", "armature")
        )
        rests = self._rests(joint, freedom)
        for displacement, rest in zip(freedom.displacements, rests, strict=True):
            yield from self._limits(joint, displacement)
            if (damping, dry) != (ZERO, ZERO):
                yield JointFriction(joint.name, displacement, damping, dry)
            if stiffness != ZERO:
                yield JointSpring(joint.name, displacement, stiffness, rest)
            if armature != ZERO:
                yield JointArmature(joint.name, displacement, armature)

    def _rests(self, joint: MjcfJoint, freedom: Freedom) -> list[Expression]:
        """Where springs do not pull: as stated for hinge and slide, where it starts for a ball or free joint."""
        if joint.kind in (MjcfJointKind.HINGE, MjcfJointKind.SLIDE):
            return [self._amount(joint, "springref") or ZERO]
        return [c.position if isinstance(c, Coordinate) else ZERO for c in freedom.coordinates]

    def _coefficient(self, joint: MjcfJoint, name: str) -> Expression:
        found = numbers(joint.element, name)
        if found is None:
            return ZERO
        if any(item.value for item in found[1:]):
            message = f"{name} of the joint {joint.name} is not linear; only its first coefficient is kept"
            findings = self.orienter.placing.findings
            findings.add(FindingKind.LEFT_OUT, message, joint.element.place, "nonlinear joint forces")
        return Number(found[0].value)

    def _limits(self, joint: MjcfJoint, displacement: tuple[Expression, ...]) -> Iterator[JointLimits]:
        within = self._switched(joint, "limited", "range") if joint.kind is not MjcfJointKind.FREE else None
        force = self._switched(joint, "actuatorfrclimited", "actuatorfrcrange")
        if within is None and force is None:
            return
        lower, upper = (self._position(item, joint) for item in within) if within else (None, None)
        effort = Number(max(abs(item.value) for item in force)) if force else None
        yield JointLimits(joint.name, displacement, lower, upper, None, effort)

    def _switched(self, joint: MjcfJoint, switch: str, name: str) -> tuple[Written, ...] | None:
        """A range, if it is in force: by its switch, or by being stated where that is enough."""
        word = joint.element.get(switch) or "auto"
        if word == "false" or (word == "auto" and not self.settings.automatic_limits):
            return None
        return vector(joint.element, name, 2)


def _difference(to: Sequence[Fraction], start: Sequence[Fraction]) -> list[Fraction]:
    return [a - b for a, b in zip(to, start, strict=True)]
