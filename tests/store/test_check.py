"""`check` finds whatever differs from what was saved."""

import pytest
from sqlalchemy import text

from kinegraph.errors import StoreError
from kinegraph.store import Form, check, form_expressions
from tests.store.graphs import put, random_graph

DAMAGE = [
    ("UPDATE mechanism SET text = 'other'", "text of model@1 differs from the one"),
    ("UPDATE term SET coefficient = coefficient + 7 WHERE variable > 70", "differs from the graph"),
    ("UPDATE term SET exact = '2/7' WHERE exact = '1/3'", "differs from the graph"),
    ("DELETE FROM factor WHERE variable = (SELECT MAX(variable) FROM factor)", "not a graph|differs from the graph"),
    ("UPDATE factor SET factor = factor + 9999 WHERE variable = (SELECT MAX(variable) FROM factor)", "a graph: node"),
    ("UPDATE variable SET level = level + 1 WHERE code = 30", "levels are wrong"),
    ("UPDATE variable SET name = 'other' WHERE name = 'q3'", "differs from the graph"),
    ("UPDATE variable SET kind = 'nonsense' WHERE name = 'q3'", "not a graph"),
    ("UPDATE output SET shape = '7'", "not a graph"),
    ("DELETE FROM variable WHERE code = 79", "not a graph|differs from the graph"),
    ("DELETE FROM entry WHERE position = 1", "not a graph"),
    ("UPDATE expression_factor SET factor = factor + 12345", "refer to missing variables"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), DAMAGE)
def test_damage_is_found(store, statement, message):
    put(store, random_graph(1))
    put(store, random_graph(1), "other")
    form_expressions(store, "model", "%20", Form(sums=True), keep=True)
    assert check(store)
    with store.writing() as connection:
        connection.execute(text(statement))
    report = check(store)
    assert not report
    with pytest.raises(StoreError, match=message):
        report.require()


def test_a_whole_store_says_what_it_holds(store):
    put(store, random_graph(1))
    report = check(store)
    assert (report.mechanisms, report.graphs, report.faults, report.warnings) == (1, 1, (), ())
    report.require()
