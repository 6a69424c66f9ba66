"""Work that takes a known time: what remains of the time a cluster needs is its overhead."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep

import numpy as np

from kinegraph.solve.ensemble import Integers
from kinegraph.studies.cases import CaseTable
from kinegraph.studies.executors import Executor
from kinegraph.studies.storage import write_chunk


@dataclass(frozen=True)
class MockWork:
    """Chunks of so many cases that take so many seconds each, and give so many columns."""

    cases: int
    seconds: float
    columns: int = 12
    parallel: bool = True

    def table(self, chunk: int, stop: Integers | None = None) -> CaseTable:
        """Sleep as long as the cases would take."""
        if self.seconds:
            sleep(self.cases * self.seconds)
        index = np.arange(chunk * self.cases, (chunk + 1) * self.cases)
        columns = {"case": index, "status": np.full(self.cases, "FINISHED")}
        columns |= {f"outcome {k}": index * 1.0 for k in range(self.columns)}
        return CaseTable(chunk * self.cases, columns, np.zeros((self.cases, 0, 0)))


def wall(executor: Executor, work: MockWork, chunks: int) -> float:
    """Seconds until all chunks are there."""
    begun = perf_counter()
    count = sum(1 for _ in executor.run(work, range(chunks)))
    assert count == chunks
    return perf_counter() - begun


def overhead(executor: Executor, work: MockWork, chunks: int, workers: int, rounds: int = 3) -> float:
    """Seconds a case costs beside its own; the least of some rounds."""
    ideal = chunks * work.cases * work.seconds / workers
    best = min(wall(executor, work, chunks) for _ in range(rounds))
    return (best - ideal) * workers / (chunks * work.cases)


def per_task(executor: Executor, chunks: int, rounds: int = 3) -> float:
    """Seconds of a chunk that does nothing: what the scheduler and the driver take for it."""
    return min(wall(executor, MockWork(1, 0.0), chunks) for _ in range(rounds)) / chunks


def processor_per_task(executor: Executor, chunks: int, rounds: int = 3) -> float:
    """Seconds of this process a chunk that does nothing costs; the scheduler of a local cluster is part of it.

    It says the same on a busy machine.
    """
    found = []
    for _ in range(rounds):
        begun = process_time()
        wall(executor, MockWork(1, 0.0), chunks)
        found.append((process_time() - begun) / chunks)
    return min(found)


@dataclass(frozen=True)
class Sizes:
    """Of a row: bytes that are sent and bytes on disk; and the processor's seconds to write one, in large chunks."""

    sent: float
    stored: float
    writing: float


def sizes(rows: int = 1000) -> Sizes:
    """Measured on rows of twelve outcomes."""
    table = MockWork(rows, 0.0).table(0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chunk.npz"
        begun = process_time()
        for _ in range(5):
            write_chunk(path, table)
        seconds = (process_time() - begun) / 5
        return Sizes(len(_pickled(table)) / rows, path.stat().st_size / rows, seconds / rows)


def _pickled(table: object) -> bytes:
    return pickle.dumps(table, protocol=5)
