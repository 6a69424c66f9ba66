"""Ensembles: many trajectories of one problem, side by side in lanes and on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.arrays import Floats
from kinegraph.arrays import Integers as Integers
from kinegraph.codegen.kernel import Kernel
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.solve.contacts.mode import Mode
from kinegraph.solve.execution import Progress, Silent, ending
from kinegraph.solve.loops import ensemble as case_loop
from kinegraph.solve.loops.case_outputs import Tally
from kinegraph.solve.loops.ensemble import Cases, Lanes
from kinegraph.solve.loops.step import COUNTERS, SUBDIVISIONS
from kinegraph.solve.loops.zero_crossings import Watch
from kinegraph.solve.methods.method import NO_EVENTS, SILENT, RunOptions, Solver
from kinegraph.solve.methods.runge_kutta import loop_control, loop_method, loop_system, loop_work
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem import CauchyProblem, EventSet, Function, RightHandSide, code_of
from kinegraph.solve.recording import Ending, EventRecord, Grid, Run, Status, watch_of


@dataclass(frozen=True)
class Outputs:
    """Quantities observed along a run: x -> values, and what is wanted of each: "high", "low", "area"."""

    code: Function = 0
    wanted: tuple[frozenset[str], ...] = ()

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return len(self.wanted)

    def wants(self, column: str) -> Integers:
        """For each output, 1 if this is wanted of it."""
        return np.array([column in one for one in self.wanted], dtype=np.int64)

    def tally(self, rows: int, events: int) -> Tally:
        """Memory for the outputs of so many cases, with so many events."""
        outputs = self.count

        def unknown(*shape: int) -> Floats:
            return np.full(shape, np.nan)

        return Tally(
            code=code_of(self.code),
            along=any(self.wanted),
            highs=self.wants("high"),
            lows=self.wants("low"),
            areas=self.wants("area"),
            known=np.zeros(1, dtype=np.int64),
            samples=np.zeros((SUBDIVISIONS + 1, outputs)),
            probe=np.zeros(outputs),
            first=unknown(rows, outputs),
            last=unknown(rows, outputs),
            high=unknown(rows, outputs),
            high_at=unknown(rows, outputs),
            low=unknown(rows, outputs),
            low_at=unknown(rows, outputs),
            area=unknown(rows, outputs),
            occurrences=np.zeros((rows, events), dtype=np.int64),
            first_at=unknown(rows, events),
            last_at=unknown(rows, events),
            at_first=unknown(rows, events, outputs),
            at_last=unknown(rows, events, outputs),
        )


NO_OUTPUTS = Outputs()


# Lanes: cases that run side by side.

T = TypeVar("T", np.int64, np.float64)

_VECTOR = 512  # doubles in a sum over stages, about: long enough for vectors, short enough for the cache
_FEWEST = 4  # lanes that sums over stages take with one instruction


def lane_count(rhs: RightHandSide, rows: int) -> int:
    """Lanes for so many cases: whole vectors of batch code, and several where states are small."""
    vector = max(rhs.code.lanes if isinstance(rhs.code, Kernel) else 1, _FEWEST)
    return min(max(_VECTOR // max(rhs.size, 1) // vector, 1), -(-rows // vector)) * vector


def in_lanes(watch: Watch, count: int) -> Watch:
    """Memory of events with a row for each lane, except for memory that is used only within one step."""
    return watch._replace(
        side=_rows(watch.side, count), ahead=_rows(watch.ahead, count), stage=_rows(watch.stage, count),
        on_surface=_rows(watch.on_surface, count), before=_rows(watch.before, count),
        values=_rows(watch.values, count), rates=_rows(watch.rates, count), incoming=_rows(watch.incoming, count),
        residual=_rows(watch.residual, count), zero=_rows(watch.zero, count), since=_rows(watch.since, count),
        noise=_rows(watch.noise, count), recent=_rows(watch.recent, count),
    )  # fmt: skip


def _rows(array: NDArray[T], count: int) -> NDArray[T]:
    """The same row so many times."""
    return np.tile(array, (count, 1))


def lane_memory(problem: CauchyProblem, tableau: Tableau, events: EventSet, outputs: Outputs, count: int) -> Lanes:
    """Memory of so many lanes; a single lane uses code for one state."""
    size, rhs = problem.rhs.size, problem.rhs
    total = count * size
    rows = _rows(problem.argument(), count)
    side_by_side = count > 1

    def zeros(*shape: int) -> Floats:
        return np.zeros(shape)

    def integers(value: int) -> Integers:
        return np.full(count, value, dtype=np.int64)

    return Lanes(
        rates=rhs.batch if side_by_side else 0,
        conditions=_batch(events.code) if side_by_side and events.samples == SUBDIVISIONS else 0,
        outputs=_batch(outputs.code) if side_by_side else 0,
        x=rows, states=rows[:, :size].copy(), times=zeros(count), inputs=zeros(count, rhs.inputs),
        parameters=rows[:, size + 1 + rhs.inputs :].copy(), y=rows[:, :size].copy(), end=rows[:, :size].copy(),
        slopes=zeros(tableau.all_stages, total), errors=zeros(max(len(tableau.error), 1), total),
        zero=zeros(total), projected=_rows(problem.projected(), count), each_h=zeros(total), h=zeros(count),
        clocks=zeros(count, 5), counters=np.zeros((count, COUNTERS), dtype=np.int64), case=integers(-1),
        codes=integers(0), again=integers(0), tries=integers(0), least=zeros(count), best=zeros(count),
        stands=integers(0), values=zeros(SUBDIVISIONS, count, len(events.names)),
        observed=zeros(SUBDIVISIONS, count, outputs.count),
    )  # fmt: skip


def _batch(function: Function) -> int:
    """The address of code for many states, with separate state, time, inputs and parameters; 0 for none."""
    apart = isinstance(function, Kernel) and function.arguments[0].name == "y"
    return function.batch_address if isinstance(function, Kernel) and apart else 0


# Cases: each is a run with events and outputs, of which one row is kept.

_NOT_RUN = 11  # the code of a case that was not started


@dataclass(frozen=True)
class CaseRows:
    """Cases by row: how and where each ended, and what was observed along it.

    first, last: outputs at both ends; high, low and their times; area: integrals over time.
    count, first_at, last_at: of each event; at_first, at_last: the outputs there, by event and output.
    saved: states at the times of the grid. modes: of the contacts at the end; empty without contacts.
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
    modes: tuple[Mode | None, ...] = ()

    @staticmethod
    def of(
        endings: tuple[Ending, ...], finals: Floats, steps: Integers, rejected: Integers, tally: Tally, saved: Floats
    ) -> CaseRows:
        """The rows of cases from their tally."""
        return CaseRows(
            endings, finals, steps, rejected, tally.first, tally.last, tally.high, tally.high_at, tally.low,
            tally.low_at, tally.area, tally.occurrences, tally.first_at, tally.last_at, tally.at_first, tally.at_last,
            saved,
        )  # fmt: skip


@dataclass(frozen=True)
class CaseProblem:
    """A problem without its start: the explicit method, the events and the outputs of all cases.

    lanes: compute several cases with each instruction, if the code supports it. This changes results by rounding; they
    do not depend on the number of cases.
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
        """The number of lanes: one, or as many as batch code takes at once, and more where states are small."""
        if not (self.lanes and self.problem.native and self.problem.rhs.batch):
            return 1
        return lane_count(self.problem.rhs, rows)

    def _arguments(self, cases: Cases, tally: Tally, count: int) -> tuple[object, ...]:
        """The arguments of the loop except the rows to run; count: the number of lanes."""
        tableau, problem = self.tableau, self.problem
        lanes = lane_memory(problem, tableau, self.events, self.outputs, count)
        looks = np.zeros((count, 1), dtype=np.int64), np.zeros((count, SUBDIVISIONS + 1, self.outputs.count))
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
        rhs, names = self.problem.rhs, self.events.names
        facts = zip(
            cases.codes.tolist(), cases.ends.tolist(), cases.component.tolist(), cases.event.tolist(), strict=True
        )
        return tuple(
            ending(code, time, rhs, names, component, names[event] if names else "")
            for code, time, component, event in facts
        )


# Sweeps: initial states and parameters by row, on all cores.

_BLOCKS_PER_THREAD = 16


@dataclass(frozen=True)
class SweepRun:
    """The results: `states[i, k]` is trajectory i at times[k]; where it ended early, entries after that are NaN.

    endings, finals: how each trajectory ended, and its state there; NaN where it was not run.
    loading: the part of the seconds in which compiled loops were made or loaded. events: of each trajectory.
    modes: of the contacts at the end of each; empty where trajectories run in lanes.
    """

    times: Floats
    states: Floats
    endings: tuple[Ending, ...]
    finals: Floats
    steps: Integers
    seconds: float
    loading: float = 0.0
    events: tuple[tuple[EventRecord, ...], ...] = ()
    modes: tuple[Mode | None, ...] = ()

    @property
    def statuses(self) -> tuple[Status, ...]:
        """How each trajectory ended, in one word."""
        return tuple(ending.status for ending in self.endings)


def integrate_rows(
    solver: Solver,
    problem: CauchyProblem,
    states: Floats,
    parameters: Floats,
    control: Control,
    grid: Grid | None = None,
    progress: Progress = SILENT,
    threads: int | None = None,
    interrupt: Interrupt | None = None,
) -> SweepRun:
    """Run the problem from every row of `states` with the same row of `parameters`; without a grid, only to the end.

    The loops are compiled; `integrate_each` does the same with interpreted loops.
    """
    if grid is not None:
        grid.check(problem)
    begun, control = perf_counter(), solver.accept(control)
    cases = CaseProblem(lane_tableau(solver), problem, control, grid=grid)
    workers, token, found = threads or cores(), interrupt or Interrupt(), _Trajectories(len(states), problem, grid)

    def work(first: int, last: int) -> None:
        if token.requested:  # rows that were not run say so
            return
        found.keep(first, last, cases.run(states[first:last], parameters[first:last]))
        progress.reached(found.done)

    with progress, token.catching():
        for_blocks(work, len(states), _block(problem.rhs, len(states), workers), workers)
    times = grid.times if grid is not None else np.array([problem.end])
    return SweepRun(times, found.saved, tuple(found.endings), found.finals, found.steps, perf_counter() - begun)


class _Trajectories:
    """The results of blocks of trajectories, by row."""

    def __init__(self, count: int, problem: CauchyProblem, grid: Grid | None) -> None:
        self.saved = np.full((count, 1 if grid is None else len(grid.times), problem.rhs.size), np.nan)
        self.finals = np.full((count, problem.rhs.size), np.nan)
        self.endings = [Ending(Status.INTERRUPTED, problem.start)] * count
        self.steps = np.zeros(count, dtype=np.int64)
        self.done = 0
        self._grid = grid
        self._lock = Lock()

    def keep(self, first: int, last: int, rows: CaseRows) -> None:
        """Keep a block that has ended."""
        self.saved[first:last] = rows.finals[:, None] if self._grid is None else rows.saved
        self.endings[first:last] = rows.endings
        self.finals[first:last], self.steps[first:last] = rows.finals, rows.steps
        with self._lock:
            self.done += last - first


def lane_tableau(solver: Solver) -> Tableau:
    """The tableau by which a method runs trajectories side by side; SolveError if it does not."""
    if solver.capabilities.lanes is None:
        raise SolveError(
            f"{solver.name} has no lanes: choose rk4, dopri5 or dop853, or integrate each trajectory alone"
        )
    return solver.capabilities.lanes


def integrate_each(
    solver: Solver,
    problem: CauchyProblem,
    states: Floats,
    parameters: Floats,
    control: Control,
    grid: Grid | None = None,
    progress: Progress = SILENT,
    events: EventSet = NO_EVENTS,
    threads: int = 1,
    interrupt: Interrupt | None = None,
    before: Sequence[Mode | None] = (),
) -> SweepRun:
    """One run after the other, as each would be alone: interpreted, with events, by any method; on some threads.

    before: the modes of contacts that the runs continue.
    """
    token = interrupt or Interrupt()
    begun = perf_counter()
    save = grid or Grid(np.array([problem.end]))
    rows = _Rows(len(states), save, problem)

    def work(first: int, last: int) -> None:
        for row in range(first, last):
            one = replace(problem, state=states[row], parameters=parameters[row])
            row_progress = _RowProgress(progress, row, one) if threads == 1 else SILENT
            if not token.requested:
                options = RunOptions(save, events, row_progress, token, before[row] if before else None)
                rows.keep(row, solver.integrate(one, control, options))
                progress.reached(rows.done)

    with progress:
        for_blocks(work, len(states), 1, threads)
    return SweepRun(
        save.times, rows.saved, tuple(rows.endings), rows.finals, rows.steps, perf_counter() - begun, 0.0,
        tuple(rows.events), tuple(rows.modes),
    )  # fmt: skip


class _Rows:
    """What runs leave behind, by row."""

    def __init__(self, count: int, save: Grid, problem: CauchyProblem) -> None:
        self.save = save
        self.saved = np.full((count, len(save.times), problem.rhs.size), np.nan)
        self.finals = np.full((count, problem.rhs.size), np.nan)
        self.endings = [Ending(Status.INTERRUPTED, problem.start)] * count
        self.steps = np.zeros(count, dtype=np.int64)
        self.events: list[tuple[EventRecord, ...]] = [()] * count
        self.modes: list[Mode | None] = [None] * count
        self.done = 0

    def keep(self, row: int, run: Run) -> None:
        """Keep a run that has ended."""
        self.endings[row], self.steps[row], self.events[row] = run.ending, run.statistics.steps, run.events
        self.finals[row] = run.states[-1]
        self.modes[row] = run.phases[-1].mode if run.phases else None
        self.done += 1
        if run.ending.status is Status.INTERRUPTED:
            return
        on_grid = np.isin(run.times, self.save.times)  # a run that ended early has its last state, too
        self.saved[row, np.searchsorted(self.save.times, run.times[on_grid])] = run.states[on_grid]


class _RowProgress(Silent):
    """The progress of one run as a part of the progress of all."""

    def __init__(self, all_runs: Progress, row: int, problem: CauchyProblem) -> None:
        self._all, self._row, self._problem = all_runs, row, problem

    def reached(self, amount: float) -> None:
        start, end = self._problem.start, self._problem.end
        self._all.reached(self._row + (amount - start) / (end - start))


def _block(rhs: RightHandSide, rows: int, threads: int) -> int:
    """Trajectories of one block: many more than lanes, so that few stand idle at its end; and several per thread."""
    lanes = lane_count(rhs, -(-rows // threads))
    return max(min(8 * lanes, -(-rows // threads)), rows // (_BLOCKS_PER_THREAD * threads), 1)
