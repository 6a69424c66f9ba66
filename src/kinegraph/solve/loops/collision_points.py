"""Where shapes touch: the points of a pair, with normals and gaps."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.collision_distances import DistanceMemory, core_normal, length, separation
from kinegraph.solve.loops.collision_shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    HULL,
    PLANE,
    SPHERE,
    Shapes,
    Vector,
    along,
    axis,
    cross,
    dot,
    farthest,
    feature,
    minus,
    negative,
    origin,
    out_of,
    place_shapes,
    put,
    radius,
    unit,
)

#: Most points of a pair.
MOST_PER_PAIR = 8
_SIDES = 1e-9
_DOUBLE = 1e-3  # of the typical length: corners closer than this are one
_ON_EDGE = 1e-9  # of the typical length: a corner this far outside of a face is on its edge
_PARALLEL = 1e-3  # segments within this sine touch at both ends


class CollisionPoints(NamedTuple):
    """Points where pairs touch: total[0] of them; the pair of each.

    points: midway between the surfaces. normals: from the first shape of the pair to the second. gaps: negative where
    they overlap.
    """

    total: Integers
    pairs: Integers
    points: Floats
    normals: Floats
    gaps: Floats


class CollisionMemory(NamedTuple):
    """Memory of the search: frames of shapes, three polygons, their heights, and that of distances."""

    frames: Floats
    first: Floats
    second: Floats
    other: Floats
    heights: Floats
    distances: DistanceMemory


@part
def append_point(touches: CollisionPoints, pair: int, point: Vector, normal: Vector, gap: float) -> bool:
    """Add a point; False if there is no room."""
    k = touches.total[0]
    if k >= len(touches.gaps):
        return False
    touches.pairs[k], touches.gaps[k] = pair, gap
    put(touches.points, k, point)
    put(touches.normals, k, normal)
    touches.total[0] = k + 1
    return True


@loop
def nearest_points(
    shapes: Shapes, memory: CollisionMemory, poses: Floats, touches: CollisionPoints, within: float
) -> int:
    """All points whose gap is below a distance, at these poses of bodies; 0 if there is no room for them."""
    place_shapes(shapes, poses, memory.frames)
    return 1 if find_collisions(shapes, memory, within, touches) else 0


@part
def find_collisions(shapes: Shapes, memory: CollisionMemory, margin: float, touches: CollisionPoints) -> bool:
    """All points whose gap is below the margin; False if there is no room for them."""
    touches.total[0] = 0
    for pair in range(len(shapes.pairs)):
        a, b = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
        if near(shapes, memory.frames, a, b, margin) and not collide_pair(shapes, memory, pair, a, b, margin, touches):
            return False
    return True


@part
def near(shapes: Shapes, frames: Floats, a: int, b: int, margin: float) -> bool:
    """Whether the balls around two shapes are within the margin. The first of a pair may be a plane."""
    between = minus(origin(frames[b]), origin(frames[a]))
    if shapes.kinds[a] == PLANE:
        return bool(dot(axis(frames[a], 2), between) <= shapes.bounds[b] + margin)
    reach = shapes.bounds[a] + shapes.bounds[b] + margin
    return bool(dot(between, between) <= reach * reach)


@part
def collide_pair(
    shapes: Shapes, memory: CollisionMemory, pair: int, a: int, b: int, margin: float, touches: CollisionPoints
) -> bool:
    """The points of one pair."""
    if shapes.kinds[a] == PLANE:
        return collide_with_plane(shapes, memory, pair, a, b, margin, touches)
    if shapes.kinds[a] in (SPHERE, CAPSULE) and shapes.kinds[b] in (SPHERE, CAPSULE):
        return collide_round(shapes, memory, pair, a, b, margin, touches)
    return collide_convex(shapes, memory, pair, a, b, margin, touches)


# ---- Planes


@part
def collide_with_plane(
    shapes: Shapes, memory: CollisionMemory, pair: int, a: int, b: int, margin: float, touches: CollisionPoints
) -> bool:
    """A plane and the corners of what faces it."""
    plane, frame, kind = memory.frames[a], memory.frames[b], shapes.kinds[b]
    n = axis(plane, 2)
    if kind == CYLINDER:
        return collide_cylinder_with_plane(shapes, memory, pair, a, b, margin, touches)
    if kind == CAPSULE:
        count, size = 2, shapes.sizes[b]
        put(memory.second, 0, out_of(frame, 0.0, 0.0, -size[1]))
        put(memory.second, 1, out_of(frame, 0.0, 0.0, size[1]))
    elif kind == HULL:
        count = low_corners(shapes, memory, plane, b, margin)
    elif kind == BOX:
        count = box_corners(shapes, memory, b)
    else:
        count = 1
        put(memory.second, 0, farthest(shapes, frame, b, negative(n)))
    return corners_on_plane(memory, pair, plane, radius(shapes, b), count, margin, touches)


@part
def corners_on_plane(
    memory: CollisionMemory,
    pair: int,
    plane: Floats,
    thickness: float,
    count: int,
    margin: float,
    touches: CollisionPoints,
) -> bool:
    """Those of the corners that are within the margin of a plane."""
    n, o = axis(plane, 2), origin(plane)
    for k in range(count):
        corner = (memory.second[k, 0], memory.second[k, 1], memory.second[k, 2])
        gap = dot(n, minus(corner, o)) - thickness
        if gap <= margin and not append_point(touches, pair, along(corner, -thickness - 0.5 * gap, n), n, gap):
            return False
    return True


@part
def box_corners(shapes: Shapes, memory: CollisionMemory, b: int) -> int:
    """All corners of a box."""
    size, frame = shapes.sizes[b], memory.frames[b]
    for k in range(8):
        x, y = size[0] if k & 1 else -size[0], size[1] if k & 2 else -size[1]
        put(memory.second, k, out_of(frame, x, y, size[2] if k & 4 else -size[2]))
    return 8


@part
def collide_cylinder_with_plane(
    shapes: Shapes, memory: CollisionMemory, pair: int, a: int, b: int, margin: float, touches: CollisionPoints
) -> bool:
    """A plane and a cylinder: on both rims the nearest point; on the nearer rim three more."""
    plane, frame, size = memory.frames[a], memory.frames[b], shapes.sizes[b]
    n, z = axis(plane, 2), axis(frame, 2)
    flat = along(n, -dot(n, z), z)
    level = length(flat)
    radial = unit(flat) if level > 1e-12 else axis(frame, 0)
    side = cross(z, radial)
    near_end = -1.0 if dot(n, z) >= 0.0 else 1.0
    corners = memory.second
    low = along(origin(frame), near_end * size[1], z)
    put(corners, 0, along(low, -size[0], radial))
    put(corners, 1, along(along(origin(frame), -near_end * size[1], z), -size[0], radial))
    put(corners, 2, along(along(low, 0.5 * size[0], radial), 0.8660254037844386 * size[0], side))
    put(corners, 3, along(along(low, 0.5 * size[0], radial), -0.8660254037844386 * size[0], side))
    return corners_on_plane(memory, pair, plane, 0.0, 4, margin, touches)


@part
def low_corners(shapes: Shapes, memory: CollisionMemory, plane: Floats, b: int, margin: float) -> int:
    """The vertices of a hull within the margin of a plane, at most MOST_PER_PAIR: the lowest, then the most distant."""
    n, o, frame, count = axis(plane, 2), origin(plane), memory.frames[b], 0
    for k in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        v = shapes.vertices[k]
        corner = out_of(frame, v[0], v[1], v[2])
        gap = dot(n, minus(corner, o))
        if gap <= margin and count < len(memory.heights):
            put(memory.second, count, corner)
            memory.heights[count] = gap
            count += 1
    return spread_out(memory.second, memory.heights, count, n)


@part
def spread_out(polygon: Floats, heights: Floats, count: int, n: Vector) -> int:
    """At most MOST_PER_PAIR corners, moved to the front: the lowest one, then always the one farthest from those."""
    if count <= MOST_PER_PAIR:
        return count
    best = 0
    for k in range(1, count):
        if heights[k] < heights[best]:
            best = k
    exchange(polygon, heights, 0, best)
    for taken in range(1, MOST_PER_PAIR):
        most, best = -1.0, taken
        for k in range(taken, count):
            nearest = 1e300
            for j in range(taken):
                step = minus(
                    (polygon[k, 0], polygon[k, 1], polygon[k, 2]), (polygon[j, 0], polygon[j, 1], polygon[j, 2])
                )
                step = along(step, -dot(step, n), n)
                nearest = min(nearest, dot(step, step))
            if nearest > most:
                most, best = nearest, k
        exchange(polygon, heights, taken, best)
    return MOST_PER_PAIR


@part
def exchange(polygon: Floats, heights: Floats, i: int, j: int) -> None:
    """Exchange two corners."""
    for d in range(3):
        polygon[i, d], polygon[j, d] = polygon[j, d], polygon[i, d]
    heights[i], heights[j] = heights[j], heights[i]


# ---- Spheres and capsules


@part
def collide_round(
    shapes: Shapes, memory: CollisionMemory, pair: int, a: int, b: int, margin: float, touches: CollisionPoints
) -> bool:
    """Spheres and capsules: the nearest points of their segments; both ends where the segments are parallel."""
    p, q = origin(memory.frames[a]), origin(memory.frames[b])
    u, v = axis(memory.frames[a], 2), axis(memory.frames[b], 2)
    la = shapes.sizes[a, 1] if shapes.kinds[a] == CAPSULE else 0.0
    lb = shapes.sizes[b, 1] if shapes.kinds[b] == CAPSULE else 0.0
    ra, rb, between = radius(shapes, a), radius(shapes, b), minus(q, p)
    turn = cross(u, v)
    if la > 0.0 and lb > 0.0 and dot(turn, turn) <= _PARALLEL * _PARALLEL:
        sign = 1.0 if dot(u, v) >= 0.0 else -1.0
        middle = dot(between, u)
        low, high = max(-la, middle - lb), min(la, middle + lb)
        if high - low > _SIDES * la:
            x, y = clamped(sign * (low - middle), lb), clamped(sign * (high - middle), lb)
            return collide_spheres(pair, along(p, low, u), along(q, x, v), ra, rb, margin, touches) and collide_spheres(
                pair, along(p, high, u), along(q, y, v), ra, rb, margin, touches
            )
    s, t = nearest_on_segments(between, u, v, la, lb)
    return collide_spheres(pair, along(p, s, u), along(q, t, v), ra, rb, margin, touches)


@part
def collide_spheres(
    pair: int, p: Vector, q: Vector, ra: float, rb: float, margin: float, touches: CollisionPoints
) -> bool:
    """Two spheres."""
    between = minus(q, p)
    distance = length(between)
    gap = distance - ra - rb
    if gap > margin:
        return True
    n = unit(between)
    return append_point(touches, pair, along(p, ra + 0.5 * gap, n), n, gap)


@part
def clamped(value: float, limit: float) -> float:
    """Between -limit and limit."""
    return min(max(value, -limit), limit)


@part
def nearest_on_segments(between: Vector, u: Vector, v: Vector, la: float, lb: float) -> tuple[float, float]:
    """Places s along u and t along v of the nearest points of two segments around their centers."""
    uv, du, dv = dot(u, v), dot(between, u), dot(between, v)
    square = 1.0 - uv * uv
    s = clamped((du - uv * dv) / square, la) if square > 1e-12 else clamped(du, la)
    t = clamped(uv * s - dv, lb)
    s = clamped(uv * t + du, la)
    return s, clamped(uv * s - dv, lb)


# ---- All other shapes


@part
def collide_convex(
    shapes: Shapes, memory: CollisionMemory, pair: int, a: int, b: int, margin: float, touches: CollisionPoints
) -> bool:
    """Any two convex shapes: the direction of their distance or least overlap, and the faces that meet along it."""
    thickness = radius(shapes, a) + radius(shapes, b)
    n = core_normal(shapes, memory.frames, a, b, memory.distances)
    gap = separation(shapes, memory.frames, a, b, n)
    if gap - thickness > margin:
        return True
    count = meeting_corners(shapes, memory, a, b, n)
    deepest = 1e300
    remaining = 0
    for k in range(count):
        deepest = min(deepest, memory.heights[k])
        if memory.heights[k] - thickness <= margin and not is_double(memory, remaining, k, _DOUBLE * shapes.scale):
            for d in range(3):
                memory.second[remaining, d] = memory.second[k, d]
            memory.heights[remaining] = memory.heights[k]
            remaining += 1
    if remaining == 0 or deepest > gap + 0.01 * abs(gap) + 1e-6 * shapes.scale:
        put(memory.second, remaining, nearest_point(shapes, memory, a, b, n))
        memory.heights[remaining] = gap
        remaining += 1
    remaining = spread_out(memory.second, memory.heights, remaining, n)
    for k in range(remaining):
        # corners are on the core of b; the surface of b is its radius nearer
        height = memory.heights[k]
        corner = (memory.second[k, 0], memory.second[k, 1], memory.second[k, 2])
        middle = along(corner, -radius(shapes, b) - 0.5 * (height - thickness), n)
        if not append_point(touches, pair, middle, n, height - thickness):
            return False
    return True


@part
def is_double(memory: CollisionMemory, remaining: int, k: int, least: float) -> bool:
    """Whether a corner is as good as one of the first ones; the lower height stays."""
    for j in range(remaining):
        square = 0.0
        for d in range(3):
            square += (memory.second[k, d] - memory.second[j, d]) ** 2
        if square <= least * least:
            if memory.heights[k] < memory.heights[j]:
                memory.heights[j] = memory.heights[k]
                for d in range(3):
                    memory.second[j, d] = memory.second[k, d]
            return True
    return False


@part
def nearest_point(shapes: Shapes, memory: CollisionMemory, a: int, b: int, n: Vector) -> Vector:
    """A point of the core of b that is nearest to a along n."""
    first = feature(shapes, memory.frames[a], a, n, memory.first)
    if first == 1:
        point = (memory.first[0, 0], memory.first[0, 1], memory.first[0, 2])
        gap = separation(shapes, memory.frames, a, b, n)
        return along(point, gap, n)
    return farthest(shapes, memory.frames[b], b, negative(n))


@part
def meeting_corners(shapes: Shapes, memory: CollisionMemory, a: int, b: int, n: Vector) -> int:
    """Corners, on the core of b, of the area where the faces of both meet along n; their heights above a's face."""
    first = feature(shapes, memory.frames[a], a, n, memory.first)
    second = feature(shapes, memory.frames[b], b, negative(n), memory.second)
    if first >= 3 and second >= 2:
        count = clip(memory, memory.first, first, second, n, _ON_EDGE * shapes.scale)
        return heights_above(memory, first, count, n, False)
    if first == 2 and second >= 3:
        swap(memory, first, second)
        count = clip(memory, memory.first, second, first, n, _ON_EDGE * shapes.scale)
        return heights_above(memory, second, count, n, True)
    if first >= 3 or second >= 3:
        return corner_on_face(memory, first, second, n)
    if first == 2 and second == 2:
        return edges_meet(memory, n)
    return 0


@part
def swap(memory: CollisionMemory, first: int, second: int) -> None:
    """Exchange the two polygons."""
    for k in range(max(first, second)):
        for d in range(3):
            memory.first[k, d], memory.second[k, d] = memory.second[k, d], memory.first[k, d]


@part
def face_normal(polygon: Floats, count: int) -> Vector:
    """The unit normal of a flat polygon, from its largest part."""
    total = (0.0, 0.0, 0.0)
    o = (polygon[0, 0], polygon[0, 1], polygon[0, 2])
    for k in range(1, count - 1):
        a = minus((polygon[k, 0], polygon[k, 1], polygon[k, 2]), o)
        b = minus((polygon[k + 1, 0], polygon[k + 1, 1], polygon[k + 1, 2]), o)
        total = along(total, 1.0, cross(a, b))
    return unit(total)


@part
def clip(memory: CollisionMemory, face: Floats, sides: int, count: int, n: Vector, slack: float) -> int:
    """Keep the part of the polygon `second` that is within a face, seen along n (Sutherland and Hodgman)."""
    turn = 1.0 if dot(face_normal(face, sides), n) >= 0.0 else -1.0
    if count == 2:
        return clip_edge(memory, face, sides, n, turn)
    for k in range(sides):
        p = (face[k, 0], face[k, 1], face[k, 2])
        following = (k + 1) % sides
        edge = minus((face[following, 0], face[following, 1], face[following, 2]), p)
        inward = unit(cross((turn * n[0], turn * n[1], turn * n[2]), edge))
        count = cut(memory, count, p, inward, slack)
        if count == 0:
            return 0
    return count


@part
def cut(memory: CollisionMemory, count: int, p: Vector, inward: Vector, slack: float) -> int:
    """Keep what is inside of one side. Corners on the side stay, so edges that coincide have no other points."""
    remaining, source, target = 0, memory.second, memory.other
    for k in range(count):
        following = (k + 1) % count
        a = (source[k, 0], source[k, 1], source[k, 2])
        b = (source[following, 0], source[following, 1], source[following, 2])
        da, db = dot(minus(a, p), inward), dot(minus(b, p), inward)
        if da >= -slack:
            put(target, remaining, a)
            remaining += 1
        if (da >= -slack) != (db >= -slack):
            part_of = min(max(da / (da - db), 0.0), 1.0)
            put(target, remaining, along(a, part_of, minus(b, a)))
            remaining += 1
    for k in range(remaining):
        for d in range(3):
            source[k, d] = target[k, d]
    return remaining


@part
def clip_edge(memory: CollisionMemory, face: Floats, sides: int, n: Vector, turn: float) -> int:
    """Keep the part of an edge that is within a face."""
    a = (memory.second[0, 0], memory.second[0, 1], memory.second[0, 2])
    b = (memory.second[1, 0], memory.second[1, 1], memory.second[1, 2])
    low, high = 0.0, 1.0
    for k in range(sides):
        p = (face[k, 0], face[k, 1], face[k, 2])
        following = (k + 1) % sides
        edge = minus((face[following, 0], face[following, 1], face[following, 2]), p)
        inward = unit(cross((turn * n[0], turn * n[1], turn * n[2]), edge))
        da, db = dot(minus(a, p), inward), dot(minus(b, p), inward)
        if da < 0.0 and db < 0.0:
            return 0
        if da < 0.0:
            low = max(low, da / (da - db))
        elif db < 0.0:
            high = min(high, da / (da - db))
    if low > high:
        return 0
    put(memory.second, 0, along(a, low, minus(b, a)))
    put(memory.second, 1, along(a, high, minus(b, a)))
    return 2 if high - low > _SIDES else 1


@part
def heights_above(memory: CollisionMemory, sides: int, count: int, n: Vector, of_other: bool) -> int:
    """How far corners are from the plane of the face along n; of_other: the face is b's and the corners are a's.

    Corners of a are replaced by the points of b's face above them.
    """
    normal = face_normal(memory.first, sides)
    o = (memory.first[0, 0], memory.first[0, 1], memory.first[0, 2])
    slope = dot(normal, n)
    if abs(slope) < 1e-6:
        return 0
    for k in range(count):
        corner = (memory.second[k, 0], memory.second[k, 1], memory.second[k, 2])
        height = dot(minus(corner, o), normal) / slope
        if of_other:
            memory.heights[k] = -height
            put(memory.second, k, along(corner, -height, n))
        else:
            memory.heights[k] = height
    return count


@part
def corner_on_face(memory: CollisionMemory, first: int, second: int, n: Vector) -> int:
    """A single corner and a face: the corner is the point, if the face is below it."""
    if first >= 3:
        return heights_above(memory, first, 1, n, False) if within(memory, memory.first, first, n) else 0
    swap(memory, first, second)
    return heights_above(memory, second, 1, n, True) if within(memory, memory.first, second, n) else 0


@part
def within(memory: CollisionMemory, face: Floats, sides: int, n: Vector) -> bool:
    """Whether the corner is within a face, seen along n."""
    turn = 1.0 if dot(face_normal(face, sides), n) >= 0.0 else -1.0
    corner = (memory.second[0, 0], memory.second[0, 1], memory.second[0, 2])
    for k in range(sides):
        p = (face[k, 0], face[k, 1], face[k, 2])
        following = (k + 1) % sides
        edge = minus((face[following, 0], face[following, 1], face[following, 2]), p)
        inward = cross((turn * n[0], turn * n[1], turn * n[2]), edge)
        if dot(minus(corner, p), inward) < -_SIDES * sqrt(dot(inward, inward)):
            return False
    return True


@part
def edges_meet(memory: CollisionMemory, n: Vector) -> int:
    """Two edges: both ends of what parallel ones share, or the crossing, seen along n."""
    a, b = (
        (memory.first[0, 0], memory.first[0, 1], memory.first[0, 2]),
        (memory.first[1, 0], memory.first[1, 1], memory.first[1, 2]),
    )
    p, q = (
        (memory.second[0, 0], memory.second[0, 1], memory.second[0, 2]),
        (memory.second[1, 0], memory.second[1, 1], memory.second[1, 2]),
    )
    u, v = minus(b, a), minus(q, p)
    u, v = along(u, -dot(u, n), n), along(v, -dot(v, n), n)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    determinant = uu * vv - uv * uv
    start = minus(p, a)
    start = along(start, -dot(start, n), n)
    if determinant > 1e-6 * uu * vv:
        du, dv = dot(start, u), dot(start, v)
        s, t = (du * vv - dv * uv) / determinant, (du * uv - dv * uu) / determinant
        if not (0.0 <= s <= 1.0 and 0.0 <= t <= 1.0):
            return 0
        on_b = along(p, t, minus(q, p))
        memory.heights[0] = dot(minus(on_b, along(a, s, minus(b, a))), n)
        put(memory.second, 0, on_b)
        return 1
    if not (uu > 0.0 and vv > 0.0):
        return 0
    low, high = dot(start, u) / uu, dot(along(start, 1.0, v), u) / uu
    count = 0
    least, most = max(0.0, min(low, high)), min(1.0, max(low, high))
    if least > most:
        return 0
    for k in range(2):
        s = least if k == 0 else most
        t = (s - low) / (high - low) if high != low else 0.0
        on_b = along(p, t, minus(q, p))
        memory.heights[count] = dot(minus(on_b, along(a, s, minus(b, a))), n)
        put(memory.second, count, on_b)
        count += 1
    return count
