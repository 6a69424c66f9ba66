"""IDA of SUNDIALS, through scikit-sundae: BDF of variable order for differential and algebraic equations together.

It solves residual(y, y', t) = 0 with Newton iterations on the exact matrix. Multipliers take no part in the choice of
steps: those of an index-2 problem lose a digit for each step that becomes shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.extras import Foreign
from kinegraph.interrupt import Interrupt
from kinegraph.solve.execution import STALLED, Progress, StallDetector, ending_of
from kinegraph.solve.loops import multistep
from kinegraph.solve.loops.after_step import needs_dense
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import DONE, INTERRUPTED, RUNNING, STEPS, TIME, TOO_MANY_STEPS, System, set_inputs
from kinegraph.solve.methods.cvode import STUCK_STEPS, multistep_work
from kinegraph.solve.methods.method import AS_USUAL, Capabilities, RunOptions, Solver, StateForm
from kinegraph.solve.methods.runge_kutta import loop_clock
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem import CauchyProblem, code_of
from kinegraph.solve.recording import Ending, Recorder, Run, Status

_NOT_TESTED = 1e8  # absolute tolerance of entries without influence on step sizes

_TERMS = 6  # of a polynomial of IDA's highest order
_PLACES = np.linspace(0.0, 1.0, _TERMS)
_POWERS = np.vander(_PLACES - 1.0, _TERMS, increasing=True)


@dataclass(frozen=True)
class Ida(Solver):
    """IDA on a residual. Adaptive steps only; events are recorded or stop the run; resets are not supported."""

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
            StateForm.MULTIPLIERS, fixed_step=False, evaluations=2, jacobian=True, stiff=True, resets=False,
            starts_slowly=True,
        )  # fmt: skip

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        begun = perf_counter()
        trajectory = _Trajectory(problem, self.adaptive(control), Recorder(problem, options.save, options.events))
        with options.progress, np.errstate(all="ignore"):
            ending = trajectory.run(options.progress, options.token)
        return trajectory.result(ending, perf_counter() - begun)


class _Trajectory:
    """One run of IDA. Events and saving are those of all methods; its polynomial over a step is the dense output."""

    def __init__(self, problem: CauchyProblem, control: Adaptive, recorder: Recorder) -> None:
        try:
            from sksundae.ida import IDA
        except ImportError:
            raise SolveError(
                "method ida needs scikit-sundae, which is not installed\n  pip install scikit-sundae"
            ) from None
        self.problem, self.control, self.recorder = problem, control, recorder
        rhs = problem.rhs
        self._slopes = np.zeros(rhs.size)
        self._last = problem.start, 0.0  # the current step: where it begins, and its length
        self._work = multistep_work(problem, _TERMS)
        self._system = System(
            self._rate, problem.inputs.knots, problem.inputs.coefficients, np.zeros(0, dtype=np.int64), 0
        )
        self._clock = loop_clock(problem.start, problem.end)
        self._residual_code, self._matrix_code = code_of(rhs.code), code_of(rhs.jacobian)
        self._x = np.concatenate([problem.argument(), np.zeros(rhs.size + 1)])
        self._evaluations = self._matrices = 0
        algebraic = [rhs.names.index(name) for name in rhs.algebraic]
        tolerance = control.absolute(rhs.names)
        tolerance[algebraic] = _NOT_TESTED
        self.ida: Foreign = IDA(
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

    def _rate(self, x: Floats) -> Sequence[float]:
        """y' at the time in x: the slope of the dense output. The equations give it only together with y'."""
        start, h = self._last
        if h == 0.0:
            return self._slopes.tolist()
        w = (float(x[self.problem.rhs.size]) - start) / h - 1.0
        powers = np.arange(1, _TERMS)
        rate: list[float] = ((powers * w ** (powers - 1.0)) @ self._work.dense[1:] / h).tolist()
        return rate

    def run(self, progress: Progress, interrupt: Interrupt) -> Ending:
        """Step until the end, an event that stops, a failure, or an interrupt."""
        self._slopes = self._first_slopes()
        self.ida.init_step(self.problem.start, self.problem.state, self._slopes)
        code = self._follow(0.0)
        steps, stuck = self.recorder.counters, 0
        headway = StallDetector(self._clock, steps)
        with interrupt.catching(), interrupt.deferring():
            while code == RUNNING and self.time < self.problem.end and not interrupt.requested:
                found = self.ida.step(self.problem.end, method="onestep", tstop=self.problem.end)
                if not found.success:
                    return Ending(Status.STEP_TOO_SMALL, self.time)
                reached = float(np.ravel(found.t)[-1])
                stuck = stuck + 1 if reached - self.time <= 1e-14 * abs(reached) else 0
                code = self._stepped(reached, self._last_row(found.y))
                progress.reached(self.time)
                if stuck > STUCK_STEPS:
                    return Ending(Status.STEP_TOO_SMALL, self.time)
                if code == RUNNING and steps[STEPS] >= self.control.max_steps:
                    code = TOO_MANY_STEPS
                if code == RUNNING and headway.is_lost:
                    code = STALLED
        if interrupt.requested:
            code = INTERRUPTED
        return ending_of(DONE if code == RUNNING else code, self.problem, self.recorder, self.time)

    @property
    def time(self) -> float:
        """The current time."""
        return float(self._clock[TIME])

    def _stepped(self, reached: float, state: Floats) -> int:
        """After a step of IDA: events, saved states, the clock."""
        h = reached - self.time
        self._work.end[:] = state
        if needs_dense(self.recorder.watch, self.recorder.saving, self.recorder.counters, reached):
            self._prepare_dense(h)
        code = self._follow(h)
        self.recorder.drain()
        if code == RUNNING:
            self._clock[TIME] = reached
            self._work.y[:] = state
        return code

    def _follow(self, h: float) -> int:
        recorder = self.recorder
        return int(
            multistep.follow(
                self._system, self._work, self._clock, recorder.watch, recorder.saving, recorder.counters, h
            )
        )

    def _prepare_dense(self, h: float) -> None:
        """The coefficients of IDA's interpolation polynomial in powers of u - 1, from its values at as many points."""
        self._last = self.time, h
        rows = [self._work.y.copy()]
        for share in _PLACES[1:-1]:
            found = self.ida.step(self.time + share * h, method="normal", tstop=self.problem.end)
            rows.append(self._last_row(found.y))
        rows.append(self._work.end.copy())
        self._work.dense[:] = np.linalg.solve(_POWERS, np.array(rows))

    def _last_row(self, states: Floats) -> Floats:
        rows = np.asarray(states, dtype=float).reshape(-1, self.problem.rhs.size)
        return np.array(rows[-1])

    def result(self, ending: Ending, seconds: float) -> Run:
        """The saved states, and the cost."""
        run = self.recorder.run(ending, (self.time, self._work.y.copy()), seconds, 0.0)
        cost = replace(run.statistics, evaluations=self._evaluations, jacobians=self._matrices)
        return replace(run, statistics=cost)
