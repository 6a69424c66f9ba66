"""The crank of a leg as a body that turns about the drive's axis on a base that may turn itself."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.platforms.legs.constants import Part
from kinegraph.derive.platforms.legs.leg import Acceleration
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, plus, times, transpose
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class CrankBody:
    """Its inertia about the drive, its axes in ring axes (z is the drive's), its rate, the base's angular velocity."""

    part: Part
    axes: tuple[Vector, Vector, Vector]
    rate: Scalar
    base_spin: Vector | None

    def into(self, a: Vector) -> Vector:
        """A vector of ring axes in its axes."""
        x, y, z = self.axes
        return dot(x, a), dot(y, a), dot(z, a)

    def out(self, a: Vector) -> Vector:
        """A vector of its axes in ring axes."""
        x, y, z = self.axes
        return plus(plus(times(a[0], x), times(a[1], y)), times(a[2], z))

    def moments(self) -> MassMoments:
        """Its mass distribution about the drive, in ring axes, without its mass at that point."""
        own = MassMoments(self.rate.number(0), self.part.first, self.part.second)
        return own.turned(transpose(self.axes))

    def unit_momentum(self) -> tuple[Vector, Vector]:
        """Momentum, and moment of momentum about the drive, by a unit rate on a base at rest."""
        zero = self.rate.number(0)
        turn = (zero, zero, zero.number(1))
        return self.out(cross(turn, self.part.first)), self.out(self.part.inertia.apply(turn))

    def motion(self, change: Scalar, acceleration: Acceleration) -> tuple[Vector, Vector]:
        """Angular velocity and acceleration in its axes; `change` is the second derivative of its angle."""
        zero = self.rate.number(0)
        if self.base_spin is None:
            return (zero, zero, self.rate), (zero, zero, change)
        x, y, z = self.into(self.base_spin)
        turn = y * self.rate, -(x * self.rate), change
        if acceleration.base is not None:
            turn = plus(turn, self.into(acceleration.base))
        return (x, y, z + self.rate), turn

    def moment(self, change: Scalar, acceleration: Acceleration) -> Vector:
        """I e + w x I w in its axes."""
        spin, turn = self.motion(change, acceleration)
        return plus(self.part.inertia.apply(turn), cross(spin, self.part.inertia.apply(spin)))

    def momentum_rate(self, change: Scalar, acceleration: Acceleration) -> tuple[Vector, Vector]:
        """The force, and moment about the drive, that its motion takes without its mass at that point, in ring axes."""
        spin, turn = self.motion(change, acceleration)
        first = self.part.first
        force = self.out(plus(cross(turn, first), cross(spin, cross(spin, first))))
        weight = cross(self.out(first), acceleration.fall)
        return force, minus(self.out(self.moment(change, acceleration)), weight)
