"""Cases integrated one by one: stiff and symplectic methods, and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinegraph.graph.node import Graph, Output
from kinegraph.simulate.contacts.equations import OpenForm, phase_slices
from kinegraph.simulate.contacts.runs import ContactSolver
from kinegraph.simulate.equations import Equations, row_values
from kinegraph.simulate.events import slopes_along
from kinegraph.solve.contacts.mode import Mode
from kinegraph.solve.controlled_runs import ControlledRuns, Stretch, controlled_cases
from kinegraph.solve.ensemble import NO_OUTPUTS, CaseProblem, CaseRows, Integers, Outputs
from kinegraph.solve.methods.feedback import Controller
from kinegraph.solve.methods.method import RunOptions, Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, EventSet, Floats
from kinegraph.solve.recording import Ending, Grid, Run, Status
from kinegraph.studies.outcomes import output_graph

# Cases by any integrator. Outputs and their slopes are known at the steps of the integrator; a cubic polynomial
# interpolates between two steps. Its extremes and its integral have an error of the fourth order of the step.


class Extremes(NamedTuple):
    """Outputs along a run: initial and final values, the largest and the smallest with their times, the integrals."""

    first: Floats
    last: Floats
    high: Floats
    high_at: Floats
    low: Floats
    low_at: Floats
    area: Floats


@dataclass(frozen=True)
class EachCase:
    """A problem without its initial state, for any integrator. before: the modes of contacts that runs continue."""

    equations: Equations
    solver: Solver
    problem: CauchyProblem
    control: Control
    events: EventSet
    outputs: Sequence[str]
    grid: Grid | None = None
    before: Sequence[Mode | None] = ()

    def run(self, states: Floats, parameters: Floats, stop: Integers | None = None) -> CaseRows:
        """Run a case from every row of `states` with the same row of `parameters`."""
        found = []
        for row, (state, values) in enumerate(zip(states, parameters, strict=True)):
            if stop is not None and stop[0]:
                found.append(self._nothing(state))
                continue
            one = self._start(state, values)
            options = RunOptions(events=self.events, before=self.before[row] if self.before else None)
            found.append(self._row(self.solver.integrate(one, self.control, options), one))
        return _joined(found)

    def _start(self, state: Floats, values: Floats) -> CauchyProblem:
        """The problem of one case."""
        return replace(self.problem, state=state, parameters=values)

    def _events_of(self, run: Run) -> Run:
        """The run with only the events that are columns."""
        return run

    @property
    def _rate(self) -> Graph:
        """The rates of the state."""
        return self.equations.rate

    def _row(self, run: Run, problem: CauchyProblem) -> CaseRows:
        run = self._events_of(run)
        places = [self.events.names.index(event.name) for event in run.events]
        count = np.bincount(np.array(places, dtype=int), minlength=len(self.events.names))
        first_at, last_at = np.full((2, len(count)), np.nan)
        shape = len(count), len(self.outputs)
        at_first, at_last = np.full(shape, np.nan), np.full(shape, np.nan)
        for event, place in zip(run.events, places, strict=True):
            values = self._values(self._rows(np.array([event.time]), event.state[None], problem))[0]
            last_at[place], at_last[place] = event.time, values
            if np.isnan(first_at[place]):
                first_at[place], at_first[place] = event.time, values
        extremes = {name: value[None] for name, value in self._extremes(run, problem)._asdict().items()}
        return CaseRows(
            endings=(run.ending,),
            finals=run.states[-1:],
            steps=np.array([run.statistics.steps]),
            rejected=np.array([run.statistics.rejected]),
            **extremes,
            count=count[None],
            first_at=first_at[None],
            last_at=last_at[None],
            at_first=at_first[None],
            at_last=at_last[None],
            saved=self._on_grid(run, problem)[None],
            modes=(run.phases[-1].mode if run.phases else None,),
        )

    def _nothing(self, state: Floats) -> CaseRows:
        run = Run(np.array([self.problem.start]), state[None], Ending(Status.INTERRUPTED, self.problem.start))
        return self._row(run, self._start(state, self.problem.parameters[: len(self.equations.runtime)]))

    def _on_grid(self, run: Run, problem: CauchyProblem) -> Floats:
        """States at the requested times, by cubic polynomials through the steps."""
        if self.grid is None:
            return np.zeros((0, run.states.shape[1]))
        from scipy.interpolate import CubicSpline

        times, places = np.unique(run.times, return_index=True)
        saved = np.full((len(self.grid.times), run.states.shape[1]), np.nan)
        reached = self.grid.times <= times[-1]
        if len(times) > 1:
            saved[reached] = CubicSpline(times, run.states[places])(self.grid.times[reached])
        return saved

    def _rows(self, times: Floats, states: Floats, problem: CauchyProblem) -> Floats:
        """The argument x of kernels, one row per time."""
        inputs = problem.inputs.values(times) if problem.rhs.inputs else np.zeros((len(times), 0))
        return np.hstack([states, times[:, None], inputs, np.tile(problem.parameters, (len(times), 1))])

    def _run_rows(self, run: Run, problem: CauchyProblem) -> Floats:
        return self._rows(run.times, run.states, problem)

    def _extremes(self, run: Run, problem: CauchyProblem) -> Extremes:
        rows = self._run_rows(run, problem)
        values, slopes = self._values(rows), self._slopes(rows, run.times)
        extremes = [extreme(run.times, values, slopes, side) for side in (1.0, -1.0)]
        (high, high_at), (low, low_at) = extremes
        lengths = np.diff(run.times)[:, None]
        area = lengths / 2 * (values[:-1] + values[1:]) + lengths**2 / 12 * (slopes[:-1] - slopes[1:])
        return Extremes(values[0], values[-1], high, high_at, low, low_at, area.sum(axis=0))

    @cached_property
    def _graph(self) -> Graph:
        return self.equations.carry(output_graph(self.equations, self.outputs))

    @cached_property
    def _slope_graph(self) -> Graph:
        return slopes_along(self.equations, self._graph)

    def _values(self, rows: Floats) -> Floats:
        return _table(self._graph, row_values(self._graph, self.equations.symbols, rows), len(rows))

    def _slopes(self, rows: Floats, times: Floats) -> Floats:
        """Slopes of the outputs along the motion; those of sampled inputs by differences."""
        equations = self.equations
        rates = row_values(self._rate, equations.symbols, rows)
        motion = _table(self._rate, rates, len(rows))
        inputs = rows[:, len(equations.names) + 1 :][:, : len(equations.forces.sampled)]
        moving = np.gradient(inputs, times, axis=0) if inputs.shape[1] and len(times) > 1 else np.zeros(inputs.shape)
        symbols = (*equations.symbols, *equations.rate_symbols)
        return _table(
            self._slope_graph, row_values(self._slope_graph, symbols, np.hstack([rows, motion, moving])), len(rows)
        )


def _table(graph: Graph, values: dict[str, Floats], rows: int) -> Floats:
    output: Output = graph.outputs[0]
    return np.array(np.broadcast_to(values[output.name], (rows, *output.shape)), dtype=float)


def extreme(times: Floats, values: Floats, slopes: Floats, side: float) -> tuple[Floats, Floats]:
    """The largest value (side 1; smallest for -1) of every column and its time, for cubic pieces by values and
    slopes."""
    best = np.argmax(side * values, axis=0)
    columns = np.arange(values.shape[1])
    found, at = values[best, columns].copy(), times[best].copy()
    h = np.diff(times)[:, None]
    if not len(h):
        return found, at
    d, m0, m1 = values[1:] - values[:-1], h * slopes[:-1], h * slopes[1:]
    a, b, c = 3 * (m0 + m1 - 2 * d), 2 * (3 * d - 2 * m0 - m1), m0
    with np.errstate(all="ignore"):
        q = -0.5 * (b + np.where(b >= 0, 1.0, -1.0) * np.sqrt(b * b - 4 * a * c))
        for u in (q / a, c / q):
            inside = (u > 0) & (u < 1)
            here = values[:-1] + u * (m0 + u * ((3 * d - 2 * m0 - m1) + u * (m0 + m1 - 2 * d)))
            here = np.where(inside & np.isfinite(here), side * here, -np.inf)
            place = np.argmax(here, axis=0)
            higher = here[place, columns] > side * found
            found = np.where(higher, side * here[place, columns], found)
            at = np.where(higher, times[place] + u[place, columns] * h[place, 0], at)
    return found, at


def _joined(rows: Sequence[CaseRows]) -> CaseRows:
    columns = {
        name: np.concatenate([getattr(row, name) for row in rows])
        for name in vars(rows[0])
        if name not in ("endings", "modes")
    }
    endings = tuple(end for row in rows for end in row.endings)
    return CaseRows(endings=endings, modes=tuple(mode for row in rows for mode in row.modes), **columns)


# Cases with contacts: each has its own modes, and outputs jump at impacts.


@dataclass(frozen=True)
class ContactCases(EachCase):
    """A problem with contacts without its initial state. Its parameters leave room for mode flags.

    tallied: the outputs as code, for explicit methods; their loop computes the requested values of each case.
    """

    tallied: Outputs = NO_OUTPUTS

    def run(self, states: Floats, parameters: Floats, stop: Integers | None = None) -> CaseRows:
        """Run a case from every row of `states` with the same row of `parameters`."""
        if self.solver.capabilities.lanes is None:
            return super().run(states, parameters, stop)
        assert isinstance(self.solver, ContactSolver)
        tally, rows = self.tallied.tally(len(states), len(self.events.names)), _Rows(states, self.grid)
        save = self.grid or Grid(np.array([self.problem.end]))
        for row, (state, values) in enumerate(zip(states, parameters, strict=True)):
            if stop is not None and stop[0]:
                break
            before = self.before[row] if self.before else None
            rows.keep(row, *self.solver.case(self._start(state, values), self.control, save, tally, row, before))
        endings = (
            *rows.endings,
            *(Ending(Status.INTERRUPTED, self.problem.start) for _ in states[len(rows.endings) :]),
        )
        found = CaseRows.of(endings, rows.finals, rows.steps, rows.rejected, tally, rows.saved)
        return replace(found, modes=tuple(rows.modes))

    def _start(self, state: Floats, values: Floats) -> CauchyProblem:
        flags = np.zeros(len(self.equations.flags))
        return replace(self.problem, state=state, parameters=np.concatenate([values, flags]))

    def _events_of(self, run: Run) -> Run:
        """The run with only the user's events: contact events are not columns of a study."""
        return replace(run, events=tuple(one for one in run.events if one.name in self.events.names))

    @property
    def _rate(self) -> Graph:
        """The rates; one graph serves all modes."""
        assert isinstance(self.equations, OpenForm)
        return self.equations.closed.rate

    def _run_rows(self, run: Run, problem: CauchyProblem) -> Floats:
        rows = super()._run_rows(run, problem)
        assert isinstance(self.equations, OpenForm)
        for phase, where in phase_slices(run.phases, len(run.times)):
            rows[where, -len(self.equations.flags) :] = self.equations.mode_flags(phase.mode)
        return rows

    def _on_grid(self, run: Run, problem: CauchyProblem) -> Floats:
        """The run repeated and saved at the requested times: with contacts, steps cannot be interpolated smoothly."""
        if self.grid is None:
            return super()._on_grid(run, problem)
        assert isinstance(self.solver, ContactSolver)
        again = self.solver.integrate(
            problem, self.control, RunOptions(self.grid, before=run.phases[0].mode if self.before else None)
        )
        saved = np.full((len(self.grid.times), run.states.shape[1]), np.nan)
        known = np.isin(again.times, self.grid.times)
        saved[np.searchsorted(self.grid.times, again.times[known])] = again.states[known]
        return saved


# Cases with controllers: all cases of a chunk go together from one call of the functions to the next.


@dataclass(frozen=True)
class ControlledCases:
    """Cases whose inputs Python functions give. cases: how they run in between; held: how many inputs there are."""

    cases: CaseProblem | EachCase
    controllers: tuple[Controller, ...]
    held: int
    outputs: int

    @property
    def events(self) -> EventSet:
        """The events of the cases."""
        return self.cases.events

    def run(self, states: Floats, parameters: Floats, stop: Integers | None = None) -> CaseRows:
        """Run a case from every row of `states` with the same row of `parameters`."""
        problem, token = self.cases.problem, np.zeros(1, dtype=np.int64) if stop is None else stop
        span = problem.start, problem.end

        def stretch(one: Stretch) -> CaseRows:
            grid = Grid(one.times) if len(one.times) else None
            part = replace(self.cases, problem=replace(problem, start=one.start, end=one.end), grid=grid)
            if isinstance(part, EachCase):
                part = replace(part, before=one.before)
            return part.run(one.states, one.parameters, token)

        runs = ControlledRuns(self.controllers, self.held, states, parameters, span, self.cases.grid)
        return controlled_cases(runs, stretch, self.outputs, len(self.events.names), token)


class _Rows:
    """The results of runs, by row."""

    def __init__(self, states: Floats, grid: Grid | None) -> None:
        count, size = states.shape
        self.endings: list[Ending] = []
        self.modes: list[Mode | None] = [None] * count
        self.finals = states.copy()
        self.steps = np.zeros(count, dtype=np.int64)
        self.rejected = np.zeros(count, dtype=np.int64)
        self.saved = np.full((count, 0 if grid is None else len(grid.times), size), np.nan)
        self._grid = grid

    def keep(self, row: int, run: Run, final: Floats) -> None:
        """Store a finished run."""
        self.endings.append(run.ending)
        self.modes[row] = run.phases[-1].mode if run.phases else None
        self.finals[row], self.steps[row], self.rejected[row] = final, run.statistics.steps, run.statistics.rejected
        if self._grid is not None:
            known = np.isin(run.times, self._grid.times)
            self.saved[row, np.searchsorted(self._grid.times, run.times[known])] = run.states[known]
