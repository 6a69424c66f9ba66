"""Read-only queries: prepared questions about stored graphs, free SQL, and the description of one graph."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sqlalchemy import func, select, text, union_all

from kinegraph.errors import StoreError
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Output
from kinegraph.model.names import did_you_mean
from kinegraph.store import tables as schema
from kinegraph.store.catalog import StoredGraph, entry_codes, graph_row, mechanism_of
from kinegraph.store.database import PATIENCE, Store, file_uri, reported
from kinegraph.store.expressions import Form, definition, form_expressions
from kinegraph.store.graphs import needed, read_graph, read_nodes, read_outputs, walk_up
from kinegraph.store.maintenance import diff
from kinegraph.store.rows import PostgresDriver
from kinegraph.store.tables import MODEL_PARTS

# Free SQL, read-only: the database itself rejects everything else.


@dataclass(frozen=True, slots=True)
class Answer:
    """A table; `more` says that rows beyond the limit were omitted."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    more: bool = False

    def records(self) -> list[dict[str, object]]:
        """Every row as a dict."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def query(
    store: Store, sql: str, values: Mapping[str, object] | None = None, limit: int = 1000, seconds: float = 60.0
) -> Answer:
    """The answer to one SQL statement; `:name` in it is bound to `values`. StoreError if it would change anything."""
    with reported(store.where):
        if store.path is not None:
            return _query_sqlite(store.path, sql, values or {}, limit, seconds)
        return _query_postgres(store, sql, values or {}, limit, seconds)


#: Everything a statement may do in SQLite: read tables, call functions, recurse.
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


#: The largest answer in bytes, and SQLite's limit for a single value and statement: the time limit is checked only
#: between steps, and a function that makes a gigabyte is one step.
LARGEST_ANSWER = 64_000_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 16_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


def _authorize(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _query_sqlite(path: Path, sql: str, values: Mapping[str, object], limit: int, seconds: float) -> Answer:
    connection = sqlite3.connect(file_uri(path, "ro"), uri=True, timeout=PATIENCE)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(_authorize)
        for category, most in _LIMITS.items():
            connection.setlimit(category, most)
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        cursor = connection.execute(sql, values)
        return _limited_answer([column[0] for column in cursor.description or ()], _rows(cursor, limit), limit)
    finally:
        connection.close()


def _rows(cursor: sqlite3.Cursor, limit: int) -> list[tuple[object, ...]]:
    """Up to limit + 1 rows; StoreError if together they exceed the size of an answer."""
    rows: list[tuple[object, ...]] = []
    size = 0
    for row in cursor:
        size += sum(len(entry) for entry in row if isinstance(entry, str | bytes))
        if size > LARGEST_ANSWER:
            raise StoreError(
                f"the answer is larger than {LARGEST_ANSWER // 10**6} MB: request fewer rows or shorter columns"
            )
        rows.append(row)
        if len(rows) > limit:
            break
    return rows


#: Statements for a PostgreSQL cursor. Only for a better message: the server decides what is allowed.
_CURSOR = re.compile(r"\s*\(*\s*(SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)


def _query_postgres(store: Store, sql: str, values: Mapping[str, object], limit: int, seconds: float) -> Answer:
    if not _CURSOR.match(sql):
        raise StoreError("only statements that read are allowed: SELECT, WITH, VALUES or TABLE")
    with store.engine.connect() as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        wait = f"{int(seconds * 1000)}"
        # This first query also takes the transaction's snapshot, after which it can no longer become writable.
        connection.execute(text("SELECT set_config('statement_timeout', :wait, true)"), {"wait": wait})
        # A cursor takes one statement, and only one that returns rows: no other can follow or hide in it.
        driver = cast("PostgresDriver", connection.connection.driver_connection)
        prepared = text(sql).bindparams(**values).compile(dialect=connection.dialect)
        statement = str(prepared) if values else sql.replace("%", "%%")
        with driver.cursor(name="kinegraph_query") as cursor:
            cursor.execute(statement, dict(values) or {"": None})
            rows = cursor.fetchmany(limit + 1)
            return _limited_answer([column.name for column in cursor.description or ()], rows, limit)


def _limited_answer(columns: list[str], rows: list[tuple[object, ...]], limit: int) -> Answer:
    if not columns:
        raise StoreError("the statement returns no rows; only statements that read are allowed")
    return Answer(tuple(columns), tuple(tuple(row) for row in rows[:limit]), len(rows) > limit)


# Prepared questions: read-only functions of an open store that return a table.

#: Above this, entries are not compared one by one.
_MOST_STEPS = 20_000_000


def depends(store: Store, reference: str | int, wanted: str) -> Answer:
    """The parameters, coordinates and other symbols that an output or an entry depends on."""
    v = schema.variable
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        codes = entry_codes(connection, graph, wanted)
        with needed(connection, graph.id, set(codes.values())) as only:
            rows = select(v.c.kind, v.c.name, v.c.value).join(only, only.c.code == v.c.code)
            symbols = rows.where(v.c.graph == graph.id, v.c.kind.not_in(("sum", "function")))
            return _table_answer(("kind", "name", "value"), connection.execute(symbols.order_by(v.c.code)))


def affects(store: Store, reference: str | int, symbol: str) -> Answer:
    """The output entries that depend on a symbol."""
    v, e = schema.variable, schema.entry
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        named = (v.c.graph == graph.id) & v.c.kind.not_in(("sum", "function"))
        known = connection.execute(select(v.c.name).where(named)).scalars().all()
        if symbol not in known:
            raise StoreError(f"{graph} has no symbol {symbol!r}; {did_you_mean(symbol, known)}")
        walk = walk_up(select(v.c.code).where(named, v.c.name == symbol), graph.id)
        rows = select(e.c.label).join(walk, walk.c.code == e.c.variable).where(e.c.graph == graph.id)
        return _table_answer(("entry",), connection.execute(rows.order_by(e.c.output, e.c.position)))


def uses(store: Store, symbol: str) -> Answer:
    """The models with a graph that depends on a symbol, such as a parameter."""
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
        return _table_answer(("model", "version", "kind", "stage", "quantities", "value"), connection.execute(rows))


def terms(store: Store, reference: str | int, wanted: str, containing: Sequence[str], form: Form) -> Answer:
    """The terms of complete expressions that contain all the given names (q5 is also contained in sin(q5))."""
    rows: list[tuple[object, ...]] = []
    for expression in form_expressions(store, reference, wanted, form):
        for monomial in expression.terms:
            if expression.symbols(monomial).issuperset(containing):
                rows.append((expression.label, expression.term(monomial)))
    return Answer(("entry", "term"), tuple(rows))


def shared(store: Store, reference: str | int, limit: int = 20) -> Answer:
    """The most used subexpressions, and their definitions."""
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
    return _table_answer(("variable", "level", "uses", "is"), listed)


def defined(store: Store, reference: str | int) -> Answer:
    """The variables that are named definitions of the model."""
    d = schema.defined
    with store.reading() as connection:
        graph = graph_row(connection, reference).id
        found = connection.execute(select(d).where(d.c.graph == graph).order_by(d.c.variable)).all()
        with needed(connection, graph, {row.variable for row in found}) as only:
            nodes = read_nodes(connection, graph, only=only)
    signed = ((row, "-" if row.negative else "") for row in found)
    listed = ((f"%{row.variable}", f"{sign}{row.definition}", definition(row.variable, nodes)) for row, sign in signed)
    return _table_answer(("variable", "definition", "is"), listed)


def costliest(store: Store, reference: str | int, limit: int = 20) -> Answer:
    """Operations of each output alone, and of the most expensive entries."""
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
    return _table_answer(columns, ((name, o.mul, o.add, o.div, o.sqrt, o.sin, o.cos) for name, o in listed))


def model_parts(store: Store, what: str, reference: str | int) -> Answer:
    """The bodies, transforms, joints, elements, loops, constraints or definitions of a mechanism, in their order."""
    table = MODEL_PARTS[what]
    with store.reading() as connection:
        key = mechanism_of(connection, reference).id
        columns = [column for column in table.columns if column.name not in ("mechanism", "ordinal")]
        rows = select(*columns).where(table.c.mechanism == key).order_by(table.c.ordinal)
        return _table_answer(tuple(column.name for column in columns), connection.execute(rows))


def levels(store: Store, reference: str | int) -> Answer:
    """The number of variables of each level: how much can be computed in parallel."""
    v = schema.variable
    with store.reading() as connection:
        graph = graph_row(connection, reference).id
        rows = select(v.c.level, func.count()).where(v.c.graph == graph).group_by(v.c.level).order_by(v.c.level)
        return _table_answer(("level", "variables"), connection.execute(rows))


def _table_answer(columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> Answer:
    return Answer(columns, tuple(tuple(row) for row in rows))


# Questions by name, as used by `kinegraph store query` and the studio.


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its arguments, and the limits of the answer."""

    question: str
    words: tuple[str, ...] = ()
    limit: int = 1000
    seconds: float = 60.0
    numeric: bool = False
    sums: bool = False


def _check_characters(word: str) -> None:
    """StoreError for text that is not valid Unicode: a database could not read it."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        place = f"character {error.start + 1} of {word!a}"
        raise StoreError(f"{place} is not valid Unicode: write the question in UTF-8") from None


def answer_to(store: Store, given: Question) -> Answer:
    """The answer to a question by name; StoreError if the name or the number of arguments is wrong."""
    if given.question not in _QUESTIONS:
        raise StoreError(f"unknown question {given.question!r}; {did_you_mean(given.question, _QUESTIONS)}")
    usage, least, most, answer = _QUESTIONS[given.question]
    if not least <= len(given.words) <= most:
        raise StoreError(f"write `{given.question} {usage}`; {len(given.words)} words were given")
    for word in given.words:
        _check_characters(word)
    found = answer(store, given)
    return Answer(found.columns, found.rows[: given.limit], found.more or len(found.rows) > given.limit)


def _terms(store: Store, given: Question) -> Answer:
    model, output, names = given.words
    containing = [name.strip() for name in names.split(",")]
    return terms(store, model, output, containing, Form(given.numeric, given.sums))


def _changed(store: Store, given: Question) -> Answer:
    name, *versions = given.words
    try:
        found = diff(store, name, *(int(version) for version in versions))
    except ValueError:
        raise StoreError("versions are integers: changed NAME OLD NEW") from None
    rows = [("removed", line, "") for line in found.removed] + [("added", line, "") for line in found.added]
    rows += [(f"count {c.stage}", str(c.before or "none"), str(c.after or "none")) for c in found.counts]
    return Answer(("what", "before", "after"), tuple(rows))


def _parts(what: str) -> Callable[[Store, Question], Answer]:
    return lambda store, given: model_parts(store, what, given.words[0])


_QUESTIONS: dict[str, tuple[str, int, int, Callable[[Store, Question], Answer]]] = {
    "depends": ("MODEL OUTPUT", 2, 2, lambda store, given: depends(store, *given.words)),
    "uses": ("SYMBOL", 1, 1, lambda store, given: uses(store, given.words[0])),
    "affects": ("MODEL SYMBOL", 2, 2, lambda store, given: affects(store, *given.words)),
    "terms": ("MODEL OUTPUT NAME,...", 3, 3, _terms),
    "shared": ("MODEL", 1, 1, lambda store, given: shared(store, given.words[0])),
    "defined": ("MODEL", 1, 1, lambda store, given: defined(store, given.words[0])),
    "costliest": ("MODEL", 1, 1, lambda store, given: costliest(store, given.words[0])),
    "levels": ("MODEL", 1, 1, lambda store, given: levels(store, given.words[0])),
    **{what: ("MODEL", 1, 1, _parts(what)) for what in MODEL_PARTS},
    "changed": ("NAME [OLD NEW]", 1, 3, _changed),
    "sql": (
        "STATEMENT",
        1,
        1,
        lambda store, given: query(store, given.words[0], limit=given.limit, seconds=given.seconds),
    ),
}


# One stored graph in full, as printed by `kinegraph store show`.


@dataclass(frozen=True, slots=True)
class Description:
    """A graph with its outputs, counts, stored expressions (output or entry, form, terms), sources and runs."""

    graph: StoredGraph
    text: str
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    passes: tuple[dict[str, object], ...]
    expressions: tuple[tuple[str, str, int], ...]
    sources: tuple[dict[str, object], ...]
    runs: tuple[dict[str, object], ...]


def describe(store: Store, reference: str | int) -> Description:
    """Everything about a stored graph except the graph itself."""
    m, p, s, r, e, x = (
        schema.mechanism, schema.pass_count, schema.source, schema.run, schema.entry, schema.expression_term,
    )  # fmt: skip
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        text = connection.execute(select(m.c.text).where(m.c.id == graph.mechanism)).scalar_one()
        outputs = tuple((output.name, output.shape) for output in read_outputs(connection, graph.id))
        passes = connection.execute(select(p).where(p.c.graph == graph.id).order_by(p.c.ordinal)).mappings().all()
        label = select(func.min(e.c.label)).where(e.c.graph == graph.id, e.c.variable == x.c.variable)
        stored_counts = (
            select(label.scalar_subquery(), x.c.form, func.count(), x.c.variable)
            .where(x.c.graph == graph.id)
            .group_by(x.c.variable, x.c.form)
            .order_by(x.c.variable)
        )
        expressions = [
            (name or f"%{code}", form, terms) for name, form, terms, code in connection.execute(stored_counts)
        ]
        written = select(s.c.id, s.c.language, s.c.quantities, s.c.created).where(s.c.graph == graph.id)
        sources = connection.execute(written.order_by(s.c.id)).mappings().all()
        made = select(r.c.id, r.c.settings, r.c.result, r.c.created).where(r.c.mechanism == graph.mechanism)
        runs = connection.execute(made.order_by(r.c.id)).mappings().all()
    tables = (tuple(dict(row) for row in rows) for rows in (passes, sources, runs))
    counted, texts, computed = tables
    return Description(graph, text, outputs, counted, tuple(expressions), texts, computed)
