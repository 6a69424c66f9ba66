"""Who computes which chains, and how what they hand over is added up: here, on threads, or on the ranks of MPI."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from kinegraph.extras import Foreign
from kinegraph.large.records import Floats


class Exchange(Protocol):
    """Runs the chains of this process and adds up what all processes hand over."""

    @property
    def workers(self) -> int:
        """Among how many the chains are shared."""
        ...

    @property
    def mine(self) -> Sequence[int]:
        """Which of the workers are in this process."""
        ...

    def each(self, work: Callable[[int], None], numbers: Sequence[Sequence[int]]) -> None:
        """Do this for all numbers; `numbers` are by worker of this process."""
        ...

    def total(self, values: Floats) -> None:
        """Add up the values of all processes, in place."""
        ...


@dataclass(frozen=True)
class Serial:
    """All chains one after the other."""

    workers: int = 1
    mine: Sequence[int] = (0,)

    def each(self, work: Callable[[int], None], numbers: Sequence[Sequence[int]]) -> None:
        """Do all the work here."""
        for number in numbers[0]:
            work(number)

    def total(self, values: Floats) -> None:
        """Nothing: all values are here."""


class Threads:
    """Chains on threads; the loops let go of the interpreter while they run. Threads wait in a pool between calls."""

    def __init__(self, workers: int = 2) -> None:
        self.workers = workers
        self.mine = tuple(range(workers))
        self._pool = ThreadPoolExecutor(workers - 1)

    def each(self, work: Callable[[int], None], numbers: Sequence[Sequence[int]]) -> None:
        """Share the work out to threads and wait for all of them."""

        def one(share: Sequence[int]) -> None:
            for number in share:
                work(number)

        others = [self._pool.submit(one, share) for share in numbers[1:] if share]
        one(numbers[0])
        for other in others:
            other.result()

    def total(self, values: Floats) -> None:
        """Nothing: threads share their memory."""


@dataclass
class Traffic:
    """What was sent: messages, bytes, and the seconds spent sending and waiting."""

    messages: int = 0
    bytes: int = 0
    seconds: float = 0.0


@dataclass
class Ranks:
    """One worker on every rank of a communicator of mpi4py."""

    communicator: Foreign
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def workers(self) -> int:
        """How many processes take part."""
        return int(self.communicator.Get_size())

    @property
    def mine(self) -> Sequence[int]:
        """The number of this process."""
        return (int(self.communicator.Get_rank()),)

    def each(self, work: Callable[[int], None], numbers: Sequence[Sequence[int]]) -> None:
        """Do the share of this process."""
        for number in numbers[0]:
            work(number)

    def begin(self) -> None:
        """Wait for all ranks, and count from here."""
        self.communicator.Barrier()
        self.traffic = Traffic()

    def total(self, values: Floats) -> None:
        """Add up the values of all processes, in all of them."""
        from mpi4py import MPI  # an extra: only who computes on ranks has it

        started = time.perf_counter()
        self.communicator.Allreduce(MPI.IN_PLACE, values, MPI.SUM)
        self.traffic.messages += 1
        self.traffic.bytes += values.nbytes
        self.traffic.seconds += time.perf_counter() - started
