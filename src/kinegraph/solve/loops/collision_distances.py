"""The distance of two convex cores, or how deep they overlap: Gilbert-Johnson-Keerthi and expanding polytopes.

Both work on the difference of the two shapes: points a - b. Its point nearest to the origin is the distance; if it
contains the origin, its face nearest to the origin is the direction of least overlap.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.collision_shapes import (
    Shapes,
    Vector,
    across,
    along,
    cross,
    dot,
    face_normal_of,
    faces_of,
    facing_normal,
    farthest,
    minus,
    negative,
    put,
    unit,
)

MOST_POINTS, MOST_FACES, MOST_EDGES = 160, 640, 320
_ROUNDS = 64
_SMALL = 1e-9  # of the typical length: closer cores count as touching
_PROGRESS = 1e-13
_FAR, _COPLANAR = 1e-6, 1e-12  # of the typical length: directions are exact; a point is in the plane of a face


class DistanceMemory(NamedTuple):
    """Memory: corners of the simplex (and later the polytope) as a - b and as a; faces with normal and distance."""

    points: Floats
    own: Floats
    weights: Floats
    faces: Integers
    planes: Floats
    edges: Integers


@part
def point_of(table: Floats, k: int) -> Vector:
    """A row as a vector."""
    return table[k, 0], table[k, 1], table[k, 2]


@part
def add_point(
    shapes: Shapes, frames: Floats, a: int, b: int, direction: Vector, memory: DistanceMemory, k: int
) -> Vector:
    """The point of a - b farthest along a direction, written to place k."""
    first = farthest(shapes, frames[a], a, direction)
    found = minus(first, farthest(shapes, frames[b], b, negative(direction)))
    put(memory.own, k, first)
    put(memory.points, k, found)
    return found


@part
def core_normal(shapes: Shapes, frames: Floats, a: int, b: int, memory: DistanceMemory) -> Vector:
    """The unit vector from a to b along which their cores are nearest, or overlap least.

    Where cores nearly touch, the difference of their nearest points has lost its digits, and polytopes around the
    origin degenerate; the normals of faces are exact there. The longest distance between two planes is the distance.
    """
    n = nearest_direction(shapes, frames, a, b, memory)
    gap = separation(shapes, frames, a, b, n)
    if gap > _FAR * shapes.scale:
        return n
    for side in range(2):
        s = a if side == 0 else b
        count = faces_of(shapes, s)
        for k in range(count):
            face = face_normal_of(shapes, frames[s], s, k)
            candidate = face if side == 0 else negative(face)
            apart = separation(shapes, frames, a, b, candidate)
            if apart >= gap:
                n, gap = candidate, apart
        if count == 0:
            face = facing_normal(shapes, frames[s], s, n if side == 0 else negative(n))
            candidate = face if side == 0 else negative(face)
            apart = separation(shapes, frames, a, b, candidate)
            if apart >= gap:
                n, gap = candidate, apart
    return n


@part
def nearest_direction(shapes: Shapes, frames: Floats, a: int, b: int, memory: DistanceMemory) -> Vector:
    """The same by the search alone."""
    start = (frames[b, 9] - frames[a, 9], frames[b, 10] - frames[a, 10], frames[b, 11] - frames[a, 11])
    nearest = add_point(shapes, frames, a, b, unit(start), memory, 0)
    count, small = 1, _SMALL * shapes.scale
    for _ in range(_ROUNDS):
        square = dot(nearest, nearest)
        if square <= small * small:
            return overlap_normal(shapes, frames, a, b, memory, count)
        found = add_point(shapes, frames, a, b, negative(nearest), memory, count)
        if square - dot(nearest, found) <= _PROGRESS * square or repeats(memory, count):
            return unit(negative(nearest))
        count = shrink(memory, count + 1)
        if count == 4:
            return overlap_normal(shapes, frames, a, b, memory, count)
        following = weighted_point(memory, count)
        if not dot(following, following) < square:
            return unit(negative(nearest))
        nearest = following
    return unit(negative(nearest))


@part
def repeats(memory: DistanceMemory, last: int) -> bool:
    """Whether the last point is there already."""
    for k in range(last):
        same = memory.points[k, 0] == memory.points[last, 0] and memory.points[k, 1] == memory.points[last, 1]
        if same and memory.points[k, 2] == memory.points[last, 2]:
            return True
    return False


@part
def weighted_point(memory: DistanceMemory, count: int) -> Vector:
    """The point of the simplex nearest to the origin."""
    found = (0.0, 0.0, 0.0)
    for k in range(count):
        found = along(found, memory.weights[k], point_of(memory.points, k))
    return found


@part
def keep(memory: DistanceMemory, chosen: tuple[int, int, int], weights: Vector, count: int) -> int:
    """Keep some corners with their weights; chosen places increase."""
    for k in range(count):
        source = chosen[k]
        for d in range(3):
            memory.points[k, d] = memory.points[source, d]
            memory.own[k, d] = memory.own[source, d]
        memory.weights[k] = weights[k]
    return count


@part
def shrink(memory: DistanceMemory, count: int) -> int:
    """The corners of the simplex around its point nearest to the origin, with weights; 4 if it contains the origin."""
    if count == 2:
        return nearest_on_edge(memory)
    if count == 3:
        return nearest_on_triangle(memory, 0, 1, 2)
    return nearest_in_tetrahedron(memory)


@part
def nearest_on_edge(memory: DistanceMemory) -> int:
    """Of two corners."""
    a, b = point_of(memory.points, 0), point_of(memory.points, 1)
    edge = minus(b, a)
    square = dot(edge, edge)
    t = -dot(a, edge) / square if square > 0.0 else 0.0
    if t <= 0.0:
        return keep(memory, (0, 0, 0), (1.0, 0.0, 0.0), 1)
    if t >= 1.0:
        return keep(memory, (1, 0, 0), (1.0, 0.0, 0.0), 1)
    return keep(memory, (0, 1, 0), (1.0 - t, t, 0.0), 2)


@part
def triangle_weights(a: Vector, b: Vector, c: Vector) -> Vector:
    """The weights of the corners for the point of a triangle nearest to the origin (Ericson, Real-Time Collision
    Detection, 5.1.5)."""
    ab, ac = minus(b, a), minus(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    return va / total, vb / total, vc / total


@part
def nearest_on_triangle(memory: DistanceMemory, i: int, j: int, k: int) -> int:
    """Of three corners."""
    w = triangle_weights(point_of(memory.points, i), point_of(memory.points, j), point_of(memory.points, k))
    chosen, weights, count = (i, j, k), w, 3
    if w[0] == 0.0:
        chosen, weights, count = (j, k, k), (w[1], w[2], 0.0), 2
        if w[1] == 0.0:
            chosen, weights, count = (k, k, k), (w[2], 0.0, 0.0), 1
        elif w[2] == 0.0:
            chosen, weights, count = (j, j, j), (w[1], 0.0, 0.0), 1
    elif w[1] == 0.0:
        chosen, weights, count = (i, k, k), (w[0], w[2], 0.0), 2
        if w[2] == 0.0:
            chosen, weights, count = (i, i, i), (w[0], 0.0, 0.0), 1
    elif w[2] == 0.0:
        chosen, weights, count = (i, j, j), (w[0], w[1], 0.0), 2
    return keep(memory, chosen, weights, count)


@part
def outside(a: Vector, b: Vector, c: Vector, d: Vector) -> bool:
    """Whether the origin and d are on different sides of the plane a, b, c; also if d is in that plane."""
    n = cross(minus(b, a), minus(c, a))
    return -dot(a, n) * dot(minus(d, a), n) <= 0.0


@part
def nearest_in_tetrahedron(memory: DistanceMemory) -> int:
    """Of four corners."""
    p = memory.points
    a, b, c, d = point_of(p, 0), point_of(p, 1), point_of(p, 2), point_of(p, 3)
    best, chosen = -1.0, (0, 0, 0)
    for face in range(4):
        if face == 0:
            i, j, k, away = 0, 1, 2, outside(a, b, c, d)
        elif face == 1:
            i, j, k, away = 0, 1, 3, outside(a, b, d, c)
        elif face == 2:
            i, j, k, away = 0, 2, 3, outside(a, c, d, b)
        else:
            i, j, k, away = 1, 2, 3, outside(b, c, d, a)
        if not away:
            continue
        x, y, z = point_of(p, i), point_of(p, j), point_of(p, k)
        w = triangle_weights(x, y, z)
        near = along(along(along((0.0, 0.0, 0.0), w[0], x), w[1], y), w[2], z)
        square = dot(near, near)
        if best < 0.0 or square < best:
            best, chosen = square, (i, j, k)
    if best < 0.0:
        return 4
    return nearest_on_triangle(memory, chosen[0], chosen[1], chosen[2])


# ---- Overlapping cores


@part
def overlap_normal(shapes: Shapes, frames: Floats, a: int, b: int, memory: DistanceMemory, count: int) -> Vector:
    """The direction from a to b of least overlap, from a simplex of a - b that contains or touches the origin."""
    count = spread(shapes, frames, a, b, memory, count)
    if count < 4:
        return flat_normal(memory, count)
    faces = add_face(memory, 0, 0, 1, 2, 3)
    faces = add_face(memory, faces, 0, 1, 3, 2)
    faces = add_face(memory, faces, 0, 2, 3, 1)
    faces = add_face(memory, faces, 1, 2, 3, 0)
    points = 4
    normal = (0.0, 0.0, 1.0)
    for _ in range(MOST_POINTS - 4):
        best = nearest_face(memory, faces)
        normal = point_of(memory.planes, best)
        depth = memory.planes[best, 3]
        found = add_point(shapes, frames, a, b, normal, memory, points)
        if dot(found, normal) - depth <= 1e-11 * shapes.scale:
            break
        faces = replace_visible(memory, faces, points, found, _COPLANAR * shapes.scale)
        points += 1
        if faces > MOST_FACES - MOST_EDGES:
            break
    return normal


@part
def spread(shapes: Shapes, frames: Floats, a: int, b: int, memory: DistanceMemory, count: int) -> int:
    """Add corners until the simplex is a tetrahedron; fewer than 4 if a - b is flat."""
    small = 1e-9 * shapes.scale
    for trial in range(6):
        if count >= 2:
            break
        found = add_point(shapes, frames, a, b, main_direction(trial), memory, count)
        step = minus(found, point_of(memory.points, 0))
        if dot(step, step) > small * small:
            count += 1
    if count == 2:
        edge = unit(minus(point_of(memory.points, 1), point_of(memory.points, 0)))
        first = across(edge)
        second = cross(edge, first)
        for trial in range(4):
            sign = 1.0 if trial % 2 == 0 else -1.0
            side = first if trial < 2 else second
            found = add_point(shapes, frames, a, b, (sign * side[0], sign * side[1], sign * side[2]), memory, count)
            step = minus(found, point_of(memory.points, 0))
            off = along(step, -dot(step, edge), edge)
            if dot(off, off) > small * small:
                count += 1
                break
    if count == 3:
        p = memory.points
        n = unit(cross(minus(point_of(p, 1), point_of(p, 0)), minus(point_of(p, 2), point_of(p, 0))))
        for trial in range(2):
            found = add_point(shapes, frames, a, b, n if trial == 0 else negative(n), memory, count)
            if abs(dot(minus(found, point_of(p, 0)), n)) > small:
                count += 1
                break
    return count


@part
def main_direction(k: int) -> Vector:
    """One of the six directions along the axes."""
    sign = 1.0 if k % 2 == 0 else -1.0
    return sign if k < 2 else 0.0, sign if 2 <= k < 4 else 0.0, sign if k >= 4 else 0.0


@part
def flat_normal(memory: DistanceMemory, count: int) -> Vector:
    """A direction without extent, if a - b is flat: crossing segments, for example."""
    p = memory.points
    if count == 3:
        return unit(cross(minus(point_of(p, 1), point_of(p, 0)), minus(point_of(p, 2), point_of(p, 0))))
    if count == 2:
        return across(unit(minus(point_of(p, 1), point_of(p, 0))))
    return 0.0, 0.0, 1.0


@part
def add_face(memory: DistanceMemory, faces: int, i: int, j: int, k: int, inner: int) -> int:
    """A face with its normal away from the point `inner`, or outward from the origin if `inner` is negative."""
    a, b, c = point_of(memory.points, i), point_of(memory.points, j), point_of(memory.points, k)
    n = cross(minus(b, a), minus(c, a))
    flat = not dot(n, n) > 0.0
    n = unit(n)
    height = 1e300 if flat else dot(n, a)  # a face without area is never the nearest
    if inner >= 0 and dot(n, minus(point_of(memory.points, inner), a)) > 0.0:
        n, height, j, k = negative(n), (height if flat else -height), k, j
    memory.faces[faces, 0], memory.faces[faces, 1], memory.faces[faces, 2] = i, j, k
    put(memory.planes, faces, n)
    memory.planes[faces, 3] = height
    return faces + 1


@part
def nearest_face(memory: DistanceMemory, faces: int) -> int:
    """The face nearest to the origin."""
    best = 0
    for k in range(1, faces):
        if memory.planes[k, 3] < memory.planes[best, 3]:
            best = k
    return best


@part
def replace_visible(memory: DistanceMemory, faces: int, point: int, found: Vector, least: float) -> int:
    """Replace all faces that a new point can see by faces from their outline to the point."""
    edges, remaining = 0, 0
    for k in range(faces):
        base = point_of(memory.points, memory.faces[k, 0])
        if dot(point_of(memory.planes, k), minus(found, base)) > least:
            for e in range(3):
                edges = toggle_edge(memory, edges, memory.faces[k, e], memory.faces[k, (e + 1) % 3])
            continue
        for d in range(3):
            memory.faces[remaining, d] = memory.faces[k, d]
        for d in range(4):
            memory.planes[remaining, d] = memory.planes[k, d]
        remaining += 1
    for e in range(edges):
        remaining = add_face(memory, remaining, memory.edges[e, 0], memory.edges[e, 1], point, -1)
    return remaining


@part
def toggle_edge(memory: DistanceMemory, edges: int, i: int, j: int) -> int:
    """Edges between two visible faces cancel; the others are the outline."""
    for e in range(edges):
        if memory.edges[e, 0] == j and memory.edges[e, 1] == i:
            memory.edges[e, 0], memory.edges[e, 1] = memory.edges[edges - 1, 0], memory.edges[edges - 1, 1]
            return edges - 1
    if edges < MOST_EDGES:
        memory.edges[edges, 0], memory.edges[edges, 1] = i, j
        return edges + 1
    return edges


@part
def separation(shapes: Shapes, frames: Floats, a: int, b: int, n: Vector) -> float:
    """The distance of the cores along n, from a to b; negative where they overlap."""
    return dot(farthest(shapes, frames[b], b, negative(n)), n) - dot(farthest(shapes, frames[a], a, n), n)


@part
def length(v: Vector) -> float:
    """How far the end of a vector is from its start."""
    return sqrt(dot(v, v))
