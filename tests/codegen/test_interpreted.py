"""Graphs as Python functions: the numbers of the interpreter, however deep their expressions are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from tests.graph.strategies import graphs, random_values


def kernel_of(graph: Graph) -> InterpretedKernel:
    return InterpretedKernel(graph, [Argument("x", moving(graph))])


def moving(graph: Graph) -> tuple[Symbol, ...]:
    return graph.symbols(*(kind for kind in Kind if kind is not Kind.CONSTANT))


@given(graphs(), st.integers(0, 1000))
def test_numbers_are_those_of_the_interpreter(graph: Graph, seed: int) -> None:
    values = random_values(graph, seed)
    found = kernel_of(graph)([values[symbol.name] for symbol in moving(graph)])
    expected = interpret(graph, values)
    for output in graph.outputs:
        one = found[output.name] if len(graph.outputs) > 1 else found
        for ours, reference in zip(np.ravel(one), np.ravel(expected[output.name]), strict=True):
            # Ill-conditioned points (a pole, a jump) are not what is tested here.
            assert np.isnan(ours) or not np.isfinite(reference) or ours == pytest.approx(reference, rel=1e-6, abs=1e-6)


def test_chains_of_values_used_once_are_read_at_any_length() -> None:
    builder = GraphBuilder()
    x, y = (builder.symbol(Kind.COORDINATE, name) for name in "xy")
    total = x
    for _ in range(1000):  # Python reads at most some two hundred brackets within each other
        total = builder.add(builder.multiply(total, y), x)
    graph = builder.graph([Output("total", (), (total,))])
    assert float(kernel_of(graph)([0.3, 0.5])) == float(np.asarray(interpret(graph, {"x": 0.3, "y": 0.5})["total"]))


def test_selections_within_each_other_are_written_once() -> None:
    builder = GraphBuilder()
    x, y = (builder.symbol(Kind.COORDINATE, name) for name in "xy")
    value = x
    for number in range(60):  # written out where it is used, each would double the text
        value = builder.apply("select", builder.add(value, builder.number(number)), builder.add(value, y), value)
    graph = builder.graph([Output("value", (), (value,))])
    assert float(kernel_of(graph)([1.0, -0.5])) == float(np.asarray(interpret(graph, {"x": 1.0, "y": -0.5})["value"]))
