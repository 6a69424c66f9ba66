"""Triangle meshes from robot files, simplified and packed as text for a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.files import read_regular
from kinegraph.io.meshes import LARGEST_FILE, read_mesh_file
from kinegraph.io.robot.xml import parse_xml
from kinegraph.solve.problem import Floats

# Collada (.dae) meshes, read by pycollada where the extra `mesh` is installed.


def collada_triangles(data: bytes) -> tuple[Floats, Floats]:
    """Vertices in meters and triangles of a Collada document; ValueError if it cannot be read.

    Nodes are placed as in the document. Its up axis is ignored, as in the viewers of ROS.
    """
    try:
        import collada
    except ModuleNotFoundError:
        raise ValueError("Collada needs pycollada: pip install 'kinegraph[mesh]'") from None
    try:
        parse_xml(data)  # rejects document types, entities and oversized input
        ignored = [collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
        document = collada.Collada(BytesIO(data), ignore=ignored)
        return _joined(document)
    except (ModelError, collada.common.DaeError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"this is not a Collada mesh: {error}") from None


def _joined(document: object) -> tuple[Floats, Floats]:
    scene, scale = document.scene, float(document.assetInfo.unitmeter or 1.0)  # type: ignore[attr-defined]
    corners: list[Floats] = []
    triangles: list[Floats] = []
    count = 0
    for geometry in scene.objects("geometry") if scene is not None else ():
        for primitive in geometry.primitives():
            faces = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
            if np.shape(faces.vertex_index)[1:] != (3,):
                continue  # lines
            corners.append(np.asarray(faces.vertex, float) * scale)
            triangles.append(np.asarray(faces.vertex_index, float) + count)
            count += len(corners[-1])
    if not triangles:
        raise LookupError("it has no triangles")
    return np.concatenate(corners), np.concatenate(triangles)


# Triangle meshes from files, simplified to be embedded in a page.

Indices = NDArray[np.uint32]

#: A mesh with more triangles is simplified.
MOST_TRIANGLES = 20_000


@dataclass(frozen=True)
class PageMesh:
    """Vertices (n, 3) and triangles (m, 3), counted from zero."""

    corners: Floats
    triangles: Indices


def read_mesh(path: str | Path, most: int = MOST_TRIANGLES) -> PageMesh | None:
    """The mesh of a .stl, .obj, .msh or .dae file with at most `most` triangles; None if it cannot be drawn."""
    try:
        found = _collada(path) if Path(path).suffix.lower() == ".dae" else _triangles(path)
    except (ModelError, OSError, ValueError, IndexError):  # damaged, or not what its name says: drawn without it
        return None
    if (
        not len(found.triangles)
        or not np.all(np.isfinite(found.corners))
        or found.triangles.max() >= len(found.corners)
    ):
        return None
    return coarser(_welded(found), most)


def _triangles(path: str | Path) -> PageMesh:
    found = read_mesh_file(path)
    return PageMesh(found.corners, found.triangles.astype(np.uint32))


def _collada(path: str | Path) -> PageMesh:
    corners, triangles = collada_triangles(read_regular(path, LARGEST_FILE))
    return PageMesh(corners, triangles.astype(np.uint32))


def _welded(mesh: PageMesh, digits: int = 6) -> PageMesh:
    """Merge vertices at the same position."""
    size = max(float(np.ptp(mesh.corners, axis=0).max()), 1e-30)
    return _clustered(mesh, size * 10.0**-digits)


def coarser(mesh: PageMesh, most: int) -> PageMesh:
    """A mesh of at most `most` triangles: vertices in one cell of a grid are merged, with the finest possible grid."""
    size = max(float(np.ptp(mesh.corners, axis=0).max()), 1e-30)
    cells = 256.0
    while len(mesh.triangles) > most and cells > 2:
        mesh = _clustered(mesh, size / cells)
        cells /= 1.25
    return mesh


def _clustered(mesh: PageMesh, cell: float) -> PageMesh:
    keys = np.round(mesh.corners / cell).astype(np.int64)
    _, which, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    corners = np.stack([np.bincount(which, column) / counts for column in mesh.corners.T], axis=1)
    triangles = which[mesh.triangles]
    a, b, c = triangles.T
    retained = triangles[(a != b) & (b != c) & (c != a)]
    return PageMesh(
        corners, np.unique(retained, axis=0).astype(np.uint32) if len(retained) else retained.astype(np.uint32)
    )


# Numbers and names as text that can be embedded in a page.

#: Something to draw, as the page's script reads it: its kind, its frame, and further data of that kind.
Part: TypeAlias = dict[str, object]


def packed(array: NDArray[np.generic]) -> str:
    """An array's bytes as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def json_for_html(data: Mapping[str, object]) -> str:
    """JSON that can be embedded in a <script> element whatever strings it contains."""
    try:
        text = json.dumps(data, allow_nan=False)
    except ValueError:
        remedy = "check for numbers that are too large, and for a division by zero"
        raise ModelError("the drawing has positions that are not finite", remedy=remedy) from None
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
