"""The runs of a sweep: a few interpreted, many compiled, whichever ends earlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.interrupt import Interrupt
from kinegraph.jit.parallel import cores
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.event_kernels import event_set
from kinegraph.solve.batch.sweep import SweepRun, integrate_each, integrate_rows, sweep_loops
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import costs
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.execution import Alternatives, Decision, Execution, Forecast, Native, forced
from kinegraph.solve.problem.loading import Loading
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Signals
from kinegraph.solve.problem.progress import Progress, bar
from kinegraph.solve.results.recording import Grid

_KERNELS = 2  # of one state and of many: what is compiled for a sweep


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
        """Integrate as asked for; "auto" begins on the interpreter and compiles when that promises an earlier end."""
        wanted = forced(native)
        if wanted is Execution.NATIVE:
            return self._compiled(), Decision(wanted, forced=True)
        if wanted is Execution.INTERPRETED:
            return self._each(self._problem(False), self._bar(), 1, self.interrupt), Decision(wanted, forced=True)
        problem, token = self._problem(False), Interrupt(self.interrupt)
        forecast = Forecast(
            self._bar(), (0, len(self.states)), Execution.INTERPRETED, self._alternatives(problem), token
        )
        run = self._each(problem, forecast, 1, token)
        if forecast.better:
            return self._compiled(), forecast.better
        return run, Decision(Execution.INTERPRETED, False, forecast.estimates)

    def _problem(self, native: bool) -> CauchyProblem:
        rhs = self.equations.right_hand_side(self.solver.capabilities.jacobian, native)
        first = self.states[0].copy(), self.parameters[0].copy()
        return CauchyProblem(rhs, first[0], *self.span, first[1], self.inputs, native)

    def _bar(self) -> Progress:
        return bar(self.progress, 0, len(self.states), "runs", self.equations.mechanism.name)

    def _each(self, problem: CauchyProblem, display: Progress, threads: int, interrupt: Interrupt) -> SweepRun:
        events = event_set(self.equations, self.events, problem.native)
        return integrate_each(
            self.solver,
            problem,
            self.states,
            self.parameters,
            self.control,
            self.grid,
            display,
            events,
            threads,
            interrupt,
        )

    def _compiled(self) -> SweepRun:
        self._loading.wait()
        if not self.in_lanes:
            return self._each(self._problem(True), self._bar(), self.threads or cores(), self.interrupt)
        runs = integrate_rows(
            self.solver, self._problem(True), self.states, self.parameters, self.control, self.grid, self._bar(),
            self.threads, self.interrupt,
        )  # fmt: skip
        self._loading.learn(runs.loading)
        return runs

    @cached_property
    def _loading(self) -> Loading:
        told = self.progress is not False
        if not self.in_lanes:
            return Loading(self.solver.name, self.solver.loops_with(self.equations.closed_by_method), told)
        return Loading(f"sweep, {self.solver.name}", sweep_loops(self.solver), told)

    def _alternatives(self, problem: CauchyProblem) -> Alternatives:
        """What a compiled sweep would take, while the interpreted one runs."""
        functions = [one for one in problem.rhs.kernels if isinstance(one, InterpretedKernel)]
        known = costs.stored()

        def others(elapsed: float, done: float) -> Mapping[Execution, float]:
            compiling = _KERNELS * known.compile(sum(one.instructions for one in functions))
            loading = self._loading.seconds(known)
            running = sum(one.calls / done * known.evaluate(one.instructions) for one in functions)
            return {Execution.NATIVE: compiling + loading + running}

        return Alternatives(others, self._loading.arrived)
