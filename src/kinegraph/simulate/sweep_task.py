"""The runs of a sweep: a few short ones interpreted, else compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from kinegraph.interrupt import Interrupt
from kinegraph.jit.parallel import cores
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.event_kernels import event_set
from kinegraph.solve.batch.sweep import SweepRun, integrate_each, integrate_rows
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.execution import WORTH_COMPILING, Decision, Execution, Native, forced
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Signals
from kinegraph.solve.problem.progress import Progress, bar
from kinegraph.solve.results.recording import Grid
from kinegraph.solve.results.status import Status


@dataclass(frozen=True)
class SweepTask:
    """Equations, where each run starts, and how they are to be integrated."""

    equations: Equations
    solver: Solver
    control: Control
    states: Floats
    parameters: Floats
    span: tuple[float, float]
    grid: Grid | None
    threads: int | None
    progress: bool | None
    inputs: Signals = field(default_factory=Signals.none)
    events: Sequence[Event] = ()
    interrupt: Interrupt = field(default_factory=Interrupt)

    @property
    def in_lanes(self) -> bool:
        """Whether compiled runs go side by side in vector lanes; else they run one by one."""
        able = self.solver.capabilities
        return able.lanes is not None and not self.events

    def run(self, native: Native) -> tuple[SweepRun, Decision]:
        """Integrate as asked for; "auto" compiles unless all runs together are short."""
        wanted = forced(native)
        if wanted is Execution.INTERPRETED:
            return self._each(self._problem(False), self.control, 1), Decision(wanted, forced=True)
        limited = self._limited() if wanted is None else None
        if limited is not None:
            runs = self._each(self._problem(False), limited, 1)
            if limited is self.control or Status.TOO_MANY_STEPS not in runs.statuses:
                return runs, Decision(Execution.INTERPRETED)
        return self._compiled(), Decision(Execution.NATIVE, forced=wanted is not None)

    def _limited(self) -> Control | None:
        """The controller with at most as many steps as are worth interpreting; None for runs worth compiling."""
        most = WORTH_COMPILING // (self.solver.capabilities.evaluations * len(self.states))
        if self.control.adaptive and most:
            return replace(self.control, max_steps=most) if most < self.control.max_steps else self.control
        if self.control.adaptive or ceil((self.span[1] - self.span[0]) / self.control.step) > most:
            return None
        return self.control

    def _problem(self, native: bool) -> CauchyProblem:
        rhs = self.equations.right_hand_side(self.solver.capabilities.jacobian, native)
        first = self.states[0].copy(), self.parameters[0].copy()
        return CauchyProblem(rhs, first[0], *self.span, first[1], self.inputs, native)

    def _bar(self) -> Progress:
        return bar(self.progress, 0, len(self.states), "runs", self.equations.mechanism.name)

    def _each(self, problem: CauchyProblem, control: Control, threads: int) -> SweepRun:
        events = event_set(self.equations, self.events, problem.native)
        return integrate_each(
            self.solver, problem, self.states, self.parameters, control, self.grid, self._bar(), events, threads,
            self.interrupt,
        )  # fmt: skip

    def _compiled(self) -> SweepRun:
        if not self.in_lanes:
            return self._each(self._problem(True), self.control, self.threads or cores())
        return integrate_rows(
            self.solver, self._problem(True), self.states, self.parameters, self.control, self.grid, self._bar(),
            self.threads, self.interrupt,
        )  # fmt: skip
