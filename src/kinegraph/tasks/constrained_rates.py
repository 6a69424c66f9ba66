"""Rates of quantities along the motion of a mechanism with constraints, whatever the constraints' forces are.

The tree that is left without constraints moves under J^T lambda with lambda free. A rate that vanishes for every state
and every lambda vanishes along the motion. Of the energies the power lambda . (J v) is taken off: along the motion the
constraints' rates J v are zero. What is constant for a reason that needs the positions to fit is not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinegraph.compiler.compile import derive
from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.derive.dynamics.state_rate import Forces, along_motion, state_rate, weighted
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.checks.conserved import ENERGY, JACOBI

_JACOBIAN, _RATES = "constraint_jacobian", "constraint_rates"


def multiplier_names(mechanism: Mechanism) -> list[str]:
    """The symbols of lambda."""
    return [f"lambda:{name}" for name in row_names_of(mechanism)]


def constrained_rates(
    mechanism: Mechanism, bound: Mapping[str, Expression], quantities: Graph, in_parts: bool = False
) -> Graph:
    """The rates of a graph's outputs, in q, v, t and lambda; in_parts: their terms, weighted so that none cancel."""
    tree = replace(mechanism, loops=(), constraints=())
    forces = Forces({}, mechanism.layout.forces)
    rate = state_rate(tree, derive(tree, "qdd", parameters=bound), bound, forces, balances=())
    free = along_motion(tree, weighted(rate) if in_parts else rate, quantities)
    rows = derive(mechanism, [_JACOBIAN, _RATES], parameters=bound)
    builder = GraphBuilder()
    jacobian, rates = moved([rows.output(_JACOBIAN), rows.output(_RATES)], transfer(rows, builder))
    multipliers = [Node(builder, builder.symbol(Kind.INPUT, name)) for name in multiplier_names(mechanism)]
    held = _forces(builder, mechanism, jacobian, multipliers)

    def replaced(symbol: Symbol) -> int:
        known = symbol.kind is Kind.INPUT and symbol.name in held
        return held[symbol.name] if known else builder.symbol(*symbol)

    outputs = moved(free.outputs, transfer(free, builder, replaced))
    power = Node(builder, builder.zero)
    for node, multiplier in zip(rates.nodes, multipliers, strict=True):
        power = power + Node(builder, node) * multiplier
    return builder.graph([_without(builder, one, power) if _is_energy(one.name) else one for one in outputs])


def _forces(builder: GraphBuilder, mechanism: Mechanism, jacobian: Output, multipliers: list[Node]) -> dict[str, int]:
    """J^T lambda, by the symbols of the forces."""
    width = len(mechanism.layout.forces)
    found = {}
    for column, name in enumerate(mechanism.layout.forces):
        total = Node(builder, builder.zero)
        for row, multiplier in enumerate(multipliers):
            total = total + Node(builder, jacobian.nodes[row * width + column]) * multiplier
        found[name] = total.index
    return found


def _is_energy(name: str) -> bool:
    return name in (ENERGY, JACOBI)


def _without(builder: GraphBuilder, output: Output, power: Node) -> Output:
    return output._replace(nodes=((Node(builder, output.nodes[0]) - power).index,))
