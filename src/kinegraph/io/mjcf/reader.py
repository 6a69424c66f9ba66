"""Read MJCF: XML with includes to settings, bodies and a mechanism; with names and the vocabulary of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path, PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.meshes import MeshFinder
from kinegraph.io.mjcf.actuators import ActuatorReader
from kinegraph.io.mjcf.attach import Attacher
from kinegraph.io.mjcf.body_forces import gravity_compensation, report_actuated_compensation
from kinegraph.io.mjcf.body_tree import MjcfBody, bodies_of, with_includes, with_replicas
from kinegraph.io.mjcf.contacts import contact_rules, paired_geoms, shape_contact
from kinegraph.io.mjcf.equality import EqualityReader, Parts
from kinegraph.io.mjcf.fluid import FluidForces
from kinegraph.io.mjcf.geoms import Geom, GeomReader, MeshAssets, place_between
from kinegraph.io.mjcf.inertia import (
    bounded,
    geoms_inertia,
    inverse_inertia,
    inverse_mass_matrix,
    scaled,
    stated_inertia,
    value_of,
)
from kinegraph.io.mjcf.joints import (
    SCALAR_JOINTS,
    JointRecords,
    MjcfJoint,
    MjcfJointKind,
    MjcfJointReader,
    armature,
    joint_kind,
    spring_damper,
)
from kinegraph.io.mjcf.keyframes import keyframes
from kinegraph.io.mjcf.mocap import MocapBodies
from kinegraph.io.mjcf.moments import along_principal_axes
from kinegraph.io.mjcf.settings import ACTUATORS, Defaults, InertiaFromGeoms, Settings, read_settings, switched_range
from kinegraph.io.mjcf.tendon_paths import Sites
from kinegraph.io.mjcf.tendons import Tendon, TendonReader
from kinegraph.io.mjcf.transforms import Orienter, cleaned, exact_quaternion
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import AS_WRITTEN, RobotFileOptions
from kinegraph.io.robot.findings import Findings, Robot, accepted_where_needed, report_contacts, report_massless
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, NameTable, Orientation, all_names
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.vocabulary import (
    IDLE,
    Vocabulary,
    entry,
    idle,
    left_out,
    missing,
    of_contacts,
    report_words,
    understood,
)
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml, single, vector
from kinegraph.model.constraints import Frame
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.joint_models import JointModel, with_elements
from kinegraph.model.mechanism import Body, Coordinate, Inertia, Mechanism, Point, Shift, Transform, inverse
from kinegraph.model.names import STATEMENTS, model_name_from
from kinegraph.model.poses import Floats, pose
from kinegraph.model.report import FindingKind, Places
from kinegraph.model.robot_data import (
    FLUID,
    GRAVITY_COMPENSATION,
    ContactRules,
    Extra,
    FileJointKind,
    JointArmature,
    PassiveElement,
    Shape,
    ShapeKind,
    ShapeRole,
    file_joint,
)
from kinegraph.model.validation.mechanism import validate

_KINDS = {
    MjcfJointKind.HINGE: FileJointKind.REVOLUTE,
    MjcfJointKind.SLIDE: FileJointKind.PRISMATIC,
    MjcfJointKind.BALL: FileJointKind.BALL,
    MjcfJointKind.FREE: FileJointKind.FREE,
}


class BodyNames:
    """Legal names of the bodies; a body without a name is named after its parent."""

    def __init__(self, bodies: list[MjcfBody]) -> None:
        moving = bodies[1:]
        self._table = NameTable((name for body in moving if (name := body.element.get("name"))), STATEMENTS)
        self._seen: set[str] = set()
        self._legal: dict[MjcfBody, str] = {}
        self.originals: dict[str, str] = {}
        for body in moving:
            self._name(body)

    def _name(self, body: MjcfBody) -> None:
        original = body.element.get("name") or ""
        if original in self._seen:
            message = f"two bodies have the name {original}"
            raise ModelError(message, body.element.place, "rename one of them")
        self._seen |= {original} - {""}
        parent = self._legal.get(body.parent) if body.parent else None
        legal = self._table[original] if original else self._table.fresh(f"{parent or 'world'}_body")
        self._legal[body] = legal
        self.originals[legal] = original

    def legal(self, body: MjcfBody) -> str | None:
        """The name of a body, None for the world."""
        return self._legal.get(body)


def joints_of(bodies: list[MjcfBody]) -> dict[MjcfBody, list[MjcfJoint]]:
    """The joints of each body, with unique names; a joint without a name is named after its body."""
    taken = {piece.element.get("name") for body in bodies for piece in body.of("joint", "freejoint")}
    found: dict[MjcfBody, list[MjcfJoint]] = {}
    seen: set[str] = set()
    for body in bodies:
        found[body] = []
        for piece in body.of("joint", "freejoint"):
            name = piece.element.get("name") or _unused(f"{body.element.get('name') or 'body'}_joint", taken)
            if name in seen:
                raise ModelError(f"two joints have the name {name}", piece.element.place, "rename one of them")
            seen.add(name)
            taken.add(name)
            found[body].append(MjcfJoint(name, joint_kind(piece.element), piece.element, piece.around))
    return found


def _unused(wanted: str, taken: set[str | None]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def single_names(joints: dict[MjcfBody, list[MjcfJoint]]) -> Iterator[str]:
    """Names of the joints with one coordinate, which has the name of the joint."""
    return (joint.name for own in joints.values() for joint in own if joint.kind in SCALAR_JOINTS)


def site_names(bodies: list[MjcfBody]) -> Iterator[str]:
    """Names of the sites that have a name."""
    return (name for body in bodies for piece in body.of("site") if (name := piece.element.get("name")))


#: The frame of a body that is not aligned with its inertia.
_UNMOVED: tuple[Transform, ...] = ()


class MjcfRobotBuilder:
    """Converts the bodies, parents first, to a mechanism."""

    def __init__(
        self,
        root: Element,
        bodies: list[MjcfBody],
        defaults: Defaults,
        orienter: Orienter,
        settings: Settings,
        finder: MeshFinder,
        mocap: MocapBodies,
    ) -> None:
        self.mocap = mocap
        self.root = root
        self.bodies = bodies
        self.defaults = defaults
        self.orienter = orienter
        self.settings = settings
        self.finder = finder
        self.geoms = GeomReader(orienter, MeshAssets(root, defaults, settings, finder), settings.fit_box)
        self.places = Places()
        self.body_names = BodyNames(bodies)
        self._joints_on = joints_of(bodies)
        self._with_children = {body.parent for body in bodies}
        self.joints = MjcfJointReader(NameTable(single_names(self._joints_on)), orienter, settings)
        self.point_names = NameTable(site_names(bodies))
        self._made: list[Body] = []
        self._coordinates: list[AnyCoordinate] = []
        self._motions: list[tuple[MjcfJoint, JointMotion]] = []
        self._shapes: list[Shape] = []
        self._paired = paired_geoms(root)
        self._points: list[Point] = []
        self._sites: dict[str, Frame] = {}
        self._geoms: dict[str, tuple[Geom, Frame]] = {}
        self._point_of: dict[tuple[str, Frame], str] = {}
        self._compensated: dict[str, Fraction] = {}
        self._joint_of: dict[str, str] = {}
        self._in_fluid: dict[str, list[tuple[Geom, Frame]]] = {}

    @property
    def findings(self) -> Findings:
        """The findings on the file."""
        return self.orienter.angle_reader.findings

    def robot(self, name: str, options: RobotFileOptions = AS_WRITTEN) -> Robot:
        """The robot, validated; with the constraints of <equality> and the actuators if the options say so."""
        for body in self.bodies:
            self._add(body)
        if not self._made:
            remedy = "write a <body> inside <worldbody>"
            raise ModelError("the model has no bodies", self.bodies[0].element.place, remedy)
        bare = Mechanism(
            model_name_from(name),
            self._scaled_bodies(),
            tuple(self._coordinates),
            (),
            self.settings.gravity,
            tuple(self._points),
        )
        joints = (  # MuJoCo and Pinocchio keep the order of the file
            file_joint(joint.name, _KINDS[joint.kind], motion.coordinates, (place, place, place))
            for place, (joint, motion) in enumerate(self._motions)
        )
        compensation = gravity_compensation(self._compensated, bare) if self.settings.flags.passive else ()
        fluid = tuple(self._fluid_forces(bare))
        extras = (*self._joint_records(bare), *compensation, *fluid, *self._shapes, *self._contact_rules())
        full = replace(bare, extras=extras, joints=tuple(joints))
        parts, sites = self._parts, Sites(self._sites, self._point)
        ropes = TendonReader(full, parts, sites, self._geoms, self.joints, self.defaults, self.findings)
        tendons = ropes.tendons(self.root)
        mechanism = self._with_equality(full, parts, tendons, options.equalities)
        mechanism = self.mocap.moved(self._driven(mechanism, ropes, tendons, options.actuators))
        validate(mechanism, self.places)
        report_massless(mechanism, self.findings)
        if self.settings.flags.contacts:
            report_contacts(mechanism.extras, self.findings)
        return Robot(replace(mechanism, report=self.findings.report()), self.body_names.originals, self._joint_of)

    def _contact_rules(self) -> Iterator[ContactRules]:
        """What the file says on contacts, if it says anything."""
        named = {name: self.body_names.legal(body) for body in self.bodies[1:] if (name := body.element.get("name"))}
        geoms = {shape.contact.name for shape in self._shapes if shape.contact is not None}
        bodies: dict[str, str | None] = {"world": None, **named}
        rules = contact_rules(self.root, self.settings, self.defaults, bodies, geoms, self.findings)
        if rules != ContactRules():
            yield rules

    @property
    def _parts(self) -> Parts:
        """The targets of constraints, tendons and actuators."""
        named = {name: self.body_names.legal(body) for body in self.bodies[1:] if (name := body.element.get("name"))}
        joints = {joint.name: (joint, motion) for joint, motion in self._motions}
        ranges: dict[str, tuple[Expression, Expression]] = {}
        for joint, _ in self._motions:
            within = switched_range(joint.element, "limited", "range", self.settings)
            if within is not None:
                lower, upper = (self.joints.position(item, joint) for item in within)
                ranges[joint.name] = lower, upper
        return Parts({"world": None, **named}, self._sites, joints, ranges)

    def _with_equality(
        self, mechanism: Mechanism, parts: Parts, tendons: Mapping[str, Tendon], wanted: bool
    ) -> Mechanism:
        lengths = {name: (one.extent.value, one.start) for name, one in tendons.items() if one.extent is not None}
        complete = replace(parts, lengths=lengths, without_length=tendons.keys() - lengths.keys())
        reader = EqualityReader(mechanism, complete, self.defaults, self.orienter.angle_reader, self.places)
        return reader.constrained(self.root, self.settings.flags.equality, wanted)

    def _driven(
        self, mechanism: Mechanism, ropes: TendonReader, tendons: Mapping[str, Tendon], actuators: bool
    ) -> Mechanism:
        """The mechanism with its tendons, actuators and keyframes."""
        parts, sites = ropes.parts, ropes.sites
        records = tuple(ropes.records(tendons))
        forbidden = (*mechanism.layout.positions, *mechanism.layout.velocities)
        names = NameTable((), forbidden)

        def mobility(armature: Sequence[JointArmature]) -> tuple[tuple[str, ...], Floats]:
            own = tuple(one for one in (*mechanism.extras, *armature) if isinstance(one, JointArmature))
            moved = with_elements(replace(mechanism, extras=own, loops=(), constraints=()), JointModel())
            return mechanism.layout.velocities, inverse_mass_matrix(moved)

        reader = ActuatorReader(parts, sites, tendons, names, self.settings, self.defaults, self.findings, mobility)
        if not actuators:
            for element in (one for group in self.root.all("actuator") for one in group.children):
                what = f"<{element.tag}> of <actuator>, as requested"
                self.findings.count(FindingKind.LEFT_OUT, "actuators", what, element.place, element.get("name") or "")
        forces = tuple(reader.elements(self.root)) if actuators else ()
        full = replace(
            mechanism,
            extras=(*mechanism.extras, *records, *reader.extras),
            elements=forces,
            inputs=tuple(reader.inputs),
            states=tuple(reader.states),
        )
        if any(isinstance(one, PassiveElement) and one.topic == GRAVITY_COMPENSATION for one in mechanism.extras):
            driven = self.settings.flags.actuation and any(group.children for group in self.root.all("actuator"))
            report_actuated_compensation((joint for joint, _ in self._motions), self.settings, driven, self.findings)
        keys = tuple(keyframes(self.root, full, self.findings))
        return replace(full, points=tuple(self._points), extras=(*full.extras, *keys))

    def _fluid_forces(self, bare: Mechanism) -> Iterator[PassiveElement]:
        """The forces of the fluid on all bodies that move: on their ellipsoids if they have any, else on their box."""
        forces = FluidForces(self.settings.fluid, self._point)
        if not (self.settings.fluid.acts and self.settings.flags.passive):
            return
        for word in self.settings.changes_bodies:
            what = f"{word} of <compiler>: MuJoCo changes the bodies on which the fluid acts"
            self.findings.count(FindingKind.LEFT_OUT, FLUID, what, None)
        for body in bare.bodies:
            ellipsoids = self._in_fluid.get(body.name)
            if ellipsoids == []:
                yield from forces.on_box(body.name, body.inertia)
            for place, (geom, frame) in enumerate(ellipsoids or ()):
                if geom.is_mesh:
                    what = "fluidshape of a mesh"
                    self.findings.count(FindingKind.LEFT_OUT, FLUID, what, geom.element.place, body.name)
                elif number(body.inertia.mass, {}) > 0:
                    here = Frame(body.name, (*frame.transforms, *geom.primitive.place))
                    yield from forces.on_ellipsoid(f"{body.name}_{place}", here, geom)

    def _point(self, name: str, frame: Frame) -> str:
        """The output point of a site, or a new one at a frame; its name is not that of a body."""
        if (name, frame) not in self._point_of:
            known = self.point_names[name] if self._sites.get(name) == frame else ""
            if not known or known in self.body_names.originals:
                known = self.point_names.fresh(f"{name}_site" if known else name)
                x, y, z = cleaned(pose(frame.transforms)[1])
                self._points.append(Point(known, frame.body, (x, y, z)))
            self._point_of[name, frame] = known
        return self._point_of[name, frame]

    def _scaled_bodies(self) -> tuple[Body, ...]:
        """The bodies; their inertia is scaled if the file sets the total mass."""
        wanted = self.settings.total_mass
        found = sum((value_of(body.inertia.mass) for body in self._made), Fraction(0))
        if wanted is None or not found:
            return tuple(self._made)
        factor = wanted / found
        pairs = ((body, replace(body, inertia=scaled(body.inertia, factor))) for body in self._made)
        return tuple(self.places.renew(old, new) for old, new in pairs)

    def _joint_records(self, bare: Mechanism) -> list[Extra]:
        """Joint data beyond the motion; `springdamper` needs the inertia that the joint moves."""
        records = JointRecords(self.joints)
        inverses: dict[str, float] = {}
        if any(spring_damper(joint) for joint, _ in self._motions):
            own = tuple(record for joint, motion in self._motions for record in armature(joint, motion))
            inverses = inverse_inertia(with_elements(replace(bare, extras=own), JointModel()))
        found: list[Extra] = []
        for joint, motion in self._motions:
            moved = [inverses[name] for name in _velocities(motion) if name in inverses]
            found += records.records(joint, motion, len(moved) / sum(moved) if moved else None)
        return found

    # one body

    def _add(self, body: MjcfBody) -> None:
        if body.parent is None and self._joints_on[body]:
            joint = self._joints_on[body][0]
            raise ModelError("the world has a joint", joint.element.place, "put the joint into a <body>")
        geoms = [self.geoms.read(piece.element, piece.around) for piece in body.of("geom")]
        name = self.body_names.legal(body)
        frame = _UNMOVED
        if body.parent is not None and name is not None:
            inertia = self._inertia(body, geoms, name)
            if self._is_aligned(body):
                inertia = along_principal_axes(inertia)
                frame, inertia = inertia.central, replace(inertia, central=())
            made = Body(name, self.body_names.legal(body.parent), self._moved(body, frame, name), inertia)
            inertial = next((piece.element for piece in body.of("inertial")), body.element)
            self.places.mark(made, inertial.place)
            share = single(body.element, "gravcomp")
            if share:
                self._compensated[name] = share
            self._made.append(accepted_where_needed(made, self.places, self.findings))
            if not self._is_fixed(body):
                ellipsoids = [geom for geom in geoms if geom.element.get("fluidshape") == "ellipsoid"]
                self._in_fluid[name] = [(geom, Frame(name, inverse(frame))) for geom in ellipsoids]
        for geom in geoms:
            if called := geom.element.get("name"):
                self._geoms[called] = geom, Frame(name, (*inverse(frame), *geom.shape[2]))
        self._shapes.extend(self._shape(geom, name, inverse(frame)) for geom in geoms)
        self._add_sites(body, name, inverse(frame))

    def _is_aligned(self, body: MjcfBody) -> bool:
        """Whether the frame of a free body is moved to its center of mass, along its principal axes."""
        joints = self._joints_on[body]
        if len(joints) != 1 or joints[0].kind is not MjcfJointKind.FREE or body in self._with_children:
            return False
        word = joints[0].element.get("align") or "auto"
        return word == "true" or (word == "auto" and self.settings.align_free)

    def _moved(self, body: MjcfBody, frame: tuple[Transform, ...], name: str) -> tuple[Transform, ...]:
        """All transforms of a body: its placement, then its joints."""
        joints = self._joints_on[body]
        placed = (*body.around, *self.orienter.place(body.element, f"the body {name}"), *frame)
        if body.element.get("mocap") == "true":
            self.mocap.enter(body, name, bool(joints))
        if not any(joint.kind is MjcfJointKind.FREE for joint in joints):
            moves, motions = self.joints.motion(joints)
            self._enter(motions)
            return (*placed, *moves)
        return self._moved_freely(body, placed, joints, exact=not body.around and not frame)

    def _moved_freely(
        self, body: MjcfBody, placed: tuple[Transform, ...], joints: list[MjcfJoint], exact: bool
    ) -> tuple[Transform, ...]:
        """The transforms of a free joint, relative to the world; the body's placement is the start."""
        if len(joints) > 1 or body.parent is None or body.parent.parent is not None:
            remedy = "a free joint must be the only joint of a body directly inside <worldbody>"
            raise ModelError("a free joint is not allowed here", body.element.place, remedy)
        rotation, position = pose(placed)
        x, y, z = cleaned(position)
        start: Orientation = exact_quaternion(rotation)
        stated = vector(body.element, "quat", 4) if exact else None
        if stated is not None:
            e0, e1, e2, e3 = (Number(item.value) for item in stated)
            start = e0, e1, e2, e3
        motion = self.joints.free(joints[0], (x, y, z), start)
        self._enter([(joints[0], motion)])
        return motion.transforms

    def _enter(self, motions: list[tuple[MjcfJoint, JointMotion]]) -> None:
        self._motions += motions
        for joint, motion in motions:
            for coordinate in motion.coordinates:
                self._coordinates.append(self.places.mark(coordinate, joint.element.place))
                self._joint_of.update(dict.fromkeys(all_names(coordinate), joint.name))

    def _inertia(self, body: MjcfBody, geoms: list[Geom], name: str) -> Inertia:
        """The given inertia, or that of the geoms. A fixed body needs none, so a missing mesh file is not an error."""
        found = Inertia()
        try:
            found = self._stated_or_from_geoms(body, geoms, name)
        except ModelError as error:
            if not self._is_fixed(body) or self.settings.total_mass is not None or any(body.of("inertial")):
                raise
            message = f"the fixed body {name} has no mass, and needs none: {str(error).splitlines()[0]}"
            self.findings.add(FindingKind.ASSUMED, message, body.element.place, "fixed bodies without mass")
        own_place = self.orienter.place(body.element, f"the body {name}")
        return bounded(found, self.settings.inertia_bounds, own_place)

    def _stated_or_from_geoms(self, body: MjcfBody, geoms: list[Geom], name: str) -> Inertia:
        stated = next(body.of("inertial"), None)
        mode = self.settings.inertia_from_geoms
        first, last = self.settings.geom_groups
        chosen = [geom for geom in geoms if first <= geom.group <= last]
        found = Inertia()
        if mode is InertiaFromGeoms.ALWAYS or (mode is InertiaFromGeoms.AUTO and stated is None):
            found = geoms_inertia(chosen, name)
            self._report_torn(chosen)
        if stated is None or found != Inertia():
            return found
        central = (*stated.around, *self.orienter.place(stated.element, f"the inertial frame of {name}"))
        return stated_inertia(stated.element, central)

    def _report_torn(self, geoms: list[Geom]) -> None:
        """Report meshes with mass of which MuJoCo drops parts of faces."""
        for mesh in (geom.mesh for geom in geoms if geom.is_mesh and geom.mesh):
            if mesh.torn:
                faces = f"{mesh.torn} faces" if mesh.torn > 1 else "one face"
                message = f"MuJoCo drops part of {faces} of the mesh {mesh.name}; the mass is the same as MuJoCo's"
                self.findings.add(FindingKind.INERTIA, message, mesh.element.place)

    def _is_fixed(self, body: MjcfBody | None) -> bool:
        """Whether a body does not move."""
        while body is not None:
            if self._joints_on[body]:
                return False
            body = body.parent
        return True

    # shapes and sites

    def _shape(self, geom: Geom, body: str | None, back: tuple[Transform, ...]) -> Shape:
        rgba = vector(geom.element, "rgba", 4)
        color = None
        if rgba is not None:
            red, green, blue, opacity = (float(item.value) for item in rgba)
            color = (red, green, blue, opacity)
        collides = single(geom.element, "contype") != 0 or single(geom.element, "conaffinity") != 0
        kind, sizes, place = geom.shape
        reference, file = (geom.mesh.reference, geom.mesh.file) if geom.mesh and kind is ShapeKind.MESH else ("", None)
        if reference and (fault := self.finder.fault(reference)):
            name = PurePosixPath(reference).name
            self.findings.count(FindingKind.MESH, "meshes not drawn", fault, geom.element.place, name)
        contact = shape_contact(geom.element) if collides or geom.element.get("name") in self._paired else None
        role = ShapeRole.BOTH if contact is not None else ShapeRole.VISUAL
        return Shape(kind, body, sizes, (*back, *place), role, reference, file, color, contact)

    def _add_sites(self, body: MjcfBody, name: str | None, back: tuple[Transform, ...]) -> None:
        for piece in body.of("site"):
            site = piece.element.get("name")
            if site:
                ends = vector(piece.element, "fromto", 6)
                what = f"the site {site}"
                own = place_between(ends, piece.element) if ends else self.orienter.place(piece.element, what)
                place = (*back, *piece.around, *own)
                pos = vector(piece.element, "pos", 3)
                exact = tuple(Number(item.value) for item in pos) if pos else cleaned([0.0, 0.0, 0.0])
                moved = back or piece.around or ends
                x, y, z = cleaned(pose(place)[1]) if moved else exact
                turns = tuple(transform for transform in place if not isinstance(transform, Shift))
                self._points.append(Point(self.point_names[site], name, (x, y, z), turns))
                self._sites[site] = Frame(name, place)


def _velocities(motion: JointMotion) -> list[str]:
    """The names of the velocities of a joint."""
    groups = ((c.name + "'",) if isinstance(c, Coordinate) else c.velocities for c in motion.coordinates)
    return [name for group in groups for name in group]


# The vocabulary of MJCF (the schema of MuJoCo 4.0, with elements of older versions), and the use of each element.

_ORIENTATION = "quat axisangle xyaxes zaxis euler"
_PLACE = f"pos {_ORIENTATION}"
_SOFTNESS = "solref solimp"
_SOFT_CONTACT = of_contacts(solref=None, solimp=None, margin="0", gap="0", adhesion="0")
_SOFT_JOINT = of_contacts(margin="0", solreflimit=None, solimplimit=None, solreffriction=None, solimpfriction=None)
_TENDON = (
    "name class limited range stiffness damping springlength frictionloss armature actuatorfrclimited actuatorfrcrange"
)
_TENDON_IDLE = "group user"
_IN_BODIES = (
    "body frame joint freejoint geom site camera=idle light=idle plugin composite=generated flexcomp=generated "
    "replicate attach"
)

MJCF: Vocabulary = {
    "mujoco": entry(
        understood("model"),
        children="compiler option size=idle statistic=idle visual=idle default asset worldbody custom=idle extension "
        "deformable contact tendon equality actuator sensor=idle keyframe",
    ),
    "compiler": entry(
        understood("angle autolimits coordinate eulerseq meshdir assetdir"),
        understood("inertiafromgeom inertiagrouprange settotalmass boundmass boundinertia balanceinertia"),
        understood("fitaabb strippath alignfree exactmeshinertia"),
        understood("discardvisual fusestatic"),
        idle("conflict"),
        idle("texturedir usethread savecanonical savecompiled saveinertial convexhull"),
        children="lengthrange=idle",
    ),
    "option": entry(
        understood("gravity actuatorgroupdisable density viscosity wind"),
        idle("timestep apirate impratio integrator cone jacobian solver iterations tolerance"),
        idle("ls_iterations ls_tolerance"),
        idle("noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance collision"),
        idle("sdf_iterations sdf_initpoints sleep_tolerance magnetic"),
        idle("o_margin o_solref o_solimp o_friction"),  # without the flag `override`
        children="flag",
    ),
    "flag": entry(
        understood("gravity contact constraint frictionloss limit passive spring damper equality"),
        understood("actuation clampctrl"),
        understood("filterparent"),
        idle("warmstart refsafe sensor"),
        idle("midphase"),
        idle("nativeccd eulerdamp autoreset island energy fwdinv invdiscrete multiccd sensornoise sleep ipc"),
        idle("diagexact speculative"),
        of_contacts(override="disable"),
    ),
    # Classes of elements that are left out are ignored; the elements themselves are reported.
    "default": entry(
        understood("class"),
        children="default joint geom site mesh material=idle "
        "texture=idle camera=idle light=idle pair equality=equality_class tendon=tendon_class "
        + " ".join(f"{actuator}=an_actuator" for actuator in sorted(ACTUATORS)),
    ),
    "asset": entry(
        children="mesh material=idle texture=idle skin=idle hfield=height_field model=model_asset",
    ),
    "mesh": entry(
        understood("name class file content_type scale refpos refquat vertex face inertia maxhullvert"),
        idle("material normal texcoord smoothnormal"),
        missing("generated meshes", builtin="none", params=None),
        children="plugin",
    ),
    "worldbody": entry(children=_IN_BODIES),
    "body": entry(
        understood(f"name childclass gravcomp mocap {_PLACE}"),
        idle("user sleep simple fuse"),
        children=_IN_BODIES,
        once="inertial",
    ),
    "frame": entry(understood(f"childclass {_PLACE}"), idle("name"), children=_IN_BODIES),
    "replicate": entry(understood("count sep offset euler childclass"), children=_IN_BODIES),
    "inertial": entry(understood(f"mass diaginertia fullinertia {_PLACE}")),
    "joint": entry(
        understood("name class type pos axis ref springref stiffness damping armature frictionloss limited range"),
        understood("actuatorfrclimited actuatorfrcrange springdamper actuatorgravcomp"),
        idle("group user"),
        _SOFT_JOINT,
        missing("yielding springs", springyield="0"),
    ),
    "freejoint": entry(understood("name align"), idle("group")),
    "geom": entry(
        understood(f"name class type size fromto {_PLACE} contype conaffinity mass density mesh"),
        understood("condim friction priority"),
        understood("rgba group shellinertia fitscale fluidshape fluidcoef"),
        idle("user material hfield castshadow solmix"),
        _SOFT_CONTACT,
        of_contacts(surfacevel="0 0 0"),
        children="plugin",
    ),
    "site": entry(
        understood(f"name class fromto {_PLACE}"), idle("type size mesh material rgba group user")
    ),
    "plugin": left_out("plugins"),
    "extension": left_out("plugins"),
    "generated": left_out("generated bodies"),
    "height_field": left_out("height fields"),
    "model_asset": entry(understood("name file"), idle("content_type")),
    "attach": entry(understood("model body frame prefix")),
    "deformable": entry(children="flex skin=idle"),
    "flex": left_out("deformable bodies"),
    "contact": entry(children="pair exclude"),
    "pair": entry(
        understood("class geom1 geom2 condim friction"), idle("name"), _SOFT_CONTACT, of_contacts(solreffriction=None)
    ),
    "exclude": entry(understood("body1 body2"), idle("name")),
    "tendon": entry(children="spatial fixed"),
    "spatial": entry(
        understood(_TENDON), idle(f"material rgba width {_TENDON_IDLE}"), _SOFT_JOINT,
        missing("yielding springs", springyield="0"), children="site=via_point geom=wrap pulley",
    ),
    "fixed": entry(
        understood(_TENDON), idle(_TENDON_IDLE), _SOFT_JOINT, missing("yielding springs", springyield="0"),
        children="joint=share",
    ),
    "tendon_class": entry(
        understood(_TENDON), idle(f"material rgba width {_TENDON_IDLE}"), _SOFT_JOINT,
        missing("yielding springs", springyield="0"),
    ),
    "via_point": entry(understood("site")),
    "wrap": entry(understood("geom sidesite")),
    "pulley": entry(understood("divisor")),
    "share": entry(understood("joint coef")),
    "equality": entry(
        children="connect weld joint=relation tendon=tendon_relation flex=constraint "
        "flexvert=constraint flexstrain=constraint distance=constraint",
    ),
    "equality_class": entry(understood("active"), idle(_SOFTNESS)),
    "connect": entry(understood("name class active body1 body2 anchor site1 site2"), idle(_SOFTNESS)),
    "weld": entry(
        understood("name class active body1 body2 anchor relpose site1 site2 torquescale"), idle(_SOFTNESS)
    ),
    "relation": entry(understood("name class active joint1 joint2 polycoef"), idle(_SOFTNESS)),
    "tendon_relation": entry(understood("name class active tendon1 tendon2 polycoef"), idle(_SOFTNESS)),
    "constraint": left_out("equality constraints", active="false"),
    "actuator": entry(children=" ".join(f"{actuator}=an_actuator" for actuator in sorted(ACTUATORS))),
    # The reader reports each actuator, delay and activation that it leaves out, by name.
    "an_actuator": entry(
        understood("name class joint jointinparent tendon site refsite cranksite slidersite cranklength body gear"),
        understood("ctrllimited ctrlrange forcelimited forcerange actlimited actrange inheritrange delay group"),
        understood("armature damping dyntype dynprm gaintype gainprm biastype biasprm kp kv dampratio timeconst"),
        understood("area diameter bias input posrange velrange ffrange ki slewmax actearly"),
        understood("resistance motorconst nominal saturation inductance cogging controller thermal lugre"),
        understood("lengthrange gain range force scale lmin lmax vmax fpmax fvmax tausmooth"),
        idle("user imax nsample interp actdim plugin instance"),
        children="config=idle",
    ),
    "keyframe": entry(children="key"),
    "key": entry(
        understood("name qpos qvel ctrl act"), idle("time"), missing("keyframes", mpos=None, mquat=None, plastic=None)
    ),
    "idle": IDLE,
}  # fmt: skip


def load_mjcf(path: str | PathLike[str], options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an MJCF file; includes and meshes must be below its folder or one of the package roots.

    Angles in degrees are always exact.
    """
    return read_mjcf(read_xml(path), Path(path), options)


def read_mjcf(root: Element, path: Path, options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an MJCF document from the file `path`, like `load_mjcf`."""
    return _robot(root, options.meshes(path.parent), path.stem, options)


def parse_mjcf(text: str | bytes, source: str = "", options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read MJCF from text, which cannot include files; `source` is its name in messages."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), "mechanism", options)


def _document(root: Element, finder: MeshFinder, findings: Findings, around: tuple[Path, ...]) -> Element:
    """The document with its includes and attached models; words that are not used are reported. `around` are the files
    that attach this one."""
    root = with_includes(root, finder.folder, finder.roots)
    report_words(root, "mujoco", MJCF, findings, text=FindingKind.NOT_USED)

    def open_model(reference: str, place: Element) -> tuple[Element, Path]:
        file = finder.file(reference)
        if file is None:
            message = f"the model file {reference} was not found in the model's folder or below"
            raise ModelError(message, place.place, "put it there, or name its folder: --package-root DIR")
        path = Path(file)
        if path in around:
            raise ModelError(f"{reference} attaches itself", place.place, "remove one <attach>")
        child = read_xml(path)
        require_root(child, ModelFormat.MJCF)
        inner = replace(finder, folder=path.parent, roots=(*finder.roots, *([finder.folder] if finder.folder else [])))
        return _document(child, inner, findings, (*around, path)), path.parent

    return Attacher(root, open_model, findings).attached()


def _robot(root: Element, finder: MeshFinder, name: str, options: RobotFileOptions) -> Robot:
    require_root(root, ModelFormat.MJCF)
    findings = Findings()
    root = with_replicas(_document(root, finder, findings, ()))
    settings, defaults = read_settings(root), Defaults(root)
    orienter = Orienter(AngleReader(options.rule, findings), settings.degrees, settings.euler_sequence)
    bodies = bodies_of(root, defaults, orienter)
    mocap = MocapBodies(options.mocap, findings)
    builder = MjcfRobotBuilder(root, bodies, defaults, orienter, settings, finder, mocap)
    return builder.robot(root.get("model") or name, options)
