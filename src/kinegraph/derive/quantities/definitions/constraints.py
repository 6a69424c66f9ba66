"""Loops and constraints: what they miss, their Jacobian, the forces they exert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.quantities.definitions.accelerations import driving_forces
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def values(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """What is missing to fit, row by row; zero for rows that restrict velocities only."""
    return derivation.constrained.values()


def jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The derivative by displacements, row by row."""
    return derivation.constrained.jacobian()


def rates(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How fast what is missing changes, row by row."""
    return derivation.constrained.rates()


def multipliers(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The force or moment that the first frame of every row exerts on the second."""
    return derivation.constrained.multipliers(driving_forces(derivation))


def pivots(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How independent every row is of those before it."""
    return derivation.constrained.pivots()
