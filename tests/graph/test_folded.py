"""Graphs marked as folded are unchanged by a builder; other graphs are not marked."""

from __future__ import annotations

import pytest
from hypothesis import given

import kinegraph as kg
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.quantities.plan_search import PlanSearch
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.canonical import is_folded
from kinegraph.graph.node import Function, Graph, Kind, Output, Polynomial
from kinegraph.passes.common_subexpressions import Rebuild
from tests.graph.strategies import graphs
from tests.mechanisms import random_tree

WORDS = ["tau", "qdd", "H,energy", "d(tau)/d(q)"]


def rebuilt(graph: Graph) -> Graph:
    builder = GraphBuilder()
    return builder.graph(moved(graph.outputs, transfer(graph, builder)))


def derived(mechanism: kg.Mechanism, words: str, numeric: bool = True) -> Graph:
    bound = bound_parameters(mechanism, numeric, None)
    return PlanSearch(mechanism, parse_list(words), bound).best().graph


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("name", ["puma560", "four-bar", "heavy-top", "slider-crank", "double-pendulum"])
def test_what_a_builder_has_folded_is_folded_once_for_all(name: str, words: str) -> None:
    graph = derived(kg.load(name), words)
    assert is_folded(graph)
    assert rebuilt(graph) == graph
    assert Rebuild().apply(graph) is graph


@given(graphs())
def test_random_graphs_that_count_as_folded_stay_as_they_are(graph: Graph) -> None:
    if is_folded(graph):
        assert rebuilt(graph) == graph


@pytest.mark.parametrize("seed", range(4))
def test_graphs_of_random_trees_that_count_as_folded_stay_as_they_are(seed: int) -> None:
    for numeric in (False, True):
        graph = derived(random_tree(seed, bodies=4), "tau,H", numeric)
        if is_folded(graph):
            assert rebuilt(graph) == graph


def test_static_sums_may_be_multiplied_out_further() -> None:
    builder = GraphBuilder()
    a, b, x = (builder.symbol(*one) for one in ((Kind.PARAMETER, "a"), (Kind.PARAMETER, "b"), (Kind.COORDINATE, "x")))
    graph = builder.graph([Output("y", (), (builder.multiply(builder.add(a, b), x),))])
    assert not is_folded(graph)


def test_nodes_that_others_made_are_not_taken_for_folded() -> None:
    builder = GraphBuilder()
    x = builder.symbol(Kind.COORDINATE, "x")
    minus = builder.intern(Polynomial(((-1, ((x, 1),)),)))
    graph = builder.graph([Output("y", (), (builder.intern(Function("cos", (minus,))),))])
    assert not is_folded(graph)
    assert Rebuild().apply(graph) == rebuilt(graph) != graph
