"""The compiled search: proved, deterministic, never worse than the factoring it starts from."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.passes.compiled_search import layout
from kinegraph.passes.compiled_search.anneal import Engine
from kinegraph.passes.effort import Annealing, Budget
from kinegraph.passes.expand import Analytic
from kinegraph.passes.factoring.alternatives import Alternatives, relations
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.search import Search, search
from tests.passes.machines import arm_6r
from tests.passes.systems import graphs


@given(graph=graphs())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_engine_keeps_what_is_computed(graph: Graph) -> None:
    translation = to_system(graph)
    engine = Engine(translation.system, seed=3, ways=Alternatives(relations=relations(translation)))
    engine.run(Budget(work=3000))
    result = to_graph(translation)
    law.check(result)
    prove(graph, result).require()
    assert count(result).total <= count(graph).total
    assert count(result).total <= engine.best_value  # dead angles are counted by the engine only


def test_compiled_search_is_deterministic_and_reaches_the_record() -> None:
    graph = arm_6r()
    step = Analytic(Budget(work=4_000_000), seed=1)
    first, second = step.apply(graph), step.apply(graph)
    assert first == second
    prove(graph, first).require()
    assert count(first).total <= 122


def test_running_out_of_room_goes_on_from_the_best() -> None:
    graph = arm_6r()
    translation = to_system(graph)
    engine = Engine(translation.system)
    engine.run(Budget(work=100_000))
    engine._memory[layout.JOURNAL_ROOM] = 70  # full at once
    engine.run(Budget(work=300_000))
    assert engine._room > 1
    prove(graph, to_graph(translation)).require()


def test_search_with_seconds_ends() -> None:
    graph = arm_6r()
    result = Search(Budget(seconds=0.5)).apply(graph)
    assert count(result).total < count(graph).total


def test_systems_without_choices_are_not_searched() -> None:
    """One sum of products that share nothing: no step could change it."""
    builder = GraphBuilder()
    x, y, z, w = (builder.symbol(Kind.INPUT, name) for name in "xyzw")
    total = builder.add(builder.multiply(x, y), builder.multiply(z, w))
    system = to_system(builder.graph([Output("y", (), (total,))])).system
    engine = Engine(system)
    engine.run(Budget(work=10**9))
    assert engine.iteration == 0 and len(system.expressions) == 1


def test_monomials_too_high_for_the_search_are_factored_without_it(caplog: pytest.LogCaptureFixture) -> None:
    builder = GraphBuilder()
    x, y = (builder.symbol(Kind.INPUT, name) for name in "xy")
    total = builder.polynomial((1, ((x, 12 + i), (y, 8 + i))) for i in range(1, 5))
    graph = builder.graph([Output("y", (), (total,))])
    translation = to_system(graph)
    search(translation.system, Budget(work=10), 0, Annealing())
    assert "very high degree" in caplog.text
    found = to_graph(translation)
    prove(graph, found).require()
    assert count(found).total < count(graph).total
