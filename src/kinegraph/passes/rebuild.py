"""Value numbering, neutral elements and dead code: the graph put through the builder once more."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.canonical.folded import is_folded
from kinegraph.graph.canonical.renumber import without_dead_nodes
from kinegraph.graph.node import Graph
from kinegraph.graph.transfer import moved, transfer


@dataclass(frozen=True)
class Rebuild:
    """Fold what the builder can fold, give equal expressions one node, leave out what no output needs."""

    name: str = "rebuild"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        if is_folded(graph):
            return without_dead_nodes(graph)
        builder = GraphBuilder()
        return builder.graph(moved(graph.outputs, transfer(graph, builder)))


@dataclass(frozen=True)
class DeadCode:
    """Leave out the nodes no output needs; what remains is untouched."""

    name: str = "dead_code"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        return without_dead_nodes(graph)
