"""Hamilton's equations of mechanisms with loops, for symplectic methods that keep every state on its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.dynamics.state_rate import Forces, with_forces
from kinegraph.derive.quantities.definitions.accelerations import driving_forces
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.values import output
from kinegraph.errors import SolveError
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.graph.transfer import moved, transfer
from kinegraph.jit.kernel import Argument
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.momentum_form import MomentumForm
from kinegraph.solve.problem.problem import Closing, RightHandSide


class ClosedMomentumForm(MomentumForm):
    """y = [q, p] on loops and holonomic constraints: conservative mechanisms without forces and quaternions."""

    closed_by_method = True

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        if mechanism.layout.quaternions:
            raise SolveError(
                f"{mechanism.name} has loops and quaternions, which a symplectic method does not take together\n"
                "  choose another method, e.g. method='dop853', or describe turns by angles"
            )
        super().__init__(mechanism, values, forces, runtime)
        rolling = [row.name for row in self._independent_rows if row.value is None]
        if rolling:
            raise SolveError(
                f"a symplectic method takes holonomic constraints alone; of velocities are: {', '.join(rolling)}\n"
                "  choose another method, e.g. method='dop853'"
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
    def _independent_rows(self) -> list[TieRow]:
        """The rows that take part."""
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
        """The free rates with forces added to those of the momenta."""
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
        entries += [derivation.factorised.solve(row.jacobian) for row in self._independent_rows]
        rows = derivation.builder.graph([output("rows", (2 * count, size), entries)])
        graphs = (self.free_rate, self.carry(values), self.carry(rows))
        return Closing(*(self.kernel(graph, whole, native) for graph in graphs))

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        return replace(super().right_hand_side(jacobian, native), closing=self._closing(native))
