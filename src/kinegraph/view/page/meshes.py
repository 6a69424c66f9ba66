"""Triangle meshes from STL, OBJ and Collada files, made small enough to be embedded in a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinegraph.files import read_regular
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.collada import collada_triangles

Indices = NDArray[np.uint32]

#: A file larger than this is not read, and a mesh of more triangles is made coarser.
LARGEST_FILE = 40_000_000
MOST_TRIANGLES = 20_000


@dataclass(frozen=True)
class Mesh:
    """Corners (n, 3) and triangles (m, 3), counted from zero."""

    corners: Floats
    triangles: Indices


def read_mesh(path: str | Path, most: int = MOST_TRIANGLES) -> Mesh | None:
    """The mesh of a .stl, .obj or .dae file with no more than `most` triangles; None if it cannot be drawn."""
    path = Path(path)
    reader = {".stl": _stl, ".obj": _obj, ".dae": _dae}.get(path.suffix.lower())
    try:
        if reader is None:
            return None
        found = reader(read_regular(path, LARGEST_FILE))
    except (OSError, ValueError, IndexError):  # damaged or not what its name says: the body is drawn without it
        return None
    if (
        not len(found.triangles)
        or not np.all(np.isfinite(found.corners))
        or found.triangles.max() >= len(found.corners)
    ):
        return None
    return coarser(_welded(found), most)


def _stl(data: bytes) -> Mesh:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].reshape(-1, 3).astype(float)
    else:
        words = data.decode("ascii", "replace").split()
        places = [place for place, word in enumerate(words) if word == "vertex"]
        corners = np.array([[float(words[place + k]) for k in (1, 2, 3)] for place in places]).reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners) // 3 * 3, dtype=np.uint32).reshape(-1, 3))


def _dae(data: bytes) -> Mesh:
    corners, triangles = collada_triangles(data)
    return Mesh(corners, triangles.astype(np.uint32))


def _obj(data: bytes) -> Mesh:
    corners: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            corners.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            face = [_obj_index(word, len(corners)) for word in words[1:]]
            triangles += [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
    return Mesh(np.array(corners).reshape(-1, 3), np.array(triangles, dtype=np.uint32).reshape(-1, 3))


def _obj_index(word: str, known: int) -> int:
    """Corners are counted from one, or back from the last if negative."""
    number = int(word.partition("/")[0])
    return number - 1 if number > 0 else known + number


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
