"""Long runs of loops: how far they open over a million steps, and how well energy is kept.

python -m benchmarks long-runs [--steps 1000000]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

from kinegraph.compiler.mechanism_source import mechanism_of
from kinegraph.simulate.run import simulate

#: Conservative loops, and how long each is run.
CONSERVATIVE = {
    "four-bar": 200.0,
    "slider-crank": 200.0,
    "spatial-slider-crank": 50.0,
    "bricard": 100.0,
    "n-four-bar-2": 60.0,
}

#: Loops that RATTLE is run on, and its steps.
SYMPLECTIC = {"four-bar": 5e-3, "bricard": 5e-3, "n-four-bar-2": 2e-3}


@dataclass(frozen=True)
class Row:
    """One run: what loops miss at saved times, before and after they were closed, and the energy's relative change."""

    model: str
    method: str
    steps: int
    position: float
    velocity: float
    position_integrating: float
    energy: float | None
    seconds: float


def measure(model: str, duration: float, method: str = "dop853", step: float | None = None, rtol: float = 1e-11) -> Row:
    """Run a model with machine code; states are saved at a thousand times."""
    run = simulate(
        mechanism_of(model), duration, method=method, step=step, rtol=rtol, atol=1e-12, native=True, progress=False
    )
    drift, cost = run.drift, run.statistics
    position, velocity, integrating = (drift[name] or 0.0 for name in ("position", "velocity", "position integrating"))
    seconds = cost.seconds - cost.loading
    return Row(model, run.method, cost.steps, position, velocity, integrating, drift["energy"], seconds)


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks long-runs", description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of fixed length of the first run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure("four-bar", given.steps * 1e-3, "rk4", 1e-3)]
    rows += [measure(model, duration) for model, duration in CONSERVATIVE.items()]
    rows += [measure(model, given.steps * step, "symplectic", step) for model, step in SYMPLECTIC.items()]
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print("| model | method | steps | open by position | by velocity | before closing | energy | time |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        energy = "-" if row.energy is None else f"{row.energy:.1e}"
        gaps = f"{row.position:.0e} | {row.velocity:.0e} | {row.position_integrating:.0e}"
        print(f"| {row.model} | {row.method} | {row.steps} | {gaps} | {energy} | {row.seconds:.2f} s |")


if __name__ == "__main__":
    main()
