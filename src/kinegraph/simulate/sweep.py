"""`sweep`: thousands of initial conditions or parameter sets of one mechanism, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import TIME, Scalar, names
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.run import read_inputs, with_given_inputs
from kinegraph.simulate.start import normalise, starting_state
from kinegraph.simulate.sweep_task import SweepTask
from kinegraph.solve.batch.sweep import lanes_of
from kinegraph.solve.methods.by_name import Method, solver_of
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep, Tolerance
from kinegraph.solve.problem.execution import Decision, Execution, Native
from kinegraph.solve.problem.problem import Floats, require_span
from kinegraph.solve.results.files import arrow_table, save_columns
from kinegraph.solve.results.recording import Grid
from kinegraph.solve.results.status import Status

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Sweep(RichDisplay):
    """Many runs. `states[i, k]` is the state of run i at times[k], its entries called `names`."""

    model: str
    over: Mapping[str, Floats]
    names: tuple[str, ...]
    times: Floats
    states: Floats
    statuses: tuple[Status, ...]
    steps: NDArray[np.int64]
    seconds: float
    decision: Decision = field(default_factory=lambda: Decision(Execution.NATIVE, forced=True))

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, name: str) -> Floats:
        """A coordinate or velocity: one row for each run, one column for each time."""
        if name not in self.names:
            raise SolveError(f"the sweep has no {name!r}; there are {', '.join(self.names)}")
        return self.states[:, :, self.names.index(name)]

    @cached_property
    def columns(self) -> dict[str, NDArray[np.generic]]:
        """One long table: run, what was varied, time, state, status."""
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

    def __repr__(self) -> str:
        return f"<Sweep of {self}\n  {len(self)} runs over {', '.join(self.over)}, {len(self.times)} times each>"

    def __str__(self) -> str:
        good = sum(status is Status.FINISHED for status in self.statuses)
        rate = len(self) / self.seconds if self.seconds else 0.0
        words = f"{self.model}: {good} of {len(self)} runs finished in {self.seconds:.3g} s ({rate:.3g} a second)"
        return f"{words}\n  {self.decision}"


def sweep(
    mechanism: MechanismSource,
    duration: float,
    *,
    over: Mapping[str, ArrayLike],
    method: str | Method | Solver = Method.DOPRI5,
    initial: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Scalar] | None = None,
    grid: int | ArrayLike | None = None,
    start: float = 0.0,
    rtol: float = 1e-8,
    atol: Tolerance | None = None,
    step: float | None = None,
    control: Control | None = None,
    threads: int | None = None,
    native: Native = "auto",
    progress: bool | None = None,
) -> Sweep:
    """Run a mechanism many times, compiled in lanes and on all cores; each run has its own step control.

    over: arrays of one length by name of a coordinate, velocity or parameter; run i takes the i-th entry of each.
    grid: times to save at, or how many equal intervals; None saves the end only.
    The other arguments are those of `simulate`; the method must be rk4, dopri5 or dop853.
    """
    mechanism = mechanism_of(mechanism)
    solver = solver_of(method)
    lanes_of(solver)
    varied = _varied(mechanism, over)
    known = [parameter.name for parameter in mechanism.parameters]
    runtime = [name for name in varied if name in known]
    values = parameters or {}
    forces, _ = read_inputs(mechanism, inputs or {})
    if forces.sampled:
        raise SolveError("a sweep takes no sampled inputs: give forces as expressions")
    mechanism = with_given_inputs(mechanism, forces)
    equations = VelocityForm(mechanism, values, forces, runtime)
    states = _states(equations, varied, initial or {}, values)
    columns = np.column_stack([varied[name] for name in runtime]) if runtime else np.zeros((len(states), 0))
    chosen = control or (FixedStep(step) if step is not None else Adaptive(rtol, atol))
    span = float(start), float(start) + float(duration)
    task = SweepTask(equations, solver, chosen, states, columns, span, _grid(grid, span), threads, progress)
    many, decision = task.run(native)
    return Sweep(
        mechanism.name, varied, equations.names, many.times, many.states, many.statuses, many.steps, many.seconds,
        decision,
    )  # fmt: skip


def _varied(mechanism: Mechanism, over: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """The arrays, checked: names that exist, one length, finite numbers."""
    known = (*mechanism.layout.positions, *mechanism.layout.velocities, *(p.name for p in mechanism.parameters))
    varied = {name: np.asarray(values, dtype=float) for name, values in over.items()}
    for name, values in varied.items():
        if name not in known:
            raise SolveError(f"over: {mechanism.name} has no {name!r}\n  {did_you_mean(name, known)}")
        if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
            raise SolveError(f"over: {name} must be a list of finite numbers, it has shape {values.shape}")
    lengths = {len(values) for values in varied.values()}
    if len(lengths) != 1:
        raise SolveError("over: give arrays of one length, by name: run i takes the i-th entry of each")
    return varied


def _states(
    equations: VelocityForm, varied: Mapping[str, Floats], initial: Mapping[str, Scalar], values: Mapping[str, Scalar]
) -> Floats:
    """The initial states by row."""
    mechanism = equations.mechanism
    rows = len(next(iter(varied.values())))
    changing = bool(equations.runtime) and _starts_by_formula(mechanism)
    count = rows if changing else 1
    states = []
    for row in range(count):
        numbers = {**values, **{name: float(varied[name][row]) for name in equations.runtime}}
        q, v = starting_state(mechanism, initial, parameter_values(mechanism, numbers))
        states.append(equations.pack(q, v, np.zeros(0)))
    table = np.array(states) if changing else np.tile(states[0], (rows, 1))
    for name, column in varied.items():
        if name in equations.names:
            table[:, equations.names.index(name)] = column
    for start in mechanism.layout.quaternions:
        normalise(mechanism, table, start)
    return table


def _starts_by_formula(mechanism: Mechanism) -> bool:
    """Whether any initial value is a formula, which may lead to any parameter."""
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
    return Grid(np.asarray(grid, dtype=float))
