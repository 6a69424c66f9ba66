"""The text form: golden texts, exact reading back, and errors that name the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import GraphError
from kinegraph.graph import text
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.canonical import is_folded
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof import prove
from tests.graph.strategies import graphs, names

GOLDEN = """\
%0 = parameter "m"
%1 = coordinate "q1"
%2 = velocity "q1'"
%3 = acceleration "q1''"
%4 = time "t"
%5 = input "u"
%6 = constant "pi"
%7 = 1/3 %6
%8 = sin %7
%9 = 0
%10 = -7/2
%11 = -%0 + 3/2 %1 %8^2 - 1/4
%12 = atan2 %11 %2
%13 = select %3 %4 %5
output "scalar" () = %12
output "matrix" (2, 2) = %9 %10 %12 %13
output "empty" (0) =
"""


def rebuilt(graph: Graph) -> Graph:
    builder = GraphBuilder()
    return builder.graph(moved(graph.outputs, transfer(graph, builder)))


def test_golden_text_is_read_and_written_unchanged() -> None:
    assert text.dump(text.read(GOLDEN)) == GOLDEN


def test_the_example_of_the_module_is_readable() -> None:
    assert text.__doc__ is not None
    lines = [line.strip() for line in text.__doc__.splitlines() if line.startswith("    ")]
    assert text.dump(text.read("\n".join(lines))) == "\n".join(lines) + "\n"


def test_comments_blank_lines_and_line_ends() -> None:
    loose = '# a comment\r\n\r\n%0 = time "t"   \r\n\noutput "out" () = %0\n'
    assert text.dump(text.read(loose)) == '%0 = time "t"\noutput "out" () = %0\n'


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        pytest.param(
            '%0 = coordinate "x"\n%1 = %0\n',
            "node 1 is the same as node 0",
            id="alias",
        ),
    ],
)
def test_reading_checks_the_law(given_text: str, expected: str) -> None:
    with pytest.raises(GraphError, match=expected):
        text.read(given_text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '%0 = coordinate "x"\n%1 = 2 %0\n%2 = 3 %0\n%3 = %1 + %2\noutput "out" () = %3\n',
            '%0 = coordinate "x"\n%1 = 5 %0\noutput "out" () = %1\n',
            id="like terms",
        ),
        pytest.param(
            '%0 = coordinate "x"\n%1 = constant "pi"\n%2 = %0 + 1/2 %1\n%3 = sin %2\noutput "out" () = %3\n',
            '%0 = coordinate "x"\n%1 = cos %0\noutput "out" () = %1\n',
            id="right angle",
        ),
        pytest.param(
            '%0 = coordinate "x"\n%1 = coordinate "y"\n%2 = -%0 + %1\n%3 = sin %2\noutput "out" () = %3\n',
            '%0 = coordinate "x"\n%1 = coordinate "y"\n%2 = %0 - %1\n%3 = sin %2\n%4 = -%3\noutput "out" () = %4\n',
            id="sign outwards",
        ),
        pytest.param(
            '%0 = 4\n%1 = sqrt %0\n%2 = coordinate "x"\n%3 = select %1 %2 %0\noutput "out" () = %3\n',
            '%0 = coordinate "x"\noutput "out" () = %0\n',
            id="known condition",
        ),
    ],
)
def test_rebuilding_folds(before: str, after: str) -> None:
    assert text.dump(rebuilt(text.read(before))) == after


@given(graphs())
def test_every_graph_is_read_back_exactly(graph: Graph) -> None:
    assert text.read(text.dump(graph)) == graph


@given(names, names, st.sampled_from(Kind))
def test_every_name_is_read_back_exactly(symbol: str, output: str, kind: Kind) -> None:
    graph = Graph((Symbol(kind, symbol),), (Output(output, (1,), (0,)),))
    assert text.read(text.dump(graph)) == graph


@pytest.mark.parametrize("name", ['"', "\\", "a\nb", "a\u2028b", "a\x85b", "θ₁", "q$1", "\r", " %0 = "])
def test_awkward_names(name: str) -> None:
    graph = Graph((Symbol(Kind.INPUT, name),), (Output(name, (), (0,)),))
    assert text.read(text.dump(graph)) == graph


@given(graphs())
def test_rebuilding_a_built_graph_changes_nothing(graph: Graph) -> None:
    """How far products of static sums are multiplied out depends on how they came about: those mean the same."""
    again = rebuilt(graph)
    assert again == graph if is_folded(graph) else prove(graph, again)


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "%2 = 3",  # not the next id
        "%1 =",
        "%1 = ",
        "%1 = 1/0",
        "%1 = 1e9 %0",
        "%1 = 0.5 %0",
        "%1 = --%0",
        "%1 = 2 3 %0",
        "%1 = %0 + ",
        "%1 = %0 * %0",
        "%1 = %0^-1",
        '%1 = speed "v"',
        '%1 = coordinate "v',
        '%1 = coordinate "\\x"',
        'output "a" () = 30',
        'output "a" () = %0 nonsense',
        'output "a" (x) = %0',
    ],
)
def test_what_cannot_be_read_is_named_by_line(line: str) -> None:
    with pytest.raises(GraphError, match="line 2"):
        text.read(f'%0 = coordinate "x"\n{line}\n')


def test_a_wrong_shape_is_a_graph_error() -> None:
    with pytest.raises(GraphError, match="output a: shape"):
        text.read('%0 = coordinate "x"\noutput "a" (2) = %0\n')


def test_the_text_of_one_graph_is_written_once() -> None:
    builder = GraphBuilder()
    graph = builder.graph([Output("x", (), (builder.symbol(Kind.COORDINATE, "q"),))])
    again = Graph(graph.nodes, graph.outputs)
    assert text.dump(graph) is text.dump(graph)
    assert text.dump(again) == text.dump(graph)
