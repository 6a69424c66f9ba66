"""Executors: run the chunks of a study on threads, a Dask cluster, or MPI ranks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures import Executor as FuturesExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from time import monotonic, sleep
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.extras import Foreign, extra
from kinegraph.jit.parallel import cores
from kinegraph.solve.ensemble import Integers
from kinegraph.studies.cases import CaseTable

# Executors run pieces of work. They do not depend on models, results, files or statistics.

Finished: TypeAlias = "tuple[int, CaseTable]"
S = TypeVar("S")


class Work(Protocol):
    """Work in numbered chunks. It is sent to other processes as a recipe, never as an address."""

    @property
    def parallel(self) -> bool:
        """Whether threads of one process can run several chunks at once."""
        ...

    def table(self, chunk: int, stop: Integers | None = None) -> CaseTable:
        """One chunk. stop: an array with one integer; another thread sets it to one to request an early end."""
        ...


class Executor(Protocol):
    """Runs chunks of work."""

    @property
    def leads(self) -> bool:
        """Whether this process collects the results; others of the same study only work."""
        ...

    def shared(self, found: S | None) -> S:
        """The results, as the leading process has them."""
        ...

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Chunks with their cases, in the order in which they finish, each once.

        Chunks are taken from the iterable as capacity allows. Closing the iterator stops all work in progress;
        unfinished chunks are discarded.
        """
        ...


class SerialDriver:
    """Base of executors with a single driver process."""

    leads = True

    def shared(self, found: S | None) -> S:
        """The results."""
        assert found is not None
        return found


def require_sendable(work: Work) -> None:
    """StudyError unless other processes can be sent the work: its Python functions need names."""
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise StudyError(
            f"the study cannot be sent to other processes: {error}\n"
            "  define controllers with `def` or `class` at the top level of a module, not in a function and not as "
            "`lambda`; or run the study on threads"
        ) from error


# Threads of this process: compiled loops release the GIL.

_LOOK = 0.2  # seconds between two checks for Ctrl-C


@dataclass(frozen=True)
class Threads(SerialDriver):
    """A number of threads; None uses one per core, or a single one if cases are interpreted."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise StudyError(f"threads is {self.count}: give at least 1")

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Every thread takes the next chunk when it has finished its last."""
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


# Processes of this machine: for work that holds the GIL.


@dataclass(frozen=True)
class Processes(SerialDriver):
    """A number of processes; None uses one per core. A script that uses them needs `if __name__ == "__main__":`."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise StudyError(f"processes is {self.count}: give at least 1")

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Every process takes the next chunk when it has finished its last."""
        count = self.count or cores()
        waiting, running = iter(chunks), dict[Future[CaseTable], int]()
        require_sendable(work)
        pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
        try:
            while True:
                for chunk in islice(waiting, count - len(running)):
                    running[pool.submit(work.table, chunk)] = chunk
                if not running:
                    return
                for future in wait(running, _LOOK, FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


# MPI ranks: `mpiexec -n 8 python my_study.py`. Rank 0 distributes chunks and collects the results, all others work.

_CHUNKS_PER_RANK = 2  # chunks in progress per working rank
_present: list[Work] = []  # the work of this rank


class Communicator(Protocol):
    """The methods used of an mpi4py communicator."""

    @property
    def rank(self) -> int:
        """The number of this process."""
        ...

    @property
    def size(self) -> int:
        """The number of processes."""
        ...

    def bcast(self, obj: S, root: int = 0) -> S:
        """Broadcast the value of one rank to every rank."""
        ...


@dataclass(frozen=True)
class Mpi:
    """All ranks of a communicator; None uses that of the whole program. Every rank runs the same study."""

    communicator: Communicator | None = None

    @property
    def ranks(self) -> Communicator:
        """The communicator."""
        everyone: Communicator = self.communicator or extra("mpi4py.MPI", "a study over MPI").COMM_WORLD
        return everyone

    @property
    def leads(self) -> bool:
        """Rank 0 collects the results."""
        return self.ranks.rank == 0

    def shared(self, found: S | None) -> S:
        """The results of rank 0, on every rank."""
        everywhere = self.ranks.bcast(found, root=0)
        assert everywhere is not None  # rank 0 raised an error
        return everywhere

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """On rank 0 the chunks as they finish; on all other ranks nothing, once rank 0 is done."""
        ranks = self.ranks
        if ranks.size == 1:
            yield from Threads(1).run(work, chunks)
            return
        futures = extra("mpi4py.futures", "a study over MPI")
        require_sendable(work)
        _present.append(ranks.bcast(work, root=0))  # every rank has the work from now on: only numbers are sent
        try:
            with futures.MPICommExecutor(ranks, root=0) as pool:
                if pool is not None:
                    yield from _handed_out(pool, iter(chunks), _CHUNKS_PER_RANK * (ranks.size - 1))
        finally:
            _present.pop()


def _handed_out(pool: FuturesExecutor, waiting: Iterator[int], room: int) -> Iterator[Finished]:
    running: dict[Future[CaseTable], int] = {}
    try:
        while True:
            for chunk in islice(waiting, room - len(running)):
                running[pool.submit(_table_on_rank, chunk)] = chunk
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


def _table_on_rank(chunk: int) -> CaseTable:
    """The task of a rank."""
    return _present[-1].table(chunk)


# A Dask cluster. The plan is sent to every worker once; a task is the number of a chunk, its result the rows of the
# chunk. Dask repeats the tasks of a lost worker elsewhere. If the scheduler itself is lost, the chunks in progress go
# to the next scheduler at the same address.

_CHUNKS_PER_THREAD = 4  # chunks in progress per thread of the cluster: enough to keep it busy, few for the scheduler
_RETRIES = 100  # a chunk may lose this many workers before it is given up
_CONNECT = 10.0  # seconds to wait for a cluster


class DaskFuture(Protocol):
    """The methods used of a task on the cluster."""

    key: str
    status: str

    def exception(self) -> BaseException:
        """The exception raised by the worker."""
        ...


class DaskScheduler(Protocol):
    """The methods used of a client's scheduler."""

    address: str


class DaskClient(Protocol):
    """The methods used of `distributed.Client`."""

    scheduler: DaskScheduler
    loop: object

    def nthreads(self) -> Mapping[str, int]:
        """Threads by worker."""
        ...

    def scatter(self, data: object, *, broadcast: bool, hash: bool) -> object:
        """Send data to all workers; returns its reference in tasks."""
        ...

    def submit(self, function: Callable[..., CaseTable], *arguments: object, pure: bool, retries: int) -> DaskFuture:
        """Let a worker call a function."""
        ...

    def cancel(self, futures: list[DaskFuture]) -> object:
        """Cancel tasks."""
        ...

    def close(self, timeout: float) -> object:
        """End the connection."""
        ...


@dataclass(frozen=True)
class DaskCluster(SerialDriver):
    """The cluster at an address, or that of a `distributed.Client`; `patience` is the time to wait for a lost
    scheduler, in seconds."""

    cluster: str | DaskClient
    patience: float = 120.0

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Chunks as the cluster finishes them."""
        distributed = extra("distributed", "a study on a Dask cluster")
        connection = _Connection(distributed, self.cluster, self.patience)
        waiting = iter(chunks)
        lost: list[int] = []
        try:
            while True:
                batch = _Batch(connection, work, waiting, lost)
                yield from batch.finished()
                lost = batch.lost
                if not lost:
                    return
                connection.renew()
        finally:
            connection.close()


class _Connection:
    """A client that can reconnect."""

    def __init__(self, distributed: Foreign, cluster: str | DaskClient, patience: float) -> None:
        self.distributed, self.patience = distributed, patience
        self.own = isinstance(cluster, str)
        self.address = cluster if isinstance(cluster, str) else cluster.scheduler.address
        self.client = self._connect(_CONNECT) if isinstance(cluster, str) else cluster

    def _connect(self, seconds: float) -> DaskClient:
        try:
            found: DaskClient = self.distributed.Client(self.address, timeout=seconds, set_as_default=False)
            return found
        except (OSError, ValueError, TimeoutError) as error:
            raise StudyError(
                f"no Dask cluster found at {self.address!r} ({type(error).__name__})\n"
                "  start one: `dask scheduler` and `dask worker ADDRESS`, and give --cluster tcp://HOST:8786"
            ) from None

    def renew(self) -> None:
        """A client of the next scheduler at the address."""
        self.close()
        ends = monotonic() + self.patience
        while True:
            try:
                self.client, self.own = self._connect(5.0), True
                return
            except StudyError:
                if monotonic() > ends:
                    raise StudyError(
                        f"the scheduler at {self.address} was lost and did not return within {self.patience:.0f} s\n"
                        "  finished chunks are saved: run the same study again to continue"
                    ) from None
                sleep(0.5)

    @property
    def threads(self) -> int:
        """The number of threads of all workers."""
        return sum(self.client.nthreads().values()) or 1

    def close(self) -> None:
        if self.own:
            self.client.close(timeout=5)


class _Batch:
    """Chunks in progress on one scheduler; `lost` are those it lost."""

    def __init__(self, connection: _Connection, work: Work, waiting: Iterator[int], first: list[int]) -> None:
        self.connection, self.waiting, self.first = connection, waiting, first
        self.client, self.work = connection.client, work
        self.lost: list[int] = []
        self._under_way: dict[str, int] = {}

    def finished(self) -> Iterator[Finished]:
        """Chunks as they finish, until all have or the scheduler is lost."""
        distributed = self.connection.distributed
        gone = (OSError, TimeoutError, distributed.client.FutureCancelledError)
        futures: Foreign = None
        try:
            recipe = self.client.scatter(self.work, broadcast=True, hash=False)
            room = _CHUNKS_PER_THREAD * self.connection.threads
            first = self._submitted(recipe, [*self.first, *islice(self.waiting, room)])
            futures = distributed.as_completed(
                first, loop=self.client.loop, with_results=True, raise_errors=False
            )  # fmt: skip
            for future, result in futures:
                if future.status not in ("finished", "error"):
                    raise ConnectionError("the scheduler lost a chunk")
                chunk = self._under_way.pop(future.key)
                yield chunk, self._checked(future, result, chunk)
                futures.update(self._submitted(recipe, islice(self.waiting, 1)))
        except gone:
            self.lost = sorted({*self._under_way.values(), *(self.first if futures is None else ())})
        except GeneratorExit:
            self.client.cancel(list(self._futures))
            raise

    _futures: tuple[DaskFuture, ...] = ()

    def _checked(self, future: DaskFuture, result: CaseTable, chunk: int) -> CaseTable:
        """The result; an error raised by a worker is raised here."""
        if future.status == "finished":
            return result
        error = future.exception()
        if isinstance(error, self.connection.distributed.KilledWorker):
            raise StudyError(
                f"chunk {chunk} ended every worker that ran it: it may need more memory than they have\n"
                "  finished chunks are saved: run the same study again with smaller chunks, or with more memory"
            )
        raise error

    def _submitted(self, recipe: object, chunks: Iterable[int]) -> list[DaskFuture]:
        made = []
        for chunk in chunks:
            future = self.client.submit(_table_on_worker, recipe, chunk, pure=False, retries=_RETRIES)
            self._under_way[future.key] = chunk
            made.append(future)
        self._futures = (*self._futures[-1000:], *made)
        return made


def _table_on_worker(work: Work, chunk: int) -> CaseTable:
    """The task of a worker."""
    return work.table(chunk)


# The choice of executor.


def chosen_executor(threads: int | None = None, cluster: str | DaskClient | None = None, mpi: bool = False) -> Executor:
    """Threads of this process, unless a Dask cluster or MPI is named."""
    if sum((threads is not None, cluster is not None, mpi)) > 1:
        raise StudyError("give only one of threads, cluster and mpi")
    if cluster is not None:
        return DaskCluster(cluster)
    return Mpi() if mpi else Threads(threads)
