"""The IFToMM benchmark problems A01 to A05 as one table: error, time, and published times beside them.

    python -m benchmarks iftomm

Times are those of the run alone, machine code loaded, the best of three; published ones are from other machines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import mechanism_of
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.run import simulate
from kinegraph.solve.solution import Solution

_PENDULUM = "model pendulum; coordinates q = pi; gravity 0, -9.81, 0; A | Rz(q) | Sx(1), m(1); output P = A (1, 0, 0);"


@dataclass(frozen=True)
class Problem:
    """A problem with reference values: columns at times. Published times are of other programs on other machines."""

    title: str
    model: str
    duration: float
    reference: dict[str, dict[float, float]]
    published: dict[str, float]
    method: str = "dop853"
    rtol: float = 1e-10

    def mechanism(self) -> Mechanism:
        """What is run."""
        return parse(self.model) if ";" in self.model else mechanism_of(self.model)


PROBLEMS = (
    Problem(
        "A01 pendulum, 10 s", _PENDULUM, 10,
        {"P.x": {0.5: -0.3910487915505464, 5: -0.9423054350437573, 10: -0.2750874625761169},
         "P.y": {0.5: -0.9203699487851922, 5: -0.3347543384140006, 10: -0.9614192050991252}},
        {"OpenSim 3.2, i5-4570": 0.637, "Exudyn, laptop i7": 0.037},
    ),
    Problem(
        "A02 two four-bars, 10 s", "n-four-bar-2", 10,
        {"B0.x": {1: -0.195020301949, 5: -0.811310461004, 10: 0.328458111539},
         "B0.y": {1: -0.980799205662, 5: -0.58461554535, 10: 0.944518538179}},
        {"OpenSim 3.2, i5-4570": 0.455, "Exudyn h = 0.01, i9": 0.0776},
    ),
    Problem(
        "A02 forty four-bars, 10 s", "n-four-bar-40", 10,
        {"B0.x": {1: -0.115356880632, 5: -0.540190050674, 10: 0.180512226685},
         "B0.y": {1: -0.9933241113, 5: -0.841543052465, 10: 0.983572740583}},
        {},
    ),
    Problem(
        "A03 Andrews, 0.05 s", "andrews", 0.05,
        {"beta": {0.005: 0.21107638590327, 0.03: 15.8107711951548, 0.05: 33.8258677669592}},
        {"OpenSim 3.2, i5-4570": 0.384},
    ),
    Problem(
        "A04 Bricard, 10 s", "bricard", 10,
        {"P3.x": {1: 0.27448131926, 5: 0.999932742301, 10: 0.999730987302},
         "P3.z": {1: -0.46233000269, 5: -6.725543686e-05, 10: -0.00026897651364}},
        {"OpenSim 3.2, i5-4570": 0.258},
    ),
    Problem(
        "A05 governor, 10 s", "governor", 10,
        {"s": {0.5: 0.7432494247863, 1: 0.5014209223796, 2: 0.5059092942967, 5: 0.5355631037216, 10: 0.6196229170613}},
        {"OpenSim 3.2, i5-4570": 0.233}, "bdf",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One problem, run: the largest error against the reference, drift, and seconds of the run."""

    problem: Problem
    error: float
    drift: dict[str, float | None]
    steps: int
    seconds: float


def error_of(problem: Problem, run: Solution) -> float:
    """The largest difference from the reference values."""
    return max(
        abs(float(run[name][np.flatnonzero(np.isclose(run.t, time, rtol=1e-12))[0]]) - value)
        for name, values in problem.reference.items()
        for time, value in values.items()
    )


def measure(problem: Problem, repeats: int = 3, native: bool = True) -> Row:
    """Run a problem, with the least time of some runs."""
    mechanism = problem.mechanism()
    times = sorted({0.0, problem.duration, *(time for values in problem.reference.values() for time in values)})
    once: Callable[[], Solution] = lambda: simulate(  # noqa: E731
        mechanism, problem.duration, method=problem.method, rtol=problem.rtol, atol=problem.rtol, times=times,
        native=native, progress=False,
    )  # fmt: skip
    best = min((once() for _ in range(repeats)), key=_seconds)
    return Row(problem, error_of(problem, best), dict(best.drift), best.statistics.steps, _seconds(best))


def _seconds(run: Solution) -> float:
    return run.statistics.seconds - run.statistics.loading


def _line(row: Row) -> str:
    energy = row.drift["energy"]
    drift_text = "-" if energy is None else f"{energy:.1e}"
    published = ", ".join(f"{seconds:g} s ({code})" for code, seconds in row.problem.published.items()) or "-"
    return (
        f"| {row.problem.title} | {row.error:.1e} | {row.drift['position']:.0e} | {drift_text} | {row.steps} | "
        f"{1e3 * row.seconds:.2f} ms | {published} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks iftomm", description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure(problem) for problem in PROBLEMS]
    if given.json:
        facts = [
            {"problem": one.problem.title, "error": one.error, "drift": one.drift, "steps": one.steps,
             "seconds": one.seconds, "published": one.problem.published}
            for one in rows
        ]  # fmt: skip
        print(json.dumps(facts))
        return
    print("| problem | largest error | loops open | energy | steps | time of the run | published |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(map(_line, rows)))


if __name__ == "__main__":
    main()
