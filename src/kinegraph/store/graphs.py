"""Read graphs from the store: whole, by level, or only the variables that chosen outputs need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    MetaData,
    Subquery,
    Table,
    insert,
    select,
    union_all,
)

from kinegraph.errors import StoreError
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph.node import Factor, Function, Graph, Kind, Node, Output, Polynomial, Symbol, Term
from kinegraph.model.names import did_you_mean
from kinegraph.store import tables as schema
from kinegraph.store.catalog import graph_row
from kinegraph.store.database import Store
from kinegraph.store.rows import Query, from_columns

# The variables that others depend on, found by a walk inside the database.

#: Temporary tables belong to the session: the store itself is not changed.
_scratch = MetaData()
_needed = Table(
    "needed",
    _scratch,
    Column("code", Integer, primary_key=True, autoincrement=False),
    Column("level", Integer, nullable=False),
    prefixes=["TEMPORARY"],
)
Index("needed_by_level", _needed.c.level, _needed.c.code)
_root = Table("root", _scratch, Column("code", Integer, primary_key=True, autoincrement=False), prefixes=["TEMPORARY"])


@contextmanager
def needed(connection: Connection, graph: int, codes: Collection[int]) -> Iterator[Table]:
    """A temporary table (code, level) of the given variables and all they depend on."""
    _scratch.create_all(connection, checkfirst=False)
    try:
        if codes:
            connection.execute(insert(_root), [{"code": code} for code in sorted(set(codes))])
        walk = walk_from(select(_root.c.code), graph)
        v = schema.variable
        found = select(v.c.code, v.c.level).join(walk, (v.c.graph == graph) & (v.c.code == walk.c.code))
        connection.execute(insert(_needed).from_select(["code", "level"], found))
        yield _needed
    finally:
        if connection.in_transaction():
            _scratch.drop_all(connection, checkfirst=False)


def walk_from(roots: Query, graph: int) -> CTE:
    """The roots (a query with a column `code`) and everything they depend on, as a recursive query."""
    walk, links = roots.cte("walk", recursive=True), _links(graph)
    return walk.union(select(links.c.child).join(walk, links.c.variable == walk.c.code))


def walk_up(roots: Query, graph: int) -> CTE:
    """The roots and everything that depends on them."""
    walk, links = roots.cte("walk", recursive=True), _links(graph)
    return walk.union(select(links.c.variable).join(walk, links.c.child == walk.c.code))


def _links(graph: int) -> Subquery:
    f, a = schema.factor, schema.argument
    return union_all(
        select(f.c.variable, f.c.factor.label("child")).where(f.c.graph == graph),
        select(a.c.variable, a.c.argument.label("child")).where(a.c.graph == graph),
    ).subquery("links")


# Reading graphs: whole, by level, or only the part that chosen outputs need.


def load(store: Store, reference: str | int) -> Graph:
    """The graph of a reference (`NAME@VERSION:STAGE` or an id), equal to the one saved."""
    with store.reading() as connection:
        return read_graph(connection, graph_row(connection, reference).id)


def load_part(store: Store, reference: str | int, names: Sequence[str]) -> Graph:
    """Only some outputs and the variables they depend on; the rest of the graph is not read."""
    with store.reading() as connection:
        return read_part(connection, graph_row(connection, reference).id, names)


def read_graph(connection: Connection, graph: int) -> Graph:
    """The whole graph of an id."""
    return Graph(tuple(read_nodes(connection, graph).values()), tuple(read_outputs(connection, graph)))


def read_part(connection: Connection, graph: int, names: Sequence[str]) -> Graph:
    """The named outputs of a graph, in the requested order, over the nodes they need."""
    known = {output.name: output for output in read_outputs(connection, graph)}
    missing = [name for name in names if name not in known]
    if missing:
        raise StoreError(f"the graph has no output {missing[0]!r}; {did_you_mean(missing[0], known)}")
    outputs = [known[name] for name in names]
    with needed(connection, graph, {code for output in outputs for code in output.nodes}) as only:
        nodes = read_nodes(connection, graph, only=only)
    return compact(nodes, outputs)


def compact(nodes: dict[int, Node], outputs: Sequence[Output]) -> Graph:
    """A graph over some nodes of another, in the same order with new codes."""
    place = {code: index for index, code in enumerate(nodes)}
    moved = tuple(output._replace(nodes=tuple(place[code] for code in output.nodes)) for output in outputs)
    return Graph(tuple(_moved(node, place) for node in nodes.values()), moved)


def _moved(node: Node, place: dict[int, int]) -> Node:
    if isinstance(node, Function):
        return Function(node.name, tuple(place[child] for child in node.arguments))
    if isinstance(node, Polynomial):
        terms = ((c, tuple((place[child], e) for child, e in factors)) for c, factors in node.terms)
        return Polynomial(tuple(terms))
    return node


def read_outputs(connection: Connection, graph: int) -> list[Output]:
    """The outputs of a graph as saved; the nodes are the codes of their variables."""
    o, e = schema.output, schema.entry
    entries: dict[int, list[int]] = {}
    for ordinal, code in connection.execute(
        select(e.c.output, e.c.variable).where(e.c.graph == graph).order_by(e.c.output, e.c.position)
    ):
        entries.setdefault(ordinal, []).append(code)
    rows = connection.execute(select(o.c.ordinal, o.c.name, o.c.shape).where(o.c.graph == graph).order_by(o.c.ordinal))
    return [
        Output(name, tuple(int(size) for size in shape.split(",") if size), tuple(entries.get(ordinal, ())))
        for ordinal, name, shape in rows
    ]


def read_nodes(
    connection: Connection, graph: int, level: int | None = None, only: Table | None = None
) -> dict[int, Node]:
    """Variables with their codes in rising order: all, those of a table (see `cone`), or of one level of that table."""
    v = schema.variable
    wanted = _restricted(select(v.c.code, v.c.kind, v.c.name).where(v.c.graph == graph), v.c.code, level, only)
    with gc_paused():
        kinds = connection.execute(wanted).all()
        terms = _terms(connection, graph, level, only)
        arguments = _arguments(connection, graph, level, only)
        return {code: _node(kind, name, terms.get(code, ()), arguments.get(code, ())) for code, kind, name in kinds}


def _node(kind: str, name: str, terms: Sequence[Term], arguments: Sequence[int]) -> Node:
    if kind == "sum":
        return Polynomial(tuple(terms))
    if kind == "function":
        return Function(name, tuple(arguments))
    return Symbol(Kind(kind), name)


def _restricted(wanted: Query, code: ColumnElement[int], level: int | None, only: Table | None) -> Query:
    """Ordered by code. Using the table's own code there makes SQLite walk the table, not the whole graph."""
    if only is None:
        return wanted.order_by(code)
    wanted = wanted.join(only, only.c.code == code).order_by(only.c.code)
    return wanted if level is None else wanted.where(only.c.level == level)


def _terms(connection: Connection, graph: int, level: int | None, only: Table | None) -> dict[int, list[Term]]:
    t = schema.term
    rows = select(t.c.variable, t.c.ordinal, t.c.coefficient, t.c.exact).where(t.c.graph == graph)
    wanted = _restricted(rows, t.c.variable, level, only).order_by(t.c.ordinal)
    factors = _factors(connection, graph, level, only)
    terms: dict[int, list[Term]] = {}
    for variable, ordinal, coefficient, exact in connection.execute(wanted).all():
        term = (from_columns(coefficient, exact), tuple(factors.get((variable, ordinal), ())))
        terms.setdefault(variable, []).append(term)
    return terms


def _factors(
    connection: Connection, graph: int, level: int | None, only: Table | None
) -> dict[tuple[int, int], list[Factor]]:
    f = schema.factor
    rows = select(f.c.variable, f.c.term, f.c.factor, f.c.exponent).where(f.c.graph == graph)
    wanted = _restricted(rows, f.c.variable, level, only).order_by(f.c.term, f.c.factor)
    factors: dict[tuple[int, int], list[Factor]] = {}
    for variable, term, child, exponent in connection.execute(wanted).all():
        factors.setdefault((variable, term), []).append((child, exponent))
    return factors


def _arguments(connection: Connection, graph: int, level: int | None, only: Table | None) -> dict[int, list[int]]:
    a = schema.argument
    rows = select(a.c.variable, a.c.argument).where(a.c.graph == graph)
    wanted = _restricted(rows, a.c.variable, level, only).order_by(a.c.position)
    arguments: dict[int, list[int]] = {}
    for variable, child in connection.execute(wanted):
        arguments.setdefault(variable, []).append(child)
    return arguments
