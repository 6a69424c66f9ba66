"""An integrator that lets contacts close and open: for runs that are made one by one, with numbers of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.interrupt import Interrupt
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.system import ContactSystem
from kinegraph.simulate.pace import paced
from kinegraph.solve.contacts.in_loops import LoopedContacts
from kinegraph.solve.contacts.phases import integrate_phases
from kinegraph.solve.loops.many.tally import Tally
from kinegraph.solve.methods.method import SolverAround
from kinegraph.solve.methods.run_options import AS_USUAL, SILENT, RunOptions
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.results.recording import Grid, Run

_CASE_STEPS = 512  # of a case, before Python looks again: calling the loop takes as long as some dozens


@dataclass(frozen=True)
class ContactSolver(SolverAround):
    """A method with the modes of one mechanism. Of a problem it takes start, parameters, inputs and span."""

    code: ContactCode

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run from mode to mode; the events are those of the code."""
        save, progress, token, tableau = options.save, options.progress, options.token, self.capabilities.lanes
        span, system, chosen = (problem.start, problem.end), self._system(problem), self._control(control, problem)
        if tableau is not None:
            return LoopedContacts(tableau, chosen, system, span, problem.state, save).run(progress, token)
        return integrate_phases(self.method, chosen, system, span, problem.state, save, progress, token)

    def case(self, problem: CauchyProblem, control: Control, save: Grid, tally: Tally, row: int) -> tuple[Run, Floats]:
        """A run by an explicit method of which a tally is kept, and its last state."""
        tableau, span = self.capabilities.lanes, (problem.start, problem.end)
        assert tableau is not None
        chosen, system = self._control(control, problem), self._system(problem)
        run = LoopedContacts(tableau, chosen, system, span, problem.state, save, tally, row, _CASE_STEPS)
        return run.run(SILENT, Interrupt()), run.final

    def _control(self, control: Control, problem: CauchyProblem) -> Control:
        form = self.code.open
        if form.led_gaps is not None and isinstance(control, Adaptive):
            x = problem.state, np.concatenate([np.zeros(problem.rhs.inputs), problem.parameters])
            control = paced(control, form.led_gaps, form, x, (problem.start, problem.end))
        return self.method.accept(control)

    def _system(self, problem: CauchyProblem) -> ContactSystem:
        """The modes of a run with these numbers."""
        given = problem.parameters[: len(self.code.open.runtime)]
        return ContactSystem(self.code, problem.inputs, (problem.start, problem.end), problem.native, given)


def with_flags(columns: Floats, code: ContactCode) -> Floats:
    """Rows of parameters with room for the flags of modes."""
    return np.hstack([columns, np.zeros((len(columns), len(code.open.flags)))])
