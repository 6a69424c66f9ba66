"""Properties of graphs and their nodes."""

from __future__ import annotations

import pytest

from kinegraph.graph import text
from kinegraph.graph.node import Kind, Symbol, children

GRAPH = text.read(
    '%0 = parameter "m"\n%1 = coordinate "x"\n%2 = sin %0\n%3 = 2 %1^2 %2 + %1\n%4 = cos %1\n%5 = time "t"\n'
    'output "a" (2) = %3 %3\noutput "b" () = %2\n'
)


def test_children_repeat() -> None:
    assert list(children(GRAPH.nodes[3])) == [1, 2, 1]
    assert list(children(GRAPH.nodes[2])) == [0]
    assert list(children(GRAPH.nodes[0])) == []


def test_analysis() -> None:
    assert GRAPH.static == (True, False, True, False, False, False)
    assert GRAPH.levels == (0, 0, 1, 2, 1, 0)
    assert GRAPH.live == (True, True, True, True, False, False)
    assert GRAPH.use_counts == (1, 2, 2, 2, 0, 0)
    assert len(GRAPH) == 6


def test_symbols_are_live_and_of_the_kinds_asked_for() -> None:
    assert [symbol.name for symbol in GRAPH.symbols()] == ["m", "x"]
    assert GRAPH.symbols(Kind.PARAMETER) == (Symbol(Kind.PARAMETER, "m"),)
    assert GRAPH.symbols(Kind.TIME, Kind.COORDINATE) == (Symbol(Kind.COORDINATE, "x"),)


def test_outputs_are_found_by_name() -> None:
    assert GRAPH.output("b").nodes == (2,)
    with pytest.raises(KeyError, match="c"):
        GRAPH.output("c")


def test_only_constants_and_parameters_are_static() -> None:
    assert [kind for kind in Kind if kind.static] == [Kind.CONSTANT, Kind.PARAMETER]
