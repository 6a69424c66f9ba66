"""Triangle meshes from files, made small enough to be embedded in a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.io.robot.mesh_files import read_mesh_file
from kinegraph.solve.problem.problem import Floats

Indices = NDArray[np.uint32]

#: A mesh of more triangles is made coarser.
MOST_TRIANGLES = 20_000


@dataclass(frozen=True)
class Mesh:
    """Corners (n, 3) and triangles (m, 3), counted from zero."""

    corners: Floats
    triangles: Indices


def read_mesh(path: str | Path, most: int = MOST_TRIANGLES) -> Mesh | None:
    """The mesh of a file with no more than `most` triangles; None if the file cannot be drawn."""
    try:
        found = read_mesh_file(path)
    except ModelError:  # damaged or of another format: the body is drawn without it
        return None
    if not len(found.triangles):
        return None
    return coarser(_welded(Mesh(found.corners, found.triangles.astype(np.uint32))), most)


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
    kept = triangles[(a != b) & (b != c) & (c != a)]
    return Mesh(corners, np.unique(kept, axis=0).astype(np.uint32) if len(kept) else kept.astype(np.uint32))
