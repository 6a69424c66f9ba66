"""`study`: run many cases of one model, on this machine or on many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import StudyError
from kinegraph.interrupt import Interrupt
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import Events
from kinegraph.solve.execution import Native, bar
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Adaptive, Control, FixedStep, Tolerance
from kinegraph.studies.cases import CaseTable, StudyWork
from kinegraph.studies.executors import DaskClient, Executor, Threads, chosen_executor
from kinegraph.studies.plan import Plan, StudySettings, Vary
from kinegraph.studies.results import Study
from kinegraph.studies.sampling import Design
from kinegraph.studies.statistics import Until, read_until
from kinegraph.studies.storage import Folder, Memory, Storage, joined, require_zarr, write_results
from kinegraph.studies.study_file import is_study_file, read_study_file


def study(
    model: MechanismSource,
    duration: float | None = None,
    *,
    vary: Vary | None = None,
    cases: int | None = None,
    outcomes: Mapping[str, str] | None = None,
    classes: Mapping[str, str] | None = None,
    success: str | None = None,
    events: Events = (),
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-8,
    atol: Tolerance | None = None,
    step: float | None = None,
    control: Control | None = None,
    t0: float = 0.0,
    times: int | ArrayLike | None = None,
    design: str | Design = Design.RANDOM,
    seed: int | None = None,
    chunk: int | None = None,
    until: Until | str | None = None,
    folder: str | Path | None = None,
    threads: int | None = None,
    cluster: str | DaskClient | None = None,
    executor: Executor | None = None,
    native: Native = "auto",
    progress: bool | None = None,
) -> Study:
    """Run many cases of a model with varied parameters, initial values or inputs.

    model: a Mechanism, a path, or a library name; or a study file (.toml), which holds all other arguments.
    vary: distributions by name of a parameter, initial value or input:
        {"q1": "uniform(-0.1, 0.1)", "x, y": "disc(0.1)"}.
        Names that the model does not know may be used in the formulas of state, parameters, inputs and events.
    cases: number of cases besides the nominal case 0. design: random, latin, sobol, halton, saltelli or table.
    outcomes: formulas of the run by name: "max(tip.z)", "time(touch)"; by default the final state.
    classes: conditions by name; the first that is true is the class of a case. success: a condition.
    times: an array of times, or a number of equal intervals, at which the states of all cases are saved.
    until: stop when an interval is narrow enough: "success +- 0.01".
    folder: where to save results; an existing study there is continued.
    threads, cluster, executor: threads of this process, a Dask cluster (address or Client), or an executor.
    The other arguments are those of `simulate`. The seed and its index determine each case.
    """
    chosen = control or (FixedStep(step) if step is not None else Adaptive(rtol, atol))
    if isinstance(model, str | Path) and is_study_file(model):
        if duration is not None or vary is not None:
            raise StudyError(
                f"{model} already contains the settings of the study: change the file, or give a model instead"
            )
        described, known = read_study_file(Path(model), cases, seed, chunk, native)
        return run_plan(
            described.plan(), until or known, folder, executor or chosen_executor(threads, cluster), progress
        )
    if duration is None or vary is None:
        raise StudyError("a study needs a duration and varied names: study(model, 10, vary={'q1': ...}, cases=100)")
    described = StudySettings(
        mechanism_of(model), duration, vary, 100 if cases is None else cases, outcomes or {}, classes or {}, success,
        events, state or {}, parameters or {}, inputs or {}, method, chosen, t0, times, design, seed or 0,
        chunk, native,
    )  # fmt: skip
    return run_plan(described.plan(), until, folder, executor or chosen_executor(threads, cluster), progress)


def run_plan(
    plan: Plan,
    until: Until | str | None = None,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Study:
    """Run a plan. Finished chunks are taken from the folder; Ctrl-C keeps finished ones."""
    chosen = executor or Threads()
    wanted = read_until(until)
    if wanted is not None:
        wanted.check(plan.outcome_table)
    if plan.grid and folder is not None:
        require_zarr()
    if not chosen.leads:
        return _beside(plan, chosen)
    with ExitStack() as stack:
        storage: Storage = Memory()
        if folder is not None:
            storage = Folder(Path(folder), plan)
            stack.enter_context(storage.held())
        found = _Driver(plan, storage, wanted, chosen, progress).run(None if folder is None else Path(folder))
        return chosen.shared(found)


def _beside(plan: Plan, executor: Executor) -> Study:
    """A process that does not lead: it works, and receives the results of the leading one."""
    for _ in executor.run(StudyWork(plan), ()):
        pass
    nothing: Study | None = None
    return executor.shared(nothing)


class _Driver:
    """Distributes missing chunks and collects results."""

    def __init__(
        self, plan: Plan, storage: Storage, until: Until | None, executor: Executor, progress: bool | None
    ) -> None:
        self.plan, self.storage, self.until, self.executor, self.progress = plan, storage, until, executor, progress
        self._tables: dict[int, CaseTable] = {}
        self._prefix: list[CaseTable] = []
        self._enough = False

    def run(self, folder: Path | None) -> Study:
        begun, interrupt = perf_counter(), Interrupt()
        for chunk in sorted(self.storage.finished()):
            self._take(chunk, self.storage.get(chunk))
        before = self._count
        with bar(self.progress, 0, self.plan.samples.total, "cases", self.plan.mechanism.name) as cases_bar:
            cases_bar.reached(before)
            with interrupt.catching():
                for count in self._work():
                    cases_bar.reached(count)
        return self._study(perf_counter() - begun, before, folder)

    def _work(self) -> Iterator[int]:
        """Run missing chunks; returns the number of cases."""
        chunks = 0 if self._enough else self.plan.chunks
        missing = (chunk for chunk in range(chunks) if chunk not in self._tables)
        with closing(self.executor.run(StudyWork(self.plan), missing)) as running:  # type: ignore[type-var]
            for chunk, table in running:
                if not table.complete:
                    continue
                self.storage.put(chunk, table)
                self._take(chunk, table)
                yield self._count
                if self._enough:
                    return

    @property
    def _count(self) -> int:
        return sum(len(table) for table in self._tables.values())

    def _take(self, chunk: int, table: CaseTable) -> None:
        """Store a chunk. Chunks count for the end of the study in their order."""
        self._tables[chunk] = table
        while not self._enough and len(self._prefix) in self._tables:
            self._prefix.append(self._tables[len(self._prefix)])
            self._enough = self.until is not None and self.until.reached(self._prefix, self.plan.outcome_table)

    def _study(self, seconds: float, before: int, folder: Path | None) -> Study:
        tables = self._prefix if self._enough else [self._tables[chunk] for chunk in sorted(self._tables)]
        if not tables:
            raise StudyError("the study was interrupted before its first chunk was finished: no results")
        complete = self._enough or len(self._tables) == self.plan.chunks
        states = np.concatenate([table.saved for table in tables])
        enough = self.until.estimate(tables, self.plan.outcome_table) if self._enough and self.until else None
        found = Study(self.plan, joined(tables), states, seconds, complete, enough, before, folder)
        if folder is not None:
            write_results(found, folder)
        return found
