"""One run that is to be made: interpreted, compiled, or whichever of both ends earlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from time import perf_counter

import numpy as np

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.jit.straight import StraightKernel
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.event_kernels import Endings, event_set
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.run_options import RunOptions
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import costs
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.execution import Alternatives, Decision, Execution, Forecast, Native, forced
from kinegraph.solve.problem.loading import Loading
from kinegraph.solve.problem.problem import CauchyProblem, Floats, RightHandSide, Signals
from kinegraph.solve.problem.progress import Later, Progress, bar
from kinegraph.solve.results.recording import Run, Save, earlier

_MOST_INTERPRETED = 100_000  # nodes (with a guess of the Jacobian's) that Python can still be asked to read


@dataclass(frozen=True)
class Task:
    """Equations, where they start, and how they are to be integrated.

    autonomous: nothing depends on time, so that a run far from t = 0 may be counted from its start, where times have
    more digits. endings: what ends the equations themselves.
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
    interpreted: int = _MOST_INTERPRETED  # nodes up to which the interpreter begins
    autonomous: bool = False
    endings: Endings | None = None

    def run(self, native: Native) -> tuple[Run, Decision]:
        """Integrate as asked for; "auto" begins on the interpreter and compiles when that promises an earlier end."""
        wanted = forced(native)
        if self.equations.by_loops and wanted is Execution.INTERPRETED:
            raise SolveError("loops over bodies are compiled: leave native=False away, or give loops=False")
        if wanted is not None:
            return self._to_the_end(Decision(wanted, forced=True))
        decision = self._beforehand()
        while decision.execution is not Execution.NATIVE:
            found = self._while_it_pays(decision)
            if not isinstance(found, Decision):
                return found
            decision = found
        return self._to_the_end(decision)

    def _to_the_end(self, decision: Decision) -> tuple[Run, Decision]:
        """One run by the way that was decided on."""
        rhs = self._right_hand_side(decision.execution is not Execution.INTERPRETED)
        if decision.execution is Execution.NATIVE and not _addressable(rhs):
            decision = Decision(Execution.KERNEL)
        if decision.execution is Execution.NATIVE:
            self._loading.wait()
        run = self._integrate(rhs, decision.execution, self._bar(), self.interrupt)
        self._loading.learn(run.statistics.loading)
        return run, decision

    def _while_it_pays(self, decision: Decision) -> tuple[Run, Decision] | Decision:
        """One run by the way that was decided on; the better way, if one promises an earlier end on the way."""
        rhs, token = self._right_hand_side(decision.execution is not Execution.INTERPRETED), Interrupt(self.interrupt)
        others = self._alternatives(decision.execution, rhs)
        forecast = Forecast(self._bar(), self.span, decision.execution, others, token)
        run = self._integrate(rhs, decision.execution, forecast, token)
        return forecast.better or (run, replace(decision, estimates=forecast.estimates or decision.estimates))

    def _bar(self) -> Progress:
        return bar(self.progress, *self.span, label=self.equations.mechanism.name)

    def _integrate(self, rhs: RightHandSide, execution: Execution, display: Progress, interrupt: Interrupt) -> Run:
        """The run, counted from where its times have most digits."""
        (start, end), origin = self.span, self._origin
        loops = execution is Execution.NATIVE
        problem = CauchyProblem(rhs, self.state, start - origin, end - origin, self._numbers(rhs), self.inputs, loops)
        if origin == 0.0:
            return self._run(problem, execution, RunOptions(self.save, progress=display, interrupt=interrupt))
        counted = RunOptions(earlier(self.save, origin), progress=Later(display, origin), interrupt=interrupt)
        return self._run(problem, execution, counted).later(origin)

    @property
    def _origin(self) -> float:
        """Times of a run that begins farther from zero than it is long, doubled, have exact differences."""
        start, end = self.span
        return start if self.autonomous and abs(start) >= 2.0 * (end - start) else 0.0

    def _numbers(self, rhs: RightHandSide) -> Floats:
        return self.parameters

    def _run(self, problem: CauchyProblem, execution: Execution, options: RunOptions) -> Run:
        events = event_set(self.equations, self.events, execution is not Execution.INTERPRETED, self.endings)
        return self.solver.integrate(problem, self.control, replace(options, events=events))

    def _right_hand_side(self, native: bool) -> RightHandSide:
        begun = perf_counter()
        rhs = self.equations.right_hand_side(jacobian=self.solver.capabilities.jacobian, native=native)
        kernels = [one for one in rhs.kernels if isinstance(one, StraightKernel)]
        if kernels and not any(kernel.report.cached for kernel in kernels):
            operations = sum(kernel.operations.total for kernel in kernels)
            costs.store(costs.stored().compiled(operations, perf_counter() - begun))
        return rhs

    @cached_property
    def _loading(self) -> Loading:
        return Loading(
            self.solver.name, self.solver.loops_with(self.equations.closed_by_method), self.progress is not False
        )

    # deciding

    def _beforehand(self) -> Decision:
        """With steps of one length all is known before; else nothing: the interpreter begins, unless much is to do."""
        if self.equations.by_loops:
            return Decision(Execution.NATIVE if self._loading.on_disk else Execution.KERNEL)
        size = len(self.equations.names) if self.solver.capabilities.jacobian else 0
        if len(self.equations.rate) * (1 + size // 4) > self.interpreted:
            return Decision(Execution.KERNEL)
        if self.control.adaptive:
            return Decision(Execution.INTERPRETED)
        steps = ceil((self.span[1] - self.span[0]) / self.control.step)
        evaluations = steps * self.solver.capabilities.evaluations
        operations = len(self.equations.rate)
        known = costs.stored()
        estimates = {
            Execution.INTERPRETED: evaluations * known.interpret(operations),
            **self._compiled(known, operations, evaluations, evaluations * known.step()),
        }
        best = min(estimates, key=lambda one: estimates[one])
        if best is Execution.NATIVE and not self._loading.on_disk:
            return Decision(Execution.INTERPRETED)  # until the loops are there
        return Decision(best, False, estimates if best is not Execution.INTERPRETED else {})

    def _alternatives(self, running: Execution, rhs: RightHandSide) -> Alternatives:
        """What estimates the other ways while this one runs."""
        functions = [one for one in rhs.kernels if isinstance(one, InterpretedKernel)]
        known = costs.stored()

        def others(elapsed: float, done: float) -> Mapping[Execution, float]:
            if running is Execution.KERNEL:  # what is left to compile are the loops
                return {Execution.NATIVE: self._loading.seconds(known)} if _addressable(rhs) else {}
            calls = sum(one.calls for one in functions)
            operations = sum(one.instructions for one in functions)
            around = elapsed - sum(one.seconds for one in functions)
            return self._compiled(known, operations, calls / done, around / done)

        return Alternatives(others, self._loading.arrived)

    def _compiled(
        self, known: costs.Costs, operations: int, evaluations: float, around: float
    ) -> dict[Execution, float]:
        """Seconds of the ways that compile; `around` is what an interpreted loop takes beside all evaluations."""
        compiling = known.compile(operations)
        loading = self._loading.seconds(known)
        return {
            Execution.KERNEL: compiling + around + evaluations * known.call(operations),
            Execution.NATIVE: compiling + loading + evaluations * known.evaluate(operations),
        }


def _addressable(rhs: RightHandSide) -> bool:
    """Whether compiled loops can call all of it; some loops over bodies are called by Python alone."""
    return all(kernel.addressable for kernel in rhs.kernels)
