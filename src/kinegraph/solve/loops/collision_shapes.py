"""Convex shapes in compiled loops: where they are, their farthest points, and their faces.

A shape is a core with a radius around it. The core of a sphere is a point, that of a capsule a segment; all other
shapes have no radius.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple, TypeAlias

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import inlined, part

Vector: TypeAlias = tuple[float, float, float]

# The kinds of shapes. HULL: the convex hull of vertices.
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL = range(7)

#: Corners of the polygon that stands for the cap of a cylinder.
_CAP = 8
#: A direction is along a face's normal, or across an axis, within this sine.
_ALONG = 0.3
#: Hulls with more faces are not tried face by face.
_FEW_FACES = 24
#: Most corners of a polygon; faces of hulls have at most half as many.
MOST_CORNERS = 64


class Shapes(NamedTuple):
    """Shapes on bodies, and which pairs of them may touch.

    bodies: the body of each shape; 0 is the fixed frame. places: its axes (row by row) and origin in the body's frame.
    sizes: a sphere's radius; radius and half length of a capsule or cylinder; half lengths of a box or ellipsoid.
    bounds: the radius of the ball around its origin that contains it; thickness: of one within it.
    vertices: of all hulls; first_vertex: where those of each shape begin, and the end. normals: of all faces of hulls;
    first_face, first_corner, corners: the faces of each shape, and the vertices around each face.
    pairs: the shapes of each pair. scale: a length that is typical for the shapes.
    """

    kinds: Integers
    bodies: Integers
    places: Floats
    sizes: Floats
    bounds: Floats
    thickness: Floats
    vertices: Floats
    first_vertex: Integers
    normals: Floats
    first_face: Integers
    first_corner: Integers
    corners: Integers
    pairs: Integers
    scale: float


@inlined
def dot(a: Vector, b: Vector) -> float:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def minus(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def along(a: Vector, factor: float, b: Vector) -> Vector:
    """a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inlined
def negative(a: Vector) -> Vector:
    """-a."""
    return -a[0], -a[1], -a[2]


@part
def unit(a: Vector) -> Vector:
    """The vector of length 1 along a; the third axis if a is zero."""
    length = sqrt(dot(a, a))
    if length > 0.0:
        return a[0] / length, a[1] / length, a[2] / length
    return 0.0, 0.0, 1.0


@part
def across(n: Vector) -> Vector:
    """A unit vector perpendicular to the unit vector n."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    if x <= y and x <= z:
        return unit((0.0, -n[2], n[1]))
    if y <= z:
        return unit((n[2], 0.0, -n[0]))
    return unit((-n[1], n[0], 0.0))


@inlined
def origin(frame: Floats) -> Vector:
    """The origin of a frame."""
    return frame[9], frame[10], frame[11]


@inlined
def axis(frame: Floats, k: int) -> Vector:
    """An axis of a frame."""
    return frame[k], frame[3 + k], frame[6 + k]


@inlined
def into(frame: Floats, v: Vector) -> Vector:
    """A vector in the axes of a frame."""
    return dot(axis(frame, 0), v), dot(axis(frame, 1), v), dot(axis(frame, 2), v)


@inlined
def out_of(frame: Floats, x: float, y: float, z: float) -> Vector:
    """The point with these coordinates in a frame."""
    return (
        frame[9] + frame[0] * x + frame[1] * y + frame[2] * z,
        frame[10] + frame[3] * x + frame[4] * y + frame[5] * z,
        frame[11] + frame[6] * x + frame[7] * y + frame[8] * z,
    )


@inlined
def turned_by(frame: Floats, x: float, y: float, z: float) -> Vector:
    """The vector with these components in a frame."""
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@part
def place_shapes(shapes: Shapes, poses: Floats, frames: Floats) -> None:
    """The frames of all shapes from the 4 x 4 poses of bodies, flat, without the fixed frame."""
    for s in range(len(shapes.kinds)):
        place, frame = shapes.places[s], frames[s]
        body = shapes.bodies[s] - 1
        if body < 0:
            for k in range(12):
                frame[k] = place[k]
            continue
        at = 16 * body
        for i in range(3):
            row = at + 4 * i
            for j in range(3):
                frame[3 * i + j] = poses[row] * place[j] + poses[row + 1] * place[3 + j] + poses[row + 2] * place[6 + j]
            frame[9 + i] = (
                poses[row] * place[9] + poses[row + 1] * place[10] + poses[row + 2] * place[11] + poses[row + 3]
            )


@inlined
def radius(shapes: Shapes, s: int) -> float:
    """The radius around the core."""
    kind = shapes.kinds[s]
    return float(shapes.sizes[s, 0]) if kind in (SPHERE, CAPSULE) else 0.0


@part
def farthest(shapes: Shapes, frame: Floats, s: int, direction: Vector) -> Vector:
    """The point of the core that is farthest along a direction."""
    kind, size, d = shapes.kinds[s], shapes.sizes[s], into(frame, direction)
    if kind == SPHERE:
        return origin(frame)
    if kind == CAPSULE:
        return out_of(frame, 0.0, 0.0, size[1] if d[2] >= 0.0 else -size[1])
    if kind == BOX:
        x, y = size[0] if d[0] >= 0.0 else -size[0], size[1] if d[1] >= 0.0 else -size[1]
        return out_of(frame, x, y, size[2] if d[2] >= 0.0 else -size[2])
    if kind == CYLINDER:
        z, flat = size[1] if d[2] >= 0.0 else -size[1], sqrt(d[0] ** 2 + d[1] ** 2)
        if flat <= 1e-14 * abs(d[2]):
            return out_of(frame, 0.0, 0.0, z)
        return out_of(frame, size[0] * d[0] / flat, size[0] * d[1] / flat, z)
    if kind == ELLIPSOID:
        x, y, z = size[0] * d[0], size[1] * d[1], size[2] * d[2]
        length = sqrt(x * x + y * y + z * z)
        return out_of(frame, size[0] * x / length, size[1] * y / length, size[2] * z / length)
    return farthest_vertex(shapes, frame, s, d)


@part
def farthest_vertex(shapes: Shapes, frame: Floats, s: int, d: Vector) -> Vector:
    """The vertex of a hull that is farthest along d, which is in its axes."""
    first, best = shapes.first_vertex[s], 0
    most = -1e300
    for k in range(first, shapes.first_vertex[s + 1]):
        v = shapes.vertices[k]
        height = v[0] * d[0] + v[1] * d[1] + v[2] * d[2]
        if height > most:
            most, best = height, k
    v = shapes.vertices[best]
    return out_of(frame, v[0], v[1], v[2])


@part
def put(polygon: Floats, k: int, point: Vector) -> None:
    """Write a corner."""
    polygon[k, 0], polygon[k, 1], polygon[k, 2] = point[0], point[1], point[2]


@part
def feature(shapes: Shapes, frame: Floats, s: int, direction: Vector, polygon: Floats) -> int:
    """The corners of the face, edge or point of the core that faces a direction; how many there are."""
    kind, size, d = shapes.kinds[s], shapes.sizes[s], into(frame, direction)
    if kind == CAPSULE and abs(d[2]) <= _ALONG:
        put(polygon, 0, out_of(frame, 0.0, 0.0, -size[1]))
        put(polygon, 1, out_of(frame, 0.0, 0.0, size[1]))
        return 2
    if kind == BOX:
        return box_face(size, frame, d, polygon)
    if kind == CYLINDER:
        return cylinder_face(size, frame, d, polygon)
    if kind == HULL:
        return hull_face(shapes, frame, s, d, polygon)
    put(polygon, 0, farthest(shapes, frame, s, direction))
    return 1


@part
def box_face(size: Floats, frame: Floats, d: Vector, polygon: Floats) -> int:
    """The face of a box that faces d."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    a, b, c = size[0], size[1], size[2]
    for k in range(4):
        first, second = (1.0 if k in (0, 3) else -1.0), (1.0 if k < 2 else -1.0)
        if x >= y and x >= z:
            put(polygon, k, out_of(frame, a if d[0] >= 0.0 else -a, first * b, second * c))
        elif y >= z:
            put(polygon, k, out_of(frame, first * a, b if d[1] >= 0.0 else -b, second * c))
        else:
            put(polygon, k, out_of(frame, first * a, second * b, c if d[2] >= 0.0 else -c))
    return 4


@part
def cylinder_face(size: Floats, frame: Floats, d: Vector, polygon: Floats) -> int:
    """The line of a cylinder that faces d, or a polygon within its cap, with a corner where the cap is farthest."""
    flat = sqrt(d[0] ** 2 + d[1] ** 2)
    x, y = (d[0] / flat, d[1] / flat) if flat > 1e-12 else (1.0, 0.0)
    if flat >= abs(d[2]):
        put(polygon, 0, out_of(frame, size[0] * x, size[0] * y, -size[1]))
        put(polygon, 1, out_of(frame, size[0] * x, size[0] * y, size[1]))
        return 2
    z = size[1] if d[2] >= 0.0 else -size[1]
    for k in range(_CAP):
        c, s = cos(6.283185307179586 * k / _CAP), sin(6.283185307179586 * k / _CAP)
        put(polygon, k, out_of(frame, size[0] * (c * x - s * y), size[0] * (c * y + s * x), z))
    return _CAP


@part
def hull_face(shapes: Shapes, frame: Floats, s: int, d: Vector, polygon: Floats) -> int:
    """The face of a hull whose normal is most along d."""
    best = best_face(shapes, s, d)
    begin, count = shapes.first_corner[best], shapes.first_corner[best + 1] - shapes.first_corner[best]
    for k in range(count):
        v = shapes.vertices[shapes.corners[begin + k]]
        put(polygon, k, out_of(frame, v[0], v[1], v[2]))
    return int(count)


@part
def faces_of(shapes: Shapes, s: int) -> int:
    """How many flat faces a shape has; 0 if there are none, or too many to try each."""
    kind = shapes.kinds[s]
    if kind == HULL:
        count = shapes.first_face[s + 1] - shapes.first_face[s]
        return int(count) if count <= _FEW_FACES else 0
    return 6 if kind == BOX else 2 if kind == CYLINDER else 0


@part
def face_normal_of(shapes: Shapes, frame: Floats, s: int, k: int) -> Vector:
    """The normal of a face by its number."""
    if shapes.kinds[s] == HULL:
        n = shapes.normals[shapes.first_face[s] + k]
        return turned_by(frame, n[0], n[1], n[2])
    found = axis(frame, k // 2 if shapes.kinds[s] == BOX else 2)
    return found if k % 2 == 0 else negative(found)


@part
def facing_normal(shapes: Shapes, frame: Floats, s: int, direction: Vector) -> Vector:
    """The normal of the face of a hull that faces a direction most; of other shapes the direction itself."""
    if shapes.kinds[s] != HULL:
        return direction
    n = shapes.normals[best_face(shapes, s, into(frame, direction))]
    return turned_by(frame, n[0], n[1], n[2])


@part
def best_face(shapes: Shapes, s: int, d: Vector) -> int:
    """The face of a hull whose normal is most along d, which is in its axes."""
    best, most = shapes.first_face[s], -2.0
    for k in range(shapes.first_face[s], shapes.first_face[s + 1]):
        n = shapes.normals[k]
        height = n[0] * d[0] + n[1] * d[1] + n[2] * d[2]
        if height > most:
            most, best = height, k
    return int(best)
