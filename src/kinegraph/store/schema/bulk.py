"""Many rows at once, past SQLAlchemy's per-row work: a hundred thousand nodes are half a million rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table


def insert_rows(connection: Connection, table: Table, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows given as tuples in the order of the table's columns."""
    if connection.dialect.name == "sqlite":
        places = ", ".join("?" for _ in table.columns)
        collected = rows if isinstance(rows, list) else list(rows)
        if collected:
            connection.exec_driver_sql(f"INSERT INTO {_quoted(table.name)} VALUES ({places})", collected)
    else:
        columns = ", ".join(_quoted(column.name) for column in table.columns)
        driver: Any = connection.connection.driver_connection
        command = f"COPY {_quoted(table.name)} ({columns}) FROM STDIN"
        with driver.cursor() as cursor, cursor.copy(command) as copy:
            for row in rows:
                copy.write_row(row)


def _quoted(name: str) -> str:
    return f'"{name}"'
