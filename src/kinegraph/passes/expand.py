"""Complete analytic expressions, and the search that starts from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinegraph.graph.node import Graph
from kinegraph.passes.analytic.assembly import Assembly
from kinegraph.passes.analytic.expansion import Limits, TooLargeError
from kinegraph.passes.factoring.convert import to_graph
from kinegraph.passes.factoring.repair import Annealing, Budget
from kinegraph.passes.factoring.searching import search


@dataclass(frozen=True)
class Expand:
    """Every output as one sum of products in sines, cosines and symbols, modulo sin^2 + cos^2 = 1.

    Each is written in the cheapest of some bases of angles; with `forms` 0 in the sines and cosines that are there. The
    graph is returned as it is where that would be too large.
    """

    limits: Limits = field(default_factory=Limits)
    forms: int = 1
    name: str = "expand"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        try:
            assembly = Assembly(graph, self.limits, self.forms)
        except TooLargeError:
            return graph
        return to_graph(assembly.build([0] * len(assembly.roots)).translation)


@dataclass(frozen=True)
class Analytic:
    """Outputs expanded in several bases of angles, factored together, each output's basis chosen by the search."""

    budget: Budget
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    forms: int = 8
    annealing: Annealing = field(default_factory=Annealing)
    name: str = "analytic"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        try:
            assembly = Assembly(graph, self.limits, self.forms)
        except TooLargeError:
            return graph
        installation = assembly.build([0] * len(assembly.roots))
        alternatives = installation.alternatives()
        search(installation.system, self.budget, self.seed, self.annealing, alternatives, installation.switch)
        return to_graph(installation.translation)


def can_be_written_out(graph: Graph) -> bool:
    """Are the outputs small enough as sums of products?"""
    try:
        Assembly(graph, Limits(), most_forms=0)
    except TooLargeError:
        return False
    return True
