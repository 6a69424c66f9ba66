"""Names of stored variables: definitions of the model, vectors of the closed form; kept through passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, exists, select

from kinegraph.errors import KinegraphError
from kinegraph.graph.build import bind
from kinegraph.graph.canonical import without_dead_nodes
from kinegraph.graph.node import Coefficient, Graph, Kind, Output
from kinegraph.io import parse
from kinegraph.notation.naming import LARGEST, defined_nodes, matching_nodes
from kinegraph.store import tables as schema
from kinegraph.store.graphs import read_graph
from kinegraph.store.rows import from_columns, insert_rows

#: Names are kept in graphs of at most so many nodes: beyond, comparing takes minutes.
LARGEST_COMPARED = 200_000

#: The name of a node, and whether it is that of its negative.
NodeName = tuple[str, bool]


def write_names(
    connection: Connection, key: int, mechanism: int, graph: Graph, names: Mapping[int, NodeName] | None = None
) -> None:
    """The rows of a graph of a mechanism: given names, and those of the definitions of its model."""
    _write(connection, key, _definitions(connection, mechanism, graph).items())
    _write(connection, key, (names or {}).items())


def _definitions(connection: Connection, mechanism: int, graph: Graph) -> dict[int, NodeName]:
    """None if the model defines nothing."""
    d, m = schema.definition, schema.mechanism
    if not connection.execute(select(exists().where(d.c.mechanism == mechanism))).scalar():
        return {}
    return defined_nodes(graph, parse(connection.execute(select(m.c.text).where(m.c.id == mechanism)).scalar_one()))


def _write(connection: Connection, key: int, found: Iterable[tuple[int, NodeName]]) -> None:
    rows = [(key, code, name, negative) for code, (name, negative) in found]
    insert_rows(connection, schema.defined, sorted(rows))


def write_all_defined(connection: Connection) -> None:
    """The rows of every graph, for a store without the table."""
    g = schema.graph
    for row in connection.execute(select(g.c.id, g.c.mechanism, g.c.nodes)).all():
        if row.nodes <= LARGEST:
            write_names(connection, row.id, row.mechanism, read_graph(connection, row.id))


def carry_names(connection: Connection, origin: int, key: int, graph: Graph) -> None:
    """Names of the graph that another one was made from, for its variables that still are the same.

    Variables are compared at a random point of a prime field, so it does not matter how they are computed. Parameters
    that the new graph does not have are numbers: they were replaced.
    """
    d = schema.defined
    rows = connection.execute(select(d).where(d.c.graph == origin).order_by(d.c.variable)).all()
    has = set(connection.execute(select(d.c.definition).where(d.c.graph == key)).scalars())
    wanted = [row for row in rows if row.definition not in has]
    if not wanted or len(graph) > LARGEST_COMPARED:
        return
    first = read_graph(connection, origin)
    named = Graph(first.nodes, tuple(Output(row.definition, (), (row.variable,)) for row in wanted))
    replaced = {symbol.name for symbol in first.symbols(Kind.PARAMETER)} - {
        symbol.name for symbol in graph.symbols(Kind.PARAMETER)
    }
    try:
        bound = bind(without_dead_nodes(named), _values(connection, origin, replaced))
        found = matching_nodes(graph, bound)
    except KinegraphError:  # no name is worth a failure
        return
    signs = {row.definition: bool(row.negative) for row in wanted}
    _write(connection, key, ((code, (name, negative != signs[name])) for code, name, negative in found))


def _values(connection: Connection, graph: int, names: set[str]) -> dict[str, Coefficient]:
    v = schema.variable
    known = (v.c.graph == graph) & (v.c.kind == Kind.PARAMETER.value) & v.c.exact.is_not(None)
    rows = connection.execute(select(v.c.name, v.c.exact).where(known))
    return {row.name: from_columns(0.0, row.exact) for row in rows if row.name in names}
