"""Constraint stabilization: the index-2 form of Gear, Gupta and Leimkuhler, Baumgarte's method, and the remaining
drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.constraints.constraint_rows import ConstraintRow
from kinegraph.derive.dynamics.state_rate import Forces, initial_symbols, state_names, state_rate, with_forces
from kinegraph.derive.quantities import dynamics as accelerations
from kinegraph.derive.quantities import energy as laws_of_time
from kinegraph.derive.quantities.dynamics import driving_forces, joint_forces
from kinegraph.derive.quantities.energy import motion_graph
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import output
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder, join, moved, transfer
from kinegraph.graph.build import Scalar as GraphScalar
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import NOTHING, VelocityForm, reduced, row_values
from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.problem import Floats, RightHandSide

# The stabilized index-2 form of Gear, Gupta and Leimkuhler: q' = v + J^T mu, H v' = f + J^T lambda, value(q, t) = 0,
# rate(q, v, t) = 0. Both conditions are equations, so nothing drifts; mu is zero except for integration errors.

RESIDUAL, JACOBIAN = "residual", "jacobian"
_T = TypeVar("_T")
_CLOSING_STEPS = 3
_SLOPE = Symbol(Kind.INPUT, "slope of rates")


class IndexTwoForm(VelocityForm):
    """y = [q, v, integrals, lambda, mu, balances], as a residual in y and y'."""

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
        """Entries of q, v, integrals and balances, with others inserted before the balances."""
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
        """The symbols of y'. Rates of velocities have the names of accelerations in graphs."""
        layout = self.mechanism.layout
        called = dict(zip(layout.velocities, layout.accelerations, strict=True))
        return tuple(
            Symbol(Kind.ACCELERATION, called[name]) if name in called else Symbol(Kind.INPUT, f"rate:{name}")
            for name in self.names
        )

    @property
    def _taken(self) -> list[ConstraintRow]:
        return self._derivation.constrained.taken if self.rows else []

    @property
    def _multiplier_symbols(self) -> tuple[list[GraphScalar], list[GraphScalar]]:
        """lambda and mu in the derivation."""
        builder = self._derivation.builder
        symbols = [GraphScalar(builder, builder.symbol(*one)) for one in self.multipliers]
        return symbols[: len(symbols) // 2], symbols[len(symbols) // 2 :]

    @cached_property
    def _conditions(self) -> Graph:
        """`shift` of position rates by mu, `balance` of forces, and the rows by position and by velocity."""
        derivation, mechanism = self._derivation, self.mechanism
        builder = derivation.builder
        rows, (forces, shifts) = self._taken, self._multiplier_symbols
        needed = joint_forces(derivation, derivation.motion(velocities=True, accelerations=True))
        given = [GraphScalar(builder, builder.symbol(*one)) for one in Variables.FORCES.symbols(mechanism)]
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
        names = [GraphScalar(builder, builder.symbol(*one)) for one in Variables.ACCELERATIONS.symbols(mechanism)]
        forces = list(zip(self._taken, self._multiplier_symbols[0], strict=True))
        return state_rate(mechanism, motion_graph(derivation, names, forces), self.bound, self.forces)

    @cached_property
    def residual(self) -> Graph:
        """The residual, in y, y' and t."""
        both = join([self._motion, self._conditions])
        builder = GraphBuilder()
        found = {one.name: one.nodes for one in moved(both.outputs, transfer(both, builder))}
        slopes = {name: builder.symbol(*one) for name, one in zip(self.names, self.slope_symbols, strict=True)}
        rates = dict(zip(self._moving_names, found["rate"], strict=True))
        shift = dict(zip(self.mechanism.layout.positions, found["shift"], strict=True))
        entries: list[int] = []
        for name in self._moving_names:
            if name not in self.mechanism.layout.velocities:
                missing = GraphScalar(builder, slopes[name]) - GraphScalar(builder, rates[name])
                entries.append((missing - GraphScalar(builder, shift[name]) if name in shift else missing).index)
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
        slope = GraphScalar(builder, builder.symbol(*_SLOPE))
        entries = [
            (GraphScalar(builder, by_state) + slope * GraphScalar(builder, by_rate)).index
            for rows in zip(*parts, strict=True)
            for by_state, by_rate in zip(*rows, strict=True)
        ]
        size = len(nodes)
        return builder.graph([Output(JACOBIAN, (size, size), tuple(entries))])

    def right_hand_side(self, jacobian: bool = False, native: bool = True) -> RightHandSide:
        """The residual instead of rates, and its iteration matrix; both take [x, y', c]."""
        whole = [Argument("x", self.symbols), Argument("rates", self.slope_symbols), Argument("c", (_SLOPE,))]
        return RightHandSide(
            code=self.kernel(self.residual, whole, native),
            names=self.names,
            inputs=len(self.forces.sampled),
            parameters=len(self.runtime),
            jacobian=self.kernel(self.iteration_matrix, whole, native),
            algebraic=tuple(symbol.name for symbol in self.multipliers),
        )

    def pack(self, q: Floats, v: Floats, parameters: Floats, t: float = 0.0, z: Floats = NOTHING) -> Floats:
        # rounded rows close only as a whole, but these must vanish exactly
        for _ in range(_CLOSING_STEPS if self.rows else 0):
            closer = self.projected_states(np.array([t]), q[None], v[None], parameters)
            q, v = closer.q[0], closer.v[0]
        begun = self.begun(q, v, z)
        first = [*begun, *np.zeros(len(self._moving_names) - len(begun))]
        multipliers = self._start_multipliers(begun, parameters, t) if self.rows else np.zeros(0)
        return np.array(self._placed(first, [*multipliers, *np.zeros(len(multipliers))]))

    def _start_multipliers(self, begun: Floats, parameters: Floats, t: float) -> Floats:
        derivation = self._derivation
        constrained = derivation.constrained
        found = constrained.system.multipliers(driving_forces(derivation), constrained.gamma)
        graph = derivation.builder.graph([output("lambda", (len(found),), found)])
        graph = reduced(with_forces(self.mechanism, graph, self.bound, self.forces))
        still = [Symbol(Kind.INPUT, name) for name in self.forces.sampled]
        given = [Symbol(Kind.TIME, TIME), *(Symbol(Kind.PARAMETER, name) for name in self.runtime)]
        row = np.concatenate([begun, [t], parameters, np.zeros(len(still))])
        symbols = (*initial_symbols(self.mechanism), *given, *still)
        return np.asarray(row_values(graph, symbols, row[None])["lambda"][0])


# Baumgarte's stabilization: the rows obey value'' + 2 alpha value' + beta^2 value = 0, so integration errors decay. It
# is cheaper than a projection and less exact: loops stay open by the balance of integration error and decay.

_PER_STEP = 0.2


@dataclass(frozen=True)
class Baumgarte:
    """Gains in 1/s. By default both are 0.2/h of a fixed step h: critically damped, decayed after a few steps."""

    alpha: float | None = None
    beta: float | None = None

    @classmethod
    def of(cls, given: Baumgarte | float | Sequence[float]) -> Baumgarte:
        """From the user's argument: gains, one number for both, or alpha and beta."""
        if isinstance(given, Baumgarte):
            return given
        try:
            numbers = [float(one) for one in given] if isinstance(given, Sequence) else [float(given)]
        except (TypeError, ValueError):
            numbers = []
        if isinstance(given, bool | str) or not 1 <= len(numbers) <= 2:
            raise SolveError(f"baumgarte is {given!r}: give a number in 1/s, two of them, or Baumgarte()")
        return cls(*numbers)

    def gains(self, control: Control) -> tuple[float, float]:
        """alpha and beta for a run with this controller."""
        default = _PER_STEP / control.step if isinstance(control, FixedStep) else None
        alpha = default if self.alpha is None else self.alpha
        beta = alpha if self.beta is None else self.beta
        if alpha is None or beta is None:
            raise SolveError(
                "the default gains of Baumgarte's method follow from a fixed step: give step (--step), or alpha "
                "and beta in 1/s"
            )
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 <= value < float("inf"):
                raise SolveError(f"{name} of Baumgarte's method is {value}: give a positive number in 1/s")
        return alpha, beta


class BaumgarteForm(VelocityForm):
    """y = [q, v] with decaying constraint rows, without projection."""

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str] = (),
        *,
        gains: tuple[float, float],
    ) -> None:
        if not is_constrained(mechanism):
            raise SolveError(f"{mechanism.name} has no loops or constraints to stabilize")
        super().__init__(mechanism, values, forces, runtime)
        self._gains = gains

    @property
    def keeps_closed(self) -> bool:
        return False

    @cached_property
    def rate(self) -> Graph:
        derivation = self._derivation
        constrained = derivation.constrained
        found, multipliers = constrained.stabilized(accelerations.driving_forces(derivation), *self._gains)
        motion = reduced(
            laws_of_time.motion_graph(derivation, found, list(zip(constrained.taken, multipliers, strict=True)))
        )
        return state_rate(self.mechanism, motion, self.bound, self.forces)

    @property
    def returned(self) -> Graph | None:
        return None
