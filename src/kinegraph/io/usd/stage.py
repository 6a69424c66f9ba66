"""A USD stage in SI units: rigid bodies with their poses and masses, joints, gravity; read with usd-core.

Numbers of USD are in the units of the stage and in single precision. A single-precision number is taken as the
shortest decimal that reads back as itself, so 0.1 is one tenth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.extras import Foreign, extra
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Written
from kinegraph.io.usd.masses import ShapeMasses
from kinegraph.model.poses import Floats
from kinegraph.model.report import FindingKind

_PURPOSE = "a USD file"
_OUTSIDE = "put all layers into its folder or below, or name a common folder: package_roots, --package-root DIR"

#: The attributes of UsdPhysics that are read; values of all others are reported if they have an effect.
_BODY = {"rigidBodyEnabled", "kinematicEnabled", "mass", "density", "centerOfMass", "diagonalInertia", "principalAxes"}
_JOINT = {
    "localPos0", "localRot0", "localPos1", "localRot1", "axis", "lowerLimit", "upperLimit", "jointEnabled",
    "excludeFromArticulation", "minDistance", "maxDistance",
}  # fmt: skip
_IDLE = {"collisionEnabled", "startsAsleep", "approximation"}
#: Schemas that say nothing about the motion, or that are read.
_KNOWN = (
    "PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI",
    "PhysicsArticulationRootAPI", "PhysicsFilteredPairsAPI", "GeomModelAPI", "GeomSubset", "CollectionAPI",
    "PhysicsLimitAPI", "NodeGraphNodeAPI", "SemanticsAPI", "SemanticsLabelsAPI", "AssetPreviewsAPI", "PrimvarsAPI",
)  # fmt: skip


#: A lower and an upper limit.
Range: TypeAlias = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class UsdBody:
    """A rigid body: its path, name, place in the stage, and mass properties in kg and m in its own frame.

    rotation, position: its frame in the world. scale: the factors of points written in its frame. kinematic: it is
    moved by an animation. mass, center, moments, axes: None if the file does not state them.
    """

    path: str
    name: str
    rotation: Floats
    position: Floats
    scale: Floats
    kinematic: bool
    mass: Fraction | None
    center: tuple[Fraction, ...] | None
    moments: tuple[Fraction, ...] | None
    axes: tuple[Written, ...] | None
    has_colliders: bool


@dataclass(frozen=True)
class UsdFrame:
    """A joint's frame on a body (None: the fixed frame): position in m, and a quaternion, scalar part first."""

    body: str | None
    position: tuple[Fraction, ...]
    rotation: tuple[Written, ...]
    place: tuple[Floats, Floats] | None = None  # of a prim inside the body, in the body's frame


@dataclass(frozen=True)
class UsdJoint:
    """A joint: its kind (the name of its schema), frames, axis 0 to 2, limits in rad or m, and role.

    locked, ranges: directions of a general joint (transX to rotZ) that do not move, and limits of others.
    """

    path: str
    name: str
    kind: str
    frames: tuple[UsdFrame, UsdFrame]
    axis: int
    lower: Fraction | None
    upper: Fraction | None
    locked: frozenset[str]
    ranges: Mapping[str, Range]
    closes_loop: bool


@dataclass(frozen=True)
class UsdScene:
    """What a stage says about mechanics; `gravity` is None if it has no physics scene."""

    name: str
    bodies: tuple[UsdBody, ...]
    joints: tuple[UsdJoint, ...]
    gravity: tuple[Fraction, Fraction, Fraction] | None
    up: int


def read_stage(path: Path, roots: Sequence[Path], findings: Findings) -> UsdScene:
    """Read a file. All layers must be below its folder or one of the roots."""
    usd = extra("pxr.Usd", _PURPOSE)
    if not path.is_file():
        raise ModelError(f"cannot read {path}: there is no such file")
    try:
        stage = usd.Stage.Open(str(path))
        stage.Reload()  # layers that are still in memory may be older than their files
    except Exception as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise ModelError(f"{path} is not a readable USD file: {reason[:200]}") from None
    allowed = [root.resolve() for root in (path.parent, *roots)]
    for layer in stage.GetUsedLayers():
        real = layer.realPath
        if real and not any(Path(real.partition("[")[0]).resolve().is_relative_to(root) for root in allowed):
            raise ModelError(f"{path} uses the layer {real}, which is outside its folder", remedy=_OUTSIDE)
    return _Reader(stage, str(path), findings).scene(path.stem)


class _Reader:
    def __init__(self, stage: Foreign, source: str, findings: Findings) -> None:
        self.stage = stage
        self.findings = findings
        self.place = Place(1, 1, source)
        self.geom, self.physics = extra("pxr.UsdGeom", _PURPOSE), extra("pxr.UsdPhysics", _PURPOSE)
        self.meter = exact(self.geom.GetStageMetersPerUnit(stage))
        self.kilogram = exact(self.physics.GetStageKilogramsPerUnit(stage))
        self.cache = self.geom.XformCache()
        self._moving: dict[str, UsdBody] = {}

        def world(prim: Foreign) -> tuple[Floats, Floats, Floats]:
            rotation, position, scale = self._world(prim)
            return rotation, position / float(self.meter), scale

        self.masses = ShapeMasses(world, self.place)

    def scene(self, name: str) -> UsdScene:
        prims = list(self.stage.Traverse(extra("pxr.Usd", _PURPOSE).TraverseInstanceProxies()))
        for prim in prims:
            if prim.HasAPI(self.physics.RigidBodyAPI) and self._enabled(prim, "physics:rigidBodyEnabled", "bodies"):
                body = self._body(prim)
                self._moving[body.path] = body
            self._report_schemas(prim)
        joints = [self._joint(prim) for prim in prims if self._is_joint(prim)]
        gravity = next((self._gravity(prim) for prim in prims if prim.IsA(self.physics.Scene)), None)
        up = 1 if self.geom.GetStageUpAxis(self.stage) == "Y" else 2
        default = self.stage.GetDefaultPrim()
        return UsdScene(
            default.GetName() if default else name, tuple(self._moving.values()), tuple(joints), gravity, up
        )

    def _is_joint(self, prim: Foreign) -> bool:
        return prim.IsA(self.physics.Joint) and self._enabled(prim, "physics:jointEnabled", "joints")

    def _enabled(self, prim: Foreign, word: str, topic: str) -> bool:
        if authored(prim, word) is not False:
            return True
        self.findings.count(FindingKind.NOT_USED, topic, f"disabled {topic}", self.place, prim.GetName())
        return False

    def _report_schemas(self, prim: Foreign) -> None:
        """Report schemas and attributes that are not read, on bodies and joints."""
        if prim.GetPath().pathString not in self._moving and not prim.IsA(self.physics.Joint):
            kind = str(prim.GetTypeName())
            if kind.endswith("Joint"):
                self.findings.count(FindingKind.LEFT_OUT, "joints of other programs", kind, self.place, prim.GetName())
            return
        for schema in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
            word = schema.partition(":")[0]
            if word not in _KNOWN:
                drive = word == "PhysicsDriveAPI"
                topic, what = ("drives",) * 2 if drive else ("extensions of other programs", f"the schema {word}")
                self.findings.count(FindingKind.LEFT_OUT, topic, what, self.place, prim.GetName())
        known = _BODY | _JOINT | _IDLE
        for one in prim.GetAuthoredAttributes():
            word = one.GetName()
            if word.startswith("physics:") and ":" not in word[8:] and word[8:] not in known and _has_effect(one.Get()):
                what = f"{word} of a {'joint' if prim.IsA(self.physics.Joint) else 'body'}"
                self.findings.count(FindingKind.LEFT_OUT, "physics attributes", what, self.place, prim.GetName())

    # bodies

    def _world(self, prim: Foreign) -> tuple[Floats, Floats, Floats]:
        """Rotation, position in m, and scale of a prim in the world; shear is an error."""
        matrix = np.array(self.cache.GetLocalToWorldTransform(prim)).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.isfinite(matrix).all() or not np.isfinite(scale).all():
            raise ModelError(f"the frame of {prim.GetPath()} has numbers that are not finite", self.place)
        if not scale.all():
            raise ModelError(f"{prim.GetPath()} has a scale of zero", self.place)
        rotation = matrix[:3, :3] / scale
        if np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-5 or np.linalg.det(rotation) < 0:
            remedy = "remove the shear or mirroring from its transforms"
            raise ModelError(f"the frame of {prim.GetPath()} is sheared or mirrored", self.place, remedy)
        left, _, right = np.linalg.svd(rotation)
        return left @ right, matrix[:3, 3] * float(self.meter), np.where(np.abs(scale - 1) < 1e-6, 1.0, scale)

    def _body(self, prim: Foreign) -> UsdBody:
        rotation, position, scale = self._world(prim)
        mass, density = authored(prim, "physics:mass"), authored(prim, "physics:density")
        below = extra("pxr.Usd", _PURPOSE).PrimRange(prim)
        colliders = any(one.HasAPI(self.physics.CollisionAPI) for one in below)
        if density and not mass and not colliders:
            self.findings.count(FindingKind.LEFT_OUT, "densities", "the density of a body", self.place, prim.GetName())
        center, moments = authored(prim, "physics:centerOfMass"), authored(prim, "physics:diagonalInertia")
        axes = authored(prim, "physics:principalAxes")
        tensor_unit = self.kilogram * self.meter**2
        stated_center = None if center is None or not np.isfinite(list(center)).all() else self._point(center, scale)
        # Zeros are values of the schema that mean: not stated.
        stated_moments = moments if moments is not None and any(moments) else None
        kinematic = bool(authored(prim, "physics:kinematicEnabled"))
        if colliders and not kinematic and (not mass or stated_moments is None) and not (mass == 0 and moments):
            return self._with_computed_mass(
                UsdBody(prim.GetPath().pathString, prim.GetName(), rotation, position, scale, kinematic, None,
                        stated_center, None, None, colliders), prim,
            )  # fmt: skip
        return UsdBody(
            prim.GetPath().pathString,
            prim.GetName(),
            rotation,
            position,
            scale,
            kinematic,
            None if mass is None else exact(mass) * self.kilogram,
            stated_center,
            tuple(exact(one) * tensor_unit for one in moments) if moments is not None else None,
            quaternion(axes) if axes is not None and any(abs(one.value) for one in quaternion(axes)) else None,
            colliders,
        )

    def _with_computed_mass(self, body: UsdBody, prim: Foreign) -> UsdBody:
        """The body with mass, center and inertia from its collision shapes; what the file states comes first."""
        found = self.masses.of(prim)
        message = "mass properties computed from collision shapes"
        self.findings.count(FindingKind.ASSUMED, "inertia", message, self.place, body.name)
        center = tuple(exact(one) * self.meter for one in found.center)
        return replace(
            body,
            mass=exact(found.mass) * self.kilogram,
            center=body.center or center,
            moments=tuple(exact(one) * self.kilogram * self.meter**2 for one in found.moments),
            axes=quaternion(found.axes),
        )

    def _point(self, point: Sequence[float], scale: Floats) -> tuple[Fraction, ...]:
        pairs = zip(point, scale, strict=True)
        return tuple(
            exact(one) * self.meter * (1 if factor == 1 else Fraction(repr(float(factor)))) for one, factor in pairs
        )

    # joints

    def _joint(self, prim: Foreign) -> UsdJoint:
        kind = str(prim.GetTypeName())
        angular = kind == "PhysicsRevoluteJoint"
        low, high = authored(prim, "physics:lowerLimit"), authored(prim, "physics:upperLimit")
        limits = [self._limit(one, angular) for one in (low, high)]
        token = str(authored(prim, "physics:axis") or "X")
        if token not in ("X", "Y", "Z"):
            raise ModelError(f"the axis of the joint {prim.GetPath()} is {token[:40]}", self.place, "write X, Y or Z")
        directions = self._directions(prim)
        return UsdJoint(
            prim.GetPath().pathString,
            prim.GetName(),
            kind,
            (self._frame(prim, 0), self._frame(prim, 1)),
            "XYZ".index(token),
            limits[0],
            limits[1],
            frozenset(name for name, ends in directions.items() if ends is None),
            {name: ends for name, ends in directions.items() if ends is not None},
            bool(authored(prim, "physics:excludeFromArticulation")),
        )

    def _limit(self, value: Foreign, angular: bool) -> Fraction | None:
        """A limit in rad or m; None if it is infinite, or a value of other programs that is not a number."""
        if not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return Fraction(repr(math.radians(float(exact(value))))) if angular else exact(value) * self.meter

    def _directions(self, prim: Foreign) -> dict[str, Range | None]:
        """The limits of the directions of a general joint; None locks one: its lower limit is above the upper one."""
        found: dict[str, Range | None] = {}
        for schema in prim.GetAppliedSchemas():
            word, _, instance = schema.partition(":")
            if word == "PhysicsLimitAPI":
                low, high = (authored(prim, f"limit:{instance}:physics:{end}") for end in ("low", "high"))
                angular = instance.startswith("rot")
                locked = low is not None and high is not None and low > high
                found[instance] = None if locked else (self._limit(low, angular), self._limit(high, angular))
        return found

    def _frame(self, prim: Foreign, end: int) -> UsdFrame:
        targets = prim.GetRelationship(f"physics:body{end}").GetTargets()
        position = authored(prim, f"physics:localPos{end}") or (0.0, 0.0, 0.0)
        turned = authored(prim, f"physics:localRot{end}")
        rotation = quaternion(turned) if turned is not None else tuple(Written(Fraction(one)) for one in (1, 0, 0, 0))
        if len(targets) > 1:
            raise ModelError(f"the joint {prim.GetPath()} names several bodies as body{end}", self.place)
        if not targets:
            return UsdFrame(None, self._point(position, np.ones(3)), rotation)
        other = self.stage.GetPrimAtPath(targets[0])
        if not other:
            raise ModelError(f"the joint {prim.GetPath()} names {targets[0]}, which does not exist", self.place)
        turn, at, scale = self._world(other)
        point = self._point(position, scale)
        owner = next((one for one in _upwards(other) if one in self._moving), None)
        if owner == other.GetPath().pathString:
            return UsdFrame(owner, point, rotation)
        if owner is None:
            return UsdFrame(None, point, rotation, (turn, at))
        body = self._moving[owner]
        return UsdFrame(owner, point, rotation, (body.rotation.T @ turn, body.rotation.T @ (at - body.position)))

    def _gravity(self, prim: Foreign) -> tuple[Fraction, Fraction, Fraction]:
        direction = np.array(authored(prim, "physics:gravityDirection") or (0.0, 0.0, 0.0), dtype=float)
        magnitude = authored(prim, "physics:gravityMagnitude")
        size = Fraction("9.81") if magnitude is None or not magnitude >= 0 else exact(magnitude) * self.meter
        if not direction.any():
            direction[1 if self.geom.GetStageUpAxis(self.stage) == "Y" else 2] = -1.0
        unit = direction / np.linalg.norm(direction)
        x, y, z = (size * Fraction(repr(float(one))) for one in unit)
        return x, y, z


def authored(prim: Foreign, name: str) -> Foreign:
    """The value that a file states for an attribute; None if it states none."""
    attribute = prim.GetAttribute(name)
    return attribute.Get() if attribute and attribute.HasAuthoredValue() else None


def exact(value: float) -> Fraction:
    """The shortest decimal of a single-precision number, or of a double that is not one."""
    number = float(value)
    if not math.isfinite(number):
        raise ModelError("a number of the USD file is not finite")
    single = np.float32(number)
    return Fraction(str(single)) if float(single) == number else Fraction(repr(number))


def quaternion(value: Foreign) -> tuple[Written, ...]:
    """A quaternion, scalar part first; seven decimals are right in single precision."""
    return tuple(Written(exact(one), 7) for one in (value.GetReal(), *value.GetImaginary()))


def _upwards(prim: Foreign) -> Iterator[str]:
    """The paths of a prim and of all prims above it."""
    while prim:
        yield prim.GetPath().pathString
        prim = prim.GetParent()


def _has_effect(value: Foreign) -> bool:
    """Whether a value that is not read would change anything: zeros and infinities do not."""
    try:
        numbers = [
            float(one) for one in (value if hasattr(value, "__len__") and not isinstance(value, str) else [value])
        ]
    except (TypeError, ValueError):
        return value not in (None, "", False)
    return any(one and math.isfinite(one) for one in numbers)
