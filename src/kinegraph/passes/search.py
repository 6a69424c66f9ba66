"""Destroy-and-repair search on the graph as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.alternatives import Alternatives
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.relations import relations
from kinegraph.passes.factoring.repair import Annealing, Budget
from kinegraph.passes.factoring.searching import search
from kinegraph.passes.factoring.start import factored
from kinegraph.passes.rank import cheapest


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
        choices = Alternatives(relations=relations(translation)) if budget.compiled else None
        search(translation.system, budget, seed, self.annealing, choices)
        return to_graph(translation)
