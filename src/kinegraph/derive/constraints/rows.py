"""The rows of closing joints: one scalar condition each, with its Jacobian and its second derivative at q'' = 0.

Rows come from the positions and axes of the joints, not by differentiating coordinate by coordinate: that takes a
number of operations linear in the length of the chains. The two frames of a joint are A and B, d leads from B to A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinegraph.derive.constraints.chain import ChainMotion
from kinegraph.derive.dynamics.composite_body import Column, Screw
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, negative, plus, unit_vector, zero_vector
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Row:
    """value = 0 by position; sum jacobian[column] rate + drift = 0 by velocity; sum jacobian[column] q'' + bias = 0.

    `jacobian` is by joint component; `rate` is the whole time derivative, motion prescribed in time included.
    `wrench` is what a multiplier of 1 exerts on A at A's point (moment, then force), in the axes of the ancestor.
    """

    value: Scalar
    jacobian: Mapping[Column, Scalar]
    rate: Scalar
    bias: Scalar
    wrench: Screw

    def negative(self) -> Row:
        """The same condition with the other sign."""
        jacobian = {column: -entry for column, entry in self.jacobian.items()}
        wrench = Screw(negative(self.wrench.angular), negative(self.wrench.linear))
        return Row(-self.value, jacobian, -self.rate, -self.bias, wrench)


@dataclass(frozen=True)
class Pair:
    """The two frames of a closing joint, both relative to their common ancestor and in its axes."""

    a: ChainMotion
    b: ChainMotion

    @property
    def gap(self) -> Vector:
        """From the second origin to the first."""
        return minus(self.a.point, self.b.point)

    @property
    def gap_rate(self) -> Vector:
        """The velocity of the first origin against the second."""
        return minus(self.a.velocity, self.b.velocity)

    @property
    def gap_bias(self) -> Vector:
        """The same of accelerations, for velocities that do not change."""
        return minus(self.a.bias_acceleration, self.b.bias_acceleration)

    def gap_screws(self) -> dict[Column, Screw]:
        """How a unit rate of every joint changes d, and how it turns A (first chain) or B (second chain)."""
        return self.a.screws | {column: Screw(s.angular, negative(s.linear)) for column, s in self.b.screws.items()}

    def coincide(self, axis: int) -> Row:
        """The points agree along an axis of the ancestor."""
        jacobian = {column: screw.linear[axis] for column, screw in self.gap_screws().items()}
        wrench = _force(unit_vector(self.gap[axis], axis))
        return Row(self.gap[axis], jacobian, self.gap_rate[axis], self.gap_bias[axis], wrench)

    def coincide_along(self, axis: int) -> Row:
        """The points agree along an axis of B: the same condition, in axes that are the same however it is computed."""
        u = self.b.axis(axis)
        jacobian = {column: dot(u, screw.linear) for column, screw in self.gap_screws().items()}
        return Row(dot(u, self.gap), jacobian, dot(u, self.gap_rate), dot(u, self.gap_bias), _force(u))

    def level(self, axis: int) -> Row:
        """A's point lies in the plane through B's point normal to an axis of B: u . d = 0."""
        u, d = self.b.axis(axis), self.gap
        turned, bent = _axis_motion(self.b, u)
        moment = cross(u, d)
        jacobian = {column: dot(u, screw.linear) for column, screw in self.gap_screws().items()}
        for column, screw in self.b.screws.items():
            jacobian[column] = jacobian[column] + dot(screw.angular, moment)
        rate = dot(turned, d) + dot(u, self.gap_rate)
        bias = dot(bent, d) + 2 * dot(turned, self.gap_rate) + dot(u, self.gap_bias)
        return Row(dot(u, d), jacobian, rate, bias, _force(u))

    def perpendicular(self, first: int, second: int) -> Row:
        """An axis of A is perpendicular to an axis of B."""
        u, w = self.a.axis(first), self.b.axis(second)
        turned_u, bent_u = _axis_motion(self.a, u)
        turned_w, bent_w = _axis_motion(self.b, w)
        moment = cross(u, w)
        jacobian = {column: dot(screw.angular, moment) for column, screw in self.a.screws.items()}
        jacobian |= {column: -dot(screw.angular, moment) for column, screw in self.b.screws.items()}
        rate = dot(turned_u, w) + dot(u, turned_w)
        bias = dot(bent_u, w) + 2 * dot(turned_u, turned_w) + dot(u, bent_w)
        return Row(dot(u, w), jacobian, rate, bias, Screw(moment, zero_vector(u[0])))

    def distance(self, length: Scalar) -> Row:
        """The points keep their distance: (d . d - length^2) / 2 = 0."""
        d, rate = self.gap, self.gap_rate
        half = d[0].number(1) / 2
        jacobian = {column: dot(d, screw.linear) for column, screw in self.gap_screws().items()}
        value = half * (dot(d, d) - length * length)
        return Row(value, jacobian, dot(d, rate), dot(rate, rate) + dot(d, self.gap_bias), _force(d))


def _force(force: Vector) -> Screw:
    return Screw(zero_vector(force[0]), force)


def _axis_motion(frame: ChainMotion, u: Vector) -> tuple[Vector, Vector]:
    """First and second time derivative of a vector fixed in a frame, the second at q'' = 0."""
    turned = cross(frame.angular_velocity, u)
    return turned, plus(cross(frame.bias_angular_acceleration, u), cross(frame.angular_velocity, turned))
