"""Free SQL that can only read: the database itself refuses everything else."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sqlalchemy import text

from kinegraph.errors import StoreError
from kinegraph.store.schema.bulk import PostgresDriver
from kinegraph.store.schema.failure import reported
from kinegraph.store.schema.open import PATIENCE, Store, file_uri


@dataclass(frozen=True, slots=True)
class Answer:
    """A table; `more` says that rows beyond the limit were left out."""

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


#: All that a statement may do in SQLite: read tables, call functions, recurse.
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


#: The largest answer in bytes, and what SQLite allows any single value and statement: its time limit is looked at only
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
        return _answer([column[0] for column in cursor.description or ()], _rows(cursor, limit), limit)
    finally:
        connection.close()


def _rows(cursor: sqlite3.Cursor, limit: int) -> list[tuple[object, ...]]:
    """Up to limit + 1 rows; StoreError if together they are larger than an answer may be."""
    rows: list[tuple[object, ...]] = []
    size = 0
    for row in cursor:
        size += sum(len(entry) for entry in row if isinstance(entry, str | bytes))
        if size > LARGEST_ANSWER:
            raise StoreError(
                f"the answer is larger than {LARGEST_ANSWER // 10**6} MB: ask for fewer rows or shorter columns"
            )
        rows.append(row)
        if len(rows) > limit:
            break
    return rows


#: What a PostgreSQL cursor takes. Only for a better message: what may be done is decided by the server.
_CURSOR = re.compile(r"\s*\(*\s*(SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)


def _query_postgres(store: Store, sql: str, values: Mapping[str, object], limit: int, seconds: float) -> Answer:
    if not _CURSOR.match(sql):
        raise StoreError("only statements that read are allowed here: SELECT, WITH, VALUES or TABLE")
    with store.engine.connect() as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        wait = f"{int(seconds * 1000)}"
        # This first query also takes the transaction's snapshot, after which it can no longer be made writable.
        connection.execute(text("SELECT set_config('statement_timeout', :wait, true)"), {"wait": wait})
        # A cursor takes one statement, and only one that returns rows: nothing can follow or hide behind it.
        driver = cast("PostgresDriver", connection.connection.driver_connection)
        prepared = text(sql).bindparams(**values).compile(dialect=connection.dialect)
        statement = str(prepared) if values else sql.replace("%", "%%")
        with driver.cursor(name="kinegraph_query") as cursor:
            cursor.execute(statement, dict(values) or {"": None})
            rows = cursor.fetchmany(limit + 1)
            return _answer([column.name for column in cursor.description or ()], rows, limit)


def _answer(columns: list[str], rows: list[tuple[object, ...]], limit: int) -> Answer:
    if not columns:
        raise StoreError("the statement returns no rows; only statements that read are allowed here")
    return Answer(tuple(columns), tuple(tuple(row) for row in rows[:limit]), len(rows) > limit)
