"""Joining terms with the same factors after an update. Their sum must be exact, which SQL cannot do for fractions."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, select, update

from kinegraph.graph.canonical.numbers import exact
from kinegraph.graph.node import Coefficient, Factor
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.exact import from_columns, to_columns


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
    """Lists short enough to be bound one by one."""
    ordered = sorted(variables)
    return [ordered[start : start + 500] for start in range(0, len(ordered), 500)]
