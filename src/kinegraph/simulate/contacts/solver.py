"""An integrator that lets contacts close and open: for runs that are made one by one, with numbers of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.ahead.compilation import Compilation
from kinegraph.interrupt import Interrupt
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.system import ContactSystem
from kinegraph.solve.contacts.in_loops import LoopedContacts, contact_loops
from kinegraph.solve.contacts.phases import integrate_phases
from kinegraph.solve.methods.method import EVERY_STEP, NO_EVENTS, SILENT, SolverAround
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Run, Save


@dataclass(frozen=True)
class ContactSolver(SolverAround):
    """A method with the modes of one mechanism. Of a problem it takes start, parameters, inputs and span."""

    code: ContactCode

    @property
    def loops(self) -> Compilation:
        tableau = self.capabilities.lanes
        return self.method.loops if tableau is None else contact_loops(tableau)

    def integrate(
        self,
        problem: CauchyProblem,
        control: Control,
        save: Save = EVERY_STEP,
        events: EventSet = NO_EVENTS,
        progress: Progress = SILENT,
        interrupt: Interrupt | None = None,
    ) -> Run:
        """Run from mode to mode; the events are those of the code."""
        token, tableau = interrupt or Interrupt(), self.capabilities.lanes
        span, given = (problem.start, problem.end), problem.parameters[: len(self.code.open.runtime)]
        system = ContactSystem(self.code, problem.inputs, span, problem.native, given)
        chosen = self.method.accept(control)
        if tableau is not None:
            return LoopedContacts(tableau, chosen, system, span, problem.state, save).run(progress, token)
        return integrate_phases(self.method, chosen, system, span, problem.state, save, progress, token)


def with_flags(columns: Floats, code: ContactCode) -> Floats:
    """Rows of parameters with room for the flags of modes."""
    return np.hstack([columns, np.zeros((len(columns), len(code.open.flags)))])
