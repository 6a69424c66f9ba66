"""Equations in positions and momenta, for symplectic methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.request import request_of
from kinegraph.derive.dynamics.canonical import CanonicalForm
from kinegraph.derive.dynamics.state_rate import (
    NO_FORCES,
    Forces,
)
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import Equations, VelocityForm, by_row, row_values, state_symbols
from kinegraph.solve.problem.problem import Floats


class MomentumForm(Equations):
    """y = [q, p], for symplectic methods: conservative mechanisms without forces."""

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        if mechanism.quasivelocities:
            one = mechanism.quasivelocities[0]
            raise SolveError(f"a symplectic method cannot integrate the quasi-velocity {one.name}: choose e.g. dop853")
        if forces.given or depends_on_time(mechanism):
            raise SolveError(
                "a symplectic method needs a conservative mechanism: no inputs, nothing that depends on time\n"
                "  choose another method, e.g. method='dop853'"
            )
        super().__init__(mechanism, values, NO_FORCES, runtime)

    @property
    def in_velocities(self) -> VelocityForm:
        return VelocityForm(self.mechanism, self.values, self.forces, self.runtime).with_passes(self.passes)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.mechanism.layout.positions, *self.mechanism.layout.momenta)

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        positions = (Symbol(Kind.COORDINATE, name) for name in self.mechanism.layout.positions)
        return (*positions, *(Symbol(Kind.INPUT, name) for name in self.mechanism.layout.momenta))

    @cached_property
    def _form(self) -> CanonicalForm:
        plan = Chain(request_of(self.mechanism, "H", parameters=self.bound)).derived.plan
        return CanonicalForm(self.mechanism, self.bound, plan)

    @cached_property
    def rate(self) -> Graph:
        return self._form.rate()

    @cached_property
    def _velocities(self) -> Graph:
        return self._form.velocities()

    @cached_property
    def _momenta(self) -> Graph:
        return self._form.momenta()

    def carry(self, graph: Graph) -> Graph:
        builder = GraphBuilder()
        return builder.graph(self._transferred(builder, graph))

    def carry_states(self, graph: Graph) -> Graph:
        builder = GraphBuilder()
        (rows,) = self._transferred(builder, graph)
        positions, width = len(self.mechanism.layout.positions), rows.shape[1]
        nodes: list[int] = []
        for start in range(0, len(rows.nodes), width):
            row = dict(zip(self.velocity_symbols, rows.nodes[start : start + width], strict=True))
            place = transfer(self._momenta, builder, _replacing(builder, row))
            nodes += [*rows.nodes[start : start + positions], *moved(self._momenta.outputs, place)[0].nodes]
        return builder.graph([Output(rows.name, (rows.shape[0], len(self.names)), tuple(nodes))])

    def _transferred(self, builder: GraphBuilder, graph: Graph) -> tuple[Output, ...]:
        """The outputs of a graph in q and v, in q and p."""
        solved = moved(self._velocities.outputs, transfer(self._velocities, builder))[0].nodes
        symbols = (Symbol(Kind.VELOCITY, name) for name in self.mechanism.layout.velocities)
        v = dict(zip(symbols, solved, strict=True))
        return moved(graph.outputs, transfer(graph, builder, _replacing(builder, v)))

    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0) -> Floats:
        row = np.concatenate([q, v, [t], parameters])
        return np.concatenate([q, row_values(self._momenta, state_symbols(self), row[None])["p"][0]])

    def unpack(self, states: Floats, parameters: Floats) -> tuple[Floats, Floats]:
        rows = np.hstack([states, np.zeros((len(states), 1)), by_row(parameters, len(states))])
        velocities = row_values(self._velocities, self.symbols, rows)["v"]
        return states[:, : len(self.mechanism.layout.positions)], velocities


def _replacing(builder: GraphBuilder, nodes: Mapping[Symbol, int]) -> Callable[[Symbol], int]:
    """What every symbol becomes in a builder: one of the nodes, or itself."""

    def symbol(node: Symbol) -> int:
        known = nodes.get(node)
        return builder.symbol(node.kind, node.name) if known is None else known

    return symbol
