"""CVODE of SUNDIALS: multistep methods of variable order, Adams for smooth motion and BDF for stiff forces."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from enum import Enum
from math import inf, isfinite
from time import perf_counter
from typing import TypeAlias

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.interrupt import Interrupt, delayed
from kinegraph.solve.execution import STALLED, Progress, StallDetector, ending_of
from kinegraph.solve.loops import multistep
from kinegraph.solve.loops.after_step import needs_dense
from kinegraph.solve.loops.runge_kutta import STUCK
from kinegraph.solve.loops.step import (
    COMPONENT,
    CUT,
    DONE,
    EVENT_TOTAL,
    HIGHEST,
    INTERRUPTED,
    LATEST,
    NOT_A_NUMBER,
    ROW,
    RUNNING,
    SINGULAR_PLACE,
    STEPS,
    TAYLOR,
    TIME,
    TOO_MANY_STEPS,
    TOO_SMALL,
    Saving,
    System,
    Work,
    begin_notes,
    project,
)
from kinegraph.solve.loops.zero_crossings import Watch
from kinegraph.solve.methods.method import AS_USUAL, Capabilities, RunOptions, Solver
from kinegraph.solve.methods.runge_kutta import loop_clock, loop_system, step_memory
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.methods.sundials import Session, callbacks
from kinegraph.solve.problem import CauchyProblem
from kinegraph.solve.recording import Ending, Recorder, Run, Status

STUCK_STEPS = 20  # steps that do not move the clock
_MISSED, _MISSED_PER_TOLERANCE = 1e-10, 10.0  # allowed distance of a state from unit quaternions and constraints
_REPORT_EVERY = 256  # steps between two updates of the progress bar
_FIRST, _LONGEST = 1 / 64, 1 / 8  # steps after an event, as a part of the time since the last event
_SINGULAR = 1e-6  # pivots below this part of the usual explain why no step is short enough
_SHORTEST = 1e-13  # the first step after an event: of all times


#: The arguments of the loop: the system, memory, the clock, events, saving, counters.
Common: TypeAlias = tuple[System, Work, Floats, Watch, Saving, Integers]


class Formula(Enum):
    """The family of multistep formulas; the value is CVODE's number."""

    ADAMS = 1
    BDF = 2


@dataclass(frozen=True)
class Cvode(Solver):
    """CVODE with Newton iterations on the exact Jacobian. Adaptive steps only."""

    formula: Formula = Formula.BDF

    @property
    def name(self) -> str:
        return f"CVODE {self.formula.name}"

    @property
    def order(self) -> int:
        """The highest order it may choose."""
        return 12 if self.formula is Formula.ADAMS else 5

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            fixed_step=False, evaluations=2, jacobian=True, stiff=self.formula is Formula.BDF, starts_slowly=True
        )

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        begun, adaptive = perf_counter(), self.adaptive(control)
        with delayed():  # loads SUNDIALS and compiled code
            trajectory = _Trajectory(self, problem, adaptive, Recorder(problem, options.save, options.events))
        try:
            with options.progress, np.errstate(all="ignore"):
                ending = trajectory.run(options.progress, options.token)
            return trajectory.result(ending, perf_counter() - begun)
        finally:
            trajectory.session.close()


class _Trajectory:
    """One run of CVODE. Events and saving are those of all methods; CVODE's polynomial is the dense output."""

    def __init__(self, solver: Cvode, problem: CauchyProblem, control: Adaptive, recorder: Recorder) -> None:
        begun = perf_counter()
        self.problem, self.control, self.recorder = problem, control, recorder
        self.y = problem.state.copy()
        self._work = multistep_work(problem, solver.order + 1)
        self._common = _common(problem, self._work, recorder)
        self._follow_step = problem.bound(multistep.follow, *self._common)
        self._clock: Floats = self._common[2]
        self._last_event, self._careful_until = problem.start, inf
        self._stuck = self._rejected = 0
        self._atol = control.absolute(problem.rhs.names)
        self.callbacks = callbacks(problem, problem.argument())
        self._loading = perf_counter() - begun if problem.native else 0.0
        self.session = self._session(solver.formula)

    def _session(self, formula: Formula) -> Session:
        pointer, real, control, functions = ctypes.c_void_p, ctypes.c_double, self.control, self.callbacks
        session = Session(formula.value, self.y, self._atol, control.rtol, self.problem.start, functions.rate)
        session.call("CVodeSetUserData", (pointer, functions.data))
        session.use_dense_solver(self.problem.rhs.size, functions.jacobian)
        session.call("CVodeSetStopTime", (real, self.problem.end))
        if control.first_step:
            session.call("CVodeSetInitStep", (real, control.first_step))
        session.call("CVodeSetMaxStep", (real, control.max_step or 0.0))
        return session

    @property
    def time(self) -> float:
        """The current time."""
        return float(self._clock[TIME])

    def run(self, progress: Progress, interrupt: Interrupt) -> Ending:
        """Step until the end, an event that stops, a failure, or an interrupt."""
        report_every = _REPORT_EVERY if self.problem.native else 1
        steps = self.recorder.counters
        headway = StallDetector(self._clock, steps)
        with interrupt.catching(), interrupt.deferring():  # a step is taken wholly or not at all
            code = self._follow_step(0.0)
            if code == RUNNING and self.recorder.counters[EVENT_TOTAL]:
                self._begin_again(self._work.y)
            while code == RUNNING and self.time < self.problem.end and not interrupt.requested:
                flag, reached = self.session.step(self.problem.end)
                self.callbacks.trouble()
                if flag < 0:
                    return self._failed(flag)
                code = self._follow(reached)
                if code == RUNNING and steps[STEPS] >= self.control.max_steps:
                    code = TOO_MANY_STEPS
                if code == RUNNING and steps[STEPS] % report_every == 0:
                    progress.reached(self.time)
                if code == RUNNING and headway.is_lost:
                    code = STALLED
        if interrupt.requested:
            code = INTERRUPTED
        return ending_of(DONE if code == RUNNING else code, self.problem, self.recorder, self.time)

    def _follow(self, reached: float) -> int:
        """After a step of CVODE: events, saved states, the clock. RUNNING unless the run has ended."""
        h = reached - self.time
        self._work.end[:] = self.y
        if needs_dense(self.recorder.watch, self.recorder.saving, self.recorder.counters, reached):
            self._prepare_dense(reached, h)
        before = self.time
        code = self._follow_step(h)
        self.recorder.drain()
        if code == CUT:
            self._go_on(before)
            return RUNNING
        if code == RUNNING:
            self._clock[TIME] = reached
            if reached > self._careful_until:
                self._careful_until = inf
                self._limit_steps(inf)
            self._return_to_constraints()
            self._work.y[:] = self.y
            self._stuck = self._stuck + 1 if h <= self._shortest(reached) else 0
            if self._stuck > STUCK_STEPS:
                return self._too_small()
        return int(code)

    def _prepare_dense(self, reached: float, h: float) -> None:
        """The derivatives of CVODE's polynomial at the end of the step, as factors of powers of u - 1."""
        dense, factor = self._work.dense, 1.0
        dense[:] = 0.0
        for power in range(self.session.order + 1):
            self.session.derivative(reached, power, dense[power])
            dense[power] *= factor
            factor *= h / (power + 1)

    def _go_on(self, before: float) -> None:
        """Continue after an event, first with steps that are short beside the time since the last event.

        A rebound may be smaller than all tolerances; CVODE, which starts with order 1, would not see it.
        """
        interval = self.time - self._last_event or self.time - before
        shortest = _SHORTEST * max(abs(self.problem.start), abs(self.problem.end))
        self._last_event, self._careful_until, self._stuck = self.time, self.time + 2 * interval, 0
        self._begin_again(self._work.y, min(max(_FIRST * interval, shortest), self.problem.end - self.time))
        self._limit_steps(max(_LONGEST * interval, shortest))

    def _limit_steps(self, longest: float) -> None:
        """Limit the steps, in addition to the controller."""
        chosen = min(longest, self.control.longest)
        self.session.call("CVodeSetMaxStep", (ctypes.c_double, chosen if isfinite(chosen) else 0.0))

    @property
    def _near_singular(self) -> bool:
        projected = self._work.projected
        return bool(self.problem.rhs.rows) and bool(projected[LATEST] < _SINGULAR * projected[HIGHEST])

    def _shortest(self, reached: float) -> float:
        """Steps up to this length make no progress: lost in rounding, or short at a singular position."""
        left = self.problem.end - reached
        return STUCK * max(abs(reached), left) if self._near_singular else 1e-14 * abs(reached)

    def _too_small(self) -> int:
        if self._near_singular:
            self.recorder.counters[COMPONENT] = int(self._work.projected[ROW])
            return SINGULAR_PLACE
        self.recorder.counters[COMPONENT] = max(self.callbacks.bad, 0)
        return NOT_A_NUMBER if self.callbacks.bad >= 0 else TOO_SMALL

    def _failed(self, flag: int) -> Ending:
        if flag in (-8, -9, -10, -11):  # the right-hand side could not be evaluated
            return ending_of(self._too_small(), self.problem, self.recorder, self.time)
        if (code := self._too_small()) == SINGULAR_PLACE:
            return ending_of(code, self.problem, self.recorder, self.time)
        status = Status.STEP_TOO_SMALL if flag in (-3, -4) else Status.SOLVER_FAILED
        return Ending(status, self.time, detail=f"CVODE returned {flag}")

    def _return_to_constraints(self) -> None:
        """Project the state if it has left unit quaternions or constraints by more than the tolerance explains.

        A multistep method cannot be corrected at every step as others are: its past would no longer fit.
        """
        if not self.problem.rhs.quaternions and self.problem.rhs.projection == 0:
            return
        projected = self._work.x[: len(self.y)]
        projected[:] = self.y
        begin_notes(self._work.projected)
        project(self._common[0], self._work, self.time)
        far = max(_MISSED, _MISSED_PER_TOLERANCE * self.control.rtol)
        if np.any(np.abs(projected - self.y) > far * (1.0 + np.abs(self.y))):
            self._begin_again(projected)

    def _begin_again(self, state: Floats, first_step: float = 0.0) -> None:
        """Continue from another state; CVODE restarts its counters, too."""
        self.y[:] = state
        self._rejected += self.session.count("CVodeGetNumErrTestFails")
        self.session.call("CVodeReInit", (ctypes.c_double, self.time), (ctypes.c_void_p, self.session.y))
        self.session.call("CVodeSetStopTime", (ctypes.c_double, self.problem.end))  # forgotten once it was reached
        self.session.call("CVodeSetInitStep", (ctypes.c_double, first_step))

    def result(self, ending: Ending, seconds: float) -> Run:
        """The saved states, and the cost."""
        run = self.recorder.run(ending, (self.time, self._work.y.copy()), seconds, self._loading)
        rates, jacobians = self.callbacks.calls
        rejected = self._rejected + self.session.count("CVodeGetNumErrTestFails")
        cost = replace(run.statistics, rejected=rejected, evaluations=rates, jacobians=jacobians)
        return replace(run, statistics=cost)


def _common(problem: CauchyProblem, work: Work, recorder: Recorder) -> Common:
    """The arguments of the loop at every call."""
    return (
        loop_system(problem),
        work,
        loop_clock(problem.start, problem.end),
        recorder.watch,
        recorder.saving,
        recorder.counters,
    )


def multistep_work(problem: CauchyProblem, terms: int) -> Work:
    """Memory of one step; the stages belong to the library."""
    return step_memory(problem, 1, terms, TAYLOR)
