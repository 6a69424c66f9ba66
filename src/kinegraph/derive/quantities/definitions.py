"""The function that derives each quantity of the table.

The table itself names none: every process reads it, and most find their code on disk and derive nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.derive.quantities import centroidal, constraints, dynamics, elements, energy, kinematics, platforms
from kinegraph.lazy_imports import Functions

if TYPE_CHECKING:
    from kinegraph.derive.quantities import unknown_forces
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity
    from kinegraph.derive.tree.expressions import Values
else:
    unknown_forces = Functions("kinegraph.derive.quantities.unknown_forces")  # few models have unknowns

Definition: TypeAlias = "Callable[[Derivation, Quantity], Values]"
WrittenDerivative: TypeAlias = "Callable[[Derivation, str], Values | None]"

#: Reads a quantity off a derivation, by the quantity's name.
DEFINITIONS: dict[str, Definition] = {
    "tau": dynamics.tau,
    "H": dynamics.inertia,
    "C": dynamics.three_index_array,
    "coriolis": dynamics.coriolis,
    "gravity": dynamics.gravity,
    "bias": dynamics.bias,
    "qdd": dynamics.accelerations,
    "A_unknown": unknown_forces.matrix,
    "B_unknown": unknown_forces.right_side,
    "state_rates": elements.state_rates,
    "energy": energy.energy,
    "momentum": energy.momentum,
    "forces": elements.forces,
    "power": elements.power,
    "prescribed_power": energy.prescribed_power,
    "com": centroidal.com,
    "com_jacobian": centroidal.com_jacobian,
    "com_velocity": centroidal.com_velocity,
    "com_acceleration": centroidal.com_acceleration,
    "com_bias": centroidal.com_bias,
    "centroidal_momentum": centroidal.centroidal_momentum,
    "centroidal_matrix": centroidal.centroidal_matrix,
    "centroidal_bias": centroidal.centroidal_bias,
    "constraints": constraints.values,
    "constraint_jacobian": constraints.jacobian,
    "constraint_rates": constraints.rates,
    "constraint_accelerations": constraints.accelerations,
    "multipliers": constraints.multipliers,
    "A": constraints.dependent_columns,
    "B": constraints.independent_columns,
    "increments": constraints.increments,
    "reaction": constraints.reaction,
    "transmission": constraints.transmission,
    "qdd_proximal": constraints.proximal_accelerations,
    "pivots": constraints.pivots,
    "platform_acceleration": platforms.platform_acceleration,
    "leg_positions": platforms.leg_positions,
    "leg_velocities": platforms.leg_velocities,
    "platform_forces": platforms.platform_forces,
    "leg_reactions": platforms.leg_reactions,
    "base_reaction": platforms.base_reaction,
    "pose": kinematics.pose,
    "jacobian": kinematics.jacobian,
    "velocity": kinematics.velocity,
    "acceleration": kinematics.acceleration,
    "acceleration_bias": kinematics.acceleration_bias,
    "jacobian_rate": kinematics.jacobian_rate,
    "spatial_velocity": kinematics.spatial_velocity,
    "spatial_acceleration": kinematics.spatial_acceleration,
    "spatial_jacobian": kinematics.spatial_jacobian,
    "spatial_jacobian_rate": kinematics.spatial_jacobian_rate,
    "operational_mobility": dynamics.operational_mobility,
    "axis": kinematics.axis,
    "arm": kinematics.arm,
    "structure": elements.structure,
    "effort": elements.effort,
    "contact": elements.contact,
    "regressor": elements.regressor,
    "base_parameters": elements.base_parameters,
}

#: First derivatives by recursions of their own, by one group of variables; None where the graph is differentiated.
WRITTEN_DERIVATIVES: dict[str, WrittenDerivative] = {
    "tau": dynamics.tau_derivative,
    "qdd": dynamics.acceleration_derivative,
}
