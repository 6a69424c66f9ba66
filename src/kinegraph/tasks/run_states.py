"""The states of a run, at and between its saved times, with the forces and inputs that acted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from kinegraph.derive.dynamics.state_rate import STATE_RATES, quantity_entries
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.solve.solution import SimulatedModel, Solution
from kinegraph.tasks.operating_point import Floats, called_rows, kernel_of
from kinegraph.tasks.prescribed_motion import cubic, quintic

#: Allowed relative difference between interpolated and computed accelerations in the middle of a step.
_DEFECT = 1e-5
#: The tolerance of repeated integration, and the allowed relative difference of its end from the next row.
_TOLERANCE, _MISSED = 1e-10, 1e-4
#: Steps beyond this total number of evaluations are skipped: equations may be stiff.
_MOST_EVALUATIONS, _MOST_TOGETHER = 3000, 200_000


@dataclass(frozen=True)
class RunStates:
    """Rows of states with the acting forces."""

    mechanism: Mechanism
    parameters: Mapping[str, Scalar] | None
    times: Floats
    q: Floats
    v: Floats
    tau: Floats
    u: Floats
    z: Floats = field(default_factory=lambda: np.zeros((1, 0)))

    @property
    def arguments(self) -> dict[str, Floats | float]:
        """The arguments of kernels, by name."""
        return {"q": self.q, "v": self.v, "z": self.z, "tau": self.tau, "u": self.u, "t": self.times}


def run_states(run: Solution) -> RunStates:
    """The states of a run with the forces and inputs that acted."""
    mechanism = run_model(run).mechanism
    layout = mechanism.layout
    q, v, z = (
        np.reshape([run[name] for name in names], (-1, len(run.t))).T
        for names in (layout.positions, layout.velocities, layout.states)
    )
    return Driving(run_model(run)).states(run.t, q, v, z, run.columns)


def run_model(run: Solution) -> SimulatedModel:
    """The model of a run; TaskError if it is unknown."""
    if run.simulated is None:
        raise TaskError("a run read from a file does not contain its mechanism: simulate again")
    return run.simulated


class Driving:
    """Forces and inputs of a run at any states: its formulas and its samples."""

    def __init__(self, simulated: SimulatedModel) -> None:
        self.simulated = simulated
        builder = GraphBuilder()
        names = Names(builder, simulated.mechanism, simulated.parameters)
        if simulated.quantities is not None:
            names.replace(quantity_entries(simulated.quantities, names))
        outputs = [Output(name, (), (names.scalar(law).index,)) for name, law in simulated.inputs.items()]
        self._formulas = builder.graph(outputs) if outputs else None

    @property
    def of_states(self) -> bool:
        """Whether formulas depend on time, positions, velocities and first-order states alone."""
        layout = self.simulated.mechanism.layout
        known = {TIME, *layout.positions, *layout.velocities, *layout.states}
        nodes = () if self._formulas is None else self._formulas.nodes
        return all(node.name in known for node in nodes if isinstance(node, Symbol) and node.kind is not Kind.CONSTANT)

    def states(
        self, times: Floats, q: Floats, v: Floats, z: Floats, columns: Mapping[str, Floats] | None = None
    ) -> RunStates:
        """States with the acting forces; columns: further names that formulas may use."""
        mechanism = self.simulated.mechanism
        layout = mechanism.layout
        driving = {name: np.zeros(len(times)) for name in (*layout.forces, *layout.inputs)} | self._given(
            times, q, v, z, columns or {}
        )
        tau, u = (
            np.reshape([driving[name] for name in names], (-1, len(times))).T
            for names in (layout.forces, layout.inputs)
        )
        return RunStates(mechanism, self.simulated.parameters, times, q, v, tau, u, z)

    def _given(
        self, times: Floats, q: Floats, v: Floats, z: Floats, columns: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        simulated, rows = self.simulated, dict[str, Floats]()
        if self._formulas is not None:
            state = dict(zip(simulated.mechanism.layout.initial, np.hstack([q, v, z]).T, strict=True))
            found = interpret(self._formulas, {**columns, TIME: times, **state})
            rows = {name: np.broadcast_to(found[name], times.shape) for name in simulated.inputs}
        if simulated.signals is not None and simulated.sampled:
            rows |= zip(simulated.sampled, simulated.signals.values(times).T, strict=True)
        return rows


@dataclass(frozen=True, eq=False)
class BetweenStates:
    """Rows with their accelerations and the rates of positions and first-order states; covered: whether each step
    between rows is smooth."""

    states: RunStates
    driving: Driving
    rates: Floats
    curvatures: Floats
    accelerations: Floats
    state_rates: Floats
    covered: NDArray[np.bool_]

    def at(self, times: Floats) -> RunStates:
        """The states at any times of the run."""
        rows = self.states
        q, rates = quintic(rows.times, times, rows.q, self.rates, self.curvatures)
        v = cubic(rows.times, times, rows.v, self.accelerations)
        positions, velocities = _coordinates(rows.mechanism)
        v[:, velocities] = rates[:, positions]
        z = cubic(rows.times, times, rows.z, self.state_rates)
        return self.driving.states(times, _unit_quaternions(rows.mechanism, q), v, z)


def between(states: RunStates, driving: Driving) -> BetweenStates:
    """The interpolation between the rows of a run."""
    motion = _Motion(states, driving)
    found = motion.known(states)
    rough = set(np.flatnonzero(~motion.smooth(found)).tolist())
    if not rough:
        return found
    table = np.column_stack([states.times, states.q, states.v, states.z])
    rows, covered = [], list[bool]()
    for k in range(len(table) - 1):
        further = motion.integrated(k) if k in rough else table[:0]
        rows += [table[k : k + 1], table[:0] if further is None else further]
        covered += [further is not None] * (1 + len(rows[-1]))
    whole, width = np.vstack([*rows, table[-1:]]), 1 + states.q.shape[1]
    q, v, z = np.split(whole[:, 1:], [width - 1, width - 1 + states.v.shape[1]], axis=1)
    refined = motion.known(driving.states(whole[:, 0], q, v, z))
    return replace(refined, covered=np.array(covered))


class _TooManyEvaluations(Exception):
    """Repeating the integration of a step takes too long."""


class _Motion:
    """The equations of motion of a run."""

    def __init__(self, states: RunStates, driving: Driving) -> None:
        self.states, self.driving, self.evaluations = states, driving, 0
        rates = [STATE_RATES] if states.mechanism.states else []
        self.kernel = kernel_of(states.mechanism, ["qdd", *rates], states.parameters)

    @cached_property
    def _rates(self) -> Graph:
        builder, layout = GraphBuilder(), self.states.mechanism.layout
        v = [Node(builder, builder.symbol(Kind.VELOCITY, name)) for name in layout.velocities]
        rates = position_rates(self.states.mechanism, builder, v)
        return builder.graph([Output("rates", (len(rates),), tuple(rate.index for rate in rates))])

    def position_rates(self, q: Floats, v: Floats) -> Floats:
        """The rates of positions: velocities, except for quaternions."""
        layout = self.states.mechanism.layout
        if not layout.quaternions:
            return v
        names = (*layout.positions, *layout.velocities)
        return np.asarray(interpret(self._rates, dict(zip(names, np.hstack([q, v]).T, strict=True)))["rates"])

    def accelerations(self, states: RunStates) -> tuple[Floats, Floats]:
        """Of all velocities; and the rates of the first-order states."""
        found = called_rows(self.kernel, states.arguments)
        return found["qdd"], found.get(STATE_RATES, np.zeros((len(states.times), 0)))

    def known(self, states: RunStates) -> BetweenStates:
        """Rows with the data of their polynomials."""
        a, own = self.accelerations(states)
        rates = self.position_rates(states.q, states.v)
        curvatures = self.position_rates(states.q, a)
        layout = states.mechanism.layout
        for start in layout.quaternions:  # their rates are linear in both the quaternion and the velocities
            part = slice(start, start + 4)
            curvatures[:, part] += self.position_rates(rates, states.v)[:, part]
        covered = np.ones(len(states.times) - 1, dtype=bool)
        return BetweenStates(states, self.driving, rates, curvatures, a, own, covered)

    def smooth(self, found: BetweenStates) -> NDArray[np.bool_]:
        """For each step, whether the polynomials satisfy the equations in the middle."""
        rows = found.states
        step = np.diff(rows.times)[:, None]
        exact, own = self.accelerations(found.at(rows.times[:-1] + step[:, 0] / 2))
        smooth = _satisfied(step, rows.v, found.accelerations, exact).all(axis=1)
        if not rows.z.shape[1]:
            return np.asarray(smooth)
        each = [
            _satisfied(step, *(one[:, k : k + 1] for one in (rows.z, found.state_rates, own)))
            for k in range(rows.z.shape[1])
        ]
        return np.asarray(smooth & np.hstack(each).all(axis=1))

    def integrated(self, k: int) -> Floats | None:
        """Times and states between a row and the next; None if integration from one does not lead to the other."""
        rows = self.states
        width, span = rows.q.shape[1], (float(rows.times[k]), float(rows.times[k + 1]))
        moving = width + rows.v.shape[1]
        start, end = (np.concatenate([rows.q[i], rows.v[i], rows.z[i]]) for i in (k, k + 1))
        most = min(self.evaluations + _MOST_EVALUATIONS, _MOST_TOGETHER)

        def rate(t: float, y: Floats) -> Floats:
            self.evaluations += 1
            if self.evaluations > most:
                raise _TooManyEvaluations
            q, v, z = y[None, :width], y[None, width:moving], y[None, moving:]
            a, own = self.accelerations(self.driving.states(np.array([t]), q, v, z))
            return np.concatenate([self.position_rates(q, v)[0], a[0], own[0]])

        try:
            found = solve_ivp(rate, span, start, "DOP853", rtol=_TOLERANCE, atol=_TOLERANCE * 1e-2, dense_output=True)
        except _TooManyEvaluations:
            return None
        if not found.success or not np.isfinite(found.y).all():
            return None
        change = np.max(np.abs(found.y - start[:, None]), axis=1) + 1e-9 * np.abs(start)
        if np.any(np.abs(found.y[:, -1] - end) > _MISSED * change + 1e-9):
            return None
        parts = [np.linspace(a, b, 8, endpoint=False) for a, b in zip(found.t[:-1], found.t[1:], strict=True)]
        times = np.concatenate(parts)[1:]
        return np.column_stack([times, found.sol(times).T])


def _satisfied(step: Floats, values: Floats, rates: Floats, exact: Floats) -> NDArray[np.bool_]:
    """For each step, whether the slope of the cubic in the middle is the exact rate, relative to the largest."""
    supposed = 1.5 * np.diff(values, axis=0) / step - 0.25 * (rates[:-1] + rates[1:])
    size = np.maximum(np.maximum(np.abs(rates[:-1]), np.abs(rates[1:])), np.abs(exact)).max(axis=1, initial=0.0)
    size = np.maximum(size, 1e-9 * np.max(np.abs(rates), initial=1e-300))
    return np.asarray(np.max(np.abs(supposed - exact), axis=1, initial=0.0, keepdims=True) <= _DEFECT * size[:, None])


def _coordinates(mechanism: Mechanism) -> tuple[list[int], list[int]]:
    """Positions and velocities of coordinates that are not quaternions."""
    layout = mechanism.layout
    both = [
        (layout.positions.index(one.name), layout.velocities.index(one.name + "'"))
        for one in mechanism.coordinates
        if isinstance(one, Coordinate)
    ]
    return [position for position, _ in both], [velocity for _, velocity in both]


def _unit_quaternions(mechanism: Mechanism, q: Floats) -> Floats:
    for start in mechanism.layout.quaternions:
        part = slice(start, start + 4)
        q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
    return q
