"""Many trajectories of one right-hand side: initial states and parameters by row, on all cores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.solve.batch.cases import CaseProblem, CaseRows
from kinegraph.solve.batch.lanes import lane_count
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.run_options import NO_EVENTS, SILENT, RunOptions
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats, RightHandSide
from kinegraph.solve.problem.progress import Progress, Silent
from kinegraph.solve.results.recording import EventRecord, Grid, Run
from kinegraph.solve.results.status import Ending, Status

_BLOCKS_PER_THREAD = 16


@dataclass(frozen=True)
class SweepRun:
    """The results: `states[i, k]` is trajectory i at times[k]; where it ended early, entries after that are NaN.

    endings, finals: how each trajectory ended, and its state there; NaN where it was not run.
    `loading` of the seconds went by while compiled loops were made or loaded. events: of each trajectory.
    """

    times: Floats
    states: Floats
    endings: tuple[Ending, ...]
    finals: Floats
    steps: NDArray[np.int64]
    seconds: float
    loading: float = 0.0
    events: tuple[tuple[EventRecord, ...], ...] = ()

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

    The loops are compiled; `integrate_each` does the same with loops as they stand.
    """
    if grid is not None:
        grid.check(problem)
    begun, control = perf_counter(), solver.accept(control)
    cases = CaseProblem(lanes_of(solver), problem, control, grid=grid)
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
    """What blocks of trajectories leave behind, by row."""

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


def lanes_of(solver: Solver) -> Tableau:
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
) -> SweepRun:
    """One run after the other, as each would be alone: interpreted, with events, by any method; on some threads."""
    token = interrupt or Interrupt()
    begun = perf_counter()
    save = grid or Grid(np.array([problem.end]))
    rows = _Rows(len(states), save, problem)

    def work(first: int, last: int) -> None:
        for row in range(first, last):
            one = replace(problem, state=states[row], parameters=parameters[row])
            row_progress = _RowProgress(progress, row, one) if threads == 1 else SILENT
            if not token.requested:
                rows.keep(row, solver.integrate(one, control, RunOptions(save, events, row_progress, token)))
                progress.reached(rows.done)

    with progress:
        for_blocks(work, len(states), 1, threads)
    return SweepRun(
        save.times, rows.saved, tuple(rows.endings), rows.finals, rows.steps, perf_counter() - begun, 0.0,
        tuple(rows.events),
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
        self.done = 0

    def keep(self, row: int, run: Run) -> None:
        """Keep a run that has ended."""
        self.endings[row], self.steps[row], self.events[row] = run.ending, run.statistics.steps, run.events
        self.finals[row] = run.states[-1]
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
