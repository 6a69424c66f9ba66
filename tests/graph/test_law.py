"""The law: one graph per clause that breaks it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kinegraph.errors import GraphError
from kinegraph.graph import law
from kinegraph.graph.node import Function, Graph, Kind, Node, Output, Polynomial, Symbol

X, Y = Symbol(Kind.COORDINATE, "x"), Symbol(Kind.COORDINATE, "y")


def refuses(match: str, *nodes: Node, outputs: tuple[Output, ...] = ()) -> None:
    with pytest.raises(GraphError, match=match):
        law.check(Graph((X, Y, *nodes), outputs))


def test_a_good_graph_passes() -> None:
    nodes = (X, Y, Polynomial(()), Polynomial(((Fraction(1, 2), ((0, 2), (1, 1))), (3, ()))), Function("sin", (3,)))
    law.check(Graph(nodes, (Output("a", (), (4,)), Output("b", (2,), (2, 2)))))


def test_nodes_are_distinct() -> None:
    refuses("node 2 repeats node 0", X)


def test_terms_are_distinct() -> None:
    refuses("node 2 has two terms with the same factors", Polynomial(((1, ((0, 1),)), (2, ((0, 1),)))))


def test_coefficients_are_not_zero() -> None:
    refuses("node 2 has the coefficient 0", Polynomial(((0, ((0, 1),)),)))


@pytest.mark.parametrize("coefficient", [0.5, True, 1j])
def test_coefficients_are_exact(coefficient: object) -> None:
    refuses("must be exact", Polynomial(((coefficient, ((0, 2),)),)))  # type: ignore[arg-type]


def test_whole_coefficients_are_integers() -> None:
    refuses("integer coefficient written as a fraction", Polynomial(((Fraction(2), ((0, 1),)),)))


def test_factors_are_in_order() -> None:
    refuses("out of order or repeated", Polynomial(((1, ((1, 1), (0, 1))),)))


def test_factors_are_distinct() -> None:
    refuses("out of order or repeated", Polynomial(((1, ((0, 1), (0, 2))),)))


@pytest.mark.parametrize("exponent", [0, -1])
def test_exponents_are_positive(exponent: int) -> None:
    refuses(f"has the exponent {exponent}", Polynomial(((1, ((0, exponent), (1, 1))),)))


def test_exponents_are_whole() -> None:
    refuses("has the exponent 1.5", Polynomial(((1, ((0, 1.5),)),)))  # type: ignore[arg-type]


def test_nodes_are_no_aliases() -> None:
    refuses("node 2 is the same as node 0", Polynomial(((1, ((0, 1),)),)))


@pytest.mark.parametrize("child", [2, 3, -1])
def test_children_come_first(child: int) -> None:
    refuses("children must come first", Polynomial(((2, ((child, 1),)),)))
    refuses("children must come first", Function("sin", (child,)))


def test_functions_are_known() -> None:
    refuses("applies 'sinus' to 1", Function("sinus", (0,)))


@pytest.mark.parametrize(("name", "arguments"), [("sin", ()), ("sin", (0, 1)), ("atan2", (0,)), ("select", (0, 1))])
def test_functions_have_their_arguments(name: str, arguments: tuple[int, ...]) -> None:
    refuses(f"applies '{name}' to {len(arguments)} arguments", Function(name, arguments))


def test_symbols_have_names() -> None:
    refuses("node 2 is not a polynomial, a function, or a symbol", Symbol(Kind.TIME, ""))


def test_nodes_are_of_three_sorts() -> None:
    refuses("node 2 is not a polynomial, a function, or a symbol", ("sin", 0))  # type: ignore[arg-type]


def test_output_names_are_distinct() -> None:
    refuses("two outputs have the same name", outputs=(Output("a", (), (0,)), Output("a", (), (1,))))


@pytest.mark.parametrize("node", [2, -1])
def test_outputs_refer_to_nodes(node: int) -> None:
    with pytest.raises(GraphError, match=f"output a refers to node {node}"):
        law.check(Graph((X, Y), (Output("a", (), (node,)),)))


def test_outputs_fill_their_shape() -> None:
    with pytest.raises(GraphError, match=r"shape \(2, 2\) does not hold 3 nodes"):
        Graph((X,), (Output("a", (2, 2), (0, 0, 0)),))
