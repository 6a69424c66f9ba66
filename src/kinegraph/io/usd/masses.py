"""Mass, center and inertia of a rigid body of USD from its collision shapes, as UsdPhysics defines them.

UsdPhysics itself finds masses and densities that shapes, bodies and materials state; the volume and the moments of each
shape are ours. All numbers are in the units of the stage, in axes of the body without its scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.extras import Foreign, extra
from kinegraph.io.mjcf.moments import SOLIDS, MeshInertia, Moments, Surface
from kinegraph.model.poses import Floats, quaternion_matrix

_PURPOSE = "a USD file"
#: A shape's rotation, position and scale in the world.
World = Callable[[Foreign], tuple[Floats, Floats, Floats]]
#: Approximations of meshes by which their own surface or their hull is the solid.
_HULLS = frozenset({"convexHull", "convexDecomposition"})
_SURFACES = frozenset({"none", "meshSimplification", "sdf", ""})


@dataclass(frozen=True)
class MassProperties:
    """Mass, center, principal moments, and the quaternion of the principal axes, scalar part first."""

    mass: float
    center: tuple[float, float, float]
    moments: tuple[float, float, float]
    axes: Foreign


class ShapeMasses:
    """Computes the mass properties of bodies. Raises a ModelError for a shape whose volume is not known."""

    def __init__(self, world: World, place: Place) -> None:
        self.world = world
        self.place = place
        self.geom, self.physics = extra("pxr.UsdGeom", _PURPOSE), extra("pxr.UsdPhysics", _PURPOSE)
        self.gf = extra("pxr.Gf", _PURPOSE)

    def of(self, prim: Foreign) -> MassProperties:
        """The properties of a body; those that it states itself are among them."""
        turn, at, _ = self.world(prim)
        faults: list[ModelError] = []

        def information(shape: Foreign) -> Foreign:
            found = self.physics.RigidBodyAPI.MassInformation()
            try:
                moments = self._moments(shape)
            except ModelError as error:  # an exception does not pass through UsdPhysics
                faults.append(error)
                return found
            shape_turn, shape_at, _ = self.world(shape)
            found.volume = moments.amount
            found.inertia = self._matrix(moments)
            found.centerOfMass = self.gf.Vec3f(*map(float, moments.center))
            found.localPos = self.gf.Vec3f(*map(float, turn.T @ (shape_at - at)))
            local = turn.T @ shape_turn
            rotation = self.gf.Matrix3d(*map(float, local.T.ravel())).ExtractRotation()
            found.localRot = self.gf.Quatf(rotation.GetQuat())
            return found

        mass, moments, center, axes = self.physics.RigidBodyAPI(prim).ComputeMassProperties(information)
        if faults:
            raise faults[0]
        if not mass > 0:
            message = f"the collision shapes of {prim.GetPath()} have no mass"
            raise ModelError(message, self.place, "write physics:mass and physics:diagonalInertia")
        return MassProperties(float(mass), _three(center), _three(moments), axes)

    def _matrix(self, moments: Moments) -> Foreign:
        """The inertia tensor at the center of mass, of unit density."""
        axes = quaternion_matrix(list(moments.axes))
        tensor = axes @ np.diag(moments.moments) @ axes.T
        return self.gf.Matrix3f(*map(float, tensor.ravel()))

    def _moments(self, shape: Foreign) -> Moments:
        """Volume, center and moments of a shape of unit density, in its own axes."""
        _, _, scale = self.world(shape)
        kind = str(shape.GetTypeName())
        if kind == "Mesh":
            return self._mesh(shape, scale)
        token = str(shape.GetAttribute("axis").Get() or "Z") if kind in _ALONG else "Z"
        stated = {name: shape.GetAttribute(name).Get() for name in _SIZES.get(kind, ())}
        if token not in _AXES or None in stated.values():
            raise self._unknown(shape, "a shape with sizes or an axis of another type")
        axis = _AXES.index(token)
        sizes = self._sizes(shape, kind, {name: float(one) for name, one in stated.items()}, scale, axis)
        if not all(0 < size < _HUGE for size in sizes):
            raise self._unknown(shape, "a shape without volume, or of a size beyond all measure")
        solid = SOLIDS[_SOLIDS[kind]]
        amount = solid.amount(*sizes)
        along = np.roll(np.array(solid.moments(*sizes)) * amount, axis - 2)
        return Moments(amount, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), along)

    def _sizes(self, shape: Foreign, kind: str, numbers: dict[str, float], scale: Floats, axis: int) -> Sequence[float]:
        """The half lengths of the solid, radius first."""
        across = np.delete(scale, axis)
        if kind == "Cube":
            return [float(one) for one in numbers["size"] / 2 * scale]
        if kind == "Sphere":
            if np.ptp(scale) > _EVEN * scale.max():
                raise self._unknown(shape, "a sphere whose scales differ")
            return [numbers["radius"] * float(scale[0])]
        if kind in _ALONG:
            if np.ptp(across) > _EVEN * scale.max() or (kind == "Capsule" and np.ptp(scale) > _EVEN * scale.max()):
                raise self._unknown(shape, f"a {kind.lower()} whose scales differ")
            return [numbers["radius"] * float(across[0]), numbers["height"] / 2 * float(scale[axis])]
        raise self._unknown(shape, f"a {kind or 'prim without a type'}")

    def _mesh(self, shape: Foreign, scale: Floats) -> Moments:
        approximation = str(shape.GetAttribute("physics:approximation").Get() or "none")
        if approximation not in _HULLS | _SURFACES:
            raise self._unknown(shape, f"a mesh approximated by {approximation}")
        points = np.array(shape.GetAttribute("points").Get() or np.zeros((0, 3)), dtype=float) * scale
        words = ("faceVertexCounts", "faceVertexIndices")
        counts, corners = ([int(one) for one in shape.GetAttribute(word).Get() or ()] for word in words)
        if not np.abs(points).max(initial=0.0) < _HUGE or min(counts, default=3) < 3 or sum(counts) != len(corners):
            raise self._unknown(shape, "a mesh with points or faces that are not possible")
        triangles = np.array(list(_triangles(counts, corners)), dtype=np.int64).reshape(-1, 3)
        if not len(points) or (len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points))):
            raise self._unknown(shape, "a mesh whose faces name no points")
        if str(shape.GetAttribute("orientation").Get() or "") == "leftHanded":
            triangles = triangles[:, ::-1]
        convex = approximation in _HULLS
        surface = Surface(points, triangles, points, False, shape.GetName(), self.place)
        return surface.moments(MeshInertia.CONVEX if convex else MeshInertia.EXACT)

    def _unknown(self, shape: Foreign, what: str) -> ModelError:
        message = f"the inertia of a body would have to be computed from {shape.GetPath()}, {what}"
        remedy = "write physics:mass, physics:diagonalInertia and physics:centerOfMass of PhysicsMassAPI"
        return ModelError(message, self.place, remedy)


_AXES = ("X", "Y", "Z")
#: Larger lengths have no moments in double precision.
_HUGE = 1e50
#: The largest relative difference of scales that count as equal.
_EVEN = 1e-5
_SOLIDS = {"Cube": "box", "Sphere": "sphere", "Cylinder": "cylinder", "Capsule": "capsule"}
_SIZES = {
    "Cube": ("size",),
    "Sphere": ("radius",),
    "Cylinder": ("radius", "height"),
    "Capsule": ("radius", "height"),
}
_ALONG = frozenset({"Cylinder", "Capsule"})


def _triangles(counts: Sequence[int], corners: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """The faces of a mesh as fans of triangles."""
    start = 0
    for count in counts:
        face = corners[start : start + count]
        start += count
        for second, third in pairwise(face[1:]):
            yield face[0], second, third


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (float(one) for one in values)
    return x, y, z
