"""Every test of the store runs on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

import pytest

from kinegraph.store import Store, open_store
from tests.store import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    if postgres.binary("initdb") is None:
        _do_without("no PostgreSQL server here: apt-get install postgresql")
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgres.server())
        except (OSError, LookupError, RuntimeError) as error:  # LookupError: root has no user postgres to run it
            _do_without(f"the PostgreSQL server here does not start: {error}")
        yield url


def _do_without(message: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(params=["sqlite", "postgres"], scope="session")
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def new_target(backend: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a new store may be made. SQLite's in memory, where waiting for the disk costs nothing; tests of what
    happens to files use the real disk."""
    if backend == "sqlite":
        memory = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as directory:
            yield f"{directory}/store.sqlite"
    else:
        with own_schema(request.getfixturevalue("postgres_url")) as url:
            yield url


@pytest.fixture
def target(backend: str, request: pytest.FixtureRequest) -> Iterator[str]:
    with new_target(backend, request) as place:
        yield place


@pytest.fixture(scope="module")
def shared_target(backend: str, request: pytest.FixtureRequest) -> Iterator[str]:
    with new_target(backend, request) as place:
        yield place


@pytest.fixture
def store(target: str) -> Iterator[Store]:
    """An empty store."""
    opened = open_store(target)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared_store(shared_target: str) -> Iterator[Store]:
    """A store for a whole file: for random tests, and for tests that only read."""
    opened = open_store(shared_target)
    yield opened
    opened.close()


class own_schema:
    """A part of the server for one test: `public` of one is not seen by the other."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = f"t{uuid4().hex}"

    def __enter__(self) -> str:
        self._run(f"CREATE SCHEMA {self.name}")
        return f"{self.url}&options=-csearch_path%3D{self.name}"

    def __exit__(self, *_: object) -> None:
        self._run(f"DROP SCHEMA {self.name} CASCADE")

    def _run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)
