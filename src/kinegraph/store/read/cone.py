"""What some variables are computed from, found by walking down the stored graph inside the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy import (
    CTE,
    Column,
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

from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.query import Query

#: Temporary tables belong to the session: the store itself is not touched.
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
    """The roots (a query with a column `code`) and everything they are computed from, as a recursive query."""
    walk, links = roots.cte("walk", recursive=True), _links(graph)
    return walk.union(select(links.c.child).join(walk, links.c.variable == walk.c.code))


def walk_up(roots: Query, graph: int) -> CTE:
    """The roots and everything that is computed from them."""
    walk, links = roots.cte("walk", recursive=True), _links(graph)
    return walk.union(select(links.c.variable).join(walk, links.c.child == walk.c.code))


def _links(graph: int) -> Subquery:
    f, a = schema.factor, schema.argument
    return union_all(
        select(f.c.variable, f.c.factor.label("child")).where(f.c.graph == graph),
        select(a.c.variable, a.c.argument.label("child")).where(a.c.graph == graph),
    ).subquery("links")
