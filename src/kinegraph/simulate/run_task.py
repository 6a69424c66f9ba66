"""One run to perform, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.events import Endings, event_set
from kinegraph.solve.execution import WORTH_COMPILING, Decision, Execution, Later, Native, Progress, bar, forced
from kinegraph.solve.methods.feedback import NO_CONTROLLERS, Controllers
from kinegraph.solve.methods.method import RunOptions, Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, Event, Floats, RightHandSide, Signals
from kinegraph.solve.recording import Run, Save, Status, earlier

_MOST_INTERPRETED = 100_000  # nodes (with an estimate of the Jacobian's) up to which interpreting is reasonable


@dataclass(frozen=True)
class Task:
    """Equations, their initial state, and how to integrate them.

    autonomous: nothing depends on time, so a run far from t = 0 may count time from its start, where times have more
    digits. endings: conditions that end the equations themselves. controllers: Python functions that give inputs.
    """

    equations: Equations
    solver: Solver
    control: Control
    state: Floats
    span: tuple[float, float]
    inputs: Signals
    events: Sequence[Event]
    save: Save
    progress: bool | None
    parameters: Floats = field(default_factory=lambda: np.zeros(0))
    interrupt: Interrupt = field(default_factory=Interrupt)
    interpreted: int = _MOST_INTERPRETED  # nodes up to which the interpreter starts
    autonomous: bool = False
    endings: Endings | None = None
    controllers: Controllers = NO_CONTROLLERS

    def run(self, native: Native) -> tuple[Run, Decision]:
        """Integrate as requested; "auto" compiles unless the run is short."""
        wanted = forced(native)
        if self.equations.by_loops and wanted is Execution.INTERPRETED:
            raise SolveError("recursive algorithms are always compiled: omit native=False, or give loops=False")
        if wanted is not None:
            return self._executed(Decision(wanted, forced=True), self.control)
        # a controller may remember its calls, so a run with controllers is never begun a second time
        limited = None if self.controllers.functions else self._limited()
        if limited is not None:
            run, decision = self._executed(Decision(Execution.INTERPRETED), limited)
            if limited is self.control or run.ending.status is not Status.TOO_MANY_STEPS:
                return run, decision
        return self._executed(Decision(Execution.NATIVE), self.control)

    def _limited(self) -> Control | None:
        """The controller limited to the number of steps worth interpreting; None for a run worth compiling."""
        size = len(self.equations.names) if self.solver.capabilities.jacobian else 0
        if self.equations.by_loops or len(self.equations.rate) * (1 + size // 4) > self.interpreted:
            return None
        most = WORTH_COMPILING // self.solver.capabilities.evaluations
        if self.control.adaptive:
            return replace(self.control, max_steps=most) if most < self.control.max_steps else self.control
        return self.control if ceil((self.span[1] - self.span[0]) / self.control.step) <= most else None

    def _executed(self, decision: Decision, control: Control) -> tuple[Run, Decision]:
        """One run as decided. Python stays in the loop if compiled loops cannot call all of the equations."""
        rhs = self._right_hand_side(decision.execution is not Execution.INTERPRETED)
        if decision.execution is Execution.NATIVE and not _addressable(rhs):
            decision = Decision(Execution.KERNEL)
        return self._integrate(rhs, control, decision.execution), decision

    def _bar(self) -> Progress:
        return bar(self.progress, *self.span, label=self.equations.mechanism.name)

    def _integrate(self, rhs: RightHandSide, control: Control, execution: Execution) -> Run:
        """The run, with times counted from where they have the most digits."""
        (start, end), origin, display, token = self.span, self._origin, self._bar(), self.interrupt
        loops = execution is Execution.NATIVE
        problem = CauchyProblem(rhs, self.state, start - origin, end - origin, self._numbers(rhs), self.inputs, loops)
        if origin == 0.0:
            return self._run(problem, control, execution, RunOptions(self.save, progress=display, interrupt=token))
        counted = RunOptions(earlier(self.save, origin), progress=Later(display, origin), interrupt=token)
        return self._run(problem, control, execution, counted).later(origin)

    @property
    def _origin(self) -> float:
        """Times of a run that starts farther from zero than it is long, doubled, have exact differences."""
        start, end = self.span
        return start if self.autonomous and abs(start) >= 2.0 * (end - start) else 0.0

    def _numbers(self, rhs: RightHandSide) -> Floats:
        return self.parameters

    def _run(self, problem: CauchyProblem, control: Control, execution: Execution, options: RunOptions) -> Run:
        events = event_set(self.equations, self.events, execution is not Execution.INTERPRETED, self.endings)
        return self.controlled(self.solver).integrate(problem, control, replace(options, events=events))

    def controlled(self, solver: Solver) -> Solver:
        """A method with the controllers of this run around it."""
        return self.controllers.around(solver)

    def _right_hand_side(self, native: bool) -> RightHandSide:
        return self.equations.right_hand_side(jacobian=self.solver.capabilities.jacobian, native=native)


def _addressable(rhs: RightHandSide) -> bool:
    """Whether compiled loops can call everything; some recursive algorithms are called from Python only."""
    return all(kernel.addressable for kernel in rhs.kernels)
