"""Controllers that are Python functions: called at equal intervals, their values hold in between.

Between two samples the run is what it would be without them, compiled or interpreted; at a sample Python is called.
"""

from __future__ import annotations

import copy
import dis
import traceback
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import TypeAlias

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import ControllerError, SolveError
from kinegraph.solve.contacts.mode import Mode, Phase
from kinegraph.solve.methods.method import AS_USUAL, SILENT, Capabilities, RunOptions, Solver, SolverAround
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, Feedback, Signals
from kinegraph.solve.recording import Ending, Grid, Run, Save, Statistics, Status

#: What a controller is called with after the time, from the time and the state.
View: TypeAlias = Callable[[float, Floats], tuple[object, ...]]


@dataclass(frozen=True)
class Controller:
    """A Python function that gives some inputs of a run at equal intervals.

    name: the input as the user calls it. places: the inputs it gives, among those that Python functions give.
    entries: what they are called. view: its arguments after the time.
    """

    name: str
    given: Feedback
    places: tuple[int, ...]
    entries: tuple[str, ...]
    view: View

    def values(self, time: float, state: Floats, rows: tuple[int, ...] = ()) -> Floats:
        """The inputs, as finite numbers; ControllerError if the function fails or returns anything else.

        rows: the number of states, if there are several; the function returns a row for each.
        """
        try:
            returned = self.given.function(time, *self.view(time, state))
        except Exception as error:
            raise ControllerError(f"{self.name}: {failure(error)}") from error
        shape = (len(self.entries),) if self.name not in self.entries else ()
        return self._checked(returned, (*rows, *shape))

    def _checked(self, returned: object, shape: tuple[int, ...]) -> Floats:
        """What the function returned as an array of this shape; ControllerError if it is none."""
        wanted = f"return {' x '.join(map(str, shape))} finite numbers" if shape else "return one finite number"
        try:
            found = np.array(returned, dtype=float)
        except (TypeError, ValueError):
            raise ControllerError(f"{self.name}: it returned {returned!r:.80}; {wanted}") from None
        if found.shape != shape:
            raise ControllerError(f"{self.name}: it returned an array of shape {found.shape}; {wanted}")
        if not np.isfinite(found).all():
            by_entry = found.reshape(-1, len(self.entries))
            row, place = np.argwhere(~np.isfinite(by_entry))[0].tolist()
            where = f" in row {row}" if len(by_entry) > 1 else ""
            value = by_entry[row, place]
            raise ControllerError(f"{self.name}: it returned {value} for {self.entries[place]}{where}; {wanted}")
        return found

    def fresh(self) -> Controller:
        """The controller as each of many runs starts with it: an object with memory is copied, a function is the same.

        SolveError if it keeps values between calls where runs side by side would share them.
        """
        function = self.given.function
        if isinstance(function, FunctionType) and (outside := _assigned(function.__code__)):
            raise SolveError(
                f"the controller of {self.name} keeps {outside!r} between calls, which many runs would share\n"
                "  make it an object with __call__ that keeps it in self: every run starts with a copy"
            )
        try:
            own = copy.deepcopy(function)
        except Exception as error:
            raise SolveError(
                f"the controller of {self.name} cannot be copied for every run: {failure(error)}\n"
                "  give a function that keeps nothing between calls, or an object that copy.deepcopy copies"
            ) from error
        return replace(self, given=Feedback(own, self.given.period))


def _assigned(code: CodeType) -> str:
    """A variable outside of a function to which the function assigns; "" if there is none."""
    for one in dis.get_instructions(code):
        if one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
            one.opname in ("STORE_DEREF", "DELETE_DEREF") and one.argval in code.co_freevars
        ):
            return str(one.argval)
    return ""


def failure(error: Exception) -> str:
    """An exception in one line, with the line of the user's code that raised it."""
    places = traceback.extract_tb(error.__traceback__)[1:]
    where = f" ({places[-1].filename.rpartition('/')[2]}, line {places[-1].lineno})" if places else ""
    return f"{type(error).__name__}: {error}{where}"


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
    """A method that calls controllers at their times; one object serves one run."""

    controllers: tuple[Controller, ...]
    samples: Samples

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.method.capabilities, lanes=None)

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run from sample to sample. If a controller fails, the run ends there."""
        self.samples.begin(problem.start)
        runs: list[Run] = []
        state, time = problem.state, problem.start
        calls = Calls(self.controllers, problem.start)
        progress = options.progress
        with progress:
            while not runs or (runs[-1].ending.status is Status.FINISHED and time < problem.end):
                try:
                    row = calls.at(time, state)
                except ControllerError as error:
                    failed = Ending(Status.CONTROLLER, time, detail=str(error))
                    if not runs:
                        raise SolveError(str(failed)) from error
                    runs.append(Run(np.array([time]), state[None].copy(), failed))
                    break
                until = min(problem.end, calls.next)
                stretch = replace(problem, state=state, start=time, end=until, inputs=self.samples.add(time, row))
                part = replace(
                    options, save=part_of(options.save, time, until), progress=SILENT, before=_last_mode(runs)
                )
                runs.append(self.method.integrate(stretch, control, part))
                time, state = float(runs[-1].times[-1]), runs[-1].states[-1]
                progress.reached(time)
        return _joined(runs, options.save)


class Calls:
    """The calls of the controllers of one run: at its start, and then after every period of each."""

    def __init__(self, controllers: Sequence[Controller], start: float) -> None:
        self._controllers, self._start = controllers, start
        self._counts = [0] * len(controllers)
        self._row = np.zeros(sum(len(one.places) for one in controllers))

    @property
    def next(self) -> float:
        """When the next call is due."""
        return min(self._due(place) for place in range(len(self._controllers)))

    def _due(self, place: int) -> float:
        return self._start + self._counts[place] * self._controllers[place].given.period

    def at(self, time: float, state: Floats) -> Floats:
        """The inputs from now on, after the calls that are due."""
        for place, one in enumerate(self._controllers):
            if self._due(place) <= time:
                self._row[list(one.places)] = one.values(time, state)
                self._counts[place] += 1
        return self._row.copy()


@dataclass(frozen=True)
class Controllers:
    """The controllers of one run, and memory for their values."""

    functions: tuple[Controller, ...]
    samples: Samples

    def around(self, method: Solver) -> Solver:
        """A method with these controllers; the method itself if there are none."""
        return FeedbackSolver(method, self.functions, self.samples) if self.functions else method

    def signals(self, end: float) -> Signals:
        """All signals of a run that ended then."""
        return self.samples.signals(end) if self.functions else self.samples.given


NO_CONTROLLERS = Controllers((), Samples(Signals.none(), ()))


def _last_mode(runs: Sequence[Run]) -> Mode | None:
    return runs[-1].phases[-1].mode if runs and runs[-1].phases else None


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


def part_of(save: Save, start: float, end: float) -> Save:
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
    phases, before = [], np.append(0, np.cumsum(distinct))
    first = 0
    for run in runs:
        phases += [Phase(one.mode, one.start, int(before[first + one.row])) for one in run.phases]
        first += len(run.times)
    return Run(times[distinct], states[distinct], runs[-1].ending, events, total, _without_repeats(phases))


def _without_repeats(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Phases without those that only continue the one before."""
    return tuple(one for k, one in enumerate(phases) if not k or one.mode != phases[k - 1].mode)
