"""Write a mechanism as USD Physics, with notes on all omissions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.extras import Foreign, extra
from kinegraph.io.urdf.joint_chains import FreeJoint, Hinge, Step, chain_of, with_offset
from kinegraph.io.urdf.joint_chains import pose as pose_of
from kinegraph.model.constraints import Frame, JointType, Loop, described, refuse_states
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Body, Coordinate, Inertia, Mechanism
from kinegraph.model.poses import Floats, pose, quaternion_of_matrix
from kinegraph.model.robot_data import JointLimits, coordinate_limits

_PURPOSE = "writing USD"
_REMEDY = "remove it, or export to records or fmu"
_LOOPS = {
    JointType.FIXED: "FixedJoint",
    JointType.REVOLUTE: "RevoluteJoint",
    JointType.PRISMATIC: "PrismaticJoint",
    JointType.SPHERICAL: "SphericalJoint",
}
Pose = tuple[Floats, Floats]


@dataclass(frozen=True)
class Usd:
    """The text of a .usda file, and notes for the user."""

    text: str
    notes: tuple[str, ...]


def write_usd(mechanism: Mechanism, values: Mapping[str, Scalar] | None = None) -> Usd:
    """A mechanism as a USD stage in m and kg, with numeric parameters, at its initial positions.

    Loops become joints that are excluded from the articulation. USD keeps numbers in single precision. Raises a
    ModelError for what USD Physics does not support.
    """
    refuse_states(mechanism, "USD")
    for constraint in mechanism.constraints:
        raise ModelError(f"USD does not support {described(constraint)}", remedy=_REMEDY)
    for element in mechanism.elements:
        raise ModelError(f"{element.name} cannot be written as USD: it has only bodies and joints", remedy=_REMEDY)
    return _Writer(mechanism, values or {}).usd()


class _Writer:
    def __init__(self, mechanism: Mechanism, values: Mapping[str, Scalar]) -> None:
        self.mechanism = mechanism
        self.values = parameter_values(mechanism, values)
        self.gf, self.geom, self.physics, self.sdf, self.tf = (
            extra(f"pxr.{name}", _PURPOSE) for name in ("Gf", "UsdGeom", "UsdPhysics", "Sdf", "Tf")
        )
        self.stage = extra("pxr.Usd", _PURPOSE).Stage.CreateInMemory()
        self.notes = ["numbers of USD have single precision"]
        self.paths: dict[str | None, str | None] = {None: None}
        self.limits = coordinate_limits(mechanism, self.values)
        self._driven: set[str] = set()
        self._poses: dict[str | None, Pose] = {None: (np.eye(3), np.zeros(3))}
        self._start = self._initial()

    def usd(self) -> Usd:
        self.geom.SetStageUpAxis(self.stage, "Z")
        self.geom.SetStageMetersPerUnit(self.stage, 1.0)
        self.physics.SetStageKilogramsPerUnit(self.stage, 1.0)
        root = self._name(self.mechanism.name)
        top = self.geom.Xform.Define(self.stage, f"/{root}")
        self.stage.SetDefaultPrim(top.GetPrim())
        self.physics.ArticulationRootAPI.Apply(top.GetPrim())
        self.root = f"/{root}"
        self._gravity()
        for body in _bases_first(self.mechanism):
            self._body(body)
        for loop in self.mechanism.loops:
            self._loop(loop)
        self._note_omissions()
        return Usd(self.stage.GetRootLayer().ExportToString(), tuple(self.notes))

    def _initial(self) -> dict[str, Value]:
        found = dict(self.values)
        for one in self.mechanism.coordinates:
            if isinstance(one, Coordinate):
                found[one.name] = number(one.position, self.values)
            else:
                found |= {name: number(part, self.values) for name, part in zip(one.names, one.position, strict=True)}
        return found

    def _name(self, wanted: str) -> str:
        """The name as an identifier of USD."""
        if self.sdf.Path.IsValidIdentifier(wanted):
            return wanted
        found = str(self.tf.MakeValidIdentifier(wanted))
        note = f"{wanted} is called {found}"
        self.notes += [note] if note not in self.notes else []
        return found

    def _new_path(self, wanted: str) -> str:
        name, count = self._name(wanted), 1
        while self.stage.GetPrimAtPath(f"{self.root}/{name}"):
            count += 1
            name = f"{self._name(wanted)}_{count}"
        return f"{self.root}/{name}"

    def _gravity(self) -> None:
        vector = np.array([number(item, self.values) for item in self.mechanism.gravity])
        size = float(np.linalg.norm(vector))
        scene = self.physics.Scene.Define(self.stage, f"{self.root}/physics")
        scene.CreateGravityMagnitudeAttr(size)
        scene.CreateGravityDirectionAttr(self.gf.Vec3f(*(vector / size if size else np.array([0.0, 0.0, -1.0]))))

    # bodies

    def _body(self, body: Body) -> None:
        try:
            chain = chain_of(body, self.mechanism, self.values)
        except ModelError as error:
            reason = str(error).partition("\n")[0].replace("URDF", "USD")
            raise ModelError(
                reason, remedy="give the body one joint with a coordinate of its own, or export to records"
            ) from None
        rotation, position = pose(body.transforms, self._start)
        base_rotation, base_position = self._poses[body.base]
        world = base_rotation @ rotation, base_rotation @ position + base_position
        self._poses[body.name] = world
        joints = list(chain.joints)
        if len(joints) > 1:
            message = f"{body.name} has several joints on its base, but USD needs a body between two joints"
            raise ModelError(message, remedy="put each joint on a body of its own")
        self.paths[body.name] = self._new_path(body.name)
        prim = self._prim(self.paths[body.name] or "", world)
        self._mass(prim, body)
        if joints and isinstance(joints[0], FreeJoint):
            return
        rest = _numeric(chain.rest)
        if not joints:
            self._joint("FixedJoint", f"{body.name}_fixed", (body.base, rest), (body.name, _unmoved()))
            return
        hinge = joints[0]
        assert isinstance(hinge, Hinge)
        self._hinge(hinge, body, rest)

    def _prim(self, path: str, world: Pose) -> Foreign:
        shape = self.geom.Xform.Define(self.stage, path)
        rotation, position = world
        shape.AddTranslateOp(self.geom.XformOp.PrecisionDouble).Set(self.gf.Vec3d(*map(float, position)))
        w, x, y, z = map(float, quaternion_of_matrix(rotation))
        shape.AddOrientOp(self.geom.XformOp.PrecisionDouble).Set(self.gf.Quatd(w, x, y, z))
        self.physics.RigidBodyAPI.Apply(shape.GetPrim())
        return shape.GetPrim()

    def _mass(self, prim: Foreign, body: Body) -> None:
        api = self.physics.MassAPI.Apply(prim)
        inertia = body.inertia
        if inertia == Inertia():
            api.CreateMassAttr(0.0)
            self.notes.append(f"{body.name} has no mass; some simulators require one")
            return
        x, y, z, xy, yz, xz = (
            number(getattr(inertia, word), self.values) for word in ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
        )
        rotation, center = pose(inertia.central, self.values)
        moments, axes = np.array([x, y, z]), np.eye(3)
        if xy or yz or xz:
            moments, axes = np.linalg.eigh(np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]))
            axes = axes * np.sign(np.linalg.det(axes))
        w, *e = map(float, quaternion_of_matrix(rotation @ axes))
        api.CreateMassAttr(float(number(inertia.mass, self.values)))
        api.CreateCenterOfMassAttr(self.gf.Vec3f(*map(float, center)))
        api.CreateDiagonalInertiaAttr(self.gf.Vec3f(*map(float, moments)))
        api.CreatePrincipalAxesAttr(self.gf.Quatf(w, *e))

    # joints

    def _hinge(self, hinge: Hinge, body: Body, rest: Pose) -> None:
        name = hinge.moved.coordinate or ""
        if abs(hinge.moved.factor) != 1 or name in self._driven:
            message = f"{name} drives several joints, or a joint by a multiple; USD has no such joints"
            raise ModelError(message, remedy=_REMEDY)
        self._driven.add(name)
        hinge = with_offset(hinge)
        turn, at = _numeric(hinge.path)
        to_axis = _x_to(np.array([float(part) for part in hinge.axis]) * float(hinge.moved.factor))
        frame = turn @ to_axis, at
        inner = rest[0].T @ to_axis, -rest[0].T @ rest[1]
        kind = "PrismaticJoint" if hinge.prismatic else "RevoluteJoint"
        joint = self._joint(kind, name, (body.base, frame), (body.name, inner))
        joint.CreateAxisAttr("X")
        if name in self.limits:
            scale = 1.0 if hinge.prismatic else math.degrees(1.0)
            low, high = (end * scale for end in self.limits[name])
            joint.CreateLowerLimitAttr(low)
            joint.CreateUpperLimitAttr(high)

    def _joint(self, kind: str, name: str, first: tuple[str | None, Pose], second: tuple[str | None, Pose]) -> Foreign:
        joint = getattr(self.physics, kind).Define(self.stage, self._new_path(name))
        for place, (body, (rotation, position)) in enumerate((first, second)):
            path = self.paths[body]
            if path is not None:
                getattr(joint, f"CreateBody{place}Rel")().SetTargets([path])
            w, *e = map(float, quaternion_of_matrix(rotation))
            getattr(joint, f"CreateLocalPos{place}Attr")(self.gf.Vec3f(*map(float, position)))
            getattr(joint, f"CreateLocalRot{place}Attr")(self.gf.Quatf(w, *e))
        return joint

    def _loop(self, loop: object) -> None:
        if not isinstance(loop, Loop) or loop.joint.type not in _LOOPS:
            raise ModelError(f"USD does not support {described(loop)}", remedy=_REMEDY)  # type: ignore[arg-type]
        first, second = (self._loop_frame(frame) for frame in (loop.first, loop.second))
        joint = self._joint(_LOOPS[loop.joint.type], loop.name, first, second)
        joint.CreateExcludeFromArticulationAttr(True)
        if loop.joint.axes:
            joint.CreateAxisAttr(loop.joint.axes[0].name)

    def _loop_frame(self, frame: Frame) -> tuple[str | None, Pose]:
        return frame.body, pose(frame.transforms, self.values)

    def _note_omissions(self) -> None:
        kinds: dict[str, int] = {}
        for one in self.mechanism.extras:
            if not isinstance(one, JointLimits):
                kinds[type(one).__name__] = kinds.get(type(one).__name__, 0) + 1
        self.notes += [f"{count} records of {kind} are left out" for kind, count in kinds.items()]
        if self.mechanism.points:
            self.notes.append(f"{len(self.mechanism.points)} output points are left out")


def _numeric(path: Sequence[Step]) -> Pose:
    rotation, position = pose_of(path)
    return np.array(rotation, dtype=float), np.array(position, dtype=float)


def _unmoved() -> Pose:
    return np.eye(3), np.zeros(3)


def _x_to(axis: Floats) -> Floats:
    """A rotation of the x axis into a direction."""
    x = axis / np.linalg.norm(axis)
    if np.abs(x).max() > 1 - 1e-12:  # along a coordinate axis: exact
        k = int(np.argmax(np.abs(x)))
        x = np.sign(x[k]) * np.eye(3)[k]
        y = np.eye(3)[(k + 1) % 3]
    else:
        y = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
        y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _bases_first(mechanism: Mechanism) -> list[Body]:
    done: dict[str | None, None] = {None: None}
    waiting, found = list(mechanism.bodies), []
    while waiting:
        ready = [body for body in waiting if body.base in done]
        found += ready
        done |= dict.fromkeys(body.name for body in ready)
        waiting = [body for body in waiting if body.name not in done]
    return found
