"""Neutral elements and identical expressions, removed by updates in the database."""

from fractions import Fraction

import pytest

from kinegraph.graph import law
from kinegraph.graph.build import bind
from kinegraph.graph.count import count
from kinegraph.graph.node import Function, Graph, Kind, Output, Polynomial, Symbol
from kinegraph.graph.proof import prove
from kinegraph.store import check, eliminate, load
from tests.effort import SOAK
from tests.store.graphs import put, random_graph

NUMBERS = {"p0": 0, "p1": 1, "p2": -1, "p3": 0, "p4": 1}


@pytest.mark.parametrize("seed", range(12 if SOAK else 2))
def test_the_result_is_equal_and_keeps_the_law(shared_store, seed):
    graph = random_graph(seed, nodes=120)
    saved = put(shared_store, graph, f"model{seed}", p5=Fraction(1, 3), **NUMBERS)
    for numeric in (False, True):
        rewritten = eliminate(shared_store, saved.graphs[0], numeric=numeric)
        found = load(shared_store, rewritten.graph)
        law.check(found)
        values = NUMBERS if numeric else {}
        assert prove(bind(graph, values), bind(found, values))
        assert rewritten.passes[-1].operations == count(found)
        assert count(found).total <= count(graph).total
    assert load(shared_store, saved.graphs[0]) == graph
    assert check(shared_store)


def graph_of(*nodes, outputs=None):
    last = len(nodes) - 1
    return Graph(tuple(nodes), (Output("y", (), (last,)),) if outputs is None else outputs)


Q, P = Symbol(Kind.COORDINATE, "q"), Symbol(Kind.PARAMETER, "p")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, (Q,)),  # p q + q: the product goes
        (1, (Q, Polynomial(((2, ((0, 1),)),)))),  # p q + q = 2 q: like terms join
        (-1, (Polynomial(()),)),  # p q + q = 0: they cancel
        (3, (Q, P, Polynomial(((1, ((0, 1), (1, 1))), (1, ((0, 1),)))))),  # not neutral
    ],
)
def test_products_with_a_parameter(store, value, expected):
    put(store, graph_of(Q, P, Polynomial(((1, ((0, 1), (1, 1))), (1, ((0, 1),))))), p=value)
    assert load(store, eliminate(store, "model", numeric=True).graph).nodes == expected


def test_functions_of_neutral_numbers(store):
    nodes = (P, Function("sin", (0,)), Function("cos", (0,)), Q, Polynomial(((1, ((2, 1), (3, 1))), (5, ((1, 1),)))))
    put(store, graph_of(*nodes), p=0)
    assert load(store, eliminate(store, "model", numeric=True).graph).nodes == (Q,)


def test_a_negative_stays_where_it_is_shown(store):
    nodes = (Q, P, Polynomial(((1, ((0, 1), (1, 1))),)), Polynomial(((1, ((2, 3),)), (1, ((0, 1),)))))
    outputs = (Output("minus", (), (2,)), Output("y", (), (3,)))
    put(store, graph_of(*nodes, outputs=outputs), p=-1)
    found = load(store, eliminate(store, "model", numeric=True).graph)
    assert found.nodes[found.output("minus").nodes[0]] == Polynomial(((-1, ((0, 1),)),))
    assert prove(found, bind(graph_of(*nodes, outputs=outputs), {"p": -1}))


def test_identical_expressions_of_different_levels(store):
    square = Polynomial(((1, ((0, 2),)),))
    nodes = (Q, P, Polynomial(((1, ((0, 1), (1, 1))),)), square, Polynomial(((1, ((2, 2),)),)),
             Polynomial(((1, ((3, 1),)), (-1, ((4, 1),)), (Fraction(1, 3), ((0, 1),)))))  # fmt: skip
    put(store, graph_of(*nodes), p=1)
    found = load(store, eliminate(store, "model", numeric=True).graph)
    assert found.nodes == (Q, Polynomial(((Fraction(1, 3), ((0, 1),)),)))
