"""Results put together from few values.

The inertia matrix of a humanoid has 2,500 entries, of which 560 differ: most are zero or stand in it twice. A batch
computes the distinct values alone and writes the rows of results from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.lower import rounded
from kinegraph.graph.interpret import extended_precision
from kinegraph.graph.node import Graph, Output


class Expansion(NamedTuple):
    """`binding` computes the distinct values; `entries` has for every result what its entries are: the number of a
    distinct value, or a constant."""

    binding: Bound
    entries: tuple[tuple[int | float, ...], ...]


def expansion(binding: Bound) -> Expansion:
    """How to write the results of a graph from its distinct values."""
    graph = binding.graph
    nodes = dict.fromkeys(node for output in graph.outputs for node in output.nodes)
    distinct = tuple(node for node in nodes if node not in binding.statics)
    values = Graph(graph.nodes, (Output("values", (len(distinct),), distinct),))
    number: dict[int, int | float] = {node: place for place, node in enumerate(distinct)}
    with extended_precision():
        number |= {node: rounded(binding.statics[node]) for node in nodes if node in binding.statics}
    entries = tuple(tuple(number[node] for node in output.nodes) for output in graph.outputs)
    return Expansion(replace(binding, graph=values), entries)
