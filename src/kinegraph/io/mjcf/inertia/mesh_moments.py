"""Volume, centre of mass and moments of inertia of a mesh, by the four rules of MuJoCo.

Every triangle and a point span a pyramid; sums over pyramids are exact integrals for a closed surface. The legacy rule
counts all pyramids as positive, so that a mesh which is not convex seen from the point gets more than its volume.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from kinegraph.errors import ModelError, Place
from kinegraph.io.mjcf.inertia.principal_axes import MESH_ROUNDING, principal_axes
from kinegraph.io.mjcf.numeric import Floats
from kinegraph.io.robot.mesh_files import Indices

#: A volume smaller than this beside that of a cube with the mesh's surface is rounding.
_ROUNDING = 1e-12


#: MuJoCo does not look at the orientation of triangles whose area, as written in the file, is smaller.
_LEAST_AREA = 1e-15**0.5


class MeshInertia(Enum):
    """What of a mesh has mass."""

    LEGACY = "legacy"
    EXACT = "exact"
    CONVEX = "convex"
    SHELL = "shell"


@dataclass(frozen=True)
class Moments:
    """A body of unit density: its volume (a shell's area), its centre of mass and its moments of inertia there.

    The moments are principal ones, greatest first; `axes` is the quaternion of the axes they are about.
    """

    amount: float
    centre: Floats
    axes: Floats
    moments: Floats


@dataclass(frozen=True)
class Surface:
    """Corners (n, 3) and triangles (m, 3) of a mesh as it stands in a geom; without triangles the hull is meant.

    `written` are the corners before they are moved and scaled, by which a hull of few corners chooses them; `mirrored`
    says that the scale turns right hands into left ones.
    """

    corners: Floats
    triangles: Indices
    written: Floats
    mirrored: bool
    name: str
    place: Place
    hull_corners: int | None = None

    def moments(self, rule: MeshInertia) -> Moments:
        """Volume, centre and inertia of the mesh. ModelError if it has none by this rule."""
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
        centre = self._centre(faces - middle, rule, areas.sum() ** 1.5) + middle
        around = faces - centre
        return _moments(around, _volumes(around, rule), centre, shell=False)

    def _centre(self, faces: Floats, rule: MeshInertia, scale: float) -> Floats:
        """The centre of mass of all pyramids over the origin; `scale` is the volume of a cube of its surface."""
        volumes = _volumes(faces, rule)
        total = volumes.sum()
        if total < _ROUNDING * scale:
            found = "negative" if total < -_ROUNDING * scale else "zero"
            remedy = 'turn its triangles outwards, or write inertia="shell" or "convex" in <mesh>'
            raise self._error(f"encloses a volume that is {found}", remedy)
        return np.asarray((volumes @ faces.sum(axis=1)) / (4 * total))

    def _hull(self) -> Indices:
        """The triangles of the convex hull, turned outwards."""
        from scipy.spatial import ConvexHull, QhullError  # takes its time to import

        # Of a hull of few corners the farthest corner comes next (Q9), which takes too long for all of a large mesh.
        few = f" Q9 TA{self.hull_corners - 4}" if self.hull_corners is not None else ""
        try:
            hull = ConvexHull(self.written, qhull_options=f"Qt{few}")
        except (QhullError, ValueError):
            raise self._error("has no convex hull", "its corners must not lie in a plane") from None
        a, b, c = np.moveaxis(self.written[hull.simplices], 1, 0)
        outwards = (np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) > 0) ^ self.mirrored
        return np.asarray(np.where(outwards[:, None], hull.simplices, hull.simplices[:, ::-1]), dtype=np.int64)

    def _check_orientation(self, triangles: Indices) -> None:
        """No two triangles may go along an edge in the same direction; those almost without area may."""
        areas, _ = _areas_and_middle(self.written[triangles])
        a, b, c = triangles[areas > _LEAST_AREA].T
        edges = np.concatenate([np.stack(ends, axis=1) for ends in ((a, b), (b, c), (c, a))])
        if len(np.unique(edges, axis=0)) < len(edges):
            remedy = 'mend it, or write inertia="convex" in <mesh>'
            raise self._error("has triangles of inconsistent orientation", remedy)

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(f"the mesh {self.name} {what}", self.place, remedy)


def _areas_and_middle(faces: Floats) -> tuple[Floats, Floats]:
    """The area of every triangle, and the middle of the surface."""
    a, b, c = np.moveaxis(faces, 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    total = areas.sum()
    return areas, np.asarray(areas @ faces.sum(axis=1)) / (3 * total if total > 0 else 1.0)


def _volumes(faces: Floats, rule: MeshInertia) -> Floats:
    """The volumes of the pyramids over the origin."""
    a, b, c = np.moveaxis(faces, 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return np.asarray(np.abs(volumes) if rule is MeshInertia.LEGACY else volumes)


def _moments(faces: Floats, weights: Floats, centre: Floats, shell: bool) -> Moments:
    """Moments about the origin of triangles (a shell), or of pyramids over it, of these areas or volumes.

    The mean of x x' over a triangle with corners D, E, F is (D D' + E E' + F F' + S S') / 12 with S = D + E + F; over
    the pyramid it is 12/20 of that.
    """
    total = faces.sum(axis=1)
    squares = np.einsum("f,fci,fcj->ij", weights, faces, faces) + np.einsum("f,fi,fj->ij", weights, total, total)
    second = squares / (12 if shell else 20)
    moments, axes = principal_axes(np.trace(second) * np.eye(3) - second, MESH_ROUNDING)
    return Moments(float(weights.sum()), centre, axes, moments)
