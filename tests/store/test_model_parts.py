"""Bodies, transforms, joints, elements, loops and constraints are tables that SQL can ask."""

from __future__ import annotations

import pytest
from sqlalchemy import text

import kinegraph as kg
from kinegraph.errors import StoreError
from kinegraph.io import write
from kinegraph.store import ModelRecord, Store, check, open_store, save
from kinegraph.store.queries import Question, answer_to
from kinegraph.store.tables import MODEL_PARTS, SCHEMA_VERSION

LINKAGE = """
model linkage;
parameters l = 2;
coordinates q, s;
quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
define bend = q / 2, twice = 2*bend;
quasivelocity w = q' + s';
Arm | Rz(q), Sx(l) | Sx(-l/2), m(3), Jz(0.25);
Slide~Arm | Ry(0.5), Sx(s), Rz(bend) | m(1);
Ball | Q(e0, e1, e2, e3) | m(2), Jx(1), Jy(1), Jz(1);
spring pull | on(q), stiffness(5);
loop pin | revolute | Slide | Sx(1);
constraint keep | s = l*cos(q);
contact floor | s >= 0 | restitution(0.5);
"""


@pytest.fixture
def linkage(store: Store) -> Store:
    save(store, ModelRecord("linkage", write(kg.parse(LINKAGE))))
    return store


def rows(store: Store, question: str, *words: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in answer_to(store, Question(question, words)).rows]


def test_every_part_is_a_row(linkage):
    assert [row[:3] for row in rows(linkage, "bodies", "linkage")] == [
        ("Arm", None, "3"), ("Slide", "Arm", "1"), ("Ball", None, "2"),
    ]  # fmt: skip
    assert rows(linkage, "transforms", "linkage@1")[:3] == [
        ("Arm", "link", 0, "rotation", "z", "q"), ("Arm", "link", 1, "shift", "x", "l"),
        ("Arm", "central", 0, "shift", "x", "-l/2"),
    ]  # fmt: skip
    assert rows(linkage, "joints", "linkage") == [
        ("Arm", None, "revolute", "z", "q"), ("Slide", "Arm", "prismatic", "x", "s"),
        ("Slide", "Arm", "revolute", "z", "q"), ("Ball", None, "spherical", None, "e0,e1,e2,e3"),
    ]  # fmt: skip
    ((name, kind, statement),) = rows(linkage, "elements", "linkage")
    assert (name, kind) == ("pull", "spring") and statement.startswith("spring pull")
    ((name, kind, first, second, count, statement),) = rows(linkage, "loops", "linkage")
    assert (name, kind, first, second, count) == ("pin", "revolute", "Slide", None, 5) and "loop pin" in statement
    assert [row[:2] for row in rows(linkage, "constraints", "linkage")] == [
        ("keep", "constraint"), ("floor", "contact"),
    ]  # fmt: skip
    assert rows(linkage, "definitions", "linkage") == [
        ("bend", "definition", "q/2"), ("twice", "definition", "2*bend"), ("w", "quasivelocity", "q' + s'"),
    ]  # fmt: skip


def test_free_sql_counts_joints_by_kind(linkage):
    counted = rows(linkage, "sql", "SELECT kind, COUNT(*) FROM joint GROUP BY kind ORDER BY kind")
    assert counted == [("prismatic", 1), ("revolute", 2), ("spherical", 1)]


def test_the_rows_say_the_text_again(store):
    """Every statement of an element, loop or constraint stands in the text of its model."""
    for model in ("four-bar", "kidym-biped-new"):
        mechanism = kg.load(model)
        save(store, ModelRecord(mechanism.name, write(mechanism)))
        for what in ("elements", "loops", "constraints"):
            for row in rows(store, what, mechanism.name):
                assert row[-1] in write(mechanism)
        assert len(rows(store, "bodies", mechanism.name)) == len(mechanism.bodies)


def test_a_text_of_another_kind_has_no_parts(store):
    save(store, ModelRecord("poem", "no model at all"))
    assert all(rows(store, what, "poem") == [] for what in MODEL_PARTS)
    assert check(store)


def test_rows_that_differ_from_the_text_are_found(linkage):
    assert check(linkage)
    with linkage.writing() as connection:
        connection.execute(text("UPDATE body SET mass = '4' WHERE name = 'Arm'"))
    report = check(linkage)
    assert report.faults == ("the table body of linkage@1 does not agree with its text",)


def test_removing_a_version_removes_its_parts(linkage):
    with linkage.writing() as connection:
        connection.execute(text("DELETE FROM mechanism"))
        for table in MODEL_PARTS.values():
            assert connection.execute(text(f"SELECT COUNT(*) FROM {table.name}")).scalar() == 0


def as_version_1(store: Store) -> None:
    """The store as the first version of the tables left it."""
    with store.writing() as connection:
        for name in (*(table.name for table in MODEL_PARTS.values()), "reduction", "defined"):
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(text("UPDATE kinegraph_store SET schema_version = 1"))


def test_an_older_store_is_brought_up_when_it_is_opened(linkage, target):
    before = {what: rows(linkage, what, "linkage") for what in MODEL_PARTS}
    as_version_1(linkage)
    again = open_store(target)
    assert {what: rows(again, what, "linkage") for what in MODEL_PARTS} == before
    found = rows(again, "sql", "SELECT schema_version FROM kinegraph_store")
    assert found == [(SCHEMA_VERSION,)] and check(again)
    again.close()


def test_a_store_without_definitions_is_brought_up(linkage, target):
    before = {what: rows(linkage, what, "linkage") for what in MODEL_PARTS}
    with linkage.writing() as connection:
        connection.execute(text("DROP TABLE definition"))
        connection.execute(text("DROP TABLE defined"))
        connection.execute(text("UPDATE kinegraph_store SET schema_version = 2"))
    again = open_store(target)
    assert {what: rows(again, what, "linkage") for what in MODEL_PARTS} == before and check(again)
    again.close()


def test_an_interrupted_migration_changes_nothing(linkage, target, monkeypatch):
    as_version_1(linkage)
    monkeypatch.setattr("kinegraph.store.database.write_all_model_parts", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_store(target)
    monkeypatch.undo()
    with linkage.reading() as connection:
        assert connection.execute(text("SELECT schema_version FROM kinegraph_store")).scalar() == 1
    again = open_store(target)
    assert rows(again, "bodies", "linkage")
    again.close()


def test_an_unknown_mechanism_is_named(linkage):
    with pytest.raises(StoreError, match=r"no mechanism 'linkag'.*linkage"):
        rows(linkage, "bodies", "linkag")
