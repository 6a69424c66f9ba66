"""What runs pieces of work. An executor knows nothing of results, files or statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias, TypeVar

from kinegraph.studies.plan import Plan
from kinegraph.studies.running.cases import CaseTable, runner_of

Finished: TypeAlias = "tuple[int, CaseTable]"
S = TypeVar("S")


class Alone:
    """Of executors whose driver is one process."""

    leads = True

    def shared(self, found: S | None) -> S:
        """What was found."""
        assert found is not None
        return found


class Executor(Protocol):
    """Runs chunks of a plan."""

    @property
    def leads(self) -> bool:
        """Whether this process keeps the results; others of the same study only work."""
        ...

    def shared(self, found: S | None) -> S:
        """The results, as the process that leads has them."""
        ...

    def run(self, plan: Plan, chunks: Iterable[int]) -> Iterator[Finished]:
        """Chunks with their cases, in the order in which they are finished, each once.

        Chunks are taken from the iterable as there is room for them. Closing the iterator ends all work that is under
        way; what that leaves half done is not given out.
        """
        ...


def run_chunk(plan: Plan, chunk: int) -> CaseTable:
    """One piece of work, in whatever process; the plan's equations and kernels are made once in each."""
    return runner_of(plan).run(*plan.cases_of(chunk))
