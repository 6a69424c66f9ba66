"""Joints of a URDF: how each moves, and what the file says about its limits and friction."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import Written, bound, single, vector
from kinegraph.io.robot.joint_motion import JointMotion, free, planar
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import AngleReader, Direction, linear
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.tree import UrdfJoint, UrdfJointKind, UrdfTree
from kinegraph.model.expression import Expression, Name, Number
from kinegraph.model.mechanism import ZERO, Coordinate
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot.data import Extra, JointFriction, JointLimits

_DEFAULT_AXIS = (Written(Fraction(1)), Written(Fraction(0)), Written(Fraction(0)))


class JointReader:
    """Reads the joints of one tree; every joint that moves by itself gives its name to its coordinate.

    Unless `coupled`, joints that mimic another move by themselves as well.
    """

    def __init__(self, tree: UrdfTree, angle_reader: AngleReader, coupled: bool) -> None:
        self.joints = tree.joints
        self.angle_reader = angle_reader
        self.coupled = coupled
        self.names = NameTable(j.name for j in tree.ordered_joints if j.kind.single and self._mimic(j) is None)

    def _mimic(self, joint: UrdfJoint) -> Element | None:
        return joint.element.first("mimic") if self.coupled else None

    def motion(self, joint: UrdfJoint) -> JointMotion:
        """How a joint moves."""
        if joint.kind is UrdfJointKind.FIXED:
            return JointMotion()
        if joint.kind is UrdfJointKind.FLOATING:
            return free(self.names, joint.name)
        if joint.kind is UrdfJointKind.PLANAR:
            return planar(self.names, joint.name, self._direction(joint))
        displacement = self.displacement(joint)
        direction = self._direction(joint)
        prismatic = joint.kind is UrdfJointKind.PRISMATIC
        moves = direction.translation(displacement) if prismatic else direction.rotation(displacement)
        own = () if self._mimic(joint) else (Coordinate(self.names[joint.name]),)
        return JointMotion(moves, own, ((displacement,),))

    def displacement(self, joint: UrdfJoint) -> Expression:
        """The angle or distance of a joint: its own coordinate, or a linear expression in the one it mimics."""
        factor, offset = Fraction(1), Fraction(0)
        seen = {joint.name}
        while (mimic := self._mimic(joint)) is not None:
            multiplier = single(mimic, "multiplier")
            offset += factor * (single(mimic, "offset") or 0)
            factor *= Fraction(1) if multiplier is None else multiplier
            joint = self._mimicked(mimic.required("joint"), joint)
            if joint.name in seen:
                message = f"joints mimic each other in a circle, {joint.name} among them"
                raise ModelError(message, mimic.place, "let one of them move by itself: remove its <mimic>")
            seen.add(joint.name)
        if joint.kind is UrdfJointKind.FIXED:
            return Number(offset)
        return linear(factor, Name(self.names[joint.name]), Number(offset))

    def _mimicked(self, name: str, by: UrdfJoint) -> UrdfJoint:
        mimic = by.element.first("mimic") or by.element
        if name not in self.joints:
            guess = did_you_mean(name, self.joints)
            remedy = f"{guess if guess.startswith('did') else ''} mimic=False lets every joint move by itself".lstrip()
            raise ModelError(f"the joint {by.name} mimics {name}, which is no joint", mimic.place, remedy)
        found = self.joints[name]
        if found.kind in (UrdfJointKind.FLOATING, UrdfJointKind.PLANAR):
            message = f"the joint {by.name} mimics {name}, which is {found.kind.value}"
            raise ModelError(message, mimic.place, "mimic a revolute, continuous or prismatic joint")
        return found

    def _direction(self, joint: UrdfJoint) -> Direction:
        element = joint.element.first("axis")
        xyz = (vector(element, "xyz", 3) if element is not None else None) or _DEFAULT_AXIS
        return self.angle_reader.direction(xyz, element or joint.element, f"the joint {joint.name}")


def read_extras(joint: UrdfJoint, motion: JointMotion) -> Iterator[Extra]:
    """Limits and friction of a joint, as far as they are stated."""
    limit, dynamics = joint.element.first("limit"), joint.element.first("dynamics")
    for displacement in motion.displacements:
        if limit is not None:
            ranged = joint.kind in (UrdfJointKind.REVOLUTE, UrdfJointKind.PRISMATIC)
            # urdfdom reads a missing end of the range as zero
            ends = tuple(_stated(limit, end, Fraction(0)) for end in ("lower", "upper")) if ranged else (None, None)
            speed_and_force = (_stated(limit, name) for name in ("velocity", "effort"))
            yield JointLimits(joint.name, displacement, *ends, *speed_and_force)
        if dynamics is not None:
            damping, dry = (_stated(dynamics, name) or ZERO for name in ("damping", "friction"))
            if (damping, dry) != (ZERO, ZERO):
                yield JointFriction(joint.name, displacement, damping, dry)


def _stated(element: Element, name: str, missing: Fraction | None = None) -> Expression | None:
    value = bound(element, name) if element.get(name) is not None else missing
    return None if value is None else Number(value)
