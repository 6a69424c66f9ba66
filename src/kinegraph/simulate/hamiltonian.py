"""Equations of motion in positions and momenta, for symplectic methods; with and without constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import derived
from kinegraph.derive.constraints.constraint_rows import ConstraintRow
from kinegraph.derive.dynamics.hamilton import CanonicalForm
from kinegraph.derive.dynamics.state_rate import NO_FORCES, Forces, with_forces
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.dynamics import driving_forces
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.derive.tree.expressions import output
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import NOTHING, Equations, VelocityForm, by_row, row_values, state_symbols
from kinegraph.solve.problem import Closing, Floats, RightHandSide

# Hamilton's equations of mechanisms without loops.


class MomentumForm(Equations):
    """y = [q, p], for symplectic methods: conservative mechanisms without forces."""

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        if mechanism.quasivelocities:
            one = mechanism.quasivelocities[0]
            raise SolveError(
                f"a symplectic method cannot integrate the quasi-velocity {one.name}: use another method, "
                "e.g. method='dop853'"
            )
        if mechanism.states:
            raise SolveError(
                f"a symplectic method cannot integrate the first-order state {mechanism.states[0].name}: use another "
                "method, e.g. method='dop853'"
            )
        if forces.given or depends_on_time(mechanism):
            raise SolveError(
                "a symplectic method needs a conservative mechanism without inputs or time dependence\n  "
                "use another method, e.g. method='dop853'"
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
        plan = derived(request_of(self.mechanism, "H", parameters=self.bound)).plan
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

    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0, z: Floats = NOTHING) -> Floats:
        row = np.concatenate([q, v, [t], parameters])
        return np.concatenate([q, row_values(self._momenta, state_symbols(self), row[None])["p"][0]])

    def unpack(self, states: Floats, parameters: Floats) -> tuple[Floats, Floats]:
        rows = np.hstack([states, np.zeros((len(states), 1)), by_row(parameters, len(states))])
        velocities = row_values(self._velocities, self.symbols, rows)["v"]
        return states[:, : len(self.mechanism.layout.positions)], velocities


def _replacing(builder: GraphBuilder, nodes: Mapping[Symbol, int]) -> Callable[[Symbol], int]:
    """The value of every symbol in a builder: one of the nodes, or itself."""

    def symbol(node: Symbol) -> int:
        known = nodes.get(node)
        return builder.symbol(node.kind, node.name) if known is None else known

    return symbol


# Hamilton's equations of mechanisms with loops, for symplectic methods that keep every state on its constraints.


class ClosedMomentumForm(MomentumForm):
    """y = [q, p] on loops and holonomic constraints: conservative mechanisms without forces and quaternions."""

    closed_by_method = True

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        if mechanism.layout.quaternions:
            raise SolveError(
                "a symplectic method does not support loops together with quaternions, as in "
                f"{mechanism.name}\n  use another method, e.g. method='dop853', or describe rotations by "
                "angles"
            )
        super().__init__(mechanism, values, forces, runtime)
        rolling = [row.name for row in self._independent_rows if row.value is None]
        if rolling:
            raise SolveError(
                f"a symplectic method supports only holonomic constraints; these restrict velocities: "
                f"{', '.join(rolling)}\n  use another method, e.g. method='dop853'"
            )

    @property
    def keeps_closed(self) -> bool:
        return False

    @cached_property
    def in_velocities(self) -> VelocityForm:
        return VelocityForm(self.mechanism, self.values, self.forces, self.runtime).with_passes(self.passes)

    @property
    def projection(self) -> Graph | None:
        return self.in_velocities.projection

    @property
    def _derivation(self) -> Derivation:
        return self._form.derivation

    @cached_property
    def _independent_rows(self) -> list[ConstraintRow]:
        """The independent rows."""
        constrained = self._derivation.constrained
        return constrained.taken

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(row.name for row in self._independent_rows)

    @cached_property
    def free_rate(self) -> Graph:
        """y' with all loops open."""
        return self._form.rate()

    @cached_property
    def rate(self) -> Graph:
        derivation = self._derivation
        forces = [derivation.zero] * derivation.size
        if self._independent_rows:
            constrained = derivation.constrained
            found = constrained.system.multipliers(driving_forces(derivation), constrained.gamma)
            for row, multiplier in zip(self._independent_rows, found, strict=True):
                forces = [force + entry * multiplier for force, entry in zip(forces, row.jacobian, strict=True)]
        return self._joined(self._in_momenta(forces))

    def _in_momenta(self, values: Sequence[Node]) -> Graph:
        graph = self._derivation.builder.graph([output("forces", (len(values),), values)])
        return self.carry(with_forces(self.mechanism, graph, self.bound, self.forces))

    def _joined(self, forces: Graph) -> Graph:
        """The free rates, with constraint forces added to those of the momenta."""
        builder = self._derivation.builder
        (rates,) = moved(self.free_rate.outputs, transfer(self.free_rate, builder))
        (added,) = moved(forces.outputs, transfer(forces, builder))
        count = len(added.nodes)
        sums = [
            (Node(builder, rate) + Node(builder, force)).index
            for rate, force in zip(rates.nodes[count:], added.nodes, strict=True)
        ]
        return builder.graph([Output("rate", rates.shape, (*rates.nodes[:count], *sums))])

    def _closing(self, native: bool) -> Closing:
        derivation, whole = self._derivation, [Argument("x", self.symbols)]
        count, size = len(self._independent_rows), derivation.size
        values = derivation.builder.graph(
            [output("values", (count,), [row.zero_value() for row in self._independent_rows])]
        )
        entries = [list(row.jacobian) for row in self._independent_rows]
        entries += [derivation.factorized.solve(row.jacobian) for row in self._independent_rows]
        rows = derivation.builder.graph([output("rows", (2 * count, size), entries)])
        graphs = (self.free_rate, self.carry(values), self.carry(rows))
        return Closing(*(self.kernel(graph, whole, native) for graph in graphs))

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        return replace(super().right_hand_side(jacobian, native), closing=self._closing(native))
