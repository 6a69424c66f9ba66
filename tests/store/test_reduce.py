"""Pipelines run on stored graphs; the result and the way to it are kept."""

from __future__ import annotations

import json

import pytest

import kinegraph as kg
from kinegraph.errors import GraphError, StoreError
from kinegraph.graph.count import count
from kinegraph.passes.pipeline import read_passes
from kinegraph.store import Store, add, check, load, reduce_stored
from kinegraph.store.elimination import finished, working_copy
from kinegraph.store.graphs import compact, read_graph, read_nodes, read_outputs
from kinegraph.store.queries import Question, answer_to
from kinegraph.store.reduction import origin_of, reduce_by_updates, updated
from tests.cli.run import runner

PASSES = "expand(forms=0), products, monomials(degree=4)"


@pytest.fixture(scope="module")
def arm(shared_store: Store) -> Store:
    add(shared_store, "double-pendulum", "H,C,gravity")
    return shared_store


def test_passes_do_to_a_stored_graph_what_they_do_to_any(arm):
    found = reduce_stored(arm, "double-pendulum", PASSES)
    initial = load(arm, "double-pendulum:initial")
    expected = kg.reduce(initial, passes=read_passes(PASSES))
    kept = load(arm, found.graph)
    assert kept == expected.graph and found.proved and kg.prove(initial, kept)
    assert [one.name for one in found.counts] == ["initial", *(one.name for one in expected.reports), "best"]
    assert found.counts[-1].operations == count(kept) and load(arm, "double-pendulum:by passes") == kept


def test_the_way_to_it_is_kept(arm):
    found = reduce_stored(arm, "double-pendulum", PASSES, stage="mine")
    sql = f"SELECT origin, passes FROM reduction WHERE graph = {found.graph}"
    assert answer_to(arm, Question("sql", (sql,))).rows == ((found.origin, PASSES),)
    counts = answer_to(
        arm, Question("sql", (f"SELECT name FROM pass_count WHERE graph = {found.graph} ORDER BY ordinal",))
    )
    assert [row[0] for row in counts.rows] == [one.name for one in found.counts]
    assert load(arm, "double-pendulum:mine") == load(arm, found.graph) and check(arm)


def test_an_effort_gives_what_adding_gives(arm):
    found = reduce_stored(arm, "double-pendulum", effort=kg.Effort.QUICK)
    assert found.stage == "reduced" and found.passes == "effort quick"
    assert load(arm, found.graph) == kg.reduce(load(arm, "double-pendulum:initial"), kg.Effort.QUICK).graph


def test_a_reduced_graph_can_be_reduced_further(arm):
    first = reduce_stored(arm, "double-pendulum", "products", stage="first")
    second = reduce_stored(arm, f"#{first.graph}", "monomials", stage="second")
    assert second.origin == first.graph and second.counts[0].operations == first.counts[-1].operations


def test_what_is_wrong_is_said_and_nothing_saved(arm):
    before = answer_to(arm, Question("sql", ("SELECT COUNT(*) FROM graph",))).rows
    with pytest.raises(GraphError, match="unknown pass 'produts'"):
        reduce_stored(arm, "double-pendulum", "produts")
    with pytest.raises(StoreError, match="no stage 'nothing'"):
        reduce_stored(arm, "double-pendulum:nothing", "products")
    assert answer_to(arm, Question("sql", ("SELECT COUNT(*) FROM graph",))).rows == before


def test_the_command(arm, capsys):
    run = runner(capsys)
    result = run(f"store reduce double-pendulum --store '{arm.where}' --passes 'products, monomials' --json")
    if result.code and "://" in arm.where:
        pytest.skip("the address of the server hides its password")
    found = json.loads(result.out)
    assert found["stage"] == "by passes" and found["passes"] == "products, monomials" and found["proved"]
    result = run(f"store query bodies double-pendulum --store '{arm.where}' --json")
    assert [row["name"] for row in json.loads(result.out)["rows"]] == [
        b.name for b in kg.load("double-pendulum").bodies
    ]


def test_updates_lead_where_passes_lead(arm):
    """Row by row inside the database: the same operations after each pass, the result proved, the store whole."""
    found = reduce_by_updates(arm, "double-pendulum", PASSES)
    initial, graph = load(arm, "double-pendulum:initial"), load(arm, found.graph)
    beside = initial
    for step, counted in zip(read_passes(PASSES), found.counts[1:], strict=True):
        beside = step.apply(beside)
        assert count(beside) == counted.operations
    assert kg.prove(initial, graph) and count(graph) == found.counts[-1].operations
    assert found.stage == "by updates" and check(arm)


def test_an_update_keeps_the_rows_of_what_does_not_change(arm):
    """Symbols, sines and cosines at least stay where they are."""
    with arm.writing() as connection:
        origin = origin_of(connection, "double-pendulum")
        work = working_copy(connection, origin)
        graph = read_graph(connection, work)
        changed = updated(connection, work, read_passes("expand(forms=0)")[0].apply(graph))
        again = updated(connection, work, compact(read_nodes(connection, work), read_outputs(connection, work)))
        finished(connection, origin.id, work, "once", ())
    assert 0 < changed.remaining < len(graph.nodes) and changed.deleted == len(graph.nodes) - changed.remaining
    assert (again.added, again.deleted) == (0, 0)


def test_updates_without_passes_are_refused(arm):
    with pytest.raises(GraphError, match="no pass given"):
        reduce_by_updates(arm, "double-pendulum", "")
