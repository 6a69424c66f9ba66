"""Inlining of single uses, gathering of static factors, and greedy sharing over the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.start import factored
from kinegraph.passes.factoring.tidy import tidy


@dataclass(frozen=True)
class Inline:
    """Sums into sums and products into products where used once; a term's static factors become one constant."""

    name: str = "inline"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        tidy(translation.system)
        return to_graph(translation)


@dataclass(frozen=True)
class FastExtract:
    """Share two-term divisors, pairs of literals and scaled literals, largest saving first."""

    name: str = "fast_extract"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        return to_graph(factored(lambda: to_system(graph)))
