"""Sweeps of mechanisms with contacts: every run has modes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.solver import ContactSolver, with_flags
from kinegraph.simulate.sweep_task import SweepTask
from kinegraph.solve.batch.sweep import SweepRun, integrate_each
from kinegraph.solve.methods.run_options import NO_EVENTS
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.problem import CauchyProblem


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

    def _each(self, problem: CauchyProblem, control: Control, threads: int) -> SweepRun:
        solver = self._contact_solver(problem.native)
        parameters = with_flags(self.parameters, solver.code)
        return integrate_each(
            solver, problem, self.states, parameters, control, self.grid, self._bar(), NO_EVENTS, threads,
            self.interrupt,
        )  # fmt: skip

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
