"""Carrying nodes from one graph into a builder, with symbols replaced on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinegraph.graph.angle import PI
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.canonical.numbers import exact
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Node, Output, Polynomial, Symbol


def transfer(
    graph: Graph,
    builder: GraphBuilder,
    symbol: Callable[[Symbol], int] | None = None,
    only: Sequence[bool] | None = None,
) -> dict[int, int]:
    """Rebuild the wanted (by default: live) nodes in a builder; returns where each old node went.

    Rebuilding folds and merges whatever the builder can see, so replaced symbols propagate.
    """
    place: dict[int, int] = {}
    wanted = graph.live if only is None else only
    for index, node in enumerate(graph.nodes):
        if wanted[index]:
            place[index] = _rebuilt(node, builder, place, symbol)
    return place


def _rebuilt(
    node: Node, builder: GraphBuilder, place: Mapping[int, int], symbol: Callable[[Symbol], int] | None
) -> int:
    if isinstance(node, Symbol):
        return symbol(node) if symbol else builder.symbol(node.kind, node.name)
    if isinstance(node, Function):
        return builder.apply(node.name, *(place[argument] for argument in node.arguments))
    return builder.polynomial([(c, tuple([(place[child], e) for child, e in factors])) for c, factors in node.terms])


def copied(graph: Graph, builder: GraphBuilder, given: Mapping[int, int] | None = None) -> dict[int, int]:
    """Like transfer, but nothing is expanded or folded: shared stays shared. Nodes in `given` are there already."""
    place = dict(given or {})
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or index in place:
            continue
        if isinstance(node, Polynomial):
            place[index] = _copied_sum(node, builder, place)
        elif isinstance(node, Function):
            place[index] = builder.intern(Function(node.name, tuple(place[a] for a in node.arguments)))
        else:
            place[index] = builder.symbol(node.kind, node.name)
    return place


def _copied_sum(node: Polynomial, builder: GraphBuilder, place: Mapping[int, int]) -> int:
    total: dict[tuple[Factor, ...], Coefficient] = {}
    for coefficient, factors in node.terms:
        exponents: dict[int, int] = {}
        for child, exponent in factors:
            exponents[place[child]] = exponents.get(place[child], 0) + exponent
        key = tuple(sorted(exponents.items()))
        total[key] = total.get(key, 0) + coefficient
    terms = tuple((exact(c), factors) for factors, c in total.items() if c)
    if len(terms) == 1 and terms[0][0] == 1 and len(terms[0][1]) == 1 and terms[0][1][0][1] == 1:
        return terms[0][1][0][0]
    return builder.intern(Polynomial(terms)) if terms else builder.zero


def moved(outputs: Sequence[Output], place: Mapping[int, int]) -> tuple[Output, ...]:
    """Outputs pointing at where their nodes went."""
    return tuple(output._replace(nodes=tuple(place[index] for index in output.nodes)) for output in outputs)


def substituted(builder: GraphBuilder, nodes: Sequence[int], values: Mapping[Symbol, int]) -> tuple[int, ...]:
    """Nodes of a builder with symbols replaced, in the same builder."""

    def symbol(node: Symbol) -> int:
        return values[node] if node in values else builder.symbol(node.kind, node.name)

    graph = builder.graph([Output("nodes", (len(nodes),), tuple(nodes))])
    return moved(graph.outputs, transfer(graph, builder, symbol))[0].nodes


def bind(graph: Graph, values: Mapping[str, Coefficient]) -> Graph:
    """The graph with symbols replaced by exact numbers: numeric-symbolic where some symbols remain."""
    builder = GraphBuilder()

    def symbol(node: Symbol) -> int:
        bound = node.name in values and node != PI
        return builder.number(values[node.name]) if bound else builder.symbol(node.kind, node.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))


def join(graphs: Sequence[Graph]) -> Graph:
    """One graph with the outputs of several, common nodes shared."""
    builder = GraphBuilder()
    outputs = [output for graph in graphs for output in moved(graph.outputs, transfer(graph, builder))]
    return builder.graph(outputs)
