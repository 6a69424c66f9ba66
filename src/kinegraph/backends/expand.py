"""Large results put together from few values.

The inertia matrix of a humanoid has 2,500 entries, of which 560 differ: most are zero or stand in it twice. A batch
computes and transposes the distinct values alone and writes each row of results from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kinegraph.backends.binding import Binding, extended_precision
from kinegraph.backends.lower import rounded
from kinegraph.graph.node import Graph, Output

#: Results with fewer entries are transposed as they are, and so are those with more distinct values than half.
_FEWEST_ENTRIES = 200


class Expansion(NamedTuple):
    """`binding` computes the distinct values; `entries` has for every result what its entries are: the number of a
    distinct value, or a constant."""

    binding: Binding
    entries: tuple[tuple[int | float, ...], ...]


def expansion(binding: Binding) -> Expansion | None:
    """How to write the results of a graph from its distinct values, or None where that gains nothing."""
    graph = binding.graph
    nodes = [node for output in graph.outputs for node in output.nodes]
    distinct = list(dict.fromkeys(node for node in nodes if node not in binding.statics))
    if len(nodes) < _FEWEST_ENTRIES or 2 * len(distinct) > len(nodes) or not distinct:
        return None
    values = Graph(graph.nodes, (Output("values", (len(distinct),), tuple(distinct)),))
    number: dict[int, int | float] = {node: place for place, node in enumerate(distinct)}
    with extended_precision():
        number |= {node: rounded(binding.statics[node]) for node in set(nodes) if node in binding.statics}
    entries = tuple(tuple(number[node] for node in output.nodes) for output in graph.outputs)
    return Expansion(replace(binding, graph=values), entries)
