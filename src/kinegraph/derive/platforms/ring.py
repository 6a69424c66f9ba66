"""A free body, the ring or what carries the legs: its pose and velocity from its coordinates, in its own axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.tree.algebra import (
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    minus,
    outer_square,
    plus,
    product,
    times,
    transpose,
    unit_vector,
    vector,
)
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.links import rotation_matrix, unit_quaternion_matrix
from kinegraph.model.platforms.free_body import FreeBody


@dataclass(frozen=True)
class FreeMotion:
    """Pose and velocities of a body. `angle_axes` are, in its axes, what unit rates of its angles turn about.

    `angle_bias` is its angular acceleration, in its axes, when the angles' rates do not change.
    """

    position: Vector
    rotation: Matrix
    velocity: Vector
    spin: Vector
    angle_axes: Matrix | None
    angle_bias: Vector

    def into(self, a: Vector) -> Vector:
        """A vector of fixed axes in the body's."""
        return apply(transpose(self.rotation), a)

    def out(self, a: Vector) -> Vector:
        """A vector of the body's axes in fixed axes."""
        return apply(self.rotation, a)

    @cached_property
    def curl(self) -> Symmetric:
        """w w^T - w^2 1: times a point of the body it gives w x (w x r)."""
        return curl_of(self.spin)

    def angular(self, accelerations: Vector) -> Vector:
        """The angular acceleration in its axes from the second derivatives of its angles or quasi-velocities."""
        if self.angle_axes is None:
            return accelerations
        return plus(apply(transpose(self.angle_axes), accelerations), self.angle_bias)

    def angle_accelerations(self, angular: Vector) -> Vector:
        """What `angular` undoes."""
        if self.angle_axes is None:
            return angular
        return _solved(self.angle_axes, minus(angular, self.angle_bias))

    def torque(self, forces: Vector) -> Vector:
        """The torque in its axes that does what generalized forces on the angles do."""
        if self.angle_axes is None:
            return forces
        a, b, c = self.angle_axes
        inverse = dot(a, cross(b, c)).reciprocal()
        parts = (cross(b, c), cross(c, a), cross(a, b))
        sums = [times(force, part) for force, part in zip(forces, parts, strict=True)]
        return times(inverse, plus(plus(sums[0], sums[1]), sums[2]))

    def angle_forces(self, torque: Vector) -> Vector:
        """What `torque` undoes."""
        return torque if self.angle_axes is None else apply(self.angle_axes, torque)


def _solved(axes: Matrix, wanted: Vector) -> Vector:
    """Amounts of three axes whose sum is a vector."""
    a, b, c = axes
    inverse = dot(a, cross(b, c)).reciprocal()
    parts = cross(b, c), cross(c, a), cross(a, b)
    return vector([inverse * dot(part, wanted) for part in parts])


def free_motion(body: FreeBody, names: Names) -> FreeMotion:
    """The motion of a free body in the symbols of its coordinates."""
    position = vector([names[name] for name in body.position])
    velocity = vector([names[name + "'"] for name in body.position])
    like = position[0]
    none = vector([like.number(0)] * 3)
    group = body.quaternion
    if group is not None:
        e0, e1, e2, e3 = (names[name] for name in group.names)
        spin = vector([names[name] for name in group.velocities])
        return FreeMotion(position, unit_quaternion_matrix(e0, e1, e2, e3), velocity, spin, None, none)
    return _by_angles(body, names, position, velocity)


def _by_angles(body: FreeBody, names: Names, position: Vector, velocity: Vector) -> FreeMotion:
    like = position[0]
    steps = [rotation_matrix(axis.value, names[name]) for axis, name in body.turns]
    rates = vector([names[name + "'"] for _, name in body.turns])
    units = [unit_vector(like, axis.value) for axis, _ in body.turns]
    last = steps[2]
    second = apply(transpose(last), units[1])
    first = apply(transpose(last), apply(transpose(steps[1]), units[0]))
    axes = (first, second, units[2])
    turned = [times(rate, axis) for rate, axis in zip(rates, axes, strict=True)]
    spin = plus(plus(turned[0], turned[1]), turned[2])
    # An axis is fixed in the frame behind its own turn; seen from the body it turns with what lies between.
    bias = plus(cross(turned[0], plus(turned[1], turned[2])), cross(turned[1], turned[2]))
    rotation = product(product(steps[0], steps[1]), steps[2])
    return FreeMotion(position, rotation, velocity, spin, axes, bias)


def curled(body: FreeMotion, place: Vector) -> Vector:
    """w x (w x r) for a point of the body."""
    return body.curl.apply(place)


def curl_of(spin: Vector) -> Symmetric:
    """w w^T - w^2 1."""
    square = outer_square(spin)
    xx, yy, zz = square[:3]
    return Symmetric(-(yy + zz), -(xx + zz), -(xx + yy), *square[3:])
