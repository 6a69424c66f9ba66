"""Cases with contacts: each has modes of its own, and outputs jump where it impacts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinegraph.graph.node import Graph
from kinegraph.simulate.contacts.columns import phase_slices
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.mode_flags import mode_flags
from kinegraph.simulate.contacts.solver import ContactSolver
from kinegraph.solve.batch.cases import CaseRows, Integers
from kinegraph.solve.batch.outputs import NO_OUTPUTS, Outputs
from kinegraph.solve.methods.run_options import RunOptions
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.results.recording import Grid, Run
from kinegraph.solve.results.status import Ending, Status
from kinegraph.studies.running.each import EachCase


@dataclass(frozen=True)
class ContactCases(EachCase):
    """A problem with contacts without its start. Its parameters leave room for the flags of modes.

    tallied: the outputs as code, for explicit methods; their loop keeps what is wanted of each case.
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
            rows.keep(row, *self.solver.case(self._start(state, values), self.control, save, tally, row))
        endings = (
            *rows.endings,
            *(Ending(Status.INTERRUPTED, self.problem.start) for _ in states[len(rows.endings) :]),
        )
        return CaseRows.of(endings, rows.finals, rows.steps, rows.rejected, tally, rows.saved)

    def _start(self, state: Floats, values: Floats) -> CauchyProblem:
        flags = np.zeros(len(self.equations.flags))
        return replace(self.problem, state=state, parameters=np.concatenate([values, flags]))

    def _events_of(self, run: Run) -> Run:
        """The run with the user's events alone: what contacts do is no column of a study."""
        return replace(run, events=tuple(one for one in run.events if one.name in self.events.names))

    @property
    def _rate(self) -> Graph:
        """One graph serves all modes."""
        assert isinstance(self.equations, OpenForm)
        return self.equations.closed.rate

    def _run_rows(self, run: Run, problem: CauchyProblem) -> Floats:
        rows = super()._run_rows(run, problem)
        assert isinstance(self.equations, OpenForm)
        for phase, where in phase_slices(run.phases, len(run.times)):
            rows[where, -len(self.equations.flags) :] = mode_flags(self.equations.contacts, phase.mode)
        return rows

    def _on_grid(self, run: Run, problem: CauchyProblem) -> Floats:
        """The run once more, saved at the times of the grid: between steps nothing is smooth."""
        if self.grid is None:
            return super()._on_grid(run, problem)
        assert isinstance(self.solver, ContactSolver)
        again = self.solver.integrate(problem, self.control, RunOptions(self.grid))
        saved = np.full((len(self.grid.times), run.states.shape[1]), np.nan)
        known = np.isin(again.times, self.grid.times)
        saved[np.searchsorted(self.grid.times, again.times[known])] = again.states[known]
        return saved


class _Rows:
    """What runs leave behind, by row."""

    def __init__(self, states: Floats, grid: Grid | None) -> None:
        count, size = states.shape
        self.endings: list[Ending] = []
        self.finals = states.copy()
        self.steps = np.zeros(count, dtype=np.int64)
        self.rejected = np.zeros(count, dtype=np.int64)
        self.saved = np.full((count, 0 if grid is None else len(grid.times), size), np.nan)
        self._grid = grid

    def keep(self, row: int, run: Run, final: Floats) -> None:
        """Keep a run that has ended."""
        self.endings.append(run.ending)
        self.finals[row], self.steps[row], self.rejected[row] = final, run.statistics.steps, run.statistics.rejected
        if self._grid is not None:
            known = np.isin(run.times, self._grid.times)
            self.saved[row, np.searchsorted(self._grid.times, run.times[known])] = run.states[known]
