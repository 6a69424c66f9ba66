"""Variables of stored graphs carry the names of the model's definitions."""

import pytest
from sqlalchemy import text

import kinegraph as kg
from kinegraph.store import Store, check, open_store
from kinegraph.store.models import add
from kinegraph.store.queries import Question, answer_to
from kinegraph.store.reduction import reduce_by_updates
from tests.notation.test_defined import NAMED


@pytest.fixture
def named(store: Store) -> Store:
    add(store, NAMED, "forces")
    return store


def defined(store: Store, reference: str) -> dict[str, str]:
    return {name: what for _, name, what in answer_to(store, Question("defined", (reference,))).rows}


def test_definitions_of_coordinates_rates_and_points_are_found(named):
    found = defined(named, "named")
    assert found["gamma"] in ("q1 + q2", "q2 + q1")
    assert {name.removeprefix("-") for name in found} >= {"gamma", "load", "height", "w", "x1"}
    assert "idle" not in found


def test_a_reduction_inside_the_database_names_them_again(named):
    assert defined(named, "named:initial")
    reduce_by_updates(named, "named:initial", "products")
    assert {name.removeprefix("-") for name in defined(named, "named:by updates")} >= {"gamma", "height"}
    assert check(named)


def test_an_older_store_learns_the_names(named, target):
    before = defined(named, "named"), defined(named, "named:initial")
    with named.writing() as connection:
        connection.execute(text("DROP TABLE defined"))
        connection.execute(text("UPDATE kinegraph_store SET schema_version = 3"))
    again = open_store(target)
    assert (defined(again, "named"), defined(again, "named:initial")) == before
    again.close()


def test_a_store_with_one_name_for_a_variable_keeps_its_rows(named, target):
    before = defined(named, "named"), defined(named, "named:initial")
    with named.writing() as connection:
        rows = connection.execute(text("SELECT graph, variable, definition, negative FROM defined")).all()
        connection.execute(text("DROP TABLE defined"))
        connection.execute(
            text(
                "CREATE TABLE defined (graph INTEGER NOT NULL REFERENCES graph (id) ON DELETE CASCADE, "
                "variable INTEGER NOT NULL, definition TEXT NOT NULL, negative BOOLEAN NOT NULL, "
                "PRIMARY KEY (graph, variable))"
            )
        )
        insert = text("INSERT INTO defined VALUES (:graph, :variable, :definition, :negative)")
        connection.execute(insert, [dict(row._mapping) for row in rows])
        connection.execute(text("UPDATE kinegraph_store SET schema_version = 4"))
    again = open_store(target)
    assert (defined(again, "named"), defined(again, "named:initial")) == before
    with again.writing() as connection:  # now a variable may have another name
        first = connection.execute(text("SELECT graph, variable FROM defined")).first()
        values = {"graph": first.graph, "variable": first.variable, "definition": "again", "negative": False}
        connection.execute(insert, values)
    assert "again" in {**defined(again, "named"), **defined(again, "named:initial")}
    again.close()


def test_models_without_definitions_have_none(store):
    add(store, kg.load("double-pendulum"), "H")
    assert defined(store, "double-pendulum") == {}
