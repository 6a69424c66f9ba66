"""The folders that hold machine code, named after all that the code is made of."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from kinegraph.jit import cache as user_cache
from kinegraph.jit.target import host

#: Where the user wants Numba's code; a process that compiles ahead is told by it where to write.
CHOSEN = "NUMBA_CACHE_DIR"

#: Code that this process compiled and could not write.
unkept: list[str] = []


def folder(name: str, sources: Iterable[Path]) -> Path:
    """Where the code made of these files by this Numba is stored.

    Numba looks at the file a function stands in, not at those of its parts: it would run old code. So the folder's
    name holds a digest of all of them, and of the files here, which say how records are laid out.
    """
    files = sorted(sources)
    digest = sha256(version("numba").encode())
    for file in [*files, *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(file.read_bytes())
    return _base(files[0].parent / "__pycache__") / f"{name}-{digest.hexdigest()[:16]}"


@cache
def processor() -> str:
    """A short name of this Python and this processor: code for others lies in the same folder."""
    facts = f"{sys.version} {host()}"
    return sha256(facts.encode()).hexdigest()[:16]


@cache
def _base(beside: Path) -> Path:
    """What the user chose; else beside Python's own compiled files, in the user's cache, or for this process alone."""
    chosen = os.environ.get(CHOSEN)
    if chosen:
        return Path(chosen)
    places = [beside]
    with suppress(RuntimeError):  # there is no home directory
        places.append(user_cache.directory() / "loops")
    for place in places:
        if _writable(place):
            return place
    temporary = Path(tempfile.mkdtemp(prefix="kinegraph-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary


def _writable(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        return False
    return True
