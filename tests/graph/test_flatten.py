"""Merged nested sums: only the order of summation changes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from kinegraph.graph.build import GraphBuilder, Scalar, flattened
from kinegraph.graph.count import count
from kinegraph.graph.law import check
from kinegraph.graph.node import Graph, Kind, Output, Polynomial
from kinegraph.graph.proof import prove
from tests.graph.strategies import graphs


@given(graphs(functions=("sin", "cos", "atan", "tanh")))
def test_random_graphs_keep_their_values_and_cost_no_more(graph: Graph) -> None:
    flat = flattened(graph)
    check(flat)
    assert prove(graph, flat)
    assert count(flat).total <= count(graph).total


@pytest.mark.parametrize("signs", list(product((1, -1), repeat=5)))
def test_terms_that_cancel_leave_a_graph_that_keeps_the_law(signs: tuple[int, ...]) -> None:
    builder = GraphBuilder()
    a, b, c = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "abc")
    inner = signs[0] * a + signs[1] * c
    outer = signs[2] * inner + signs[3] * c + signs[4] * a
    graph = builder.graph([Output("y", (2,), ((outer * b).index, outer.index))])
    flat = flattened(graph)
    check(flat)
    assert prove(graph, flat)


def test_a_sum_used_once_is_taken_in_and_one_used_twice_is_not() -> None:
    builder = GraphBuilder()
    a, b, c, d = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "abcd")
    once, twice = a - b, c + d
    outputs = [Output("x", (2,), ((once + a * c + twice).index, (b * d + twice).index))]
    flat = flattened(builder.graph(outputs))
    first, second = (flat.nodes[node] for node in flat.outputs[0].nodes)
    assert isinstance(first, Polynomial) and isinstance(second, Polynomial)
    assert len(first.terms) == 4  # a - b + a c + (c + d)
    assert len(second.terms) == 2
