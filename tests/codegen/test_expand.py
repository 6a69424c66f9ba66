from __future__ import annotations

from fractions import Fraction

from kinegraph.codegen.llvm.module import expansion
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Output, Symbol

Q = Symbol(Kind.COORDINATE, "q")
M = Symbol(Kind.PARAMETER, "m")


def test_every_value_is_computed_once_and_constants_not_at_all() -> None:
    builder = GraphBuilder()
    q, m = builder.intern(Q), builder.intern(M)
    square, third, twice = builder.power(q, 2), builder.number(Fraction(1, 3)), builder.scale(2, m)
    matrix = Output("H", (2, 2), (square, third, third, q))
    vector = Output("f", (3,), (q, twice, square))
    graph = builder.graph([matrix, vector])
    found = expansion(bind(graph, [Argument("q", (Q,))], {"m": 5}))
    assert found.entries == ((0, 1 / 3, 1 / 3, 1), (1, 10.0, 0))
    assert [type(one) for one in found.entries[1]] == [int, float, int]
    (values,) = found.binding.graph.outputs
    assert values.nodes == (graph.outputs[0].nodes[0], graph.outputs[0].nodes[3])


def test_results_may_be_constants_alone() -> None:
    builder = GraphBuilder()
    found = expansion(bind(builder.graph([Output("c", (2,), (builder.zero, builder.pi()))]), [], {}))
    assert found.entries == ((0.0, 3.141592653589793),) and found.binding.output_size == 0
