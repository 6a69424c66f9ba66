"""The passes of each effort as data: routes through a graph, each a tuple of passes, of which the cheapest is kept.

`print(*routes(Effort.NORMAL), sep="\\n")` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind
from kinegraph.passes.analytic.expansion import Limits
from kinegraph.passes.by_name import passes_text
from kinegraph.passes.expand import Analytic
from kinegraph.passes.factoring.repair import Budget
from kinegraph.passes.fast_extract import FastExtract
from kinegraph.passes.rank import cheapest
from kinegraph.passes.search import Search
from kinegraph.passes.step import Effort, Pass
from kinegraph.passes.trigonometry.identities_pass import TrigonometricIdentities


class Condition(Protocol):
    """When a route is taken: `results` are those of the routes before it, by name."""

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether a route is taken, from what went in and what earlier routes gave."""
        ...


@dataclass(frozen=True)
class Small:
    """The graph has at most so many nodes; `with_rates`, if it depends on more than positions.

    What depends on rates has far more terms when written out.
    """

    nodes: int
    with_rates: int | None = None

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether the graph is small enough, with another limit where it has rates."""
        rates = self.with_rates is not None and entry.symbols(Kind.VELOCITY, Kind.ACCELERATION, Kind.INPUT)
        most = self.with_rates if rates and self.with_rates is not None else self.nodes
        return len(entry) <= most

    def __str__(self) -> str:
        rates = f" ({self.with_rates} with rates)" if self.with_rates is not None else ""
        return f"up to {self.nodes} nodes{rates}"


@dataclass(frozen=True)
class Large:
    """The graph has at least so many operations."""

    operations: int

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether the graph is large enough."""
        return count(entry).total >= self.operations

    def __str__(self) -> str:
        return f"from {self.operations} operations on"


@dataclass(frozen=True)
class Unchanged:
    """Another route left the graph as it came."""

    route: str

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether another route changed nothing."""
        return results[self.route] is entry

    def __str__(self) -> str:
        return f"if {self.route!r} changed nothing"


@dataclass(frozen=True)
class Cheapest:
    """Another route's result is the cheapest of some; the first of equal ones is."""

    route: str
    among: tuple[str, ...]

    def holds(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Whether a route gave the cheapest of some results."""
        return cheapest(*(results[name] for name in self.among)) is results[self.route]

    def __str__(self) -> str:
        return f"if {self.route!r} is the cheapest of {', '.join(self.among)}"


@dataclass(frozen=True)
class Route:
    """Passes one after the other; a pass before the last that changes nothing ends it.

    It starts from the graph as it came, or from the cheapest result of the routes in `after`. With `rest` its search
    has the time that is left.
    """

    name: str
    passes: tuple[Pass, ...]
    after: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    rest: bool = False

    def taken(self, entry: Graph, results: Mapping[str, Graph]) -> bool:
        """Do all its conditions hold?"""
        return all(condition.holds(entry, results) for condition in self.conditions)

    def start(self, entry: Graph, results: Mapping[str, Graph]) -> Graph:
        """The graph it starts from."""
        return cheapest(*(results[name] for name in self.after)) if self.after else entry

    def __str__(self) -> str:
        parts = [f"{self.name}: {passes_text(self.passes)}"]
        parts += [f"after {' or '.join(self.after)}"] if self.after else []
        parts += map(str, self.conditions)
        parts += ["with the time that is left"] if self.rest else []
        return "; ".join(parts)


#: How long `Effort.SEARCH` takes if it is not told, in seconds.
SEARCH_SECONDS = 60.0


#: From how many seeds a search begins.
_STARTS = 4


def routes(effort: Effort, seconds: float | None = None, seed: int = 0) -> tuple[Route, ...]:
    """The routes of an effort; `seconds` are those of `Effort.SEARCH`."""
    if effort is Effort.QUICK:
        return _quick(seed)
    if effort is Effort.NORMAL:
        return _normal(Budget(work=20_000_000, compiled=True), seed)
    return _search(SEARCH_SECONDS if seconds is None else seconds, seed)


def _quick(seed: int) -> tuple[Route, ...]:
    """The graph as it stands, factored, and its outputs written out, each where it is small enough."""
    written = Analytic(Budget(work=10_000), seed, Limits(terms=300, total=1500), forms=2)
    return (
        Route("factored", (FastExtract(),), conditions=(Small(12_000),)),
        Route("simplified", (TrigonometricIdentities(), FastExtract()), conditions=(Small(1500),)),
        Route("written out", (written,), conditions=(Small(1500, with_rates=200),)),
    )


#: Fast extract with and without trigonometric identities before it: these may leave less to share.
_FACTORED = (
    Route("factored", (FastExtract(),)),
    Route("simplified", (TrigonometricIdentities(), FastExtract())),
)


def _normal(half: Budget, seed: int) -> tuple[Route, ...]:
    """Half of the work goes to the graph as it stands, half to its outputs written out, or to the graph again.

    Large graphs have more to find, and get twice as much once more.
    """
    long = Budget(work=2 * (half.work or 0), compiled=True)
    return (
        *_FACTORED,
        Route("searched", (Search(half, seed, starts=_STARTS),), after=("factored", "simplified")),
        Route("written out", (Analytic(long, seed),)),
        Route("searched again", (Search(half, seed + 1),), ("searched",), (Unchanged("written out"),)),
        Route("searched long", (Search(long, seed + 2),), ("searched again",), (Large(800), Unchanged("written out"))),
    )


def _search(seconds: float, seed: int) -> tuple[Route, ...]:
    """A quarter of the time on each variant, the rest on the better one."""
    quarter = Budget(seconds=seconds / 4, compiled=True)
    both = ("searched", "written out")
    return (
        *_FACTORED,
        Route("searched", (Search(quarter, seed, starts=_STARTS),), after=("factored", "simplified")),
        Route("written out", (Analytic(quarter, seed),)),
        Route("searched again", (Search(quarter, seed + 1),), ("searched",), (Cheapest("searched", both),), rest=True),
        Route("written again", (Analytic(quarter, seed + 1),), (), (Cheapest("written out", both),), rest=True),
    )
