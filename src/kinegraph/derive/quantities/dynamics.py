"""Inverse dynamics, inertia, velocity forces and forward dynamics, with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics import composite_body, newton_euler
from kinegraph.derive.dynamics.articulated_body import articulated_accelerations, joints_are_independent
from kinegraph.derive.dynamics.composite_body import Square, christoffel, three_index
from kinegraph.derive.dynamics.coriolis import coriolis_matrix
from kinegraph.derive.dynamics.derivatives import (
    ChainRule,
    displacement_seeds,
    joint_force_derivatives,
    joints_are_straight,
)
from kinegraph.derive.dynamics.inertia_factorization import LinearSystem
from kinegraph.derive.plan import ForwardMethod
from kinegraph.derive.quantities import kinematics
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables
from kinegraph.derive.tree.algebra import sum_of_products
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.expressions import output
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Output

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


# Generalized forces for a motion, and their derivatives by recursions of their own.


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
    return composite_body.add_armature_forces(bodies, derivation.armature, motion)


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
    return [[Scalar(builder, along(force.index)) for along in directions] for force in derivation.element_forces]


# The inertia matrix and the forces of gravity.


def inertia(derivation: Derivation, quantity: Quantity) -> Square:
    """H."""
    return derivation.inertia


def gravity(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """h^G: the generalized forces that hold the mechanism at rest against gravity."""
    if derivation.plan.sums_over_links:
        forces = derivation.closed_form.gravity()
    else:
        forces = composite_body.gravity_forces(derivation.layout)
    return newton_euler.generalized(derivation.at_rest, forces, derivation.size, derivation.zero)


# What velocities add to the forces: the three-index array C, and the Coriolis matrix.


def three_index_array(derivation: Derivation, quantity: Quantity) -> list[Square]:
    """C^i_kl, symmetric in k and l where coordinates are true coordinates."""
    d = derivation
    entries = d.closed_form.christoffel(d.driven) if d.plan.sums_over_links else christoffel(d.layout, d.driven)
    return three_index(d.builder, d.at_rest, entries, d.joint_inertia, d.velocity_of, d.zero)


def coriolis(derivation: Derivation, quantity: Quantity) -> Square:
    """C v = sum C_kl v_k v_l; of motions prescribed in time only what is quadratic in v belongs here."""
    motion = derivation.motion(velocities=True, prescribed=False)
    entries = coriolis_matrix(derivation.layout, motion, derivation.driven)
    matrix = [[derivation.zero] * derivation.size for _ in range(derivation.size)]
    for (i, j), value in entries.items():
        for k, left in motion.columns[i.link][i.component].items():
            for m, right in motion.columns[j.link][j.component].items():
                matrix[k][m] = matrix[k][m] + left * right * value
    _add_slope_rates(derivation, matrix, motion)
    return matrix


def _add_slope_rates(derivation: Derivation, matrix: Square, motion: Motion) -> None:
    """Where dp/dq changes with q, its rate adds sum P_ik h_ij dP_jm/dt."""
    builder = derivation.builder
    seeds = {symbol: motion.velocities[index].index for symbol, index in derivation.velocity_of.items()}
    rate = ForwardDerivative(builder, seeds)
    for (i, j), value in derivation.joint_inertia.items():
        for m, slope in motion.columns[j.link][j.component].items():
            change = Scalar(builder, rate(slope.index))
            if not change.is_zero:
                for k, left in motion.columns[i.link][i.component].items():
                    matrix[k][m] = matrix[k][m] + left * value * change


# Forward dynamics, and its derivatives from those of the forces: d(qdd) = - H^-1 d(tau) at a = qdd.


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
    return derivation.factorized.solve(driving_forces(derivation))


def _by_multipliers(derivation: Derivation) -> list[Scalar]:
    return derivation.constrained.accelerations(driving_forces(derivation))


def _partitioned(derivation: Derivation) -> list[Scalar]:
    force, constrained = driving_forces(derivation), derivation.constrained
    if not constrained.places:
        return derivation.factorized.solve(force)
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
        return derivation.factorized.inverted()
    forces = _forces_along_motion(derivation, by)
    return derivation.factorized.solve_columns([[-item for item in row] for row in forces])


def _ends_in_linear_system(derivation: Derivation, by: str) -> bool:
    known = by in (DISPLACEMENTS, Variables.VELOCITIES, Variables.FORCES)
    return known and not derivation.is_constrained and joints_are_straight(derivation.at_rest)


def _forces_along_motion(derivation: Derivation, by: str) -> Square:
    motion = derivation.motion(velocities=True, accelerations=accelerations_of(derivation))
    return force_derivative(derivation, by, motion)


def operational_mobility(derivation: Derivation, quantity: Quantity) -> Square:
    """J H^-1 J^T: how a wrench at a point accelerates it and its body; with constraints, as far as these allow."""
    rows = kinematics.jacobian(derivation, quantity)
    if not derivation.size:
        return [[derivation.zero] * 6 for _ in range(6)]
    if derivation.is_constrained:
        moved = _accelerated_by(derivation, rows)
        return [[sum_of_products(left, right) for right in rows] for left in moved]
    factors = derivation.factorized
    upper = [factors.solve_upper(row) for row in rows]
    return [[factors.weighted(upper[min(i, j)], upper[max(i, j)]) for j in range(6)] for i in range(6)]


def _accelerated_by(derivation: Derivation, rows: Square) -> Square:
    """Rows times d(qdd)/d(tau), which is the inverse of H on what the constraints allow."""
    builder, accelerations = derivation.builder, accelerations_of(derivation)
    columns = []
    for symbol in _force_symbols(derivation):
        along = ForwardDerivative(builder, {symbol.index: builder.one})
        columns.append([Scalar(builder, along(item.index)) for item in accelerations])
    return [[sum_of_products(row, column) for column in columns] for row in rows]


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
    factors = derivation.factorized
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
