"""What the legs stand on, seen in ring axes: the fixed frame, or a free body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from kinegraph.derive.platforms.ring import FreeMotion, curl_of
from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, apply, minus, product, transpose


class Base(ABC):
    """The base of all legs; `spin` is its angular velocity in ring axes, nothing if it cannot turn."""

    spin: Vector | None = None

    def __init__(self, ring: FreeMotion) -> None:
        self.ring = ring

    @abstractmethod
    def into(self, a: Vector) -> Vector:
        """A vector of the base's axes in ring axes."""

    @abstractmethod
    def ring_from(self, point: Vector) -> Vector:
        """From a point of the base to the ring's origin, in ring axes."""

    @abstractmethod
    def ring_velocity(self) -> Vector:
        """The velocity of the ring's origin against that of the base, in ring axes."""


class FixedBase(Base):
    """The fixed frame."""

    def into(self, a: Vector) -> Vector:
        return self.ring.into(a)

    def ring_from(self, point: Vector) -> Vector:
        return self.ring.into(minus(self.ring.position, point))

    def ring_velocity(self) -> Vector:
        return self.ring.into(self.ring.velocity)


class FreeBase(Base):
    """A body that moves freely."""

    def __init__(self, ring: FreeMotion, body: FreeMotion) -> None:
        super().__init__(ring)
        self.body = body
        self.spin: Vector = self.into(body.spin)

    @cached_property
    def turn(self) -> Matrix:
        """Leads from the base's axes to ring axes."""
        return product(transpose(self.ring.rotation), self.body.rotation)

    @cached_property
    def curl(self) -> Symmetric:
        """Times a vector from a point of the base to another, in ring axes, it gives w x (w x r)."""
        return curl_of(self.spin)

    def into(self, a: Vector) -> Vector:
        return apply(self.turn, a)

    def out(self, a: Vector) -> Vector:
        """A vector of ring axes in the base's axes."""
        return apply(transpose(self.turn), a)

    def ring_from(self, point: Vector) -> Vector:
        return minus(self.away, self.into(point))

    @cached_property
    def away(self) -> Vector:
        """From the base's origin to the ring's, in ring axes."""
        return self.ring.into(minus(self.ring.position, self.body.position))

    def ring_velocity(self) -> Vector:
        return self.ring.into(minus(self.ring.velocity, self.body.velocity))
