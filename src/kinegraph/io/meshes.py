"""Meshes: find referenced files, read STL, OBJ and MSH, cut polygons into triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.files import read_input
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element, numbers, vector
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.mechanism import ONE
from kinegraph.model.report import FindingKind

#: Mesh formats that can be drawn; Collada needs an optional library.
DRAWN = (".stl", ".obj", ".msh", ".dae")


@dataclass(frozen=True)
class MeshFinder:
    """Resolves mesh references of a model in `folder`. `package://NAME/...` is searched in `roots`, and in the package
    that contains the model: a parent folder NAME with a package.xml. A relative path starts in `folder`; the file may
    also be below the roots."""

    folder: Path | None
    roots: tuple[Path, ...] = ()

    def file(self, reference: str) -> str | None:
        """The file of a reference; None if it does not exist below the allowed folders."""
        scheme, separator, rest = reference.partition("://")
        if separator and scheme in ("package", "model"):
            return self._in_package(rest)
        if separator and scheme == "file":
            return self.inside(Path(unquote(rest)))
        if separator:
            return None
        return next((found for own in self._own() if (found := self.inside(own / reference))), None)

    def inside(self, path: Path) -> str | None:
        """The path if it is a file below the model's folder or one of the roots; None otherwise."""
        return self._inside(path, (*self._own(), *self.roots))

    def fault(self, reference: str) -> str | None:
        """Why the mesh cannot be drawn; None if it can, or if the model was not read from a file."""
        if self.folder is None:
            return None
        suffix = Path(reference).suffix.lower()
        if suffix == ".dae" and find_spec("collada") is None:
            return "Collada needs the extra mesh: pip install 'kinegraph[mesh]'"
        if suffix not in DRAWN:
            return f"only {', '.join(DRAWN)} can be drawn"
        if self.file(reference) is not None:
            return None
        where = "; give the folder of packages as --package-root" if reference.startswith("package:") else ""
        return f"not found{where}"

    def _own(self) -> tuple[Path, ...]:
        return () if self.folder is None else (self.folder,)

    def _in_package(self, rest: str) -> str | None:
        package, _, inner = rest.partition("/")
        for root in (*self.roots, *self._around(package)):
            below = root / inner if root.name == package else root / package / inner
            if found := self._inside(below, (root,)):
                return found
        return None

    def _around(self, package: str) -> tuple[Path, ...]:
        if self.folder is None:
            return ()
        own = self.folder.resolve()
        return tuple(one for one in (own, *own.parents) if one.name == package and (one / "package.xml").is_file())

    @staticmethod
    def _inside(path: Path, folders: tuple[Path, ...]) -> str | None:
        """The path if it is a file inside one of the folders, links and `..` followed; None otherwise."""
        try:
            real = path.resolve()
            if real.is_file() and any(real.is_relative_to(folder.resolve()) for folder in folders):
                return str(real)
        except (OSError, ValueError, RuntimeError):  # an invalid file name, or a link to itself
            return None
        return None


def mesh_scale(element: Element, findings: Findings) -> tuple[Expression, Expression, Expression]:
    """The scale of a drawn mesh. Some files have a meaningless fourth number."""
    found = numbers(element, "scale")
    if found is not None and len(found) == 4:
        message = "scale of a mesh has four numbers; the first three are used"
        findings.count(FindingKind.ASSUMED, "mesh scales", message, element.place)
        found = found[:3]
    elif found is not None:
        found = vector(element, "scale", 3)
    x, y, z = (Number(item.value) for item in found) if found else (ONE, ONE, ONE)
    return x, y, z


# Triangulation of polygons: properly for drawings, and as in MuJoCo for masses. The two differ for nonplanar polygons,
# and MuJoCo's rule fails for some nonconvex polygons.

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Triangle = tuple[int, int, int]

#: A triangulation of a polygon of more than three vertices (n, 3), by the indices of its vertices.
Cut: TypeAlias = Callable[[Floats], list[Triangle]]

#: A polygon of more vertices is cut into a fan from its first vertex.
_MOST_CORNERS = 200


def triangulated(corners: Floats) -> list[Triangle]:
    """The triangles of a polygon, by the indices of its vertices (n, 3); a quadrilateral by its shorter diagonal."""
    if len(corners) == 4:
        first, second = corners[2] - corners[0], corners[3] - corners[1]
        return [(0, 1, 2), (0, 2, 3)] if first @ first < second @ second else [(0, 1, 3), (1, 2, 3)]
    if len(corners) > _MOST_CORNERS:
        return [(0, corner, corner + 1) for corner in range(1, len(corners) - 1)]
    return _ears_cut(_flattened(corners))


def _flattened(corners: Floats) -> Floats:
    """The vertices projected along the polygon's normal (Newell), in counterclockwise order."""
    following = np.roll(corners, -1, axis=0)
    less, more = corners - following, corners + following
    normal = [float(less[:, (i + 1) % 3] @ more[:, (i + 2) % 3]) for i in range(3)]
    along = int(np.argmax(np.abs(normal)))
    seen = corners[:, [(along + 1) % 3, (along + 2) % 3]]
    return seen if normal[along] > 0 else seen[:, ::-1]


def _ears_cut(corners: Floats) -> list[Triangle]:
    """Ear clipping: cut off vertices whose triangle contains no other vertex, until a triangle remains."""
    left = list(range(len(corners)))
    found: list[Triangle] = []
    while len(left) > 3:
        place = next((place for place in range(len(left)) if _is_ear(corners, left, place)), 0)
        before, here, after = left[place - 1], left[place], left[(place + 1) % len(left)]
        found.append((before, here, after))
        left.pop(place)
    return [*found, (left[0], left[1], left[2])]


def _is_ear(corners: Floats, left: list[int], place: int) -> bool:
    a, b, c = (corners[left[(place + step) % len(left)]] for step in (-1, 0, 1))
    if _turn(a, b, c) <= 0:
        return False
    others = [left[(place + step) % len(left)] for step in range(2, len(left) - 1)]
    return not any(_inside(corners[other], a, b, c) for other in others)


def _inside(point: Floats, a: Floats, b: Floats, c: Floats) -> bool:
    return _turn(a, b, point) >= 0 and _turn(b, c, point) >= 0 and _turn(c, a, point) >= 0


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    """Twice the area of a triangle; positive if it is counterclockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


# MuJoCo's rule

#: The maximum number of vertices tried for a polygon, about ten seconds of work.
_MOST_TRIED = 200_000


def cut_as_mujoco(corners: Floats) -> list[Triangle]:
    """The triangles of a polygon in MuJoCo's reader of OBJ files (tinyobjloader), in single precision.

    If there are fewer than n - 2 triangles, the reader dropped the rest of the polygon.
    """
    places = corners.astype(np.float32)
    if len(places) == 4:
        return _quadrilateral(places)
    return _CutFromStart(places[:, _two_axes(places)]).triangles()


def _quadrilateral(corners: Singles) -> list[Triangle]:
    """Cut by the shorter diagonal; sums are in the order x, y, z."""
    first, second = corners[2] - corners[0], corners[3] - corners[1]
    squares = [one[0] * one[0] + one[1] * one[1] + one[2] * one[2] for one in (first, second)]
    return [(0, 1, 2), (0, 2, 3)] if squares[0] < squares[1] else [(0, 1, 3), (1, 2, 3)]


def _two_axes(corners: Singles) -> list[int]:
    """The coordinate plane of the projection: that of the largest normal component at the first real corner."""
    edges = np.roll(corners, -1, axis=0) - corners
    across = np.abs(np.cross(edges, np.roll(edges, -1, axis=0)))
    sharp = np.flatnonzero((across > np.finfo(np.float32).eps).any(axis=1))
    if not len(sharp):
        return [1, 2]
    x, y, z = across[sharp[0]]
    if x > y and x > z:
        return [1, 2]
    return [0, 1] if z > x and z > y else [0, 2]


class _CutFromStart:
    """Vertices are tried in order, starting where the last one was cut off.

    It ends if all remaining vertices fail, or if only the last vertex is cut off in the first round.
    """

    def __init__(self, corners: Singles) -> None:
        self.x, self.y = corners[:, 0], corners[:, 1]
        self.left = np.arange(len(corners))

    def triangles(self) -> list[Triangle]:
        """All triangles that are cut off, and the last remaining one."""
        found: list[Triangle] = []
        at, more, tried, cut = 0, len(self.left), 0, False
        while len(self.left) > 3 and more > 0:
            tried, more = tried + 1, len(self.left) if cut else more - 1
            if tried > _MOST_TRIED:
                raise ValueError(f"the triangulation of a face of {len(self.x)} vertices takes too long")
            at %= len(self.left)
            ahead = np.roll(self.left, -at)
            cut = self._is_cut_off(ahead)
            if cut:
                found.append((int(ahead[0]), int(ahead[1]), int(ahead[2])))
                self.left = np.delete(self.left, (at + 1) % len(self.left))
            else:
                at += 1
        a, b, c, *rest = map(int, self.left)
        return found if rest else [*found, (a, b, c)]

    def _is_cut_off(self, ahead: NDArray[np.int64]) -> bool:
        """Whether the first three vertices are a triangle without another vertex inside.

        Its orientation is compared with that of its first side about the origin, not with the polygon's; this is why
        the rule fails for nonconvex polygons.
        """
        x, y = self.x[ahead], self.y[ahead]
        turn = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1])
        about_origin = (x[0] * y[1] - y[0] * x[1]) * np.float32(0.5)
        if turn * about_origin < 0:
            return False
        inside = np.zeros(len(ahead) - 3, dtype=bool)
        for here, before in ((0, 2), (1, 0), (2, 1)):
            inside ^= _right_of_edge(x[here], y[here], x[before], y[before], x[3:], y[3:])
        return not bool(inside.any())


def _right_of_edge(
    x: np.float32, y: np.float32, x_before: np.float32, y_before: np.float32, px: Singles, py: Singles
) -> NDArray[np.bool_]:
    """Which points have the edge on their right; an odd number of edges means inside."""
    crosses = (y > py) != (y_before > py)
    if y == y_before:
        return np.zeros(len(px), dtype=bool)  # a horizontal edge is never crossed
    return np.asarray(crosses & (px < (x_before - x) * (py - y) / (y_before - y) + x))


# STL, OBJ and MuJoCo's MSH files; vertices are in single precision

Indices = NDArray[np.int64]

#: Maximum file size in bytes.
LARGEST_FILE = 80_000_000

_EXACT = "the file is damaged, or its extension is wrong"


@dataclass(frozen=True)
class Mesh:
    """Vertices (n, 3) and triangles (m, 3), with indices from zero.

    An OBJ file may contain several objects; `first` is the number of triangles of the first object. `torn` is the
    number of faces that were not triangulated completely.
    """

    corners: Floats
    triangles: Indices
    first: int
    torn: int = 0

    @property
    def first_object(self) -> Indices:
        """The triangles of the first object, the only one that MuJoCo reads from an OBJ file."""
        return self.triangles[: self.first]


def read_mesh_file(path: str | Path, suffix: str | None = None, cut: Cut = triangulated) -> Mesh:
    """The mesh of a .stl, .obj or .msh file; `suffix` replaces that of the file name.

    cut: the triangulation of faces of an OBJ file. Raises a ModelError if the file cannot be read.
    """
    kind = (suffix or Path(path).suffix).lower()
    if kind not in _READERS:
        remedy = f"save it as one of {', '.join(_READERS)}"
        raise ModelError(f"the mesh format {kind or '(no extension)'} of {path} is not supported", remedy=remedy)
    try:
        mesh = _READERS[kind](read_input(path, LARGEST_FILE, "mesh file"), cut)
        _check(mesh)
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelError(f"{path} cannot be read as a mesh: {error}", remedy=_EXACT) from None
    return mesh


def _check(mesh: Mesh) -> None:
    if not np.isfinite(mesh.corners).all():
        raise ValueError("a vertex is not finite")
    if mesh.triangles.size and not 0 <= mesh.triangles.min() <= mesh.triangles.max() < len(mesh.corners):
        raise ValueError("a triangle has a vertex index that does not exist")


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
    """The distinct vertices in the order of their first use, and the index of each; -0.0 and 0.0 are distinct."""
    rows = np.ascontiguousarray(corners).view(np.dtype((np.void, 12))).reshape(-1)
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return corners[first[order]], places[which]


def _text_stl(data: bytes) -> NDArray[np.float32]:
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("an STL file has 84 bytes and 50 per triangle, or begins with the word solid")
    words = data.decode("ascii", "replace").split()
    places = [place for place, word in enumerate(words) if word == "vertex"]
    listed = [[float(words[place + k]) for k in (1, 2, 3)] for place in places]
    return np.array(listed, dtype=np.float32).reshape(-1, 3)


def _msh(data: bytes, cut: Cut) -> Mesh:
    """Four counts (vertices, normals, texture coordinates, faces), followed by the data."""
    counts = np.frombuffer(data, "<i4", 4)
    corners, normals, textures, faces = (int(count) for count in counts)
    if min(corners, normals, textures, faces) < 0 or len(data) != 16 + 12 * (corners + normals + faces) + 8 * textures:
        raise ValueError("an MSH file has 16 bytes, 12 per vertex, normal and face, 8 per texture coordinate")
    found = np.frombuffer(data, "<f4", 3 * corners, 16).reshape(-1, 3)
    at = 16 + 12 * (corners + normals) + 8 * textures
    return _whole(found, np.frombuffer(data, "<i4", 3 * faces, at).reshape(-1, 3).astype(np.int64))


def _obj(data: bytes, cut: Cut) -> Mesh:
    """An object begins at `o` or `g`; a face of more than three vertices is cut into triangles."""
    lines = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
    written = [words[1:4] for words in lines if words[:1] == ["v"]]
    if any(len(place) < 3 for place in written):
        raise ValueError("a vertex has less than three coordinates")
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
    places = corners[face].astype(np.float64)  # an invalid index is an IndexError
    return [[face[corner] for corner in triangle] for triangle in cut(places)]


def _obj_index(word: str, known: int) -> int:
    """Indices count from one, or backwards from the last vertex if negative."""
    try:
        number = int(word.partition("/")[0])
    except ValueError:
        raise ValueError(f"a face has the vertex index {word[:20]!r}, which is not an integer") from None
    return number - 1 if number > 0 else known + number


_READERS: dict[str, Callable[[bytes, Cut], Mesh]] = {".stl": _stl, ".obj": _obj, ".msh": _msh}
