"""Corrupted graphs: one sign or one coefficient of a graph is changed, so that some output differs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Coefficient, Graph, Polynomial
from tests.graph.strategies import random_values


def corrupt(graph: Graph, generator: random.Random, attempts: int = 100) -> Graph:
    """The graph with one sign flipped or one coefficient changed in a live node.

    A change without effect (the sign of a cosine's argument, of a squared factor) is found by evaluating both graphs in
    doubles, and another one is tried: the wrong graph is known to be wrong without any proof.
    """
    places = [
        (index, term)
        for index, node in enumerate(graph.nodes)
        if graph.live[index] and isinstance(node, Polynomial)
        for term in range(len(node.terms))
    ]
    for _ in range(attempts):
        index, term = generator.choice(places)
        wrong = _with_coefficient(graph, index, term, generator)
        if differs(graph, wrong, generator):
            return wrong
    raise AssertionError(f"{attempts} changes had no effect on any output")


def _with_coefficient(graph: Graph, index: int, position: int, generator: random.Random) -> Graph:
    node = graph.nodes[index]
    assert isinstance(node, Polynomial)
    terms = list(node.terms)
    coefficient, factors = terms[position]
    terms[position] = (_other_coefficient(coefficient, generator), factors)
    nodes = list(graph.nodes)
    nodes[index] = Polynomial(tuple(terms))
    return Graph(tuple(nodes), graph.outputs)


def _other_coefficient(coefficient: Coefficient, generator: random.Random) -> Coefficient:
    changes = (-1, 2, Fraction(1, 2), Fraction(1_000_001, 1_000_000), Fraction(generator.randint(2, 99), 101))
    return coefficient * generator.choice(changes)


def differs(first: Graph, second: Graph, generator: random.Random) -> bool:
    """Do the outputs differ by more than rounding at one of three random points?"""
    for _ in range(3):
        values = random_values(first, generator.getrandbits(32), 0.3, 1.7)
        if _differ_at(first, second, values):
            return True
    return False


def _differ_at(first: Graph, second: Graph, values: Mapping[str, float]) -> bool:
    left, right = interpret(first, values), interpret(second, values)
    return any(
        not np.allclose(left[output.name], right[output.name], rtol=1e-9, atol=1e-11) for output in first.outputs
    )
