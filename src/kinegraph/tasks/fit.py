"""`fit`: identify parameters and initial values from measured motion."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.files import read_input_text
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.inputs import Input, check_length, seconds
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Adaptive, Tolerance
from kinegraph.solve.recording import Grid
from kinegraph.tasks.differentiated_run import DifferentiatedRun, RunSettings, formulas, variables, with_free_forces
from kinegraph.tasks.least_squares import (
    MOST_STEPS,
    Problem,
    Solved,
    require_determined,
    require_independent,
    require_inside,
    solved,
    variable_bounds,
)
from kinegraph.tasks.operating_point import Floats, name_index

# Measured motion: times and columns, from arrays or a CSV table.

#: Checked already; or columns by name, including `t`; or the path of a CSV file with such a header.
MeasurementSource: TypeAlias = "Measurements | Mapping[str, ArrayLike] | str | PathLike[str]"

_LARGEST_TABLE = 200_000_000
_REMEDY = "give columns by name and their times, e.g. {'t': times, 'q1': values}, or the path of a CSV file"


@dataclass(frozen=True)
class Measurements:
    """values[time, column]; NaN where nothing was measured."""

    times: Floats
    columns: tuple[str, ...]
    values: Floats

    @property
    def known(self) -> np.ndarray:
        """Where a value exists."""
        return np.asarray(np.isfinite(self.values))

    def only(self, columns: Sequence[str]) -> Measurements:
        """Some of the columns."""
        for name in columns:
            if name not in self.columns:
                raise TaskError(f"the data have no column {name!r}\n  {did_you_mean(name, self.columns)}")
        return Measurements(self.times, tuple(columns), self.values[:, [self.columns.index(one) for one in columns]])


def measurements(source: MeasurementSource) -> Measurements:
    """The measurements; TaskError if they are malformed."""
    if isinstance(source, Measurements):
        return source
    if isinstance(source, str | PathLike):
        source = _table(source)
    if not isinstance(source, Mapping):
        raise TaskError(f"the data are {source!r:.80}: {_REMEDY}")
    arrays = {str(name): _array(str(name), values) for name, values in source.items()}
    if TIME not in arrays:
        raise TaskError(f"the data have no column t (times in seconds): {_REMEDY}")
    times = arrays.pop(TIME)
    if not arrays or not len(times):
        raise TaskError(f"the data contain no measured column: {_REMEDY}")
    if not np.all(np.isfinite(times)) or not np.all(np.diff(times) > 0):
        raise TaskError("the times of the data must increase and be finite numbers")
    for name, values in arrays.items():
        if len(values) != len(times):
            raise TaskError(f"column {name} has {len(values)} values, but t has {len(times)}: give one value per time")
        if np.isinf(values).any():
            raise TaskError(f"column {name} contains an infinite value: write nan where nothing was measured")
        if np.isnan(values).all():
            raise TaskError(f"column {name} contains no value")
    return Measurements(times, tuple(arrays), np.column_stack(list(arrays.values())))


def _array(name: str, values: object) -> Floats:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TaskError(f"column {name} does not contain numbers: {_REMEDY}") from None
    if array.ndim != 1:
        raise TaskError(f"column {name} has shape {array.shape}: give one number per time")
    return array


def _table(path: str | PathLike[str]) -> dict[str, list[float]]:
    """The columns of a file: names in the first line, then numbers; an empty field is a missing measurement."""
    lines = read_input_text(path, _LARGEST_TABLE, "table of measurements").splitlines()
    rows = [row for row in csv.reader(lines) if row]
    if not rows:
        raise TaskError(f"{path} is empty: write a header line (t, q1, ...), then lines of numbers")
    head, *body = rows
    names = [name.strip() for name in head]
    if len(set(names)) < len(names):
        raise TaskError(f"{path}: duplicate column name in {', '.join(names)}")
    found: dict[str, list[float]] = {name: [] for name in names}
    for number, row in enumerate(body, 2):
        if len(row) != len(names):
            raise TaskError(f"{path}: row {number} has {len(row)} fields, but the header has {len(names)}")
        for name, text in zip(names, row, strict=True):
            found[name].append(_number(text, f"{path}: row {number}, {name}"))
    return found


def _number(text: str, place: str) -> float:
    try:
        return float(text) if text.strip() else float("nan")
    except ValueError:
        raise TaskError(f"{place}: {text[:40]!r} is not a number") from None


# `fit`: least squares with the exact Jacobian of the runs.

_ROUNDS = 20  # iterations of the noise estimate
_SETTLED = 1e-3
_IMPROBABLE = 1e-6  # probability of residuals this large, below which the stated noise is doubted


@dataclass(frozen=True)
class Fit(RichDisplay):
    """The unknowns identified from a motion.

    standard_errors: one standard deviation each; nan for an unknown that stopped at a bound.
    noise: the standard deviation of each column, as given or as estimated from the residuals.
    residuals: measured minus computed, by row of time and column; nan where nothing was measured.
    runs: how many runs were needed.
    """

    model: str
    unknown: tuple[str, ...]
    values: Floats
    covariance: Floats
    times: Floats
    columns: tuple[str, ...]
    residuals: Floats
    noise: Floats
    noise_is_estimated: bool
    at_bounds: tuple[str, ...]
    runs: int

    def __getitem__(self, name: str) -> float:
        """The fitted value."""
        return float(self.values[name_index(name, self.unknown, "parameter or initial value")])

    def __contains__(self, name: object) -> bool:
        return name in self.unknown

    @property
    def standard_errors(self) -> Floats:
        """The square roots of the variances."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def degrees_of_freedom(self) -> int:
        """Measured values minus unknowns."""
        return int(np.isfinite(self.residuals).sum()) - len(self.unknown) + len(self.at_bounds)

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval, if the model is right and the noise is white."""
        from scipy.special import ndtri, stdtrit

        if not 0 < confidence < 1:
            raise TaskError(f"confidence is {confidence!r}: give a probability between 0 and 1, e.g. 0.95")
        tail = 0.5 + confidence / 2
        factor = float(stdtrit(self.degrees_of_freedom, tail) if self.noise_is_estimated else ndtri(tail))
        half = factor * float(self.standard_errors[name_index(name, self.unknown, "parameter or initial value")])
        return self[name] - half, self[name] + half

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the error bars may be wrong; empty if there is no sign of it."""
        found = [f"{name} stopped at its bound" for name in self.at_bounds]
        for column, series, sigma in zip(self.columns, self.residuals.T, self.noise, strict=True):
            known = series[np.isfinite(series)]
            found += _doubts(column, known, None if self.noise_is_estimated else float(sigma))
        return tuple(found)

    def __str__(self) -> str:
        width = max(len(name) for name in self.unknown)
        lines = [f"{self.model}: {', '.join(self.unknown)} from {int(np.isfinite(self.residuals).sum())} values"]
        for name, value, error in zip(self.unknown, self.values, self.standard_errors, strict=True):
            low, high = self.interval(name)
            lines.append(f"  {name:<{width}} = {value:.9g} +- {error:.2g}  (95 %: {low:.9g} to {high:.9g})")
        kind = "estimated" if self.noise_is_estimated else "given"
        noise = ", ".join(f"{name} {sigma:.3g}" for name, sigma in zip(self.columns, self.noise, strict=True))
        return "\n".join([*lines, f"  noise ({kind}): {noise}", *(f"  doubt: {one}" for one in self.doubts)])

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "values": dict(zip(self.unknown, self.values.tolist(), strict=True)),
            "standard_errors": dict(zip(self.unknown, self.standard_errors.tolist(), strict=True)),
            "intervals": {name: self.interval(name) for name in self.unknown},
            "noise": dict(zip(self.columns, self.noise.tolist(), strict=True)),
            "noise_is_estimated": self.noise_is_estimated,
            "degrees_of_freedom": self.degrees_of_freedom,
            "runs": self.runs,
            "doubts": self.doubts,
        }


def fit(
    model: MechanismSource,
    data: MeasurementSource,
    unknown: Sequence[str] | str,
    *,
    noise: float | Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    t0: float = 0.0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-9,
    atol: Tolerance | None = None,
    native: Native = True,
) -> Fit:
    """Estimate parameters (`m1`) and initial values (`q1(0)`) from measured motion, with standard errors.

    data: times `t` and columns by name: coordinates, velocities, points (`tip.x`) or other formulas of the state; or
        a CSV file with such names. NaN and empty fields are not measured.
    unknown: names to estimate; the search starts at the values of the model, `parameters` and `state`.
    noise: standard deviations of the columns; estimated from the residuals if None.
    bounds: limits of the search by name. t0: the time of the initial values.
    TaskError names the unknowns that the motion does not determine.
    """
    mechanism = with_free_forces(mechanism_of(model), unknown)
    names = variables(mechanism, unknown, "unknown")
    measured = measurements(data)
    beginning = seconds("t0", t0)
    if measured.times[0] < beginning or measured.times[-1] <= beginning:
        raise TaskError(
            f"the data are from t = {measured.times[0]:g} to {measured.times[-1]:g}, but the run starts at "
            f"{beginning:g}: give t0=, the time of the initial values"
        )
    span = beginning, float(measured.times[-1])
    control = Adaptive(rtol, atol, max_steps=MOST_STEPS)
    check_length(span, control)
    settings = RunSettings(control, method, state, parameters or {}, inputs or {}, native, False, span[0])
    run = DifferentiatedRun(mechanism, names, settings, formulas(measured.columns, "data"))
    _require_enough(measured, names)
    given = None if noise is None else _noise(measured, noise)
    problem = Problem(
        names,
        lambda x: run.at(x, span, Grid(measured.times)),
        measured.values,
        np.ones(len(measured.columns)) if given is None else given,
        variable_bounds(names, bounds or {}),
        rtol,
    )
    require_inside(problem, run.values)
    require_independent(problem, run.values)
    found, sigmas = _weighted(problem, run.values, measured, given)
    require_determined(problem.weighted(sigmas), found)
    return _described(mechanism.name, measured, found, sigmas, names, given is None)


def _require_enough(measured: Measurements, names: Sequence[str]) -> None:
    count = int(measured.known.sum())
    if count <= len(names):
        raise TaskError(f"{count} measured values cannot determine {len(names)} unknowns with error bars: measure more")


def _noise(measured: Measurements, given: float | Mapping[str, float]) -> Floats:
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(measured.columns, given)
    for name in by_name:
        if name not in measured.columns:
            raise TaskError(f"noise: unknown column {name!r}\n  {did_you_mean(name, measured.columns)}")
    for name in measured.columns:
        value = by_name.get(name)
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise TaskError(f"noise of {name} is {value!r}: give a positive standard deviation")
    return np.array([float(by_name[name]) for name in measured.columns])


def _weighted(problem: Problem, begin: Floats, measured: Measurements, given: Floats | None) -> tuple[Solved, Floats]:
    """The fit with given noise, or with the noise of each column estimated repeatedly until it converges."""
    if given is not None:
        return solved(problem, begin), given
    sizes = np.array([np.std(column[np.isfinite(column)]) for column in measured.values.T])
    largest = np.nanmax(np.abs(measured.values), axis=0)
    smallest = problem.accuracy * (10 * largest + 0.01) + 1e-12  # the accuracy of the runs themselves
    sigmas = np.maximum(np.where(sizes > 0, sizes, 1.0), smallest)
    found = solved(problem.weighted(sigmas), begin)
    for _ in range(_ROUNDS):
        estimated = np.maximum(_estimated(found.residuals, len(begin)), smallest)
        changed = float(np.max(np.abs(estimated / estimated[0] / (sigmas / sigmas[0]) - 1)))
        sigmas = estimated
        if changed < _SETTLED:
            break
        again = solved(problem.weighted(sigmas), found.x)
        found = replace(again, runs=found.runs + again.runs)
    return found, sigmas


def _estimated(residuals: Floats, unknowns: int) -> Floats:
    """The standard deviation of each column, with the degrees of freedom reduced by the unknowns."""
    known = np.isfinite(residuals)
    share = 1 - unknowns / known.sum()
    return np.asarray(np.sqrt(np.nansum(residuals**2, axis=0) / known.sum(axis=0) / share))


def _described(
    model: str, measured: Measurements, found: Solved, sigmas: Floats, names: tuple[str, ...], estimated: bool
) -> Fit:
    free = ~found.at_bound
    weighted = (found.jacobian / sigmas[None, :, None])[measured.known][:, free]
    covariance = np.full((len(names), len(names)), np.nan)
    covariance[np.ix_(free, free)] = np.linalg.pinv(weighted.T @ weighted, hermitian=True)
    stopped = tuple(name for name, at in zip(names, found.at_bound, strict=True) if at)
    return Fit(
        model, names, found.x, covariance, measured.times, measured.columns, found.residuals, sigmas, estimated,
        stopped, found.runs,
    )  # fmt: skip


def _doubts(column: str, residuals: Floats, sigma: float | None) -> list[str]:
    """Anomalies in the residuals of one column."""
    from scipy.special import chdtrc

    count, found = len(residuals), []
    if sigma is not None and chdtrc(count, float(np.sum((residuals / sigma) ** 2))) < _IMPROBABLE:
        ratio = float(np.sqrt(np.mean(residuals**2)) / sigma)
        found.append(f"residuals of {column} are {ratio:.3g} times the stated noise: the model or the noise is wrong")
    total = float(np.sum(residuals**2))
    together = float(np.sum(residuals[1:] * residuals[:-1])) / total if total > 0 else 0.0
    if count >= 10 and together > 5 / np.sqrt(count):
        found.append(
            f"residuals of {column} are correlated ({together:.2g}): the model is incomplete, or the search "
            "stopped at a local minimum; start elsewhere (parameters=, state=)"
        )
    return found
