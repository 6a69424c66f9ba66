"""Ready questions about stored graphs: functions of an open store that only read, and answer with a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import func, select, union_all

from kinegraph.errors import StoreError
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Output
from kinegraph.model.names import did_you_mean
from kinegraph.store.query.sql import Answer
from kinegraph.store.read.cone import needed, walk_up
from kinegraph.store.read.expression import Form, form_expressions
from kinegraph.store.read.find import entry_codes, graph_row, mechanism_of
from kinegraph.store.read.load import read_graph, read_nodes
from kinegraph.store.read.text import definition
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.model_tables import MODEL_PARTS
from kinegraph.store.schema.open import Store

#: Above this, entries are not compared one by one.
_MOST_STEPS = 20_000_000


def depends(store: Store, reference: str | int, wanted: str) -> Answer:
    """Which parameters, coordinates and other symbols does an output or an entry depend on?"""
    v = schema.variable
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        codes = entry_codes(connection, graph, wanted)
        with needed(connection, graph.id, set(codes.values())) as only:
            rows = select(v.c.kind, v.c.name, v.c.value).join(only, only.c.code == v.c.code)
            symbols = rows.where(v.c.graph == graph.id, v.c.kind.not_in(("sum", "function")))
            return _answer(("kind", "name", "value"), connection.execute(symbols.order_by(v.c.code)))


def affects(store: Store, reference: str | int, symbol: str) -> Answer:
    """Which output entries depend on a symbol?"""
    v, e = schema.variable, schema.entry
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        named = (v.c.graph == graph.id) & v.c.kind.not_in(("sum", "function"))
        known = connection.execute(select(v.c.name).where(named)).scalars().all()
        if symbol not in known:
            raise StoreError(f"{graph} has no symbol {symbol!r}; {did_you_mean(symbol, known)}")
        walk = walk_up(select(v.c.code).where(named, v.c.name == symbol), graph.id)
        rows = select(e.c.label).join(walk, walk.c.code == e.c.variable).where(e.c.graph == graph.id)
        return _answer(("entry",), connection.execute(rows.order_by(e.c.output, e.c.position)))


def uses(store: Store, symbol: str) -> Answer:
    """Which models have a graph that depends on a symbol, a parameter for example."""
    v, g, m = schema.variable, schema.graph, schema.mechanism
    with store.reading() as connection:
        symbols = select(v.c.name).where(v.c.kind.not_in(("sum", "function"))).distinct()
        known = connection.execute(symbols).scalars().all()
        if symbol not in known:
            raise StoreError(f"no model in the store has a symbol {symbol!r}; {did_you_mean(symbol, known)}")
        rows = (
            select(m.c.name, m.c.version, v.c.kind, g.c.stage, g.c.quantities, v.c.value)
            .select_from(v)
            .join(g, g.c.id == v.c.graph)
            .join(m, m.c.id == g.c.mechanism)
            .where(v.c.name == symbol, v.c.kind.not_in(("sum", "function")))
            .order_by(m.c.name, m.c.version, g.c.id)
        )
        return _answer(("model", "version", "kind", "stage", "quantities", "value"), connection.execute(rows))


def terms(store: Store, reference: str | int, wanted: str, containing: Sequence[str], form: Form) -> Answer:
    """The terms of complete expressions that contain all the given names (q5 is contained in sin(q5), too)."""
    rows: list[tuple[object, ...]] = []
    for expression in form_expressions(store, reference, wanted, form):
        for monomial in expression.terms:
            if expression.symbols(monomial).issuperset(containing):
                rows.append((expression.label, expression.term(monomial)))
    return Answer(("entry", "term"), tuple(rows))


def shared(store: Store, reference: str | int, limit: int = 20) -> Answer:
    """The subexpressions used most often, and what they are."""
    v, f, a, e = schema.variable, schema.factor, schema.argument, schema.entry
    with store.reading() as connection:
        graph = graph_row(connection, reference).id
        uses = union_all(
            select(f.c.factor.label("code")).where(f.c.graph == graph),
            select(a.c.argument.label("code")).where(a.c.graph == graph),
            select(e.c.variable.label("code")).where(e.c.graph == graph),
        ).subquery()
        rows = (
            select(v.c.code, v.c.level, func.count().label("uses"))
            .join(uses, uses.c.code == v.c.code)
            .where(v.c.graph == graph, v.c.kind.in_(("sum", "function")), v.c.level > 0)
            .group_by(v.c.code, v.c.level)
            .order_by(func.count().desc(), v.c.code)
            .limit(limit)
        )
        found = connection.execute(rows).all()
        with needed(connection, graph, {row.code for row in found}) as only:
            nodes = read_nodes(connection, graph, only=only)
    listed = ((f"%{row.code}", row.level, row.uses, definition(row.code, nodes)) for row in found)
    return _answer(("variable", "level", "uses", "is"), listed)


def defined(store: Store, reference: str | int) -> Answer:
    """The variables that the model has a name for, and what they are."""
    d = schema.defined
    with store.reading() as connection:
        graph = graph_row(connection, reference).id
        found = connection.execute(select(d).where(d.c.graph == graph).order_by(d.c.variable)).all()
        with needed(connection, graph, {row.variable for row in found}) as only:
            nodes = read_nodes(connection, graph, only=only)
    signed = ((row, "-" if row.negative else "") for row in found)
    listed = ((f"%{row.variable}", f"{sign}{row.definition}", definition(row.variable, nodes)) for row, sign in signed)
    return _answer(("variable", "definition", "is"), listed)


def costliest(store: Store, reference: str | int, limit: int = 20) -> Answer:
    """Operations of each output by itself, and of the entries that cost most."""
    with store.reading() as connection:
        row = graph_row(connection, reference)
        graph = read_graph(connection, row.id)
        e = schema.entry
        named = select(e.c.variable, func.min(e.c.label).label("label")).where(e.c.graph == row.id)
        labels = {one.variable: one.label for one in connection.execute(named.group_by(e.c.variable))}
    whole = [(output.name, count(Graph(graph.nodes, (output,)))) for output in graph.outputs]
    entries: list[tuple[str, Operations]] = []
    if len(labels) * len(graph) <= _MOST_STEPS:
        entries = [(label, count(Graph(graph.nodes, (Output("", (), (code,)),)))) for code, label in labels.items()]
    whole.sort(key=lambda one: -one[1].total)
    entries.sort(key=lambda one: -one[1].total)
    columns = ("output", "mul", "add", "div", "sqrt", "sin", "cos")
    listed = [*whole, *entries[:limit]]
    return _answer(columns, ((name, o.mul, o.add, o.div, o.sqrt, o.sin, o.cos) for name, o in listed))


def model_parts(store: Store, what: str, reference: str | int) -> Answer:
    """The bodies, transforms, joints, elements, loops, constraints or definitions of a mechanism, in their order."""
    table = MODEL_PARTS[what]
    with store.reading() as connection:
        key = mechanism_of(connection, reference).id
        columns = [column for column in table.columns if column.name not in ("mechanism", "ordinal")]
        rows = select(*columns).where(table.c.mechanism == key).order_by(table.c.ordinal)
        return _answer(tuple(column.name for column in columns), connection.execute(rows))


def levels(store: Store, reference: str | int) -> Answer:
    """How many variables each level has: how much can be computed side by side."""
    v = schema.variable
    with store.reading() as connection:
        graph = graph_row(connection, reference).id
        rows = select(v.c.level, func.count()).where(v.c.graph == graph).group_by(v.c.level).order_by(v.c.level)
        return _answer(("level", "variables"), connection.execute(rows))


def _answer(columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> Answer:
    return Answer(columns, tuple(tuple(row) for row in rows))
