"""Open a store: connections, transactions, migration of older tables, and driver errors as StoreError.

SQLite keeps its rollback journal (not the write-ahead log): the store stays one file that can be copied and read
from a read-only directory. The journal of a killed writer is rolled back by the next process that opens the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from kinegraph.errors import StoreError
from kinegraph.files import open_regular
from kinegraph.store import tables as schema
from kinegraph.store.rows import insert_rows, write_all_model_parts

# Driver errors as StoreError with a remedy.

_DRIVER_ERRORS: tuple[type[Exception], ...] = (SQLAlchemyError, sqlite3.Error)
try:  # only stores in PostgreSQL need it
    import psycopg

    _DRIVER_ERRORS += (psycopg.Error,)
except ImportError:
    pass

#: Primary SQLite result codes, with their meaning for a store.
_SQLITE_MEANING = {
    sqlite3.SQLITE_BUSY: "another process is writing to it and did not finish in time; try again later",
    sqlite3.SQLITE_LOCKED: "another process is writing to it and did not finish in time; try again later",
    sqlite3.SQLITE_READONLY: "it, or its directory, cannot be written; choose another file with --store PATH",
    sqlite3.SQLITE_PERM: "access was denied; choose another file with --store PATH",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written (full, over a limit, or failing); nothing was changed",
    sqlite3.SQLITE_CORRUPT: "the file is damaged or truncated; restore a copy (it was not changed)",
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again: nothing was changed",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created there; choose another file with --store PATH",
    sqlite3.SQLITE_NOTADB: "the file is not a database; choose another file with --store PATH (it was not changed)",
    sqlite3.SQLITE_INTERRUPT: "the query took too long and was stopped; allow more with --seconds",
    sqlite3.SQLITE_AUTH: "only statements that read are allowed",
}

#: PostgreSQL's error classes (the first two characters of SQLSTATE) and some single states.
_POSTGRES_MEANING = {
    "08": "the server cannot be reached, or closed the connection",
    "28": "the server rejected the user or the password",
    "3D": "the database does not exist on the server; create it first",
    "53": "the server is out of disk, memory or connections; nothing was changed",
    "25006": "only statements that read are allowed",
    "57014": "the query took too long and was stopped; allow more with --seconds",
    "42501": "the user does not have permission for this in the database",
    "55P03": "another process is writing to it and did not finish in time; try again later",
}


@contextmanager
def reported(where: str) -> Iterator[None]:
    """Turn every driver error inside the block into a StoreError about the store at `where`."""
    try:
        yield
    except _DRIVER_ERRORS as problem:
        raise StoreError(f"store {where}: {_meaning(problem)}") from problem


def _meaning(problem: Exception) -> str:
    original = problem.orig if isinstance(problem, DBAPIError) else problem
    said = str(original).strip().splitlines()[0] if str(original).strip() else type(original).__name__
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        # The low byte is the primary code; the rest is detail that Python's message also contains.
        known = _SQLITE_MEANING.get(code & 0xFF)
        return f"{known} ({said})" if known else said
    state = getattr(original, "sqlstate", None) or ""
    known = _POSTGRES_MEANING.get(state) or _POSTGRES_MEANING.get(state[:2])
    if not state and "connection" in said:
        known = _POSTGRES_MEANING["08"]
    return f"{known} ({said})" if known else said


# Migration of an older store, as one transaction.


def migrate(connection: Connection, found: int) -> None:
    """Migrate tables of version `found` to the present version."""
    definition = schema.definition
    if found < 2:
        _add_model_parts(connection, [one for one in schema.MODEL_PARTS.values() if one is not definition])
        schema.metadata.create_all(connection, tables=[schema.reduction])
    if found < 3:
        _add_model_parts(connection, [definition])
    if found < 4:
        from kinegraph.store.names import write_all_defined  # writing depends on this package

        schema.metadata.create_all(connection, tables=[schema.defined])
        write_all_defined(connection)
    elif found < 5:
        _renew_defined(connection)
    connection.execute(update(schema.identity).values(schema_version=schema.SCHEMA_VERSION))


def _renew_defined(connection: Connection) -> None:
    """The table of names with its rows and a longer key: a variable may have several."""
    d = schema.defined
    found = connection.execute(select(d.c.graph, d.c.variable, d.c.definition, d.c.negative)).all()
    rows = [(row.graph, row.variable, row.definition, row.negative) for row in found]
    connection.execute(text("DROP TABLE defined"))
    schema.metadata.create_all(connection, tables=[d])
    insert_rows(connection, d, rows)


def _add_model_parts(connection: Connection, new: list[Table]) -> None:
    """Tables of mechanisms' parts, filled from the texts of all mechanisms."""
    schema.metadata.create_all(connection, tables=new)
    write_all_model_parts(connection, new)


# Opening a store.

#: How long a writer waits for another one, seconds.
PATIENCE = 60

#: Any number that no other program locks: writers of one PostgreSQL store take turns.
_WRITER_LOCK = 0x6B67_73746F72


@dataclass(frozen=True)
class Store:
    """An open store. `reading` and `writing` give connections; a block of `writing` is one transaction."""

    engine: Engine
    where: str

    @property
    def is_sqlite(self) -> bool:
        """Whether it is an SQLite file, not a server."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with a consistent view of the store; changes are rolled back."""
        with reported(self.where), self.engine.connect() as connection:
            yield connection
            connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One atomic change. Waits while another process writes."""
        # PostgreSQL: writers take turns, and each must see the changes of the one before it, not the state before it
        # waited.
        isolation = {} if self.is_sqlite else {"isolation_level": "READ COMMITTED"}
        writing_engine = self.engine.execution_options(kinegraph_writes=True, **isolation)
        with reported(self.where), writing_engine.begin() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _WRITER_LOCK})
            yield connection

    @property
    def path(self) -> Path | None:
        """The file of an SQLite store."""
        return Path(self.where) if self.is_sqlite else None

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def default_target() -> str:
    """`$KINEGRAPH_STORE`, else `store.sqlite` in the user's data directory."""
    return os.environ.get("KINEGRAPH_STORE") or str(Path(platformdirs.user_data_dir("kinegraph")) / "store.sqlite")


def open_store(target: str | Path | None = None, *, create: bool = True) -> Store:
    """Open the store at a path or URL (`postgresql://...`), making an empty one if there is none and `create` allows.

    Raises StoreError if it is not a store, was written by a newer Kinegraph, is damaged, or cannot be reached.
    """
    store = _connect(str(target) if target is not None else default_target())
    try:
        _identify(store, create)
    except BaseException:
        store.close()
        raise
    return store


def now() -> str:
    """The time of a change, UTC, sortable as text."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _connect(target: str) -> Store:
    if "://" not in target:
        return _connect_sqlite(Path(target).expanduser())
    try:
        url = make_url(target)
    except ArgumentError:
        raise StoreError(f"store {target}: this is neither a path nor a URL like postgresql://host/database") from None
    if url.get_backend_name() == "sqlite":
        return _connect_sqlite(Path(url.database or ""))
    if url.get_backend_name() != "postgresql":
        raise StoreError(f"store {url.host}: a store must be an SQLite file or a postgresql:// URL")
    return _connect_postgres(url.set(drivername="postgresql+psycopg"))


def _connect_sqlite(path: Path) -> Store:
    path = path.absolute()
    if path.is_dir():
        raise StoreError(f"store {path}: this is a directory; give a file in it")
    if path.exists() and not path.is_file():
        raise StoreError(f"store {path}: this is not a regular file; choose another file with --store PATH")
    mode = "ro" if path.exists() and not os.access(path, os.W_OK) else "rwc"
    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: sqlite3.connect(file_uri(path, mode), uri=True, timeout=PATIENCE, check_same_thread=False),
        poolclass=NullPool,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Store(engine, str(path))


def file_uri(path: Path, mode: str) -> str:
    """The URI by which SQLite opens a file in a mode (`ro`, `rwc`)."""
    return f"{path.absolute().as_uri()}?mode={mode}"


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin in `_begin_sqlite`, not where the driver guesses
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -65536")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("kinegraph_writes", False)
    # Take the write lock at once: a reader that becomes a writer cannot wait, it can only fail.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _connect_postgres(url: URL) -> Store:
    try:
        engine = create_engine(url, isolation_level="REPEATABLE READ")
    except ModuleNotFoundError:
        raise StoreError("a PostgreSQL store needs psycopg: pip install kinegraph[postgres]") from None
    return Store(engine, url.set(drivername="postgresql").render_as_string(hide_password=True))


def _identify(store: Store, create: bool) -> None:
    """Check that this is a store we can use; create it if there is nothing."""
    path = store.path
    if path is not None and not path.exists():
        if not create:
            raise StoreError(f"store {path}: the store does not exist; `kinegraph store add MODEL` creates it")
        _make_directory(path)
    elif path is not None:
        _check_header(path)
    with store.reading() as connection:
        tables = set(inspect(connection).get_table_names())
        found = _version(connection) if schema.identity.name in tables else None
    if path is not None and path.exists():
        _check_length(path)
    if found is None:
        _create(store, tables, create)
    elif found > schema.SCHEMA_VERSION:
        raise StoreError(
            f"store {store.where}: written by a newer Kinegraph (table version {found}, this one supports "
            f"{schema.SCHEMA_VERSION}); update Kinegraph, or choose another store"
        )
    elif found < schema.SCHEMA_VERSION:
        _bring_up(store, found)


def _bring_up(store: Store, found: int) -> None:
    """Migrate tables of an older Kinegraph to those of this one."""
    if store.path is not None and not os.access(store.path, os.W_OK):
        raise StoreError(
            f"store {store.where}: written by an older Kinegraph (table version {found}) and not writable, "
            f"so it cannot be migrated to version {schema.SCHEMA_VERSION}; make it writable, or open a copy "
            "of it"
        )
    with store.writing() as connection:
        now_found = _version(connection)
        if now_found is not None and now_found < schema.SCHEMA_VERSION:  # otherwise another process was faster
            migrate(connection, now_found)


def _make_directory(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreError(f"store {path}: cannot create its directory ({problem.strerror})") from None


def _version(connection: Connection) -> int | None:
    return connection.execute(select(schema.identity.c.schema_version)).scalar()


def _check_header(path: Path) -> None:
    """Reject a file of a few bytes: SQLite takes it for an empty one and would overwrite it."""
    if path.is_file() and os.access(path, os.R_OK) and 0 < path.stat().st_size < 100:
        raise StoreError(f"store {path}: the file is not a database; choose another file with --store PATH")


def _check_length(path: Path) -> None:
    """Reject a truncated file, shorter than its header says: SQLite would notice only when it reaches the missing
    pages."""
    with open_regular(path) as file:
        header = file.read(100)
        length = os.fstat(file.fileno()).st_size
    if len(header) < 100 or header[24:28] != header[92:96]:
        return  # empty, or the page count in the header is not reliable
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    if length < pages * (65536 if page == 1 else page) and not Path(f"{path}-journal").exists():
        raise StoreError(f"store {path}: the file is truncated ({length} bytes); restore a copy")


def _create(store: Store, tables: set[str], create: bool) -> None:
    if tables:
        raise StoreError(f"store {store.where}: a database, but not a Kinegraph store; choose another file or database")
    if not create:
        raise StoreError(f"store {store.where}: it is empty; `kinegraph store add MODEL` fills it")
    with store.writing() as connection:
        if inspect(connection).has_table(schema.identity.name):
            return  # another process was faster
        schema.metadata.create_all(connection)
        row = {"schema_version": schema.SCHEMA_VERSION, "written_by": "kinegraph", "created": now()}
        connection.execute(insert(schema.identity), row)
