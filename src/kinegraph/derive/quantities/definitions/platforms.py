"""Quantities of platforms: the legs' coordinates, what legs do to ring and base, and the closed forms of others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kinegraph.derive.platforms.alike import AlikeLegs, alike_legs
from kinegraph.derive.platforms.dynamics import PlatformDynamics, numbers_of
from kinegraph.derive.platforms.substitute import without_leg_coordinates
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.algebra import Vector
from kinegraph.errors import DerivationError
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.recognise import Platform

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity

#: As many as a ring has degrees of freedom.
_DRIVES = 6


class ClosedLegs:
    """A platform within a derivation: its dynamics with the forces that act in the model."""

    def __init__(self, derivation: Derivation, platform: Platform) -> None:
        self.derivation = derivation
        self.platform = platform

    @cached_property
    def alike(self) -> AlikeLegs:
        """The legs with symbols for the numbers in which they differ, to be computed side by side."""
        tree, names = self.derivation.described_tree, self.derivation.names
        return alike_legs(self.platform, numbers_of(self.platform, tree, names))

    @cached_property
    def dynamics(self) -> PlatformDynamics:
        """The closed forms."""
        tree, names = self.derivation.described_tree, self.derivation.names
        numbers = self.alike.legs if self.derivation.alike else numbers_of(self.platform, tree, names)
        return PlatformDynamics(self.derivation.mechanism, self.platform, tree, names, numbers)

    @cached_property
    def elements(self) -> list[Scalar]:
        """The forces of elements on all coordinates, in the ring's coordinates alone."""
        if not self.derivation.mechanism.elements:
            return [self.derivation.zero] * self.derivation.size
        return without_leg_coordinates(self.derivation.element_forces, self.dynamics)

    @cached_property
    def forces(self) -> list[Scalar]:
        """What acts on all coordinates beside inertia and gravity."""
        builder = self.derivation.builder
        given = [Scalar(builder, builder.symbol(*one)) for one in Variables.FORCES.symbols(self.derivation.mechanism)]
        return [a + b for a, b in zip(given, self.elements, strict=True)]

    @cached_property
    def motion(self) -> tuple[Vector, Vector]:
        """The ring's accelerations under these forces."""
        return self.dynamics.ring_accelerations(self.forces)

    @property
    def is_driven(self) -> bool:
        """Whether the drives determine the ring's motion: one for each of its six degrees of freedom."""
        return len(self.platform.legs) == _DRIVES

    def accelerations(self) -> list[Scalar]:
        """Of all coordinates."""
        return self.dynamics.accelerations(self.forces)

    def efforts(self) -> list[Scalar]:
        """The forces of the drives for accelerations that are given."""
        builder, mechanism = self.derivation.builder, self.derivation.mechanism
        given = [Scalar(builder, builder.symbol(*one)) for one in Variables.ACCELERATIONS.symbols(mechanism)]
        return self.dynamics.efforts(given, self.elements)


def ring_acceleration(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The six of the ring alone."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.ring_alone(legs.forces)


def leg_positions(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """All coordinates that are not the ring's, in the order of q, from the ring's pose."""
    found = _legs(derivation, quantity).dynamics.leg_positions()
    return [found[name] for name in derivation.mechanism.layout.positions if name in found]


def leg_velocities(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Their rates, from the ring's velocity."""
    found = _legs(derivation, quantity).dynamics.leg_rates()
    return [found[name] for name in derivation.mechanism.layout.velocities if name in found]


def ring_forces(derivation: Derivation, quantity: Quantity) -> list[list[Scalar]]:
    """Force and moment of each leg on the ring."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.on_ring(*legs.motion, legs.forces)


def leg_reactions(derivation: Derivation, quantity: Quantity) -> list[list[Scalar]]:
    """Force and moment of each leg on the base."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.on_base(*legs.motion, legs.forces)


def base_reaction(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Force and moment of all legs on the base."""
    return _legs(derivation, quantity).dynamics.sum_on_base(leg_reactions(derivation, quantity))


def _legs(derivation: Derivation, quantity: Quantity) -> ClosedLegs:
    if derivation.platform is None:
        raise DerivationError(
            f"{quantity}: {derivation.mechanism.name} is no platform: a free ring on legs UPS, SPU, UCU, RUS or RSU, "
            "and nothing else that moves\n  see docs/platforms.md; reactions of any mechanism: kg.reactions"
        )
    return derivation.platform
