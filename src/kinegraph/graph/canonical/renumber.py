"""The same nodes with other numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.graph.canonical.folded import is_marked, mark_folded
from kinegraph.graph.node import Factor, Function, Graph, Node, Polynomial


def renumber(graph: Graph, keep: Sequence[int]) -> Graph:
    """The same graph with only the nodes of `keep`, in that order (children first)."""
    new = {old: index for index, old in enumerate(keep)}
    same = next((index for index, old in enumerate(keep) if index != old), len(keep))
    nodes = (*graph.nodes[:same], *[mapped(graph.nodes[old], new) for old in keep[same:]])
    outputs = tuple(output._replace(nodes=tuple([new[index] for index in output.nodes])) for output in graph.outputs)
    return Graph(nodes, outputs)


def without_dead_nodes(graph: Graph) -> Graph:
    """The same graph with only the nodes its outputs need."""
    keep = [index for index, live in enumerate(graph.live) if live]
    if len(keep) == len(graph):
        return graph
    living = renumber(graph, keep)
    # What the graph would find out by going through all its nodes.
    vars(living)["live"] = (True,) * len(living)
    if is_marked(graph):
        mark_folded(living)
    if "static" in vars(graph):
        vars(living)["static"] = tuple([graph.static[old] for old in keep])
    return living


def mapped(node: Node, new: Mapping[int, int]) -> Node:
    """A node whose children have other numbers."""
    if isinstance(node, Polynomial):
        return Polynomial(tuple([(c, _mapped_factors(factors, new)) for c, factors in node.terms]))
    if isinstance(node, Function):
        return Function(node.name, tuple([new[argument] for argument in node.arguments]))
    return node


def _mapped_factors(factors: tuple[Factor, ...], new: Mapping[int, int]) -> tuple[Factor, ...]:
    if len(factors) == 1:
        ((child, exponent),) = factors
        return ((new[child], exponent),)
    return tuple(sorted([(new[child], exponent) for child, exponent in factors]))
