"""What velocities add to the forces: the three-index array C, and the Coriolis matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.choices import InertiaMethod
from kinegraph.derive.dynamics.christoffel import christoffel
from kinegraph.derive.dynamics.coriolis import coriolis_matrix
from kinegraph.derive.tree.coordinates import Square, three_index
from kinegraph.derive.tree.displacements import Motion
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.scalar import Scalar

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


def three_index_array(derivation: Derivation, quantity: Quantity) -> list[Square]:
    """C^i_kl, symmetric in k and l where coordinates are true coordinates."""
    d = derivation
    closed = d.plan.inertia is InertiaMethod.CLOSED_FORM
    entries = d.closed_form.christoffel(d.driven) if closed else christoffel(d.layout, d.driven)
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
