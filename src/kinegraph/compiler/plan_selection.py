"""Plan selection: plans near the cheapest are compared by the operations that a short search leaves."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field

from kinegraph.derive.quantities.plan_search import Candidate, PlanSearch
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Node
from kinegraph.interrupt import Interrupt
from kinegraph.passes.common_subexpressions import FastExtract
from kinegraph.passes.effort import Budget, Effort, rank
from kinegraph.passes.expand import can_be_written_out
from kinegraph.passes.pipeline import SEARCH_SECONDS
from kinegraph.passes.search import Search
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities


@dataclass(frozen=True)
class PlanSelection:
    """How many plans are judged, with how much work each; how many meet in the end. Temperatures in operations.

    Plans whose graphs cost more than `margin` above the cheapest are not judged, nor are graphs of more than
    `largest` nodes; `derived` plans may be tried for each that is judged, and so many nodes be derived for the second
    start. Graphs of more than `long` nodes meet in longer searches: after short ones their order is chance. With
    `seconds` it ends early.
    """

    judged: int
    work: int = 150_000
    finalists: int = 4
    final_work: int = 1_000_000
    final_work_of_long: int = 3_000_000
    long: int = 500
    hottest: float = 1.5
    coldest: float = 0.4
    margin: float = 0.07
    largest: int = 3000
    derived: int = 4
    derived_nodes: int = 30_000
    seconds: float | None = None

    def winner(self, plans: PlanSearch, start: Candidate, seed: int, interrupt: Interrupt) -> Candidate:
        """The plan whose graph the searches leave the fewest operations of; the cheapest as derived if none is."""
        if not plans.has_neighbors or len(start.graph) > self.largest:
            return start
        if can_be_written_out(start.graph):
            return start  # written out, the outputs are the same by every plan
        run = _Run(self, plans, start, random.Random(seed), interrupt)
        with gc_paused():
            with interrupt.catching():
                run.anneal(start, 0.0)
                interrupt.check()
                run.anneal(plans.best_formed_anew(start, self.derived_nodes), 0.5)
            return run.winner()


#: At quick effort, plans that cost at most this part more than the cheapest are judged too where graphs have at most so
#: many nodes: two greedy passes over each take some milliseconds.
NEARLY = 0.01
SMALL = 150


def best_of_near_ties(plans: PlanSearch, cheapest: Candidate) -> Candidate:
    """Of small graphs that cost nearly the same as derived, the one of which greedy passes leave least."""
    if len(cheapest.graph) > SMALL:
        return cheapest
    ties = plans.near(cheapest, NEARLY)
    return min(ties, key=_left_by_greedy_passes) if len(ties) > 1 and plans.has_neighbors else cheapest


def best_of_formations(plans: PlanSearch, cheapest: Candidate) -> Candidate:
    """Of the ways to form A of unknown forces, the one of which greedy passes leave least."""
    found = plans.formations(cheapest)
    return min(found, key=_left_by_greedy_passes) if len(found) > 1 else cheapest


def _left_by_greedy_passes(candidate: Candidate) -> tuple[int, int]:
    graphs = candidate.graph, TrigonometricIdentities().apply(candidate.graph)
    return min(rank(count(FastExtract().apply(graph))) for graph in graphs)


#: How many plans are judged at normal effort, and how many at most where a search has seconds, with longer searches.
JUDGED = 30
JUDGED_LONG = 1000

#: The part of the seconds of a search that goes to the choice of plans.
CHOOSING = 0.4


def plan_selection_of(effort: Effort, seconds: float | None) -> PlanSelection:
    """How plans are chosen: by work at normal effort, by the clock where a search has so many seconds."""
    if effort is not Effort.SEARCH:
        return PlanSelection(JUDGED)
    seconds = CHOOSING * (SEARCH_SECONDS if seconds is None else seconds)
    return PlanSelection(JUDGED_LONG, work=300_000, final_work=3_000_000, seconds=seconds)


def seconds_left(seconds: float | None) -> float | None:
    """The seconds of a search that are left when the plan is chosen."""
    return None if seconds is None else (1 - CHOOSING) * seconds


@dataclass
class _Run:
    """One selection among the plans of a search."""

    selection: PlanSelection
    plans: PlanSearch
    start: Candidate
    chance: random.Random
    interrupt: Interrupt
    values: dict[tuple[Node, ...], int] = field(default_factory=dict)
    seen: dict[tuple[Node, ...], Candidate] = field(default_factory=dict)
    starts: list[Candidate] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def anneal(self, present: Candidate, begun: float) -> None:
        """Simulated annealing over plans, for half of all that may be judged. begun: the part that was over before."""
        self.starts.append(present)
        value = self.value(present)
        for _ in range(self.selection.derived * self.selection.judged):
            if self.interrupt.requested or self._progress >= begun + 0.5:
                return
            found = self.plans.candidate(self.plans.neighbor(present.plan, self.chance))
            if found.cost[0] > self.start.cost[0] * (1 + self.selection.margin):
                continue
            worse = self.value(found) - value
            if worse <= 0 or self.chance.random() < math.exp(-worse / self._temperature(begun)):
                present, value = found, value + worse

    @property
    def _progress(self) -> float:
        """The part of the selection that is over."""
        judged = len(self.values) / self.selection.judged
        if self.selection.seconds is None:
            return judged
        return max(judged, (time.monotonic() - self.started) / self.selection.seconds)

    def _temperature(self, begun: float) -> float:
        hottest, coldest = self.selection.hottest, self.selection.coldest
        return float(hottest * (coldest / hottest) ** min(1.0, 2 * (self._progress - begun)))

    def value(self, candidate: Candidate) -> int:
        """The operations left of a graph; equal graphs are judged once."""
        key = candidate.graph.nodes
        if key not in self.values:
            self.values[key] = self._left(candidate.graph, self.selection.work, 0)[0]
            self.seen[key] = candidate
        return self.values[key]

    def winner(self) -> Candidate:
        """The best of the finalists, and where they started from, after longer searches from two seeds each."""
        order = sorted(self.values, key=lambda key: self.values[key])
        finalists = [self.seen[key] for key in order[: self.selection.finalists]]
        finalists += [start for start in self.starts if start not in finalists]
        return min(finalists or [self.start], key=self._final)

    def _final(self, candidate: Candidate) -> tuple[int, int]:
        if self.interrupt.requested:
            return self.values.get(candidate.graph.nodes, candidate.operations.total), 0
        selection = self.selection
        work = selection.final_work_of_long if len(self.start.graph) > selection.long else selection.final_work
        return min(self._left(candidate.graph, work, seed) for seed in range(2))

    def _left(self, graph: Graph, work: int, seed: int) -> tuple[int, int]:
        budget = Budget(work=work, interrupt=self.interrupt)
        return rank(count(Search(budget, seed).apply(graph)))
