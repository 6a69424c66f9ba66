"""Threads of this process: compiled loops do not hold Python's lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.jit.parallel import cores
from kinegraph.studies.executors.executor import Alone, Finished, Work
from kinegraph.studies.running.cases import CaseTable

_LOOK = 0.2  # seconds between two looks whether Ctrl-C was pressed


@dataclass(frozen=True)
class Threads(Alone):
    """So many threads; None takes one for each core, and one where cases are interpreted."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise StudyError(f"threads is {self.count}: give at least one")

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Every thread takes the next chunk when it is done with its last."""
        threads = self.count or (cores() if work.parallel else 1)
        stop = np.zeros(1, dtype=np.int64)
        waiting, running = iter(chunks), dict[Future[CaseTable], int]()
        pool = ThreadPoolExecutor(threads, thread_name_prefix="kinegraph-study")
        try:
            while True:
                for chunk in islice(waiting, threads - len(running)):
                    running[pool.submit(work.table, chunk, stop)] = chunk
                if not running:
                    return
                for future in wait(running, _LOOK, FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            stop[0] = 1
            pool.shutdown(wait=True, cancel_futures=True)
