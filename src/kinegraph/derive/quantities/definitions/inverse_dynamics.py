"""Generalized forces for a motion, and their derivatives by recursions of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.derivatives.forces_and_accelerations import ChainRule, displacement_seeds
from kinegraph.derive.derivatives.inverse_dynamics import joint_force_derivatives
from kinegraph.derive.dynamics import armature, newton_euler
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.displacements import Motion
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def tau(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The generalized forces that cause given accelerations, elements acting as well.

    With constraints: forces on the independent coordinates alone that cause them, and nothing on the others.
    """
    if derivation.platform is not None and derivation.platform.is_driven:
        return derivation.platform.efforts()
    forces = joint_forces(derivation, derivation.motion(velocities=True, accelerations=True))
    return derivation.constrained.on_independent(forces) if derivation.is_constrained else forces


def bias(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The generalized forces at zero acceleration."""
    return joint_forces(derivation, derivation.motion(velocities=True))


def joint_forces(derivation: Derivation, motion: Motion) -> list[Scalar]:
    """The generalized forces a motion needs beyond those of the elements."""
    needed = tree_forces(derivation, motion)
    return [force - given for force, given in zip(needed, derivation.element_forces, strict=True)]


def tree_forces(derivation: Derivation, motion: Motion) -> list[Scalar]:
    """The generalized forces a motion of the tree needs, elements or not."""
    forces = newton_euler.joint_forces(derivation.layout, motion, derivation.euler, derivation.plan.propagated)
    bodies = newton_euler.generalized(motion, forces, derivation.size, derivation.zero)
    return armature.add_forces(bodies, derivation.armature, motion)


def tau_derivative(derivation: Derivation, by: str) -> Square | None:
    """d(tau) by displacements, velocities or accelerations; None by anything else."""
    if derivation.is_constrained or by not in (DISPLACEMENTS, Variables.VELOCITIES, Variables.ACCELERATIONS):
        return None
    return force_derivative(derivation, by, derivation.motion(velocities=True, accelerations=True))


def force_derivative(derivation: Derivation, by: str, motion: Motion) -> Square:
    """The derivative of the generalized forces along a motion."""
    if by == Variables.ACCELERATIONS:
        return derivation.inertia
    slopes = joint_force_derivatives(derivation.layout, motion, derivation.euler, derivation.driven)
    seeds = displacement_seeds(derivation.mechanism, derivation.builder)
    chain = ChainRule(derivation.builder, motion, slopes, seeds)
    needed = chain.by_displacement() if by == DISPLACEMENTS else chain.by_velocity()
    if not derivation.mechanism.elements:
        return needed
    given = _element_derivative(derivation, by)
    return [[force - item for force, item in zip(*rows, strict=True)] for rows in zip(needed, given, strict=True)]


def _element_derivative(derivation: Derivation, by: str) -> Square:
    builder = derivation.builder
    directions = derivation.displacement_derivatives
    if by == Variables.VELOCITIES:
        symbols = [builder.symbol(*symbol) for symbol in Variables.VELOCITIES.symbols(derivation.mechanism)]
        directions = [ForwardDerivative(builder, {symbol: builder.one}) for symbol in symbols]
    return [[Scalar(builder, way(force.index)) for way in directions] for force in derivation.element_forces]
