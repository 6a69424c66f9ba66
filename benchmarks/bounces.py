"""A ball that bounces without loss: by a contact of the model, and by an event that resets its velocity.

python -m benchmarks bounces [--count 1000]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from math import sqrt

from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.run import simulate
from kinegraph.solve.problem import Event
from kinegraph.solve.solution import Solution

_BALL = "model ball; coordinates z = 1; gravity 0, 0, -9.81; Ball | Sz(z) | m(1);"
_CONTACT = "contact floor | z >= 0 | restitution(1);"
_REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One way: bounces, the error of the last one's time, what they cost, the best time of some runs."""

    way: str
    bounces: int
    error: float
    steps: int
    evaluations: int
    seconds: float


def measure(way: str, count: int, native: bool = True, repeats: int = _REPEATS) -> Row:
    """Run the ball until it has bounced so often."""
    ball, events = _way(way)
    fall = sqrt(2 / 9.81)
    runs = [
        simulate(ball, 2 * fall * count, events=events, times=2, native=native, progress=False) for _ in range(repeats)
    ]
    times = _times(runs[0])
    cost = runs[0].statistics
    seconds = min(run.statistics.seconds - run.statistics.loading for run in runs)
    error = abs(times[-1] - fall * (2 * len(times) - 1))
    return Row(way, len(times), error, cost.steps, cost.evaluations, seconds)


def _way(way: str) -> tuple[Mechanism, list[Event]]:
    if way == "contact":
        return parse(_BALL + _CONTACT), []
    return parse(_BALL), [Event("impact", "z", reset={"z'": "-z'"})]


def _times(run: Solution) -> list[float]:
    return [event.time for event in run.events if event.name.endswith("impact")]


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks bounces", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how often the ball bounces")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure(way, given.count) for way in ("contact", "event")]
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print("| way | bounces | error of the last | steps | evaluations | time |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        cost = f"{row.steps} | {row.evaluations} | {1e3 * row.seconds:.1f} ms"
        print(f"| {row.way} | {row.bounces} | {row.error:.0e} s | {cost} |")


if __name__ == "__main__":
    main()
