"""Many whole dockings with random first contacts: through capture, damping and drawing in to the hard joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from kinegraph.arrays import Integers
from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.docking.description import Docking, docking_of
from kinegraph.docking.dock import PreparedDocking
from kinegraph.docking.first_contacts import ContactLimits, contact_plan
from kinegraph.docking.result import DockingRun, Outcome
from kinegraph.errors import KinegraphError
from kinegraph.solve.execution import Native
from kinegraph.solve.recording import Status
from kinegraph.solve.solution import Solution
from kinegraph.studies.cases import NOT_STARTED, CaseTable, starts
from kinegraph.studies.executors import Executor
from kinegraph.studies.outcomes import Column, OutcomeTable
from kinegraph.studies.plan import Plan
from kinegraph.studies.results import Study
from kinegraph.studies.sampling import DistributionLike
from kinegraph.studies.study import run_plan

#: The outcomes of a case. Times in s, forces in N, moments in N m, energies in J, lengths in m, angles in rad.
OUTCOMES = {
    "captured_at": "when all latches held",
    "hard_at": "when the hard joint closed",
    "touches": "how often the guides touched",
    "lost": "energy lost as latches and joints closed",
    "offset_at_capture": "lateral distance of the rings at capture",
    "tilt_at_capture": "angle between the rings at capture, roll included",
    "leg": "largest force along a leg",
    "ring": "largest force of all legs on the ring",
    "interface": "largest force between the rings",
    "bending": "largest bending moment between the rings",
    "latch": "largest force of a single latch",
}

#: The class of a case by its outcome.
CLASSES = {
    Outcome.DOCKED: "docked",
    Outcome.CAPTURED: "captured",
    Outcome.OUT_OF_STROKE: "out_of_stroke",
    Outcome.OVERLOAD: "overloaded",
    Outcome.BOUNCED: "bounced",
    Outcome.NOT_CAPTURED: "not_captured",
    Outcome.FAILED: "failed",
}


@dataclass(frozen=True)
class WholeDockingPlan(Plan):
    """The plan of such a study. span: the wait for capture; later phases follow the schedule of the docking."""

    docking: Docking | None = None
    rtol: float = 1e-7
    interval: float = 0.1

    @cached_property
    def facts(self) -> dict[str, object]:
        """What must agree for cases to belong to one study: also latches, limits and schedule."""
        given = self.docking
        assert given is not None
        settings = (given.latches, given.limits, given.schedule, given.at_once, given.springs, self.rtol)
        return super().facts | {"docking": repr(settings)}

    def own_runner(self) -> WholeDockingRunner:
        """Whole dockings instead of single runs."""
        return WholeDockingRunner(self)


class WholeDockingRunner:
    """Runs whole dockings of one plan, one after the other."""

    def __init__(self, plan: WholeDockingPlan) -> None:
        self.plan = plan
        self._lock = Lock()

    @cached_property
    def _prepared(self) -> PreparedDocking:
        plan = self.plan
        assert plan.docking is not None
        return PreparedDocking(plan.docking, plan.parameters, None, plan.interval, plan.rtol, plan.solver, plan.native)

    def run(self, first: int, last: int, stop: Integers | None = None) -> CaseTable:
        """The cases first <= index < last; `stop` ends between two cases."""
        values = self.plan.samples.rows(first, last)
        varied = dict(zip(self.plan.samples.names, values.T, strict=True))
        _ = self._prepared  # an error here is one of all cases
        rows = []
        for k in range(last - first):
            if stop is not None and stop[0]:
                rows.append(_Row(Status.INTERRUPTED.name, "", None))
            else:
                rows.append(self._row({name: column[k : k + 1] for name, column in varied.items()}))
        columns = {"case": np.arange(first, last), **varied, **_columns(rows)}
        return CaseTable(first, columns, np.zeros((last - first, 0, 0)))

    def solution(self, index: int) -> Solution:
        """One docking as a solution: see `DockingRun.solution`."""
        return self.docked(index).solution()

    def docked(self, index: int) -> DockingRun:
        """One docking by its index."""
        values = self.plan.samples.rows(index, index + 1)
        return self._docked(dict(zip(self.plan.samples.names, values.T, strict=True)))

    def _row(self, varied: Mapping[str, np.ndarray]) -> _Row:
        try:
            run = self._docked(varied)
        except KinegraphError as error:
            return _Row(NOT_STARTED, str(error).partition("\n")[0], None)
        ending = run.simulated.ending
        failed = run.outcome is Outcome.FAILED
        status = ending.status if failed else Status.FINISHED
        return _Row(status.name, str(ending).partition("\n")[0] if failed else "", run)

    def _docked(self, varied: Mapping[str, np.ndarray]) -> DockingRun:
        with self._lock:
            free = self.plan.equations()
            begun = starts(self.plan, free, varied)
            if begun.faults:
                raise KinegraphError(begun.faults[0])
            layout = self.plan.mechanism.layout
            q, v, z = (
                begun.states[0, part.slice] for part in (layout.position_part, layout.velocity_part, layout.state_part)
            )
            return self._prepared.run(q, v, z, self.plan.span[1] - self.plan.span[0])


@dataclass(frozen=True)
class _Row:
    """One case: how it ended, and its docking."""

    status: str
    reason: str
    run: DockingRun | None


def _columns(rows: list[_Row]) -> dict[str, Column]:
    found = [_outcomes(row.run) if row.run else dict.fromkeys(OUTCOMES, np.nan) for row in rows]
    runs = [row.run for row in rows]
    return {
        "status": np.array([row.status for row in rows], dtype=str),
        "reason": np.array([row.reason for row in rows], dtype=str),
        "end_time": np.array([run.simulated.ending.time if run else np.nan for run in runs]),
        "steps": np.array([run.simulated.statistics.steps if run else 0 for run in runs]),
        **{name: np.array([one[name] for one in found], dtype=float) for name in OUTCOMES},
        "class": np.array([CLASSES[run.outcome] if run else "failed" for run in runs], dtype=str),
        "success": np.array([run is not None and run.outcome is Outcome.DOCKED for run in runs]),
    }


def _outcomes(run: DockingRun) -> dict[str, float]:
    joints = {one.joint: one for one in run.joinings}
    captured, hard = joints.get("captured"), joints.get("hard")
    peaks = {name: one.value for name, one in run.peaks.items()}
    return {
        "captured_at": captured.time if captured else np.nan,
        "hard_at": hard.time if hard else np.nan,
        "touches": float(len(run.touches)),
        "lost": sum(one.lost for one in run.joinings),
        "offset_at_capture": captured.shift if captured else np.nan,
        "tilt_at_capture": captured.tilt if captured else np.nan,
        **{name: peaks.get(name, np.nan) for name in ("leg", "ring", "interface", "bending", "latch")},
    }


def whole_dockings(
    model: MechanismSource | Docking,
    cases: int = 100,
    *,
    limits: ContactLimits | None = None,
    vary: Mapping[str, DistributionLike] | None = None,
    duration: float = 30.0,
    rtol: float = 1e-7,
    interval: float = 0.1,
    seed: int = 0,
    chunk: int | None = None,
    folder: str | Path | None = None,
    native: Native = True,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Study:
    """Study random first contacts through all phases, up to the hard joint.

    Each case is one `dock`: latches hold one by one, and limits end it. See OUTCOMES and CLASSES for the columns;
    a force that a case never had is missing. duration: how long to wait for capture [s]. limits, vary: as for
    `first_contacts`. interval: of saved states [s]; peaks are searched between them.
    `study.case(17).simulate()` is the motion of a case.
    """
    plan = whole_docking_plan(
        model, cases, limits=limits, vary=vary, duration=duration, rtol=rtol, interval=interval, seed=seed,
        chunk=chunk, native=native,
    )  # fmt: skip
    return run_plan(plan, folder=folder, executor=executor, progress=progress)


def whole_docking_plan(
    model: MechanismSource | Docking,
    cases: int,
    *,
    limits: ContactLimits | None = None,
    vary: Mapping[str, DistributionLike] | None = None,
    duration: float = 30.0,
    rtol: float = 1e-7,
    interval: float = 0.1,
    seed: int = 0,
    chunk: int | None = None,
    native: Native = True,
) -> WholeDockingPlan:
    """The plan of such a study: the first contacts of `contact_plan`, the same for a seed."""
    docking = model if isinstance(model, Docking) else docking_of(model)
    plan = contact_plan(
        docking, cases, limits=limits, vary=vary, duration=duration, rtol=rtol, seed=seed, chunk=chunk or 4,
        native=native,
    )  # fmt: skip
    own = {one.name: getattr(plan, one.name) for one in fields(Plan)}
    own |= {
        "events": (),
        "outcome_table": OutcomeTable(OUTCOMES, dict.fromkeys(CLASSES.values(), ""), "docked", plan.samples.names, ()),
    }
    return WholeDockingPlan(**own, docking=docking, rtol=rtol, interval=interval)
