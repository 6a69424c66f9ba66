"""Ways to close loops: accelerations by multipliers, by partitioning and by closed forms, operations and times.

    kinegraph bench closures [--models four-bar,slider-crank] [--effort quick] [--json]

All three are proved equal before they are measured. Models that roll or glide are partitioned by quasi-velocities.
Times are of single calls, in turns, the best of many short bursts;
only their ratios mean something. `difference` is the largest relative one to the first way.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.bench.closed_loops import own_timer
from kinegraph.bench.peers.sides.build import cpu_model
from kinegraph.compiler.closures import closure_times
from kinegraph.compiler.compile import compile
from kinegraph.compiler.load import load
from kinegraph.compiler.request import request_of
from kinegraph.derive.quantities.plan import Closure
from kinegraph.io.records.load import parse
from kinegraph.io.records.write import write
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem.problem import Floats

MODELS = (
    "four-bar", "slider-crank", "spatial-slider-crank", "andrews", "3-rrr", "knife-edge", "rolling-disc", "bicycle",
)  # fmt: skip
#: Quasi-velocities in which partitioning writes the equations of models that roll or glide.
QUASI_VELOCITIES = {
    "knife-edge": "quasivelocity u = cos(theta)*x' + sin(theta)*y'; quasivelocity w = theta';",
    "rolling-disc": (
        "quasivelocity wx = lean'; quasivelocity wy = phi' + psi'*sin(lean); quasivelocity wz = psi'*cos(lean);"
    ),
    "bicycle": "quasivelocity wr = roll'; quasivelocity ws = steer'; quasivelocity ww = rear';",
}
_ROWS = 16
_ROUNDS = 40


@dataclass(frozen=True)
class Row:
    """One way to close the loops of one model. `cycles` is the estimate by which the fastest is chosen."""

    model: str
    closure: str
    mul: int
    add: int
    div: int
    sqrt: int
    sines: int
    cycles: float
    nanoseconds: float
    difference: float


def measured(model: str, effort: str = "quick") -> list[Row]:
    """All ways there are, measured in turns at the same states."""
    mechanism = load(model)
    if model in QUASI_VELOCITIES:
        mechanism = parse(write(mechanism) + QUASI_VELOCITIES[model])
    states = _states(mechanism)
    cycles = closure_times(request_of(mechanism, "qdd", numeric=True, effort=effort), ())
    kernels = {closure: compile(mechanism, "qdd", closure=closure, effort=effort) for closure in cycles}
    timers = {closure: own_timer(kernel, states) for closure, kernel in kernels.items()}
    times = dict.fromkeys(kernels, float("inf"))
    for _ in range(_ROUNDS):
        times = {closure: min(times[closure], timed()) for closure, timed in timers.items()}
    split = [len(mechanism.layout.positions), len(mechanism.layout.positions) + len(mechanism.layout.velocities)]
    results = {c: np.array([np.asarray(k(*np.split(row, split))) for row in states]) for c, k in kernels.items()}
    wanted = results[Closure.MULTIPLIERS]
    rows = []
    for closure, kernel in kernels.items():
        n = kernel.operations
        assert n is not None
        difference = float(np.max(np.abs(results[closure] - wanted)) / np.max(np.abs(wanted)))
        rows.append(
            Row(model, closure.value, n.mul, n.add, n.div, n.sqrt, n.sin + n.cos, cycles[closure], times[closure],
                difference)
        )  # fmt: skip
    return rows


def _states(mechanism: Mechanism) -> Floats:
    """Assembled states that move, under random forces: q, v and tau, one row each."""
    assembler = Assembler(mechanism)
    random = np.random.default_rng(1)
    q, v = assembler.start({})
    found = []
    for _ in range(_ROWS):
        place = assembler.assembled(q + random.normal(scale=0.05, size=len(q)), v + random.normal(size=len(v)))
        found.append(np.concatenate([place.q, place.v, random.normal(size=len(v))]))
    return np.array(found)


def main(models: Sequence[str] = MODELS, effort: str = "quick", as_json: bool = False) -> None:
    """Print a row for every way of every model."""
    if as_json:
        print(json.dumps([asdict(row) for model in models for row in measured(model, effort)]))
        return
    print(f"accelerations of mechanisms with loops, effort {effort}; {cpu_model()}")
    print("| model | closure | mul | add | div | sqrt | sin, cos | estimated cycles | ns a call | difference |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for model in models:
        for r in measured(model, effort):
            counts = f"{r.mul} | {r.add} | {r.div} | {r.sqrt} | {r.sines}"
            print(f"| {model} | {r.closure} | {counts} | {r.cycles:.0f} | {r.nanoseconds:.1f} | {r.difference:.0e} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="kinegraph bench closures", description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default=",".join(MODELS), help="names of the library, separated by commas")
    parser.add_argument("--effort", default="quick", help="how hard operations are saved: quick, normal")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    main(given.models.split(","), given.effort, given.json)
