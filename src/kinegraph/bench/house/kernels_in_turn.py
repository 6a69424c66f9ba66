"""Kernels of several copies of the source, in turn: `kinegraph bench kernels-in-turn --source DIR`.

Every copy compiles in a process of its own, as `kg.compile` does it at quick effort; then each runs a short burst in
turn, many times, and the shortest one counts. So all see the same machine, and a difference of a few per cent shows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.table import Table

#: What is compiled: model and quantities. Small ones show what calls and batches themselves cost.
CASES = (
    ("double-pendulum", "tau"), ("double-pendulum", "qdd"), ("heavy-top", "tau"), ("heavy-top", "qdd"),
    ("free-body", "qdd"), ("puma560", "tau"), ("puma560", "H"), ("puma560", "qdd"), ("stanford", "tau"),
    ("stanford", "qdd"), ("rackovic-14r", "tau"), ("rackovic-6r", "H,C,gravity"),
)  # fmt: skip

#: Times that differ by less than this part are taken to be the same.
SAME = 0.03


@dataclass(frozen=True)
class Timing:
    """Operations of a kernel, and nanoseconds per call and per state of a batch."""

    mul: int
    add: int
    call: float
    batch: float


@dataclass(frozen=True)
class Comparison:
    """One kernel by all copies of the source; the first is this one."""

    model: str
    quantities: str
    timings: tuple[Timing, ...]


class Worker:
    """A process that compiles and times kernels of one copy of the source."""

    def __init__(self, source: Path, cache: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source), "KINEGRAPH_CACHE": cache}
        command = [sys.executable, str(Path(__file__).with_name("worker.py"))]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words: str) -> list[float]:
        """The worker's answer to a request."""
        answer = _pipe(self.process.stdout)
        request = _pipe(self.process.stdin)
        request.write(json.dumps(words) + "\n")
        request.flush()
        line = answer.readline()
        if not line:
            raise RuntimeError(f"the process for {' '.join(words)} ended with code {self.process.wait()}")
        found: list[float] = json.loads(line)
        return found

    def close(self) -> None:
        """End the process."""
        _pipe(self.process.stdin).close()
        self.process.wait()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def compared(workers: Sequence[Worker], model: str, quantities: str, rounds: int) -> Comparison:
    """One kernel, timed in turn."""
    counts = [worker.ask("compile", model, quantities) for worker in workers]
    bursts: list[list[list[float]]] = [[] for _ in workers]
    for _ in range(rounds):
        for worker, found in zip(workers, bursts, strict=True):
            found.append(worker.ask("time"))
    timings = tuple(
        Timing(int(mul), int(add), min(one[0] for one in found), min(one[1] for one in found))
        for (mul, add), found in zip(counts, bursts, strict=True)
    )
    return Comparison(model, quantities, timings)


def ratio(before: float, after: float) -> str:
    """The part by which a time grew, marked where it is more than noise."""
    change = after / before - 1
    return f"{100 * change:+.1f} %" + (" longer" if change > SAME else "")


def table(found: Sequence[Comparison]) -> Table:
    """Before (the last copy) beside after (this one)."""
    shown = Table("model", "quantities", "mul+add", "call, ns", "", "batch, ns a state", "", box=None, pad_edge=False)
    for one in found:
        after, before = one.timings[0], one.timings[-1]
        operations = f"{before.mul}+{before.add} -> {after.mul}+{after.add}"
        higher = " higher" if after.mul > before.mul or after.add > before.add else ""
        shown.add_row(
            one.model, one.quantities, operations + higher,
            f"{before.call:.1f} -> {after.call:.1f}", ratio(before.call, after.call),
            f"{before.batch:.2f} -> {after.batch:.2f}", ratio(before.batch, after.batch),
        )  # fmt: skip
    return shown


def main(words: Sequence[str] | None = None) -> None:
    """Compare this source with another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="of the cases; all without")
    parser.add_argument("--source", type=Path, required=True, help="a folder with another kinegraph, the one before")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    chosen = [case for case in CASES if not options.models or case[0] in options.models]
    with tempfile.TemporaryDirectory() as folder:
        sources = (Path(__file__).parents[3], options.source)
        workers = [Worker(source, f"{folder}/{number}") for number, source in enumerate(sources)]
        try:
            found = [compared(workers, *case, options.rounds) for case in chosen]
        finally:
            for worker in workers:
                worker.close()
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        Console(width=140).print(table(found))


if __name__ == "__main__":
    main()
