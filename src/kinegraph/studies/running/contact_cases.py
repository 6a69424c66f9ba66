"""Cases with contacts: each has modes of its own, and outputs jump where it impacts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinegraph.graph.node import Graph
from kinegraph.interrupt import Interrupt
from kinegraph.simulate.contacts.columns import phase_slices
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.mode_flags import mode_flags
from kinegraph.simulate.contacts.solver import ContactSolver
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.results.recording import Run
from kinegraph.studies.running.each import EachCase


@dataclass(frozen=True)
class ContactCases(EachCase):
    """A problem with contacts without its start. Its parameters leave room for the flags of modes."""

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
        again = self.solver.integrate(problem, self.control, self.grid, interrupt=Interrupt())
        saved = np.full((len(self.grid.times), run.states.shape[1]), np.nan)
        known = np.isin(again.times, self.grid.times)
        saved[np.searchsorted(self.grid.times, again.times[known])] = again.states[known]
        return saved
