"""Triangle meshes from files, made small enough to be embedded in a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.files import read_regular
from kinegraph.io.robot.mesh_files import LARGEST_FILE, read_mesh_file
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.geometry.collada import collada_triangles

Indices = NDArray[np.uint32]

#: A mesh of more triangles is made coarser.
MOST_TRIANGLES = 20_000


@dataclass(frozen=True)
class Mesh:
    """Corners (n, 3) and triangles (m, 3), counted from zero."""

    corners: Floats
    triangles: Indices


def read_mesh(path: str | Path, most: int = MOST_TRIANGLES) -> Mesh | None:
    """The mesh of a .stl, .obj, .msh or .dae file with no more than `most` triangles; None if it cannot be drawn."""
    try:
        found = _collada(path) if Path(path).suffix.lower() == ".dae" else _triangles(path)
    except (ModelError, OSError, ValueError, IndexError):  # damaged or not what its name says: drawn without it
        return None
    if (
        not len(found.triangles)
        or not np.all(np.isfinite(found.corners))
        or found.triangles.max() >= len(found.corners)
    ):
        return None
    return coarser(_welded(found), most)


def _triangles(path: str | Path) -> Mesh:
    found = read_mesh_file(path)
    return Mesh(found.corners, found.triangles.astype(np.uint32))


def _collada(path: str | Path) -> Mesh:
    corners, triangles = collada_triangles(read_regular(path, LARGEST_FILE))
    return Mesh(corners, triangles.astype(np.uint32))


def _welded(mesh: Mesh, digits: int = 6) -> Mesh:
    """Corners at the same place become one."""
    size = max(float(np.ptp(mesh.corners, axis=0).max()), 1e-30)
    return _clustered(mesh, size * 10.0**-digits)


def coarser(mesh: Mesh, most: int) -> Mesh:
    """A mesh of no more than `most` triangles: corners in one cell of a grid become one, the grid as fine as can be."""
    size = max(float(np.ptp(mesh.corners, axis=0).max()), 1e-30)
    cells = 256.0
    while len(mesh.triangles) > most and cells > 2:
        mesh = _clustered(mesh, size / cells)
        cells /= 1.25
    return mesh


def _clustered(mesh: Mesh, cell: float) -> Mesh:
    keys = np.round(mesh.corners / cell).astype(np.int64)
    _, which, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    corners = np.stack([np.bincount(which, column) / counts for column in mesh.corners.T], axis=1)
    triangles = which[mesh.triangles]
    a, b, c = triangles.T
    retained = triangles[(a != b) & (b != c) & (c != a)]
    return Mesh(corners, np.unique(retained, axis=0).astype(np.uint32) if len(retained) else retained.astype(np.uint32))
