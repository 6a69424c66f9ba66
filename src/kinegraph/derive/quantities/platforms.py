"""Quantities of platforms: coordinates of the legs, and forces of the legs on platform and base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.closed_legs import ClosedLegs
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def platform_acceleration(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The six of the platform alone."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.platform_acceleration(legs.forces)


def leg_positions(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """All coordinates that are not the platform's, in the order of q, from the platform's pose."""
    found = _legs(derivation, quantity).dynamics.leg_positions()
    return [found[name] for name in derivation.mechanism.layout.positions if name in found]


def leg_velocities(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Their rates, from the platform's velocity."""
    found = _legs(derivation, quantity).dynamics.leg_rates()
    return [found[name] for name in derivation.mechanism.layout.velocities if name in found]


def platform_forces(derivation: Derivation, quantity: Quantity) -> list[list[Scalar]]:
    """Force and moment of each leg on the platform."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.on_platform(legs.motion, legs.forces)


def leg_reactions(derivation: Derivation, quantity: Quantity) -> list[list[Scalar]]:
    """Force and moment of each leg on the base."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.on_base(legs.motion, legs.forces)


def base_reaction(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Force and moment of all legs on the base."""
    legs = _legs(derivation, quantity)
    return legs.dynamics.sum_on_base(leg_reactions(derivation, quantity), legs.motion)


def _legs(derivation: Derivation, quantity: Quantity) -> ClosedLegs:
    if derivation.platform is None:
        raise DerivationError(
            f"{quantity}: {derivation.mechanism.name} is not a platform: a free body on legs UPS, SPU, UCU, RUS or RSU "
            "that stand on the fixed frame, on carriages that slide on it, or on one free body\n"
            "  see docs/platforms.md; reactions of any mechanism: kg.reactions"
        )
    return derivation.platform
