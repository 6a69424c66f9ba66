"""A Monte-Carlo study of first contacts, and its speed beside a plain SciPy loop and beside MuJoCo.

    python -m benchmarks docking [--cases 10000] [--page FILE.html] [--mujoco 100]

First contacts lie within the limits published for the international docking standard, uniformly. Each case goes on to
capture, bouncing off, overload or a leg out of its stroke, at most 12 s; rtol 1e-6, dop853. SciPy's loop calls the same
compiled kernels on one thread, stops at the same events, and looks for no peaks and no touches; so our cases are run
both with and without peaks. One thread is timed by the processor's time of that thread; all threads by the clock on the
wall, and by the processor's time of all of them, as many cases as each core runs while it works.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import TypedDict

import numpy as np

import kinegraph as kg
from benchmarks.docking.beside_mujoco import MuJoCoDockings
from benchmarks.docking.scipy_dockings import SciPyDockings
from benchmarks.study.measured_on import MeasuredOn
from kinegraph.compiler.mechanism_source import load
from kinegraph.docking.description import docking_of
from kinegraph.docking.first_contacts import contact_plan
from kinegraph.jit.parallel import cores
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.studies.cases import CaseRunner, CaseTable, runner_of
from kinegraph.studies.plan import Plan
from kinegraph.studies.results import Study
from kinegraph.studies.study import run_plan

TARGET = 15.0  # times as many cases a second as the plain loop
MODEL = "docking-light-legs"
_ROUNDS, _BURST, _OURS = 5, 20, 160  # bursts of each side, cases of one of SciPy's, and of one of ours


BesideSciPy = TypedDict(
    "BesideSciPy",
    {"method": str, "scipy": float, "one thread": float, "without peaks": float, "event_difference": float},
)
BesideMuJoCo = TypedDict(
    "BesideMuJoCo",
    {"cases": int, "rate": float, "captured": float, "captured here": float, "median difference": float},
)
Rates = TypedDict("Rates", {"seconds": float, "rate": float, "each core": float})
_Lean = TypedDict("_Lean", {"without peaks": Rates})


class Whole(Rates, _Lean):
    """All cases: the rates with and without peaks, probabilities of the classes with their intervals, quantiles."""

    cases: int
    classes: dict[str, list[float]]
    quantiles: dict[str, list[float]]
    failed: int


class _Found(MeasuredOn):
    beside_scipy: list[BesideSciPy]
    whole: Whole


class Found(_Found, total=False):
    """All that was measured; MuJoCo where it was asked for."""

    mujoco: BesideMuJoCo


def beside_scipy(method: str) -> BesideSciPy:
    """Cases a second of both sides on one thread, and by how much their capture times differ."""
    plan = contact_plan(MODEL, 2000, method=method)
    scipy_loop, runner, lean = SciPyDockings(plan), CaseRunner(plan), CaseRunner(_without_peaks(plan))
    for one in (runner, lean):
        one.run(0, 4)
    theirs, ours, fewer, late = [], [], [], 0.0
    for round in range(_ROUNDS):
        first = 1 + round * _OURS
        begun = thread_time()
        times = np.array(scipy_loop.captured(first, first + _BURST))
        theirs.append(_BURST / (thread_time() - begun))
        table, rate = _timed(runner, first)
        ours.append(rate)
        fewer.append(_timed(lean, first)[1])
        late = max(late, float(np.nanmax(np.abs(times - table.columns["captured_at"][:_BURST]))))
    return {"method": method, "scipy": max(theirs), "one thread": max(ours), "without peaks": max(fewer),
            "event_difference": late}  # fmt: skip


def _timed(runner: CaseRunner, first: int) -> tuple[CaseTable, float]:
    """A burst of ours on one thread, and its cases a second."""
    begun = thread_time()
    table = runner.run(first, first + _OURS)
    return table, _OURS / (thread_time() - begun)


def _without_peaks(plan: Plan) -> Plan:
    """The same cases without the largest forces, which the plain loop does not look for either."""
    outcomes = {name: text for name, text in plan.outcome_table.outcomes.items() if "max(" not in text}
    return replace(plan, outcome_table=replace(plan.outcome_table, outcomes=outcomes))


def beside_mujoco(cases: int) -> BesideMuJoCo:
    """Cases a second in MuJoCo, and which part of the same cases is captured there and here."""
    docking = docking_of(load(MODEL))
    plan = contact_plan(docking, cases)
    peer = MuJoCoDockings(docking)
    rows = plan.samples.rows(1, cases + 1)
    begun = thread_time()
    times = [peer.captured(dict(zip(plan.samples.names, row, strict=True)), plan.span[1]) for row in rows]
    rate = cases / (thread_time() - begun)
    ours = CaseRunner(plan).run(1, cases + 1).columns["captured_at"]
    both = np.isfinite(times) & np.isfinite(ours)
    return {"cases": cases, "rate": rate, "captured": float(np.isfinite(times).mean()),
            "captured here": float(np.isfinite(ours).mean()),
            "median difference": float(np.median(np.abs(np.array(times) - ours)[both]))}  # fmt: skip


def whole_study(cases: int, page: Path | None) -> Whole:
    """All cases on all threads: how long, with and without peaks; how probable capture is, and the page."""
    plan = contact_plan(MODEL, cases)
    study, found = _whole(plan)
    _, lean = _whole(_without_peaks(plan))
    if page is not None:
        kg.view(study, page)
    classes = {name: [one.value, one.low, one.high] for name, one in study.classes().items()}
    quantiles = {
        name: np.nanquantile(study[name], [0.5, 0.99, 1.0]).tolist() for name in ("captured_at", "leg", "interface")
    }
    return {"cases": cases, **found, "without peaks": lean, "classes": classes, "quantiles": quantiles,
            "failed": int(np.sum(~np.isin(study["status"], ["EVENT", "FINISHED"])))}  # fmt: skip


def _whole(plan: Plan) -> tuple[Study, Rates]:
    """A whole study on all threads, and its cases a second: by the clock, and of each core while it works."""
    runner_of(plan).run(0, 1)
    begun, worked = perf_counter(), process_time()
    study = run_plan(plan, progress=False)
    seconds, worked = perf_counter() - begun, process_time() - worked
    cases = plan.samples.total
    return study, {"seconds": seconds, "rate": cases / seconds, "each core": cases / worked}


def main(cases: int, page: Path | None, mujoco: int, as_json: bool) -> None:
    """Measure and print."""
    beside = [beside_scipy(method) for method in ("dopri5", "dop853")]
    peer = beside_mujoco(mujoco) if mujoco else None
    whole = whole_study(cases, page)
    found: Found = {
        "processor": cpu_model(), "threads": cores(), "target": TARGET, "beside_scipy": beside, "whole": whole,
    }  # fmt: skip
    if peer is not None:
        found["mujoco"] = peer
    print(json.dumps(found)) if as_json else _show(found)


def _show(found: Found) -> None:
    print(f"{found['processor']}, {found['threads']} threads; cases a second, best of {_ROUNDS} bursts")
    whole, lean, target = found["whole"], found["whole"]["without peaks"], found["target"]
    for row in found["beside_scipy"]:
        scipy = row["scipy"]
        print(f"{row['method']:>7}: SciPy {scipy:.2f} on one thread; capture times differ by "
              f"{row['event_difference']:.0e} s")  # fmt: skip
        rows = (
            ("with peaks", row["one thread"], whole["each core"]),
            ("without", row["without peaks"], lean["each core"]),
        )
        for label, one, core in rows:
            both = found["threads"] * core
            print(f"{label:>19}: one thread {one:.1f} ({one / scipy:.1f} times), all cores by their own time "
                  f"{both:.1f} ({both / scipy:.1f} times, target {target:g})")  # fmt: skip
    if "mujoco" in found:
        peer = found["mujoco"]
        print(f" MuJoCo: {peer['rate']:.2f} cases a second (steps of 1 ms), captured {peer['captured']:.2f} of "
              f"{peer['cases']} cases, here {peer['captured here']:.2f}")  # fmt: skip
    print(f"{whole['cases']} cases in {whole['seconds']:.1f} s, {whole['rate']:.0f} a second by the clock, "
          f"{whole['each core']:.0f} for each second of a core (without peaks "
          f"{lean['rate']:.0f} and {lean['each core']:.0f}); "
          f"failed {whole['failed']}")  # fmt: skip
    for name, (value, low, high) in whole["classes"].items():
        print(f"  {name:>14} {value:.4f}  ({low:.4f} to {high:.4f}, 95 %)")
    for name, (middle, most, largest) in whole["quantiles"].items():
        print(f"  {name:>14} median {middle:.4g}, 99 % {most:.4g}, largest {largest:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks docking", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="of the whole study")
    parser.add_argument("--page", type=Path, help="write the page of the study")
    parser.add_argument("--mujoco", type=int, default=0, metavar="CASES", help="compare so many cases with MuJoCo")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    given = parser.parse_args()
    main(given.cases, given.page, given.mujoco, given.json)
