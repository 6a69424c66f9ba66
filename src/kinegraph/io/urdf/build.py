"""From a tree of URDF links to bodies, coordinates and extras."""

from __future__ import annotations

from dataclasses import replace

from kinegraph.io.robot.contacts import report_contacts
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, all_names, free
from kinegraph.io.robot.massless import report_massless
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.report import Base, Robot, accepted_where_needed
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.inertia import read_inertia
from kinegraph.io.urdf.joints import JointReader, read_extras
from kinegraph.io.urdf.loops import read_loops
from kinegraph.io.urdf.origin import origin_of
from kinegraph.io.urdf.shapes import ShapeReader
from kinegraph.io.urdf.tree import UrdfJoint, UrdfTree
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.places import Places
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra
from kinegraph.model.validation.mechanism import validate

#: The joint a floating root link is given.
FLOATING_BASE = "base"


class RobotBuilder:
    """Walks the tree from the root and collects what makes a mechanism."""

    def __init__(
        self, root: Element, tree: UrdfTree, meshes: MeshFinder, angle_reader: AngleReader, coupled: bool
    ) -> None:
        self.tree = tree
        self._root = root
        self.angle_reader = angle_reader
        self.places = Places()
        self.links = NameTable(tree.order, STATEMENTS)
        self.joints = JointReader(tree, angle_reader, coupled)
        self.shapes = ShapeReader(root, meshes, angle_reader)
        self._bodies: list[Body] = []
        self._coordinates: list[AnyCoordinate] = []
        self._extras: list[Extra] = []
        self._joint_of: dict[str, str] = {}

    def robot(self, base: Base, gravity: tuple[Expression, Expression, Expression], loops: bool = True) -> Robot:
        """The robot, validated; with its loops closed if that is wanted."""
        self._add_root(base)
        for joint in self.tree.ordered_joints:
            self._add(joint)
        bare = Mechanism(
            model_name_from(self.tree.name),
            tuple(self._bodies),
            tuple(self._coordinates),
            (),
            gravity,
            extras=tuple(self._extras),
        )
        if loops:
            bare = replace(bare, loops=read_loops(self._root, self.tree, self.links, self.angle_reader))
        for element in () if loops else self._root.all("loop_joint"):
            what, name = "<loop_joint>, as asked", element.get("name") or ""
            self.angle_reader.findings.count(FindingKind.LEFT_OUT, "loops", what, element.place, name)
        validate(bare, self.places)
        report_massless(bare, self.angle_reader.findings)
        report_contacts(bare.extras, self.angle_reader.findings)
        links = {self.links[link]: link for link in self.tree.order}
        return Robot(replace(bare, report=self.angle_reader.findings.report()), links, self._joint_of)

    def _add_root(self, base: Base) -> None:
        motion = free(self.joints.names, FLOATING_BASE) if base is Base.FLOATING else JointMotion()
        self._enter_coordinates(motion, FLOATING_BASE, self.tree.links[self.tree.root])
        self._add_link(self.tree.root, Body(self.links[self.tree.root], None, motion.transforms))

    def _add(self, joint: UrdfJoint) -> None:
        motion = self.joints.motion(joint)
        self._enter_coordinates(motion, joint.name, joint.element)
        self._extras.extend(read_extras(joint, motion))
        placed = origin_of(joint.element, self.angle_reader, f"the joint {joint.name}")
        transforms = (*placed, *motion.transforms)
        self._add_link(joint.child, Body(self.links[joint.child], self.links[joint.parent], transforms))

    def _enter_coordinates(self, motion: JointMotion, joint: str, element: Element) -> None:
        for coordinate in motion.coordinates:
            self._coordinates.append(self.places.mark(coordinate, element.place))
            self._joint_of.update(dict.fromkeys(all_names(coordinate), joint))

    def _add_link(self, link: str, placed: Body) -> None:
        element = self.tree.links[link]
        inertia = read_inertia(element, link, self.angle_reader)
        body = Body(placed.name, placed.base, placed.transforms, inertia)
        self.places.mark(body, (element.first("inertial") or element).place)
        self._bodies.append(accepted_where_needed(body, self.places, self.angle_reader.findings))
        self._extras.extend(self.shapes.shapes(element, link, body.name))
