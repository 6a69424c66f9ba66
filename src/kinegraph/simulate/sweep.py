"""`sweep`: many initial conditions or parameter sets of one mechanism, as one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.compiler.compile import LARGE
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import SolveError
from kinegraph.extras import Foreign
from kinegraph.interrupt import Interrupt
from kinegraph.jit.parallel import cores
from kinegraph.model.changes.coordinates import with_unknown_parameters
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import TIME, Scalar, names
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.checks.diagnosis import NOT_DIAGNOSED, Ends, named_endings
from kinegraph.simulate.contacts.equations import ContactCode, OpenForm
from kinegraph.simulate.contacts.runs import ContactSolver, with_flags
from kinegraph.simulate.control import NOTHING_HELD, HeldInputs, held_inputs
from kinegraph.simulate.drift import closed_runs
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.events import event_set
from kinegraph.simulate.inputs import (
    Input,
    check_inputs,
    check_method,
    given_first_order_states,
    normalize,
    read_inputs,
    span_of,
    start_of,
    with_given_inputs,
)
from kinegraph.simulate.recursive import takes_recursion
from kinegraph.simulate.run import Events, form_for, read_events
from kinegraph.solve.controlled_runs import ControlledRuns, Stretch, controlled_sweep
from kinegraph.solve.ensemble import SweepRun, integrate_each, integrate_rows
from kinegraph.solve.execution import WORTH_COMPILING, Decision, Execution, Native, Progress, bar, forced
from kinegraph.solve.methods.feedback import Controller
from kinegraph.solve.methods.method import NO_EVENTS, SILENT, Method, Solver, solver_of
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep, Tolerance
from kinegraph.solve.problem import CauchyProblem, Event, EventSet, Floats, Signals, require_span
from kinegraph.solve.recording import Ending, EventRecord, Grid, Status
from kinegraph.solve.solution import arrow_table, save_columns
from kinegraph.tabular import Tabular, runs_over_time

if TYPE_CHECKING:
    import pyarrow


# The runs of a sweep: a few short ones interpreted, otherwise compiled.


@dataclass(frozen=True)
class SweepTask:
    """Equations, the initial state of each run, and how to integrate them."""

    equations: Equations
    solver: Solver
    control: Control
    states: Floats
    parameters: Floats
    span: tuple[float, float]
    grid: Grid | None
    threads: int | None
    progress: bool | None
    inputs: Signals = field(default_factory=Signals.none)
    events: Sequence[Event] = ()
    interrupt: Interrupt = field(default_factory=Interrupt)
    held: HeldInputs = NOTHING_HELD

    @property
    def in_lanes(self) -> bool:
        """Whether compiled runs are grouped in vector lanes; otherwise they run one by one."""
        able = self.solver.capabilities
        return able.lanes is not None and not self.events

    def run(self, native: Native) -> tuple[SweepRun, Decision]:
        """Integrate as requested; "auto" compiles unless all runs together are short, and with controllers always."""
        wanted = forced(native)
        if wanted is Execution.INTERPRETED:
            return self._performed(False, self.control, 1), Decision(wanted, forced=True)
        limited = self._limited() if wanted is None and not self.controllers else None
        if limited is not None:
            runs = self._performed(False, limited, 1)
            if limited is self.control or Status.TOO_MANY_STEPS not in runs.statuses:
                return runs, Decision(Execution.INTERPRETED)
        threads = self.threads or cores()
        return self._performed(True, self.control, threads), Decision(Execution.NATIVE, forced=wanted is not None)

    def _limited(self) -> Control | None:
        """The controller limited to the number of steps worth interpreting; None for runs worth compiling."""
        most = WORTH_COMPILING // (self.solver.capabilities.evaluations * len(self.states))
        if self.control.adaptive and most:
            return replace(self.control, max_steps=most) if most < self.control.max_steps else self.control
        if self.control.adaptive or ceil((self.span[1] - self.span[0]) / self.control.step) > most:
            return None
        return self.control

    def _problem(self, native: bool) -> CauchyProblem:
        rhs = self.equations.right_hand_side(self.solver.capabilities.jacobian, native)
        first = self.states[0].copy(), self.parameters[0].copy()
        return CauchyProblem(rhs, first[0], *self.span, first[1], self.inputs, native)

    def _bar(self) -> Progress:
        return bar(self.progress, 0, len(self.states), "runs", self.equations.mechanism.name)

    def _performed(self, native: bool, control: Control, threads: int) -> SweepRun:
        """All runs, with controllers from one call to the next."""
        problem, events = self._problem(native), self._watched(native)
        if not self.controllers:
            return self._stretch(problem, events, self._whole, control, threads, self._bar())
        runs = ControlledRuns(
            self.controllers, len(self.held.parameters), self.states, self.parameters, self.span, self.grid
        )
        return controlled_sweep(
            runs, lambda one: self._stretch(problem, events, one, control, threads, SILENT), self._bar(),
            self.interrupt,
        )  # fmt: skip

    @property
    def _whole(self) -> Stretch:
        times = np.zeros(0) if self.grid is None else self.grid.times
        rows = np.arange(len(self.states))
        return Stretch(rows, self.states, self.parameters, *self.span, times, np.arange(len(times)), ())

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """The Python functions that give inputs."""
        return self.held.controllers(self.equations.mechanism, self.equations.names)

    def _watched(self, native: bool) -> EventSet:
        return event_set(self.equations, self.events, native)

    def _stretch(
        self, problem: CauchyProblem, events: EventSet, part: Stretch, control: Control, threads: int,
        progress: Progress,
    ) -> SweepRun:  # fmt: skip
        """The runs from one call of the controllers to the next, or whole."""
        problem = replace(problem, start=part.start, end=part.end)
        grid = Grid(part.times) if len(part.times) else None
        if problem.native and self.in_lanes:
            return integrate_rows(
                self.solver, problem, part.states, part.parameters, control, grid, progress, threads, self.interrupt
            )
        if grid is not None and grid.times[-1] < part.end:
            grid = Grid(np.append(grid.times, part.end))  # the next stretch starts from the last state that is saved
        found = integrate_each(
            self._each_solver(problem.native), problem, part.states, self._each_parameters(part.parameters), control,
            grid, progress, events, threads, self.interrupt, part.before,
        )  # fmt: skip
        return replace(found, states=found.states[:, : len(part.times)]) if len(part.times) else found

    def _each_solver(self, native: bool) -> Solver:
        """The method of runs that are integrated separately."""
        return self.solver

    def _each_parameters(self, parameters: Floats) -> Floats:
        return parameters


# Sweeps of mechanisms with contacts: every run has its own modes.


@dataclass(frozen=True)
class ContactSweepTask(SweepTask):
    """Equations with contacts, the initial state of each run, and how to integrate them."""

    @property
    def in_lanes(self) -> bool:
        return False

    def _problem(self, native: bool) -> CauchyProblem:
        rhs = self._contact_solver(native).code.open_rhs
        first = with_flags(self.parameters[:1], self._contact_solver(native).code)[0]
        return CauchyProblem(rhs, self.states[0].copy(), *self.span, first, self.inputs, native)

    def _watched(self, native: bool) -> EventSet:
        return NO_EVENTS  # the solver has them, with those of the contacts

    def _each_solver(self, native: bool) -> Solver:
        return self._contact_solver(native)

    def _each_parameters(self, parameters: Floats) -> Floats:
        return with_flags(parameters, self._compiled_solver.code)

    def _contact_solver(self, native: bool) -> ContactSolver:
        return self._compiled_solver if native else self._interpreted_solver

    @cached_property
    def _interpreted_solver(self) -> ContactSolver:
        return self._solver_of(False)

    @cached_property
    def _compiled_solver(self) -> ContactSolver:
        return self._solver_of(True)

    def _solver_of(self, native: bool) -> ContactSolver:
        form = self.equations
        assert isinstance(form, OpenForm)
        return ContactSolver(self.solver, ContactCode(form, self.events, native, self.solver.capabilities.jacobian))


# `sweep`.


@dataclass(frozen=True)
class Sweep(Tabular):
    """Many runs: `states[i, k]` is the state of run i at times[k], with entries `names`; `events[i]` are its events.

    endings: how each run ended, when and why. If many failed, some are diagnosed and the others say that they were
    not. assembled: the declared initial values that were changed to close loops in the first run, as text; None if
    all hold.
    """

    model: str
    over: Mapping[str, Floats]
    names: tuple[str, ...]
    times: Floats
    states: Floats
    statuses: tuple[Status, ...]
    steps: NDArray[np.int64]
    seconds: float
    decision: Decision = field(default_factory=lambda: Decision(Execution.NATIVE, forced=True))
    events: tuple[tuple[EventRecord, ...], ...] = ()
    assembled: str | None = None
    endings: tuple[Ending, ...] = ()

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Floats:
        """A coordinate or velocity: one row for each run, one column for each time."""
        if name not in self.names:
            raise SolveError(f"the sweep has no variable {name!r}; choose from {', '.join(self.names)}")
        return self.states[:, :, self.names.index(name)]

    @cached_property
    def columns(self) -> dict[str, NDArray[np.generic]]:
        """One long table: run, varied values, time, state, status."""
        runs, times = len(self.states), len(self.times)
        columns: dict[str, NDArray[np.generic]] = {"run": np.repeat(np.arange(runs), times)}
        columns |= {f"{name}(0)" if name in self.names else name: np.repeat(v, times) for name, v in self.over.items()}
        columns[TIME] = np.tile(self.times, runs)
        columns |= {name: self.states[:, :, place].ravel() for place, name in enumerate(self.names)}
        columns["status"] = np.repeat(np.array([status.name for status in self.statuses]), times)
        return columns

    def table(self) -> pyarrow.Table:
        """The columns as an Arrow table."""
        return arrow_table(self.columns)

    def save(self, path: str | Path) -> Path:
        """Write the table to a .parquet, .csv or .npz file."""
        return save_columns(path, self.columns)

    def _table(self) -> Mapping[str, NDArray[np.generic]]:
        return self.columns

    def to_xarray(self) -> Foreign:
        """The states by `run` and `t`, with the varied values, as an xarray Dataset. Needs the extra `tables`."""
        varied = {f"{name}(0)" if name in self.names else name: values for name, values in self.over.items()}
        known = {"run": np.arange(len(self)), **varied, "status": np.array([one.name for one in self.statuses])}
        return runs_over_time({name: self[name] for name in self.names}, self.times, known, {"model": self.model})

    def __repr__(self) -> str:
        return f"<Sweep of {self}\n  {len(self)} runs over {', '.join(self.over)}, {len(self.times)} times each>"

    def __str__(self) -> str:
        good = sum(status.good for status in self.statuses)
        rate = len(self) / self.seconds if self.seconds else 0.0
        words = f"{self.model}: {good} of {len(self)} runs finished in {self.seconds:.3g} s ({rate:.3g} per second)"
        bad = Counter((one.status.value, NOT_DIAGNOSED in one.detail) for one in self.endings if not one.status.good)
        early = [
            f"{count} ended early: {value}{f' ({NOT_DIAGNOSED})' if unknown else ''}"
            for (value, unknown), count in bad.most_common()
        ]
        return "\n  ".join([words, *early, str(self.decision), *([self.assembled] if self.assembled else [])])


def sweep(
    model: MechanismSource,
    duration: float,
    *,
    over: Mapping[str, ArrayLike],
    method: str | Method | Solver = Method.DOPRI5,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    events: Events = (),
    times: int | ArrayLike | None = None,
    t0: float = 0.0,
    rtol: float = 1e-8,
    atol: Tolerance | None = None,
    step: float | None = None,
    control: Control | None = None,
    threads: int | None = None,
    native: Native = "auto",
    progress: bool | None = None,
    interrupt: Interrupt | None = None,
) -> Sweep:
    """Simulate a mechanism many times in parallel; each run has its own step control.

    over: arrays of equal length by name of a coordinate, velocity or parameter; run i takes the i-th entry of each.
    times: an array of times to save at, or a number of equal intervals; None saves the end only.
    threads: number of threads; None uses all cores.
    The other arguments are those of `simulate`. With events or contacts, and for methods other than rk4, dopri5 and
    dop853, each run is integrated separately, on all cores. Every run has its own copy of controllers.
    """
    mechanism = with_unknown_parameters(mechanism_of(model), over)
    solver = solver_of(method)
    if len(mechanism.layout.velocities) > LARGE and takes_recursion(mechanism, solver, None):
        raise SolveError(
            f"{mechanism.name} is too large for a sweep: simulate its runs one by one, with recursive algorithms"
        )
    varied = _varied(mechanism, over)
    known = [parameter.name for parameter in mechanism.parameters]
    runtime = [name for name in varied if name in known]
    values = parameters or {}
    check_inputs(inputs or {}, feedback=True)
    mechanism, given, held = held_inputs(mechanism, inputs or {})
    forces, signal = read_inputs(mechanism, given)
    mechanism = with_given_inputs(mechanism, forces)
    event_list = read_events(events)
    check_method(solver, mechanism, event_list)
    equations = form_for(mechanism, solver)(mechanism, values, forces, (*runtime, *held.parameters))
    varied_and_held = varied | {name: np.zeros(len(next(iter(varied.values())))) for name in held.parameters}
    states, note = _states(equations, varied_and_held, state or {}, values, t0)
    columns = [varied_and_held[name] for name in equations.runtime]
    table = np.column_stack(columns) if columns else np.zeros((len(states), 0))
    chosen = control or (FixedStep(step) if step is not None else Adaptive(rtol, atol))
    span = span_of(t0, duration, chosen)
    kind = ContactSweepTask if mechanism.contacts else SweepTask
    task = kind(
        equations, solver, chosen, states, table, span, _grid(times, span), threads, progress, signal,
        event_list, interrupt or Interrupt(), held,
    )  # fmt: skip
    runs, decision = task.run(native)
    runs = replace(runs, states=closed_runs(equations, runs.times, runs.states, table))
    if mechanism.loops:
        from kinegraph.simulate.stretched_cranks import (
            repeated_with_loops,  # imported only with loops, for speed
        )

        equations, runs = repeated_with_loops(task, runs, native)
    endings = named_endings(equations, runs.endings, Ends(span[0], states, runs.finals, table), signal)
    return Sweep(
        mechanism.name, varied, equations.names, runs.times, runs.states, tuple(one.status for one in endings),
        runs.steps, runs.seconds, decision, runs.events, note, endings,
    )  # fmt: skip


def _varied(mechanism: Mechanism, over: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """The arrays, checked: known names, equal lengths, finite numbers."""
    known = (*mechanism.layout.initial, *(p.name for p in mechanism.parameters))
    varied = {name: np.asarray(values, dtype=float) for name, values in over.items()}
    for name, values in varied.items():
        if name not in known:
            raise SolveError(f"over: {mechanism.name} has no variable {name!r}\n  {did_you_mean(name, known)}")
        if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
            raise SolveError(f"over: {name} must be a list of finite numbers, but it has shape {values.shape}")
    lengths = {len(values) for values in varied.values()}
    if len(lengths) != 1:
        raise SolveError("over: give arrays of equal length by name; run i takes the i-th entry of each")
    return varied


def _states(
    equations: Equations, varied: Mapping[str, Floats], initial: Mapping[str, Scalar], values: Mapping[str, Scalar],
    t: float,
) -> tuple[Floats, str | None]:  # fmt: skip
    """The initial states by row, at t, and the declared values changed to close loops in the first."""
    mechanism = equations.mechanism
    rows = len(next(iter(varied.values())))
    loops = is_constrained(mechanism)
    changing = loops or (bool(equations.runtime) and _starts_by_formula(mechanism))
    found: list[Floats] = []
    note: str | None = None
    for row in range(rows if changing else 1):
        here = {name: float(column[row]) for name, column in varied.items()}
        numbers = {**values, **{name: here.pop(name) for name in equations.runtime}}
        given = {**initial, **here} if loops else initial
        known = parameter_values(mechanism, numbers)
        begun = start_of(mechanism, given, known, t)
        note = begun.note if not found else note
        found.append(np.concatenate([begun.q, begun.v, given_first_order_states(mechanism, given, known)]))
    table = np.array(found) if changing else np.tile(found[0], (rows, 1))
    layout = mechanism.layout
    for place, name in enumerate(layout.initial):
        if name in varied and not loops:
            table[:, place] = varied[name]
    for start in layout.quaternions:
        normalize(mechanism, table, start)
    parameters = np.array([[varied[name][row] for name in equations.runtime] for row in range(rows)])
    q, v, z = (table[:, part.slice] for part in (layout.position_part, layout.velocity_part, layout.state_part))
    rows_of = zip(q, v, parameters, z, strict=True)
    return np.array([equations.pack(*one[:3], t, one[3]) for one in rows_of]), note


def _starts_by_formula(mechanism: Mechanism) -> bool:
    """Whether any initial value is a formula, which may depend on any parameter."""
    if any(names(state.initial) for state in mechanism.states):
        return True
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            written = [coordinate.position, coordinate.velocity]
        else:
            written = [*coordinate.position, *coordinate.velocity]
        if any(names(one) for one in written):
            return True
    return False


def _grid(grid: int | ArrayLike | None, span: tuple[float, float]) -> Grid | None:
    if grid is None:
        return None
    if isinstance(grid, int):
        require_span(*span)
        return Grid(np.linspace(*span, grid + 1))
    return Grid.within(grid, span)
