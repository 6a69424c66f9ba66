"""Many trajectories of one right-hand side: initial states and parameters by row, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinegraph.ahead.compilation import Compilation
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt, delayed
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.solve.loops.folder import integrator
from kinegraph.solve.loops.many import lanes as sweep_loop
from kinegraph.solve.loops.many.lanes import Cases, Lanes
from kinegraph.solve.methods.method import NO_EVENTS, SILENT, TYPICAL, Solver
from kinegraph.solve.methods.runge_kutta import (
    loop_control,
    loop_method,
    loop_system,
    loop_work,
)
from kinegraph.solve.methods.step_control import Control, FixedStep
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.problem.progress import Progress, Silent
from kinegraph.solve.problem.slices import status_of
from kinegraph.solve.results.recording import EventRecord, Grid, Run
from kinegraph.solve.results.status import Status

_VECTOR = 512  # about how many doubles a sum over stages runs over: long enough for vectors, short enough for the cache
_BLOCKS_PER_THREAD = 16


@dataclass(frozen=True)
class SweepRun:
    """The results: `states[i, k]` is trajectory i at times[k]; where it ended early, entries after that are NaN.

    `loading` of the seconds went by while compiled loops were made or loaded. events: of each trajectory.
    """

    times: Floats
    states: Floats
    statuses: tuple[Status, ...]
    steps: NDArray[np.int64]
    seconds: float
    loading: float = 0.0
    events: tuple[tuple[EventRecord, ...], ...] = ()


def integrate_many(
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
    if problem.rhs.inputs:
        raise SolveError("lanes take no sampled inputs: integrate each trajectory alone")
    if grid is not None:
        grid.check(problem)
    begun, tableau, control = perf_counter(), lanes_of(solver), solver.accept(control)
    cases = _cases(problem, states, parameters, control, grid)
    workers = threads or cores()
    rows = len(states)
    count = _lane_count(problem.rhs.size, rows, workers)
    with delayed():
        from kinegraph.solve.loops.machine_code import compile_for, compiled

        run_block: Callable[..., None] = compiled(sweep_loop.run_block)
        compile_for(sweep_loop.run_block, *_block_arguments(tableau, problem, control, cases, count), 0, 0)
    loading = perf_counter() - begun
    done, lock, token = [0], Lock(), interrupt or Interrupt()

    def work(first: int, last: int) -> None:
        if token.requested:  # rows that were not run say so
            return
        run_block(*_block_arguments(tableau, problem, control, cases, count), first, last)
        with lock:
            done[0] += last - first
            progress.reached(done[0])

    with progress, token.catching():
        for_blocks(work, rows, _block(rows, count, workers), workers)
    times = grid.times if grid is not None else np.array([problem.end])
    statuses = tuple(_status(int(code)) for code in cases.codes)
    return SweepRun(times, cases.saved, statuses, cases.steps, perf_counter() - begun, loading)


def lanes_of(solver: Solver) -> Tableau:
    """The tableau by which a method runs trajectories side by side; SolveError if it does not."""
    if solver.capabilities.lanes is None:
        raise SolveError(
            f"{solver.name} has no lanes: choose rk4, dopri5 or dop853, or integrate each trajectory alone"
        )
    return solver.capabilities.lanes


def sweep_loops(solver: Solver) -> Compilation:
    """The machine code that sweeps by this method need."""
    tableau = lanes_of(solver)
    return integrator("sweep", partial(_compile_sweep, tableau))


def _compile_sweep(tableau: Tableau) -> None:
    from kinegraph.solve.loops.machine_code import compile_for

    control = FixedStep(1.0)
    cases = _cases(TYPICAL, np.zeros((1, 1)), np.zeros((1, 0)), control, None)
    compile_for(sweep_loop.run_block, *_block_arguments(tableau, TYPICAL, control, cases, 4), 0, 0)


def _block_arguments(
    tableau: Tableau, problem: CauchyProblem, control: Control, cases: Cases, lanes: int
) -> tuple[Any, ...]:
    """What the loop over one block takes, but for the block itself."""
    return (
        loop_system(problem), loop_method(tableau), loop_control(tableau, control, problem), cases,
        _lanes(problem, tableau, lanes), loop_work(problem, tableau), np.zeros(lanes, dtype=np.int64),
    )  # fmt: skip


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
    rows = _Rows(len(states), save, problem.rhs.size)

    def work(first: int, last: int) -> None:
        for row in range(first, last):
            one = replace(problem, state=states[row], parameters=parameters[row])
            shown = _OneOfMany(progress, row, one) if threads == 1 else SILENT
            if not token.requested:
                rows.keep(row, solver.integrate(one, control, save, events, shown, token))
                progress.reached(rows.done)

    with progress:
        for_blocks(work, len(states), 1, threads)
    return SweepRun(
        save.times, rows.saved, tuple(rows.statuses), rows.steps, perf_counter() - begun, 0.0, tuple(rows.events)
    )  # fmt: skip


class _Rows:
    """What runs leave behind, by row."""

    def __init__(self, count: int, save: Grid, size: int) -> None:
        self.save = save
        self.saved = np.full((count, len(save.times), size), np.nan)
        self.statuses = [Status.INTERRUPTED] * count
        self.steps = np.zeros(count, dtype=np.int64)
        self.events: list[tuple[EventRecord, ...]] = [()] * count
        self.done = 0

    def keep(self, row: int, run: Run) -> None:
        """Keep a run that has ended."""
        self.statuses[row], self.steps[row], self.events[row] = run.ending.status, run.statistics.steps, run.events
        self.done += 1
        if run.ending.status is Status.INTERRUPTED:
            return
        on_grid = np.isin(run.times, self.save.times)  # a run that ended early has its last state, too
        self.saved[row, np.searchsorted(self.save.times, run.times[on_grid])] = run.states[on_grid]


class _OneOfMany(Silent):
    """The progress of one run as a part of the progress of all."""

    def __init__(self, all_runs: Progress, row: int, problem: CauchyProblem) -> None:
        self._all, self._row, self._problem = all_runs, row, problem

    def reached(self, amount: float) -> None:
        start, end = self._problem.start, self._problem.end
        self._all.reached(self._row + (amount - start) / (end - start))


def _lane_count(size: int, rows: int, threads: int) -> int:
    wanted = max(4, _VECTOR // max(size, 1))
    return max(4, min(wanted, -(-rows // threads)) // 4 * 4)


def _block(rows: int, lanes: int, threads: int) -> int:
    """Trajectories of one block: many more than lanes, so that few stand idle at its end; and several per thread."""
    return max(min(8 * lanes, -(-rows // threads)), rows // (_BLOCKS_PER_THREAD * threads), 1)


def _status(code: int) -> Status:
    return Status.INTERRUPTED if code < 0 else status_of(code)


def _cases(problem: CauchyProblem, states: Floats, parameters: Floats, control: Control, grid: Grid | None) -> Cases:
    rows, size = states.shape
    times = grid.times if grid is not None else np.zeros(0)
    return Cases(
        states=np.ascontiguousarray(states),
        parameters=np.ascontiguousarray(parameters),
        grid=times,
        start=problem.start,
        end=problem.end,
        step=control.begin,
        saved=np.full((rows, max(len(times), 1), size), np.nan),
        codes=np.full(rows, -1, dtype=np.int64),
        steps=np.zeros(rows, dtype=np.int64),
        times=np.zeros(rows),
    )


def _lanes(problem: CauchyProblem, tableau: Tableau, count: int) -> Lanes:
    size = problem.rhs.size
    total = count * size
    # Idle lanes compute, too: they stand at the initial state of the problem, which is a good one.
    y, p = np.tile(problem.state, (count, 1)), np.tile(problem.parameters, (count, 1))

    def zeros(*shape: int) -> Any:
        return np.zeros(shape)

    def integers(value: int) -> Any:
        return np.full(count, value, dtype=np.int64)

    return Lanes(
        batch=problem.rhs.batch, x=y.copy(), y=y, end=y.copy(), p=p,
        slopes=zeros(tableau.all_stages, total), errors=zeros(max(len(tableau.error), 1), total),
        dense=zeros(3 + len(tableau.dense), total), zero=zeros(total),
        stage_t=zeros(count), t=zeros(count), h=zeros(count), each_h=zeros(total),
        next_h=zeros(count), last_error=zeros(count),
        case=integers(-1), taken=integers(0), place=integers(0), rejected=integers(0),
    )  # fmt: skip
