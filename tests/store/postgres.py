"""A PostgreSQL server of the test run's own: a new cluster in a temporary directory, reached by a socket there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote


def binary(name: str) -> str | None:
    """A server program, which Debian keeps out of the path."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(places[0]) if places else shutil.which(name)


@contextmanager
def server() -> Iterator[str]:
    """The URL of a running server; it and all its data vanish afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="kgpg-", dir="/tmp"))  # a socket's path may have 107 characters
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(directory, "postgres", "postgres")
    data = directory / "data"

    def run(program: str, *arguments: str) -> None:
        command = [str(binary(program)), "-D", str(data), *arguments]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, **user)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    settings = f"-c listen_addresses= -c unix_socket_directories={directory} -c fsync=off -c max_connections=40"
    try:
        run("pg_ctl", "-w", "-o", settings, "-l", str(directory / "log"), "start")
        yield f"postgresql://postgres@/postgres?host={quote(str(directory))}"
    finally:
        if (data / "postmaster.pid").exists():
            run("pg_ctl", "-m", "immediate", "-w", "stop")
        shutil.rmtree(directory, ignore_errors=True)
