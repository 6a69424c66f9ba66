"""Graphs to be stored: random ones of any size, and the record of one."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Node, Output, Polynomial, Symbol
from kinegraph.store import GraphRecord, ModelRecord, SavedModel, Store, save

_COEFFICIENTS = (1, 1, -1, 2, Fraction(1, 3), Fraction(7, 10))


@cache
def random_graph(seed: int, nodes: int = 80, outputs: int = 5) -> Graph:
    """A graph of exactly this many nodes (dead ones too), parameters p0.., coordinates q0.., and sines and cosines."""
    generator = random.Random(seed)
    builder = GraphBuilder()
    for number in range(6):
        builder.symbol(Kind.COORDINATE, f"q{number}")
        builder.symbol(Kind.PARAMETER, f"p{number}")
    while len(builder.nodes) < nodes:
        size = len(builder.nodes)
        if generator.random() < 0.1:
            builder.apply(generator.choice(("sin", "cos")), generator.randrange(12))
        else:
            near = max(0, size - 500)
            terms = [
                (generator.choice(_COEFFICIENTS), tuple((generator.randrange(near, size), 1) for _ in range(2)))
                for _ in range(generator.choice((1, 2, 2, 3)))
            ]
            builder.polynomial(terms)
    codes = [generator.randrange(nodes // 2, nodes) for _ in range(outputs)]
    return Graph(tuple(builder.nodes[:nodes]), (Output("y", (outputs,), tuple(codes)),))


def long_graph(nodes: int) -> Graph:
    """As many nodes as wanted at once, three products and a fraction each: building it costs nothing."""
    made: list[Node] = [Symbol(Kind.COORDINATE, f"q{number}") for number in range(10)]
    for index in range(10, nodes):
        pairs = [((index - 7, 1), (index - 3, 1)), ((index - 9, 1), (index - 1, 2)), ((index - 5, 1),)]
        made.append(Polynomial(tuple(zip((1, Fraction(1, 3), -2), pairs, strict=True))))
    return Graph(tuple(made), (Output("y", (2,), (nodes - 1, nodes - 2)),))


def put(store: Store, graph: Graph, name: str = "model", **values: int | Fraction | float) -> SavedModel:
    """Save one graph as the initial stage of a mechanism."""
    words = tuple(output.name for output in graph.outputs)
    return save(store, ModelRecord(name, f"model {name};", (GraphRecord("initial", words, graph),), values))
