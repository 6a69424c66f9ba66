"""From the bodies of an MJCF model to a mechanism."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.defaults import Defaults
from kinegraph.io.mjcf.equality.read import EqualityReader, Parts
from kinegraph.io.mjcf.geometry.assets import MeshAssets
from kinegraph.io.mjcf.geometry.geoms import Geom, GeomReader, place_between
from kinegraph.io.mjcf.inertia.at_start import inverse_inertia
from kinegraph.io.mjcf.inertia.bodies import bounded, geoms_inertia, scaled, stated_inertia, value_of
from kinegraph.io.mjcf.inertia.principal_axes import along_principal_axes
from kinegraph.io.mjcf.joint_records import JointRecords, armature, spring_damper
from kinegraph.io.mjcf.joints import JointReader, MjcfJoint, MjcfJointKind
from kinegraph.io.mjcf.names import BodyNames, joints_of, single_names, site_names
from kinegraph.io.mjcf.numeric import cleaned, pose, quaternion_of_matrix
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.mjcf.settings import InertiaFromGeoms, Settings
from kinegraph.io.mjcf.walk import MjcfBody
from kinegraph.io.robot.attributes import single, vector
from kinegraph.io.robot.contacts import report_contacts
from kinegraph.io.robot.joint_motion import AnyCoordinate, JointMotion, Orientation, all_names
from kinegraph.io.robot.massless import report_massless
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import inverse
from kinegraph.io.robot.report import Findings, Robot, accepted_where_needed
from kinegraph.io.robot.xml import Element
from kinegraph.model.constraints.records import Frame
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Body, Coordinate, Inertia, Mechanism, Point, Shift, Transform
from kinegraph.model.names import model_name_from
from kinegraph.model.places import Places
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra, Shape, ShapeKind, ShapeRole
from kinegraph.model.robot.elements import JointModel, with_elements
from kinegraph.model.validation.mechanism import validate

#: Frames of a body that are moved with it when it is aligned with its inertia.
_UNMOVED: tuple[Transform, ...] = ()


class RobotBuilder:
    """Goes through the bodies, parents first, and collects what makes a mechanism."""

    def __init__(
        self,
        root: Element,
        bodies: list[MjcfBody],
        defaults: Defaults,
        orienter: Orienter,
        settings: Settings,
        finder: MeshFinder,
    ) -> None:
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
        self.joints = JointReader(NameTable(single_names(self._joints_on)), orienter, settings)
        self.point_names = NameTable(site_names(bodies))
        self._made: list[Body] = []
        self._coordinates: list[AnyCoordinate] = []
        self._motions: list[tuple[MjcfJoint, JointMotion]] = []
        self._shapes: list[Shape] = []
        self._points: list[Point] = []
        self._sites: dict[str, Frame] = {}
        self._joint_of: dict[str, str] = {}

    @property
    def findings(self) -> Findings:
        """What is worth knowing about the file."""
        return self.orienter.angle_reader.findings

    def robot(self, name: str, equalities: bool = True) -> Robot:
        """The robot, validated; with the constraints of <equality> if they are wanted."""
        for body in self.bodies:
            self._add(body)
        if not self._made:
            remedy = "write a <body> below <worldbody>"
            raise ModelError("the model has no bodies", self.bodies[0].element.place, remedy)
        bare = Mechanism(
            model_name_from(name),
            self._scaled_bodies(),
            tuple(self._coordinates),
            (),
            self.settings.gravity,
            tuple(self._points),
        )
        full = replace(bare, extras=(*self._joint_records(bare), *self._shapes))
        mechanism = self._with_equality(full, equalities)
        validate(mechanism, self.places)
        report_massless(mechanism, self.findings)
        if self.settings.flags.contacts:
            report_contacts(mechanism.extras, self.findings)
        return Robot(replace(mechanism, report=self.findings.report()), self.body_names.originals, self._joint_of)

    def _with_equality(self, mechanism: Mechanism, wanted: bool) -> Mechanism:
        named = {name: self.body_names.legal(body) for body in self.bodies[1:] if (name := body.element.get("name"))}
        joints = {joint.name: (joint, motion) for joint, motion in self._motions}
        parts = Parts({"world": None, **named}, self._sites, joints)
        reader = EqualityReader(mechanism, parts, self.defaults, self.orienter.angle_reader, self.places)
        return reader.constrained(self.root, self.settings.flags.equality, wanted)

    def _scaled_bodies(self) -> tuple[Body, ...]:
        """The bodies, their inertia scaled where the file sets the total mass."""
        wanted = self.settings.total_mass
        found = sum((value_of(body.inertia.mass) for body in self._made), Fraction(0))
        if wanted is None or not found:
            return tuple(self._made)
        factor = wanted / found
        pairs = ((body, replace(body, inertia=scaled(body.inertia, factor))) for body in self._made)
        return tuple(self.places.renew(old, new) for old, new in pairs)

    def _joint_records(self, bare: Mechanism) -> list[Extra]:
        """What joints say beyond their motion; a wanted time constant needs the inertia that the joint moves."""
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
            self._made.append(accepted_where_needed(made, self.places, self.findings))
        self._shapes.extend(self._shape(geom, name, inverse(frame)) for geom in geoms)
        self._add_sites(body, name, inverse(frame))

    def _is_aligned(self, body: MjcfBody) -> bool:
        """Whether the frame of a free body is moved into its centre of mass, along its principal axes."""
        joints = self._joints_on[body]
        if len(joints) != 1 or joints[0].kind is not MjcfJointKind.FREE or body in self._with_children:
            return False
        word = joints[0].element.get("align") or "auto"
        return word == "true" or (word == "auto" and self.settings.align_free)

    def _moved(self, body: MjcfBody, frame: tuple[Transform, ...], name: str) -> tuple[Transform, ...]:
        """All transforms of a body: its placement, then its joints."""
        joints = self._joints_on[body]
        placed = (*body.around, *self.orienter.place(body.element, f"the body {name}"), *frame)
        if not any(joint.kind is MjcfJointKind.FREE for joint in joints):
            moves, motions = self.joints.motion(joints)
            self._enter(motions)
            return (*placed, *moves)
        return self._moved_freely(body, placed, joints, exact=not body.around and not frame)

    def _moved_freely(
        self, body: MjcfBody, placed: tuple[Transform, ...], joints: list[MjcfJoint], exact: bool
    ) -> tuple[Transform, ...]:
        """A free joint counts from the world; the body's placement is only where it starts."""
        if len(joints) > 1 or body.parent is None or body.parent.parent is not None:
            remedy = "a free joint is the only joint of a body of the world"
            raise ModelError("a free joint cannot stand here", body.element.place, remedy)
        rotation, position = pose(placed)
        x, y, z = cleaned(position)
        start: Orientation = quaternion_of_matrix(rotation)
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
        """Stated, or from geoms. A body that stands still needs none, so that a mesh without a file is no reason to
        refuse the model."""
        found = Inertia()
        try:
            found = self._stated_or_from_geoms(body, geoms, name)
        except ModelError as error:
            if not self._stands_still(body) or self.settings.total_mass is not None or any(body.of("inertial")):
                raise
            message = f"the body {name} has no mass, and needs none, for it is fixed: {str(error).splitlines()[0]}"
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
        """Meshes that have mass and are not what their files say, for MuJoCo does not take all faces whole."""
        for mesh in (geom.mesh for geom in geoms if geom.is_mesh and geom.mesh):
            if mesh.torn:
                faces = f"{mesh.torn} faces" if mesh.torn > 1 else "one face"
                message = f"MuJoCo leaves out part of {faces} of the mesh {mesh.name}: the mass is MuJoCo's, without it"
                self.findings.add(FindingKind.INERTIA, message, mesh.element.place)

    def _stands_still(self, body: MjcfBody | None) -> bool:
        """Whether no joint moves a body."""
        while body is not None:
            if self._joints_on[body]:
                return False
            body = body.parent
        return True

    # what is seen

    def _shape(self, geom: Geom, body: str | None, back: tuple[Transform, ...]) -> Shape:
        rgba = vector(geom.element, "rgba", 4)
        colour = None
        if rgba is not None:
            red, green, blue, opacity = (float(item.value) for item in rgba)
            colour = (red, green, blue, opacity)
        collides = single(geom.element, "contype") != 0 or single(geom.element, "conaffinity") != 0
        role = ShapeRole.BOTH if collides else ShapeRole.VISUAL
        kind, sizes, place = geom.shape
        reference, file = (geom.mesh.reference, geom.mesh.file) if geom.mesh and kind is ShapeKind.MESH else ("", None)
        if reference and (fault := self.finder.fault(reference)):
            name = PurePosixPath(reference).name
            self.findings.count(FindingKind.MESH, "meshes not drawn", fault, geom.element.place, name)
        return Shape(kind, body, sizes, (*back, *place), role, reference, file, colour)

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
