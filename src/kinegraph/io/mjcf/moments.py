"""Volumes, moments of inertia and principal axes of solids and meshes, by MuJoCo's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.io.meshes import Indices
from kinegraph.io.mjcf.transforms import cleaned, placed
from kinegraph.model.evaluate import number
from kinegraph.model.mechanism import ZERO, Inertia
from kinegraph.model.poses import Floats

# Primitive geoms, solid or shells, by MuJoCo's formulas. Sizes are half lengths, radius first; moments are about the
# axes of the geom, per unit of mass.

Triple = tuple[float, float, float]

#: MuJoCo's thickness of the shell of an ellipsoid.
_THICKNESS = 1e-6
#: The exponent of Thomsen's formula for the surface of an ellipsoid.
_THOMSEN = 1.6075


@dataclass(frozen=True)
class Solid:
    """Functions of the sizes of a kind of geom: its volume (or area), and its moments."""

    amount: Callable[..., float]
    moments: Callable[..., Triple]


def _ellipsoid_moments(a: float, b: float, c: float) -> Triple:
    return (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5


def _capsule_moments(radius: float, half: float) -> Triple:
    """A cylinder and two half balls."""
    ends = (4 / 3 * radius) / (2 * half + 4 / 3 * radius)
    barrel = 1 - ends
    axial = barrel * radius**2 / 2 + ends * 2 / 5 * radius**2
    across = barrel * (radius**2 / 4 + half**2 / 3) + ends * (2 / 5 * radius**2 + half**2 + 3 / 4 * half * radius)
    return across, across, axial


def _capsule_shell(radius: float, half: float) -> Triple:
    """A tube and two half spheres, whose centers of mass are half a radius beyond the tube."""
    ends = radius / (radius + half)
    tube = 1 - ends
    axial = tube * radius**2 + ends * 2 / 3 * radius**2
    across = tube * (radius**2 / 2 + half**2 / 3) + ends * (2 / 3 * radius**2 + half**2 + half * radius)
    return across, across, axial


def _cylinder_shell(radius: float, half: float) -> Triple:
    """A tube and two discs."""
    discs = radius / (radius + 2 * half)
    tube = 1 - discs
    axial = tube * radius**2 + discs * radius**2 / 2
    across = tube * (radius**2 / 2 + half**2 / 3) + discs * (radius**2 / 4 + half**2)
    return across, across, axial


def _ellipsoid_area(a: float, b: float, c: float) -> float:
    powers = math.fsum((x * y) ** _THOMSEN for x, y in ((a, b), (b, c), (c, a)))
    return float(4 * math.pi * (powers / 3) ** (1 / _THOMSEN))


def _ellipsoid_shell(a: float, b: float, c: float) -> Triple:
    """The difference of two ellipsoids of uniform density with slightly different half axes."""
    x, y, z = a + _THICKNESS, b + _THICKNESS, c + _THICKNESS
    inner, outer = a * b * c, x * y * z
    before, after = _ellipsoid_moments(a, b, c), _ellipsoid_moments(x, y, z)
    first, second, third = (
        (outer * large - inner * small) / (outer - inner) for small, large in zip(before, after, strict=True)
    )
    return first, second, third


def _box_shell(a: float, b: float, c: float) -> Triple:
    """Six faces of uniform density."""
    total = a * b + b * c + c * a

    def square(along: float, first: float, second: float) -> float:
        """The mean square of a coordinate: on the faces across its axis, and on the others."""
        return (first * second * along**2 + (along * first + along * second) * along**2 / 3) / total

    xx, yy, zz = square(a, b, c), square(b, c, a), square(c, a, b)
    return yy + zz, xx + zz, xx + yy


SOLIDS: dict[str, Solid] = {
    "sphere": Solid(lambda r: 4 / 3 * math.pi * r**3, lambda r: (2 / 5 * r**2,) * 3),
    "capsule": Solid(lambda r, h: math.pi * r**2 * (2 * h + 4 / 3 * r), _capsule_moments),
    "cylinder": Solid(
        lambda r, h: 2 * math.pi * r**2 * h, lambda r, h: (r**2 / 4 + h**2 / 3, r**2 / 4 + h**2 / 3, r**2 / 2)
    ),
    "ellipsoid": Solid(lambda a, b, c: 4 / 3 * math.pi * a * b * c, _ellipsoid_moments),
    "box": Solid(
        lambda a, b, c: 8 * a * b * c,
        lambda a, b, c: ((b**2 + c**2) / 3, (a**2 + c**2) / 3, (a**2 + b**2) / 3),
    ),
}
SHELLS: dict[str, Solid] = {
    "sphere": Solid(lambda r: 4 * math.pi * r**2, lambda r: (2 / 3 * r**2,) * 3),
    "capsule": Solid(lambda r, h: 4 * math.pi * r * (r + h), _capsule_shell),
    "cylinder": Solid(lambda r, h: 2 * math.pi * r * (r + 2 * h), _cylinder_shell),
    "ellipsoid": Solid(_ellipsoid_area, _ellipsoid_shell),
    "box": Solid(lambda a, b, c: 8 * (a * b + b * c + c * a), _box_shell),
}


# Principal axes of inertia in the order and with the signs of MuJoCo, largest moment first: Jacobi rotations about one
# axis at a time, by the smaller of the two possible angles, then quarter turns that sort the moments. The frames of
# aligned free bodies depend on these axes.

#: Off-diagonal entries smaller than this, relative to the largest, are zero: by rounding of a given inertia, and for a
#: mesh, whose vertices are in single precision, the tolerance of MuJoCo.
_TENSOR_ROUNDING = 1e-15
MESH_ROUNDING = 1e-7
_MOST_TURNS = 100


def principal_axes(tensor: Floats, rounding: float = _TENSOR_ROUNDING) -> tuple[Floats, Floats]:
    """The principal moments of a symmetric tensor, largest first, and their axes as a quaternion."""
    quaternion = np.array([1.0, 0.0, 0.0, 0.0])
    least = rounding * float(np.abs(tensor).max(initial=0.0))
    turned = tensor
    for _ in range(_MOST_TURNS):
        axis = int(np.argmax(np.abs([turned[1, 2], turned[0, 2], turned[0, 1]])))
        row, column = [other for other in range(3) if other != axis]
        if abs(turned[row, column]) <= least:
            break
        angle = _jacobi_angle(turned[row, row], turned[column, column], turned[row, column])
        quaternion = _product(quaternion, _about(axis, angle if axis == 1 else -angle))
        turned = _seen_along(quaternion, tensor)
    return _in_order(np.diag(turned).copy(), quaternion, least)


def _jacobi_angle(first: float, second: float, off: float) -> float:
    """The smaller rotation angle of two axes that makes the off-diagonal entry zero."""
    ratio = (second - first) / (2 * off)
    return math.atan(math.copysign(1.0, ratio) / (abs(ratio) + math.hypot(1.0, ratio)))


def _in_order(moments: Floats, quaternion: Floats, least: float) -> tuple[Floats, Floats]:
    for first in (0, 1, 0):
        if moments[first] + least < moments[first + 1]:
            moments[[first, first + 1]] = moments[[first + 1, first]]
            quaternion = _product(quaternion, _about((first + 2) % 3, math.pi / 2))
    return moments, quaternion


def _about(axis: int, angle: float) -> Floats:
    turn = np.zeros(4)
    turn[0], turn[axis + 1] = math.cos(angle / 2), math.sin(angle / 2)
    return turn


def _product(a: Floats, b: Floats) -> Floats:
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    found = np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])
    return found / math.sqrt(found @ found)


def _seen_along(quaternion: Floats, tensor: Floats) -> Floats:
    axes = _matrix(quaternion)
    return np.asarray(axes.T @ tensor @ axes)


def _matrix(quaternion: Floats) -> Floats:
    w, v = quaternion[0], quaternion[1:]
    crossed = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * crossed)


def along_principal_axes(inertia: Inertia) -> Inertia:
    """The same numeric inertia without products: its central frame is rotated to the principal axes."""
    products = (inertia.Jxy, inertia.Jyz, inertia.Jxz)
    if products == (ZERO, ZERO, ZERO):
        return inertia
    x, y, z = (number(item, {}) for item in (inertia.Jx, inertia.Jy, inertia.Jz))
    xy, yz, xz = (number(item, {}) for item in products)
    moments, quaternion = principal_axes(np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]))
    central = (*inertia.central, *placed((0.0, 0.0, 0.0), quaternion))
    a, b, c = cleaned(moments)
    return replace(inertia, Jx=a, Jy=b, Jz=c, Jxy=ZERO, Jyz=ZERO, Jxz=ZERO, central=central)


# Meshes, by the four rules of MuJoCo. Each triangle spans a pyramid with a common point; sums over pyramids are exact
# integrals for a closed surface. The legacy rule counts all pyramids as positive, so a nonconvex mesh gets more than
# its volume.

#: A volume smaller than this, relative to a cube of the same surface, is a rounding error.
_VOLUME_ROUNDING = 1e-12


#: MuJoCo ignores the orientation of triangles of a smaller area, as written in the file.
_LEAST_AREA = 1e-15**0.5


class MeshInertia(Enum):
    """MuJoCo's rules for the inertia of a mesh."""

    LEGACY = "legacy"
    EXACT = "exact"
    CONVEX = "convex"
    SHELL = "shell"


@dataclass(frozen=True)
class Moments:
    """A body of unit density: its volume (a shell's area), its center of mass and its moments of inertia there.

    The moments are principal moments, largest first; `axes` is the quaternion of the principal axes.
    """

    amount: float
    center: Floats
    axes: Floats
    moments: Floats


@dataclass(frozen=True)
class Surface:
    """Vertices (n, 3) and triangles (m, 3) of a mesh as placed in a geom; without triangles, the convex hull.

    `written` are the vertices before translation and scaling, from which a hull of few vertices is chosen; `mirrored`:
    the scale reverses the orientation.
    """

    corners: Floats
    triangles: Indices
    written: Floats
    mirrored: bool
    name: str
    place: Place
    hull_corners: int | None = None

    def moments(self, rule: MeshInertia) -> Moments:
        """Volume, center and inertia of the mesh. Raises a ModelError if it has none by this rule."""
        convex = rule is MeshInertia.CONVEX or not len(self.triangles)
        triangles = self._hull() if convex else self.triangles
        if rule is MeshInertia.EXACT:
            self._check_orientation(triangles)
        faces = self.corners[triangles]
        areas, middle = _areas_and_middle(faces)
        if not areas.sum() > 0:
            raise self._error("has no surface", "check its scale")
        if rule is MeshInertia.SHELL:
            return _moments(faces - middle, areas, middle, shell=True)
        center = self._center(faces - middle, rule, areas.sum() ** 1.5) + middle
        around = faces - center
        return _moments(around, _volumes(around, rule), center, shell=False)

    def _center(self, faces: Floats, rule: MeshInertia, scale: float) -> Floats:
        """The center of mass of all pyramids; `scale` is the volume of a cube with the same surface."""
        volumes = _volumes(faces, rule)
        total = volumes.sum()
        if total < _VOLUME_ROUNDING * scale:
            found = "negative" if total < -_VOLUME_ROUNDING * scale else "zero"
            remedy = 'orient its triangles outwards, or write inertia="shell" or "convex" in <mesh>'
            raise self._error(f"has a {found} volume", remedy)
        return np.asarray((volumes @ faces.sum(axis=1)) / (4 * total))

    def _hull(self) -> Indices:
        """The triangles of the convex hull, oriented outwards."""
        from scipy.spatial import ConvexHull, QhullError  # slow to import

        # For a hull of few vertices, the farthest vertex is added next (Q9); too slow for all vertices of a large mesh.
        few = f" Q9 TA{self.hull_corners - 4}" if self.hull_corners is not None else ""
        try:
            hull = ConvexHull(self.written, qhull_options=f"Qt{few}")
        except (QhullError, ValueError):
            raise self._error("has no convex hull", "its vertices must not be coplanar") from None
        a, b, c = np.moveaxis(self.written[hull.simplices], 1, 0)
        outwards = (np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) > 0) ^ self.mirrored
        return np.asarray(np.where(outwards[:, None], hull.simplices, hull.simplices[:, ::-1]), dtype=np.int64)

    def _check_orientation(self, triangles: Indices) -> None:
        """No two triangles may traverse an edge in the same direction, except triangles of almost no area."""
        areas, _ = _areas_and_middle(self.written[triangles])
        a, b, c = triangles[areas > _LEAST_AREA].T
        edges = np.concatenate([np.stack(ends, axis=1) for ends in ((a, b), (b, c), (c, a))])
        if len(np.unique(edges, axis=0)) < len(edges):
            remedy = 'repair it, or write inertia="convex" in <mesh>'
            raise self._error("has triangles of inconsistent orientation", remedy)

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(f"the mesh {self.name} {what}", self.place, remedy)


def _areas_and_middle(faces: Floats) -> tuple[Floats, Floats]:
    """The area of each triangle, and the centroid of the surface."""
    a, b, c = np.moveaxis(faces, 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    total = areas.sum()
    return areas, np.asarray(areas @ faces.sum(axis=1)) / (3 * total if total > 0 else 1.0)


def _volumes(faces: Floats, rule: MeshInertia) -> Floats:
    """The volumes of the pyramids over the origin."""
    a, b, c = np.moveaxis(faces, 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return np.asarray(np.abs(volumes) if rule is MeshInertia.LEGACY else volumes)


def _moments(faces: Floats, weights: Floats, center: Floats, shell: bool) -> Moments:
    """Moments about the origin of triangles (a shell), or of pyramids, with these areas or volumes.

    The mean of x x' over a triangle with vertices D, E, F is (D D' + E E' + F F' + S S') / 12 with S = D + E + F; over
    the pyramid it is 12/20 of that.
    """
    total = faces.sum(axis=1)
    squares = np.einsum("f,fci,fcj->ij", weights, faces, faces) + np.einsum("f,fi,fj->ij", weights, total, total)
    second = squares / (12 if shell else 20)
    moments, axes = principal_axes(np.trace(second) * np.eye(3) - second, MESH_ROUNDING)
    return Moments(float(weights.sum()), center, axes, moments)
