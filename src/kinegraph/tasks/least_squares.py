"""Least squares over runs with exact derivatives: bounds, failed runs, and undetermined variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.errors import KinegraphError, TaskError
from kinegraph.tasks.differentiated_run import DifferentiatedRows
from kinegraph.tasks.operating_point import Floats, name_index

#: Steps of one run: values that need more are rejected.
MOST_STEPS = 100_000

_MOST_RUNS = 100
_BESIDE = 0.01  # relative distance of a second point at which dependencies are tested
_DEPENDENT = 1e-7  # of the largest singular value: directions that leave the motion unchanged


@dataclass(frozen=True)
class Problem:
    """Find x so that the results of `run` match the targets, each column in units of its scale.

    targets: by row of time and column; nan where nothing is requested. accuracy: the relative accuracy of the runs.
    """

    names: tuple[str, ...]
    run: Callable[[Floats], DifferentiatedRows]
    targets: Floats
    scales: Floats
    bounds: tuple[Floats, Floats]
    accuracy: float

    def weighted(self, scales: Floats) -> Problem:
        """The same with other units of the columns."""
        return replace(self, scales=scales)


@dataclass(frozen=True)
class Solved:
    """The end of a search: residuals are targets minus results; jacobian[time, column, variable] of the results."""

    x: Floats
    residuals: Floats
    jacobian: Floats
    at_bound: np.ndarray
    runs: int


class _Runs:
    """Runs at the points of a search. The last one is cached, because values and derivatives are requested
    separately."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.count = 0
        self.failure: KinegraphError | None = None
        self._x: Floats | None = None
        self._rows: DifferentiatedRows | None = None

    def at(self, x: Floats) -> DifferentiatedRows | None:
        if self._x is None or not np.array_equal(x, self._x):
            self._x, self._rows = x.copy(), None
            self.count += 1
            try:
                self._rows = self.problem.run(x)
            except KinegraphError as error:
                self.failure = error
        return self._rows

    def residuals(self, x: Floats) -> Floats:
        """The residuals; NaN if a run fails, so that the search takes a shorter step."""
        rows, wanted = self.at(x), np.isfinite(self.problem.targets)
        if rows is None:
            return np.full(int(wanted.sum()), np.nan)
        return np.asarray(((rows.values - self.problem.targets) / self.problem.scales)[wanted])

    def jacobian(self, x: Floats) -> Floats:
        rows = self.at(x)
        assert rows is not None
        return np.asarray((rows.derivatives / self.problem.scales[None, :, None])[np.isfinite(self.problem.targets)])


def solved(problem: Problem, begin: Floats) -> Solved:
    """The search from a point; TaskError if it does not converge."""
    from scipy.optimize import least_squares

    runs = _Runs(problem)
    if not np.isfinite(runs.residuals(begin)).all():
        raise TaskError(f"the search cannot start: {runs.failure or 'the first run has no finite results'}")
    found = least_squares(
        runs.residuals, begin, runs.jacobian, problem.bounds, x_scale="jac", max_nfev=_MOST_RUNS,
        ftol=1e-13, xtol=1e-11, gtol=1e-13,
    )  # fmt: skip
    rows = runs.at(found.x)
    if rows is None or found.status <= 0:
        why = f"; the last failure: {runs.failure}" if runs.failure else ""
        raise TaskError(
            f"the search did not converge in {runs.count} runs{why}: start nearer to the solution, or give bounds"
        )
    residuals = np.where(np.isfinite(problem.targets), problem.targets - rows.values, np.nan)
    return Solved(np.asarray(found.x), residuals, rows.derivatives, np.asarray(found.active_mask != 0), runs.count)


def require_independent(problem: Problem, begin: Floats) -> None:
    """TaskError for unknowns that are dependent at the start of a search and near it, and so everywhere.

    At a single point it may be a coincidence: a pendulum that starts at rest says nothing about its length.
    """
    beside = begin + _BESIDE * np.where(begin == 0, 1.0, begin) * np.cos(1 + np.arange(len(begin)))
    runs = _Runs(problem)
    rows = runs.at(begin)
    if rows is None or _undetermined(problem, begin, rows.derivatives) is None:
        return
    beside = np.clip(beside, *problem.bounds)
    rows = runs.at(beside)
    message = rows and _undetermined(problem, beside, rows.derivatives)
    if message:
        raise TaskError(message)


def require_determined(problem: Problem, found: Solved) -> None:
    """TaskError that names the unknowns which the results do not determine at the end of the search."""
    message = _undetermined(problem, found.x, found.jacobian)
    if message:
        raise TaskError(message)


def _undetermined(problem: Problem, x: Floats, jacobian: Floats) -> str | None:
    """The unknowns that the results do not determine, by the rank of their Jacobian; None if they determine all."""
    weighted = (jacobian / problem.scales[None, :, None])[np.isfinite(problem.targets)]
    size = np.maximum(np.abs(x), 1.0)
    effects = np.linalg.norm(weighted, axis=0) * size
    level = float(np.linalg.norm((problem.targets / problem.scales)[np.isfinite(problem.targets)]))
    idle = effects <= 100 * problem.accuracy * level
    if idle.any():
        names = ", ".join(name for name, without in zip(problem.names, idle, strict=True) if without)
        return f"the motion hardly depends on {names}: remove it from the unknowns"
    normal = weighted / np.linalg.norm(weighted, axis=0)
    _, singular, directions = np.linalg.svd(normal, full_matrices=False)
    loose = singular < max(_DEPENDENT, 100 * problem.accuracy) * singular[0]
    if not loose.any():
        return None
    return _dependent(problem.names, x, directions[loose] / np.linalg.norm(weighted, axis=0))


def _dependent(names: Sequence[str], x: Floats, directions: Floats) -> str:
    """The message that names all unknowns which can change together without changing the motion."""
    relative = np.abs(directions) / np.maximum(np.abs(x), 1e-300)
    part = (relative > 1e-3 * relative.max(axis=1, keepdims=True)).any(axis=0)
    involved = ", ".join(name for name, inside in zip(names, part, strict=True) if inside)
    count = len(directions)
    message = f"the motion does not determine {involved}: they can change together without changing it"
    if count == 1:
        ratio = directions[0][part] / max(directions[0][part], key=abs)
        message += f" (in the ratio {' : '.join(f'{value:.4g}' for value in ratio)})"
    held = "one of them" if count == 1 else f"{count} of them"
    return f"{message}\n  remove {held} from the unknowns, or measure something else"


def variable_bounds(names: Sequence[str], bounds: Mapping[str, tuple[float, float]]) -> tuple[Floats, Floats]:
    """Lower and upper bounds of all variables, infinite where none are given."""
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, pair in bounds.items():
        place = name_index(name, names)
        try:
            low[place], high[place] = (float(value) for value in pair)
        except (TypeError, ValueError):
            raise TaskError(f"bounds of {name} are {pair!r:.60}: give two numbers, e.g. (0, 2)") from None
        if not low[place] < high[place]:
            raise TaskError(f"bounds of {name} are {pair!r:.60}: the first must be smaller than the second")
    return low, high


def require_inside(problem: Problem, begin: Floats) -> None:
    """TaskError if the search would start outside its bounds."""
    for name, value, low, high in zip(problem.names, begin, *problem.bounds, strict=True):
        if not low <= value <= high:
            raise TaskError(f"{name} starts at {value:g}, outside its bounds {low:g} to {high:g}")
