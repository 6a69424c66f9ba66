"""Running cases of a plan: equations and kernels are made once in a process, then any cases can be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np

from kinegraph.jit.contents import digest
from kinegraph.simulate.checks.diagnosis import Ends, named_endings
from kinegraph.simulate.constraints.drift import closed_runs
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.contacts.solver import ContactSolver
from kinegraph.simulate.event_kernels import event_set
from kinegraph.solve.batch.cases import CaseProblem, CaseRows, Integers
from kinegraph.solve.batch.outputs import Outputs
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats
from kinegraph.solve.results.recording import Grid
from kinegraph.solve.results.status import Status
from kinegraph.studies.column import Column
from kinegraph.studies.outcomes.outputs import output_graph
from kinegraph.studies.outcomes.reductions import Reduced
from kinegraph.studies.plan import Plan
from kinegraph.studies.running.contact_cases import ContactCases
from kinegraph.studies.running.each import EachCase
from kinegraph.studies.running.starts import Starts, starts

#: The status of a case that could not begin.
NOT_STARTED = "NOT_STARTED"
#: Of the first cases of a study, those that end badly are looked into.
_LOOKED_INTO = 1000


@dataclass(frozen=True)
class CaseTable:
    """Some cases: columns of one length, and states at the times of the grid (cases, times, entries)."""

    first: int
    columns: Mapping[str, Column]
    saved: Floats

    def __len__(self) -> int:
        return len(self.columns["case"])

    @property
    def complete(self) -> bool:
        """Whether every case was run to its end."""
        return not np.any(self.columns["status"] == Status.INTERRUPTED.name)


class CaseRunner:
    """Runs cases of one plan, from any number of threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.equations = plan.equations()
        self._lock = Lock()

    def run(self, first: int, last: int, stop: Integers | None = None) -> CaseTable:
        """The cases first <= index < last. stop: see `CaseProblem.run`."""
        self.prepare()
        values = self.plan.samples.rows(first, last)
        varied = dict(zip(self.plan.samples.names, values.T, strict=True))
        beginnings = starts(self.plan, self.equations, varied)
        rows = self._named(self._rows(beginnings, stop), beginnings, first)
        saved = rows.saved
        if self.plan.grid:
            saved = closed_runs(self.equations, self.plan.grid_times(), saved, beginnings.parameters)
        return CaseTable(first, self._columns(first, varied, beginnings, rows), saved)

    def prepare(self, tell: bool = False) -> None:
        """Make or load all code, once."""
        with self._lock:
            _ = self.problem

    @cached_property
    def problem(self) -> CaseProblem | EachCase:
        """All that cases share: the system, events, outputs."""
        plan = self.plan
        rhs = self.equations.right_hand_side(jacobian=plan.solver.capabilities.jacobian, native=plan.native)
        nowhere = np.zeros(rhs.size)
        problem = CauchyProblem(rhs, nowhere, *plan.span, np.zeros(rhs.parameters), plan.signals, plan.native)
        grid = Grid(plan.grid_times()) if plan.grid else None
        events = event_set(self.equations, plan.events, plan.native)
        tableau = plan.solver.capabilities.lanes
        if plan.mechanism.contacts:
            return ContactCases(
                self.equations, self._contact_solver, problem, plan.control, events, plan.outcome_table.outputs, grid,
                self._outputs(),
            )  # fmt: skip
        if tableau is not None:
            return CaseProblem(tableau, problem, plan.control, events, self._outputs(), grid)
        return EachCase(self.equations, plan.solver, problem, plan.control, events, plan.outcome_table.outputs, grid)

    @cached_property
    def _contact_solver(self) -> ContactSolver:
        """The method, with the modes of contacts."""
        form, plan = self.equations, self.plan
        assert isinstance(form, OpenForm)
        code = ContactCode(form, plan.events, plan.native, plan.solver.capabilities.jacobian)
        return ContactSolver(plan.solver, code)

    def _outputs(self) -> Outputs:
        texts = self.plan.outcome_table.outputs
        if not texts:
            return Outputs()
        graph = self.equations.carry(output_graph(self.equations, texts))
        return Outputs(self.equations.function(graph, self.plan.native), self.plan.outcome_table.along)

    def _rows(self, beginnings: Starts, stop: Integers | None) -> CaseRows:
        """All cases that can begin; the others stand still at zero, and their rows are not looked at."""
        states = beginnings.states.copy()
        good = [row for row in range(len(states)) if row not in beginnings.faults]
        if len(good) == len(states):
            return self.problem.run(states, beginnings.parameters, stop)
        return _spread(self.problem.run(states[good], beginnings.parameters[good], stop), good, len(states))

    def _named(self, rows: CaseRows, beginnings: Starts, first: int) -> CaseRows:
        """The rows with endings that name their cause, of the first cases of a study: so any case gives the same row
        again, however many are run with it."""
        ends = Ends(self.plan.span[0], beginnings.states, rows.finals, beginnings.parameters)
        known = range(min(len(rows.endings), max(_LOOKED_INTO - first, 0)))
        return replace(rows, endings=named_endings(self.equations, rows.endings, ends, self.plan.signals, known))

    def _columns(
        self, first: int, varied: Mapping[str, Floats], beginnings: Starts, rows: CaseRows
    ) -> dict[str, Column]:
        count = len(beginnings.states)
        status = [end.status.name for end in rows.endings]
        reason = ["" if end.status.good else str(end).partition("\n")[0] for end in rows.endings]
        for row, why in beginnings.faults.items():
            status[row], reason[row] = NOT_STARTED, why
        good = np.array([Status[one].good if one != NOT_STARTED else False for one in status], dtype=bool)
        reduced = Reduced(rows, self.plan.outcome_table.outputs, self._events.names, self.plan.span[0])
        return {
            "case": np.arange(first, first + count),
            **varied,
            "status": np.array(status, dtype=str),
            "reason": np.array(reason, dtype=str),
            "end_time": np.array([end.time for end in rows.endings]),
            "steps": rows.steps,
            **self.plan.outcome_table.columns(reduced, varied, good),
        }

    @property
    def _events(self) -> EventSet:
        return self.problem.events


def _spread(rows: CaseRows, places: list[int], count: int) -> CaseRows:
    """Rows that belong at these places of so many; the others hold nothing."""
    from kinegraph.solve.results.status import Ending

    found: dict[str, object] = {}
    for name, column in vars(rows).items():
        if name == "endings":
            endings = [Ending(Status.NOT_A_NUMBER, float("nan"))] * count
            for place, ending in zip(places, column, strict=True):
                endings[place] = ending
            found[name] = tuple(endings)
            continue
        empty = np.zeros((count, *column.shape[1:]), dtype=column.dtype)
        if column.dtype.kind == "f":
            empty[:] = np.nan
        empty[places] = column
        found[name] = empty
    return CaseRows(**found)  # type: ignore[arg-type]


_runners: dict[str, CaseRunner] = {}
_runners_lock = Lock()
_MOST_RUNNERS = 8


def runner_of(plan: Plan) -> CaseRunner:
    """The runner of a plan in this process: made when it is first asked for, by whichever thread."""
    key = digest(plan.facts)
    with _runners_lock:
        if key not in _runners:
            while len(_runners) >= _MOST_RUNNERS:
                _runners.pop(next(iter(_runners)))
            _runners[key] = CaseRunner(plan)
        return _runners[key]


@dataclass(frozen=True)
class StudyWork:
    """The cases of a plan as work in chunks; equations and kernels are made once in every process."""

    plan: Plan

    @property
    def parallel(self) -> bool:
        """Compiled loops do not hold Python's lock."""
        return self.plan.native

    def table(self, chunk: int, stop: Integers | None = None) -> CaseTable:
        """The cases of one chunk."""
        return runner_of(self.plan).run(*self.plan.cases_of(chunk), stop)
