"""Effort levels, the budget and schedule of a search, the protocol of a pass, and the cost that ranks graphs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.interrupt import Interrupt


class Effort(Enum):
    """How long `reduce` may take: about a second, half a minute, or as long as it is told."""

    QUICK = "quick"
    NORMAL = "normal"
    SEARCH = "search"


#: Passes that take a fraction of a second, for code that is wanted at once: nothing is written out to be searched.
AT_ONCE = "trigonometric_identities, fast_extract"


@dataclass(frozen=True)
class Annealing:
    """The schedule: temperatures in operations, iterations of one cooling, after which it starts anew from the best."""

    start: float = 0.5
    end: float = 0.2
    cycle: int = 10000
    noise: float = 1.5
    largest: int = 120
    switch: float = 0.25
    rewrite: float = 0.6
    function_weight: float = 0.25


@dataclass(frozen=True)
class Budget:
    """How long a search goes on: work counts changed terms with their neighbors, the same on every machine.

    It ends early, with the best it has, once an interrupt is requested; Ctrl-C is such a request.
    """

    work: int | None = None
    seconds: float | None = None
    interrupt: Interrupt = field(default_factory=Interrupt, compare=False, repr=False)

    def part(self, number: int) -> Budget:
        """One of so many equal parts."""
        work = None if self.work is None else max(1, self.work // number)
        return replace(self, work=work, seconds=None if self.seconds is None else self.seconds / number)


class Pass(Protocol):
    """A rewriting of graphs that keeps what they compute."""

    @property
    def name(self) -> str:
        """What the pass is called in pipelines and reports."""
        ...

    def apply(self, graph: Graph) -> Graph:
        """The graph after the pass; the same object if nothing changed."""
        ...


@dataclass(frozen=True)
class PassReport:
    """What one pass did to the operation count, and the largest exponent it left."""

    name: str
    before: Operations
    after: Operations
    seconds: float
    largest_exponent: int = 1


@dataclass(frozen=True)
class PassSequence:
    """Passes one after the other under one name."""

    name: str
    steps: tuple[Pass, ...]

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        for step in self.steps:
            graph = step.apply(graph)
        return graph


#: Time of a sine, cosine, division or root in units of a multiplication, as measured for compiled kernels.
FUNCTION_TIME = 8


def running_time(operations: Operations) -> int:
    """A rough measure of how long a kernel takes."""
    o = operations
    return o.total + FUNCTION_TIME * (o.sin + o.cos + o.div + o.sqrt + 2 * o.other)


def rank(operations: Operations) -> tuple[int, int]:
    """What is minimized: multiplications and additions, then the rest."""
    o = operations
    return o.total, o.div + o.sqrt + o.sin + o.cos + o.other


def cheapest(*graphs: Graph) -> Graph:
    """The graph of the least rank, the first of equal ones."""
    return min(graphs, key=lambda graph: rank(count(graph)))
