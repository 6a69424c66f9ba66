"""Primitive geoms fitted to a mesh, by its equivalent inertia box or by the box around it along its principal axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.geometry.assets import MeshAsset
from kinegraph.io.mjcf.numeric import Floats, placed, quaternion_matrix
from kinegraph.model.mechanism import Transform


@dataclass(frozen=True)
class Fitted:
    """Half sizes of a primitive, radius first, and where it stands."""

    sizes: tuple[float, ...]
    place: tuple[Transform, ...]


def fitted(kind: str, mesh: MeshAsset, around: bool, scale: float) -> Fitted:
    """The primitive of a kind that stands for a mesh: by the box around it, or by its inertia box."""
    axes, centre = quaternion_matrix(mesh.moments.axes.tolist()), mesh.moments.centre
    if around:
        seen = (mesh.surface.corners - centre) @ axes
        low, high = seen.min(axis=0), seen.max(axis=0)
        centre = centre + axes @ ((low + high) / 2)
        sizes = _around(kind, (high - low) / 2)
    else:
        sizes = _by_inertia_box(kind, _inertia_box(mesh.moments.moments / mesh.moments.amount))
    if sizes is None:
        raise ModelError(f"a {kind} cannot be fitted to a mesh", mesh.element.place, "use a primitive")
    if not (scale > 0 and max(sizes) > 0):
        message = f"a {kind} fitted to the mesh {mesh.name} has no size"
        raise ModelError(message, mesh.element.place, "write a positive fitscale")
    return Fitted(tuple(scale * size for size in sizes), placed(centre, mesh.moments.axes))


def _inertia_box(moments: Floats) -> Floats:
    """The half lengths of a box with these moments per unit of mass."""
    squares = 6 * (moments.sum() - 2 * moments)
    return np.asarray(np.sqrt(np.maximum(squares, 0)) / 2)


def _by_inertia_box(kind: str, box: Floats) -> tuple[float, ...] | None:
    """Sizes like those of a box of the same inertia."""
    x, y, z = (float(half) for half in box)
    radius = (x + y) / 2
    match kind:
        case "sphere":
            return ((x + y + z) / 3,)
        case "capsule":
            return radius, max(0.0, z - radius / 2)
        case "cylinder":
            return radius, z
        case "ellipsoid" | "box":
            return x, y, z
    return None


def _around(kind: str, box: Floats) -> tuple[float, ...] | None:
    """Sizes of the smallest that has room for a box along its axes, or the other way round where that is meant."""
    x, y, z = (float(half) for half in box)
    match kind:
        case "sphere":
            return (max(x, y, z),)
        case "capsule":
            return max(x, y), max(0.0, z - max(x, y))
        case "cylinder":
            return max(x, y), z
        case "ellipsoid" | "box":
            return x, y, z
    return None
