"""Controllers that are Python functions: called at equal intervals, their values hold in between.

Between two samples the run is what it would be without them, compiled or interpreted; at a sample Python is called.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.solve.methods.method import AS_USUAL, SILENT, Capabilities, RunOptions, SolverAround
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, Feedback, Signals
from kinegraph.solve.recording import Grid, Run, Save, Statistics, Status

View = Callable[[float, Floats], Mapping[str, float]]


@dataclass
class Samples:
    """The samples of controllers: a row of values for every call, which hold until the next.

    given: the signals of all inputs; the samples replace those at `places`.
    """

    given: Signals
    places: tuple[int, ...]
    times: list[float] = field(default_factory=list)
    rows: list[Floats] = field(default_factory=list)

    def begin(self, time: float) -> None:
        """Forget samples at this time or later: a run starts again."""
        count = bisect_left(self.times, time)
        del self.times[count:], self.rows[count:]

    def add(self, time: float, row: Floats) -> Signals:
        """Keep a row; returns the signals while it holds."""
        self.times.append(time)
        self.rows.append(row)
        coefficients = self.given.coefficients.copy()
        coefficients[:, list(self.places), :] = 0.0
        coefficients[:, list(self.places), 0] = row
        return Signals(self.given.knots, coefficients)

    def signals(self, end: float) -> Signals:
        """All signals of a run that ended then, in pieces between samples."""
        last = max(end, float(np.nextafter(self.times[-1], np.inf)))
        inside = (self.given.knots > self.times[0]) & (self.given.knots < last)
        knots = np.unique([*self.times, *self.given.knots[inside], last])
        coefficients = _moved(self.given, knots[:-1])
        coefficients[:, list(self.places), :] = 0.0
        coefficients[:, list(self.places), 0] = self.values(knots[:-1])[:, list(self.places)]
        return Signals(knots, coefficients)

    def values(self, times: Floats) -> Floats:
        """All signals at times, a row for each; at a sample the new value."""
        found = self.given.values(times)
        if self.times:
            last = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, None)
            found[:, list(self.places)] = np.array(self.rows)[last]
        return found


@dataclass(frozen=True)
class FeedbackSolver(SolverAround):
    """A method that calls controllers at their times; one object serves one run.

    controllers: in the order of `samples.places`. view: the state by name, as the functions get it.
    """

    controllers: tuple[Feedback, ...]
    samples: Samples
    view: View

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.method.capabilities, lanes=None)

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run from sample to sample."""
        self.samples.begin(problem.start)
        runs: list[Run] = []
        state, time = problem.state, problem.start
        due = [problem.start] * len(self.controllers)
        counts = [0] * len(self.controllers)
        row = np.zeros(len(self.controllers))
        progress = options.progress
        with progress:
            while not runs or (runs[-1].ending.status is Status.FINISHED and time < problem.end):
                self._call_controller(time, state, due, counts, row, problem.start)
                until = min([problem.end, *due])
                stretch = replace(
                    problem, state=state, start=time, end=until, inputs=self.samples.add(time, row.copy())
                )
                part = replace(options, save=_part(options.save, time, until), progress=SILENT)
                runs.append(self.method.integrate(stretch, control, part))
                time, state = float(runs[-1].times[-1]), runs[-1].states[-1]
                progress.reached(time)
        return _joined(runs, options.save)

    def _call_controller(
        self, time: float, state: Floats, due: list[float], counts: list[int], row: Floats, start: float
    ) -> None:
        """Call all controllers that are due."""
        seen = self.view(time, state)
        for place, one in enumerate(self.controllers):
            if due[place] <= time:
                row[place] = _number(one, time, seen)
                counts[place] += 1
                due[place] = start + counts[place] * one.period


def _moved(given: Signals, knots: Floats) -> Floats:
    """The coefficients of signals about other knots; beyond the first and the last a signal keeps its value."""
    ends = given.knots[0], given.knots[-1]
    piece = np.clip(np.searchsorted(given.knots, knots, side="right") - 1, 0, len(given.coefficients) - 1)
    away = (np.clip(knots, *ends) - given.knots[piece])[:, None]
    a, b, c, d = np.moveaxis(given.coefficients[piece], 2, 0)
    moved = np.stack(
        [a + away * (b + away * (c + away * d)), b + away * (2 * c + away * 3 * d), c + away * 3 * d, d], 2
    )
    moved[(knots < ends[0]) | (knots >= ends[1]), :, 1:] = 0.0
    return np.asarray(moved)


def _number(one: Feedback, time: float, seen: Mapping[str, float]) -> float:
    value = one.function(time, seen)
    try:
        number = float(value)  # type: ignore[arg-type]  # what a user returns
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise SolveError(f"a controller returned {value!r} at t = {time:g}: return one finite number")
    return number


def _part(save: Save, start: float, end: float) -> Save:
    """The times to save within an interval, and its end in any case."""
    if not isinstance(save, Grid):
        return save
    inside = save.times[(save.times >= start) & (save.times < end)]
    return Grid(np.append(inside, end))


def _joined(runs: Sequence[Run], save: Save) -> Run:
    """Join the runs of intervals; where two meet, one state is kept."""
    times = np.concatenate([run.times for run in runs])
    states = np.vstack([run.states for run in runs])
    distinct = np.append(np.diff(times) > 0, True)
    if isinstance(save, Grid):
        distinct &= np.isin(times, save.times)
        distinct[-1] |= runs[-1].ending.status is not Status.FINISHED
    costs = [run.statistics for run in runs]
    total = Statistics(
        steps=sum(one.steps for one in costs),
        rejected=sum(one.rejected for one in costs),
        evaluations=sum(one.evaluations for one in costs),
        jacobians=sum(one.jacobians for one in costs),
        seconds=sum(one.seconds for one in costs),
        loading=sum(one.loading for one in costs),
    )
    events = tuple(event for run in runs for event in run.events)
    return Run(times[distinct], states[distinct], runs[-1].ending, events, total)
