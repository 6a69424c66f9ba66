"""Many rows at once, past SQLAlchemy's per-row work: a hundred thousand nodes are half a million rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, cast

from sqlalchemy import Connection, Table


class Copy(Protocol):
    """What is used of a copy into a table."""

    def write_row(self, row: Sequence[object]) -> None:
        """One row."""
        ...


class Cursor(Protocol):
    """What is used of a cursor of psycopg."""

    @property
    def description(self) -> Sequence[Named] | None:
        """The columns of the answer."""
        ...

    def copy(self, command: str) -> AbstractContextManager[Copy]:
        """Begin a copy."""
        ...

    def execute(self, statement: str, values: Mapping[str, object]) -> object:
        """Run a statement."""
        ...

    def fetchmany(self, size: int) -> list[tuple[object, ...]]:
        """The next rows."""
        ...


class Named(Protocol):
    """What is used of a column of an answer."""

    name: str


class PostgresDriver(Protocol):
    """What is used of a connection of psycopg, which may not be installed."""

    def cursor(self, name: str = "") -> AbstractContextManager[Cursor]:
        """A cursor; with a name it lives in the server."""
        ...


def insert_rows(connection: Connection, table: Table, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows given as tuples in the order of the table's columns."""
    if connection.dialect.name == "sqlite":
        places = ", ".join("?" for _ in table.columns)
        collected = rows if isinstance(rows, list) else list(rows)
        if collected:
            connection.exec_driver_sql(f"INSERT INTO {_quoted(table.name)} VALUES ({places})", collected)
    else:
        columns = ", ".join(_quoted(column.name) for column in table.columns)
        driver = cast("PostgresDriver", connection.connection.driver_connection)
        command = f"COPY {_quoted(table.name)} ({columns}) FROM STDIN"
        with driver.cursor() as cursor, cursor.copy(command) as copy:
            for row in rows:
                copy.write_row(row)


def _quoted(name: str) -> str:
    return f'"{name}"'
