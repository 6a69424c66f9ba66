"""Cases of a plan: their initial states, how they run, and any case again by its index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import KinegraphError, StudyError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.jit.cache import digest
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Expression, Scalar, names
from kinegraph.model.mechanism import Coordinate, Inertia
from kinegraph.model.validation.mechanism import check_values
from kinegraph.simulate.checks.diagnosis import Ends, named_endings
from kinegraph.simulate.contacts.equations import ContactCode, OpenForm
from kinegraph.simulate.contacts.runs import ContactSolver
from kinegraph.simulate.drift import closed_runs
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.events import event_set
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import INTERVALS, simulate
from kinegraph.solve.ensemble import CaseProblem, CaseRows, Integers, Outputs
from kinegraph.solve.execution import Native
from kinegraph.solve.problem import CauchyProblem, EventSet, Floats, Sampled
from kinegraph.solve.recording import Grid, Status
from kinegraph.solve.solution import Solution
from kinegraph.studies.case_integrators import ContactCases, ControlledCases, EachCase
from kinegraph.studies.outcomes import Column, Reduced, output_graph
from kinegraph.studies.plan import Plan, Runner
from kinegraph.studies.sampling import case_seed

# Initial states as functions of the varied values, for many cases at once.


@dataclass(frozen=True)
class Starts:
    """Initial states and parameter values by row; `faults` says why a row cannot start, by row."""

    states: Floats
    parameters: Floats
    faults: Mapping[int, str]


def starts(plan: Plan, equations: Equations, varied: Mapping[str, Floats]) -> Starts:
    """The initial states of cases with these varied values."""
    rows = len(next(iter(varied.values()))) if varied else 1
    runtime = plan.runtime_values(varied)
    columns = [*runtime.values(), *(np.zeros(rows) for _ in plan.held.parameters)]
    parameters = np.column_stack(columns) if columns else np.zeros((rows, 0))
    values = _initial_values(plan, equations, varied, rows)
    layout = plan.mechanism.layout
    faults = _impossible(plan, equations, varied)
    q, v, z = (values[:, part.slice] for part in (layout.position_part, layout.velocity_part, layout.state_part))
    for start in plan.mechanism.layout.quaternions:
        faults |= _normalized(q, start)
    if is_constrained(plan.mechanism):
        faults |= _assembled(plan, varied, q, v, faults)
    finite = np.isfinite(values).all(axis=1) & np.isfinite(parameters).all(axis=1)
    faults |= {int(row): "an initial value is not finite" for row in np.flatnonzero(~finite)} | faults
    states = _packed(equations, q, v, z, parameters)
    return Starts(states, parameters, faults)


def nominal_note(plan: Plan) -> str | None:
    """The declared initial values that were changed to close loops in the nominal case, as text; None if all hold,
    or none can."""
    if not is_constrained(plan.mechanism):
        return None
    varied = dict(zip(plan.samples.names, plan.samples.rows(0, 1).T, strict=True))
    values = _initial_values(plan, plan.equations(), varied, 1)
    layout = plan.mechanism.layout
    q, v = values[:, layout.position_part.slice], values[:, layout.velocity_part.slice]
    if any(_normalized(q, start) for start in plan.mechanism.layout.quaternions):
        return None
    try:
        return _fitting(plan, varied, q[0], v[0], 0).note
    except KinegraphError:
        return None


def _impossible(plan: Plan, equations: Equations, varied: Mapping[str, Floats]) -> dict[int, str]:
    """The rows with negative masses, moments of inertia or armatures, with the message of a single run."""
    runtime = plan.runtime_values(varied)
    inertias = [one for body in plan.mechanism.bodies for one in _inertias(body.inertia)]
    inertias += [one.armature for one in plan.mechanism.coordinates]
    changed = [one for one in inertias if names(one) & runtime.keys()]
    found: dict[int, str] = {}
    for row in np.flatnonzero((_values(plan, equations, changed, varied) < 0).any(axis=1)) if changed else ():
        numbers = {name: float(column[row]) for name, column in runtime.items()}
        try:
            check_values(plan.mechanism, parameter_values(plan.mechanism, {**plan.parameters, **numbers}))
        except KinegraphError as error:
            found[int(row)] = str(error).partition("\n")[0]
    return found


def _inertias(inertia: Inertia) -> tuple[Expression, ...]:
    return inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz


def _initial_values(plan: Plan, equations: Equations, varied: Mapping[str, Floats], rows: int) -> Floats:
    """Positions, velocities and first-order states, a row for each case."""
    known = plan.mechanism.layout.initial
    written = dict(zip(known, _model_values(plan), strict=True)) | dict(plan.initial)
    found = _values(plan, equations, [written[name] for name in known], varied)
    table = np.array(np.broadcast_to(found, (rows, len(known))), dtype=float)
    for place, name in enumerate(known):
        if name in varied:
            table[:, place] = varied[name]
    return table


def _values(plan: Plan, equations: Equations, wanted: Sequence[Expression], varied: Mapping[str, Floats]) -> Floats:
    """Expressions of parameters, one row per case; a single row if they do not depend on varied names."""
    builder = GraphBuilder()
    known = Names(builder, plan.mechanism, equations.bound)
    nodes = tuple(known.scalar(one).index for one in wanted)
    graph = builder.graph([Output("y", (len(wanted),), nodes)])
    with np.errstate(all="ignore"):
        return np.asarray(interpret(graph, plan.runtime_values(varied))["y"])


def _model_values(plan: Plan) -> list[Expression]:
    """The model's own initial positions, then velocities, then first-order states, as expressions."""
    positions: list[Expression] = []
    velocities: list[Expression] = []
    for one in plan.mechanism.coordinates:
        single = isinstance(one, Coordinate)
        positions += [one.position] if single else list(one.position)  # type: ignore[list-item, arg-type]
        velocities += [one.velocity] if single else list(one.velocity)  # type: ignore[list-item, arg-type]
    return [*positions, *velocities, *(one.initial for one in plan.mechanism.states)]


def _normalized(q: Floats, start: int) -> dict[int, str]:
    """Scale quaternions to unit length; returns the rows with a quaternion of length zero."""
    part = q[:, start : start + 4]
    with np.errstate(all="ignore"):
        part /= np.max(np.abs(part), axis=1, keepdims=True)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    bad = ~np.isfinite(part).all(axis=1)
    return {int(row): "an initial quaternion is zero: give it a direction" for row in np.flatnonzero(bad)}


def _assembled(
    plan: Plan, varied: Mapping[str, Floats], q: Floats, v: Floats, faults: Mapping[int, str]
) -> dict[int, str]:
    """Project every row onto the loops and constraints; returns the rows for which this fails."""
    found: dict[int, str] = {}
    shared = None if plan.runtime else Assembler(plan.mechanism, dict(plan.parameters))
    for row in range(len(q)):
        if row in faults:
            continue
        try:
            fitting = _fitting(plan, varied, q[row], v[row], row, shared).required()
            q[row], v[row] = fitting.q, fitting.v
        except KinegraphError as error:
            found[row] = str(error)
    return found


def _fitting(
    plan: Plan, varied: Mapping[str, Floats], q: Floats, v: Floats, row: int, shared: Assembler | None = None
) -> Assembly:
    """The initial state of one case: varied and given values hold first, then those that the model declares."""
    others = {*plan.sources.values(), *plan.mechanism.layout.states}
    given = tuple(name for name in (*plan.initial, *varied) if name not in others)
    numbers = {name: float(column[row]) for name, column in plan.runtime_values(varied).items()}
    assembler = shared or Assembler(plan.mechanism, {**plan.parameters, **numbers})
    return assembler.assembled(q, v, given, plan.span[0], plan.mechanism.declared)


def _packed(equations: Equations, q: Floats, v: Floats, z: Floats, parameters: Floats) -> Floats:
    """States by row; in velocities they are q, v and z, with zeros for integrals and balances."""
    if equations.in_velocities is equations:
        known = np.hstack([q, v, z])
        return np.hstack([known, np.zeros((len(q), len(equations.names) - known.shape[1]))])
    return np.array([equations.pack(*row) for row in zip(q, v, parameters, strict=True)])


# Running cases of a plan: equations and kernels are made once per process and serve any case.

#: The status of a case that could not start.
NOT_STARTED = "NOT_STARTED"
#: Of the first cases of a study, those that fail are diagnosed.
_LOOKED_INTO = 1000


@dataclass(frozen=True)
class CaseTable:
    """Some cases: columns of equal length, and states at the requested times (cases, times, entries)."""

    first: int
    columns: Mapping[str, Column]
    saved: Floats

    def __len__(self) -> int:
        return len(self.columns["case"])

    @property
    def complete(self) -> bool:
        """Whether every case ran to its end."""
        return not np.any(self.columns["status"] == Status.INTERRUPTED.name)


class CaseRunner:
    """Runs cases of one plan, from any number of threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.equations = plan.equations()
        self._lock = Lock()

    def run(self, first: int, last: int, stop: Integers | None = None) -> CaseTable:
        """The cases first <= index < last. stop: see `CaseProblem.run`."""
        self.prepare()
        values = self.plan.samples.rows(first, last)
        varied = dict(zip(self.plan.samples.names, values.T, strict=True))
        beginnings = starts(self.plan, self.equations, varied)
        rows = self._named(self._rows(beginnings, stop), beginnings, first)
        saved = rows.saved
        if self.plan.grid:
            saved = closed_runs(self.equations, self.plan.grid_times(), saved, beginnings.parameters)
        return CaseTable(first, self._columns(first, varied, beginnings, rows), saved)

    def solution(self, index: int) -> Solution:
        """The motion of one case, at equal intervals."""
        return Case(self.plan, index).simulate()

    def prepare(self, tell: bool = False) -> None:
        """Compile or load all code, once."""
        with self._lock:
            _ = self.problem

    @cached_property
    def problem(self) -> CaseProblem | EachCase | ControlledCases:
        """The parts shared by all cases: the system, events, outputs."""
        held = self.plan.held
        if not held.given:
            return self._uncontrolled
        controllers = held.controllers(self.plan.mechanism, self.equations.names)
        outputs = len(self.plan.outcome_table.outputs)
        return ControlledCases(self._uncontrolled, controllers, len(held.parameters), outputs)

    @property
    def _uncontrolled(self) -> CaseProblem | EachCase:
        plan = self.plan
        rhs = self.equations.right_hand_side(jacobian=plan.solver.capabilities.jacobian, native=plan.native)
        nowhere = np.zeros(rhs.size)
        problem = CauchyProblem(rhs, nowhere, *plan.span, np.zeros(rhs.parameters), plan.signals, plan.native)
        grid = Grid(plan.grid_times()) if plan.grid else None
        events = event_set(self.equations, plan.events, plan.native)
        tableau = plan.solver.capabilities.lanes
        if plan.mechanism.contacts:
            return ContactCases(
                self.equations, self._contact_solver, problem, plan.control, events, plan.outcome_table.outputs, grid,
                tallied=self._outputs(),
            )  # fmt: skip
        if tableau is not None:
            return CaseProblem(tableau, problem, plan.control, events, self._outputs(), grid)
        return EachCase(self.equations, plan.solver, problem, plan.control, events, plan.outcome_table.outputs, grid)

    @cached_property
    def _contact_solver(self) -> ContactSolver:
        """The method, with the modes of contacts."""
        form, plan = self.equations, self.plan
        assert isinstance(form, OpenForm)
        code = ContactCode(form, plan.events, plan.native, plan.solver.capabilities.jacobian)
        return ContactSolver(plan.solver, code)

    def _outputs(self) -> Outputs:
        texts = self.plan.outcome_table.outputs
        if not texts:
            return Outputs()
        graph = self.equations.carry(output_graph(self.equations, texts))
        return Outputs(self.equations.function(graph, self.plan.native), self.plan.outcome_table.along)

    def _rows(self, beginnings: Starts, stop: Integers | None) -> CaseRows:
        """All cases that can start; the rows of the others are filled with zeros and ignored."""
        states = beginnings.states.copy()
        good = [row for row in range(len(states)) if row not in beginnings.faults]
        if len(good) == len(states):
            return self.problem.run(states, beginnings.parameters, stop)
        return _spread(self.problem.run(states[good], beginnings.parameters[good], stop), good, len(states))

    def _named(self, rows: CaseRows, beginnings: Starts, first: int) -> CaseRows:
        """The rows with diagnosed endings, for the first cases of a study: any case then gives the same row again,
        however many run with it."""
        ends = Ends(self.plan.span[0], beginnings.states, rows.finals, beginnings.parameters)
        known = range(min(len(rows.endings), max(_LOOKED_INTO - first, 0)))
        return replace(rows, endings=named_endings(self.equations, rows.endings, ends, self.plan.signals, known))

    def _columns(
        self, first: int, varied: Mapping[str, Floats], beginnings: Starts, rows: CaseRows
    ) -> dict[str, Column]:
        count = len(beginnings.states)
        status = [end.status.name for end in rows.endings]
        reason = ["" if end.status.good else str(end).partition("\n")[0] for end in rows.endings]
        for row, why in beginnings.faults.items():
            status[row], reason[row] = NOT_STARTED, why
        good = np.array([Status[one].good if one != NOT_STARTED else False for one in status], dtype=bool)
        reduced = Reduced(rows, self.plan.outcome_table.outputs, self._events.names, self.plan.span[0])
        return {
            "case": np.arange(first, first + count),
            **varied,
            "status": np.array(status, dtype=str),
            "reason": np.array(reason, dtype=str),
            "end_time": np.array([end.time for end in rows.endings]),
            "steps": rows.steps,
            **self.plan.outcome_table.columns(reduced, varied, good),
        }

    @property
    def _events(self) -> EventSet:
        return self.problem.events


def _spread(rows: CaseRows, places: list[int], count: int) -> CaseRows:
    """Rows placed at these indices of so many; the other rows are empty."""
    from kinegraph.solve.recording import Ending

    found: dict[str, object] = {}
    for name, column in vars(rows).items():
        if name == "modes":
            continue
        if name == "endings":
            endings = [Ending(Status.NOT_A_NUMBER, float("nan"))] * count
            for place, ending in zip(places, column, strict=True):
                endings[place] = ending
            found[name] = tuple(endings)
            continue
        empty = np.zeros((count, *column.shape[1:]), dtype=column.dtype)
        if column.dtype.kind == "f":
            empty[:] = np.nan
        empty[places] = column
        found[name] = empty
    return CaseRows(**found)  # type: ignore[arg-type]


_runners: dict[str, Runner] = {}
_runners_lock = Lock()
_MOST_RUNNERS = 8


def runner_of(plan: Plan) -> Runner:
    """The runner of a plan in this process, made on first use by any thread."""
    key = digest(plan.facts)
    with _runners_lock:
        if key not in _runners:
            while len(_runners) >= _MOST_RUNNERS:
                _runners.pop(next(iter(_runners)))
            _runners[key] = plan.own_runner() or CaseRunner(plan)
        return _runners[key]


@dataclass(frozen=True)
class StudyWork:
    """The cases of a plan as work in chunks; equations and kernels are made once in every process."""

    plan: Plan

    @property
    def parallel(self) -> bool:
        """Whether chunks run in parallel: compiled loops release the GIL."""
        return self.plan.native and self.plan.own_runner() is None

    def table(self, chunk: int, stop: Integers | None = None) -> CaseTable:
        """The cases of one chunk."""
        return runner_of(self.plan).run(*self.plan.cases_of(chunk), stop)


# One case of a study by its index: its numbers, its row, its motion.


@dataclass(frozen=True)
class Case:
    """A case: its varied values, its seed, its row of the table computed again, and its motion."""

    plan: Plan
    index: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.plan.samples.total:
            raise StudyError(
                f"case {self.index} does not exist: the study has cases 0 to {self.plan.samples.total - 1}"
            )

    @property
    def values(self) -> dict[str, float]:
        """The varied values, by name."""
        row = self.plan.samples.rows(self.index, self.index + 1)[0]
        return dict(zip(self.plan.samples.names, row.tolist(), strict=True))

    @property
    def seed(self) -> int:
        """The seed of this case."""
        return case_seed(self.plan.samples.seed, self.index)

    @cached_property
    def row(self) -> dict[str, bool | int | float | str]:
        """The case run again: every column of the table, bit for bit as in the study."""
        table = runner_of(self.plan).run(self.index, self.index + 1)
        return {name: column[0].item() for name, column in table.columns.items()}

    def simulate(self, times: int | ArrayLike | None = INTERVALS, native: Native = "auto") -> Solution:
        """The motion of this case with all its columns."""
        if self.plan.own_runner() is not None:
            return runner_of(self.plan).solution(self.index)
        return self._simulated(times, native)

    def _simulated(self, times: int | ArrayLike | None, native: Native) -> Solution:
        plan = self.plan
        equations = plan.equations()
        columns = plan.samples.rows(self.index, self.index + 1)
        varied = dict(zip(plan.samples.names, columns.T, strict=True))
        begun = starts(plan, equations, varied)
        if begun.faults:
            raise StudyError(f"case {self.index} cannot start: {begun.faults[0]}")
        q, v = equations.unpack(begun.states, begun.parameters[0])
        layout = plan.mechanism.layout
        values = dict(zip(plan.runtime, begun.parameters[0].tolist(), strict=False))
        parameters: dict[str, Scalar] = {**plan.parameters, **values}
        return simulate(
            plan.mechanism,
            plan.span[1] - plan.span[0],
            method=plan.solver,
            state=dict(zip((*layout.positions, *layout.velocities), [*q[0].tolist(), *v[0].tolist()], strict=True)),
            parameters=parameters,
            inputs=self._inputs(),
            events=plan.events,
            times=times,
            t0=plan.span[0],
            control=plan.control,
            native=native,
        )

    def _inputs(self) -> dict[str, Input]:
        """Inputs as for `simulate`; piecewise polynomials are sampled finely enough that a spline is identical."""
        held = {name for name, one in self.plan.forces.formulas.items() if names(one) & {*self.plan.held.parameters}}
        found: dict[str, Input] = {n: one for n, one in self.plan.forces.formulas.items() if n not in held}
        controllers = self.plan.held.controllers(self.plan.mechanism, self.plan.equations().names)
        found |= {one.name: one.fresh().given for one in controllers}
        for place, name in enumerate(self.plan.forces.sampled):
            knots = self.plan.signals.knots
            found[name] = Sampled(knots, self.plan.signals.values(knots)[:, place])
        return found
