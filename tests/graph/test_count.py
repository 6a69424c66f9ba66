"""The counting convention of the literature, on graphs that can be counted by hand."""

from __future__ import annotations

import pytest

from kinegraph.graph import text
from kinegraph.graph.count import Operations, count

HEAD = '%0 = coordinate "x"\n%1 = coordinate "y"\n%2 = parameter "m"\n%3 = parameter "l"\n'


def counted(*definitions: str) -> Operations:
    """The count of a graph over x (%0), y (%1), m (%2), l (%3) whose last node is the output."""
    lines = [f"%{index} = {definition}" for index, definition in enumerate(definitions, start=4)]
    return count(text.read(HEAD + "\n".join(lines) + f'\noutput "out" () = %{3 + len(definitions)}\n'))


@pytest.mark.parametrize(
    ("definition", "mul", "add"),
    [
        ("%0 %1", 1, 0),
        ("%0 + %1", 0, 1),
        ("%0 - %1", 0, 1),
        ("-%0 - %1", 0, 1),  # signs are free
        ("-%0", 0, 0),
        ("%0^2", 1, 0),
        ("%0^5", 4, 0),
        ("%0^2 %1^3", 4, 0),
        ("2 %0", 1, 0),
        ("-1/2 %0 %1", 2, 0),
        ("%0 %2", 1, 0),
        ("%0 %2 %3", 1, 0),  # m l is one constant
        ("3 %0 %2^2 %3", 1, 0),
        ("%0 + 5", 0, 1),
        ("%0 + %2", 0, 1),
        ("%0 + 5 + 2 %2 + %2 %3", 0, 1),  # all static terms are one constant
        ("%2 %3 + %2", 0, 0),  # static altogether
        ("%0 %1 + 2 %0 - %1^2 + 1", 3, 3),
    ],
)
def test_polynomials(definition: str, mul: int, add: int) -> None:
    assert counted(definition) == Operations(mul=mul, add=add)


def test_functions_have_their_own_columns() -> None:
    found = counted("sin %0", "cos %0", "sqrt %1", "reciprocal %1", "exp %0", "atan2 %0 %1", "%4 %5 %6 %7 %8 %9")
    assert found == Operations(mul=5, sin=1, cos=1, sqrt=1, div=1, other=2)


def test_static_functions_are_free() -> None:
    assert counted("sin %2", "%0 %4") == Operations(mul=1)


def test_dead_nodes_are_free_and_shared_nodes_count_once() -> None:
    assert counted("%0 + %1", "%0 %1", "%4^2 + 2 %4") == Operations(mul=2, add=2)


def test_operations_add_and_print() -> None:
    total = Operations(mul=1, add=2) + Operations(mul=3, sin=1)
    assert total == Operations(mul=4, add=2, sin=1)
    assert total.total == 6
    assert str(total) == "4 mul, 2 add, 1 sin"
    assert str(Operations()) == "0 mul, 0 add"
    assert str(Operations(other=10)) == "0 mul, 0 add, 10 other"
