"""Pose and velocity of the platform and of its base, and vector sums over the legs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from kinegraph.derive.tree.algebra import (
    MassMoments,
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
    zero_vector,
)
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import rotation_matrix, unit_quaternion_matrix
from kinegraph.graph.build import Scalar
from kinegraph.model.platforms.recognition import FreeBody

# ---- Small matrices, and sums over legs

Square3: TypeAlias = tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]


def signed(like: Scalar, axes: Square3) -> Matrix:
    """A matrix of integers in a builder."""
    rows = [vector([like.number(item) for item in row]) for row in axes]
    return rows[0], rows[1], rows[2]


def total(items: Sequence[Scalar]) -> Scalar:
    """A sum as one node, so that it is invariant under an exchange of legs."""
    builder = items[0].builder
    return Scalar(builder, builder.polynomial((1, ((item.index, 1),)) for item in items))


def totals(vectors: Iterable[Vector]) -> Vector:
    """The sum of vectors, each component one node."""
    x, y, z = zip(*vectors, strict=True)
    return total(x), total(y), total(z)


def joined(parts: list[MassMoments]) -> MassMoments:
    """The sum of mass distributions, each entry one node."""
    entries = zip(*((one.mass, *one.first, *one.second) for one in parts), strict=True)
    mass, x, y, z, *second = (total(list(items)) for items in entries)
    return MassMoments(mass, (x, y, z), type(parts[0].second)(*second))


def outer(a: Vector, b: Vector) -> Matrix:
    """a b^T."""
    return times(a[0], b), times(a[1], b), times(a[2], b)


def skew(a: Vector) -> Matrix:
    """The matrix that gives a x b."""
    x, y, z = a
    zero = x.number(0)
    return (zero, -z, y), (z, zero, -x), (-y, x, zero)


def square(a: Symmetric) -> Matrix:
    """A symmetric matrix by its rows."""
    return a.column(0), a.column(1), a.column(2)


def no_matrix(like: Scalar) -> Matrix:
    """The zero matrix."""
    return zero_vector(like), zero_vector(like), zero_vector(like)


def added(matrices: Sequence[Matrix]) -> Matrix:
    """The sum of matrices."""
    found = matrices[0]
    for one in matrices[1:]:
        found = plus(found[0], one[0]), plus(found[1], one[1]), plus(found[2], one[2])
    return found


# ---- Pose and velocity of a free body: the platform or its base


@dataclass(frozen=True)
class FreeMotion:
    """Pose and velocities of a free body; the angular velocity `spin` is in its axes.

    angle_axes: the rotation axes of its angles, in its axes. angle_bias: its angular acceleration at constant rates of
    the angles, in its axes.
    """

    position: Vector
    rotation: Matrix
    velocity: Vector
    spin: Vector
    angle_axes: Matrix | None
    angle_bias: Vector

    def into(self, a: Vector) -> Vector:
        """A vector in fixed axes, expressed in the body's axes."""
        return apply(transpose(self.rotation), a)

    def out(self, a: Vector) -> Vector:
        """A vector in the body's axes, expressed in fixed axes."""
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
        """The inverse of `angular`."""
        if self.angle_axes is None:
            return angular
        return _solved(self.angle_axes, minus(angular, self.angle_bias))

    def torque(self, forces: Vector) -> Vector:
        """The torque in its axes that is equivalent to generalized forces on the angles."""
        if self.angle_axes is None:
            return forces
        a, b, c = self.angle_axes
        inverse = dot(a, cross(b, c)).reciprocal()
        parts = (cross(b, c), cross(c, a), cross(a, b))
        sums = [times(force, part) for force, part in zip(forces, parts, strict=True)]
        return times(inverse, plus(plus(sums[0], sums[1]), sums[2]))

    def angle_forces(self, torque: Vector) -> Vector:
        """The inverse of `torque`."""
        return torque if self.angle_axes is None else apply(self.angle_axes, torque)


def _solved(axes: Matrix, wanted: Vector) -> Vector:
    """The components of a vector along three axes."""
    a, b, c = axes
    inverse = dot(a, cross(b, c)).reciprocal()
    parts = cross(b, c), cross(c, a), cross(a, b)
    return vector([inverse * dot(part, wanted) for part in parts])


def free_motion(body: FreeBody, names: Names) -> FreeMotion:
    """The motion of a free body as a function of its coordinates and velocities."""
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
    # An axis is fixed in the frame after its rotation; relative to the body it rotates with the later angles.
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


# ---- The base of the legs, in platform axes


class PlatformBase(ABC):
    """The base of all legs; `spin`: its angular velocity in platform axes, None if it cannot rotate."""

    spin: Vector | None = None

    def __init__(self, platform_motion: FreeMotion) -> None:
        self.platform_motion = platform_motion

    @abstractmethod
    def into(self, a: Vector) -> Vector:
        """A vector in the base's axes, expressed in platform axes."""

    @abstractmethod
    def platform_from(self, point: Vector) -> Vector:
        """The vector from a point of the base to the platform's origin, in platform axes."""

    @abstractmethod
    def platform_velocity(self) -> Vector:
        """The velocity of the platform's origin relative to the base's origin, in platform axes."""


class FixedBase(PlatformBase):
    """The fixed frame."""

    def into(self, a: Vector) -> Vector:
        return self.platform_motion.into(a)

    def platform_from(self, point: Vector) -> Vector:
        return self.platform_motion.into(minus(self.platform_motion.position, point))

    def platform_velocity(self) -> Vector:
        return self.platform_motion.into(self.platform_motion.velocity)


class FreeBase(PlatformBase):
    """A free body."""

    def __init__(self, platform_motion: FreeMotion, body: FreeMotion) -> None:
        super().__init__(platform_motion)
        self.body = body
        self.spin: Vector = self.into(body.spin)

    @cached_property
    def turn(self) -> Matrix:
        """The rotation from the base's axes to platform axes."""
        return product(transpose(self.platform_motion.rotation), self.body.rotation)

    @cached_property
    def curl(self) -> Symmetric:
        """w w^T - w^2 1 in platform axes, which gives w x (w x r)."""
        return curl_of(self.spin)

    def into(self, a: Vector) -> Vector:
        return apply(self.turn, a)

    def out(self, a: Vector) -> Vector:
        """A vector in platform axes, expressed in the base's axes."""
        return apply(transpose(self.turn), a)

    def platform_from(self, point: Vector) -> Vector:
        return minus(self.away, self.into(point))

    @cached_property
    def away(self) -> Vector:
        """The vector from the base's origin to the platform's, in platform axes."""
        return self.platform_motion.into(minus(self.platform_motion.position, self.body.position))

    def platform_velocity(self) -> Vector:
        return self.platform_motion.into(minus(self.platform_motion.velocity, self.body.velocity))
