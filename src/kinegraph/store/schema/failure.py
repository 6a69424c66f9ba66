"""What a database driver reports, as a StoreError that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from kinegraph.errors import StoreError

_DRIVER_ERRORS: tuple[type[Exception], ...] = (SQLAlchemyError, sqlite3.Error)
try:  # only stores in PostgreSQL need it
    import psycopg

    _DRIVER_ERRORS += (psycopg.Error,)
except ImportError:
    pass

#: Primary SQLite result codes, each with what it means for a store.
_SQLITE_MEANING = {
    sqlite3.SQLITE_BUSY: "another process is writing to it and did not finish in time; try again later",
    sqlite3.SQLITE_LOCKED: "another process is writing to it and did not finish in time; try again later",
    sqlite3.SQLITE_READONLY: "it, or its directory, cannot be written; choose another place with --store PATH",
    sqlite3.SQLITE_PERM: "access was refused; choose another place with --store PATH",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written (full, over a limit, or failing); nothing was changed",
    sqlite3.SQLITE_CORRUPT: "the file is damaged or cut short; put a copy back in its place (it was not changed)",
    sqlite3.SQLITE_FULL: "the disk is full; make room and try again: nothing was changed",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created there; choose another place with --store PATH",
    sqlite3.SQLITE_NOTADB: "the file is not a database; choose another place with --store PATH (it was not changed)",
    sqlite3.SQLITE_INTERRUPT: "the query took too long and was stopped; allow more with --seconds",
    sqlite3.SQLITE_AUTH: "only statements that read are allowed here",
}

#: PostgreSQL's error classes (the first two characters of SQLSTATE) and some single states.
_POSTGRES_MEANING = {
    "08": "the server cannot be reached, or broke the connection",
    "28": "the server refused the user or the password",
    "3D": "there is no such database on the server; create it first",
    "53": "the server is out of disk, memory or connections; nothing was changed",
    "25006": "only statements that read are allowed here",
    "57014": "the query took too long and was stopped; allow more with --seconds",
    "42501": "the user may not do this in the database",
    "55P03": "another process is writing to it and did not finish in time; try again later",
}


@contextmanager
def reported(where: str) -> Iterator[None]:
    """Turn every failure of a driver inside the block into a StoreError about the store at `where`."""
    try:
        yield
    except _DRIVER_ERRORS as problem:
        raise StoreError(f"store {where}: {_meaning(problem)}") from problem


def _meaning(problem: Exception) -> str:
    original = problem.orig if isinstance(problem, DBAPIError) else problem
    said = str(original).strip().splitlines()[0] if str(original).strip() else type(original).__name__
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        # The low byte is the primary code; the rest is detail that Python's message repeats in words.
        known = _SQLITE_MEANING.get(code & 0xFF)
        return f"{known} ({said})" if known else said
    state = getattr(original, "sqlstate", None) or ""
    known = _POSTGRES_MEANING.get(state) or _POSTGRES_MEANING.get(state[:2])
    if not state and "connection" in said:
        known = _POSTGRES_MEANING["08"]
    return f"{known} ({said})" if known else said
