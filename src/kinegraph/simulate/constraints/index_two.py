"""The stabilised index-2 form of Gear, Gupta and Leimkuhler: positions, velocities, multipliers and corrections.

    q' = v + J^T mu,   H v' = f + J^T lambda,   value(q, t) = 0,   rate(q, v, t) = 0

Both conditions are equations of their own, so nothing drifts; mu is zero but for the errors of integration.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from kinegraph.derive.constraints.ties import TieRow
from kinegraph.derive.dynamics.state_rate import state_names, state_rate, with_forces
from kinegraph.derive.quantities.definitions.accelerations import driving_forces
from kinegraph.derive.quantities.definitions.inverse_dynamics import joint_forces
from kinegraph.derive.quantities.definitions.laws_of_time import motion_graph
from kinegraph.derive.quantities.values import output
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import join, moved, transfer
from kinegraph.jit.kernel import Argument
from kinegraph.simulate.equations import VelocityForm, reduced, row_values, state_symbols
from kinegraph.solve.problem.problem import Floats, RightHandSide

RESIDUAL, JACOBIAN = "residual", "jacobian"
_T = TypeVar("_T")
_CLOSING_STEPS = 3
_SLOPE = Symbol(Kind.INPUT, "slope of rates")


class IndexTwoForm(VelocityForm):
    """y = [q, v, integrals, lambda, mu, balances]; what is zero is a residual in y and y'."""

    @property
    def returned(self) -> Graph | None:
        return None

    @property
    def in_velocities(self) -> VelocityForm:
        return VelocityForm(self.mechanism, self.bound, self.forces, self.runtime).with_passes(self.passes)

    @cached_property
    def multipliers(self) -> tuple[Symbol, ...]:
        """The symbols of lambda, then of mu."""
        words = ("multiplier", "correction") if self.rows else ()
        return tuple(Symbol(Kind.INPUT, f"{word}:{row}") for word in words for row in self.rows)

    def _placed(self, first: Sequence[_T], between: Sequence[_T]) -> tuple[_T, ...]:
        """Entries of q, v, integrals and balances with others before the balances."""
        end = len(first) - len(self.balances)
        return (*first[:end], *between, *first[end:])

    @property
    def names(self) -> tuple[str, ...]:
        return self._placed(self._moving_names, [symbol.name for symbol in self.multipliers])

    @property
    def _moving_names(self) -> tuple[str, ...]:
        """The entries of y that have a rate."""
        return state_names(self.mechanism, self.forces)

    @property
    def state_symbols(self) -> tuple[Symbol, ...]:
        return self._placed(self.velocity_symbols, self.multipliers)

    @property
    def slope_symbols(self) -> tuple[Symbol, ...]:
        """The symbols of y': accelerations are what rates of velocities are called in graphs."""
        layout = self.mechanism.layout
        called = dict(zip(layout.velocities, layout.accelerations, strict=True))
        return tuple(
            Symbol(Kind.ACCELERATION, called[name]) if name in called else Symbol(Kind.INPUT, f"rate:{name}")
            for name in self.names
        )

    @property
    def _taken(self) -> list[TieRow]:
        return self._derivation.constrained.taken if self.rows else []

    @property
    def _multiplier_symbols(self) -> tuple[list[Scalar], list[Scalar]]:
        """lambda and mu in the derivation."""
        builder = self._derivation.builder
        symbols = [Scalar(builder, builder.symbol(*one)) for one in self.multipliers]
        return symbols[: len(symbols) // 2], symbols[len(symbols) // 2 :]

    @cached_property
    def _conditions(self) -> Graph:
        """`shift` of position rates by mu, `balance` of forces, and the rows by position and by velocity."""
        derivation, mechanism = self._derivation, self.mechanism
        builder = derivation.builder
        rows, (forces, shifts) = self._taken, self._multiplier_symbols
        needed = joint_forces(derivation, derivation.motion(velocities=True, accelerations=True))
        given = [Scalar(builder, builder.symbol(*one)) for one in Variables.FORCES.symbols(mechanism)]
        along = [[row.jacobian[k] for row in rows] for k in range(derivation.size)]
        zero = derivation.zero
        balance = [
            force - own - sum((e * f for e, f in zip(column, forces, strict=True)), zero)
            for force, own, column in zip(needed, given, along, strict=True)
        ]
        moved_by = [sum((e * f for e, f in zip(column, shifts, strict=True)), zero) for column in along]
        shift = position_rates(mechanism, builder, moved_by)
        values = [mu if row.value is None else row.value for row, mu in zip(rows, shifts, strict=True)]
        parts = {"shift": shift, "balance": balance, "value": values, "rate of rows": [row.rate for row in rows]}
        graph = builder.graph([output(name, (len(part),), part) for name, part in parts.items()])
        return with_forces(mechanism, graph, self.bound, self.forces)

    @cached_property
    def _motion(self) -> Graph:
        """Rates of q, integrals and balances, with accelerations as symbols."""
        derivation, mechanism = self._derivation, self.mechanism
        builder = derivation.builder
        names = [Scalar(builder, builder.symbol(*one)) for one in Variables.ACCELERATIONS.symbols(mechanism)]
        forces = list(zip(self._taken, self._multiplier_symbols[0], strict=True))
        return state_rate(mechanism, motion_graph(derivation, names, forces), self.bound, self.forces)

    @cached_property
    def residual(self) -> Graph:
        """What vanishes, in y, y' and t."""
        both = join([self._motion, self._conditions])
        builder = GraphBuilder()
        found = {one.name: one.nodes for one in moved(both.outputs, transfer(both, builder))}
        slopes = {name: builder.symbol(*one) for name, one in zip(self.names, self.slope_symbols, strict=True)}
        rates = dict(zip(self._moving_names, found["rate"], strict=True))
        shift = dict(zip(self.mechanism.layout.positions, found["shift"], strict=True))
        entries: list[int] = []
        for name in self._moving_names:
            if name not in self.mechanism.layout.velocities:
                missing = Scalar(builder, slopes[name]) - Scalar(builder, rates[name])
                entries.append((missing - Scalar(builder, shift[name]) if name in shift else missing).index)
        entries += [*found["balance"], *found["value"], *found["rate of rows"]]
        return builder.graph([Output(RESIDUAL, (len(entries),), tuple(entries))])

    @cached_property
    def iteration_matrix(self) -> Graph:
        """d(residual)/dy + c d(residual)/dy', row by row; c is the last argument."""
        builder = GraphBuilder()
        nodes = moved(self.residual.outputs, transfer(self.residual, builder))[0].nodes
        parts = [
            jacobian(builder, nodes, [builder.symbol(*one) for one in symbols])
            for symbols in (self.state_symbols, self.slope_symbols)
        ]
        slope = Scalar(builder, builder.symbol(*_SLOPE))
        entries = [
            (Scalar(builder, by_state) + slope * Scalar(builder, by_rate)).index
            for rows in zip(*parts, strict=True)
            for by_state, by_rate in zip(*rows, strict=True)
        ]
        size = len(nodes)
        return builder.graph([Output(JACOBIAN, (size, size), tuple(entries))])

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The residual in place of rates, and its iteration matrix; both take [x, y', c]."""
        whole = [Argument("x", self.symbols), Argument("rates", self.slope_symbols), Argument("c", (_SLOPE,))]
        return RightHandSide(
            code=self.kernel(self.residual, whole, native),
            names=self.names,
            inputs=len(self.forces.sampled),
            parameters=len(self.runtime),
            jacobian=self.kernel(self.iteration_matrix, whole, native),
            algebraic=tuple(symbol.name for symbol in self.multipliers),
        )

    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0) -> Floats:
        for _ in range(_CLOSING_STEPS if self.rows else 0):  # rounded rows close as a whole, these must vanish exactly
            closer = self.projected_states(np.array([t]), q[None], v[None], parameters)
            q, v = closer.q[0], closer.v[0]
        first = [*q, *v, *np.zeros(len(self._moving_names) - len(q) - len(v))]
        multipliers = self._start_multipliers(q, v, parameters, t) if self.rows else np.zeros(0)
        return np.array(self._placed(first, [*multipliers, *np.zeros(len(multipliers))]))

    def _start_multipliers(self, q: Floats, v: Floats, parameters: Floats, t: float) -> Floats:
        derivation = self._derivation
        constrained = derivation.constrained
        found = constrained.system.multipliers(driving_forces(derivation), constrained.gamma)
        graph = derivation.builder.graph([output("lambda", (len(found),), found)])
        graph = reduced(with_forces(self.mechanism, graph, self.bound, self.forces))
        still = [Symbol(Kind.INPUT, name) for name in self.forces.sampled]
        row = np.concatenate([q, v, [t], parameters, np.zeros(len(still))])
        return np.asarray(row_values(graph, (*state_symbols(self), *still), row[None])["lambda"][0])
