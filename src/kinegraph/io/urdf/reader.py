"""Read URDF: XML to a tree of links, then bodies, coordinates and joint data; with the vocabulary of the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from kinegraph.errors import ModelError, one_of
from kinegraph.io.meshes import MeshFinder
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import URDF_AS_WRITTEN, UrdfOptions
from kinegraph.io.robot.findings import Base, Findings, Robot, accepted_where_needed, report_contacts, report_massless
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, NameTable, all_names, free
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.vocabulary import (
    IDLE,
    Bearing,
    Vocabulary,
    entry,
    idle,
    left_out,
    missing,
    report_words,
    understood,
)
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml
from kinegraph.io.urdf.joints import (
    UrdfJoint,
    UrdfJointKind,
    UrdfJointReader,
    UrdfTree,
    read_extras,
    read_loops,
    read_tree,
)
from kinegraph.io.urdf.links import UrdfShapeReader, origin_of, read_inertia
from kinegraph.model.expressions import Expression, expression
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.report import FindingKind, Places
from kinegraph.model.robot_data import Extra, FileJoint, FileJointKind, file_joint
from kinegraph.model.validation.mechanism import validate

_KINDS = {
    UrdfJointKind.REVOLUTE: FileJointKind.REVOLUTE,
    UrdfJointKind.CONTINUOUS: FileJointKind.CONTINUOUS,
    UrdfJointKind.PRISMATIC: FileJointKind.PRISMATIC,
    UrdfJointKind.FLOATING: FileJointKind.FREE,
    UrdfJointKind.PLANAR: FileJointKind.PLANAR,
}

#: The name of the joint of a floating root link.
FLOATING_BASE = "base"


class UrdfRobotBuilder:
    """Converts the tree of links, root first, to a mechanism."""

    def __init__(
        self, root: Element, tree: UrdfTree, meshes: MeshFinder, angle_reader: AngleReader, coupled: bool
    ) -> None:
        self.tree = tree
        self._root = root
        self.angle_reader = angle_reader
        self.places = Places()
        self.links = NameTable(tree.order, STATEMENTS)
        self.joints = UrdfJointReader(tree, angle_reader, coupled)
        self.shapes = UrdfShapeReader(root, meshes, angle_reader)
        self._bodies: list[Body] = []
        self._coordinates: list[AnyCoordinate] = []
        self._extras: list[Extra] = []
        self._joint_of: dict[str, str] = {}
        self._floating: tuple[AnyCoordinate, ...] = ()
        self._own_coordinates: dict[UrdfJoint, tuple[AnyCoordinate, ...]] = {}

    def robot(self, base: Base, gravity: tuple[Expression, Expression, Expression], loops: bool = True) -> Robot:
        """The robot, validated; with its loops if `loops` is set."""
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
            joints=tuple(self._file_joints()),
        )
        if loops:
            bare = replace(bare, loops=read_loops(self._root, self.tree, self.links, self.angle_reader))
        for element in () if loops else self._root.all("loop_joint"):
            what, name = "<loop_joint>, as requested", element.get("name") or ""
            self.angle_reader.findings.count(FindingKind.LEFT_OUT, "loops", what, element.place, name)
        validate(bare, self.places)
        report_massless(bare, self.angle_reader.findings)
        report_contacts(bare.extras, self.angle_reader.findings)
        links = {self.links[link]: link for link in self.tree.order}
        return Robot(replace(bare, report=self.angle_reader.findings.report()), links, self._joint_of)

    def _file_joints(self) -> Iterator[FileJoint]:
        """The joints with their places in three orders.

        MuJoCo follows the order of the links in the file; Pinocchio that of the joints' names, as urdfdom does.
        """
        if self._floating:
            yield file_joint(FLOATING_BASE, FileJointKind.FREE, self._floating, (-1, -1, -1))
        tree, links = self.tree, list(self.tree.links)
        in_file = {name: place for place, name in enumerate(tree.joints)}
        mujoco, pinocchio = (
            {joint.name: place for place, joint in enumerate(tree.preorder(key))}
            for key in (lambda joint: links.index(joint.child), lambda joint: joint.name.encode())
        )
        for joint in tree.ordered_joints:
            name, own = joint.name, self._own_coordinates.get(joint)
            if own:
                yield file_joint(name, _KINDS[joint.kind], own, (in_file[name], mujoco[name], pinocchio[name]))

    def _add_root(self, base: Base) -> None:
        motion = free(self.joints.names, FLOATING_BASE) if base is Base.FLOATING else JointMotion()
        self._floating = motion.coordinates
        self._enter_coordinates(motion, FLOATING_BASE, self.tree.links[self.tree.root])
        self._add_link(self.tree.root, Body(self.links[self.tree.root], None, motion.transforms))

    def _add(self, joint: UrdfJoint) -> None:
        motion = self.joints.motion(joint)
        self._own_coordinates[joint] = motion.coordinates
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


# The vocabulary of URDF, and the use of each element.

_EXTENSIONS = "extensions of other programs"
_GEOMETRY = "box cylinder sphere capsule mesh"

URDF: Vocabulary = {
    "robot": entry(
        understood("name version"),
        children="link joint material transmission gazebo sensor=idle camera=idle ros2_control=idle "
        "frame=idle loop_joint drake:*=extension "
        "mujoco=extension plugin=extension extension",
    ),
    "link": entry(
        understood("name"),
        idle("type drake_ignore"),
        children="visual=shape collision=shape self_collision_checking=idle collision_checking=idle "
        "self_filter=idle gravity=weightless kinematic=weightless sensor=idle drake:*=extension "
        "contact=contact_parameters",
        once="inertial",
    ),
    "inertial": entry(once="origin mass inertia"),
    "origin": entry(understood("xyz rpy quat_xyzw")),
    "mass": entry(understood("value")),
    "inertia": entry(understood("ixx iyy izz ixy ixz iyz")),
    "shape": entry(
        idle("name"), children="drake:*=extension", once="origin geometry material=shape_material verbose=idle"
    ),
    "geometry": entry(idle("name"), once=_GEOMETRY),
    "box": entry(understood("size")),
    "cylinder": entry(understood("radius length")),
    "sphere": entry(understood("radius")),
    "capsule": entry(understood("radius length")),
    "mesh": entry(understood("filename scale"), children="drake:*=extension"),
    "material": entry(understood("name"), once="color texture=idle"),
    "shape_material": entry(understood("name"), once="color texture=idle"),
    "color": entry(understood("rgba")),
    "joint": entry(
        understood("name type"),
        idle("dont_collapse"),
        children="drake:*=extension",
        once="origin parent child axis limit dynamics mimic calibration=idle safety_controller=idle",
    ),
    "parent": entry(understood("link")),
    "child": entry(understood("link")),
    "axis": entry(understood("xyz")),
    "limit": entry(
        understood("lower upper velocity effort"),
        idle("acceleration deceleration jerk command_effort current gear_velocity"),
        children="drake:*=extension",
    ),
    "dynamics": entry(
        understood("damping friction"), missing("joint springs", spring_stiffness="0", spring_reference="0"),
        missing("elastic drives", K=None, D=None, mu_viscous=None, mu_coulomb=None)
    ),
    "mimic": entry(understood("joint multiplier offset")),
    "transmission": entry(idle("name type"), children="actuator drake:*=extension *=idle", has_text=True),
    "actuator": entry(idle("name"), children="drake:*=extension *=idle", has_text=True),
    "gazebo": entry(
        idle("reference"),
        children="material=idle sensor=idle visual=idle collision=idle laserRetro=idle "
        "selfCollide=self_collide mu1=of_contacts mu2=of_contacts kp=of_contacts kd=of_contacts "
        "minDepth=of_contacts maxVel=of_contacts maxContacts=idle fdir1=of_contacts provideFeedback=idle "
        "implicitSpringDamper=idle stopCfm=idle stopErp=idle cfmDamping=idle fudgeFactor=idle "
        "disableFixedJointLumping=idle preserveFixedJoint=idle disable_joint_lumping=idle springStiffness=spring "
        "springReference=spring dampingFactor=damping turnGravityOff=weightless gravity=weightless joint=gazebo_joint "
        "*=extension",
    ),
    "idle": IDLE,
    "of_contacts": left_out("contacts", bearing=Bearing.CONTACTS),
    "self_collide": left_out("contacts", "false 0", Bearing.CONTACTS),
    "spring": left_out("joint springs"),
    "damping": left_out("damping of links"),
    "weightless": left_out("links without gravity"),
    "contact_parameters": left_out("contacts", bearing=Bearing.CONTACTS),
    "loop_joint": entry(understood("name type"), children="link1=loop_end link2=loop_end", once="axis"),
    "loop_end": entry(understood("link xyz rpy")),
    "gazebo_joint": left_out("closed loops"),
    "extension": left_out(_EXTENSIONS),
}  # fmt: skip


#: Elements with a position and an orientation.
_PLACED = ("origin", "link1", "link2")


def load_urdf(path: str | PathLike[str], options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read a URDF file."""
    return read_urdf(read_xml(path), Path(path), options)


def read_urdf(root: Element, path: Path, options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read a URDF document from the file `path`, like `load_urdf`."""
    return _robot(root, options.meshes(path.parent), options)


def parse_urdf(text: str | bytes, source: str = "", options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read URDF from text; `source` is its name in messages. Meshes stay references."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), options)


def _robot(root: Element, meshes: MeshFinder, options: UrdfOptions) -> Robot:
    base = one_of(Base, options.base, "base", ModelError)
    require_root(root, ModelFormat.URDF)
    _check_quaternions(root)
    angle_reader = AngleReader(options.rule, Findings())
    tree = read_tree(root, angle_reader.findings)
    report_words(root, "robot", URDF, angle_reader.findings)
    x, y, z = (expression(item) for item in options.gravity)
    return UrdfRobotBuilder(root, tree, meshes, angle_reader, options.mimic).robot(base, (x, y, z), options.equalities)


def _check_quaternions(root: Element) -> None:
    """Raise a ModelError for quat_xyzw before URDF 1.1, where other readers ignore it."""
    major, _, minor = (root.get("version") or "1.0").strip().partition(".")
    if major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= (1, 1):
        return
    pending = [root]
    while pending:
        element = pending.pop()
        if element.tag in _PLACED and element.get("quat_xyzw") is not None:
            message = "quat_xyzw needs URDF 1.1, but this file has version 1.0"
            raise ModelError(message, element.place, 'write <robot version="1.1" ...>, or rpy instead of quat_xyzw')
        pending.extend(reversed(element.children))
