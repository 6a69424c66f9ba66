"""`gradient`: derivatives of a run's final results with respect to many variables, by the adjoint equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.errors import TaskError
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.drift import without_drift
from kinegraph.simulate.equations import row_values
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import save_at
from kinegraph.simulate.sensitivities import (
    at_knots,
    motion_signals,
    node_times,
    reversed_signals,
    together,
    unresolved,
)
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Tolerance
from kinegraph.solve.problem import Signals
from kinegraph.solve.recording import Grid, OwnSteps, Run
from kinegraph.tabular import Tabular
from kinegraph.tasks.differentiated_run import (
    DifferentiatedRun,
    Results,
    derivative_columns,
    derivative_table,
    differentiated,
    require_continuous,
    run_request,
)
from kinegraph.tasks.operating_point import Floats, name_index

#: The maximum number of checkpoints of a run.
INTERVALS = 20

_FEW_STEPS = 100  # steps of the integrator without a checkpoint between them
# Polynomials represent the motion to so many tolerances of the run; steps are halved at most so often, to this fraction
# of a run.
_SMALL, _MOST_HALVINGS, _SHORTEST = 10.0, 6, 1e-9


@dataclass(frozen=True)
class Gradient(Tabular):
    """Results at the end of a run, and `derivatives[result, variable]`."""

    model: str
    time: float
    outputs: tuple[str, ...]
    by: tuple[str, ...]
    values: Floats
    derivatives: Floats
    at: Floats

    def derivative(self, result: str, by: str) -> float:
        """The derivative of one result by one variable."""
        return float(self.derivatives[name_index(result, self.outputs, "output"), name_index(by, self.by, "variable")])

    def __str__(self) -> str:
        title = f"{self.model}: derivatives at t = {self.time:.9g}, by the adjoint equations"
        return derivative_table(title, self.outputs, self.by, self.derivatives)

    def _table(self) -> Mapping[str, Floats]:
        times = np.array([self.time])
        return derivative_columns(times, self.outputs, self.by, self.values[None], self.derivatives[None])

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them: those of `Sensitivities.to_dict` at one time."""
        return {
            "t": [self.time], "outputs": self.outputs, "by": self.by, "at": self.at.tolist(),
            "values": [self.values.tolist()], "derivatives": [self.derivatives.tolist()],
        }  # fmt: skip


def gradient(
    model: MechanismSource,
    duration: float,
    by: Sequence[str] | str,
    *,
    outputs: Results | None = None,
    integrals: Mapping[str, Scalar] | None = None,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    checkpoints: int = INTERVALS,
    t0: float = 0.0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-10,
    atol: Tolerance | None = None,
    native: Native = "auto",
    progress: bool | None = None,
) -> Gradient:
    """Compute derivatives of a run's final outputs by the adjoint method: for few outputs and many variables.

    checkpoints: the largest number of checkpoints; between two of them the whole motion is kept in memory.
    The other arguments are those of `sensitivities`.
    """
    if checkpoints < 1:
        raise TaskError(f"checkpoints is {checkpoints}: give at least 1")
    mechanism, span, settings = run_request(
        model, duration, t0, (rtol, atol), method, state, parameters, inputs, native, progress
    )
    run = differentiated(mechanism, by, settings, outputs, integrals)
    found = backwards(run, span, checkpoints)
    return Gradient(mechanism.name, span[1], run.results, run.by, found.values, found.derivatives, run.values)


@dataclass(frozen=True)
class BackwardRun:
    """Values of the results at the end, their derivatives by all variables, and seconds of integration."""

    values: Floats
    derivatives: Floats
    seconds: float


def backwards(run: DifferentiatedRun, span: tuple[float, float], intervals: int) -> BackwardRun:
    """One forward run, then from checkpoint to checkpoint forward again and backward for each result."""
    parameters, state, columns = run.started(run.values)
    first = np.concatenate([state, np.zeros(len(run.form.integrands))])
    saved = run.integrated(run.motion, first, span, run.signals, OwnSteps(), parameters)
    rows = run.rows(saved, parameters)
    require_continuous(run.motion, rows)
    found = row_values(run.motion.final(tuple(run.formulas.values())), run.motion.symbols, rows[-1:])
    slopes = np.array(np.broadcast_to(found["slopes"], (1, len(run.results), len(first) + len(parameters)))[0])
    time = saved.statistics.seconds
    steps = len(saved.times) - 1
    ends = np.unique(np.linspace(0, steps, min(intervals, steps // _FEW_STEPS + 1) + 1).astype(int))
    for begin, end in zip(ends[-2::-1], ends[:0:-1], strict=True):
        motion = _recomputed(run, saved.states[begin], saved.times[begin : end + 1], parameters)
        time += motion.seconds
        for slope in slopes:
            time += _back(run, motion, slope, parameters)
    derivatives = slopes[:, : len(state)] @ columns
    derivatives[:, : len(parameters)] += slopes[:, len(first) :]
    values = np.broadcast_to(found["values"], (1, len(run.results)))[0]
    return BackwardRun(np.array(values), run.in_order(derivatives), time)


@dataclass(frozen=True)
class _Motion:
    """The motion between two checkpoints as signals, backward in time, and the run time in seconds."""

    signals: Signals
    span: tuple[float, float]
    seconds: float


def _recomputed(run: DifferentiatedRun, state: Floats, steps: Floats, parameters: Floats) -> _Motion:
    """The motion from a checkpoint on, as polynomials between steps, which are halved until accurate."""
    inputs, span, seconds = run.signals, (float(steps[0]), float(steps[-1])), 0.0
    inside = (inputs.knots > span[0]) & (inputs.knots < span[1])
    knots = np.unique(np.concatenate([steps, inputs.knots[inside]]))
    for halvings in range(_MOST_HALVINGS + 1):
        saved = run.integrated(run.motion, state, span, inputs, Grid(node_times(knots)), parameters)
        seconds += saved.statistics.seconds
        states = _closed(run, saved, parameters)
        long = unresolved(states, _SMALL * run.tolerances(states)) & (np.diff(knots) > _SHORTEST * (span[1] - span[0]))
        if not long.any() or halvings == _MOST_HALVINGS:
            break
        knots = np.sort(np.append(knots, 0.5 * (knots[:-1] + knots[1:])[long]))
    motion = together(at_knots(inputs, knots), motion_signals(knots, states))
    return _Motion(reversed_signals(motion), (-span[1], -span[0]), seconds)


def _closed(run: DifferentiatedRun, saved: Run, parameters: Floats) -> Floats:
    """The states of a run; those saved between its steps are projected onto loops and constraints."""
    if not run.motion.closes:
        return saved.states
    q, v = run.motion.unpack(saved.states, parameters)
    q, v, _ = without_drift(run.motion, saved.times, q, v, parameters)
    return np.hstack([q, v, saved.states[:, q.shape[1] + v.shape[1] :]])


def _back(run: DifferentiatedRun, motion: _Motion, slope: Floats, parameters: Floats) -> float:
    """Integrate the adjoint and the gradient of a result back to the checkpoint, in place; returns the run time in
    seconds."""
    size = len(slope) - len(parameters)
    scale = float(np.abs(slope[:size]).max(initial=0.0))
    if scale == 0.0:
        return 0.0
    begun = np.concatenate([slope[:size] / scale, np.zeros(len(parameters))])
    saved = run.integrated(run.adjoint, begun, motion.span, motion.signals, save_at(1, motion.span), parameters)
    slope[:size] = scale * saved.states[-1, :size]
    slope[size:] += scale * saved.states[-1, size:]
    return saved.statistics.seconds
