"""Kernels of several copies of the source, in turn: `python -m benchmarks kernels-in-turn --source DIR`.

Every copy compiles in processes of its own, as `kg.compile` does it at quick effort; then each runs a short burst in
turn, many times, and the shortest one counts. So all see the same machine, and a difference of a few per cent shows.
Each copy has several processes, for where the system puts their memory is chance. The instructions of the machine
code do not vary: times that differ where these do not are noise, or another order of the same instructions.
`--code` times nothing and compares the machine code itself, instruction by instruction, on however busy a machine.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table

#: What is compiled: model and quantities. Small ones show what calls and batches themselves cost.
CASES = (
    ("double-pendulum", "tau"), ("double-pendulum", "qdd"), ("heavy-top", "tau"), ("heavy-top", "qdd"),
    ("free-body", "qdd"), ("puma560", "tau"), ("puma560", "H"), ("puma560", "qdd"), ("stanford", "tau"),
    ("stanford", "qdd"), ("rackovic-14r", "tau"), ("rackovic-6r", "H,C,gravity"), ("four-bar", "qdd"),
    ("slider-crank", "qdd"), ("spatial-slider-crank", "qdd"), ("andrews", "qdd"), ("bricard", "qdd"), ("loop-8", "qdd"),
    ("loop-16", "qdd"), ("planar-3rrr", "qdd"), ("delta", "qdd"), ("stewart", "qdd"), ("stewart", "tau"),
    ("hunt", "qdd"), ("docking-two-spacecraft", "qdd"),
)  # fmt: skip

#: Times that differ by less than this part are taken to be the same.
SAME = 0.03


@dataclass(frozen=True)
class Timing:
    """Operations of a kernel, instructions of its code for one state and for batches, and nanoseconds per call and per
    state of a batch."""

    mul: int
    add: int
    call_instructions: int
    batch_instructions: int
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

    def times_of(self, *words: str) -> list[float]:
        """The worker's numbers for a request."""
        found: list[float] = self._answer(*words)
        return found

    def code_of(self, model: str, quantities: str) -> list[str]:
        """The machine code of a kernel, for one state and for batches."""
        self._answer("compile", model, quantities)
        found: list[str] = self._answer("code")
        return found

    def _answer(self, *words: str) -> Any:
        answer = _pipe(self.process.stdout)
        request = _pipe(self.process.stdin)
        request.write(json.dumps(words) + "\n")
        request.flush()
        line = answer.readline()
        if not line:
            raise RuntimeError(f"the process for {' '.join(words)} ended with code {self.process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        _pipe(self.process.stdin).close()
        self.process.wait()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def compared(copies: Sequence[Sequence[Worker]], model: str, quantities: str, rounds: int) -> Comparison:
    """One kernel, timed in turn; each copy of the source is given by its processes."""
    sizes = [[worker.times_of("compile", model, quantities) for worker in workers] for workers in copies]
    bursts: list[list[list[float]]] = [[] for _ in copies]
    for _ in range(rounds):
        for turn in zip(*copies, strict=True):
            for worker, found in zip(turn, bursts, strict=True):
                found.append(worker.times_of("time"))
    timings = tuple(_timing(first, found) for (first, *_), found in zip(sizes, bursts, strict=True))
    return Comparison(model, quantities, timings)


def _timing(sizes: Sequence[float], bursts: Sequence[Sequence[float]]) -> Timing:
    mul, add, call, batch = map(int, sizes)
    return Timing(mul, add, call, batch, min(one[0] for one in bursts), min(one[1] for one in bursts))


def ratio(before: float, after: float) -> str:
    """The part by which a time grew, marked where it is more than noise."""
    change = after / before - 1
    return f"{100 * change:+.1f} %" + (" longer" if change > SAME else "")


def table(found: Sequence[Comparison]) -> Table:
    """Before (the last copy) beside after (this one); code: its instructions."""
    columns = ("model", "quantities", "mul+add", "call, ns", "", "code", "batch, ns a state", "", "code")
    printed = Table(*columns, box=None, pad_edge=False)
    for one in found:
        after, before = one.timings[0], one.timings[-1]
        operations = f"{before.mul}+{before.add} -> {after.mul}+{after.add}"
        higher = " higher" if after.mul > before.mul or after.add > before.add else ""
        printed.add_row(
            one.model, one.quantities, operations + higher,
            f"{before.call:.1f} -> {after.call:.1f}", ratio(before.call, after.call),
            f"{before.call_instructions} -> {after.call_instructions}",
            f"{before.batch:.2f} -> {after.batch:.2f}", ratio(before.batch, after.batch),
            f"{before.batch_instructions} -> {after.batch_instructions}",
        )  # fmt: skip
    return printed


@dataclass(frozen=True)
class CodeDifference:
    """Instructions before and after, and how many of them are not the same, in their order."""

    before: int
    after: int
    different: int

    @classmethod
    def of(cls, before: str, after: str) -> CodeDifference:
        """The difference of two texts of machine code."""
        old, new = before.split("\n"), after.split("\n")
        if old == new:
            return cls(len(old), len(new), 0)
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return cls(len(old), len(new), max(len(old), len(new)) - sum(block.size for block in blocks))

    def __str__(self) -> str:
        told = "same code" if self.different == 0 else f"{self.different} differ"
        return f"{self.before} -> {self.after}, {told}"


def code_table(copies: Sequence[Worker], cases: Sequence[tuple[str, str]]) -> Table:
    """The machine code of the last copy beside that of the first, for every case."""
    printed = Table("model", "quantities", "instructions of a call", "of batches", box=None, pad_edge=False)
    for model, quantities in cases:
        after, *_, before = (worker.code_of(model, quantities) for worker in copies)
        found = (CodeDifference.of(old, new) for old, new in zip(before, after, strict=True))
        printed.add_row(model, quantities, *map(str, found))
    return printed


def main(words: Sequence[str] | None = None) -> None:
    """Compare this source with another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="of the cases; all without")
    parser.add_argument("--source", type=Path, required=True, help="a folder with another kinegraph, the one before")
    parser.add_argument("--rounds", type=int, default=300, help="bursts of each process; the shortest one counts")
    parser.add_argument("--processes", type=int, default=3, help="of each copy of the source")
    parser.add_argument("--code", action="store_true", help="compare machine code instead of times")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    chosen = [case for case in CASES if not options.models or case[0] in options.models]
    with tempfile.TemporaryDirectory() as folder:
        sources = (Path(__file__).parents[2] / "src", options.source)
        copies = [
            [Worker(source, f"{folder}/{number}") for _ in range(options.processes)]
            for number, source in enumerate(sources)
        ]
        try:
            if options.code:
                Console(width=180).print(code_table([first for first, *_ in copies], chosen))
                return
            found = [compared(copies, *case, options.rounds) for case in chosen]
        finally:
            for worker in (one for workers in copies for one in workers):
                worker.close()
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        Console(width=180).print(table(found))


if __name__ == "__main__":
    main()
