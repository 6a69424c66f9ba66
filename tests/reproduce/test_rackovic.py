"""The dissertation's tables of single elements, its final model and its series, as far as they are quick."""

from collections import Counter

import pytest

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.reproduce.document import Verdict
from kinegraph.reproduce.rackovic_elements import (
    CORRECTIONS,
    Comparison,
    Program,
    complete_expressions,
    model_3_1,
    printed_h11,
    simplified_expressions,
)
from kinegraph.reproduce.rackovic_walker import SERIES, mechanism_of, reduced_part, totals


def test_model_3_1_is_ours_but_for_its_misprints() -> None:
    found = Counter(entry.verdict for entry in model_3_1())
    assert found[Verdict.UNEXPLAINED] == 0
    assert found[Verdict.AGREES] == 82


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return Comparison()


@pytest.mark.parametrize("line", CORRECTIONS)
def test_every_correction_is_needed(line: str, compared: Comparison) -> None:
    """Without one of them some element is wrong, or stands on a name that no line defines."""
    lines = {name: text for name, (text, _) in CORRECTIONS.items() if name != line}
    program = Program({**compared.printed, **lines})
    needing = [one for one in compared.elements() if one[0] in compared.printed and line in program.needs(one[0])]
    assert not all(compared.equal(program, name, node) for name, node in needing)


def test_printed_forms_of_h11_are_ours_when_corrected() -> None:
    assert [entry.verdict for entry in printed_h11()] == [Verdict.EXPLAINED, Verdict.AGREES] * 3


def test_single_elements_take_the_operations_that_are_printed() -> None:
    """Table 3.1 to the digit in most places; the printed sums are right but for one."""
    first, second = complete_expressions(), simplified_expressions()
    assert Counter(entry.verdict for entry in first)[Verdict.AGREES] >= 140
    assert [entry.name for entry in second if entry.name.startswith("sum") and entry.verdict is not Verdict.AGREES] == [
        "sum of the printed table: add"
    ]
    assert not [entry for entry in (*first, *second) if entry.verdict is Verdict.UNEXPLAINED]


def test_series_add_up_to_the_walker() -> None:
    """The element that all three series share, H_11."""
    from kinegraph.compiler.derive import in_closed_form
    from kinegraph.compiler.mechanism_source import load
    from kinegraph.graph.build import GraphBuilder, copied

    builder, parts = GraphBuilder(), []
    for series in SERIES:
        graph = in_closed_form(mechanism_of(series), "H", {})
        parts.append(copied(graph, builder)[graph.output("H").nodes[0]])
    total = builder.polynomial((1, ((part, 1),)) for part in parts)
    whole = in_closed_form(load("rackovic-14r"), "H", {})
    alone = Graph(whole.nodes, (Output("x", (), (whole.output("H").nodes[0],)),))
    assert prove(alone, builder.graph([Output("x", (), (total,))]))


def test_parts_of_a_short_series_are_reduced_and_proved() -> None:
    from kinegraph.compiler.derive import in_closed_form

    graph = in_closed_form(mechanism_of(SERIES[0]), "gravity", {})
    found = reduced_part(graph)
    assert found.final.total <= found.initial.total
    assert count(found.whole).total <= count(graph).total


@pytest.mark.soak
def test_as_many_quantities_as_the_dissertation_counts() -> None:
    assert [entry.verdict for entry in totals()][:2] == [Verdict.AGREES] * 2
