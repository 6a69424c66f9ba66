"""CVODE of SUNDIALS: multistep methods of variable order, Adams for smooth motion and BDF for stiff forces."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import Enum
from time import perf_counter

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.solve.loops.marks import call
from kinegraph.solve.methods.method import EVERY_STEP, NO_EVENTS, SILENT, Solver
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem.events import Action, EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.results.recording import Grid, Happening, OwnSteps, Run, Save, Statistics
from kinegraph.solve.results.status import Ending, Status
from kinegraph.solve.sundials.callbacks import callbacks
from kinegraph.solve.sundials.library import ROOT, Session

_STUCK = 20  # steps that do not move the clock
_LENGTH, _LENGTH_PER_TOLERANCE = 1e-10, 10.0  # how far quaternions may be from unit length
_REPORT_EVERY = 256  # steps between two looks at the progress bar


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

    def integrate(
        self,
        problem: CauchyProblem,
        control: Control,
        save: Save = EVERY_STEP,
        events: EventSet = NO_EVENTS,
        progress: Progress = SILENT,
    ) -> Run:
        if not isinstance(control, Adaptive):
            raise SolveError(f"{self.name} chooses its steps itself: give rtol and atol, not a fixed step")
        if isinstance(save, Grid):
            save.check(problem)
        begun = perf_counter()
        trajectory = _Trajectory(self.formula, problem, control, save, events)
        try:
            with progress:
                ending = trajectory.run(progress)
            return trajectory.result(ending, perf_counter() - begun)
        finally:
            trajectory.close()


class _Trajectory:
    """One run of CVODE and what it has saved."""

    def __init__(
        self, formula: Formula, problem: CauchyProblem, control: Adaptive, save: Save, events: EventSet
    ) -> None:
        begun = perf_counter()
        self.problem, self.control, self.save, self.events = problem, control, save, events
        self.t = problem.start
        self.y = problem.state.copy()
        self.times: list[float] = []
        self.states: list[Floats] = []
        self.happenings: list[Happening] = []
        self._grid_place = 0
        self._steps = self._rejected = 0
        self._x = problem.argument()
        self._atol = control.absolute(problem.rhs.names)
        self.callbacks = callbacks(problem, events, self._x)
        self._loading = perf_counter() - begun if problem.native else 0.0
        self.session = self._session(formula)

    def _session(self, formula: Formula) -> Session:
        pointer, real, control, functions = ctypes.c_void_p, ctypes.c_double, self.control, self.callbacks
        session = Session(formula.value, self.y, self._atol, control.rtol, self.t, functions.rate)
        session.call("CVodeSetUserData", (pointer, functions.data))
        session.use_dense_solver(self.problem.rhs.size, functions.jacobian)
        session.call("CVodeSetStopTime", (real, self.problem.end))
        if control.first_step:
            session.call("CVodeSetInitStep", (real, control.first_step))
        if control.max_step:
            session.call("CVodeSetMaxStep", (real, control.max_step))
        if self.events.names:
            session.call("CVodeRootInit", (ctypes.c_int, len(self.events.names)), (pointer, functions.events))
            directions = (ctypes.c_int * len(self.events.names))(*(one.value for one in self.events.directions))
            session.call("CVodeSetRootDirection", (pointer, ctypes.addressof(directions)))
        return session

    def run(self, progress: Progress) -> Ending:
        """Step until the end, an event that stops, trouble, or Ctrl-C."""
        self._save_start()
        stuck = 0
        report_every = _REPORT_EVERY if self.problem.native else 1
        try:
            while self.t < self.problem.end:
                before = self.t
                flag, self.t = self.session.step(self.problem.end)
                self.callbacks.trouble()
                if flag < 0:
                    return self._failed(flag)
                self._steps += 1
                stuck = stuck + 1 if self.t - before <= 1e-14 * abs(self.t) else 0
                if stuck > _STUCK:
                    return self._too_small()
                self._save_step()
                if flag == ROOT and (ending := self._happened()):
                    return ending
                self._straighten()
                if self._steps >= self.control.max_steps:
                    return Ending(Status.TOO_MANY_STEPS, self.t)
                if self._steps % report_every == 0:
                    progress.reached(self.t)
        except KeyboardInterrupt:
            return Ending(Status.INTERRUPTED, self.t)
        return Ending(Status.FINISHED, self.t)

    def _too_small(self) -> Ending:
        bad = self.callbacks.bad
        if bad >= 0:
            return Ending(Status.NOT_A_NUMBER, self.t, self.problem.rhs.names[bad])
        return Ending(Status.STEP_TOO_SMALL, self.t)

    def _failed(self, flag: int) -> Ending:
        if flag in (-8, -9, -10, -11):  # the right-hand side could not be evaluated
            return self._too_small()
        status = Status.STEP_TOO_SMALL if flag in (-3, -4) else Status.SOLVER_FAILED
        return Ending(status, self.t, detail=f"CVODE returned {flag}")

    def _keep(self, t: float, state: Floats) -> None:
        self.times.append(t)
        self.states.append(state.copy())

    def _save_start(self) -> None:
        if isinstance(self.save, OwnSteps) or self.save.times[0] == self.t:
            self._keep(self.t, self.y)
            self._grid_place = 1

    def _save_step(self) -> None:
        if isinstance(self.save, OwnSteps):
            if self._steps % self.save.every == 0:
                self._keep(self.t, self.y)
            return
        grid = self.save.times
        while self._grid_place < len(grid) and grid[self._grid_place] <= self.t:
            state = np.empty_like(self.y)
            self.session.at(grid[self._grid_place], state)
            self._keep(float(grid[self._grid_place]), state)
            self._grid_place += 1

    def _happened(self) -> Ending | None:
        """Record the events CVODE stopped at and do what they ask for."""
        found = (ctypes.c_int * len(self.events.names))()
        self.session.call("CVodeGetRootInfo", (ctypes.c_void_p, ctypes.addressof(found)))
        for index in np.flatnonzero(found):
            name, action = self.events.names[index], self.events.actions[index]
            self.happenings.append(Happening(name, self.t, self.y.copy()))
            if len(self.happenings) >= self.events.limit:
                return Ending(Status.TOO_MANY_EVENTS, self.t, detail=name)
            if action is Action.STOP:
                return Ending(Status.EVENT, self.t, detail=name)
            if action is Action.RESET:
                self._reset(int(index))
        return None

    def _reset(self, index: int) -> None:
        size = self.problem.rhs.size
        rows = np.zeros((len(self.events.names), size))
        self._x[:size] = self.y
        self._x[size] = self.t
        call(self.events.reset, self._x, rows, 0)
        self.y[:] = rows[index]
        self._begin_again()
        if isinstance(self.save, OwnSteps):
            self._keep(self.t, self.y)

    def _straighten(self) -> None:
        """Bring quaternions back to unit length once they have left it by more than the tolerance explains.

        A multistep method cannot be corrected at every step as others are: its past would no longer fit.
        """
        far = False
        for start in self.problem.rhs.quaternions:
            part = self.y[start : start + 4]
            length = float(np.linalg.norm(part))
            if abs(length - 1) > max(_LENGTH, _LENGTH_PER_TOLERANCE * self.control.rtol):
                part /= length
                far = True
        if far:
            self._begin_again()

    def _begin_again(self) -> None:
        """Go on from y, which has been changed; CVODE begins to count anew, too."""
        self._rejected += self.session.count("CVodeGetNumErrTestFails")
        self.session.call("CVodeReInit", (ctypes.c_double, self.t), (ctypes.c_void_p, self.session.y))

    def result(self, ending: Ending, seconds: float) -> Run:
        """What was saved; own steps, and a run that ended early, end with the last state in any case."""
        early = ending.status is not Status.FINISHED
        if (early or isinstance(self.save, OwnSteps)) and (not self.times or self.times[-1] < self.t):
            self._keep(self.t, self.y)
        rejected = self._rejected + self.session.count("CVodeGetNumErrTestFails")
        cost = Statistics(self._steps, rejected, *self.callbacks.calls, seconds, self._loading)
        states = np.array(self.states).reshape(len(self.states), self.problem.rhs.size)
        return Run(np.array(self.times), states, ending, tuple(self.happenings), cost)

    def close(self) -> None:
        """Give the memory of CVODE back."""
        self.session.close()
