"""Rates of quantities along the motion of a mechanism with constraints, whatever the constraints' forces are.

The tree that is left without constraints moves under J^T lambda with lambda free. A rate that vanishes for every state
and every lambda vanishes along the motion; so does one that is a sum of the constraints' rates, which are zero along
it. Of the energies the power lambda . (J v) is taken off. Points that coincide are compared in axes that do not turn
with them: what turns about such a point is not moved by forces there. What is constant for another reason that needs
the positions to fit is not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kinegraph.compiler.compile import derive
from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.derive.dynamics.state_rate import Forces, along_motion, state_rate
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.tree.convert import Names
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.checks.conserved import ENERGY, JACOBI

_VALUE, _RATE, _SLOPE = "value", "rate", "slope"


def multiplier_names(mechanism: Mechanism) -> list[str]:
    """The symbols of lambda."""
    return [f"lambda:{name}" for name in row_names_of(mechanism)]


@dataclass(frozen=True)
class ConstraintRows:
    """The rows as one graph: `value:NAME` of those that hold by position, `rate:NAME` and `slope:NAME` of all."""

    mechanism: Mechanism
    graph: Graph

    @classmethod
    def of(cls, mechanism: Mechanism, bound: Mapping[str, Expression]) -> ConstraintRows:
        """Derive them."""
        derivation = Derivation(mechanism, bound, Plan())
        outputs = []
        for row in derivation.ties.rows():
            if row.value is not None:
                outputs.append(Output(f"{_VALUE}:{row.name}", (), (row.value.index,)))
            outputs.append(Output(f"{_RATE}:{row.name}", (), (row.rate.index,)))
            slopes = tuple(one.index for one in row.jacobian)
            outputs.append(Output(f"{_SLOPE}:{row.name}", (len(slopes),), slopes))
        return cls(mechanism, derivation.builder.graph(outputs))

    @property
    def values(self) -> tuple[Output, ...]:
        """What is zero by position."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_VALUE}:"))

    @property
    def rates(self) -> tuple[Output, ...]:
        """What is zero by velocity, row by row."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_RATE}:"))

    @property
    def slopes(self) -> tuple[Output, ...]:
        """J, row by row."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_SLOPE}:"))


def constrained_rates(
    rows: ConstraintRows, bound: Mapping[str, Expression], quantities: Graph, forces: Forces
) -> Graph:
    """The rates of a graph's outputs, in q, v, t and lambda."""
    mechanism = rows.mechanism
    tree = replace(mechanism, loops=(), constraints=())
    inputs = {name: law for name, law in forces.formulas.items() if name not in mechanism.layout.forces}
    acting = Forces(inputs, mechanism.layout.forces)
    free = along_motion(
        tree, state_rate(tree, derive(tree, "qdd", parameters=bound), bound, acting, balances=()), quantities
    )
    builder = GraphBuilder()
    place = transfer(rows.graph, builder)
    multipliers = [Node(builder, builder.symbol(Kind.INPUT, name)) for name in multiplier_names(mechanism)]
    names = Names(builder, mechanism, bound)
    held = {}
    for column, name in enumerate(mechanism.layout.forces):
        total = names.scalar(forces.formulas.get(name, expression(0)))
        for row, multiplier in zip(moved(rows.slopes, place), multipliers, strict=True):
            total = total + Node(builder, row.nodes[column]) * multiplier
        held[name] = total.index

    def replaced(symbol: Symbol) -> int:
        known = symbol.kind is Kind.INPUT and symbol.name in held
        return held[symbol.name] if known else builder.symbol(*symbol)

    outputs = moved(free.outputs, transfer(free, builder, replaced))
    power = Node(builder, builder.zero)
    for row, multiplier in zip(moved(rows.rates, place), multipliers, strict=True):
        power = power + Node(builder, row.nodes[0]) * multiplier
    return builder.graph([_without(builder, one, power) if _is_energy(one.name) else one for one in outputs])


def _is_energy(name: str) -> bool:
    return name in (ENERGY, JACOBI)


def _without(builder: GraphBuilder, output: Output, power: Node) -> Output:
    return output._replace(nodes=((Node(builder, output.nodes[0]) - power).index,))
