"""Removing neutral elements and identical expressions as updates of the stored graph (the thesis: Alg. 2.2, 3.2).

Both passes go up the levels. What a variable turns out to be (a number 0, 1 or -1, another variable, or its negative)
is noted in a temporary table, and the terms of higher levels are updated from it. The original is never touched: the
updates run on a copy, which ends as a graph of its own with its codes renumbered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, select, text

from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Polynomial
from kinegraph.store.read.cone import needed
from kinegraph.store.read.find import graph_row
from kinegraph.store.read.load import compact, read_nodes, read_outputs
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.exact import negated
from kinegraph.store.schema.open import Store
from kinegraph.store.schema.records import PassRecord
from kinegraph.store.write.like_terms import merge_like_terms
from kinegraph.store.write.working_copy import finished, relevel, working_copy

#: Functions of a number 0, 1 or -1 that are such a number again.
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

    With `numeric`, parameters whose stored value is 0, 1 or -1 count as these numbers.
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
                _neutral(connection, work, numeric)  # merged terms may cancel, and levels sink: look again
            passes.append(PassRecord("identical expressions", _count(connection, work), time.perf_counter() - started))
        return Rewritten(finished(connection, work, stage, passes), tuple(passes))


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


def _run(connection: Connection, statements: Sequence[str], **values: int) -> None:
    for statement in statements:
        names = {name: value for name, value in values.items() if f":{name}" in statement}
        connection.execute(text(statement), names)


# The two passes


def _neutral(connection: Connection, work: int, numeric: bool) -> None:
    _run(connection, ["DELETE FROM alias"])
    if numeric:
        _run(connection, [_KNOWN_PARAMETERS], g=work)
    for level in range(_highest(connection, work) + 1):
        _apply_aliases(connection, work, level)
        _fold_functions(connection, work, level)
        _run(connection, [_NOTE_ZEROS, _NOTE_SINGLE_TERMS], g=work, level=level)
    _redirect_outputs(connection, work)
    relevel(connection, work)


def _identical(connection: Connection, work: int) -> bool:
    """Whether anything was found."""
    _run(connection, ["DELETE FROM alias"])
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


# Updating one level from what is known of the lower ones. CROSS JOIN keeps SQLite to the order written, from the few
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
    # A negative inside a function is left alone: what sin(-x) is, is not a matter of neutral elements.
    """UPDATE argument SET argument = (SELECT target FROM alias WHERE code = argument.argument)
       WHERE graph = :g AND argument IN (SELECT code FROM alias WHERE scale = 1 AND target IS NOT NULL)
         AND variable IN (SELECT code FROM variable WHERE graph = :g AND level = :level)""",
)


def _apply_aliases(connection: Connection, work: int, level: int) -> None:
    if not level:
        return
    _run(connection, _UPDATE_TERMS, g=work, level=level)
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
        _run(connection, [
            "UPDATE variable SET kind = 'sum', name = NULL WHERE graph = :g AND code = :code",
            "DELETE FROM argument WHERE graph = :g AND variable = :code",
        ], g=work, code=code)  # fmt: skip
        if result:
            one = "INSERT INTO term VALUES (:g, :code, 0, :result, NULL)"
            _run(connection, [one], g=work, code=code, result=result)


def _redirect_outputs(connection: Connection, work: int) -> None:
    _run(connection, [
        """UPDATE entry SET variable = (SELECT target FROM alias WHERE code = entry.variable)
           WHERE graph = :g AND variable IN (SELECT code FROM alias WHERE scale = 1 AND target IS NOT NULL)"""
    ], g=work)  # fmt: skip
