"""Explicit Runge-Kutta methods, in loops around the kernel of the right-hand side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.solve.loops import runge_kutta as loop
from kinegraph.solve.loops.runge_kutta import Control as LoopControl
from kinegraph.solve.loops.step import NESTED, System, Work
from kinegraph.solve.loops.weights import TABLEAUX, Method
from kinegraph.solve.loops.weights_code import EACH, ONE, sums_code
from kinegraph.solve.methods.capabilities import Capabilities
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.run_options import AS_USUAL, RunOptions
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.problem import CauchyProblem, Floats, code_of
from kinegraph.solve.problem.slices import Loop, run_in_slices
from kinegraph.solve.results.recording import Recorder, Run


@dataclass(frozen=True)
class RungeKutta(Solver):
    """The explicit Runge-Kutta method of a tableau; with an adaptive controller if it has an error estimate."""

    tableau: Tableau

    @property
    def name(self) -> str:
        return self.tableau.name

    @property
    def order(self) -> int:
        return self.tableau.order

    @property
    def capabilities(self) -> Capabilities:
        estimated = bool(self.tableau.error)
        return Capabilities(adaptive=estimated, evaluations=self.tableau.order, lanes=self.tableau)

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        recorder = Recorder(problem, options.save, options.events)
        loop = self._loop(problem, self.accept(control), recorder)
        return run_in_slices(loop, problem, recorder, options.progress, options.token)

    def _loop(self, problem: CauchyProblem, control: Control, recorder: Recorder) -> Loop:
        method, work = loop_method(self.tableau), loop_work(problem, self.tableau)
        chosen = loop_control(self.tableau, control, problem)
        clock = np.array([problem.start, control.begin, problem.end, 1e-4, problem.start])
        common = loop_system(problem), method, chosen, work, clock, recorder.watch, recorder.saving, recorder.counters
        return Loop(loop.advance, common, clock, work.y)


def loop_system(problem: CauchyProblem) -> System:
    """The right-hand side as loops take it."""
    quaternions = np.array(problem.rhs.quaternions, dtype=np.int64)
    return System(
        code_of(problem.rhs.code),
        problem.inputs.knots,
        problem.inputs.coefficients,
        quaternions,
        code_of(problem.rhs.projection),
    )


@cache
def loop_method(tableau: Tableau) -> Method:
    """The tableau as loops take it."""
    if tableau not in TABLEAUX:
        known = ", ".join(one.name for one in TABLEAUX)
        raise SolveError(f"{tableau.name} has no compiled form: add it to weights.TABLEAUX, as {known} are")
    code = sums_code(tableau)
    counts = tableau.stages, len(tableau.error), 3 + len(tableau.dense)
    return Method(TABLEAUX.index(tableau), tableau.nodes(), *counts, code.address(ONE), code.address(EACH))


def loop_control(tableau: Tableau, control: Control, problem: CauchyProblem) -> LoopControl:
    """The controller as loops take it."""
    size = problem.rhs.size
    if not control.adaptive:
        unused = (0.0, np.zeros(size), 0.0, 1 << 60, 0.9, 0.2, 10.0, 0.2, 0.0, tableau.order - 1)
        return LoopControl(True, *unused)
    return _adaptive(tableau, control, control.absolute(problem.rhs.names), problem.end - problem.start)


def _adaptive(tableau: Tableau, control: Adaptive, atol: Floats, duration: float) -> LoopControl:
    # Hairer's choices: some memory for order 5, none for order 8.
    memory = control.memory if control.memory is not None else (0.04 if tableau.order < 8 else 0.0)
    return LoopControl(
        fixed=False,
        rtol=control.rtol,
        atol=atol,
        max_step=min(control.longest, duration),
        max_steps=control.max_steps,
        safety=control.safety,
        shrink=control.shrink,
        grow=control.grow,
        exponent=1 / tableau.order - 0.75 * memory,
        memory=memory,
        error_order=tableau.order - 1,
    )


def loop_work(problem: CauchyProblem, tableau: Tableau) -> Work:
    """The memory of one trajectory."""
    size = problem.rhs.size
    return Work(
        x=problem.argument(),
        y=problem.state.copy(),
        end=problem.state.copy(),
        slopes=np.zeros((tableau.all_stages, size)),
        errors=np.zeros((max(len(tableau.error), 1), size)),
        dense=np.zeros((3 + len(tableau.dense), size)),
        zero=np.zeros(size),
        projected=problem.projected(),
        basis=NESTED,
    )
