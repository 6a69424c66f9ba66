"""Graphs that a builder has made as they stand: put through a builder once more they come out the same."""

from __future__ import annotations

from kinegraph.graph.node import Graph, Polynomial

#: Under this name a graph keeps that all its nodes were folded by a builder.
_STORED = "_folded"


def mark_folded(graph: Graph) -> None:
    """Say of a graph that a builder has folded all its nodes."""
    vars(graph)[_STORED] = True


def is_folded(graph: Graph) -> bool:
    """Whether a builder would make the very same nodes in the same order.

    Not so with static sums: how far products of them are multiplied out depends on how they came about.
    """
    return is_marked(graph) and not any(
        static and isinstance(node, Polynomial) and len(node.terms) > 1
        for node, static in zip(graph.nodes, graph.static, strict=True)
    )


def is_marked(graph: Graph) -> bool:
    """Whether a builder has folded all nodes of a graph."""
    return _STORED in vars(graph)
