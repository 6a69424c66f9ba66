"""From a file to a first result: a new process evaluates quantities of a model, with an empty cache and a full one.

`python -m benchmarks first-result --source DIR` measures another copy of the source in turn with this one, so that both
see the same machine. Only ratios mean something. Processor time is that of the process and those it starts: on busy
cores it says more than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

#: What is asked: model and quantities.
CASES = (("double-pendulum", "tau"), ("puma560", "tau,H"), ("stanford", "qdd"), ("rackovic-14r", "tau"))


@dataclass(frozen=True)
class Seconds:
    """How long a process took, by the clock and of the processor."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:6.2f} s (processor {self.processor:5.2f} s)"


@dataclass(frozen=True)
class FirstResult:
    """Seconds of the best of several processes, with an empty cache and with what the one before left."""

    source: str
    model: str
    quantities: str
    cold: Seconds
    cached: Seconds


def evaluated(source: Path, cache: Path, model: str, quantities: str) -> Seconds:
    """Seconds of one process that evaluates quantities at the model's initial state."""
    environment = {**os.environ, "PYTHONPATH": str(source), "KINEGRAPH_CACHE": str(cache)}
    command = [sys.executable, "-m", "kinegraph", "eval", model, "-q", quantities, "--json"]
    begun, before = perf_counter(), processor_of_children()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Seconds(perf_counter() - begun, processor_of_children() - before)


def processor_of_children() -> float:
    """Processor seconds of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def least(runs: Sequence[Seconds]) -> Seconds:
    """The smallest time of each kind."""
    return Seconds(min(one.clock for one in runs), min(one.processor for one in runs))


def measured(sources: Sequence[Path], model: str, quantities: str, repeats: int) -> list[FirstResult]:
    """The times of all sources, one process of each in turn."""
    cold: dict[Path, list[Seconds]] = {source: [] for source in sources}
    cached: dict[Path, list[Seconds]] = {source: [] for source in sources}
    for _ in range(repeats):
        for source in sources:
            with tempfile.TemporaryDirectory() as folder:
                cold[source].append(evaluated(source, Path(folder), model, quantities))
                cached[source].append(evaluated(source, Path(folder), model, quantities))
    return [FirstResult(str(one), model, quantities, least(cold[one]), least(cached[one])) for one in sources]


def main(words: Sequence[str] | None = None) -> None:
    """Measure all cases, of this source and of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="of the cases; all without")
    parser.add_argument("--source", type=Path, action="append", default=[], help="a folder with another kinegraph")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    sources = [Path(__file__).parents[2] / "src", *options.source]
    chosen = [case for case in CASES if not options.models or case[0] in options.models]
    found = [one for case in chosen for one in measured(sources, *case, options.repeats)]
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
        return
    for one in found:
        print(f"{one.model:16} {one.quantities:6} cold {one.cold}, cached {one.cached}  {one.source}")


if __name__ == "__main__":
    main()
