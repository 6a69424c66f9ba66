"""A Dask cluster. The plan is sent to every worker once; a task is the number of a chunk, its result the chunk's rows.

Dask runs the tasks of a worker that died elsewhere. Where the scheduler itself goes away, the chunks that were under
way are handed to the next scheduler at the same address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from time import monotonic, sleep
from typing import Protocol

from kinegraph.errors import StudyError
from kinegraph.extras import Foreign, extra
from kinegraph.studies.executors.executor import Alone, Finished, Work
from kinegraph.studies.running.cases import CaseTable

_AHEAD = 4  # chunks under way for each thread of the cluster: enough to keep it busy, few for the scheduler
_RETRIES = 100  # a chunk may lose so many workers before it is given up
_CONNECT = 10.0  # seconds to wait for a cluster


class Future(Protocol):
    """What is used of a task on the cluster."""

    key: str
    status: str

    def exception(self) -> BaseException:
        """What the worker raised."""
        ...


class Scheduler(Protocol):
    """What is used of a client's scheduler."""

    address: str


class Client(Protocol):
    """What is used of `distributed.Client`."""

    scheduler: Scheduler
    loop: object

    def nthreads(self) -> Mapping[str, int]:
        """Threads by worker."""
        ...

    def scatter(self, data: object, *, broadcast: bool, hash: bool) -> object:
        """Send data to all workers; what stands for it in tasks."""
        ...

    def submit(self, function: Callable[..., CaseTable], *arguments: object, pure: bool, retries: int) -> Future:
        """Have a worker call a function."""
        ...

    def cancel(self, futures: list[Future]) -> object:
        """Forget tasks."""
        ...

    def close(self, timeout: float) -> object:
        """End the connection."""
        ...


@dataclass(frozen=True)
class DaskCluster(Alone):
    """The cluster at an address, or that of a `distributed.Client`; so many seconds a lost scheduler is waited for."""

    cluster: str | Client
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
    """A client that can be made anew."""

    def __init__(self, distributed: Foreign, cluster: str | Client, patience: float) -> None:
        self.distributed, self.patience = distributed, patience
        self.own = isinstance(cluster, str)
        self.address = cluster if isinstance(cluster, str) else cluster.scheduler.address
        self.client = self._connect(_CONNECT) if isinstance(cluster, str) else cluster

    def _connect(self, seconds: float) -> Client:
        try:
            found: Client = self.distributed.Client(self.address, timeout=seconds, set_as_default=False)
            return found
        except (OSError, ValueError, TimeoutError) as error:
            raise StudyError(
                f"there is no Dask cluster at {self.address!r} ({type(error).__name__})\n"
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
                        f"the scheduler at {self.address} went away and did not come back within "
                        f"{self.patience:.0f} s\n  what was finished is kept: run the same study again to go on"
                    ) from None
                sleep(0.5)

    @property
    def threads(self) -> int:
        """Of all workers."""
        return sum(self.client.nthreads().values()) or 1

    def close(self) -> None:
        if self.own:
            self.client.close(timeout=5)


class _Batch:
    """Chunks under way on one scheduler; `lost` are those it forgot."""

    def __init__(self, connection: _Connection, work: Work, waiting: Iterator[int], first: list[int]) -> None:
        self.connection, self.waiting, self.first = connection, waiting, first
        self.client, self.work = connection.client, work
        self.lost: list[int] = []
        self._under_way: dict[str, int] = {}

    def finished(self) -> Iterator[Finished]:
        """Chunks as they are finished, until all are or the scheduler is lost."""
        distributed = self.connection.distributed
        gone = (OSError, TimeoutError, distributed.client.FutureCancelledError)
        futures: Foreign = None
        try:
            recipe = self.client.scatter(self.work, broadcast=True, hash=False)
            room = _AHEAD * self.connection.threads
            first = self._submitted(recipe, [*self.first, *islice(self.waiting, room)])
            futures = distributed.as_completed(
                first, loop=self.client.loop, with_results=True, raise_errors=False
            )  # fmt: skip
            for future, result in futures:
                if future.status not in ("finished", "error"):
                    raise ConnectionError("the scheduler forgot a chunk")
                chunk = self._under_way.pop(future.key)
                yield chunk, self._checked(future, result, chunk)
                futures.update(self._submitted(recipe, islice(self.waiting, 1)))
        except gone:
            self.lost = sorted({*self._under_way.values(), *(self.first if futures is None else ())})
        except GeneratorExit:
            self.client.cancel(list(self._futures))
            raise

    _futures: tuple[Future, ...] = ()

    def _checked(self, future: Future, result: CaseTable, chunk: int) -> CaseTable:
        """The result; an error that a worker raised is raised here."""
        if future.status == "finished":
            return result
        error = future.exception()
        if isinstance(error, self.connection.distributed.KilledWorker):
            raise StudyError(
                f"chunk {chunk} ended every worker that ran it: it may need more memory than they have\n"
                "  what was finished is kept: run the same study again with smaller chunks, or with more memory"
            )
        raise error

    def _submitted(self, recipe: object, chunks: Iterable[int]) -> list[Future]:
        made = []
        for chunk in chunks:
            future = self.client.submit(_table, recipe, chunk, pure=False, retries=_RETRIES)
            self._under_way[future.key] = chunk
            made.append(future)
        self._futures = (*self._futures[-1000:], *made)
        return made


def _table(work: Work, chunk: int) -> CaseTable:
    """What a worker does."""
    return work.table(chunk)
