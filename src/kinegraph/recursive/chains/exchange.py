"""Chains computed serially, on threads or on MPI ranks, and the sums over all workers as C functions."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kinegraph.extras import Foreign
from kinegraph.jit.engine import Glue
from kinegraph.recursive.arrays import Floats, Integers

# Who computes which chains, and how what they hand over is added up: here, on threads, or on the ranks of MPI.


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


# Sums over all workers as C functions, for compiled runs of chains: through memory that threads share, or through MPI.
#
# Workers add in one order, so that all of them go on with the same bits.

_HEAD = "define void @kinegraph_glue(ptr %x, ptr %y)"
_SPINS = 2000  # of a thread that waits, before it lets others run


class Total(Protocol):
    """Code that adds up a message of all workers in place: `void f(double *message, double *message)`."""

    @property
    def address(self) -> int:
        """Where it begins; 0 where there is nothing to add."""
        ...

    @property
    def waiting(self) -> float:
        """Seconds spent in it so far."""
        ...


@dataclass(frozen=True)
class SerialTotal:
    """One worker has all there is."""

    address: int = 0
    waiting: float = 0.0


class SharedMemoryTotal:
    """The sum of one of some threads: each writes its message beside those of the others, and waits for them.

    Messages of two rounds stand side by side, so that nobody overwrites what another still reads.
    """

    def __init__(self, shared: Floats, counter: Integers, worker: int) -> None:
        _, workers, size = shared.shape
        self._round = np.zeros(1, dtype=np.int64)
        self._memory = shared, counter
        self._glue = Glue(_in_memory(shared, counter, self._round, worker, workers, size))
        self.address, self.waiting = self._glue.address, 0.0


def shared_memory(workers: int, size: int) -> tuple[Floats, Integers]:
    """What threads share: messages by round, worker and entry, and how many messages were written."""
    return np.zeros((2, workers, size)), np.zeros(1, dtype=np.int64)


class MpiTotal:
    """The sum over all ranks of a communicator of mpi4py, by MPI's own function; None of it is Python."""

    def __init__(self, communicator: Foreign, size: int) -> None:
        from mpi4py import MPI  # an extra: only who computes on ranks has it

        library = ctypes.CDLL(MPI.__file__)
        self._seconds = np.zeros(1)
        reduce, clock = (_address(getattr(library, name)) for name in ("MPI_Allreduce", "MPI_Wtime"))
        handles = [_handle(MPI, one) for one in (MPI.DOUBLE, MPI.SUM, communicator)]
        self._glue = Glue(_by_message(reduce, clock, int(MPI.IN_PLACE), size, handles, self._seconds))
        self.address = self._glue.address

    @property
    def waiting(self) -> float:
        """Seconds spent in messages so far."""
        return float(self._seconds[0])


def _address(function: object) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]


def _handle(mpi: Foreign, one: Foreign) -> str:
    """A handle of MPI as LLVM writes it: an integer with MPICH, a pointer with Open MPI."""
    size = int(mpi._sizeof(one))
    value = int.from_bytes(ctypes.string_at(mpi._addressof(one), size), "little")
    return f"i32 {value}" if size == 4 else f"ptr inttoptr (i64 {value} to ptr)"


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"


def _by_message(reduce: int, clock: int, place: int, size: int, handles: list[str], seconds: Floats) -> str:
    given = f"ptr {_pointer(place)}, ptr %x, i32 {size}, {', '.join(handles)}"
    spent = f"ptr {_pointer(seconds.ctypes.data)}"
    lines = [
        f"%begun = call double {_pointer(clock)}()",
        f"%said = call i32 {_pointer(reduce)}({given})",
        f"%ended = call double {_pointer(clock)}()",
        "%took = fsub double %ended, %begun",
        f"%before = load double, {spent}",
        "%after = fadd double %before, %took",
        f"store double %after, {spent}",
        "ret void",
    ]
    return "\n".join([f"{_HEAD} {{", *lines, "}", ""])


def _in_memory(shared: Floats, counter: Integers, count: Integers, worker: int, workers: int, size: int) -> str:
    give_way = _address(ctypes.CDLL(None).sched_yield) if os.name == "posix" else 0
    resting = [f"%rested = call i32 {_pointer(give_way)}()"] if give_way else []
    base, arrived, round_ = (f"ptr {_pointer(one.ctypes.data)}" for one in (shared, counter, count))
    lines = [
        f"%round = load i64, {round_}",
        "%odd = and i64 %round, 1",
        f"%first = mul i64 %odd, {workers * size}",
        f"%mine = getelementptr double, {base}, i64 %first",
        f"%own = getelementptr double, ptr %mine, i64 {worker * size}",
        f"call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %x, i64 {8 * size}, i1 false)",
        f"%others = atomicrmw add {arrived}, i64 1 seq_cst",
        "%next = add i64 %round, 1",
        f"store i64 %next, {round_}",
        f"%all = mul i64 %next, {workers}",
        "br label %wait",
        *_waiting(arrived, resting),
        *_adding(workers, size),
    ]
    declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    return "\n".join([declared, f"{_HEAD} {{", *lines, "}", ""])


def _waiting(arrived: str, resting: list[str]) -> list[str]:
    """Until all messages of this round are there; after many tries let others run."""
    return [
        "wait:",
        "%tries = phi i64 [0, %0], [%again, %turn]",
        f"%now = load atomic i64, {arrived} seq_cst, align 8",
        "%there = icmp uge i64 %now, %all",
        "br i1 %there, label %add, label %rest",
        "rest:",
        "%again = add i64 %tries, 1",
        f"%part = urem i64 %again, {_SPINS}",
        "%tired = icmp eq i64 %part, 0",
        "br i1 %tired, label %yield, label %turn",
        "yield:",
        *resting,
        "br label %turn",
        "turn:",
        "br label %wait",
    ]


def _adding(workers: int, size: int) -> list[str]:
    """The messages of all workers entry by entry, in the order of the workers."""
    sums = []
    for k in range(workers):
        before = f"%s{k - 1}" if k else "0.0"
        sums += [
            f"%at{k} = add i64 %i, {k * size}",
            f"%p{k} = getelementptr double, ptr %mine, i64 %at{k}",
            f"%v{k} = load double, ptr %p{k}",
            f"%s{k} = fadd double {before}, %v{k}",
        ]
    return [
        "add:",
        "%i = phi i64 [0, %wait], [%j, %add]",
        *sums,
        "%to = getelementptr double, ptr %x, i64 %i",
        f"store double %s{workers - 1}, ptr %to",
        "%j = add i64 %i, 1",
        f"%done = icmp eq i64 %j, {size}",
        "br i1 %done, label %end, label %add",
        "end:",
        "ret void",
    ]
