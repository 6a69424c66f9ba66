"""Passes named in a text, read and written."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.errors import GraphError
from kinegraph.graph.count import largest_exponent
from kinegraph.graph.text import read
from kinegraph.passes.common_subexpressions import Rebuild
from kinegraph.passes.expand import Expand
from kinegraph.passes.pipeline import NAMED, RANGES, _options, passes_text, read_passes
from kinegraph.passes.rackovic import ExtractMonomials
from kinegraph.passes.search import Search

SQUARE = """\
%0 = input "a"
%1 = input "b"
%2 = %0^2 + 2 %0 %1 + %1^2
output "y" () = %2
"""


def test_names_and_options_make_passes() -> None:
    assert read_passes("rebuild, expand(forms=0), monomials(degree=4)") == (
        Rebuild(),
        Expand(forms=0),
        ExtractMonomials(degree=4),
    )


@pytest.mark.parametrize("name", NAMED)
def test_every_pass_can_be_named_written_and_run(name: str) -> None:
    (step,) = read_passes(name)
    assert passes_text((step,)) == name
    assert kg.reduce(read(SQUARE), passes=(step,)).proved


def test_a_pipeline_is_printed_as_it_is_read() -> None:
    text = (
        "rebuild, expand(forms=0), trigonometric_identities(double_sines=false), search(work=500), monomials(degree=4)"
    )
    assert passes_text(read_passes(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "by_parts(expand(forms=0), monomials(degree=2)), products",
        "series(by_parts(products), search(work=500)), rebuild",
        "by_parts, series",
        "expand(terms=5000, total=20000, growth=1000, steps=10000000)",
    ],
)
def test_passes_inside_passes_are_printed_as_they_are_read(text: str) -> None:
    assert passes_text(read_passes(text)) == text
    spaced = text.replace("(", " ( ").replace(")", " ) ").replace(",", " ,")
    assert read_passes(spaced) == read_passes(text)
    assert kg.reduce(read(SQUARE), passes=read_passes(text)).proved


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("by_parts(", "not closed"),
        ("by_parts(products", "not closed"),
        ("by_parts(products))", "cannot read"),
        ("series(expnd)", "unknown pass 'expnd'"),
        ("series(monomials(degree=0))", "out of range"),
        ("by_parts(choice=1)", "cannot read"),
        ("by_parts(" * 9 + "products" + ")" * 9, "nested too deeply"),
    ],
)
def test_what_is_wrong_inside_is_said(text: str, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        read_passes(text)


@pytest.mark.parametrize("text", ["", "  ", "expnd", "expand(", "expand(way=0)", "expand(forms=many)", "expand forms"])
def test_what_is_no_pass_is_refused(text: str) -> None:
    with pytest.raises(GraphError):
        read_passes(text)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("monomials(degree=-1)", "a whole number from 1 to "),
        ("monomials(degree=2.5)", "a whole number from 1 to "),
        ("monomials(degree=true)", "a whole number from 1 to "),
        ("monomials(degree=1000000000)", "a whole number from 1 to 12"),
        ("search(starts=1e30)", "a whole number from 1 to 10000"),
        ("search(starts=10001)", "a whole number from 1 to 10000"),
        ("search(seconds=1e9)", "a number from 0 to 10000000"),
        ("search(seed=18446744073709551616)", "from 0 to 18446744073709551615"),
        ("expand(forms=-1)", "a whole number from 0 to "),
        ("expand(terms=0)", "a whole number from 1 to "),
        ("analytic(total=0)", "a whole number from 1 to "),
        ("search(starts=0)", "a whole number from 1 to "),
        ("search(work=-1)", "a whole number from 0 to "),
        ("search(seed=-1)", "a whole number from 0 to "),
        ("search(seconds=-0.5)", "a number from 0 to "),
        ("search(seconds=true)", "a number from 0 to "),
        ("trigonometric_identities(double_sines=2)", "true or false"),
        ("trigonometric_identities(function_weight=-1)", "a number from 0 to "),
    ],
)
def test_options_out_of_range_are_refused_with_the_range(text: str, allowed: str) -> None:
    with pytest.raises(GraphError, match=allowed):
        read_passes(text)


def test_every_number_among_the_options_has_a_range() -> None:
    numbers = {
        option for kind in NAMED.values() for option, usual in _options(kind).items() if not isinstance(usual, bool)
    }
    assert numbers == set(RANGES)


@pytest.mark.parametrize("seconds", [1e-7, 0.1234567891, 1234567.5, 3])
def test_options_are_written_with_all_their_digits(seconds: float) -> None:
    (step,) = read_passes(passes_text(read_passes(f"search(seconds={seconds})")))
    assert isinstance(step, Search) and step.budget.seconds == seconds


def test_own_passes_report_costlier_steps_and_return_the_cheapest() -> None:
    graph = kg.reduce(read(SQUARE), kg.Effort.QUICK).graph
    reduction = kg.reduce(graph, passes=read_passes("expand(forms=0), rebuild"))
    assert [report.name for report in reduction.reports] == ["expand", "rebuild"]
    assert reduction.reports[0].after.total > kg.count(graph).total
    assert reduction.reports[0].largest_exponent == 2
    assert kg.count(reduction.graph).total == kg.count(graph).total


def test_the_largest_exponent() -> None:
    assert largest_exponent(read(SQUARE)) == 2
    assert largest_exponent(read('%0 = input "a"\noutput "y" () = %0\n')) == 1
