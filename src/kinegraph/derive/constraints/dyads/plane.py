"""Vectors of a plane as complex numbers: to turn one is to multiply it."""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.constraints.dyads.unknowns import Turn
from kinegraph.graph.scalar import Scalar


class Plane(NamedTuple):
    """x + i y."""

    x: Scalar
    y: Scalar

    def turned(self, other: Plane) -> Plane:
        """The product: both lengths, both angles."""
        return Plane(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def plus(self, other: Plane) -> Plane:
        """The sum."""
        return Plane(self.x + other.x, self.y + other.y)

    def times(self, factor: Scalar) -> Plane:
        """A multiple."""
        return Plane(factor * self.x, factor * self.y)

    @property
    def mirrored(self) -> Plane:
        """x - i y."""
        return Plane(self.x, -self.y)

    @property
    def square(self) -> Scalar:
        """The squared length."""
        return self.x * self.x + self.y * self.y

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""
        return self.x.is_zero and self.y.is_zero

    @property
    def turn(self) -> Turn:
        """The angle of a vector of length one."""
        return Turn(self.y, self.x)
