"""Triangle meshes from STL, OBJ and MuJoCo's MSH files, corners in single precision as all of them are meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.files import read_input
from kinegraph.io.robot.polygons import Cut, triangulated

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: A file larger than this is not read.
LARGEST_FILE = 80_000_000

_EXACT = "the file is damaged, or not what its name says"


@dataclass(frozen=True)
class Mesh:
    """Corners (n, 3) and triangles (m, 3), counted from zero.

    An OBJ file may hold several objects; `first` is how many triangles the first has, `triangles` holds those of all.
    `torn` is how many of its faces were cut into fewer triangles than they consist of.
    """

    corners: Floats
    triangles: Indices
    first: int
    torn: int = 0

    @property
    def first_object(self) -> Indices:
        """The triangles of the first object: all that MuJoCo knows of an OBJ file."""
        return self.triangles[: self.first]


def read_mesh_file(path: str | Path, suffix: str | None = None, cut: Cut = triangulated) -> Mesh:
    """The mesh of a .stl, .obj or .msh file; `suffix` says what the file is where its name does not.

    cut: how faces of an OBJ file that are not triangles are cut into such.
    ModelError if there is no such file, or it is not one of these.
    """
    kind = (suffix or Path(path).suffix).lower()
    if kind not in _READERS:
        remedy = f"save it as one of {', '.join(_READERS)}"
        raise ModelError(f"{path} is a mesh of a format that is not read ({kind or 'no ending'})", remedy=remedy)
    try:
        mesh = _READERS[kind](read_input(path, LARGEST_FILE, "mesh file"), cut)
        _check(mesh)
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelError(f"{path} cannot be read as a mesh: {error}", remedy=_EXACT) from None
    return mesh


def _check(mesh: Mesh) -> None:
    if not np.isfinite(mesh.corners).all():
        raise ValueError("a corner is not finite")
    if mesh.triangles.size and not 0 <= mesh.triangles.min() <= mesh.triangles.max() < len(mesh.corners):
        raise ValueError("a triangle has a corner that does not exist")


def _whole(corners: NDArray[np.float32], triangles: Indices) -> Mesh:
    return Mesh(corners.astype(np.float64), triangles, len(triangles))


def _stl(data: bytes, cut: Cut) -> Mesh:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].reshape(-1, 3)
    else:
        corners = _text_stl(data)
    used, which = _merged(corners)
    return _whole(used, which[: len(which) // 3 * 3].reshape(-1, 3))


def _merged(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], Indices]:
    """The corners in the order in which they first appear, and which of them each is; -0.0 and 0.0 are two numbers."""
    rows = np.ascontiguousarray(corners).view(np.dtype((np.void, 12))).reshape(-1)
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return corners[first[order]], places[which]


def _text_stl(data: bytes) -> NDArray[np.float32]:
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("an STL file has 84 bytes and 50 for each triangle, or begins with the word solid")
    words = data.decode("ascii", "replace").split()
    places = [place for place, word in enumerate(words) if word == "vertex"]
    listed = [[float(words[place + k]) for k in (1, 2, 3)] for place in places]
    return np.array(listed, dtype=np.float32).reshape(-1, 3)


def _msh(data: bytes, cut: Cut) -> Mesh:
    """Four counts (corners, normals, texture coordinates, faces), then these."""
    counts = np.frombuffer(data, "<i4", 4)
    corners, normals, textures, faces = (int(count) for count in counts)
    if min(corners, normals, textures, faces) < 0 or len(data) != 16 + 12 * (corners + normals + faces) + 8 * textures:
        raise ValueError("an MSH file has 16 bytes, 12 for each corner, normal and face, 8 for each texture coordinate")
    found = np.frombuffer(data, "<f4", 3 * corners, 16).reshape(-1, 3)
    at = 16 + 12 * (corners + normals) + 8 * textures
    return _whole(found, np.frombuffer(data, "<i4", 3 * faces, at).reshape(-1, 3).astype(np.int64))


def _obj(data: bytes, cut: Cut) -> Mesh:
    """An object begins at `o` or `g`; a face of more than three corners is cut into triangles."""
    lines = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
    written = [words[1:4] for words in lines if words[:1] == ["v"]]
    if any(len(place) < 3 for place in written):
        raise ValueError("a corner has less than three coordinates")
    corners = np.array(written, dtype=np.float64).reshape(-1, 3).astype(np.float32)
    triangles: list[Sequence[int]] = []
    known, first, torn = 0, 0, 0
    for words in lines:
        match words[:1]:
            case ["v"]:
                known += 1
            case ["o"] | ["g"]:
                first = first or len(triangles)
            case ["f"]:
                face = [_obj_index(word, known) for word in words[1:]]
                found = _face(face, corners, cut)
                torn += len(found) < len(face) - 2
                triangles += found
    listed = np.array(triangles, dtype=np.int64).reshape(-1, 3)
    return Mesh(corners.astype(np.float64), listed, first or len(listed), torn)


def _face(face: list[int], corners: NDArray[np.float32], cut: Cut) -> list[Sequence[int]]:
    if len(face) <= 3:
        return [face] if len(face) == 3 else []
    places = corners[face].astype(np.float64)  # an index that does not exist is an IndexError
    return [[face[corner] for corner in triangle] for triangle in cut(places)]


def _obj_index(word: str, known: int) -> int:
    """Corners are counted from one, or back from the last if negative."""
    try:
        number = int(word.partition("/")[0])
    except ValueError:
        raise ValueError(f"a face has the corner {word[:20]!r}, which is no whole number") from None
    return number - 1 if number > 0 else known + number


_READERS: dict[str, Callable[[bytes, Cut], Mesh]] = {".stl": _stl, ".obj": _obj, ".msh": _msh}
