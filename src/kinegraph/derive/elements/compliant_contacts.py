"""Compliant contacts: distances between shapes, and contact forces by the model of Hunt and Crossley."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from kinegraph.derive.elements.element_values import ElementWork, Points, Storing
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, negative, plus, times, vector, zero_vector
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.expressions import Names
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.model.elements import (
    Anchor,
    Arc,
    Capsule,
    CompliantContact,
    Cone,
    ContactShape,
    Cylinder,
    Plane,
    Sphere,
    Torus,
    Triple,
    anchors_of,
)
from kinegraph.model.expressions import TIME
from kinegraph.model.mechanism import ZERO

# ---- Distances between shapes, as exact expressions of the positions

#: Added under a root of the depth [m], to keep slopes finite at the start of contact; no digit of a force shows it.
_TINY = Fraction(1, 10**24)
#: Two segments are parallel if the sine of the angle between them is below this.
_PARALLEL = Fraction(1, 10**12)


#: The vector from one end of a segment to the other, and the square of its length.
Segment: TypeAlias = tuple[Vector, Scalar]


@dataclass(frozen=True)
class Nearest:
    """The nearest points of two shapes: the gap (negative for overlap), the midpoint, and the unit normal from the
    second shape to the first; all in the fixed frame."""

    gap: Scalar
    point: Vector
    normal: Vector


class ShapeDistances:
    """Distances between shapes in one frame assignment."""

    def __init__(self, points: Points, names: Names) -> None:
        self.points = points
        self.names = names

    def nearest(self, contact: CompliantContact) -> Iterator[Nearest]:
        """One place for each pair; capsules and cylinders lie on a plane with both ends."""
        first, second = sorted(contact.shapes, key=_rank)
        turned = first is not contact.shapes[0]
        for found in self._ordered(first, second):
            yield Nearest(found.gap, found.point, negative(found.normal)) if turned else found

    def _ordered(self, first: ContactShape, second: ContactShape) -> Iterator[Nearest]:
        """The nearest places of two shapes in the order of `_rank`."""
        match first, second:
            case ((Sphere() | Capsule()), Plane()):
                for center in map(self.points.anchored, anchors_of(first)):
                    yield self._on_plane(center, self.names.scalar(first.radius), second)
            case Cylinder(), Plane():
                yield from self._rims_on_plane(first, second)
            case Torus(), Plane():
                axis, center = self._direction(first.normal, first.center.of), self.points.anchored(first.center)
                lowest = self._lowest(center, axis, self.names.scalar(first.ring), second)
                yield self._on_plane(lowest, self.names.scalar(first.radius), second)
            case Sphere(), Torus() | Arc():
                yield self._on_ring(self.points.anchored(first.center), self.names.scalar(first.radius), second)
            case Sphere(), Cone():
                yield self._in_cone(self.points.anchored(first.center), self.names.scalar(first.radius), second)
            case Sphere(), Cylinder():
                yield self._on_cylinder(self.points.anchored(first.center), self.names.scalar(first.radius), second)
            case ((Sphere() | Capsule()), (Sphere() | Capsule())):
                yield self._of_segments(first, second)
            case _:
                raise AssertionError(f"no distance of {first} and {second}")  # validated

    def _rims_on_plane(self, cylinder: Cylinder, plane: Plane) -> Iterator[Nearest]:
        """The deepest point of each end's rim."""
        along, square = self.points.segment(cylinder.first, cylinder.second)
        axis, zero = times(square.apply("sqrt").reciprocal(), along), square.number(0)
        for center in map(self.points.anchored, anchors_of(cylinder)):
            yield self._on_plane(self._lowest(center, axis, self.names.scalar(cylinder.radius), plane), zero, plane)

    def _lowest(self, center: Vector, axis: Vector, radius: Scalar, plane: Plane) -> Vector:
        """The point of a circle nearest to a plane; its center if both are parallel."""
        normal = self._direction(plane.normal, plane.point.of)
        across = minus(normal, times(dot(normal, axis), axis))
        length = (dot(across, across) + _TINY).apply("sqrt")
        return minus(center, times(radius / length, across))

    def _on_cylinder(self, center: Vector, radius: Scalar, cylinder: Cylinder) -> Nearest:
        """Outside: the distance from the rim, side or end. Inside: the nearer of side and end."""
        along, square = self.points.segment(cylinder.first, cylinder.second)
        length = square.apply("sqrt")
        axis = times(length.reciprocal(), along)
        away = minus(center, self.points.anchored(cylinder.first))
        height = dot(away, axis)
        across = minus(away, times(height, axis))
        distance = (dot(across, across) + _TINY).apply("sqrt")
        beyond = height - length * Fraction(1, 2)
        beside = distance - self.names.scalar(cylinder.radius)
        upwards = beyond.apply("select", beyond.number(1), beyond.number(-1))
        above = beyond * upwards - length * Fraction(1, 2)
        side, end, depth = _mixed(beside, above)
        normal = plus(times(side / distance, across), times(end * upwards, axis))
        gap = depth - radius
        return Nearest(gap, minus(center, times(radius + gap * Fraction(1, 2), normal)), normal)

    def _in_cone(self, center: Vector, radius: Scalar, cone: Cone) -> Nearest:
        """Inside: the distance from the wall. Before the mouth: the distance from the rim. Behind the wall it is solid.

        In the plane of the axis and the center, `along` is the place on the wall and `inside` the distance from it.
        """
        axis, apex = self._direction(cone.axis, cone.apex.of), self.points.anchored(cone.apex)
        away = minus(center, apex)
        height = dot(away, axis)
        across = minus(away, times(height, axis))
        distance = (dot(across, across) + _TINY).apply("sqrt")
        outwards = times(distance.reciprocal(), across)
        half, length = self.names.scalar(cone.half_angle), self.names.scalar(cone.length)
        cosine, sine = half.apply("cos"), half.apply("sin")
        along, inside = height * cosine + distance * sine, height * sine - distance * cosine
        beyond = along - length
        from_rim = (beyond * beyond + inside * inside + _TINY).apply("sqrt")
        one, zero = beyond.number(1), beyond.number(0)
        gap = beyond.apply("select", from_rim, inside) - radius  # solid behind the wall: no step passes through it
        up = beyond.apply("select", inside / from_rim, one)
        onwards = beyond.apply("select", beyond / from_rim, zero)
        normal = plus(times(up * sine + onwards * cosine, axis), times(onwards * sine - up * cosine, outwards))
        return Nearest(gap, minus(center, times(radius + gap * Fraction(1, 2), normal)), normal)

    def _on_plane(self, center: Vector, radius: Scalar, plane: Plane) -> Nearest:
        normal = self._direction(plane.normal, plane.point.of)
        height = dot(normal, minus(center, self.points.anchored(plane.point)))
        gap = height - radius
        return Nearest(gap, minus(center, times(radius + gap * Fraction(1, 2), normal)), normal)

    def _on_ring(self, center: Vector, radius: Scalar, ring: Torus | Arc) -> Nearest:
        """The nearest point of the circle lies in the plane of its axis and the center, or is an end of the arc."""
        axis, middle = self._direction(ring.normal, ring.center.of), self.points.anchored(ring.center)
        away = minus(center, middle)
        across = minus(away, times(dot(axis, away), axis))
        outwards = times(dot(across, across).apply("sqrt").reciprocal(), across)
        if isinstance(ring, Arc):
            outwards = self._within(ring, axis, outwards)
        on_circle = plus(middle, times(self.names.scalar(ring.ring), outwards))
        return self._of_points(center, on_circle, radius, self.names.scalar(ring.radius))

    def _within(self, arc: Arc, axis: Vector, outwards: Vector) -> Vector:
        """A direction in the plane of an arc, or that of the end it lies nearer to."""
        given = self._direction(arc.middle, arc.center.of)
        flat = minus(given, times(dot(axis, given), axis))
        middle = times(dot(flat, flat).apply("sqrt").reciprocal(), flat)
        onwards = cross(axis, middle)
        half = self.names.scalar(arc.half_angle)
        cosine, sine = half.apply("cos"), half.apply("sin")
        side = dot(outwards, onwards)
        sign = side.apply("select", side.number(1), side.number(-1))
        end = plus(times(cosine, middle), times(sine * sign, onwards))
        inside = dot(outwards, middle) - cosine
        x, y, z = (inside.apply("select", one, other) for one, other in zip(outwards, end, strict=True))
        return x, y, z

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
        if square.is_zero:  # parallel at every position
            return self._of_parallel_segments(p, first, q, second)
        oblique = square - _PARALLEL * _PARALLEL * (a * f)
        free = oblique.apply("select", _clamped((b * g - c * f) / square), a.number(0))
        t = _clamped((b * free + g) * f.reciprocal())
        s = _clamped((b * t - c) * a.reciprocal())
        return plus(p, times(s, d)), plus(q, times(t, e))

    def _of_parallel_segments(self, p: Vector, first: Segment, q: Vector, second: Segment) -> tuple[Vector, Vector]:
        """One pair of nearest points: that of the first segment's start, moved into both segments."""
        there = plus(q, times(_part(p, q, second), second[0]))
        return plus(p, times(_part(there, p, first), first[0])), there

    def _direction(self, components: Triple, of: str | None) -> Vector:
        """A unit vector given in a body's axes, in the fixed frame."""
        given = vector([self.names.scalar(item) for item in components])
        length = dot(given, given).apply("sqrt")
        return self.points.turned_out(self.points.frame(of), times(length.reciprocal(), given))


def _rank(shape: ContactShape) -> int:
    """Spheres first, planes last."""
    return (Sphere, Capsule, Cylinder, Arc, Torus, Cone, Plane).index(type(shape))


def _mixed(beside: Scalar, above: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The components of the normal along side and end, and the distance, from the excess over each."""
    zero, one = beside.number(0), beside.number(1)
    out, over = positive_part(beside), positive_part(above)
    distance = (out * out + over * over + _TINY).apply("sqrt")
    deeper = beside - above
    within = deeper.apply("select", one, zero), deeper.apply("select", zero, one), deeper.apply("select", beside, above)
    outside = out / distance, over / distance, distance
    # outside if one of the two is positive
    largest = within[2]
    side, end, depth = (largest.apply("select", a, b) for a, b in zip(outside, within, strict=True))
    return side, end, depth


def _part(point: Vector, start: Vector, along: Segment) -> Scalar:
    """The fraction of a segment before the point nearest to a given point, between zero and one."""
    direction, square = along
    return _clamped(dot(minus(point, start), direction) * square.reciprocal())


def _clamped(part: Scalar) -> Scalar:
    """Between zero and one."""
    zero, one = part.number(0), part.number(1)
    return (one - part).apply("select", part.apply("select", part, zero), one)


def positive_part(depth: Scalar) -> Scalar:
    """The depth if shapes overlap, otherwise zero."""
    return depth.apply("select", depth, depth.number(0))


def power(depth: Scalar, exponent: Fraction) -> Scalar:
    """depth^exponent, for integers and halves."""
    whole = depth ** int(exponent)
    return whole if exponent.denominator == 1 else whole * (depth + _TINY).apply("sqrt")


# ---- Contact forces
#
# The rate of the gap is the relative velocity of the bodies along the normal, at the nearest point. So neither the
# nearest points nor the normal are differentiated. One force acts on both bodies at the midpoint.


@dataclass(frozen=True)
class ContactPlace:
    """One place of a contact: the depth's rate, what is stored, what is lost, and the force on the first shape.

    approach: the depth, or its rate if that is simpler. pressing: the force along the normal. force: in fixed axes.
    """

    place: Nearest
    relative: Vector
    approach: ElementWork
    energy: Scalar
    elastic: Scalar
    loss: Scalar
    rubbing: Vector

    @property
    def pressing(self) -> Scalar:
        """The normal force, elastic and dissipative."""
        return self.elastic + self.loss

    @property
    def force(self) -> Vector:
        """The total force, normal and friction."""
        return minus(times(self.pressing, self.place.normal), self.rubbing)

    @property
    def storing(self) -> Storing:
        """The stored energy, and the work that stores it."""
        return Storing(self.energy, ElementWork(self.elastic, self.approach.target, self.approach.is_rate))

    @property
    def resisting(self) -> Iterator[ElementWork]:
        """The dissipative work along the normal and along the surface."""
        if not self.loss.is_zero:
            yield ElementWork(self.loss, self.approach.target, self.approach.is_rate)
        for along, velocity in zip(self.rubbing, self.relative, strict=True):
            if not along.is_zero:
                yield ElementWork(along, velocity, is_rate=True)


class CompliantContacts:
    """The compliant contacts of one layout."""

    def __init__(self, distances: ShapeDistances, motion: Motion) -> None:
        self.distances = distances
        self._motion = motion
        self._screws: dict[str | None, tuple[Vector, Vector]] = {}

    def contact_places(self, contact: CompliantContact, depth_rate: ForwardDerivative) -> Iterator[ContactPlace]:
        """Every place of a contact. depth_rate: the derivative by time along the motion, for shapes that time moves."""
        first, second = (anchors_of(shape)[0].of for shape in contact.shapes)
        led = self._led(contact)
        for place in self.distances.nearest(contact):
            relative = minus(self._velocity(first, place.point), self._velocity(second, place.point))
            if led:
                approach = ElementWork(_rate(depth_rate, -place.gap), -place.gap)
            else:
                growing = -dot(place.normal, relative)
                approach = ElementWork(growing, growing, is_rate=True)
            yield self._contact_place(contact, place, relative, approach)

    def _contact_place(
        self, contact: CompliantContact, place: Nearest, relative: Vector, approach: ElementWork
    ) -> ContactPlace:
        """k d^p max(0, 1 + c d') along the normal: k d^(p + 1)/(p + 1) is stored, the rest dissipated; friction."""
        scalar = self.distances.names.scalar
        exponent = scalar(contact.exponent).value
        assert exponent is not None  # validated
        depth = positive_part(-place.gap)
        elastic = scalar(contact.stiffness) * power(depth, Fraction(exponent))
        energy = elastic * depth * (1 / (Fraction(exponent) + 1))
        share = scalar(contact.damping) * approach.force
        loss = elastic * (share + 1).apply("select", share, share.number(-1)) if not share.is_zero else share
        rubbing = self._rubbing(contact, place, relative, elastic + loss)
        return ContactPlace(place, relative, approach, energy, elastic, loss, rubbing)

    def _rubbing(self, contact: CompliantContact, place: Nearest, relative: Vector, pressing: Scalar) -> Vector:
        """Friction against sliding, through the velocity of one surface along the other."""
        if contact.friction == ZERO:
            return zero_vector(pressing)
        scalar = self.distances.names.scalar
        sliding = minus(relative, times(dot(relative, place.normal), place.normal))
        smooth = (dot(sliding, sliding) + scalar(contact.slip) ** 2).apply("sqrt")
        return times(scalar(contact.friction) * pressing / smooth, sliding)

    def _led(self, contact: CompliantContact) -> bool:
        """Whether time moves a shape on its body."""
        names, builder = self.distances.names, self.distances.names.builder
        by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
        local = (names.scalar(item) for shape in contact.shapes for one in anchors_of(shape) for item in one.position)
        return any(not _rate(by_time, item).is_zero for item in local)

    def _velocity(self, of: str | None, place: Vector) -> Vector:
        """The velocity of the body's point at this place: o' + w x (place - o)."""
        like = self.distances.points.layout.tree.like
        if of is None:
            return zero_vector(like)
        if of not in self._screws:
            self._screws[of] = self._screw(of)
        velocity, angular = self._screws[of]
        return plus(velocity, cross(angular, minus(place, self.distances.points.named(of))))

    def _screw(self, of: str) -> tuple[Vector, Vector]:
        """The velocity of a body's origin and its angular velocity, in fixed axes, including prescribed motion."""
        points = self.distances.points
        layout, like = points.layout, points.layout.tree.like
        view = kinematics.seen_from(layout, kinematics.fixed_frame(like))
        velocity = angular = zero_vector(like)
        frame = points.placed(Anchor(of))
        for column, screw in kinematics.point_screws(layout, view, frame).items():
            rate = self._motion.rates[column.link].velocity[column.component]
            velocity = plus(velocity, times(rate, screw.linear))
            angular = plus(angular, times(rate, screw.angular))
        return velocity, angular


def _rate(derivative: ForwardDerivative, item: Scalar) -> Scalar:
    return Scalar(item.builder, derivative(item.index))
