"""Hamilton's equations for symplectic integrators: z = [q, p] with one momentum p for every entry of q."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.energy import energy
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.tree.displacements import position_rates, velocity_forces
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar, moved, transfer
from kinegraph.graph.differentiate import gradient
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Coordinate, Mechanism


class CanonicalForm:
    """Hamilton's equations of one mechanism. Momenta are input symbols named `p:` plus the name of the position."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression], plan: Plan) -> None:
        self.mechanism = mechanism
        self.derivation = Derivation(mechanism, bound, plan)
        if mechanism.elements and not self.derivation.elements.conservative:
            names = ", ".join(element.name for element in mechanism.elements)
            raise DerivationError(
                f"Hamilton's equations need forces with a potential, but not all elements have one: {names}\n"
                "  remove dampers, friction, forces and moments, or use a method that is not symplectic"
            )
        self.builder = self.derivation.builder
        self.p = [Scalar(self.builder, self.builder.symbol(Kind.INPUT, name)) for name in mechanism.layout.momenta]
        self.v = [
            Scalar(self.builder, self.builder.symbol(Kind.VELOCITY, name)) for name in mechanism.layout.velocities
        ]
        self.q = [self.builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]

    def rate(self) -> Graph:
        """z' as a function of z = [q, p]."""
        builder = self.builder
        rates = position_rates(self.mechanism, builder, self.v)
        action = self._lagrangian()
        for p, rate in zip(self.p, rates, strict=True):
            action = action - p * rate
        forces = gradient(builder, action.index, self.q)
        nodes = (*(rate.index for rate in rates), *forces)
        return self._with_velocities(Output("rate", (len(nodes),), nodes))

    def velocities(self) -> Graph:
        """v as a function of z."""
        nodes = tuple(v.index for v in self.v)
        return self._with_velocities(Output("v", (len(nodes),), nodes))

    def momenta(self) -> Graph:
        """p as a function of q and v, without a component along quaternions: p = N (N^T N)^-1 H v."""
        matrix = self.derivation.inertia
        moments = [sum((h * v for h, v in zip(row, self.v, strict=True)), self.derivation.zero) for row in matrix]
        scaled = [scale * moment for scale, moment in zip(self._scales(), moments, strict=True)]
        p = position_rates(self.mechanism, self.builder, scaled)
        return self.builder.graph([Output("p", (len(p),), tuple(item.index for item in p))])

    def _scales(self) -> list[int]:
        """(N^T N)^-1: one for ordinary coordinates, four for quaternions, whose N is half an orthogonal matrix."""
        return [s for c in self.mechanism.coordinates for s in ((1,) if isinstance(c, Coordinate) else (4, 4, 4))]

    def _lagrangian(self) -> Scalar:
        kinetic, potential = energy(self.derivation, Quantity("energy"))
        return kinetic - potential

    def _with_velocities(self, output: Output) -> Graph:
        """The output with v replaced by H^-1 N^T p."""
        graph = self.builder.graph([output])
        v = dict(zip(self.mechanism.layout.velocities, self._solved(), strict=True))
        builder = self.builder

        def symbol(node: Symbol) -> int:
            return v[node.name].index if node.kind is Kind.VELOCITY else builder.symbol(node.kind, node.name)

        return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))

    def _solved(self) -> list[Scalar]:
        return self.derivation.factorized.solve(velocity_forces(self.mechanism, self.builder, self.p))
