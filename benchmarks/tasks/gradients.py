"""Derivatives of a run's end by many parameters: forwards (variational equations) and backwards (adjoint), in one run.

    python -m benchmarks gradients [--json]

A chain of N rods with N masses and N lengths as parameters, one result, interpreted and compiled code for both.
Times are the shortest of some runs without compiling; only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

import numpy as np

from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.simulate.run import save_at
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.tasks.differentiated_run import DifferentiatedRun, RunSettings, formulas
from kinegraph.tasks.gradient import INTERVALS, backwards

LINKS = (1, 4, 8, 12)
DURATION = 5.0
_REPEATS = 3


@dataclass(frozen=True)
class Row:
    """Seconds of both ways for a number of parameters, and the largest relative difference of their results."""

    parameters: int
    forwards: float
    backwards: float
    difference: float


def chain(links: int) -> Mechanism:
    """Point masses on rods that hang from each other."""
    numbers = range(1, links + 1)
    lines = [
        f"model chain-{links};",
        f"parameters {', '.join(f'm{k} = 1, l{k} = 1' for k in numbers)};",
        f"coordinates {', '.join(f'q{k} = {0.2 / k:.3f}' for k in numbers)};",
        "gravity 0, 0, -9.81;",
        "Rod1 | Ry(q1) | Sz(-l1), m(m1);",
        *(f"Rod{k}~Rod{k - 1} | Sz(-l{k - 1}), Ry(q{k}) | Sz(-l{k}), m(m{k});" for k in numbers[1:]),
        f"output tip = Rod{links} (0, 0, -l{links});",
    ]
    return parse("\n".join(lines))


def measure(links: int) -> Row:
    """Both ways with compiled code; equations are compiled before the time is taken."""
    mechanism = chain(links)
    by = tuple(one.name for one in mechanism.parameters)
    settings = RunSettings(Adaptive(1e-10, None), native=True, progress=False)
    run = DifferentiatedRun(mechanism, by, settings, formulas(["tip.x"], "results"))
    span = 0.0, DURATION
    ahead = [run.at(run.values, span, save_at(1, span)) for _ in range(_REPEATS)]
    back = [backwards(run, span, INTERVALS) for _ in range(_REPEATS)]
    one, two = ahead[-1].derivatives[-1], back[-1].derivatives
    size = float(np.abs(one).max())
    forwards = min(row.statistics.seconds for row in ahead)
    return Row(len(by), forwards, min(row.seconds for row in back), float(np.abs(one - two).max()) / size)


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks gradients", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    as_json = parser.parse_args().json
    rows = [measure(links) for links in LINKS]
    if as_json:
        print(json.dumps({"processor": cpu_model(), "rows": [asdict(row) for row in rows]}))
        return
    print(f"{cpu_model()}: one result of a {DURATION:g} s run by all masses and lengths of a chain")
    print("parameters   forwards ms   backwards ms   ratio   difference")
    for row in rows:
        print(
            f"{row.parameters:10}   {1e3 * row.forwards:11.2f}   {1e3 * row.backwards:12.2f}   "
            f"{row.forwards / row.backwards:5.2f}   {row.difference:.0e}"
        )


if __name__ == "__main__":
    main()
