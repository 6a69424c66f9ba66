"""The inertia matrix and the forces of gravity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.choices import InertiaMethod
from kinegraph.derive.dynamics import composite_body, newton_euler
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def inertia(derivation: Derivation, quantity: Quantity) -> Square:
    """H."""
    return derivation.inertia


def gravity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """h^G: the generalized forces that hold the mechanism at rest against gravity."""
    if derivation.plan.inertia is InertiaMethod.CLOSED_FORM:
        forces = derivation.closed_form.gravity()
    else:
        forces = composite_body.gravity_forces(derivation.layout)
    return newton_euler.generalized(derivation.at_rest, forces, derivation.size, derivation.zero)
