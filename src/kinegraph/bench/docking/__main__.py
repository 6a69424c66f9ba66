"""A Monte-Carlo study of first contacts, and its speed beside a plain SciPy loop and beside MuJoCo.

    kinegraph bench docking [--cases 10000] [--page FILE.html] [--mujoco 100]

First contacts lie within the limits published for the international docking standard, uniformly. Each case goes on to
capture, bouncing off, overload or a leg out of its stroke, at most 12 s; rtol 1e-6, dop853. SciPy's loop calls the same
compiled kernels on one thread, stops at the same events, and looks for no peaks and no touches. One thread is timed by
the processor's time of that thread, all threads by the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np

import kinegraph as kg
from kinegraph.bench.docking.beside_mujoco import MuJoCoDockings
from kinegraph.bench.docking.plain_loop import PlainDockings
from kinegraph.bench.peers.sides.build import cpu_model
from kinegraph.compiler.load import load
from kinegraph.docking.description import docking_of
from kinegraph.docking.first_contacts import contact_plan
from kinegraph.jit.parallel import cores
from kinegraph.studies.plan import Plan
from kinegraph.studies.run import run_plan
from kinegraph.studies.running.cases import CaseRunner, runner_of

ASKED = 15.0  # times as many cases a second as the plain loop
MODEL = "docking-light-legs"
_ROUNDS, _BURST = 5, 20  # bursts of each side, and cases of one


def beside_scipy(method: str) -> dict[str, Any]:
    """Cases a second of both sides on one thread, and by how much their capture times differ."""
    plan = contact_plan(MODEL, 2000, method=method)
    plain, runner = PlainDockings(plan), runner_of(plan)
    runner.run(0, 4)
    lean = CaseRunner(_without_peaks(plan))
    lean.run(0, 4)
    theirs, ours, fewer, late = [], [], [], 0.0
    for round in range(_ROUNDS):
        first, last = 1 + round * _BURST, 1 + (round + 1) * _BURST
        begun = thread_time()
        times = np.array(plain.captured(first, last))
        theirs.append(_BURST / (thread_time() - begun))
        begun = thread_time()
        table = runner.run(first, last)
        ours.append(_BURST / (thread_time() - begun))
        begun = thread_time()
        lean.run(first, last)
        fewer.append(_BURST / (thread_time() - begun))
        late = max(late, float(np.nanmax(np.abs(times - table.columns["captured_at"]))))
    return {"method": method, "scipy": max(theirs), "one thread": max(ours), "without peaks": max(fewer),
            "event_difference": late}  # fmt: skip


def _without_peaks(plan: Plan) -> Plan:
    """The same cases without the largest forces, which the plain loop does not look for either."""
    asked = {name: text for name, text in plan.asked.outcomes.items() if "max(" not in text}
    return replace(plan, asked=replace(plan.asked, outcomes=asked))


def beside_mujoco(cases: int) -> dict[str, Any]:
    """Cases a second in MuJoCo, and which part of the same cases is captured there and here."""
    docking = docking_of(load(MODEL))
    plan = contact_plan(docking, cases)
    peer = MuJoCoDockings(docking)
    rows = plan.samples.rows(1, cases + 1)
    begun = thread_time()
    times = [peer.captured(dict(zip(plan.samples.names, row, strict=True)), plan.span[1]) for row in rows]
    rate = cases / (thread_time() - begun)
    ours = runner_of(plan).run(1, cases + 1).columns["captured_at"]
    both = np.isfinite(times) & np.isfinite(ours)
    return {"cases": cases, "rate": rate, "captured": float(np.isfinite(times).mean()),
            "captured here": float(np.isfinite(ours).mean()),
            "median difference": float(np.median(np.abs(np.array(times) - ours)[both]))}  # fmt: skip


def whole_study(cases: int, page: Path | None) -> dict[str, Any]:
    """All cases on all threads: how long, how probable capture is, and the page."""
    plan = contact_plan(MODEL, cases)
    runner_of(plan).prepare()
    begun, worked = perf_counter(), process_time()
    study = run_plan(plan, progress=False)
    seconds, worked = perf_counter() - begun, process_time() - worked
    if page is not None:
        kg.view(study, page)
    found = {name: [one.value, one.low, one.high] for name, one in study.classes().items()}
    quantiles = {
        name: np.nanquantile(study[name], [0.5, 0.99, 1.0]).tolist() for name in ("captured_at", "leg", "interface")
    }
    return {"cases": cases, "seconds": seconds, "rate": cases / seconds, "each core": cases / worked,
            "classes": found, "quantiles": quantiles,
            "failed": int(np.sum(~np.isin(study["status"], ["EVENT", "FINISHED"])))}  # fmt: skip


def main(cases: int, page: Path | None, mujoco: int, as_json: bool) -> None:
    """Measure and print."""
    found: dict[str, Any] = {"processor": cpu_model(), "threads": cores(), "asked": ASKED}
    found["beside_scipy"] = [beside_scipy(method) for method in ("dopri5", "dop853")]
    if mujoco:
        found["mujoco"] = beside_mujoco(mujoco)
    found["whole"] = whole_study(cases, page)
    print(json.dumps(found)) if as_json else _show(found)


def _show(found: dict[str, Any]) -> None:
    print(f"{found['processor']}, {found['threads']} threads; cases a second, best of {_ROUNDS} bursts of {_BURST}")
    whole = found["whole"]
    for row in found["beside_scipy"]:
        ratio, both = row["one thread"] / row["scipy"], found["threads"] * whole["each core"] / row["scipy"]
        lean = row["without peaks"]
        print(f"{row['method']:>7}: SciPy {row['scipy']:.2f}, one thread {row['one thread']:.1f} ({ratio:.1f} times), "
              f"without peaks {lean:.1f} ({lean / row['scipy']:.1f} times);\n         all cores, by their own time, "
              f"{both:.1f} times (asked {found['asked']:g}); capture times differ by "
              f"{row['event_difference']:.0e} s")  # fmt: skip
    if "mujoco" in found:
        peer = found["mujoco"]
        print(f" MuJoCo: {peer['rate']:.2f} cases a second (steps of 1 ms), captured {peer['captured']:.2f} of "
              f"{peer['cases']} cases, here {peer['captured here']:.2f}")  # fmt: skip
    print(f"{whole['cases']} cases in {whole['seconds']:.1f} s, {whole['rate']:.0f} a second by the clock, "
          f"{whole['each core']:.0f} for each second of a core; failed {whole['failed']}")  # fmt: skip
    for name, (value, low, high) in whole["classes"].items():
        print(f"  {name:>14} {value:.4f}  ({low:.4f} to {high:.4f}, 95 %)")
    for name, (middle, most, largest) in whole["quantiles"].items():
        print(f"  {name:>14} median {middle:.4g}, 99 % {most:.4g}, largest {largest:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="kinegraph bench docking", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="of the whole study")
    parser.add_argument("--page", type=Path, help="write the page of the study")
    parser.add_argument("--mujoco", type=int, default=0, metavar="CASES", help="compare so many cases with MuJoCo")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    given = parser.parse_args()
    main(given.cases, given.page, given.mujoco, given.json)
