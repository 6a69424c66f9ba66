"""Projection onto the constraints: one Newton step in the metric of H, as a graph, after each integration step.

With S = J H^-1 J^T the positions change by d = - H^-1 J^T S^-1 value and the velocities by - H^-1 J^T S^-1 rate, the
smallest change in the metric of kinetic energy. Convergence is quadratic, so one step removes the drift of an
integration step (about 1e-9).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinegraph.derive import platforms
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import output
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.node import Graph, Output

if TYPE_CHECKING:
    from kinegraph.derive.quantities.closed_legs import ClosedLegs
    from kinegraph.derive.quantities.derivation import Derivation

PROJECTED, MISSED, PIVOTS = "projected", "missed", "pivots"


def projected_in(builder: GraphBuilder, projection: Graph) -> tuple[Output, Output]:
    """State and pivots of a projection in another builder."""
    state, pivots = moved([projection.output(name) for name in (PROJECTED, PIVOTS)], transfer(projection, builder))
    return state, pivots


def projection(derivation: Derivation) -> Graph:
    """The graph of the projection.

    projected: positions and velocities after the step. missed: values and rates of all rows before the step, which
    shows whether redundant rows are satisfied. pivots: independence of the rows, from 1 to 0.
    """
    if derivation.platform is not None:
        return _platform_projection(derivation, derivation.platform)
    constrained = derivation.constrained
    rows = constrained.taken
    holonomic = [row.zero_value() for row in rows]
    rates = [row.rate for row in rows]
    displacement = _correction(derivation, holonomic)
    change = _correction(derivation, rates)
    q = [derivation.names[name] for name in derivation.mechanism.layout.positions]
    v = [derivation.names[name] for name in derivation.mechanism.layout.velocities]
    moved = position_rates(derivation.mechanism, derivation.builder, displacement)
    projected = [
        *(place + step for place, step in zip(q, moved, strict=True)),
        *(rate + step for rate, step in zip(v, change, strict=True)),
    ]
    missed = [*(row.zero_value() for row in constrained.rows), *(row.rate for row in constrained.rows)]
    pivots = constrained.system.row_pivots() if rows else []
    parts = {PROJECTED: projected, MISSED: missed, PIVOTS: pivots}
    return derivation.builder.graph([output(name, (len(values),), values) for name, values in parts.items()])


def _platform_projection(derivation: Derivation, closed: ClosedLegs) -> Graph:
    """Leg coordinates from the pose of the platform, in closed form."""
    layout = derivation.mechanism.layout
    symbols = {name: derivation.names[name] for name in (*layout.positions, *layout.velocities)}
    legs, missed, pivots = platforms.put_back(closed.dynamics, symbols)
    parts = {PROJECTED: list((symbols | legs).values()), MISSED: missed, PIVOTS: pivots}
    return derivation.builder.graph([output(name, (len(values),), values) for name, values in parts.items()])


def _correction(derivation: Derivation, missing: Sequence[Scalar]) -> list[Scalar]:
    """- H^-1 J^T S^-1 missing."""
    system = derivation.constrained.system
    none = [derivation.zero] * derivation.size
    return system.accelerations(none, system.factorized.solve([-item for item in missing]))
