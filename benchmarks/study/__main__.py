"""Studies, measured: cases a second beside a plain SciPy loop, the overhead of Dask, a plan for large clusters.

    python -m benchmarks study [--cases 10000] [--dask] [--page FILE.html]
    python -m benchmarks study --plan

SciPy's loop calls the same compiled kernel on one thread; it looks for the same event, with the same method and
tolerances, and for no peaks. Both sides take turns. One thread is timed by the processor's time of that thread, which
says the same on a busy machine; all threads by the clock on the wall, which does not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from functools import partial
from os import getloadavg
from pathlib import Path
from time import perf_counter, thread_time
from typing import TypedDict

import numpy as np

import kinegraph as kg
from benchmarks.study.measured_on import MeasuredOn
from benchmarks.study.mock import MockWork, overhead, per_task, processor_per_task, sizes
from benchmarks.study.paper import CASE_SECONDS, START_SECONDS, Paper, paper_of
from benchmarks.study.scipy_loop import SciPyLoop
from kinegraph.compiler.mechanism_source import load
from kinegraph.extras import extra
from kinegraph.jit.parallel import cores
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem import Floats
from kinegraph.studies.cases import CaseRunner, StudyWork
from kinegraph.studies.executors import DaskCluster, Threads
from kinegraph.studies.plan import Plan, StudySettings
from kinegraph.studies.study import run_plan

_ROUNDS, _BURST = 60, 50  # bursts of each side, and cases of one of ours
TARGET = 15.0  # times as many cases a second as the plain loop
MODELS = {"double-pendulum": "q1", "puma560": "q2"}


Rates = TypedDict("Rates", {"scipy": float, "one thread": float, "all": float})
Rates.__doc__ = "Cases a second: of SciPy, of ours on one thread, and on all."


class BesideSciPy(Rates):
    """One model and method: the rates, and by how much final states and times of events differ."""

    model: str
    method: str
    difference: float
    event_difference: float


class Whole(TypedDict):
    """A whole study: how long it took, and how probable success is."""

    cases: int
    seconds: float
    rate: float
    success: float
    low: float
    high: float


class _Found(MeasuredOn):
    beside_scipy: list[BesideSciPy]
    whole: Whole


class Found(_Found, total=False):
    """All that was measured; Dask and the plan on paper where they were asked for."""

    dask: dict[str, float]
    paper: list[dict[str, float | str]]


def plan_of(model: str, coordinate: str, cases: int, method: str = "dop853", chunk: int | None = None) -> Plan:
    """A study with an event: random starts and a random mass or length, peaks, and how often a joint passes zero."""
    mechanism = load(model)
    velocities = mechanism.layout.velocities[:2]
    return StudySettings(
        mechanism,
        2.0,
        {coordinate: "uniform(-0.5, 0.5)", ", ".join(velocities): "disc(0.5)"},
        cases,
        outcomes={"passes": "count(zero)", "first": "time(zero)", "fastest": f"max({coordinate}')"},
        success="passes > 0",
        events={"zero": coordinate},
        method=method,
        control=Adaptive(1e-6, 1e-8),
        native=True,
        chunk=chunk,
    ).plan()


def beside_scipy(model: str, coordinate: str, method: str) -> BesideSciPy:
    """Cases a second of both sides, and by how much the final states differ."""
    plan = plan_of(model, coordinate, 2000, method, _BURST)
    place = plan.mechanism.layout.positions.index(coordinate)
    one_by_one = SciPyLoop(plan, lambda t, y: y[place])
    runner = CaseRunner(plan)
    runner.run(0, 8)
    theirs, ours = one_by_one.run(0, 8), runner.problem.run(*_starts(plan, 8))
    difference = max(float(np.abs(one.y[:, -1] - final).max()) for one, final in zip(theirs, ours.finals, strict=True))
    times = np.array([one.t_events[0][0] if len(one.t_events[0]) else np.nan for one in theirs])
    late = float(np.nanmax(np.abs(times - ours.first_at[:, 0])))
    best: Rates = {"scipy": 0.0, "one thread": 0.0, "all": 0.0}
    for case in range(_ROUNDS):
        best["scipy"] = max(best["scipy"], _rate(partial(one_by_one.run, case, case + 1), thread_time))
        best["one thread"] = max(best["one thread"], _rate(partial(runner.run, 1, 1 + _BURST), thread_time))
        best["all"] = max(best["all"], _rate(partial(_burst, plan, cores()), perf_counter))
    return {"model": model, "method": method, **best, "difference": difference, "event_difference": late}


def _rate(burst: Callable[[], Sized], clock: Callable[[], float]) -> float:
    """Cases a second of one burst."""
    begun = clock()
    count = len(burst())
    return count / (clock() - begun)


def _burst(plan: Plan, threads: int) -> range:
    """As many cases as keep all threads busy for a moment."""
    return range(sum(len(table) for _, table in Threads(threads).run(StudyWork(plan), range(threads))))


def _starts(plan: Plan, count: int) -> tuple[Floats, Floats]:
    from kinegraph.studies.cases import starts

    rows = plan.samples.rows(0, count)
    begun = starts(plan, plan.equations(), dict(zip(plan.samples.names, rows.T, strict=True)))
    return begun.states, begun.parameters


@contextmanager
def local_cluster() -> Iterator[DaskCluster]:
    """A local cluster of two workers, warm; its scheduler runs in this process."""
    distributed = extra("distributed", "a measurement of Dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        executor = DaskCluster(client)
        per_task(executor, 20, 1)
        yield executor


def on_dask() -> dict[str, float]:
    """The overhead of a local cluster of two workers for cases of a millisecond, and of a task that does nothing."""
    with local_cluster() as executor:
        found = {f"overhead, chunks of {chunk}": overhead(executor, MockWork(chunk, 1e-3), 4000 // chunk, 2, 2) / 1e-3
                 for chunk in (100, 1000)}  # fmt: skip
        return {**found, "seconds a task": per_task(executor, 1000)}


def plan_on_paper() -> Paper:
    """What large studies would take, from the processor's time that chunks and rows cost here."""
    with local_cluster() as executor:
        return paper_of(processor_per_task(executor, 1000), sizes(10_000))


def show_plan(as_json: bool) -> None:
    """Measure and print the plan, as the documentation has it."""
    paper, load = plan_on_paper(), getloadavg()[0]
    if as_json:
        print(json.dumps({"processor": cpu_model(), "load": load, "task": paper.task, "sizes": vars(paper.sizes),
                          "paper": paper.report()}))  # fmt: skip
        return
    print(f"{cpu_model()}, load {load:.1f}; processor's time: {1e3 * paper.task:.2f} ms a chunk (scheduler, driver), "
          f"{1e6 * paper.sizes.writing:.2f} us to write a row;\n{paper.sizes.sent:.0f} bytes a row sent and "
          f"{paper.sizes.stored:.0f} stored; cases of {1e3 * CASE_SECONDS:g} ms; {START_SECONDS:g} s until workers "
          f"have loaded everything (assumed)\n\n{paper.table()}")  # fmt: skip


def main(cases: int, dask: bool, page: Path | None, as_json: bool) -> None:
    """Measure and print."""
    beside = [
        beside_scipy(model, coordinate, method)
        for model, coordinate in MODELS.items() for method in ("dopri5", "dop853")
    ]  # fmt: skip
    whole = whole_study(cases, page)
    found: Found = {
        "processor": cpu_model(), "threads": cores(), "target": TARGET, "beside_scipy": beside, "whole": whole,
    }  # fmt: skip
    if dask:
        found["dask"] = on_dask()
        paper = paper_of(found["dask"]["seconds a task"], sizes(10_000))
        found["paper"] = paper.report()
    if as_json:
        print(json.dumps(found))
        return
    _show(found)
    if dask:
        _show_paper(paper)


def whole_study(cases: int, page: Path | None) -> Whole:
    """All cases of the first model on all threads, and the page of them."""
    model, coordinate = next(iter(MODELS.items()))
    study = run_plan(plan_of(model, coordinate, cases), progress=False)
    if page is not None:
        kg.view(study, page)
    probability = study.probability()
    return {"cases": len(study), "seconds": study.seconds, "rate": len(study) / study.seconds,
            "success": probability.value, "low": probability.low, "high": probability.high}  # fmt: skip


def _show(found: Found) -> None:
    print(f"{found['processor']}, {found['threads']} threads; cases a second, the best of {_ROUNDS} bursts")
    head = "model", "method", "SciPy", "1 thread", "ratio", "all", "ratio"
    print("{:>16} {:>7} {:>7} {:>9} {:>6} {:>7} {:>6}".format(*head), f"  target {TARGET:g}")
    for row in found["beside_scipy"]:
        ratios = row["one thread"] / row["scipy"], row["all"] / row["scipy"]
        rates = f"{row['scipy']:>7.0f} {row['one thread']:>9.0f} {ratios[0]:>6.1f} {row['all']:>7.0f} {ratios[1]:>6.1f}"
        agree = f"final states differ by {row['difference']:.0e}, events by {row['event_difference']:.0e} s"
        print(f"{row['model']:>16} {row['method']:>7} {rates}   {agree}")
    whole = found["whole"]
    print(f"{whole['cases']} cases: {whole['seconds']:.2f} s, {whole['rate']:.0f} a second; "
          f"success {whole['success']:.4f} ({whole['low']:.4f} to {whole['high']:.4f})")  # fmt: skip
    for name, value in found.get("dask", {}).items():
        print(f"Dask, {name}: {value:.2e} s" if "task" in name else f"Dask, {name}: {100 * value:.1f} % of 1 ms")


def _show_paper(paper: Paper) -> None:
    for row in paper.rows:
        print(f"{row.cases:.0e} cases on {row.cores} cores: chunks of {row.chunk}, {row.seconds:.0f} s "
              f"(bound by the {row.bound}), {row.moved / 1e9:.2f} GB moved")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks study", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="of the whole study")
    parser.add_argument("--dask", action="store_true", help="measure the overhead of a local Dask cluster, too")
    parser.add_argument("--plan", action="store_true", help="measure and print the plan for large clusters alone")
    parser.add_argument("--page", type=Path, help="write the page of the whole study")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    arguments = parser.parse_args()
    if arguments.plan:
        show_plan(arguments.json)
    else:
        main(arguments.cases, arguments.dask, arguments.page, arguments.json)
