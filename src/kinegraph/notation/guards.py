"""Guards of a graph: where a value means nothing they make it no number. They are no part of the equations."""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.graph.functions import GUARDED
from kinegraph.graph.node import Function, Graph, Node, Polynomial


def without_guards(graph: Graph) -> Graph:
    """The equations as they are written for readers: guards left out."""
    stands = list(range(len(graph)))
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Function) and node.name == GUARDED:
            stands[index] = stands[node.arguments[0]]
    if stands == list(range(len(graph))):
        return graph
    outputs = tuple(one._replace(nodes=tuple(stands[index] for index in one.nodes)) for one in graph.outputs)
    return Graph(tuple(_pointing(node, stands) for node in graph.nodes), outputs)


def _pointing(node: Node, stands: Sequence[int]) -> Node:
    if isinstance(node, Function):
        return Function(node.name, tuple(stands[argument] for argument in node.arguments))
    if isinstance(node, Polynomial):
        return Polynomial(tuple((c, tuple((stands[x], e) for x, e in factors)) for c, factors in node.terms))
    return node
