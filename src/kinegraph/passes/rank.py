"""Which of two graphs is cheaper, and how long one would run."""

from __future__ import annotations

from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph

#: Time of a sine, cosine, division or root in units of a multiplication, as measured for compiled kernels.
FUNCTION_TIME = 8


def running_time(operations: Operations) -> int:
    """A rough measure of how long a kernel takes."""
    o = operations
    return o.total + FUNCTION_TIME * (o.sin + o.cos + o.div + o.sqrt + 2 * o.other)


def rank(operations: Operations) -> tuple[int, int]:
    """What is minimised: multiplications and additions, then the rest."""
    o = operations
    return o.total, o.div + o.sqrt + o.sin + o.cos + o.other


def cheapest(*graphs: Graph) -> Graph:
    """The graph of the least rank, the first of equal ones."""
    return min(graphs, key=lambda graph: rank(count(graph)))
