"""The pipeline: passes in order, counted after each, the best variant kept, the result proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from kinegraph.display import RichDisplay
from kinegraph.errors import GraphError, NumberSizeError, one_of
from kinegraph.graph.count import Operations, count, largest_exponent
from kinegraph.graph.node import Graph
from kinegraph.graph.proof.prove import prove as compare
from kinegraph.interrupt import Interrupt
from kinegraph.passes.expand import Analytic
from kinegraph.passes.rank import cheapest, rank, running_time
from kinegraph.passes.rebuild import DeadCode, Rebuild
from kinegraph.passes.routes import SEARCH_SECONDS, Route, routes
from kinegraph.passes.search import Search
from kinegraph.passes.step import Effort, Pass

__all__ = ["OnPass", "PassReport", "Reduction", "reduce"]


@dataclass(frozen=True)
class PassReport:
    """What one pass did to the operation count, and the largest exponent it left."""

    name: str
    before: Operations
    after: Operations
    seconds: float
    largest_exponent: int = 1


@dataclass(frozen=True)
class Reduction(RichDisplay):
    """A reduced graph, how it came about, and whether it was proved equal to the graph it came from.

    `interrupted`: it was ended early, a longer run may find a better one.
    """

    graph: Graph
    reports: tuple[PassReport, ...]
    proved: bool
    interrupted: bool = False

    def __repr__(self) -> str:
        verdict = "proved equal" if self.proved else "not proved"
        return f"<Reduction by {len(self.reports)} passes, {verdict}: {self.graph!r}>"


OnPass: TypeAlias = Callable[[PassReport], None]


class Runner:
    """Applies passes, keeps the books, never accepts a costlier graph; after an interrupt does nothing more."""

    def __init__(self, graph: Graph, on_pass: OnPass | None, interrupt: Interrupt) -> None:
        self.on_pass, self.interrupt = on_pass, interrupt
        self.best = graph
        self.allowed_time = running_time(count(graph))
        self.reports: list[PassReport] = []

    def run(self, step: Pass, graph: Graph, seconds: float | None = None) -> Graph:
        """The result of a pass, or the graph as it was if that was better; a search has so many `seconds`."""
        if self.interrupt.requested:
            return graph
        started = time.perf_counter()
        before, candidate = count(graph), graph
        # Written out, the numbers of a graph may grow too long: it is left as it is.
        with self.interrupt.catching(), suppress(NumberSizeError):
            candidate = self._bound(step, seconds).apply(graph)
        result = candidate if self._better(count(candidate), before) else graph
        self._note(step.name, before, result, started)
        return result

    def follow(self, steps: Iterable[Pass], graph: Graph) -> None:
        """Passes in the order given, also through graphs that cost more; the cheapest met is the best."""
        for step in steps:
            if self.interrupt.requested:
                return
            started, before = time.perf_counter(), count(graph)
            with self.interrupt.catching(), suppress(NumberSizeError):
                graph = self._bound(step, None).apply(graph)
            self._note(step.name, before, graph, started)

    def _note(self, name: str, before: Operations, graph: Graph, started: float) -> None:
        seconds = time.perf_counter() - started
        report = PassReport(name, before, count(graph), seconds, largest_exponent(graph))
        self.reports.append(report)
        self.best = cheapest(self.best, graph)
        if self.on_pass:
            self.on_pass(report)

    def _bound(self, step: Pass, seconds: float | None) -> Pass:
        """A pass whose search sees the interrupt, and has so many seconds if any are said."""
        if not isinstance(step, Search | Analytic):
            return step
        budget = replace(step.budget, interrupt=self.interrupt)
        return replace(step, budget=budget if seconds is None else replace(budget, seconds=seconds))

    def run_all(self, steps: Iterable[Pass], graph: Graph) -> Graph:
        """Passes one after the other."""
        for step in steps:
            graph = self.run(step, graph)
        return graph

    def _better(self, after: Operations, before: Operations) -> bool:
        """Fewer operations; a kernel that would run longer than the original's is not taken."""
        return running_time(after) <= self.allowed_time and rank(after) <= rank(before)


def reduce(
    graph: Graph,
    effort: Effort | str = Effort.NORMAL,
    seconds: float | None = None,
    seed: int = 0,
    prove: bool = True,
    on_pass: OnPass | None = None,
    interrupt: Interrupt | None = None,
    passes: Sequence[Pass] = (),
) -> Reduction:
    """The graph with as few operations as the effort allows, never more than it had; proved by default.

    `seconds` boxes the time of `Effort.SEARCH`. An interrupt, requested of the token or by Ctrl-C, returns the best
    graph so far, proved as well. `passes` are run in their order in place of those of the effort (`by_name.read_passes`
    makes them of a text); the cheapest graph on the way is taken.
    """
    taken = routes(one_of(Effort, effort, "effort", GraphError), seconds, seed)
    runner = Runner(graph, on_pass, interrupt or Interrupt())
    with runner.interrupt.catching():
        if passes:
            runner.follow(passes, graph)
        else:
            entry = runner.run_all((Rebuild(), DeadCode()), graph)
            _follow(runner, entry, taken, SEARCH_SECONDS if seconds is None else seconds)
    if prove:
        compare(graph, runner.best).require()
    return Reduction(runner.best, tuple(runner.reports), prove, runner.interrupt.requested)


def _follow(runner: Runner, entry: Graph, taken: Sequence[Route], seconds: float) -> None:
    """Every route whose conditions hold, from where it starts."""
    started = time.monotonic()
    results: dict[str, Graph] = {}
    for route in taken:
        if not route.taken(entry, results):
            continue
        left = max(1.0, seconds - (time.monotonic() - started)) if route.rest else None
        graph = route.start(entry, results)
        for step in route.passes:
            before, graph = graph, runner.run(step, graph, left)
            if graph is before:
                break
        results[route.name] = graph
