"""The shapes of a mechanism that may touch: placed, paired and numbered for compiled loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import TIME, Expression, names
from kinegraph.model.mechanism import Mechanism, Rotation, Shift
from kinegraph.model.poses import pose
from kinegraph.model.robot_data import (
    ContactPair,
    ContactRules,
    Shape,
    ShapeContact,
    ShapeKind,
    ShapeRole,
)
from kinegraph.solve.loops import collision_shapes as kinds
from kinegraph.solve.loops.collision_shapes import MOST_CORNERS, Shapes

_KINDS = {
    ShapeKind.PLANE: kinds.PLANE, ShapeKind.SPHERE: kinds.SPHERE, ShapeKind.CAPSULE: kinds.CAPSULE,
    ShapeKind.BOX: kinds.BOX, ShapeKind.CYLINDER: kinds.CYLINDER, ShapeKind.ELLIPSOID: kinds.ELLIPSOID,
    ShapeKind.MESH: kinds.HULL,
}  # fmt: skip
_DEFAULT = ShapeContact()
_ROWS = (1, 3, 4, 6)

Solid: TypeAlias = tuple[int, Floats, Floats]  # the kind, [axes, origin] in the body's frame, sizes


@dataclass(frozen=True)
class Pair:
    """Two shapes that may touch, by their places among the shapes; friction of sliding, spin and rolling."""

    first: int
    second: int
    friction: tuple[float, float, float]
    dimension: int


@dataclass(frozen=True)
class Scene:
    """The shapes of a mechanism that may touch. bodies: those with shapes, numbered from 1 in `shapes`."""

    shapes: Shapes
    names: tuple[str, ...]
    bodies: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def pair_name(self, pair: int) -> tuple[str, str]:
        """The names of both shapes."""
        return self.names[self.pairs[pair].first], self.names[self.pairs[pair].second]


def scene(
    mechanism: Mechanism,
    values: Mapping[str, Value],
    *,
    ground: float | None = None,
    self_contacts: bool | None = None,
    friction: float | None = None,
) -> Scene:
    """The shapes of a mechanism that may touch, and the pairs of them.

    ground: the height of a horizontal plane to add. self_contacts: whether shapes of moving bodies touch each other;
    None: yes, except for robots of files that do not say how shapes touch. friction: replaces that of the file.
    """
    solids = [one for one in mechanism.extras if isinstance(one, Shape) and one.role is not ShapeRole.VISUAL]
    if ground is not None:
        solids.insert(0, Shape(ShapeKind.PLANE, None, ()))
    rules = next((one for one in mechanism.extras if isinstance(one, ContactRules)), ContactRules())
    if not rules.enabled:
        raise SolveError(f"{mechanism.name}: the file switches contacts off (flag contact): remove the flag")
    if self_contacts is None:
        self_contacts = not mechanism.joints or any(one.contact is not None for one in solids)
    named = _names(solids, ground is not None)
    pairs = tuple(_Pairing(mechanism, solids, rules, self_contacts, friction).pairs())
    return _numbered(solids, named, pairs, values, ground or 0.0)


def _names(solids: Sequence[Shape], ground: bool) -> tuple[str, ...]:
    """A name of each shape: as in the file, or its body, with a number if there are several."""
    found: list[str] = []
    for place, shape in enumerate(solids):
        wanted = (
            (shape.contact or _DEFAULT).name or shape.body or ("ground" if ground and place == 0 else "fixed frame")
        )
        name, count = wanted, 1
        while name in found:
            count += 1
            name = f"{wanted} ({count})"
        found.append(name)
    return tuple(found)


class _Pairing:
    """Which shapes may touch: as in MuJoCo."""

    def __init__(
        self, mechanism: Mechanism, solids: Sequence[Shape], rules: ContactRules, self_contacts: bool,
        friction: float | None,
    ) -> None:  # fmt: skip
        self.solids, self.rules, self.self_contacts, self.friction = solids, rules, self_contacts, friction
        moving = {*mechanism.layout.positions, TIME}
        self.group: dict[str | None, str | None] = {None: None}  # the first body that moves with it
        self.parent: dict[str | None, str | None] = {None: None}  # what carries that body
        for body in mechanism.bodies:
            moves = any(moving & names(one) for transform in body.transforms for one in _expressions(transform))
            base = self.group[body.base]
            self.group[body.name] = body.name if moves else base
            self.parent[body.name] = base if moves else self.parent[base]
        self.excluded = {frozenset(pair) for pair in rules.excluded}

    def pairs(self) -> Iterator[Pair]:
        """All pairs, planes first."""
        stated = {frozenset((pair.first, pair.second)): pair for pair in self.rules.pairs}
        for i, j in combinations(range(len(self.solids)), 2):
            first, second = self.solids[i], self.solids[j]
            if second.kind is ShapeKind.PLANE:
                i, j, first, second = j, i, second, first
            if second.kind is ShapeKind.PLANE:
                continue
            one, other = first.contact or _DEFAULT, second.contact or _DEFAULT
            said = stated.get(frozenset((one.name, other.name))) if one.name and other.name else None
            if said is not None or self._may_collide(first, second):
                yield self._pair(i, j, one, other, said)

    def _may_collide(self, first: Shape, second: Shape) -> bool:
        a, b = self.group[first.body], self.group[second.body]
        one, other = first.contact or _DEFAULT, second.contact or _DEFAULT
        if a == b or not (one.groups & other.touches or other.groups & one.touches):
            return False
        if frozenset((first.body, second.body)) in self.excluded:
            return False
        if a is None or b is None:
            return True
        return self.self_contacts and (self.rules.parents or (self.parent[a] != b and self.parent[b] != a))

    def _pair(self, i: int, j: int, one: ShapeContact, other: ShapeContact, said: ContactPair | None) -> Pair:
        if one.priority != other.priority:
            one = other = one if one.priority > other.priority else other
        sliding, spin, rolling = (max(pair) for pair in zip(one.friction, other.friction, strict=True))
        dimension = max(one.dimension, other.dimension)
        if said is not None:
            sliding, spin, rolling = said.friction or (sliding, spin, rolling)
            dimension = said.dimension or dimension
        return Pair(i, j, (sliding if self.friction is None else self.friction, spin, rolling), dimension)


def _expressions(transform: object) -> tuple[Expression, ...]:
    if isinstance(transform, Rotation):
        return (transform.angle,)
    if isinstance(transform, Shift):
        return (transform.distance,)
    return tuple(transform.components)  # type: ignore[attr-defined]


def _numbered(
    solids: Sequence[Shape], named: tuple[str, ...], pairs: tuple[Pair, ...], values: Mapping[str, Value], ground: float
) -> Scene:
    """Arrays of the shapes that are in pairs."""
    used = sorted({place for pair in pairs for place in (pair.first, pair.second)})
    new = {old: place for place, old in enumerate(used)}
    bodies = list(dict.fromkeys(body for k in used if (body := solids[k].body) is not None))
    hulls = _Hulls()
    table: list[Solid] = [_solid(solids[k], values, hulls, ground) for k in used]
    places = np.array([place for _, place, _ in table]).reshape(-1, 12)
    sizes = np.array([size for _, _, size in table]).reshape(-1, 3)
    bounds = np.array([_bound(*one) for one in table])
    finite = bounds[np.isfinite(bounds)]
    thickness = [hulls.thickness(k) if one[0] == kinds.HULL else _thickness(*one) for k, one in enumerate(table)]
    shapes = Shapes(
        np.array([kind for kind, _, _ in table], dtype=np.int64),
        np.array([0 if solids[k].body is None else 1 + bodies.index(solids[k].body) for k in used], dtype=np.int64),  # type: ignore[arg-type]
        places, sizes, bounds, np.array(thickness), *hulls.arrays(),
        np.array([(new[pair.first], new[pair.second]) for pair in pairs], dtype=np.int64).reshape(-1, 2),
        float(np.median(finite)) if len(finite) else 1.0,
    )  # fmt: skip
    renumbered = tuple(Pair(new[one.first], new[one.second], one.friction, one.dimension) for one in pairs)
    return Scene(shapes, tuple(named[k] for k in used), tuple(bodies), renumbered)


def _solid(shape: Shape, values: Mapping[str, Value], hulls: _Hulls, ground: float) -> Solid:
    """A shape in numbers: half lengths, its frame in the frame of its body."""
    try:
        sizes = [float(number(size, values)) for size in shape.sizes]
        axes, origin = pose(shape.place, values)
    except KeyError as missing:
        raise SolveError(
            f"a shape of {shape.body or 'the fixed frame'} depends on {missing}: give it a number"
        ) from None
    half = np.zeros(3)
    match shape.kind:
        case ShapeKind.SPHERE:
            half[0] = sizes[0]
        case ShapeKind.CAPSULE | ShapeKind.CYLINDER:
            half[:2] = sizes[0], sizes[1] / 2
        case ShapeKind.BOX:
            half[:] = np.array(sizes) / 2
        case ShapeKind.ELLIPSOID:
            half[:] = sizes
        case ShapeKind.PLANE:
            if shape.body is None and not shape.sizes:
                origin = np.array([0.0, 0.0, ground])
        case ShapeKind.MESH:
            origin = origin + axes @ (center := hulls.center(shape, sizes))
            half[0] = hulls.add(center)
    if shape.kind is not ShapeKind.MESH:
        hulls.skip()
    return _KINDS[shape.kind], np.concatenate([axes.reshape(-1), origin]), half


def _bound(kind: int, place: Floats, half: Floats) -> float:
    """The radius of the ball around a shape."""
    if kind == kinds.PLANE:
        return float("inf")
    if kind in (kinds.SPHERE, kinds.HULL):
        return float(half[0])
    if kind == kinds.CAPSULE:
        return float(half[0] + half[1])
    return float(
        np.hypot(half[0], half[1])
        if kind == kinds.CYLINDER
        else np.max(half)
        if kind == kinds.ELLIPSOID
        else np.linalg.norm(half)
    )


def _thickness(kind: int, place: Floats, half: Floats) -> float:
    """The radius of the largest ball around the origin of a shape that is within it."""
    if kind == kinds.PLANE:
        return float("inf")
    if kind in (kinds.SPHERE, kinds.CAPSULE):
        return float(half[0])
    return float(np.min(half[:2] if kind == kinds.CYLINDER else half))


class _Hulls:
    """The convex hulls of meshes: vertices, and faces as polygons."""

    def __init__(self) -> None:
        self.vertices: list[Floats] = []
        self.normals: list[Floats] = []
        self.loops: list[Integers] = []
        self.first_vertex, self.first_face = [0], [0]
        self._known: dict[tuple[str, tuple[float, ...]], tuple[Floats, Floats, list[Integers]]] = {}
        self._latest: tuple[Floats, Floats, list[Integers]] | None = None

    def skip(self) -> None:
        """A shape other than a hull."""
        self.first_vertex.append(self.first_vertex[-1])
        self.first_face.append(self.first_face[-1])

    def center(self, shape: Shape, scale: Sequence[float]) -> Floats:
        """The middle of a mesh, scaled."""
        where = f"the shape of {shape.body or 'the fixed frame'}"
        if shape.file is None:
            what = (
                f"the mesh {shape.reference} of {where} was not found" if shape.reference else f"{where} is a surface"
            )
            raise SolveError(f"{what}: give package_roots, or use shapes with sizes for contacts")
        key = (shape.file, tuple(scale))
        if key not in self._known:
            from kinegraph.io.meshes import read_mesh_file

            self._known[key] = _hull(read_mesh_file(shape.file).corners * np.array(scale or (1.0,) * 3), where)
        self._latest = self._known[key]
        corners = self._latest[0]
        return np.asarray((corners.min(axis=0) + corners.max(axis=0)) / 2)

    def add(self, center: Floats) -> float:
        """Add the hull of the latest mesh around its center; returns its radius."""
        assert self._latest is not None
        corners, normals, loops = self._latest
        start = self.first_vertex[-1]
        self.vertices.append(corners - center)
        self.normals.append(normals)
        self.loops += [loop + start for loop in loops]
        self.first_vertex.append(start + len(corners))
        self.first_face.append(self.first_face[-1] + len(loops))
        return float(np.max(np.linalg.norm(corners - center, axis=1)))

    def thickness(self, shape: int) -> float:
        """The least distance of a hull's faces from its center, at least a little."""
        vertices, faces = np.concatenate(self.vertices), slice(self.first_face[shape], self.first_face[shape + 1])
        normals = np.concatenate(self.normals)[faces]
        least = min(n @ vertices[loop[0]] for n, loop in zip(normals, self.loops[faces], strict=True))
        own = vertices[self.first_vertex[shape] : self.first_vertex[shape + 1]]
        return max(float(least), 1e-3 * float(np.max(np.linalg.norm(own, axis=1))))

    def arrays(self) -> tuple[Floats, Integers, Floats, Integers, Integers, Integers]:
        """Vertices, normals, and corners of faces, with where those of each shape and face begin."""
        first_corner = np.concatenate([[0], np.cumsum([len(loop) for loop in self.loops])]).astype(np.int64)
        return (
            np.ascontiguousarray(np.concatenate(self.vertices)) if self.vertices else np.zeros((0, 3)),
            np.array(self.first_vertex, dtype=np.int64),
            np.ascontiguousarray(np.concatenate(self.normals)) if self.normals else np.zeros((0, 3)),
            np.array(self.first_face, dtype=np.int64),
            first_corner,
            np.concatenate(self.loops).astype(np.int64) if self.loops else np.zeros(0, dtype=np.int64),
        )


def _hull(corners: Floats, where: str) -> tuple[Floats, Floats, list[Integers]]:
    """Vertices of the convex hull, the normals of its faces, and the vertices around each face."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(corners)
    except (QhullError, ValueError):
        raise SolveError(f"{where} is a mesh without volume: use a shape with sizes") from None
    used = hull.vertices
    renumber = np.zeros(len(corners), dtype=np.int64)
    renumber[used] = np.arange(len(used))
    planes: dict[tuple[float, ...], set[int]] = {}
    size = float(np.max(np.ptp(corners, axis=0)))
    for simplex, plane in zip(hull.simplices, hull.equations, strict=True):
        key = (*np.round(plane[:3], 6).tolist(), round(float(plane[3]) / size, 6))
        planes.setdefault(key, set()).update(int(one) for one in simplex)
    normals, loops = [], []
    for key, chosen in planes.items():
        normal = np.array(key[:3]) / np.linalg.norm(key[:3])
        members = np.array(sorted(chosen))
        middle = corners[members].mean(axis=0)
        first = np.linalg.svd(normal[None, :])[2][1]
        arms = corners[members] - middle
        angles = np.arctan2(arms @ np.cross(normal, first), arms @ first)
        loop = renumber[members[np.argsort(angles)]]
        step = -(-len(loop) // (MOST_CORNERS // 2))  # a round face keeps every second corner, or fewer
        normals.append(normal)
        loops.append(loop[::step])
    return np.ascontiguousarray(corners[used]), np.array(normals), loops
