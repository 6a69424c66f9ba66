"""Shapes that touch: how far apart they are, where, and along which normal; all exact expressions of the positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from kinegraph.derive.elements.points import Points
from kinegraph.derive.tree.algebra import Vector, dot, minus, negative, plus, times, vector
from kinegraph.derive.tree.convert import Names
from kinegraph.graph.scalar import Scalar
from kinegraph.model.elements import Bumper, Capsule, ContactShape, Plane, Sphere, Torus, Triple, anchors_of

#: Under a root of the depth [m]: slopes stay finite where contact begins, and no digit of a force shows it.
_TINY = Fraction(1, 10**24)
#: Two segments whose directions have a sine below this are taken as parallel.
_PARALLEL = Fraction(1, 10**12)


#: From one end of a segment to the other, and the square of its length.
Segment: TypeAlias = tuple[Vector, Scalar]


@dataclass(frozen=True)
class Nearest:
    """Where two shapes are nearest: the gap (negative where they overlap), a point half way, the unit normal from the
    second shape to the first; all in the fixed frame."""

    gap: Scalar
    point: Vector
    normal: Vector


class Distances:
    """The distances of shapes whose points are those of one layout."""

    def __init__(self, points: Points, names: Names) -> None:
        self.points = points
        self.names = names

    def nearest(self, bumper: Bumper) -> Iterator[Nearest]:
        """One place for each pair; a capsule lies on a plane with both ends."""
        first, second = bumper.shapes
        turned = isinstance(first, Plane | Torus) or (isinstance(first, Capsule) and isinstance(second, Sphere))
        for found in self._ordered(second, first) if turned else self._ordered(first, second):
            yield Nearest(found.gap, found.point, negative(found.normal)) if turned else found

    def _ordered(self, first: ContactShape, second: ContactShape) -> Iterator[Nearest]:
        if isinstance(second, Plane):
            assert isinstance(first, Sphere | Capsule)
            for centre in map(self.points.anchored, anchors_of(first)):
                yield self._on_plane(centre, self.names.scalar(first.radius), second)
        elif isinstance(second, Torus):
            assert isinstance(first, Sphere)
            yield self._on_ring(self.points.anchored(first.centre), self.names.scalar(first.radius), second)
        else:
            assert not isinstance(first, Plane | Torus)
            yield self._of_segments(first, second)

    def _on_plane(self, centre: Vector, radius: Scalar, plane: Plane) -> Nearest:
        normal = self._direction(plane.normal, plane.point.of)
        height = dot(normal, minus(centre, self.points.anchored(plane.point)))
        gap = height - radius
        return Nearest(gap, minus(centre, times(radius + gap * Fraction(1, 2), normal)), normal)

    def _on_ring(self, centre: Vector, radius: Scalar, torus: Torus) -> Nearest:
        """The nearest point of the circle lies in the plane of its axis and the centre."""
        axis, middle = self._direction(torus.normal, torus.centre.of), self.points.anchored(torus.centre)
        away = minus(centre, middle)
        across = minus(away, times(dot(axis, away), axis))
        outwards = times(dot(across, across).apply("sqrt").reciprocal(), across)
        on_circle = plus(middle, times(self.names.scalar(torus.ring), outwards))
        return self._of_points(centre, on_circle, radius, self.names.scalar(torus.radius))

    def _of_segments(self, first: Sphere | Capsule, second: Sphere | Capsule) -> Nearest:
        here, there = self._nearest_points(first, second)
        return self._of_points(here, there, self.names.scalar(first.radius), self.names.scalar(second.radius))

    def _of_points(self, here: Vector, there: Vector, radius: Scalar, other: Scalar) -> Nearest:
        line = minus(here, there)
        distance = dot(line, line).apply("sqrt")
        normal = times(distance.reciprocal(), line)
        gap = distance - radius - other
        return Nearest(gap, plus(there, times(other + gap * Fraction(1, 2), normal)), normal)

    def _nearest_points(self, first: Sphere | Capsule, second: Sphere | Capsule) -> tuple[Vector, Vector]:
        """The nearest points of two segments (Ericson, Real-Time Collision Detection, 5.1.9), without branches."""
        start, origin = (self.points.anchored(anchors_of(shape)[0]) for shape in (first, second))
        if isinstance(second, Sphere):  # spheres come first
            return start, origin
        along = self.points.segment(second.first, second.second)
        if isinstance(first, Sphere):
            return start, plus(origin, times(_part(start, origin, along), along[0]))
        return self._of_two_segments(start, self.points.segment(first.first, first.second), origin, along)

    def _of_two_segments(self, p: Vector, first: Segment, q: Vector, second: Segment) -> tuple[Vector, Vector]:
        (d, a), (e, f) = first, second  # the squares of lengths are constants of the bodies
        r = minus(p, q)
        b, c, g = dot(d, e), dot(d, r), dot(e, r)
        square = a * f - b * b
        if square.is_zero:  # parallel wherever they are
            return self._of_parallel_segments(p, first, q, second)
        oblique = square - _PARALLEL * _PARALLEL * (a * f)
        free = oblique.apply("select", _clamped((b * g - c * f) / square), a.number(0))
        t = _clamped((b * free + g) * f.reciprocal())
        s = _clamped((b * t - c) * a.reciprocal())
        return plus(p, times(s, d)), plus(q, times(t, e))

    def _of_parallel_segments(self, p: Vector, first: Segment, q: Vector, second: Segment) -> tuple[Vector, Vector]:
        """One of the pairs of nearest points: that of the first segment's start, moved to where both go on."""
        there = plus(q, times(_part(p, q, second), second[0]))
        return plus(p, times(_part(there, p, first), first[0])), there

    def _direction(self, components: Triple, of: str | None) -> Vector:
        """A unit vector given in a body's axes, in the fixed frame."""
        given = vector([self.names.scalar(item) for item in components])
        length = dot(given, given).apply("sqrt")
        return self.points.turned_out(self.points.frame(of), times(length.reciprocal(), given))


def _part(point: Vector, start: Vector, along: Segment) -> Scalar:
    """Which part of a segment lies before the place nearest to a point, between zero and one."""
    direction, square = along
    return _clamped(dot(minus(point, start), direction) * square.reciprocal())


def _clamped(part: Scalar) -> Scalar:
    """Between zero and one."""
    zero, one = part.number(0), part.number(1)
    return (one - part).apply("select", part.apply("select", part, zero), one)


def positive_part(depth: Scalar) -> Scalar:
    """The depth where shapes overlap, else zero."""
    return depth.apply("select", depth, depth.number(0))


def power(depth: Scalar, exponent: Fraction) -> Scalar:
    """depth^exponent, of halves through the root."""
    whole = depth ** int(exponent)
    return whole if exponent.denominator == 1 else whole * (depth + _TINY).apply("sqrt")
