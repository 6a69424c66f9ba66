"""A run of a mechanism with contacts: interpreted or compiled as any other, in phases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.system import ContactSystem
from kinegraph.simulate.task import Task
from kinegraph.solve.contacts.in_loops import LoopedContacts, contact_loops
from kinegraph.solve.contacts.phases import integrate_phases
from kinegraph.solve.problem.execution import Execution
from kinegraph.solve.problem.loading import Loading
from kinegraph.solve.problem.problem import RightHandSide
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Run


@dataclass(frozen=True)
class ContactTask(Task):
    """Equations with contacts, where they start, and how they are to be integrated."""

    def _integrate(self, rhs: RightHandSide, execution: Execution, shown: Progress, interrupt: Interrupt) -> Run:
        system, tableau = self.system(execution), self.solver.capabilities.lanes
        if tableau is not None:
            control = self.solver.accept(self.control)
            return LoopedContacts(tableau, control, system, self.span, self.state, self.save).run(shown, interrupt)
        return integrate_phases(self.solver, self.control, system, self.span, self.state, self.save, shown, interrupt)

    @cached_property
    def _loading(self) -> Loading:
        tableau = self.solver.capabilities.lanes
        if tableau is None:
            return super()._loading
        return Loading("contacts", contact_loops(tableau), self.progress is not False)

    def system(self, execution: Execution) -> ContactSystem:
        """The modes of this run."""
        form = self.equations
        if not isinstance(form, OpenForm):
            raise SolveError("contacts keep every state on its constraints: leave out `baumgarte`")
        return ContactSystem(
            open=form,
            user_events=self.events,
            inputs=self.inputs,
            span=self.span,
            native=execution is not Execution.INTERPRETED,
            loops=execution is Execution.NATIVE,
            jacobian=self.solver.capabilities.jacobian,
        )
