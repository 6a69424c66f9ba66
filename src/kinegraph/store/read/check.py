"""Is the store whole? Everything it holds is read and compared with what it claims to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select, text

from kinegraph.errors import GraphError, StoreError
from kinegraph.graph import law
from kinegraph.store.read.find import graph_rows
from kinegraph.store.read.load import read_graph
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.model_rows import model_parts
from kinegraph.store.schema.open import Store
from kinegraph.store.schema.records import StoredGraph
from kinegraph.store.write.save import digest, graph_hash


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at, what is broken, and what is merely missing outside the store."""

    mechanisms: int
    graphs: int
    faults: tuple[str, ...]
    warnings: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.faults

    def require(self) -> None:
        """Raise StoreError naming the first fault."""
        if self.faults:
            raise StoreError(f"the store is damaged: {self.faults[0]} ({len(self.faults)} in all)")


def check(store: Store) -> Report:
    """Examine the whole store: the database's own structure, and every mechanism and graph against its hash."""
    with store.reading() as connection:
        faults = list(_database_faults(connection)) if store.is_sqlite else []
        faults += _mechanism_faults(connection)
        faults += _part_faults(connection)
        graphs = graph_rows(connection)
        for graph in graphs:
            faults += [f"{graph} (#{graph.id}): {fault}" for fault in _graph_faults(connection, graph)]
        faults += _expression_faults(connection)
        warnings = tuple(_missing_results(connection))
        mechanisms = connection.execute(select(func.count()).select_from(schema.mechanism)).scalar() or 0
    return Report(mechanisms, len(graphs), tuple(faults), warnings)


def _database_faults(connection: Connection) -> Iterator[str]:
    for (message,) in connection.execute(text("PRAGMA integrity_check")):
        if message != "ok":
            yield f"the database file: {message}"
    for row in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"table {row[0]} has rows of something that does not exist"


def _mechanism_faults(connection: Connection) -> Iterator[str]:
    m = schema.mechanism
    for row in connection.execute(select(m.c.name, m.c.version, m.c.text, m.c.hash)):
        if digest(row.text) != row.hash:
            yield f"the text of {row.name}@{row.version} is not the one that was saved"


def _part_faults(connection: Connection) -> Iterator[str]:
    """Bodies, joints and all other parts must be those of the text."""
    m = schema.mechanism
    for row in connection.execute(select(m.c.id, m.c.name, m.c.version, m.c.text)).all():
        for table, expected in model_parts(row.text).items():
            columns = list(table.columns)[2:]
            stored = select(*columns).where(table.c.mechanism == row.id).order_by(table.c.ordinal)
            if [tuple(one) for one in connection.execute(stored)] != expected:
                yield f"the table {table.name} of {row.name}@{row.version} does not say what its text says"


def _graph_faults(connection: Connection, row: StoredGraph) -> Iterator[str]:
    try:
        graph = read_graph(connection, row.id)
        law.check(graph)
    except (GraphError, ValueError, KeyError, ArithmeticError) as problem:
        yield f"it is no graph: {problem}"
        return
    if len(graph) != row.nodes or graph_hash(graph) != row.hash:
        yield "it is not the graph that was saved"
        return
    v = schema.variable
    stored = connection.execute(select(v.c.level, v.c.static).where(v.c.graph == row.id).order_by(v.c.code)).all()
    if [(level, bool(static)) for level, static in stored] != list(zip(graph.levels, graph.static, strict=True)):
        yield "its levels are wrong"


def _expression_faults(connection: Connection) -> Iterator[str]:
    v = schema.variable
    for table, column in (
        (schema.expression_term, schema.expression_term.c.variable),
        (schema.expression_factor, schema.expression_factor.c.factor),
    ):
        known = select(v.c.code).where(v.c.graph == table.c.graph, v.c.code == column).exists()
        lost = connection.execute(select(func.count()).select_from(table).where(~known)).scalar()
        if lost:
            yield f"{lost} rows of {table.name} name variables that do not exist"


def _missing_results(connection: Connection) -> Iterator[str]:
    r = schema.run
    for row in connection.execute(select(r.c.id, r.c.result).where(r.c.result.is_not(None))):
        if not Path(row.result).exists():
            yield f"the result of run {row.id} is gone: {row.result}"
