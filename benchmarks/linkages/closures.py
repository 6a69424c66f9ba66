"""Ways to close loops: multipliers, partitioning and closed forms, loops cut at one joint or another, and the choice.

    python -m benchmarks closures [--models four-bar,slider-crank] [--all-cuts] [--effort quick] [--json]

All ways are proved equal before they are measured. Models that roll or glide are partitioned by quasi-velocities.
Times are of single calls, in turns, the best of many short bursts; only their ratios mean something. Estimated
nanoseconds are estimated cycles times one factor, the same for all rows. `difference` is the largest relative one to
the first way. The last table says which way `closure="fastest"` takes and how it compares with the fastest measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median

import numpy as np

from benchmarks.closed_loops import own_timer
from benchmarks.linkages.states import moving_states
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.bind import straight_kernel
from kinegraph.compiler.closures import ClosureCandidate, candidates, finished
from kinegraph.compiler.mechanism_source import load
from kinegraph.compiler.request import Request, request_of
from kinegraph.compiler.stored import resolve_closure
from kinegraph.derive.plan import Closure
from kinegraph.errors import DerivationError
from kinegraph.io.language.reader import parse
from kinegraph.io.language.writer import write
from kinegraph.model.mechanism import Mechanism
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.solve.problem import Floats

MODELS = (
    "four-bar", "slider-crank", "spatial-slider-crank", "andrews", "3-rrr", "planar-3rrr", "bricard", "governor",
    "rackovic-14r-double", "delta", "n-four-bar-1", "n-four-bar-2", "n-four-bar-4", "loop-4", "loop-5", "loop-6",
    "loop-8", "loop-12", "loop-16", "knife-edge", "rolling-disc", "bicycle",
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
#: A choice this much slower than the fastest measured is as good.
CLOSE = 1.1


@dataclass(frozen=True)
class Row:
    """One way to close the loops of one model. `cycles` is the estimate by which the fastest is chosen."""

    model: str
    closure: str
    cut: tuple[str, ...]
    chosen: bool
    mul: int
    add: int
    div: int
    sqrt: int
    sines: int
    cycles: float
    nanoseconds: float
    difference: float


def measured(model: str, effort: str = "quick", all_cuts: bool = True) -> list[Row]:
    """All ways there are, measured in turns at the same states."""
    mechanism = load(model)
    if model in QUASI_VELOCITIES:
        mechanism = parse(write(mechanism) + QUASI_VELOCITIES[model])
    request = request_of(mechanism, "qdd", numeric=True, effort=effort)
    choice = resolve_closure(replace(request, closure=Closure.FASTEST), ())
    kernels = _kernels(request, all_cuts, choice)
    times, results = _times(mechanism, list(kernels.values()))
    rows = []
    for (way, kernel), time, found in zip(kernels.items(), times, results, strict=True):
        n = kernel.operations
        assert n is not None
        difference = float(np.max(np.abs(found - results[0])) / np.max(np.abs(results[0])))
        chosen = (way.closure, way.cut) == (choice.closure, choice.cut)
        rows.append(
            Row(model, way.closure.value, way.cut, chosen, n.mul, n.add, n.div, n.sqrt, n.sin + n.cos, way.cycles,
                time, difference)
        )  # fmt: skip
    return rows


def _kernels(request: Request, all_cuts: bool, choice: Request) -> dict[ClosureCandidate, Kernel]:
    """Every way that can be derived, with its kernel; ways with one and the same code once."""
    found: dict[ClosureCandidate, Kernel] = {}
    for closure, cut in candidates(request):
        if cut and not all_cuts and (closure, cut) != (choice.closure, choice.cut):
            continue
        try:
            way = finished(request, ClosureCandidate(closure, cut, 0.0), ())
            found[way] = straight_kernel(replace(request, closure=closure, cut=cut))
        except DerivationError:
            continue
    return found


def _times(mechanism: Mechanism, kernels: Sequence[Kernel]) -> tuple[list[float], list[Floats]]:
    """Nanoseconds of a call, and results, at the same states."""
    states = moving_states(mechanism, _ROWS, forced=True)
    timers = [own_timer(kernel, states) for kernel in kernels]
    times = [float("inf")] * len(timers)
    for _ in range(_ROUNDS):
        times = [min(best, timed()) for best, timed in zip(times, timers, strict=True)]
    split = [len(mechanism.layout.positions), len(mechanism.layout.positions) + len(mechanism.layout.velocities)]
    return times, [np.array([np.asarray(kernel(*np.split(row, split))) for row in states]) for kernel in kernels]


def main(models: Sequence[str] = MODELS, effort: str = "quick", all_cuts: bool = False, as_json: bool = False) -> None:
    """Print a row for every way of every model, and one for every choice."""
    rows = [row for model in models for row in measured(model, effort, all_cuts)]
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    factor = median(row.nanoseconds / row.cycles for row in rows)
    print(f"accelerations of mechanisms with loops, effort {effort}; {cpu_model()}")
    print("| model | closure | cut | mul | add | div | sqrt | sin, cos | estimated ns | ns a call | difference |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        counts = f"{r.mul} | {r.add} | {r.div} | {r.sqrt} | {r.sines}"
        times = f"{factor * r.cycles:.1f} | {r.nanoseconds:.1f} | {r.difference:.0e}"
        print(f"| {r.model} | {r.closure} | {_cut(r)} | {counts} | {times} |")
    _print_choices(rows, factor)


def _cut(row: Row) -> str:
    return ", ".join(row.cut) or "as stated"


def _print_choices(rows: Sequence[Row], factor: float) -> None:
    """How the way that was chosen compares with the fastest that was measured."""
    print("\n| model | chosen | cut | estimated ns | ns a call | fastest measured | cut | ns a call | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    close = 0
    models = list(dict.fromkeys(row.model for row in rows))
    for model in models:
        own = [row for row in rows if row.model == model]
        chosen, best = next(row for row in own if row.chosen), min(own, key=lambda row: row.nanoseconds)
        ratio = chosen.nanoseconds / best.nanoseconds
        close += ratio <= CLOSE
        took = f"{chosen.closure} | {_cut(chosen)} | {factor * chosen.cycles:.1f} | {chosen.nanoseconds:.1f}"
        print(f"| {model} | {took} | {best.closure} | {_cut(best)} | {best.nanoseconds:.1f} | {ratio:.2f} |")
    print(f"\n{close} of {len(models)} choices are within 10 % of the fastest measured")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks closures", description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default=",".join(MODELS), help="names of the library, separated by commas")
    parser.add_argument("--effort", default="quick", help="how hard operations are saved: quick, normal")
    parser.add_argument("--all-cuts", action="store_true", help="measure all other cuts too, not the chosen one alone")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    main(given.models.split(","), given.effort, given.all_cuts, given.json)
