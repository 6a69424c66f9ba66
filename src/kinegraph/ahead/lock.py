"""One process at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Run a block while no other process does, waiting for it; the file stays. Windows has no such wait: all go on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
