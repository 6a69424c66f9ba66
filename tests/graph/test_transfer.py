"""Transfer of graphs: binding symbols to numbers, and joining graphs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import GraphError
from kinegraph.graph import law, text
from kinegraph.graph.build import GraphBuilder, bind, join, transfer
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind
from kinegraph.graph.proof import prove
from tests.graph.mechanics import newton_euler, rotation_product
from tests.graph.strategies import TAME, exact_values, graphs


def test_binding_folds() -> None:
    graph = text.read(
        '%0 = parameter "m"\n%1 = coordinate "x"\n%2 = %0 %1\n%3 = reciprocal %0\n%4 = %2 + %3\noutput "out" () = %4\n'
    )
    assert text.dump(bind(graph, {"m": Fraction(1, 2)})) == (
        '%0 = coordinate "x"\n%1 = 2 + 1/2 %0\noutput "out" () = %1\n'
    )
    with pytest.raises(GraphError, match="exactly zero"):
        bind(graph, {"m": 0})


def test_binding_never_touches_pi() -> None:
    graph = text.read('%0 = constant "pi"\n%1 = parameter "pi"\n%2 = %0 %1\noutput "out" () = %2\n')
    assert text.dump(bind(graph, {"pi": 3})) == '%0 = constant "pi"\n%1 = 3 %0\noutput "out" () = %1\n'


@given(graphs(functions=TAME), st.integers(0, 1000), st.booleans())
def test_binding_keeps_values(graph: Graph, seed: int, everything: bool) -> None:
    values = exact_values(graph, seed)
    bound_names = values if everything else {s.name for s in graph.symbols(Kind.PARAMETER)}
    bound = bind(graph, {name: value for name, value in values.items() if name in bound_names})
    law.check(bound)
    assert not {symbol.name for symbol in bound.symbols()} & set(bound_names)
    for name, expected in interpret(graph, values).items():
        size = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(interpret(bound, values)[name], expected, rtol=1e-9, atol=1e-9 * size)


def test_transfer_moves_only_what_is_wanted() -> None:
    graph = rotation_product([2, 1])
    only = [index < 2 for index in range(len(graph))]
    assert sorted(transfer(graph, GraphBuilder(), only=only)) == [0, 1]


def test_joined_graphs_share_nodes_and_keep_their_meaning() -> None:
    first, second = newton_euler([2, 1, 0]), rotation_product([2, 1, 0])
    both = join([first, second])
    law.check(both)
    assert len(both) < len(first) + len(second)
    for graph in (first, second):
        part = Graph(both.nodes, tuple(both.output(output.name) for output in graph.outputs))
        assert prove(graph, part)
