"""`gradient`: derivatives of a run's final results by many parameters and initial values, backwards in time.

The run is made once and saved at some times; from each of them the motion is integrated back to the one before together
with its adjoint. That takes about as long for a hundred parameters as for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.simulate.arguments import span_of
from kinegraph.simulate.derivatives.adjoint import reversed_signals
from kinegraph.simulate.equations import row_values
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import save_at
from kinegraph.solve.methods.by_name import Method
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Adaptive, Tolerance
from kinegraph.solve.problem.execution import Native
from kinegraph.solve.results.recording import Run
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.runs.derivative_table import derivative_table
from kinegraph.tasks.runs.differentiated_run import (
    DifferentiatedRun,
    Results,
    RunSettings,
    differentiated,
    require_continuous,
)
from kinegraph.tasks.runs.least_squares import place_of

#: From how many saved states the motion is integrated back.
INTERVALS = 20


@dataclass(frozen=True)
class Gradient(RichDisplay):
    """Results at the end of a run, and `derivatives[result, variable]`."""

    model: str
    time: float
    results: tuple[str, ...]
    by: tuple[str, ...]
    values: Floats
    derivatives: Floats
    at: Floats

    def derivative(self, result: str, by: str) -> float:
        """The derivative of one result by one variable."""
        return float(self.derivatives[place_of(result, self.results), place_of(by, self.by)])

    def __str__(self) -> str:
        title = f"{self.model}: derivatives at t = {self.time:.9g}, backwards in time"
        return derivative_table(title, self.results, self.by, self.derivatives)


def gradient(
    mechanism: MechanismSource,
    duration: float,
    by: Sequence[str] | str,
    *,
    results: Results | None = None,
    integrals: Mapping[str, Scalar] | None = None,
    initial: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    intervals: int = INTERVALS,
    start: float = 0.0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-10,
    atol: Tolerance | None = None,
    native: Native = "auto",
    progress: bool | None = None,
) -> Gradient:
    """Like `sensitivities`, at the end of the run only and backwards in time: for few results of many variables.

    intervals: from how many saved states the motion is integrated back.
    """
    mechanism = mechanism_of(mechanism)
    if intervals < 1:
        raise TaskError(f"intervals is {intervals}: give at least 1")
    control = Adaptive(rtol, atol)
    span = span_of(start, duration, control)
    settings = RunSettings(control, method, initial, parameters or {}, inputs or {}, native, progress, span[0])
    run = differentiated(mechanism, by, settings, results, integrals)
    found = backwards(run, span, intervals)
    return Gradient(mechanism.name, span[1], run.results, run.by, found.values, found.derivatives, run.values)


@dataclass(frozen=True)
class BackwardRun:
    """Values of the results at the end, their derivatives by all variables, and seconds of integration."""

    values: Floats
    derivatives: Floats
    seconds: float


def backwards(run: DifferentiatedRun, span: tuple[float, float], intervals: int) -> BackwardRun:
    """The run once forwards, then for each result once backwards."""
    parameters, state, columns = run.started(run.values)
    first = np.concatenate([state, np.zeros(len(run.form.integrands))])
    saved = run.integrated(run.motion, first, span, run.signals, save_at(intervals, span), parameters)
    rows = run.rows(saved, parameters)
    require_continuous(run.motion, rows)
    found = row_values(run.adjoint.final(tuple(run.formulas.values())), run.motion.symbols, rows[-1:])
    slopes = np.broadcast_to(found["slopes"], (1, len(run.results), len(first) + len(parameters)))[0]
    derivatives = np.zeros((len(run.results), columns.shape[1]))
    time = saved.statistics.seconds
    for number, slope in enumerate(slopes):
        ended, spent = _back(run, saved, slope, parameters)
        derivatives[number] = ended[: len(state)] @ columns
        derivatives[number, : len(parameters)] += ended[len(first) :]
        time += spent
    values = np.broadcast_to(found["values"], (1, len(run.results)))[0]
    return BackwardRun(np.array(values), run.in_order(derivatives), time)


def _back(run: DifferentiatedRun, saved: Run, slope: Floats, parameters: Floats) -> tuple[Floats, float]:
    """The adjoint and the gradient at the start, from the slope of a result at the end; and the seconds it took."""
    signals = reversed_signals(run.signals) if run.signals.coefficients.shape[1] else run.signals
    size, ended, time = saved.states.shape[1], np.array(slope), 0.0
    for after in range(len(saved.times) - 1, 0, -1):
        span = -float(saved.times[after]), -float(saved.times[after - 1])
        begun = np.concatenate([saved.states[after], ended])
        piece = run.integrated(run.adjoint, begun, span, signals, save_at(1, span), parameters)
        ended = piece.states[-1][size:]
        time += piece.statistics.seconds
    return ended, time
