"""Energy and momentum of the whole mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.dynamics import armature
from kinegraph.derive.dynamics.energy import kinetic_energy, potential_energy, total_momentum
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def energy(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Kinetic and potential energy; the potential is that of gravity and of the elements."""
    motion = derivation.motion(velocities=True)
    kinetic = kinetic_energy(derivation.layout, motion)
    kinetic = kinetic + armature.kinetic_energy(derivation.armature, motion, derivation.zero)
    potential = potential_energy(derivation.layout)
    has_elements = bool(derivation.mechanism.elements)
    return [kinetic, potential + derivation.elements.potential() if has_elements else potential]


def momentum(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Linear momentum, and angular momentum about the fixed origin, in fixed axes."""
    linear, angular = total_momentum(derivation.layout, derivation.motion(velocities=True))
    return [*linear, *angular]
