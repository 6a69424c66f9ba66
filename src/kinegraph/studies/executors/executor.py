"""What runs pieces of work. An executor knows nothing of models, results, files or statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias, TypeVar

from kinegraph.solve.batch.cases import Integers
from kinegraph.studies.running.cases import CaseTable

Finished: TypeAlias = "tuple[int, CaseTable]"
S = TypeVar("S")


class Work(Protocol):
    """Work in numbered chunks. It is sent to other processes: as its recipe, never as an address."""

    @property
    def parallel(self) -> bool:
        """Whether threads of one process can do several chunks at once."""
        ...

    def table(self, chunk: int, stop: Integers | None = None) -> CaseTable:
        """One chunk. stop: an array of one integer; set to one by another thread, it asks to end early."""
        ...


class Executor(Protocol):
    """Runs chunks of work."""

    @property
    def leads(self) -> bool:
        """Whether this process keeps the results; others of the same study only work."""
        ...

    def shared(self, found: S | None) -> S:
        """The results, as the process that leads has them."""
        ...

    def run(self, work: Work, chunks: Iterable[int]) -> Iterator[Finished]:
        """Chunks with their cases, in the order in which they are finished, each once.

        Chunks are taken from the iterable as there is room for them. Closing the iterator ends all that is under way;
        what that leaves half done is not given out.
        """
        ...


class Alone:
    """Of executors whose driver is one process."""

    leads = True

    def shared(self, found: S | None) -> S:
        """What was found."""
        assert found is not None
        return found
