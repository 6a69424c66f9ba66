"""Eliminate neutral elements and identical expressions by updates of the stored graph (the thesis: Alg. 2.2, 3.2)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass

from sqlalchemy import Connection, Table, bindparam, delete, func, insert, select, text, update

from kinegraph.graph import law
from kinegraph.graph.build import bind
from kinegraph.graph.canonical import exact
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Coefficient, Factor, Kind, Polynomial
from kinegraph.graph.proof import prove
from kinegraph.store import tables as schema
from kinegraph.store.catalog import PassRecord, StoredGraph, graph_row
from kinegraph.store.database import Store, now
from kinegraph.store.graphs import compact, needed, read_graph, read_nodes, read_outputs, walk_from
from kinegraph.store.names import carry_names, write_names
from kinegraph.store.rows import from_columns, insert_rows, negated, to_columns
from kinegraph.store.saving import graph_hash

# Merging terms with the same factors after an update. The sum must be exact, which SQL cannot do for fractions.


def merge_like_terms(connection: Connection, graph: int, variables: Collection[int]) -> None:
    """In these variables, keep one of the terms with the same factors, or none if they cancel."""
    totals: dict[int, dict[tuple[Factor, ...], list[tuple[int, Coefficient]]]] = {}
    factors = _factors(connection, graph, variables)
    t = schema.term
    for chunk in _chunks(variables):
        wanted = select(t).where(t.c.graph == graph, t.c.variable.in_(chunk)).order_by(t.c.variable, t.c.ordinal)
        for row in connection.execute(wanted):
            monomial = tuple(factors.get((row.variable, row.ordinal), ()))
            like_terms = totals.setdefault(row.variable, {}).setdefault(monomial, [])
            like_terms.append((row.ordinal, from_columns(row.coefficient, row.exact)))
    for variable, monomials in totals.items():
        for like_terms in monomials.values():
            if len(like_terms) > 1:
                _join(connection, graph, variable, like_terms)


def _join(connection: Connection, graph: int, variable: int, like_terms: list[tuple[int, Coefficient]]) -> None:
    total = exact(sum(coefficient for _, coefficient in like_terms))
    first, *others = (ordinal for ordinal, _ in like_terms)
    gone = others if total else [first, *others]
    t, f = schema.term, schema.factor
    key = {"key_graph": graph, "key_variable": variable}
    for table, ordinal in ((t, t.c.ordinal), (f, f.c.term)):
        statement = delete(table).where(
            table.c.graph == bindparam("key_graph"), table.c.variable == bindparam("key_variable"),
            ordinal == bindparam("key_ordinal"),
        )  # fmt: skip
        connection.execute(statement, [{**key, "key_ordinal": ordinal} for ordinal in gone])
    if total:
        double, text = to_columns(total)
        same = (t.c.graph == graph) & (t.c.variable == variable) & (t.c.ordinal == first)
        connection.execute(update(t).where(same).values(coefficient=double, exact=text))


def _factors(connection: Connection, graph: int, variables: Collection[int]) -> dict[tuple[int, int], list[Factor]]:
    f = schema.factor
    factors: dict[tuple[int, int], list[Factor]] = {}
    for chunk in _chunks(variables):
        wanted = select(f).where(f.c.graph == graph, f.c.variable.in_(chunk))
        for row in connection.execute(wanted.order_by(f.c.variable, f.c.term, f.c.factor)):
            factors.setdefault((row.variable, row.term), []).append((row.factor, row.exponent))
    return factors


def _chunks(variables: Collection[int]) -> list[list[int]]:
    """Lists short enough to bind each entry."""
    ordered = sorted(variables)
    return [ordered[start : start + 500] for start in range(0, len(ordered), 500)]


# A copy of a graph to update in place, and its conversion to a well-formed graph: live, levelled, renumbered.

#: The parts that are copied; expressions and counts belong to the original.
_COPIED = (schema.variable, schema.term, schema.factor, schema.argument, schema.output, schema.entry)

#: Columns that contain codes of variables.
_CODES = {
    "variable": ("code",),
    "term": ("variable",),
    "factor": ("variable", "factor"),
    "argument": ("variable", "argument"),
    "output": (),
    "entry": ("variable",),
}


def working_copy(connection: Connection, original: StoredGraph) -> int:
    """A copy whose rows may be updated freely."""
    work = _new_graph(connection, original.mechanism, ",".join(original.quantities))
    for table in _COPIED:
        columns = ", ".join(f'"{column.name}"' for column in list(table.columns)[1:])
        statement = f'INSERT INTO "{table.name}" SELECT :work, {columns} FROM "{table.name}" WHERE graph = :original'
        connection.execute(text(statement), {"work": work, "original": original.id})
    _refresh_statistics(connection, [table.name for table in _COPIED])
    return work


def _refresh_statistics(connection: Connection, tables: Sequence[str]) -> None:
    """Tell PostgreSQL's planner of rows written in this transaction; it may otherwise join all of them by a loop."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"ANALYZE {', '.join(tables)}"))


def finished(connection: Connection, origin: int, work: int, stage: str, passes: Sequence[PassRecord]) -> int:
    """The copy as a well-formed graph: no dead variables, correct levels, codes without gaps."""
    _drop_dead(connection, work)
    relevel(connection, work)
    new = _renumbered(connection, work)
    connection.execute(delete(schema.graph).where(schema.graph.c.id == work))
    graph = read_graph(connection, new)
    law.check(graph)
    mechanism = connection.execute(select(schema.graph.c.mechanism).where(schema.graph.c.id == new)).scalar_one()
    write_names(connection, new, mechanism, graph)
    carry_names(connection, origin, new, graph)
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


def _run_statements(connection: Connection, statements: Sequence[str], **values: int) -> None:
    """Run SQL statements, each with the values that it names."""
    for statement in statements:
        names = {name: value for name, value in values.items() if f":{name}" in statement}
        connection.execute(text(statement), names)


def _drop_dead(connection: Connection, work: int) -> None:
    e = schema.entry
    walk = walk_from(select(e.c.variable.label("code")).where(e.c.graph == work), work)
    connection.execute(text("CREATE TEMPORARY TABLE place (code INTEGER PRIMARY KEY, new INTEGER)"))
    found = connection.execute(select(walk.c.code).order_by(walk.c.code)).scalars().all()
    rows = [{"code": code, "new": new} for new, code in enumerate(found)]
    if rows:
        connection.execute(text("INSERT INTO place VALUES (:code, :new)"), rows)
    _refresh_statistics(connection, ["place"])
    for table, column in (("variable", "code"), ("term", "variable"), ("factor", "variable"), ("argument", "variable")):
        dead = f"DELETE FROM {table} WHERE graph = :work AND {column} NOT IN (SELECT code FROM place)"
        _run_statements(connection, [dead], work=work)


#: A variable's level and whether it is static, from its children, which have lower levels and are done. MAX(level + 1),
#: not MAX(level) + 1: the latter makes SQLite search all variables from the highest level down.
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
    """A second copy with the new codes: updating keys in place would make them collide."""
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


# Neutral elements and identical expressions, as updates of the stored graph (the thesis: Alg. 2.2, 3.2). Both passes go
# up the levels. A variable that is a number 0, 1 or -1, another variable, or its negative, is recorded in a temporary
# table, and the terms of higher levels are updated from it. The original is not changed: the updates run on a copy,
# which becomes a graph with renumbered codes.

#: Functions of a number 0, 1 or -1 that are again such a number.
_FOLDS = {
    ("sin", 0): 0, ("cos", 0): 1, ("sqrt", 0): 0, ("sqrt", 1): 1, ("reciprocal", 1): 1, ("reciprocal", -1): -1,
    ("exp", 0): 1, ("log", 1): 0, ("asin", 0): 0, ("atan", 0): 0, ("sinh", 0): 0, ("cosh", 0): 1, ("tanh", 0): 0,
    ("abs", 0): 0, ("abs", 1): 1, ("abs", -1): 1, ("sign", 0): 0, ("sign", 1): 1, ("sign", -1): -1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The new graph and the operations after each pass."""

    graph: int
    passes: tuple[PassRecord, ...]


def eliminate(store: Store, reference: str | int, numeric: bool = False, stage: str = "eliminated") -> Rewritten:
    """Remove neutral elements and identical expressions; the result is a new graph of the same mechanism.

    With `numeric`, parameters whose stored value is 0, 1 or -1 count as these numbers. The result is proved equal.
    """
    with store.writing() as connection:
        original = graph_row(connection, reference)
        work = working_copy(connection, original)
        with _scratch(connection):
            started = time.perf_counter()
            passes = [PassRecord("stored", _count(connection, work))]
            _neutral(connection, work, numeric)
            passes.append(PassRecord("neutral elements", _count(connection, work), time.perf_counter() - started))
            started = time.perf_counter()
            while _identical(connection, work):
                _neutral(connection, work, numeric)  # merged terms may cancel, and levels decrease: repeat
            passes.append(PassRecord("identical expressions", _count(connection, work), time.perf_counter() - started))
        key = finished(connection, original.id, work, stage, passes)
        _require_equal(connection, original.id, key, numeric)
        said = "neutral elements, identical expressions" + (", numeric" if numeric else "")
        connection.execute(update(schema.graph).where(schema.graph.c.id == key).values(proved=True))
        connection.execute(insert(schema.reduction).values(graph=key, origin=original.id, passes=said))
    return Rewritten(key, tuple(passes))


def _require_equal(connection: Connection, original: int, key: int, numeric: bool) -> None:
    """ProofError unless the new graph equals the original, with the parameters that were replaced."""
    v = schema.variable
    replaced = (v.c.graph == original) & (v.c.kind == Kind.PARAMETER.value) & v.c.exact.in_(("0", "1", "-1"))
    values = {row.name: int(row.exact) for row in connection.execute(select(v.c.name, v.c.exact).where(replaced))}
    first, last = (bind(read_graph(connection, graph), values if numeric else {}) for graph in (original, key))
    prove(first, last).require()


def _count(connection: Connection, graph: int) -> Operations:
    return count(compact(read_nodes(connection, graph), read_outputs(connection, graph)))


# Scratch tables


_SCRATCH = {
    "alias": "code INTEGER PRIMARY KEY, scale INTEGER NOT NULL, target INTEGER",
    "touched": "variable INTEGER, ordinal INTEGER, PRIMARY KEY (variable, ordinal)",
    "regrouped": "variable INTEGER, term INTEGER, factor INTEGER, exponent BIGINT",
}


@contextmanager
def _scratch(connection: Connection) -> Iterator[None]:
    for name, columns in _SCRATCH.items():
        connection.execute(text(f"CREATE TEMPORARY TABLE {name} ({columns})"))
    yield
    for name in _SCRATCH:
        connection.execute(text(f"DROP TABLE {name}"))


# The two passes


def _neutral(connection: Connection, work: int, numeric: bool) -> None:
    _run_statements(connection, ["DELETE FROM alias"])
    if numeric:
        _run_statements(connection, [_KNOWN_PARAMETERS], g=work)
    for level in range(_highest(connection, work) + 1):
        _apply_aliases(connection, work, level)
        _fold_functions(connection, work, level)
        _run_statements(connection, [_NOTE_ZEROS, _NOTE_SINGLE_TERMS], g=work, level=level)
    _redirect_outputs(connection, work)
    relevel(connection, work)


def _identical(connection: Connection, work: int) -> bool:
    """Whether any was found."""
    _run_statements(connection, ["DELETE FROM alias"])
    codes = {code for output in read_outputs(connection, work) for code in output.nodes}
    with needed(connection, work, codes) as only:
        for level in range(_highest(connection, work) + 1):
            _apply_aliases(connection, work, level)
            _note_repeated(connection, work, level, only)
    _redirect_outputs(connection, work)
    relevel(connection, work)
    return bool(connection.execute(text("SELECT COUNT(*) FROM alias")).scalar())


def _highest(connection: Connection, work: int) -> int:
    v = schema.variable
    return connection.execute(select(func.max(v.c.level)).where(v.c.graph == work)).scalar() or 0


def _note_repeated(connection: Connection, work: int, level: int, only: Table) -> None:
    first: dict[object, int] = {}
    repeated: list[dict[str, int]] = []
    for code, node in read_nodes(connection, work, level=level, only=only).items():
        key = frozenset(node.terms) if isinstance(node, Polynomial) else node
        if (known := first.setdefault(key, code)) != code:
            repeated.append({"code": code, "target": known})
    if repeated:
        connection.execute(text("INSERT INTO alias VALUES (:code, 1, :target)"), repeated)


_KNOWN_PARAMETERS = """
    INSERT INTO alias SELECT code, CAST(value AS INTEGER), NULL FROM variable
    WHERE graph = :g AND kind = 'parameter' AND exact IN ('0', '1', '-1')"""

_NOTE_ZEROS = """
    INSERT INTO alias SELECT code, 0, NULL FROM variable v
    WHERE graph = :g AND level = :level AND kind = 'sum'
      AND NOT EXISTS (SELECT 1 FROM term t WHERE t.graph = v.graph AND t.variable = v.code)"""

#: One row after the join means one term with at most one factor.
_NOTE_SINGLE_TERMS = """
    INSERT INTO alias SELECT v.code, CAST(MIN(t.coefficient) AS INTEGER), MIN(f.factor)
    FROM variable v JOIN term t ON t.graph = v.graph AND t.variable = v.code
    LEFT JOIN factor f ON f.graph = t.graph AND f.variable = t.variable AND f.term = t.ordinal
    WHERE v.graph = :g AND v.level = :level AND v.kind = 'sum'
    GROUP BY v.code
    HAVING COUNT(*) = 1 AND ABS(MIN(t.coefficient)) = 1 AND COALESCE(MIN(f.exponent), 1) = 1
       AND MIN(t.exact) IS NULL"""


# Updating one level from what is known of the lower ones. CROSS JOIN forces SQLite to the written order, from the few
# rows of the level to the many of the graph; to PostgreSQL it is any join.


_UPDATE_TERMS = (
    "DELETE FROM touched",
    """INSERT INTO touched SELECT DISTINCT f.variable, f.term
       FROM variable v CROSS JOIN factor f CROSS JOIN alias a
       WHERE v.graph = :g AND v.level = :level AND f.graph = :g AND f.variable = v.code AND a.code = f.factor""",
    """DELETE FROM term WHERE graph = :g AND (variable, ordinal) IN (
         SELECT x.variable, x.ordinal FROM touched x CROSS JOIN factor f CROSS JOIN alias a
         WHERE f.graph = :g AND f.variable = x.variable AND f.term = x.ordinal
           AND a.code = f.factor AND a.scale = 0)""",
    f"""UPDATE term SET coefficient = -coefficient, exact = {negated("exact")}
        WHERE graph = :g AND (variable, ordinal) IN (
          SELECT x.variable, x.ordinal FROM touched x CROSS JOIN factor f CROSS JOIN alias a
          WHERE f.graph = :g AND f.variable = x.variable AND f.term = x.ordinal
            AND a.code = f.factor AND a.scale = -1
          GROUP BY x.variable, x.ordinal HAVING SUM(f.exponent) % 2 = 1)""",
    "DELETE FROM regrouped",
    """INSERT INTO regrouped SELECT f.variable, f.term, COALESCE(a.target, f.factor), SUM(f.exponent)
       FROM touched x CROSS JOIN factor f LEFT JOIN alias a ON a.code = f.factor
       WHERE f.graph = :g AND f.variable = x.variable AND f.term = x.ordinal
         AND (a.code IS NULL OR a.target IS NOT NULL)
       GROUP BY f.variable, f.term, COALESCE(a.target, f.factor)""",
    "DELETE FROM factor WHERE graph = :g AND (variable, term) IN (SELECT variable, ordinal FROM touched)",
    """INSERT INTO factor SELECT :g, r.variable, r.term, r.factor, r.exponent FROM regrouped r
       JOIN term t ON t.graph = :g AND t.variable = r.variable AND t.ordinal = r.term""",
    # A negative inside a function stays: sin(-x) is not a neutral element.
    """UPDATE argument SET argument = (SELECT target FROM alias WHERE code = argument.argument)
       WHERE graph = :g AND argument IN (SELECT code FROM alias WHERE scale = 1 AND target IS NOT NULL)
         AND variable IN (SELECT code FROM variable WHERE graph = :g AND level = :level)""",
)


def _apply_aliases(connection: Connection, work: int, level: int) -> None:
    if not level:
        return
    _run_statements(connection, _UPDATE_TERMS, g=work, level=level)
    touched = connection.execute(text("SELECT DISTINCT variable FROM touched")).scalars().all()
    merge_like_terms(connection, work, touched)


_CONSTANT_ARGUMENT = """
    SELECT v.code, v.name, a.scale FROM variable v
    JOIN argument p ON p.graph = v.graph AND p.variable = v.code JOIN alias a ON a.code = p.argument
    WHERE v.graph = :g AND v.level = :level AND v.kind = 'function' AND a.target IS NULL"""


def _fold_functions(connection: Connection, work: int, level: int) -> None:
    rows = connection.execute(text(_CONSTANT_ARGUMENT), {"g": work, "level": level}).all()
    for code, name, scale in rows:
        result = _FOLDS.get((name, scale))
        if result is None:
            continue
        _run_statements(connection, [
            "UPDATE variable SET kind = 'sum', name = NULL WHERE graph = :g AND code = :code",
            "DELETE FROM argument WHERE graph = :g AND variable = :code",
        ], g=work, code=code)  # fmt: skip
        if result:
            one = "INSERT INTO term VALUES (:g, :code, 0, :result, NULL)"
            _run_statements(connection, [one], g=work, code=code, result=result)


def _redirect_outputs(connection: Connection, work: int) -> None:
    _run_statements(connection, [
        """UPDATE entry SET variable = (SELECT target FROM alias WHERE code = entry.variable)
           WHERE graph = :g AND variable IN (SELECT code FROM alias WHERE scale = 1 AND target IS NOT NULL)"""
    ], g=work)  # fmt: skip
