"""A run of a mechanism with contacts: interpreted or compiled as any other, in phases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.solver import ContactSolver
from kinegraph.simulate.task import Task
from kinegraph.solve.methods.run_options import RunOptions
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.execution import Execution
from kinegraph.solve.problem.problem import CauchyProblem, Floats, RightHandSide
from kinegraph.solve.results.recording import Run


@dataclass(frozen=True)
class ContactTask(Task):
    """Equations with contacts, where they start, and how they are to be integrated."""

    def _numbers(self, rhs: RightHandSide) -> Floats:
        return np.zeros(rhs.parameters)

    def _run(self, problem: CauchyProblem, control: Control, execution: Execution, options: RunOptions) -> Run:
        return self._contact_solver(execution).integrate(problem, control, options)

    def _contact_solver(self, execution: Execution) -> ContactSolver:
        """The method with the modes of this run."""
        form = self.equations
        if not isinstance(form, OpenForm):
            raise SolveError("contacts keep every state on its constraints: leave out `baumgarte`")
        native = execution is not Execution.INTERPRETED
        return ContactSolver(self.solver, ContactCode(form, self.events, native, self.solver.capabilities.jacobian))
