"""A copy of a graph to be updated in place, and its end as a well-formed graph: live, levelled, renumbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple

from sqlalchemy import Connection, Table, delete, insert, select, text, update

from kinegraph.graph import law
from kinegraph.store.read.cone import walk_from
from kinegraph.store.read.load import read_graph
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.bulk import insert_rows
from kinegraph.store.schema.open import now
from kinegraph.store.schema.records import PassRecord, StoredGraph
from kinegraph.store.write.defined import write_defined
from kinegraph.store.write.save import graph_hash

#: The parts a copy takes along; expressions and counts belong to the original.
_COPIED = (schema.variable, schema.term, schema.factor, schema.argument, schema.output, schema.entry)

#: Columns that hold codes of variables.
_CODES = {
    "variable": ("code",),
    "term": ("variable",),
    "factor": ("variable", "factor"),
    "argument": ("variable", "argument"),
    "output": (),
    "entry": ("variable",),
}


def working_copy(connection: Connection, original: StoredGraph) -> int:
    """A copy whose rows may be updated at will."""
    work = _new_graph(connection, original.mechanism, ",".join(original.quantities))
    for table in _COPIED:
        columns = ", ".join(f'"{column.name}"' for column in list(table.columns)[1:])
        statement = f'INSERT INTO "{table.name}" SELECT :work, {columns} FROM "{table.name}" WHERE graph = :original'
        connection.execute(text(statement), {"work": work, "original": original.id})
    return work


def finished(connection: Connection, work: int, stage: str, passes: Sequence[PassRecord]) -> int:
    """The copy as a graph that keeps the law: dead variables gone, levels right, codes without gaps."""
    _drop_dead(connection, work)
    relevel(connection, work)
    new = _renumbered(connection, work)
    connection.execute(delete(schema.graph).where(schema.graph.c.id == work))
    graph = read_graph(connection, new)
    law.check(graph)
    mechanism = connection.execute(select(schema.graph.c.mechanism).where(schema.graph.c.id == new)).scalar_one()
    write_defined(connection, new, mechanism, graph)
    row = {"nodes": len(graph), "levels": max(graph.levels, default=0), "hash": graph_hash(graph), "stage": stage}
    connection.execute(update(schema.graph).where(schema.graph.c.id == new).values(row))
    counts = [(new, i, p.name, *astuple(p.operations), p.seconds) for i, p in enumerate(passes)]
    insert_rows(connection, schema.pass_count, counts)
    return new


def _new_graph(connection: Connection, mechanism: int, quantities: str) -> int:
    row = {"mechanism": mechanism, "quantities": quantities, "nodes": 0, "levels": 0, "hash": "", "created": now()}
    key = connection.execute(insert(schema.graph).values(row | {"stage": "being rewritten"})).inserted_primary_key
    assert key is not None
    return int(key[0])


def _run(connection: Connection, statement: str, values: Mapping[str, int]) -> None:
    connection.execute(text(statement), {name: v for name, v in values.items() if f":{name}" in statement})


def _drop_dead(connection: Connection, work: int) -> None:
    e = schema.entry
    walk = walk_from(select(e.c.variable.label("code")).where(e.c.graph == work), work)
    connection.execute(text("CREATE TEMPORARY TABLE place (code INTEGER PRIMARY KEY, new INTEGER)"))
    found = connection.execute(select(walk.c.code).order_by(walk.c.code)).scalars().all()
    rows = [{"code": code, "new": new} for new, code in enumerate(found)]
    if rows:
        connection.execute(text("INSERT INTO place VALUES (:code, :new)"), rows)
    for table, column in (("variable", "code"), ("term", "variable"), ("factor", "variable"), ("argument", "variable")):
        dead = f"DELETE FROM {table} WHERE graph = :work AND {column} NOT IN (SELECT code FROM place)"
        _run(connection, dead, {"work": work})


#: A variable's level and whether it is static, from what it is computed from. Children are done: they lie lower.
#: MAX(level + 1), not MAX(level) + 1: the latter tempts SQLite to search all variables from the highest level down.
_LEVEL = """
    UPDATE variable SET
      level = COALESCE((SELECT MAX(c.level + 1) FROM {links} l
        JOIN variable c ON c.graph = l.graph AND c.code = l.{child}
        WHERE l.graph = :work AND l.variable = variable.code), 0),
      static = NOT EXISTS (SELECT 1 FROM {links} l JOIN variable c ON c.graph = l.graph AND c.code = l.{child}
        WHERE l.graph = :work AND l.variable = variable.code AND NOT c.static)
    WHERE graph = :work AND level = :level AND kind = :kind"""


def relevel(connection: Connection, work: int) -> None:
    """Levels and static marks after an update."""
    v = schema.variable
    levels = connection.execute(select(v.c.level).where(v.c.graph == work).distinct().order_by(v.c.level)).scalars()
    for level in levels.all():
        for links, child, kind in (("factor", "factor", "sum"), ("argument", "argument", "function")):
            statement = text(_LEVEL.format(links=links, child=child))
            connection.execute(statement, {"work": work, "level": level, "kind": kind})


def _renumbered(connection: Connection, work: int) -> int:
    """A second copy, through the table of new codes: updating keys in place would make them collide on the way."""
    row = connection.execute(select(schema.graph).where(schema.graph.c.id == work)).one()
    new = _new_graph(connection, row.mechanism, row.quantities)
    for table in _COPIED:
        _copy_through_places(connection, table, work, new)
    connection.execute(text("DROP TABLE place"))
    return new


def _copy_through_places(connection: Connection, table: Table, work: int, new: int) -> None:
    coded = _CODES[table.name]
    columns = ", ".join(f"p_{c.name}.new" if c.name in coded else f's."{c.name}"' for c in list(table.columns)[1:])
    joins = " ".join(f'JOIN place p_{name} ON p_{name}.code = s."{name}"' for name in coded)
    rows = f'SELECT :new, {columns} FROM "{table.name}" s {joins} WHERE s.graph = :work'
    connection.execute(text(f'INSERT INTO "{table.name}" {rows}'), {"new": new, "work": work})
