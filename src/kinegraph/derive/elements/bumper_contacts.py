"""The forces of shapes that touch, after Hunt and Crossley, through the velocities of both bodies at one point.

Where two shapes are nearest the gap grows with the velocity of one body against the other along the normal: neither the
nearest points nor the normal have to be differentiated. One force acts on both bodies at the point half way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.elements.bumpers import Distances, Nearest, positive_part, power
from kinegraph.derive.elements.work import Storing, Work
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, plus, times, zero_vector
from kinegraph.derive.tree.displacements import Motion
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.elements import Anchor, Bumper, anchors_of
from kinegraph.model.expression import TIME
from kinegraph.model.mechanism import ZERO


@dataclass(frozen=True)
class ContactPlace:
    """One place of a bumper: the depth's rate, what is stored, what is lost, and the force on the first shape.

    approach: the depth, or its rate where that is simpler. pressing: the force along the normal. force: in fixed axes.
    """

    place: Nearest
    relative: Vector
    approach: Work
    energy: Scalar
    elastic: Scalar
    loss: Scalar
    rubbing: Vector

    @property
    def pressing(self) -> Scalar:
        """The normal force, elastic and lost together."""
        return self.elastic + self.loss

    @property
    def force(self) -> Vector:
        """The whole force, along the normal and by friction."""
        return minus(times(self.pressing, self.place.normal), self.rubbing)

    @property
    def storing(self) -> Storing:
        """The energy that is stored, and the work that stores it."""
        return Storing(self.energy, Work(self.elastic, self.approach.target, self.approach.is_rate))

    @property
    def resisting(self) -> Iterator[Work]:
        """What is lost along the normal and along the surface."""
        if not self.loss.is_zero:
            yield Work(self.loss, self.approach.target, self.approach.is_rate)
        for along, velocity in zip(self.rubbing, self.relative, strict=True):
            if not along.is_zero:
                yield Work(along, velocity, is_rate=True)


class BumperContacts:
    """The bumpers of one layout."""

    def __init__(self, distances: Distances, motion: Motion) -> None:
        self.distances = distances
        self._motion = motion
        self._screws: dict[str | None, tuple[Vector, Vector]] = {}

    def contact_places(self, bumper: Bumper, depth_rate: ForwardDerivative) -> Iterator[ContactPlace]:
        """Every place of a bumper. depth_rate: the derivative by time along the motion, for shapes that time moves."""
        first, second = (anchors_of(shape)[0].of for shape in bumper.shapes)
        led = self._led(bumper)
        for place in self.distances.nearest(bumper):
            relative = minus(self._velocity(first, place.point), self._velocity(second, place.point))
            if led:
                approach = Work(_rate(depth_rate, -place.gap), -place.gap)
            else:
                growing = -dot(place.normal, relative)
                approach = Work(growing, growing, is_rate=True)
            yield self._contact_place(bumper, place, relative, approach)

    def _contact_place(self, bumper: Bumper, place: Nearest, relative: Vector, approach: Work) -> ContactPlace:
        """k d^p max(0, 1 + c d') along the normal: k d^(p + 1)/(p + 1) is stored, the rest dissipated; friction."""
        scalar = self.distances.names.scalar
        exponent = scalar(bumper.exponent).value
        assert exponent is not None  # validated
        depth = positive_part(-place.gap)
        elastic = scalar(bumper.stiffness) * power(depth, Fraction(exponent))
        energy = elastic * depth * (1 / (Fraction(exponent) + 1))
        share = scalar(bumper.damping) * approach.force
        loss = elastic * (share + 1).apply("select", share, share.number(-1)) if not share.is_zero else share
        rubbing = self._rubbing(bumper, place, relative, elastic + loss)
        return ContactPlace(place, relative, approach, energy, elastic, loss, rubbing)

    def _rubbing(self, bumper: Bumper, place: Nearest, relative: Vector, pressing: Scalar) -> Vector:
        """Friction against sliding, through the velocity of one surface along the other."""
        if bumper.friction == ZERO:
            return zero_vector(pressing)
        scalar = self.distances.names.scalar
        sliding = minus(relative, times(dot(relative, place.normal), place.normal))
        smooth = (dot(sliding, sliding) + scalar(bumper.slip) ** 2).apply("sqrt")
        return times(scalar(bumper.friction) * pressing / smooth, sliding)

    def _led(self, bumper: Bumper) -> bool:
        """Whether time moves a shape on its body."""
        names, builder = self.distances.names, self.distances.names.builder
        by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
        local = (names.scalar(item) for shape in bumper.shapes for one in anchors_of(shape) for item in one.position)
        return any(not _rate(by_time, item).is_zero for item in local)

    def _velocity(self, of: str | None, place: Vector) -> Vector:
        """The velocity of the point of a body that is at this place: o' + w x (place - o)."""
        like = self.distances.points.layout.tree.like
        if of is None:
            return zero_vector(like)
        if of not in self._screws:
            self._screws[of] = self._screw(of)
        velocity, angular = self._screws[of]
        return plus(velocity, cross(angular, minus(place, self.distances.points.named(of))))

    def _screw(self, of: str) -> tuple[Vector, Vector]:
        """The velocity of a body's origin and its angular velocity, in fixed axes, what time moves included."""
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
