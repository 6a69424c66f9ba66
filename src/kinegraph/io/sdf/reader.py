"""Read SDFormat: XML to frames, then a tree of links with loops, then a mechanism; with the format's vocabulary."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

from kinegraph.io.meshes import MeshFinder
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import AS_WRITTEN, RobotFileOptions
from kinegraph.io.robot.findings import Findings, Robot, accepted_where_needed, report_contacts, report_massless
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
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml, vector
from kinegraph.io.sdf.frames import WORLD, Frames, flag, simplified, stated
from kinegraph.io.sdf.joints import (
    FREE,
    SdfJoint,
    SdfJointKind,
    SdfJointReader,
    gear_constraints,
    link_tree,
    mimic_constraints,
    read_extras,
    read_joints,
)
from kinegraph.io.sdf.links import SdfShapeReader, read_inertia
from kinegraph.io.sdf.nested import Nesting
from kinegraph.model.constraints import Loop
from kinegraph.model.expressions import Expression, Number, expression, text
from kinegraph.model.mechanism import Body, Mechanism, Transform
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.report import FindingKind, Places
from kinegraph.model.robot_data import Extra
from kinegraph.model.validation.mechanism import validate

Gravity = tuple[Expression, Expression, Expression]


class SdfRobotBuilder:
    """Converts links and joints, in the order of the file, to a mechanism."""

    def __init__(self, frames: Frames, meshes: MeshFinder) -> None:
        self.frames = frames
        self.static = flag(frames.model, "static")
        every = [] if self.static else read_joints(frames)
        self.joints = {joint.name: joint for joint in every if joint.kind is not SdfJointKind.GEARBOX}
        self.gears = [joint for joint in every if joint.kind is SdfJointKind.GEARBOX]
        self.reader = SdfJointReader(frames, self.joints.values())
        self.tree = link_tree(frames, self.joints.values(), self.gears, self.reader)
        self.shapes = SdfShapeReader(frames, meshes)
        self.links = NameTable(frames.links, STATEMENTS)
        self.places = Places()
        self._motions: dict[str, JointMotion] = {}
        self._joint_of: dict[str, str] = {}
        self._extras: list[Extra] = []

    @property
    def findings(self) -> Findings:
        """The findings on the file."""
        return self.frames.angle_reader.findings

    def robot(self, gravity: Gravity, closed: bool = True) -> Robot:
        """The robot, validated; with its loops if `closed` is set."""
        coordinates = [*self._free_coordinates(), *self._joint_coordinates()]
        loops = self._loops(closed)
        bodies = tuple(self._body(link) for link in self.frames.links)
        if self.frames.world_link is not None:
            self._extras.extend(self.shapes.shapes(self.frames.world_link, None))
        name = model_name_from(self.frames.model.get("name") or "mechanism")
        taken = (*STATEMENTS, *(body.name for body in bodies), *(loop.name for loop in loops))
        names = NameTable((), taken)
        relations = (
            *mimic_constraints(self.joints, self._motions, names, self.places),
            *gear_constraints(self.gears, self.joints, self._motions, self.reader, names, self.places),
        )
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
        """The coordinates of free links."""
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
                what = "joint that closes a loop, as requested"
                self.findings.count(FindingKind.LEFT_OUT, "loops", what, joint.element.place, joint.name)
            return ()
        table = NameTable((joint.name for joint in cut), (*STATEMENTS, *(self.links[one] for one in self.frames.links)))
        return tuple(self._loop(joint, table[joint.name]) for joint in cut)

    def _loop(self, joint: SdfJoint, name: str) -> Loop:
        for extra in read_extras(joint, self.reader.motion(joint)):
            message = f"{type(extra).__name__} of {joint.what}, which closes a loop and so has no coordinate"
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
        """The parent of a link, and the transforms from it."""
        edge = self.tree.inward[link]
        joint = self.joints.get(edge.joint)
        if joint is not None:
            motion = self._motions[joint.name]
            outwards = joint.child == link
            return (joint.parent if outwards else joint.child), self.reader.placed(joint, motion, outwards)
        moved = self._motions[edge.joint].transforms if edge.joint in self._motions else ()
        return WORLD, (*simplified(self.frames.between(WORLD, link, self.frames.links[link])), *moved)


# The vocabulary of SDFormat (1.4 to 1.11), and the use of each element.

_EXTENSIONS = "plugin=extension gripper=extension drake:*=extension gz:*=extension ignition:*=extension"
_WORD = entry(has_text=True)

SDF: Vocabulary = {
    "sdf": entry(understood("version"), children="world model light=idle actor"),
    "world": entry(
        idle("name"),
        children="model include frame light=idle scene=idle gui=idle physics=idle audio=idle magnetic_field=idle "
        "spherical_coordinates=idle road=idle atmosphere=idle wind state actor joint "
        "population=scenery " + _EXTENSIONS,
        once="gravity=word",
    ),
    "model": entry(
        understood("name canonical_link placement_frame"),
        children="link joint frame model include self_collide allow_auto_disable=idle "
        "enable_wind=wind " + _EXTENSIONS,
        once="pose static=word",
    ),
    "include": entry(children="plugin=extension experimental:*=extension gz:*=extension",
                     once="uri=word name=word pose static=word placement_frame=word"),
    "pose": entry(
        understood("relative_to rotation_format degrees"), missing("poses in other frames", frame=""), has_text=True
    ),
    "frame": entry(understood("name attached_to"), once="pose"),
    "link": entry(
        understood("name"),
        children="visual=shape collision=shape sensor=idle light=idle projector=idle audio_source=idle "
        "audio_sink=idle battery=idle particle_emitter=idle must_be_base_link=idle self_collide "
        "enable_wind=wind gravity=weight kinematic velocity_decay " + _EXTENSIONS,
        once="pose inertial",
    ),
    "inertial": entry(
        understood("auto"), children="fluid_added_mass density=idle auto_inertia_params=idle",
        once="pose mass=word inertia"
    ),
    "inertia": entry(once="ixx=word iyy=word izz=word ixy=word iyz=word ixz=word"),
    "shape": entry(
        idle("name"),
        children="cast_shadows=idle laser_retro=idle transparency=idle visibility_flags=idle meta=idle surface "
        "max_contacts=idle density=idle auto_inertia_params=idle " + _EXTENSIONS,
        once="pose geometry material",
    ),
    "geometry": entry(
        children="empty=idle plane=idle cone=undrawn heightmap=undrawn image=undrawn polyline=undrawn",
        once="box cylinder=round sphere=round capsule=round ellipsoid mesh",
    ),
    "box": entry(once="size=word"),
    "round": entry(once="radius=word length=word"),
    "ellipsoid": entry(once="radii=word"),
    "mesh": entry(
        idle("optimization"), children="submesh=idle convex_decomposition=idle drake:*=extension",
        once="uri=word scale=word"
    ),
    "material": entry(children="*=idle", once="diffuse=word"),
    "joint": entry(
        understood("name type"),
        children="sensor=idle physics=idle " + _EXTENSIONS,
        once="pose parent=word child=word axis axis2=axis screw_thread_pitch=word thread_pitch=word "
        "gearbox_ratio=word gearbox_reference_body=word",
    ),
    "axis": entry(
        children="initial_position drake:*=extension",
        once="xyz use_parent_model_frame=word limit dynamics mimic",
    ),
    "mimic": entry(understood("joint axis"), once="multiplier=word offset=word reference=word"),
    "xyz": entry(understood("expressed_in"), has_text=True),
    "limit": entry(
        children="stiffness=idle dissipation=idle drake:*=extension",
        once="lower=word upper=word velocity=word effort=word",
    ),
    "dynamics": entry(once="damping=word friction=word spring_stiffness=word spring_reference=word"),
    "word": _WORD,
    "idle": IDLE,
    "actor": left_out("actors"),
    "surface": left_out("contacts", bearing=Bearing.CONTACTS),
    "self_collide": left_out("contacts", "false 0", Bearing.CONTACTS),
    "wind": left_out("wind", texts="false 0"),
    "state": left_out("states of a world"),
    "scenery": left_out("included models"),
    "weight": left_out("links without gravity", texts="true 1"),
    "kinematic": left_out("kinematic links", texts="false 0"),
    "velocity_decay": left_out("damping of links"),
    "fluid_added_mass": left_out("fluid forces"),
    "undrawn": left_out("shapes that are not read"),
    "initial_position": left_out("initial positions", texts="0 0.0"),
    "extension": left_out("extensions of other programs"),
}  # fmt: skip


#: Gravity of a model outside a world, and of a world that does not specify it (the default of SDFormat).
_GRAVITY: Gravity = (expression(0), expression(0), Number(Fraction("-9.81")))
_WORLD_GRAVITY: Gravity = (expression(0), expression(0), Number(Fraction("-9.8")))


def load_sdf(path: str | PathLike[str], options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an SDF file: a model, or a world whose models become one mechanism."""
    return read_sdf(read_xml(path), Path(path), options)


def read_sdf(root: Element, path: Path, options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an SDF document from the file `path`, like `load_sdf`."""
    return _robot(root, options.meshes(path.parent), options)


def parse_sdf(text: str | bytes, source: str = "", options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read SDF from text; `source` is its name in messages. Meshes stay references."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), options)


def _robot(root: Element, meshes: MeshFinder, options: RobotFileOptions) -> Robot:
    require_root(root, ModelFormat.SDF)
    angle_reader = AngleReader(options.rule, Findings())
    findings = angle_reader.findings

    def check(document: Element) -> None:
        report_words(document, "sdf", SDF, findings)

    check(root)
    frames = Frames(Nesting(findings, check).model(root, meshes), angle_reader)
    gravity = _gravity(root, root.first("world"), findings)
    return SdfRobotBuilder(frames, meshes).robot(gravity, options.equalities)


def _gravity(root: Element, world: Element | None, findings: Findings) -> Gravity:
    written = None if world is None else vector(stated(world), "gravity", 3)
    if written is not None:
        x, y, z = (Number(item.value) for item in written)
        return x, y, z
    around, found, why = root, _GRAVITY, "the file has no world"
    if world is not None:
        around, found, why = world, _WORLD_GRAVITY, "the default of SDFormat"
    findings.add(FindingKind.ASSUMED, f"gravity is 0 0 {text(found[2])}: {why}", around.place, "gravity")
    return found
