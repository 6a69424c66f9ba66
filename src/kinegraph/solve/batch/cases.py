"""Many cases of one problem, each a run of its own with events and outputs; what is kept of each is one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.solve.batch.lanes import in_lanes, lane_count, lanes_of
from kinegraph.solve.batch.outputs import NO_OUTPUTS, Outputs
from kinegraph.solve.loops.many import cases as case_loop
from kinegraph.solve.loops.many.cases import Cases
from kinegraph.solve.loops.many.tally import Tally
from kinegraph.solve.loops.weights import LOOKS
from kinegraph.solve.methods.run_options import NO_EVENTS
from kinegraph.solve.methods.runge_kutta import (
    loop_control,
    loop_method,
    loop_system,
    loop_work,
)
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.slices import status_of
from kinegraph.solve.results.recording import Grid, watch_of
from kinegraph.solve.results.status import Ending, Status

Integers = NDArray[np.int64]
_NOT_RUN = 11  # the code of a case that nobody has begun


@dataclass(frozen=True)
class CaseRows:
    """Cases by row: how each ended, where, and what was looked at on the way.

    first, last: outputs at both ends; high, low and their times; area: integrals over time.
    count, first_at, last_at: of each event; at_first, at_last: the outputs there, by event and output.
    saved: states at the times of the grid.
    """

    endings: tuple[Ending, ...]
    finals: Floats
    steps: Integers
    rejected: Integers
    first: Floats
    last: Floats
    high: Floats
    high_at: Floats
    low: Floats
    low_at: Floats
    area: Floats
    count: Integers
    first_at: Floats
    last_at: Floats
    at_first: Floats
    at_last: Floats
    saved: Floats

    @staticmethod
    def of(
        endings: tuple[Ending, ...], finals: Floats, steps: Integers, rejected: Integers, tally: Tally, saved: Floats
    ) -> CaseRows:
        """The rows of cases of which a tally was kept."""
        return CaseRows(
            endings, finals, steps, rejected, tally.first, tally.last, tally.high, tally.high_at, tally.low,
            tally.low_at, tally.area, tally.happened, tally.first_at, tally.last_at, tally.at_first, tally.at_last,
            saved,
        )  # fmt: skip


@dataclass(frozen=True)
class CaseProblem:
    """A problem without its start: the explicit method, the events and the outputs of all cases.

    lanes: compute several cases with each instruction, where there is code that can. What a case gives differs from
    what it gives without, by rounding; it does not depend on how many cases there are.
    """

    tableau: Tableau
    problem: CauchyProblem
    control: Control
    events: EventSet = NO_EVENTS
    outputs: Outputs = NO_OUTPUTS
    grid: Grid | None = None
    lanes: bool = True

    def run(self, states: Floats, parameters: Floats, stop: Integers | None = None) -> CaseRows:
        """Run a case from every row of `states` with the same row of `parameters`.

        stop: an array of one integer; when it is set to one, by another thread, cases end before their next step.
        """
        cases = self._cases(states, parameters, np.zeros(1, dtype=np.int64) if stop is None else stop)
        tally = self.outputs.tally(len(states), len(self.events.names))
        loop = self.problem.bound(case_loop.run_cases, *self._arguments(cases, tally, self._count(len(states))))
        with np.errstate(all="ignore"):
            loop(0, len(states))
        return CaseRows.of(self._endings(cases), cases.finals, cases.steps, cases.rejected, tally, cases.saved)

    def _count(self, rows: int) -> int:
        """How many lanes there are: one, or as many as batch code takes at once, and more where states are small."""
        if not (self.lanes and self.problem.native and self.problem.rhs.batch):
            return 1
        return lane_count(self.problem.rhs, rows)

    def _arguments(self, cases: Cases, tally: Tally, count: int) -> tuple[object, ...]:
        """What the loop takes, but for the rows it is to run; `count` lanes."""
        tableau, problem = self.tableau, self.problem
        lanes = lanes_of(problem, tableau, self.events, self.outputs, count)
        looks = np.zeros((count, 1), dtype=np.int64), np.zeros((count, LOOKS + 1, self.outputs.count))
        tallies = tally._replace(known=looks[0], samples=looks[1])
        watches = in_lanes(watch_of(problem, self.events, problem.rhs.size), count)
        return (
            loop_system(problem), loop_method(tableau), loop_control(tableau, self.control, problem), lanes,
            loop_work(problem, tableau), watches, tallies, cases,
        )  # fmt: skip

    def _cases(self, states: Floats, parameters: Floats, stop: Integers) -> Cases:
        rows, size = states.shape
        times = np.array([np.inf]) if self.grid is None else self.grid.times
        return Cases(
            states=np.ascontiguousarray(states),
            parameters=np.ascontiguousarray(parameters),
            start=self.problem.start,
            end=self.problem.end,
            step=self.control.begin,
            grid=times,
            times=np.zeros(len(times)),
            saved=np.full((rows, 0 if self.grid is None else len(times), size), np.nan),
            codes=np.full(rows, _NOT_RUN, dtype=np.int64),
            ends=np.full(rows, np.nan),
            finals=np.full((rows, size), np.nan),
            steps=np.zeros(rows, dtype=np.int64),
            rejected=np.zeros(rows, dtype=np.int64),
            component=np.zeros(rows, dtype=np.int64),
            event=np.zeros(rows, dtype=np.int64),
            stop=stop,
        )

    def _endings(self, cases: Cases) -> tuple[Ending, ...]:
        return tuple(
            self._ending(*found)
            for found in zip(
                cases.codes.tolist(), cases.ends.tolist(), cases.component.tolist(), cases.event.tolist(), strict=True
            )
        )

    def _ending(self, code: int, time: float, component: int, event: int) -> Ending:
        """How one case ended, as `ending_of` says it of a run."""
        status = status_of(code)
        if status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL):
            if component < 0:
                return Ending(status, time, f"the condition of event {self.events.names[-1 - component]!r}")
            return Ending(status, time, self.problem.rhs.names[component])
        if status in (Status.SINGULAR, Status.OPEN):
            return Ending(status, time, f"the constraint {self.problem.rhs.rows[component]}")
        if status in (Status.EVENT, Status.ACCUMULATED, Status.TOO_MANY_EVENTS):
            return Ending(status, time, detail=self.events.names[event] if self.events.names else "")
        return Ending(status, time)
