"""Destroy-and-repair search on the graph as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.repair import Annealing, Budget
from kinegraph.passes.factoring.searching import search
from kinegraph.passes.factoring.start import factored


@dataclass(frozen=True)
class Search:
    """Write shared expressions out again, factor anew, keep what is better; interrupting keeps the best so far."""

    budget: Budget
    seed: int = 0
    annealing: Annealing = field(default_factory=Annealing)
    name: str = "search"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = factored(lambda: to_system(graph))
        search(translation.system, self.budget, self.seed, self.annealing)
        return to_graph(translation)
