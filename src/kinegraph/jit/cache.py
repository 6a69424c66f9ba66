"""Object code on disk, by content.

A file's name is the digest of everything the code depends on; its header repeats the digest of the code, so that a
damaged file is noticed and made anew. Files appear whole or not at all. The directory must belong to the user alone,
for what lies there is executed. Whatever goes wrong, kernels are compiled as if there were no cache.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from kinegraph.files import open_regular, read_at_most

_MAGIC = b"kinegraph object code 1\n"
_DIGEST_SIZE = sha256().digest_size

#: When there are more files than this the oldest third is removed.
MOST_FILES = 5000

#: One of so many new files, by its digest, has the others counted: to list thousands takes longer than to write one.
TIDIED = 16

#: A file larger than this, in bytes, is none of ours.
LARGEST_FILE = 1_000_000_000


@cache
def sources_digest(folder: Path) -> str:
    """A digest of a folder's Python files, so that work on them never meets stale results.

    To read a thousand files takes longer than the rest of what a process does that finds its code here. So the digest
    is stored, too, under sizes and times of the files.
    """
    top = str(folder)
    paths = sorted(_python_files(top))
    name = f"sources-{sha256(os.fsencode(''.join(map(_stamp, paths)))).hexdigest()}"
    known = load(name)
    if known is None:
        contents = sha256()
        for path in paths:
            contents.update(os.fsencode(path.removeprefix(top)) + b"\n" + sha256(_content(path)).digest())
        known = contents.hexdigest().encode()
        save(name, known)
    return known.decode()


def _python_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _python_files(entry.path)


def _stamp(path: str) -> str:
    """Where a file is, how long, and when anybody wrote to it or put it there."""
    found = os.stat(path)  # noqa: PTH116 - a thousand paths as objects take as long as all the rest
    return f"{path} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}\n"


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def directory() -> Path:
    """`$KINEGRAPH_CACHE`, or a folder in the user's cache directory."""
    chosen = os.environ.get("KINEGRAPH_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "kinegraph" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kinegraph"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kinegraph"


def load(name: str) -> bytes | None:
    """The code of this name, or None if there is none that can be trusted."""
    folder = _usable_folder()
    if folder is None:
        return None
    path = folder / f"{name}.o"
    try:
        with open_regular(path) as file:
            if not _private(os.fstat(file.fileno())):
                return None
            data = read_at_most(file, LARGEST_FILE, path)
    except OSError:
        return None
    code = unsealed(data, name)
    if code is not None:
        with suppress(OSError):
            os.utime(path)  # what is used stays
    return code


def save(name: str, code: bytes) -> None:
    """Keep code; silently does nothing where it cannot."""
    folder = _usable_folder()
    if folder is None:
        return
    with suppress(OSError):
        data = sealed(code, name)
        _write(folder, folder / f"{name}.o", data)
        if data[len(_MAGIC)] % TIDIED == 0:
            _remove_oldest(folder)


def sealed(code: bytes, name: str) -> bytes:
    """The bytes of a file that `unsealed` reads back."""
    return _MAGIC + sha256(name.encode() + code).digest() + code


def unsealed(data: bytes, name: str) -> bytes | None:
    """The code in the bytes of a file, None where they are damaged or those of another."""
    code = data[len(_MAGIC) + _DIGEST_SIZE :]
    return code if code and data == sealed(code, name) else None


def _write(folder: Path, path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix="new-", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _remove_oldest(folder: Path) -> None:
    with os.scandir(folder) as found:
        names = [one.name for one in found if one.name.endswith(".o") or one.name.startswith("new-")]
    if len(names) <= MOST_FILES:
        return
    ages = []
    for path in (folder / name for name in names):
        with suppress(OSError):  # another process may be tidying up too
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages)[: len(names) // 3]:
        with suppress(OSError):
            path.unlink()


def _usable_folder() -> Path | None:
    try:
        folder = directory()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None
    if danger := _danger(str(folder), status):
        _warn(danger)
        return None
    return folder


def _private(status: os.stat_result) -> bool:
    """Can nobody but this user write here?"""
    return not _danger("", status)


def _danger(name: str, status: os.stat_result) -> str:
    """Who else could write to a file or folder; nothing where nobody can."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return f"{name} belongs to another user, who could change what is kept there. Set"
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return f"others could write to {name}. Run `chmod go-w {name}`, or set" if others else ""


@cache
def _warn(danger: str) -> None:
    warnings.warn(
        f"compiled code is not cached: {danger} KINEGRAPH_CACHE to a directory of your own",
        RuntimeWarning,
        stacklevel=2,
    )
