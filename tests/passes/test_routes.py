"""The routes of each effort: data that can be printed, and is what `reduce` does."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.errors import GraphError
from kinegraph.graph.count import count
from kinegraph.graph.text import read
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import Cheapest, Large, Small, Unchanged, passes_text, read_passes, routes

GRAPH = read('%0 = coordinate "q"\n%1 = velocity "v"\n%2 = sin %0\n%3 = %1 %2^2 + %2\noutput "y" () = %3\n')


@pytest.mark.parametrize("effort", Effort)
def test_passes_of_every_route_are_read_back_from_what_is_printed(effort: Effort) -> None:
    for route in routes(effort, seconds=8, seed=3):
        assert read_passes(passes_text(route.passes)) == route.passes
        assert passes_text(route.passes) in str(route)


def test_reduce_runs_the_routes_of_its_effort() -> None:
    expected = ["rebuild", "dead_code", "fast_extract", "trigonometric_identities", "fast_extract", "analytic"]
    names = [report.name for report in kg.reduce(GRAPH, kg.Effort.QUICK).reports]
    assert names in (expected, [*expected[:4], "analytic"])  # identities that change nothing end their route


def test_the_quick_routes_as_text() -> None:
    assert [str(route) for route in routes(Effort.QUICK)] == [
        "factored: fast_extract; up to 12000 nodes",
        "simplified: trigonometric_identities, fast_extract; up to 1500 nodes",
        (
            "written out: analytic(work=1000000, terms=300, total=1500, forms=2, greedy=true); "
            "up to 1500 nodes (200 with rates)"
        ),
    ]


def test_conditions() -> None:
    other = read('%0 = coordinate "q"\noutput "y" () = %0\n')
    assert Small(4).holds(GRAPH, {})
    assert not Small(3).holds(GRAPH, {})
    assert Large(count(GRAPH).total).holds(GRAPH, {})
    assert not Large(count(GRAPH).total + 1).holds(GRAPH, {})
    assert not Small(4, with_rates=3).holds(GRAPH, {})
    assert Small(4, with_rates=0).holds(other, {})
    assert Unchanged("a").holds(GRAPH, {"a": GRAPH})
    assert not Unchanged("a").holds(GRAPH, {"a": other})
    assert Cheapest("b", ("a", "b")).holds(GRAPH, {"a": GRAPH, "b": other})
    assert not Cheapest("a", ("a", "b")).holds(GRAPH, {"a": GRAPH, "b": other})


def test_starts() -> None:
    other = read('%0 = coordinate "q"\noutput "y" () = %0\n')
    first, *_ = routes(Effort.NORMAL)
    searched = next(route for route in routes(Effort.NORMAL) if route.name == "searched")
    assert first.start(GRAPH, {}) is GRAPH
    assert searched.start(GRAPH, {"factored": GRAPH, "simplified": other}) is other


def test_an_effort_may_be_a_word_and_no_other() -> None:
    """Any word but an effort's own used to begin a search of a minute."""
    names = [[report.name for report in kg.reduce(GRAPH, effort).reports] for effort in ("quick", Effort.QUICK)]
    assert names[0] == names[1]
    with pytest.raises(GraphError, match="effort: unknown value 'hard'; choose one of quick, normal, search"):
        kg.reduce(GRAPH, "hard")
