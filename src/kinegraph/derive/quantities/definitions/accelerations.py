"""Forward dynamics, and its derivatives from those of the forces: d(qdd) = - H^-1 d(tau) at a = qdd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinegraph.derive.choices import ForwardMethod
from kinegraph.derive.derivatives.forces_and_accelerations import joints_are_straight
from kinegraph.derive.dynamics.articulated_body import articulated_accelerations, joints_are_independent
from kinegraph.derive.dynamics.forward import LinearSystem
from kinegraph.derive.quantities.definitions.inverse_dynamics import force_derivative, joint_forces
from kinegraph.derive.quantities.values import output
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.node import Output
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def accelerations(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The accelerations under generalized forces `tau`, elements acting as well."""
    return accelerations_of(derivation)


def accelerations_of(derivation: Derivation) -> list[Scalar]:
    """The accelerations, for quantities that follow from the motion."""
    if derivation.platform is not None:
        return derivation.platform.accelerations()
    motion = derivation.motion(velocities=True)
    if derivation.is_constrained:
        segmented = derivation.segmented
        if segmented:
            return segmented.accelerations()
        return _partitioned(derivation) if derivation.plan.partitioned else _by_multipliers(derivation)
    if derivation.plan.forward is ForwardMethod.ARTICULATED and joints_are_independent(motion):
        return articulated_accelerations(derivation.layout, motion, derivation.given_forces, derivation.armature)
    return derivation.factorised.solve(driving_forces(derivation))


def _by_multipliers(derivation: Derivation) -> list[Scalar]:
    return derivation.constrained.accelerations(driving_forces(derivation))


def _partitioned(derivation: Derivation) -> list[Scalar]:
    force, constrained = driving_forces(derivation), derivation.constrained
    if not constrained.places:
        return derivation.factorised.solve(force)
    return derivation.partitioned.accelerations(derivation.inertia, force, constrained.gamma)


def driving_forces(derivation: Derivation) -> list[Scalar]:
    """The forces on the coordinates less what the motion takes without acceleration."""
    bias = joint_forces(derivation, derivation.motion(velocities=True))
    return [force - item for force, item in zip(_force_symbols(derivation), bias, strict=True)]


def _force_symbols(derivation: Derivation) -> list[Scalar]:
    builder = derivation.builder
    return [Scalar(builder, builder.symbol(*one)) for one in Variables.FORCES.symbols(derivation.mechanism)]


def acceleration_derivative(derivation: Derivation, by: str) -> Square | None:
    """- H^-1 d(tau) at a = qdd, and H^-1 by the forces; None by anything else."""
    if not _ends_in_linear_system(derivation, by):
        return None
    if by == Variables.FORCES:
        return derivation.factorised.inverted()
    forces = _forces_along_motion(derivation, by)
    return derivation.factorised.solve_columns([[-item for item in row] for row in forces])


def _ends_in_linear_system(derivation: Derivation, by: str) -> bool:
    known = by in (DISPLACEMENTS, Variables.VELOCITIES, Variables.FORCES)
    return known and not derivation.is_constrained and joints_are_straight(derivation.at_rest)


def _forces_along_motion(derivation: Derivation, by: str) -> Square:
    motion = derivation.motion(velocities=True, accelerations=accelerations_of(derivation))
    return force_derivative(derivation, by, motion)


def solves(derivation: Derivation, quantity: Quantity) -> bool:
    """Is it a first derivative of accelerations that ends in a linear system?"""
    if quantity.name != "qdd" or len(quantity.by) != 1:
        return False
    return _ends_in_linear_system(derivation, derivation.variable(quantity.by[0]))


def unsolved(derivation: Derivation, quantities: Sequence[Quantity]) -> tuple[list[Output], LinearSystem]:
    """Outputs from which the last linear system is still to be solved: d(tau) (or -1) for derivatives of
    accelerations, what else was asked for, and the factors of H."""
    outputs = [
        _right_side(derivation, one) if solves(derivation, one) else derivation.output(one) for one in quantities
    ]
    factors = derivation.factorised
    system = factors.system()
    lower = [factors.lower[i][j] for i, j in system.lower]
    inverse = [factors.inverse[i] for i in range(derivation.size)]
    return [*outputs, output("lower", (len(lower),), lower), output("inverse", (len(inverse),), inverse)], system


def _right_side(derivation: Derivation, quantity: Quantity) -> Output:
    by = derivation.variable(quantity.by[0])
    right = _negative_unit(derivation) if by == Variables.FORCES else _forces_along_motion(derivation, by)
    return output(str(quantity), (derivation.size, derivation.size), right)


def _negative_unit(derivation: Derivation) -> Square:
    size, number = derivation.size, derivation.zero.number
    return [[number(-1 if i == j else 0) for j in range(size)] for i in range(size)]
