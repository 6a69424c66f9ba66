"""From the links and joints of an SDF model to a mechanism."""

from __future__ import annotations

from dataclasses import replace

from kinegraph.io.robot.contacts import report_contacts
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, all_names, free
from kinegraph.io.robot.massless import report_massless
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.report import Findings, Robot, accepted_where_needed
from kinegraph.io.sdf.frames import WORLD, Frames
from kinegraph.io.sdf.inertia import read_inertia
from kinegraph.io.sdf.joints import JointReader, SdfJoint, read_extras, read_joints
from kinegraph.io.sdf.mimic import mimic_constraints
from kinegraph.io.sdf.shapes import ShapeReader
from kinegraph.io.sdf.simplify import simplified
from kinegraph.io.sdf.tree import FREE, link_tree
from kinegraph.io.sdf.values import flag
from kinegraph.model.constraints.records import Loop
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Body, Mechanism, Transform
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.places import Places
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra
from kinegraph.model.validation.mechanism import validate

Gravity = tuple[Expression, Expression, Expression]


class RobotBuilder:
    """Collects what makes a mechanism; bodies and coordinates come as the file writes links and joints."""

    def __init__(self, frames: Frames, meshes: MeshFinder, old: bool) -> None:
        self.frames = frames
        self.static = flag(frames.model, "static")
        self.joints = {} if self.static else {joint.name: joint for joint in read_joints(frames)}
        self.reader = JointReader(frames, self.joints.values(), old)
        self.tree = link_tree(frames, self.joints.values(), self.reader)
        self.shapes = ShapeReader(frames, meshes)
        self.links = NameTable(frames.links, STATEMENTS)
        self.places = Places()
        self._motions: dict[str, JointMotion] = {}
        self._joint_of: dict[str, str] = {}
        self._extras: list[Extra] = []

    @property
    def findings(self) -> Findings:
        """What is worth knowing about the file."""
        return self.frames.angle_reader.findings

    def robot(self, gravity: Gravity, closed: bool = True) -> Robot:
        """The robot, validated; with its loops closed if that is wanted."""
        coordinates = [*self._free_coordinates(), *self._joint_coordinates()]
        loops = self._loops(closed)
        bodies = tuple(self._body(link) for link in self.frames.links)
        if self.frames.world_link is not None:
            self._extras.extend(self.shapes.shapes(self.frames.world_link, None))
        name = model_name_from(self.frames.model.get("name") or "mechanism")
        taken = (*STATEMENTS, *(body.name for body in bodies), *(loop.name for loop in loops))
        relations = mimic_constraints(self.joints, self._motions, taken, self.places)
        extras = tuple(self._extras)
        bare = Mechanism(
            name, bodies, tuple(coordinates), (), gravity, extras=extras, loops=loops, constraints=relations
        )
        validate(bare, self.places)
        report_massless(bare, self.findings)
        report_contacts(bare.extras, self.findings)
        links = {self.links[link]: link for link in self.frames.links}
        return Robot(replace(bare, report=self.findings.report()), links, self._joint_of)

    def _free_coordinates(self) -> list[AnyCoordinate]:
        """Of links that no joint ties to the world."""
        found: list[AnyCoordinate] = []
        for link, edge in self.tree.inward.items():
            if edge.joint.startswith(FREE) and not self.static:
                self._motions[edge.joint] = motion = free(self.reader.names, link)
                found += self._entered(link, motion)
        return found

    def _joint_coordinates(self) -> list[AnyCoordinate]:
        standing = {edge.joint for edge in self.tree.inward.values()}
        found: list[AnyCoordinate] = []
        for joint in self.joints.values():
            if joint.name in standing:
                self._motions[joint.name] = motion = self.reader.motion(joint)
                found += self._entered(joint.name, motion)
                self._extras.extend(read_extras(joint, motion))
        return found

    def _entered(self, joint: str, motion: JointMotion) -> tuple[AnyCoordinate, ...]:
        place = (self.joints[joint].element if joint in self.joints else self.frames.links[joint]).place
        for coordinate in motion.coordinates:
            self.places.mark(coordinate, place)
            self._joint_of.update(dict.fromkeys(all_names(coordinate), joint))
        return motion.coordinates

    def _loops(self, closed: bool) -> tuple[Loop, ...]:
        cut = [self.joints[edge.joint] for edge in self.tree.cut]
        if not closed:
            for joint in cut:
                what = "joint that closes a loop, as asked"
                self.findings.count(FindingKind.LEFT_OUT, "loops", what, joint.element.place, joint.name)
            return ()
        table = NameTable((joint.name for joint in cut), (*STATEMENTS, *(self.links[one] for one in self.frames.links)))
        return tuple(self._loop(joint, table[joint.name]) for joint in cut)

    def _loop(self, joint: SdfJoint, name: str) -> Loop:
        for extra in read_extras(joint, self.reader.motion(joint)):
            message = f"{type(extra).__name__} of {joint.what}, which closes a loop and has no coordinate"
            self.findings.add(
                FindingKind.LEFT_OUT, message, joint.element.place, "springs and limits where loops close"
            )
        loop = self.reader.loop(joint, name, self._body_name(joint.parent), self._body_name(joint.child))
        return self.places.mark(loop, joint.element.place)

    def _body_name(self, link: str) -> str | None:
        return None if link == WORLD else self.links[link]

    # one link

    def _body(self, link: str) -> Body:
        element = self.frames.links[link]
        base, transforms = self._placed(link)
        body = Body(self.links[link], self._body_name(base), transforms, read_inertia(element, self.frames))
        self.places.mark(body, (element.first("inertial") or element).place)
        self._extras.extend(self.shapes.shapes(element, body.name))
        return accepted_where_needed(body, self.places, self.findings)

    def _placed(self, link: str) -> tuple[str, tuple[Transform, ...]]:
        """What a link stands on, and the transforms from there."""
        edge = self.tree.inward[link]
        joint = self.joints.get(edge.joint)
        if joint is not None:
            motion = self._motions[joint.name]
            outwards = joint.child == link
            return (joint.parent if outwards else joint.child), self.reader.placed(joint, motion, outwards)
        moved = self._motions[edge.joint].transforms if edge.joint in self._motions else ()
        return WORLD, (*simplified(self.frames.between(WORLD, link, self.frames.links[link])), *moved)
