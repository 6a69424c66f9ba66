"""`simulate_chains`: runs over the chains of a mechanism with loops, on threads or MPI ranks, with saved histories."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import KinegraphError, SolveError
from kinegraph.extras import Foreign
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import refuse_states
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.recursive import entries
from kinegraph.recursive.chains.dynamics import ChainSystem, Stabilized
from kinegraph.recursive.chains.exchange import Exchange, Ranks, Serial, Threads
from kinegraph.recursive.chains.structure import chosen_body
from kinegraph.recursive.flatten import flattened_tree
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import initial_values, seconds, start_of
from kinegraph.simulate.run import save_at
from kinegraph.simulate.stabilization import Baumgarte
from kinegraph.solve.execution import Decision, Execution, bar
from kinegraph.solve.methods.method import Method, RunOptions, Solver, solver_of
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep
from kinegraph.solve.problem import CauchyProblem, Floats, RightHandSide
from kinegraph.solve.recording import Run
from kinegraph.solve.solution import Check, SimulatedModel, Solution

#: The body that chains hang on by this name is the ground, unless a body has the name.
GROUND = "ground"
#: Loops and constraints open by more than this (m or rad) are flagged.
_OPEN = 0.01
#: Pivots below this part are singular positions, as everywhere.
_SINGULAR = 1e-11
#: Of the usual pivot: above the first a position is far from singular, below its square near; and how many times faster
#: bodies are there if the loops lock. Velocities grow with one over the root of the pivot, those of a passage stay.
_FAR, _FASTER = 1e-2, 5.0


def simulate_chains(
    model: MechanismSource,
    duration: float,
    *,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Scalar] | None = None,
    body: str | None = None,
    threads: int = 1,
    communicator: Foreign = None,
    method: str | Method | Solver = Method.BDF,
    rtol: float = 1e-8,
    step: float | None = None,
    times: int | ArrayLike | None = 1000,
    t0: float = 0.0,
    baumgarte: Baumgarte | None = None,
    progress: bool | None = None,
) -> Solution:
    """Simulate a mechanism with loops chain by chain: each chain is reduced to one body in O(n).

    inputs: generalized forces by coordinate, as formulas of coordinates, velocities and time.
    body: what chains are reduced to, "ground" for the ground; by default the one that shares the work best.
    threads: how many share the chains. communicator: one of mpi4py: its ranks share them, and all get the solution.
    method: any method of `simulate` without loops of its own; BDF by default. step: the length of fixed steps [s].
    times: an array of times [s], or a number of equal intervals, to save at; None saves all steps.
    baumgarte: gains of the stabilization of loops and constraints [1/s]; 5 and 5 by default.
    """
    mechanism = mechanism_of(model)
    refuse_states(mechanism, "simulate_chains")
    if mechanism.layout.quaternions:
        raise SolveError(f"{mechanism.name}: runs over chains take plain coordinates, no quaternions: use simulate")
    span = seconds("t0", t0), seconds("t0", t0) + seconds("duration", duration)
    given = parameters or {}
    numbers = parameter_values(mechanism, given)
    gains = baumgarte or Baumgarte(5, 5)
    if gains.alpha is None or gains.beta is None:
        raise SolveError("simulate_chains: give both gains of baumgarte, such as Baumgarte(5, 5)")
    exchange = _exchange(threads, communicator)
    hung = _body(mechanism, given, body, exchange.workers)
    system = ChainSystem(mechanism, given, hung, exchange, Stabilized(gains.alpha, gains.beta))
    start = start_of(mechanism, initial_values(mechanism, state), numbers, span[0])
    rate = _Rate(system, _Forces(mechanism, given, inputs or {}))
    control: Control = FixedStep(step) if step is not None else Adaptive(rtol)
    solver = solver_of(method)
    names = (*mechanism.layout.positions, *mechanism.layout.velocities)
    problem = CauchyProblem(RightHandSide(rate.address, names), np.concatenate([start.q, start.v]), *span)
    options = RunOptions(save_at(times, span), progress=bar(progress, *span, "s", mechanism.name))
    run = solver.integrate(problem, solver.accept(control), options)
    rate.raise_error()
    return _solution(mechanism, given, system, solver, control, run, rate, start.note)


def _exchange(threads: int, communicator: Foreign) -> Exchange:
    if communicator is not None:
        if threads != 1:
            raise SolveError("simulate_chains: chains are shared by threads or by ranks: give one of the two")
        return Ranks(communicator)
    if threads < 1:
        raise SolveError(f"threads is {threads}: give at least 1")
    return Threads(threads) if threads > 1 else Serial()


def _body(mechanism: Mechanism, parameters: Mapping[str, Scalar], body: str | None, workers: int) -> str | None:
    known = [one.name for one in mechanism.bodies]
    if body is None:
        return chosen_body(mechanism, flattened_tree(mechanism, parameters), workers)
    if body in known:
        return body
    if body == GROUND:
        return None
    raise SolveError(f"simulate_chains: unknown body {body!r}\n  {did_you_mean(body, [*known, GROUND])}")


class _Forces:
    """Generalized forces as formulas of the whole state."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar], given: Mapping[str, Scalar]) -> None:
        layout = mechanism.layout
        for name in given:
            if name not in layout.velocities and f"{name}'" not in layout.velocities:
                raise SolveError(f"inputs: unknown coordinate {name!r}\n  {did_you_mean(name, layout.positions)}")
        self.size = len(layout.velocities)
        self._places = [layout.velocities.index(n if n in layout.velocities else f"{n}'") for n in given]
        self._kernel = None
        if not given:
            return
        builder = GraphBuilder()
        symbols = [
            *(Symbol(Kind.COORDINATE, name) for name in layout.positions),
            *(Symbol(Kind.VELOCITY, name) for name in layout.velocities),
            Symbol(Kind.TIME, TIME),
        ]
        names = Names(builder, mechanism, bound_parameters(mechanism, True, parameters))
        nodes = tuple(names.scalar(formula(text, name)).index for name, text in given.items())
        graph = builder.graph([Output("tau", (len(nodes),), nodes)])
        self._kernel = compile_graph(graph, [Argument("x", tuple(symbols))])

    def at(self, state: Floats, t: float) -> Floats:
        """All generalized forces."""
        tau = np.zeros(self.size)
        if self._kernel is not None:
            tau[self._places] = self._kernel.by_name(self._kernel(np.append(state, t)))["tau"]
        return tau


@dataclass
class _Rate:
    """y' of y = [q, v] as code with an address: the sweeps over all chains."""

    system: ChainSystem
    forces: _Forces
    pivot: float = inf
    usual: float = 0.0  # the largest of the lowest pivots
    speed: float = inf  # at the last state far from singular positions
    error: KinegraphError | None = None
    _callback: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        layout = self.system.layout
        self._n, self._m = len(layout.positions), len(layout.velocities)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._callback = kind(self._called)

    @property
    def address(self) -> int:
        """Code x -> y' with x = [y, t]."""
        return int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]

    def _called(self, given: int, target: int) -> None:
        size = self._n + self._m
        x = np.ctypeslib.as_array((ctypes.c_double * (size + 1)).from_address(given))
        out = np.ctypeslib.as_array((ctypes.c_double * size).from_address(target))
        out[:] = np.nan
        if self.error is None and np.isfinite(x).all():
            try:
                out[:] = self.at(x[:size].copy(), float(x[size]))
            except KinegraphError as error:
                self.error = error

    def at(self, state: Floats, t: float) -> Floats:
        """y' at a state."""
        q, v = state[: self._n], state[self._n :]
        found = self.system.evaluated(q, v, self.forces.at(state, t), t)
        low = int(np.argmin(found.pivots)) if len(found.pivots) else -1
        if low >= 0:
            self.pivot = min(self.pivot, float(found.pivots[low]))
            if not found.pivots[low] > _SINGULAR:
                row = self.system.row_names[low]
                raise SolveError(
                    f"the position at t = {t:.6g} is singular: {row} depends on other constraint rows there\n"
                    "  start slightly beside it, or choose a method that steps over it"
                )
            self._require_reach(low, float(found.pivots[low]), float(np.max(np.abs(v), initial=0.0)), t)
        return np.concatenate([v, self.system.gathered(found.qdd.copy())])

    def _require_reach(self, row: int, pivot: float, speed: float, t: float) -> None:
        """SolveError if velocities grow without bound near a singular position: steps would creep there forever."""
        self.usual = max(self.usual, pivot)
        if pivot > _FAR * self.usual:
            self.speed = speed
        elif pivot < _FAR**2 * self.usual and speed > _FASTER * self.speed:
            raise SolveError(
                f"loops and constraints cannot be closed beyond t = {t:.6g}: {self.system.row_names[row]} depends on "
                "others there, and velocities grow without bound\n  a prescribed motion drives them beyond their "
                "reach: limit it, change lengths, or end the run before this time"
            )

    def raise_error(self) -> None:
        """The error of an evaluation, if there was one: compiled loops cannot raise it."""
        if self.error is not None:
            raise self.error


def _solution(
    mechanism: Mechanism, parameters: Mapping[str, Scalar], system: ChainSystem, solver: Solver, control: Control,
    run: Run, rate: _Rate, note: str | None,
) -> Solution:  # fmt: skip
    layout = mechanism.layout
    names = (*layout.positions, *layout.velocities)
    missed = _missed(system, run)
    columns = {TIME: run.times} | dict(zip(names, run.states.T, strict=True)) | _energies(system, run)
    bound: dict[str, Expression] = bound_parameters(mechanism, True, parameters)
    rtol = control.rtol if isinstance(control, Adaptive) else None
    checks = (Check("loops open by (m, rad)", missed, _OPEN), Check("lowest pivot", rate.pivot))
    return Solution(
        mechanism.name, f"{solver.name}, chains", columns, layout.positions, layout.velocities, run.ending, run.events,
        checks if system.row_names else (), run.statistics, SimulatedModel(mechanism, bound, rtol),
        Decision(Execution.NATIVE, forced=True), {"position": missed}, note,
    )  # fmt: skip


def _missed(system: ChainSystem, run: Run) -> float:
    """The largest distance of saved states from loops and constraints."""
    n, none = len(system.layout.positions), np.zeros(len(system.layout.velocities))
    rows = zip(run.times.tolist(), run.states, strict=True)
    found = (system.evaluated(one[:n].copy(), one[n:].copy(), none, t).missed for t, one in rows)
    return max((float(np.max(np.abs(one), initial=0.0)) for one in found), default=0.0)


def _energies(system: ChainSystem, run: Run) -> dict[str, Floats]:
    """Kinetic and potential energy; none with springs, whose energy the chains do not know."""
    if len(system.springs):
        return {}
    flat, n = system.flat, len(system.layout.positions)
    rest = np.zeros(len(system.layout.velocities))
    rows = []
    for t, state in zip(run.times.tolist(), run.states, strict=True):
        q, v = state[:n].copy(), state[n:].copy()
        moving = entries.motion(flat.tree, flat.displaced(q, v, rest, t), q, v, rest)
        rows.append(entries.energy(flat.tree, moving, flat.gravity(t)))
    kinetic, potential = np.array(rows).reshape(-1, 2).T
    return {"kinetic": kinetic, "potential": potential, "energy": kinetic + potential}
