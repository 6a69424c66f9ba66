"""Rotations about and shifts along known axes by unknown amounts, and the small problems of geometry that find them
(after Paden and Kahan). Everything is a graph: what a closed form computes is compiled as any other quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, negative, plus, times, vector
from kinegraph.graph.scalar import Scalar
from kinegraph.tasks.kinematics.serial_arm import ArmJoint
from kinegraph.tasks.operating_point import Floats

#: Below this a direction is taken as none.
_NOTHING = Fraction(1, 10**24)


def constant(like: Scalar, values: Floats) -> Vector:
    """A vector of numbers."""
    return vector([like.number(Fraction(float(value))) for value in values])


@dataclass(frozen=True)
class Turn:
    """A turn about a known axis, by the cosine and sine of its angle (up to a common positive factor of one)."""

    joint: ArmJoint
    cosine: Scalar
    sine: Scalar

    @property
    def amount(self) -> Scalar:
        """The angle."""
        return self.sine.apply("atan2", self.cosine)

    @property
    def inverse(self) -> Turn:
        """The turn back."""
        return Turn(self.joint, self.cosine, -self.sine)

    def vector(self, a: Vector) -> Vector:
        """A direction, turned (Rodrigues)."""
        axis = constant(self.cosine, self.joint.direction)
        along = times((1 - self.cosine) * dot(axis, a), axis)
        return plus(plus(times(self.cosine, a), times(self.sine, cross(axis, a))), along)

    def place(self, a: Vector) -> Vector:
        """A point, turned."""
        centre = constant(self.cosine, self.joint.point)
        return plus(centre, self.vector(minus(a, centre)))


@dataclass(frozen=True)
class PrismaticMove:
    """A shift along a known direction."""

    joint: ArmJoint
    amount: Scalar

    @property
    def inverse(self) -> PrismaticMove:
        """The shift back."""
        return PrismaticMove(self.joint, -self.amount)

    def vector(self, a: Vector) -> Vector:
        """Directions stay."""
        return a

    def place(self, a: Vector) -> Vector:
        """A point, shifted."""
        return plus(a, times(self.amount, constant(self.amount, self.joint.direction)))


Move: TypeAlias = Turn | PrismaticMove


def vector_back(moves: Sequence[Move], a: Vector) -> Vector:
    """A direction before moves were made one after the other, the last of the sequence first."""
    for move in moves:
        a = move.inverse.vector(a)
    return a


def place_back(moves: Sequence[Move], a: Vector) -> Vector:
    """A point before the moves."""
    for move in moves:
        a = move.inverse.place(a)
    return a


class Geometry:
    """The small problems. margins: of each square root its argument by its scale; below zero there is no solution."""

    def __init__(self, like: Scalar) -> None:
        self.like = like
        self.margins: list[Scalar] = []

    def root(self, square: Scalar, scale: Scalar) -> Scalar:
        """A square root; of what is below zero, zero: forward kinematics will tell that this is no solution."""
        self.margins.append(square / scale)
        return square.apply("select", square, square.number(0)).apply("sqrt")

    def rotation_between(self, joint: ArmJoint, before: Vector, after: Vector) -> Turn:
        """The turn that brings one direction to another; both count as seen along the axis."""
        axis = constant(self.like, joint.direction)
        x = dot(before, after) - dot(axis, before) * dot(axis, after)
        y = dot(axis, cross(before, after))
        square = x * x + y * y
        enough = square - _NOTHING
        one, zero = self.like.number(1), self.like.number(0)
        scale = enough.apply("select", square, one).apply("sqrt").reciprocal()
        return Turn(joint, enough.apply("select", x * scale, one), enough.apply("select", y * scale, zero))

    def projecting(self, joint: ArmJoint, turned: Vector, onto: Vector, value: Scalar, sign: int = 1) -> list[Turn]:
        """The two turns R (for sign = -1: their inverses) with onto . R turned = value."""
        axis = constant(self.like, joint.direction)
        along = dot(onto, axis) * dot(axis, turned)
        a, b = dot(onto, turned) - along, sign * dot(onto, cross(axis, turned))
        return self.summing(joint, a, b, value - along)

    def summing(self, joint: ArmJoint, a: Scalar, b: Scalar, c: Scalar) -> list[Turn]:
        """The two turns with a cos + b sin = c."""
        size = a * a + b * b
        root = self.root(size - c * c, size)
        return [Turn(joint, (a * c - b * r) / size, (b * c + a * r) / size) for r in (root, -root)]

    def line_and_sphere(
        self, normals: tuple[Floats, Floats], values: tuple[Scalar, Scalar], square: Scalar
    ) -> list[Vector]:
        """The two points with normals . x = values and |x|^2 = square."""
        first, second = normals
        gram = np.linalg.inv(np.array([[first @ first, first @ second], [second @ first, second @ second]]))
        across = np.cross(first, second)
        weights = [
            sum((constant_of(self.like, entry) * value for entry, value in zip(row, values, strict=True)), self._zero)
            for row in gram
        ]
        foot = plus(times(weights[0], constant(self.like, first)), times(weights[1], constant(self.like, second)))
        length = constant_of(self.like, float(across @ across))
        root = self.root((square - dot(foot, foot)) / length, square / length)
        step = times(root, constant(self.like, across))
        return [plus(foot, step), plus(foot, negative(step))]

    @property
    def _zero(self) -> Scalar:
        return self.like.number(0)


def constant_of(like: Scalar, value: float) -> Scalar:
    """A number."""
    return like.number(Fraction(float(value)))
