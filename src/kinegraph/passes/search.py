"""The search pass: destroy and repair by simulated annealing over factorings, compiled."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from kinegraph.graph.node import Graph
from kinegraph.interrupt import delayed
from kinegraph.passes.effort import Annealing, Budget, cheapest
from kinegraph.passes.factoring.alternatives import Alternatives, relations
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.extract import factored, greedy
from kinegraph.passes.factoring.polynomials import System

_log = logging.getLogger("kinegraph")


def search(
    system: System, budget: Budget, seed: int, annealing: Annealing, alternatives: Alternatives | None = None
) -> None:
    """Search and leave the best state in the system, for reading only. An interrupt ends it early.

    Compiled code takes monomials up to a degree; beyond, the system is factored without a search.
    """
    if budget.interrupt.requested:
        return  # one of several searches was interrupted: the others are not begun
    with budget.interrupt.catching():  # before the first iteration the system is as it came, and whole
        if not _fits(system, alternatives):
            _log.warning("terms of a very high degree are factored without a search")
            system.build_index()
            greedy(system)
            return
        with delayed():  # an import cannot be repeated once it was broken off
            from kinegraph.passes.compiled_search.anneal import Engine

        Engine(system, seed, annealing, alternatives).run(budget)


def _fits(system: System, alternatives: Alternatives | None) -> bool:
    """Does compiled code know monomials of such a degree?"""
    from kinegraph.passes.compiled_search.layout import DEGREE

    found = [m for terms in system.expressions.values() for m in terms]
    if alternatives is not None:
        found += [m for choices in alternatives.roots.values() for terms in choices for m in terms]
        found += [m for terms in alternatives.angles.values() for m in terms]
    return all(system.monomials.degree[m] <= DEGREE for m in found)


@dataclass(frozen=True)
class Search:
    """Write shared expressions out again, factor anew, keep what is better; interrupting keeps the best so far.

    With several `starts` half of the budget goes to as many searches of different seeds, the rest to the best of them:
    a search soon settles near where it began.
    """

    budget: Budget
    seed: int = 0
    annealing: Annealing = field(default_factory=Annealing)
    starts: int = 1
    name: str = "search"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        if self.starts == 1:
            return self._searched(graph, self.budget, self.seed)
        part, found = self.budget.part(2 * self.starts), graph
        for start in range(self.starts):
            found = cheapest(self._searched(graph, part, self.seed + start), found)
        return cheapest(self._searched(found, self.budget.part(2), self.seed), found)

    def _searched(self, graph: Graph, budget: Budget, seed: int) -> Graph:
        translation = factored(lambda: to_system(graph))
        search(translation.system, budget, seed, self.annealing, Alternatives(relations=relations(translation)))
        return to_graph(translation)
