"""From the bodies of an MJCF model to a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.geoms import Geom, geoms_inertia, read_geom
from kinegraph.io.mjcf.joints import JointReader, MjcfJoint, MjcfJointKind
from kinegraph.io.mjcf.names import BodyNames, joints_of, single_names, site_names
from kinegraph.io.mjcf.numeric import cleaned, pose, quaternion_of_matrix
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.mjcf.settings import InertiaFromGeoms, Settings
from kinegraph.io.mjcf.walk import MjcfBody
from kinegraph.io.robot.attributes import single, vector
from kinegraph.io.robot.contacts import report_contacts
from kinegraph.io.robot.joint_motion import AnyCoordinate, Freedom, Orientation, all_names
from kinegraph.io.robot.massless import report_massless
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.report import Findings, Robot, accepted_where_needed
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Expression, Number
from kinegraph.model.mechanism import Body, Inertia, Mechanism, Point, Transform
from kinegraph.model.names import model_name_from
from kinegraph.model.places import Places
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Extra, Shape, ShapeKind, ShapeRole
from kinegraph.model.validation.inertia import MOMENTS
from kinegraph.model.validation.mechanism import validate


class RobotBuilder:
    """Goes through the bodies, parents first, and collects what makes a mechanism."""

    def __init__(
        self, root: Element, bodies: list[MjcfBody], orienter: Orienter, settings: Settings, meshes: MeshFinder
    ) -> None:
        self.bodies = bodies
        self.orienter = orienter
        self.settings = settings
        self.meshes = meshes
        self.mesh_files = dict(_mesh_files(root, settings))
        self.places = Places()
        self.body_names = BodyNames(bodies)
        self._joints_on = joints_of(bodies)
        self.joints = JointReader(NameTable(single_names(self._joints_on)), orienter, settings)
        self.point_names = NameTable(site_names(bodies))
        self._made: list[Body] = []
        self._coordinates: list[AnyCoordinate] = []
        self._extras: list[Extra] = []
        self._points: list[Point] = []
        self._joint_of: dict[str, str] = {}

    @property
    def findings(self) -> Findings:
        return self.orienter.placing.findings

    def robot(self, name: str) -> Robot:
        """The robot, validated."""
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
            tuple(self._extras),
        )
        validate(bare, self.places)
        report_massless(bare, self.findings)
        if self.settings.contacts:
            report_contacts(bare.extras, self.findings)
        return Robot(replace(bare, report=self.findings.report()), self.body_names.originals, self._joint_of)

    def _scaled_bodies(self) -> tuple[Body, ...]:
        """The bodies, their inertia scaled where the file sets the total mass."""
        wanted = self.settings.total_mass
        found = sum((_value(body.inertia.mass) for body in self._made), Fraction(0))
        if wanted is None or not found:
            return tuple(self._made)
        factor = wanted / found
        scaled = ((body, replace(body, inertia=_times(factor, body.inertia))) for body in self._made)
        return tuple(self.places.renew(old, new) for old, new in scaled)

    def _add(self, body: MjcfBody) -> None:
        geoms = [read_geom(piece.element, piece.around, self.orienter) for piece in body.of("geom")]
        name = self.body_names.legal(body)
        if body.parent is not None and name is not None:
            transforms = self._moved(body)
            inertia = self._inertia(body, geoms, name)
            made = Body(name, self.body_names.legal(body.parent), transforms, inertia)
            inertial = next((piece.element for piece in body.of("inertial")), body.element)
            self.places.mark(made, inertial.place)
            self._made.append(accepted_where_needed(made, self.places, self.findings))
        self._extras.extend(self._shape(geom, name) for geom in geoms)
        self._add_sites(body, name)

    def _moved(self, body: MjcfBody) -> tuple[Transform, ...]:
        """All transforms of a body: its placement, then its joints."""
        joints = self._joints_on[body]
        for piece in body.of("joint", "freejoint"):
            if piece.around:
                remedy = "put the joint directly into its body"
                raise ModelError("a joint inside a <frame> is not supported", piece.element.place, remedy)
        placed = (*body.around, *self.orienter.place(body.element, "a body"))
        if not any(joint.kind is MjcfJointKind.FREE for joint in joints):
            moves, freedoms = self.joints.motion(joints)
            self._enter(freedoms)
            return (*placed, *moves)
        return self._moved_freely(body, placed, joints)

    def _moved_freely(
        self, body: MjcfBody, placed: tuple[Transform, ...], joints: list[MjcfJoint]
    ) -> tuple[Transform, ...]:
        """A free joint counts from the world; the body's placement is only where it starts."""
        if len(joints) > 1 or body.parent is None or body.parent.parent is not None:
            remedy = "a free joint is the only joint of a body of the world"
            raise ModelError("a free joint cannot stand here", body.element.place, remedy)
        rotation, position = pose(placed)
        x, y, z = cleaned(position)
        start: Orientation = quaternion_of_matrix(rotation)
        stated = vector(body.element, "quat", 4) if not body.around else None
        if stated is not None:
            e0, e1, e2, e3 = (Number(item.value) for item in stated)
            start = e0, e1, e2, e3
        freedom = self.joints.free(joints[0], (x, y, z), start)
        self._enter([(joints[0], freedom)])
        return freedom.transforms

    def _enter(self, freedoms: list[tuple[MjcfJoint, Freedom]]) -> None:
        for joint, freedom in freedoms:
            for coordinate in freedom.coordinates:
                self._coordinates.append(self.places.mark(coordinate, joint.element.place))
                self._joint_of.update(dict.fromkeys(all_names(coordinate), joint.name))
            self._extras.extend(self.joints.extras(joint, freedom))

    def _inertia(self, body: MjcfBody, geoms: list[Geom], name: str) -> Inertia:
        stated = next(body.of("inertial"), None)
        mode = self.settings.inertia_from_geoms
        if stated is not None and mode is not InertiaFromGeoms.ALWAYS:
            central = (*stated.around, *self.orienter.place(stated.element, f"the inertial frame of {name}"))
            return _stated_inertia(stated.element, central)
        if mode is InertiaFromGeoms.NEVER:
            return Inertia()
        first, last = self.settings.geom_groups
        return geoms_inertia([geom for geom in geoms if first <= geom.group <= last], name)

    def _shape(self, geom: Geom, body: str | None) -> Shape:
        kind, sizes = geom.shape
        reference = self.mesh_files.get(geom.element.get("mesh") or "", "")
        rgba = vector(geom.element, "rgba", 4)
        colour = None
        if rgba is not None:
            red, green, blue, opacity = (float(item.value) for item in rgba)
            colour = (red, green, blue, opacity)
        file = self.meshes.file(reference) if reference else None
        if reference and file is None and self.meshes.searches(reference):
            self.findings.add(FindingKind.MESH, reference, geom.element.place)
        touches = single(geom.element, "contype") != 0 or single(geom.element, "conaffinity") != 0
        role = ShapeRole.BOTH if touches else ShapeRole.VISUAL
        return Shape(ShapeKind.MESH if reference else kind, body, sizes, geom.place, role, reference, file, colour)

    def _add_sites(self, body: MjcfBody, name: str | None) -> None:
        for piece in body.of("site"):
            site = piece.element.get("name")
            if site:
                place = (*piece.around, *self.orienter.place(piece.element, f"the site {site}"))
                pos = vector(piece.element, "pos", 3)
                exact = tuple(Number(item.value) for item in pos) if pos else cleaned([0.0, 0.0, 0.0])
                x, y, z = cleaned(pose(place)[1]) if piece.around or piece.element.get("fromto") else exact
                self._points.append(Point(self.point_names[site], name, (x, y, z)))


def _value(item: Expression) -> Fraction:
    assert isinstance(item, Number)  # masses and moments of a file are numbers
    return item.value


def _times(factor: Fraction, inertia: Inertia) -> Inertia:
    scaled = {name: Number(factor * _value(getattr(inertia, name))) for name in ("mass", *MOMENTS)}
    return Inertia(**scaled, central=inertia.central, accepted=inertia.accepted)


def _stated_inertia(element: Element, central: tuple[Transform, ...]) -> Inertia:
    mass = single(element, "mass")
    if mass is None:
        raise ModelError("<inertial> has no mass", element.place, 'write mass="..."')
    full = vector(element, "fullinertia", 6)
    if full is not None:
        xx, yy, zz, xy, xz, yz = (item.value for item in full)
        moments = (Number(xx), Number(yy), Number(zz), Number(-xy), Number(-yz), Number(-xz))
        return Inertia(Number(mass), *moments, central)
    diagonal = vector(element, "diaginertia", 3)
    if diagonal is None:
        raise ModelError("<inertial> has no moments of inertia", element.place, 'write diaginertia="..."')
    x, y, z = (Number(item.value) for item in diagonal)
    return Inertia(Number(mass), x, y, z, central=central)


def _mesh_files(root: Element, settings: Settings) -> Iterator[tuple[str, str]]:
    """Mesh assets by name: one without a name is called like its file."""
    for asset in root.all("asset"):
        for mesh in asset.all("mesh"):
            file = mesh.get("file") or ""
            yield mesh.get("name") or PurePosixPath(file).stem, str(PurePosixPath(settings.mesh_folder) / file)
