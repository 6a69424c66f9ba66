"""IDA of SUNDIALS, through scikit-sundae: BDF of variable order for differential and algebraic equations together.

It solves residual(y, y', t) = 0 with Newton iterations on the exact matrix. Multipliers take no part in the choice of
steps: those of an index-2 problem lose a digit for each step that becomes shorter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kinegraph.ahead.compilation import Compilation
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.loops.folder import integrator
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import set_inputs
from kinegraph.solve.methods.capabilities import Capabilities, StateForm
from kinegraph.solve.methods.method import EVERY_STEP, NO_EVENTS, SILENT, Solver
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats, code_of
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Grid, Run, Save, Statistics
from kinegraph.solve.results.status import Ending, Status

_NOT_TESTED = 1e8  # absolute tolerance of what takes no part in the choice of steps


@dataclass(frozen=True)
class Ida(Solver):
    """IDA on a residual. Adaptive steps only; it finds no events."""

    @property
    def name(self) -> str:
        return "IDA"

    @property
    def order(self) -> int:
        """The highest order it may choose."""
        return 5

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            StateForm.MULTIPLIERS, fixed_step=False, evaluations=2, jacobian=True, stiff=True, events=False,
            resets=False, starts_slowly=True,
        )  # fmt: skip

    @property
    def loops(self) -> Compilation:
        return integrator("ida", self.compile_loops)

    def compile_loops(self) -> None:
        """There are none: IDA calls Python around the kernels."""

    def integrate(
        self,
        problem: CauchyProblem,
        control: Control,
        save: Save = EVERY_STEP,
        events: EventSet = NO_EVENTS,
        progress: Progress = SILENT,
        interrupt: Interrupt | None = None,
    ) -> Run:
        begun = perf_counter()
        trajectory = _Trajectory(problem, self.adaptive(control))
        with progress, np.errstate(all="ignore"):
            times, states, ending = trajectory.run(save, progress, interrupt or Interrupt())
        return Run(times, states, ending, (), trajectory.statistics(perf_counter() - begun))


class _Trajectory:
    """One run of IDA."""

    def __init__(self, problem: CauchyProblem, control: Adaptive) -> None:
        try:
            from sksundae.ida import IDA
        except ImportError:
            raise SolveError(
                "method ida needs scikit-sundae, which is not installed\n  pip install scikit-sundae"
            ) from None
        self.problem, self.control = problem, control
        rhs = problem.rhs
        self._residual_code, self._matrix_code = code_of(rhs.code), code_of(rhs.jacobian)
        self._x = np.concatenate([problem.argument(), np.zeros(rhs.size + 1)])
        self._steps = self._evaluations = self._matrices = 0
        algebraic = [rhs.names.index(name) for name in rhs.algebraic]
        tolerance = control.absolute(rhs.names)
        tolerance[algebraic] = _NOT_TESTED
        self.ida: Any = IDA(
            self._residual, jacfn=self._matrix, rtol=control.rtol, atol=tolerance, algebraic_idx=algebraic or None,
            max_num_steps=control.max_steps, max_step=control.max_step or 0.0,
        )  # fmt: skip

    def _fill(self, t: float, y: Floats, slopes: Floats, c: float) -> None:
        size, inputs = self.problem.rhs.size, self.problem.inputs
        self._x[:size], self._x[size], self._x[-size - 1 : -1], self._x[-1] = y, t, slopes, c
        set_inputs(inputs.knots, inputs.coefficients, t, self._x, size + 1)

    def _residual(self, t: float, y: Floats, slopes: Floats, res: Floats) -> None:
        self._fill(t, y, slopes, 0.0)
        call(self._residual_code, self._x, res, 0)
        self._evaluations += 1

    def _matrix(self, t: float, y: Floats, slopes: Floats, res: Floats, c: float, matrix: Floats) -> None:
        self._fill(t, y, slopes, c)
        rows = np.empty(matrix.shape)
        call(self._matrix_code, self._x, rows, 0)
        matrix[:] = rows
        self._matrices += 1

    def _first_slopes(self) -> Floats:
        """y' at the start, where multipliers are consistent: the residual is linear in it."""
        y, size = self.problem.state, self.problem.rhs.size
        none, res = np.zeros(size), np.zeros(size)
        without, with_slopes = np.zeros((size, size)), np.zeros((size, size))
        self._residual(self.problem.start, y, none, res)
        self._matrix(self.problem.start, y, none, res, 0.0, without)
        self._matrix(self.problem.start, y, none, res, 1.0, with_slopes)
        return np.asarray(np.linalg.lstsq(with_slopes - without, -res, rcond=1e-12)[0])

    def run(self, save: Save, progress: Progress, interrupt: Interrupt) -> tuple[Floats, Floats, Ending]:
        """Step until the end, trouble, or a request."""
        start, end = self.problem.start, self.problem.end
        status = Status.FINISHED
        times, states = [start], [self.problem.state.copy()]
        self.ida.init_step(start, self.problem.state, self._first_slopes())
        with interrupt.catching(), interrupt.deferring():
            for time, method in self._aims(save):
                found = self.ida.step(time, method=method, tstop=end)
                if not found.success:
                    status = Status.STEP_TOO_SMALL
                    break
                times.append(float(np.ravel(found.t)[-1]))
                states.append(np.asarray(found.y, dtype=float).reshape(-1, self.problem.rhs.size)[-1].copy())
                self._steps += 1
                progress.reached(times[-1])
                if times[-1] >= end or interrupt.requested:
                    break
        if interrupt.requested:
            status = Status.INTERRUPTED
        kept = slice(None) if not isinstance(save, Grid) or save.times[0] == start else slice(1, None)
        return np.array(times)[kept], np.array(states)[kept], Ending(status, times[-1])

    def _aims(self, save: Save) -> Iterator[tuple[float, str]]:
        """The times to step to, and whether to stop at each."""
        if isinstance(save, Grid):
            save.check(self.problem)
            yield from ((float(time), "normal") for time in save.times if time > self.problem.start)
            return
        while True:
            yield self.problem.end, "onestep"

    def statistics(self, seconds: float) -> Statistics:
        """What the run cost."""
        return Statistics(self._steps, 0, self._evaluations, self._matrices, seconds, 0.0)
