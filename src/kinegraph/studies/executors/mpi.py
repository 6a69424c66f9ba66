"""Ranks of MPI: `mpiexec -n 8 python my_study.py`. Rank 0 hands out chunks and keeps the results, all others work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import Executor as FuturesExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from kinegraph.extras import extra
from kinegraph.studies.executors.executor import Finished, S, Work
from kinegraph.studies.executors.threads import Threads
from kinegraph.studies.running.cases import CaseTable

_AHEAD = 2  # chunks under way for each rank that works
_present: list[Work] = []  # what this rank is working on


class Communicator(Protocol):
    """What is used of a communicator of mpi4py."""

    @property
    def rank(self) -> int:
        """The number of this process."""
        ...

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def bcast(self, obj: S, root: int = 0) -> S:
        """What one rank has, on every rank."""
        ...


@dataclass(frozen=True)
class Mpi:
    """All ranks of a communicator; None takes that of the whole program. Every rank runs the same study."""

    communicator: Communicator | None = None

    @property
    def ranks(self) -> Communicator:
        """The communicator."""
        everyone: Communicator = self.communicator or extra("mpi4py.MPI", "a study over MPI").COMM_WORLD
        return everyone

    @property
    def leads(self) -> bool:
        """Rank 0 keeps the results."""
        return self.ranks.rank == 0

    def shared(self, found: S | None) -> S:
        """The results of rank 0, on every rank."""
        everywhere = self.ranks.bcast(found, root=0)
        assert everywhere is not None  # rank 0 found something
        return everywhere

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """On rank 0 the chunks as they are finished; on all other ranks nothing, when rank 0 is done."""
        ranks = self.ranks
        if ranks.size == 1:
            yield from Threads(1).run(work, chunks)
            return
        futures = extra("mpi4py.futures", "a study over MPI")
        _present.append(ranks.bcast(work, root=0))  # every rank has the work from now on: only numbers are sent
        try:
            with futures.MPICommExecutor(ranks, root=0) as pool:
                if pool is not None:
                    yield from _handed_out(pool, iter(chunks), _AHEAD * (ranks.size - 1))
        finally:
            _present.pop()


def _handed_out(pool: FuturesExecutor, waiting: Iterator[int], room: int) -> Iterator[Finished]:
    running: dict[Future[CaseTable], int] = {}
    try:
        while True:
            for chunk in islice(waiting, room - len(running)):
                running[pool.submit(_table, chunk)] = chunk
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


def _table(chunk: int) -> CaseTable:
    """What a rank does."""
    return _present[-1].table(chunk)
