from __future__ import annotations

from fractions import Fraction

import pytest

from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.errors import KernelError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol

Q = Symbol(Kind.COORDINATE, "q")
M = Symbol(Kind.PARAMETER, "m")


def product() -> Graph:
    builder = GraphBuilder()
    q, m = builder.intern(Q), builder.intern(M)
    return builder.graph([Output("f", (), (builder.multiply(builder.apply("sqrt", m), q),))])


def test_what_no_argument_reaches_is_static() -> None:
    binding = bind(product(), [Argument("q", (Q,))], {"m": 2})
    names = [binding.graph.nodes[index] for index in binding.statics]
    assert M in names and Q not in names and len(names) == 2


def test_a_parameter_passed_at_run_time_is_not_static_even_if_it_has_a_value() -> None:
    binding = bind(product(), [Argument("q", (Q,)), Argument("p", (M,))], {"m": 2})
    assert not binding.statics
    assert sorted(binding.inputs.values()) == [0, 1]


def test_a_missing_symbol_is_named_with_the_remedy() -> None:
    with pytest.raises(KernelError, match=r"parameter 'm'.*Argument.*parameters"):
        bind(product(), [Argument("q", (Q,))], {})


def test_pi_needs_no_value() -> None:
    builder = GraphBuilder()
    graph = builder.graph([Output("f", (), (builder.scale(3, builder.pi()),))])
    assert bind(graph, [], {}).input_size == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "3", None, 1j, True])
def test_parameters_must_be_finite_numbers(value: object) -> None:
    with pytest.raises(KernelError, match="'m'"):
        bind(product(), [Argument("q", (Q,))], {"m": value})  # type: ignore[dict-item]


@pytest.mark.parametrize("value", [2, 0.1, Fraction(1, 3)])
def test_parameters_are_taken_exactly(value: Fraction | int | float) -> None:
    assert bind(product(), [Argument("q", (Q,))], {"m": value}).parameters["m"] == Fraction(value)


def test_repeated_symbols_and_names_are_refused() -> None:
    with pytest.raises(KernelError, match="'q' stands twice"):
        bind(product(), [Argument("a", (Q,)), Argument("b", (Q,))], {"m": 1})
    with pytest.raises(KernelError, match="two arguments are called 'a'"):
        bind(product(), [Argument("a", (Q,)), Argument("a", (M,))], {})
