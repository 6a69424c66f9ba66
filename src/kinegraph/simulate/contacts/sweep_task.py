"""Sweeps of mechanisms with contacts: every run has modes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.interrupt import Interrupt
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.solver import ContactSolver, with_flags
from kinegraph.simulate.sweep_task import SweepTask
from kinegraph.solve.batch.sweep import SweepRun, integrate_each
from kinegraph.solve.methods.run_options import NO_EVENTS
from kinegraph.solve.problem.loading import Loading
from kinegraph.solve.problem.problem import CauchyProblem
from kinegraph.solve.problem.progress import Progress


@dataclass(frozen=True)
class ContactSweepTask(SweepTask):
    """Equations with contacts, where each run starts, and how they are to be integrated."""

    @property
    def in_lanes(self) -> bool:
        return False

    def _problem(self, native: bool) -> CauchyProblem:
        rhs = self._contact_solver(native).code.open_rhs
        first = with_flags(self.parameters[:1], self._contact_solver(native).code)[0]
        return CauchyProblem(rhs, self.states[0].copy(), *self.span, first, self.inputs, native)

    def _each(self, problem: CauchyProblem, display: Progress, threads: int, interrupt: Interrupt) -> SweepRun:
        solver = self._contact_solver(problem.native)
        parameters = with_flags(self.parameters, solver.code)
        return integrate_each(
            solver, problem, self.states, parameters, self.control, self.grid, display, NO_EVENTS, threads, interrupt
        )

    @cached_property
    def _loading(self) -> Loading:
        return Loading(f"contacts, {self.solver.name}", self._contact_solver(False).loops, self.progress is not False)

    def _contact_solver(self, native: bool) -> ContactSolver:
        return self._compiled_solver if native else self._interpreted_solver

    @cached_property
    def _interpreted_solver(self) -> ContactSolver:
        return self._solver_of(False)

    @cached_property
    def _compiled_solver(self) -> ContactSolver:
        return self._solver_of(True)

    def _solver_of(self, native: bool) -> ContactSolver:
        form = self.equations
        assert isinstance(form, OpenForm)
        return ContactSolver(self.solver, ContactCode(form, self.events, native, self.solver.capabilities.jacobian))
