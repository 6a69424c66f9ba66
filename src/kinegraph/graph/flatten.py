"""Sums within sums, written as one: the same operations, but no order of adding up is laid down."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.canonical.numbers import exact
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Polynomial, Symbol, Term
from kinegraph.graph.transfer import moved


def flattened(graph: Graph) -> Graph:
    """The graph with every sum that is used once, as a term of another sum, taken into that sum."""
    builder = GraphBuilder()
    place: dict[int, int] = {}
    taken_in = _taken_in(graph)
    terms: dict[int, tuple[Term, ...]] = {}
    for index, node in enumerate(graph.nodes):
        if not graph.live[index]:
            continue
        if isinstance(node, Symbol):
            place[index] = builder.symbol(node.kind, node.name)
        elif isinstance(node, Function):
            place[index] = builder.intern(Function(node.name, tuple(place[child] for child in node.arguments)))
        else:
            inner = {child: terms[child] for child in _single(node) if child in taken_in}
            terms[index] = _joined(node, place, inner)
            if index not in taken_in:
                # Where terms have cancelled the builder must look at what is left.
                whole = len(terms[index]) == len(node.terms) + sum(len(added) - 1 for added in inner.values())
                joined = Polynomial(terms[index])
                place[index] = builder.intern(joined) if whole else builder.polynomial(joined.terms)
    return builder.graph(moved(graph.outputs, place))


def _taken_in(graph: Graph) -> set[int]:
    found: set[int] = set()
    for index, node in enumerate(graph.nodes):
        if graph.live[index] and isinstance(node, Polynomial) and len(node.terms) > 1:
            for child in _single(node):
                inner = graph.nodes[child]
                if graph.use_counts[child] == 1 and isinstance(inner, Polynomial) and len(inner.terms) > 1:
                    found.add(child)
    return found


def _single(node: Polynomial) -> list[int]:
    """The nodes that are added or subtracted as they are."""
    return [f[0][0] for c, f in node.terms if len(f) == 1 and f[0][1] == 1 and abs(c) == 1]


def _joined(node: Polynomial, place: Mapping[int, int], inner: Mapping[int, tuple[Term, ...]]) -> tuple[Term, ...]:
    total: dict[tuple[Factor, ...], Coefficient] = {}
    for coefficient, factors in node.terms:
        if len(factors) == 1 and factors[0][0] in inner and abs(coefficient) == 1 and factors[0][1] == 1:
            added = [(coefficient * c, f) for c, f in inner[factors[0][0]]]
        else:
            added = [(coefficient, tuple(sorted((place[child], exponent) for child, exponent in factors)))]
        for c, f in added:
            total[f] = total.get(f, 0) + c
    return tuple((exact(c), f) for f, c in total.items() if c)
