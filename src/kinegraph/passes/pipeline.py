"""The pipeline: passes in order, counted after each, the best variant kept, the result proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kinegraph.display import RichDisplay
from kinegraph.errors import NumberSizeError
from kinegraph.graph.count import Operations, count, largest_exponent
from kinegraph.graph.node import Graph, Kind
from kinegraph.graph.proof.prove import prove as compare
from kinegraph.interrupt import Interrupt
from kinegraph.passes.analytic.expansion import Limits
from kinegraph.passes.expand import Analytic
from kinegraph.passes.factoring.repair import Budget
from kinegraph.passes.fast_extract import FastExtract
from kinegraph.passes.rebuild import DeadCode, Rebuild
from kinegraph.passes.search import Search
from kinegraph.passes.step import Pass
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities


class Effort(Enum):
    """How long `reduce` may take: below a second, about ten seconds, or as long as it is told."""

    QUICK = "quick"
    NORMAL = "normal"
    SEARCH = "search"


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

#: Time of a sine, cosine, division or root in units of a multiplication, as measured for compiled kernels.
FUNCTION_TIME = 8


def running_time(operations: Operations) -> int:
    """A rough measure of how long a kernel takes."""
    o = operations
    return o.total + FUNCTION_TIME * (o.sin + o.cos + o.div + o.sqrt + 2 * o.other)


class Runner:
    """Applies passes, keeps the books, never accepts a costlier graph; after an interrupt does nothing more."""

    def __init__(self, graph: Graph, on_pass: OnPass | None, interrupt: Interrupt) -> None:
        self.on_pass, self.interrupt = on_pass, interrupt
        self.best = graph
        self.allowed_time = running_time(count(graph))
        self.reports: list[PassReport] = []

    def run(self, step: Pass, graph: Graph) -> Graph:
        """The result of a pass, or the graph as it was if that was better."""
        if self.interrupt.requested:
            return graph
        started = time.perf_counter()
        before, candidate = count(graph), graph
        # Written out, the numbers of a graph may grow too long: it is left as it is.
        with self.interrupt.catching(), suppress(NumberSizeError):
            candidate = step.apply(graph)
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
                graph = step.apply(graph)
            self._note(step.name, before, graph, started)

    def _note(self, name: str, before: Operations, graph: Graph, started: float) -> None:
        seconds = time.perf_counter() - started
        report = PassReport(name, before, count(graph), seconds, largest_exponent(graph))
        self.reports.append(report)
        self.best = _cheapest(self.best, graph)
        if self.on_pass:
            self.on_pass(report)

    def budget(self, work: int | None = None, seconds: float | None = None, compiled: bool = False) -> Budget:
        """A budget for a search that sees the interrupt."""
        return Budget(work, seconds, compiled, self.interrupt)

    def run_all(self, steps: Iterable[Pass], graph: Graph) -> Graph:
        """Passes one after the other."""
        for step in steps:
            graph = self.run(step, graph)
        return graph

    def _better(self, after: Operations, before: Operations) -> bool:
        """Fewer operations; a kernel that would run longer than the original's is not taken."""
        return running_time(after) <= self.allowed_time and rank(after) <= rank(before)


def rank(operations: Operations) -> tuple[int, int]:
    """What is minimised: multiplications and additions, then the rest."""
    o = operations
    return o.total, o.div + o.sqrt + o.sin + o.cos + o.other


def reduce(
    graph: Graph,
    effort: Effort = Effort.NORMAL,
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
    runner = Runner(graph, on_pass, interrupt or Interrupt())
    with runner.interrupt.catching():
        if passes:
            runner.follow(passes, graph)
        else:
            _by_effort(runner, graph, effort, seconds, seed)
    if prove:
        compare(graph, runner.best).require()
    return Reduction(runner.best, tuple(runner.reports), prove, runner.interrupt.requested)


def _by_effort(runner: Runner, graph: Graph, effort: Effort, seconds: float | None, seed: int) -> None:
    entry = runner.run_all((Rebuild(), DeadCode()), graph)
    if effort is Effort.SEARCH:
        _search(runner, entry, 60.0 if seconds is None else seconds, seed)
    elif effort is Effort.NORMAL:
        _normal(runner, entry, seed)
    else:
        _quick(runner, entry, seed)


def _cheapest(*graphs: Graph) -> Graph:
    return min(graphs, key=lambda graph: rank(count(graph)))


#: How many nodes a graph may have for a quick reduction to factor it, and to write its outputs out as well; what
#: depends on rates has far more terms when written out than what depends on positions alone.
QUICK_FACTOR_NODES = 12_000
QUICK_ANALYTIC_NODES = 1500
QUICK_ANALYTIC_NODES_WITH_RATES = 200


def _quick(runner: Runner, entry: Graph, seed: int) -> None:
    """The graph as it stands, factored, and its outputs written out, each where it is small enough."""
    rates = entry.symbols(Kind.VELOCITY, Kind.ACCELERATION, Kind.INPUT)
    if len(entry) <= QUICK_ANALYTIC_NODES:
        _factored(runner, entry)
    elif len(entry) <= QUICK_FACTOR_NODES:
        runner.run(FastExtract(), entry)
    if len(entry) <= (QUICK_ANALYTIC_NODES_WITH_RATES if rates else QUICK_ANALYTIC_NODES):
        runner.run(Analytic(runner.budget(work=10_000), seed, Limits(terms=300, total=1500), ways=2), entry)


def _factored(runner: Runner, entry: Graph) -> Graph:
    """Fast extract with and without trigonometric identities before it: these may leave less to share."""
    plain = runner.run(FastExtract(), entry)
    simplified = runner.run(TrigonometricIdentities(), entry)
    return plain if simplified is entry else _cheapest(plain, runner.run(FastExtract(), simplified))


def _normal(runner: Runner, entry: Graph, seed: int) -> None:
    """Half of the work on the graph as it stands; the other half on its outputs written out, or on the same again."""
    half = runner.budget(work=20_000_000, compiled=True)
    standing = runner.run(Search(half, seed), _factored(runner, entry))
    if runner.run(Analytic(half, seed), entry) is entry:
        runner.run(Search(half, seed + 1), standing)


def _search(runner: Runner, entry: Graph, seconds: float, seed: int) -> None:
    """A quarter of the time on each variant, the rest on the better one."""
    started = time.monotonic()
    quarter = runner.budget(seconds=seconds / 4, compiled=True)
    standing = runner.run(Search(quarter, seed), _factored(runner, entry))
    written = runner.run(Analytic(quarter, seed), entry)
    rest = runner.budget(seconds=max(1.0, seconds - (time.monotonic() - started)), compiled=True)
    if _cheapest(standing, written) is standing:
        runner.run(Search(rest, seed + 1), standing)
    else:
        runner.run(Analytic(rest, seed + 1), entry)
