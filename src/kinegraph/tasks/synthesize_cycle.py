"""`synthesize_cycle`: dimensions of a linkage for a stroke, extremes, a time ratio, a transmission angle or a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.expressions import PI, TIME, Name, Operation, Scalar, expression
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.solve.recording import Statistics
from kinegraph.tabular import Column, Tabular, by_name
from kinegraph.tasks.cycle import Cycle, CycleRows
from kinegraph.tasks.differentiated_run import DifferentiatedRows
from kinegraph.tasks.goals import Measure, Wanted, limits, measure, path_misses, path_outputs
from kinegraph.tasks.least_squares import Problem, variable_bounds
from kinegraph.tasks.operating_point import Floats, name_index
from kinegraph.tasks.synthesize import best_of

_ACCURACY = 1e-12


@dataclass(frozen=True)
class Goal:
    """One goal: what was wanted and what the design gives. reached: within 1e-6 of the wanted value or limits."""

    text: str
    low: float
    high: float
    value: float

    @property
    def deviation(self) -> float:
        """The distance from the wanted value or limits."""
        return max(self.low - self.value, self.value - self.high, 0.0)

    @property
    def reached(self) -> bool:
        """Whether the design reaches the goal."""
        return self.deviation <= 1e-6 * max(1.0, abs(self.value))

    @property
    def wanted(self) -> str:
        """The wanted value or limits in words."""
        if self.low == self.high:
            return f"{self.low:g}"
        if np.isinf(self.low):
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if np.isinf(self.high) else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class CycleDesign(Tabular):
    """The best dimensions found, what they give for every goal, and rows of the cycle with them.

    at_bounds: parameters that stopped at a bound. path: the largest distance of the wanted points from each path.
    """

    model: str
    free: tuple[str, ...]
    values: Floats
    goals: tuple[Goal, ...]
    path: Mapping[str, float]
    at_bounds: tuple[str, ...]
    starts: int
    evaluations: int
    times: Floats
    columns: Mapping[str, Floats]

    def __getitem__(self, name: str) -> float:
        """The value of one parameter."""
        return float(self.values[name_index(name, self.free)])

    def __contains__(self, name: object) -> bool:
        return name in self.free

    @property
    def parameters(self) -> dict[str, float]:
        """All values by name, as other functions take them."""
        return dict(zip(self.free, self.values.tolist(), strict=True))

    @property
    def reached(self) -> bool:
        """Whether all goals are reached."""
        return all(goal.reached for goal in self.goals)

    def __str__(self) -> str:
        width = max(len(name) for name in self.free)
        lines = [f"{self.model}: the best from {self.starts} starts, {self.evaluations} cycles"]
        for name, value in zip(self.free, self.values, strict=True):
            lines.append(f"  {name:<{width}} = {value:.9g}{' (at its bound)' if name in self.at_bounds else ''}")
        lines += [
            f"  {goal.text} = {goal.value:.9g}, wanted {goal.wanted}{'' if goal.reached else ': NOT REACHED'}"
            for goal in self.goals
        ]
        lines += [
            f"  path of {name}: {distance:.3g} from the wanted points at most" for name, distance in self.path.items()
        ]
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Column]:
        """A row for each time: positions, and the formulas of the goals."""
        return {"t": self.times, **self.columns}

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        goals = [
            {
                "goal": one.text,
                "value": one.value,
                "wanted": one.wanted,
                "deviation": one.deviation,
                "reached": one.reached,
            }
            for one in self.goals
        ]
        return {
            "values": self.parameters, "goals": goals, "path": dict(self.path), "at_bounds": list(self.at_bounds),
            "reached": self.reached, "evaluations": self.evaluations,
        }  # fmt: skip


def synthesize_cycle(
    model: MechanismSource,
    motion: Mapping[str, Scalar] | str,
    goals: Mapping[str, Wanted],
    bounds: Mapping[str, tuple[float, float]],
    duration: float = 1.0,
    *,
    path: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    times: int = 180,
    t0: float = 0.0,
    starts: int = 1,
    seed: int = 0,
) -> CycleDesign:
    """Find dimensions of a linkage, with loops or without, that reach goals over a cycle of a prescribed motion.

    motion: formulas of time for the independent coordinates, or the name of a crank that turns once in `duration`.
    goals: `stroke:F`, `max:F`, `min:F`, `mean:F`, `time_ratio:F` (longer over shorter time between the extremes) of a
        formula F of positions and points, and `transmission:A,B,C` (the smallest angle at B, at most pi/2), with a
        value, or limits (low, high) of which one may be None.
    bounds: free parameters with lower and upper bounds; the search starts at the model's values inside them.
    path: points in m to pass, rows of x, y or x, y, z, by the name of the point that draws them; any time counts.
    times: number of equal intervals of the cycle; extremes are solved for between them.
    starts, seed: number of starts, of which all but the first are random within bounds.
    """
    mechanism = mechanism_of(model)
    if not isinstance(bounds, Mapping) or not bounds:
        raise TaskError(f"bounds is {bounds!r:.60}: give values by name, e.g. {{'l1': (0.5, 2)}}")
    if not goals and not path:
        raise TaskError("goals is empty: give goals, e.g. {'stroke:ram': 0.3}, or a path")
    measures = [measure(text) for text in goals]
    wanted = [limits(text, value) for text, value in goals.items()]
    points, paths = path_outputs(path or {})
    free = tuple(bounds)
    outputs = {one.text: one.expression for one in measures} | points
    law = cycle_motion(mechanism, motion, duration, t0)
    cycle = Cycle(mechanism, law, outputs, free, parameters, cycle_times(duration, times, t0))
    rows = _GoalRows(cycle, measures, wanted, paths)
    low, high = variable_bounds(free, bounds)
    count = rows.count
    problem = Problem(free, rows.at, np.zeros((1, count)), np.ones(count), (low, high), _ACCURACY)
    found = best_of(problem, np.clip(cycle.begin, low, high), starts, seed)
    return _design(cycle, rows, found.x, found.at_bound, starts, found.runs)


def cycle_motion(
    mechanism: Mechanism, motion: Mapping[str, Scalar] | str, duration: float, t0: float
) -> Mapping[str, Scalar]:
    """Formulas of time; a name alone is a crank that turns once, from its position in the model."""
    if not isinstance(motion, str):
        if not motion:
            raise TaskError("motion is empty: give formulas of t, e.g. {'crank': '2*pi*t'}, or the name of a crank")
        return motion
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate) and one.name == motion:
            elapsed = Operation("/", (Operation("-", (Name(TIME), expression(t0))), expression(duration)))
            turn = Operation("*", (Operation("*", (expression(2), Name(PI))), elapsed))
            return {motion: Operation("+", (one.position, turn))}
    raise TaskError(f"motion: unknown coordinate {motion!r}\n  {did_you_mean(motion, mechanism.layout.positions)}")


def cycle_times(duration: float, times: int, t0: float) -> Floats:
    """The times of the rows of a cycle."""
    if not (np.isfinite(duration) and duration > 0):
        raise TaskError(f"duration is {duration!r}: give a time above zero, in seconds")
    if not isinstance(times, int) or times < 8:
        raise TaskError(f"times is {times!r}: give the number of intervals of the cycle, at least 8")
    return np.linspace(t0, t0 + duration, times + 1)


@dataclass(eq=False)
class _GoalRows:
    """Deviations from all goals and paths as one row, and their slopes."""

    cycle: Cycle
    measures: list[Measure]
    wanted: list[tuple[float, float]]
    paths: Mapping[str, Floats]

    @property
    def count(self) -> int:
        """The number of deviations."""
        return len(self.measures) + sum(points.size for points in self.paths.values())

    def at(self, x: Floats) -> DifferentiatedRows:
        """At one design; TaskError if loops do not close."""
        rows = self.cycle.rows(x)
        values: list[float] = []
        slopes: list[Floats] = []
        for one, (low, high) in zip(self.measures, self.wanted, strict=True):
            value, slope = one.at(self.cycle, rows, x)
            missed = min(value - low, 0.0) + max(value - high, 0.0)
            size = max(abs(part) for part in (low, high) if np.isfinite(part)) or 1.0
            values.append(missed / size)
            slopes.append(slope / size if missed or low == high else 0 * slope)
        for name, points in self.paths.items():
            size = float(np.max(np.ptp(points, axis=0), initial=0.0)) or 1.0
            difference, slope, _ = path_misses(self.cycle, rows, x, name, points)
            values += (difference / size).ravel().tolist()
            slopes += list(slope.reshape(-1, len(x)) / size)
        return DifferentiatedRows(np.zeros(1), np.array([values]), np.array([slopes]), Statistics())

    def reached(self, rows: CycleRows, x: Floats) -> tuple[tuple[Goal, ...], dict[str, float]]:
        """What a design gives."""
        goals = tuple(
            Goal(one.text, *pair, one.at(self.cycle, rows, x)[0])
            for one, pair in zip(self.measures, self.wanted, strict=True)
        )
        paths = {
            name: float(path_misses(self.cycle, rows, x, name, points)[2].max()) for name, points in self.paths.items()
        }
        return goals, paths


def _design(
    cycle: Cycle, goal_rows: _GoalRows, x: Floats, at_bound: np.ndarray, starts: int, evaluations: int
) -> CycleDesign:
    rows = cycle.rows(x)
    goals, paths = goal_rows.reached(rows, x)
    stopped = tuple(name for name, at in zip(cycle.free, at_bound, strict=True) if at)
    positions = cycle.mechanism.layout.positions
    columns = by_name(positions, rows.q) | by_name(cycle.outputs, rows.values)
    return CycleDesign(
        cycle.mechanism.name, cycle.free, x, goals, paths, stopped, starts, evaluations, rows.times, columns
    )
