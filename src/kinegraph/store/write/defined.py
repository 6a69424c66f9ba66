"""Which variables of a stored graph are expressions that the model has a name for."""

from __future__ import annotations

from sqlalchemy import Connection, exists, select

from kinegraph.graph.node import Graph
from kinegraph.io import parse
from kinegraph.notation.defined import LARGEST, defined_nodes
from kinegraph.store.read.load import read_graph
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.bulk import insert_rows
from kinegraph.store.schema.model_tables import definition


def write_defined(connection: Connection, key: int, mechanism: int, graph: Graph) -> None:
    """The rows of a graph of a mechanism; none where its model defines nothing."""
    if not connection.execute(select(exists().where(definition.c.mechanism == mechanism))).scalar():
        return
    text = connection.execute(select(schema.mechanism.c.text).where(schema.mechanism.c.id == mechanism)).scalar_one()
    found = defined_nodes(graph, parse(text))
    rows = [(key, code, name, negative) for code, (name, negative) in found.items()]
    insert_rows(connection, schema.defined, sorted(rows))


def write_all_defined(connection: Connection) -> None:
    """The rows of every graph, for a store that did not have the table."""
    g = schema.graph
    for row in connection.execute(select(g.c.id, g.c.mechanism, g.c.nodes)).all():
        if row.nodes <= LARGEST:
            write_defined(connection, row.id, row.mechanism, read_graph(connection, row.id))
