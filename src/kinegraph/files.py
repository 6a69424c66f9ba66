"""Safe reading of untrusted files: regular files only, up to a limit of bytes.

A named pipe blocks the process that opens it, and a device may never end. Every file that Kinegraph did not write in
the same run is opened here: models, includes, meshes, tables, samples, the cache, the database.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from kinegraph.errors import ModelError

#: No space left: on the disk, in the user's quota, or in a file of this size.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Opening a named pipe must not block. Windows has no such pipes.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str | PathLike[str]) -> BinaryIO:
    """Open a regular file for reading, following links. OSError for anything else says what it is."""
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a name with a zero byte
        raise OSError(errno.EINVAL, f"this is not a file name ({error})", str(path)) from None
    try:
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind != stat.S_IFREG:
            number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
            raise OSError(number, f"this is {_KINDS.get(kind, 'a special file')}, not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


#: Bytes read at a time.
_PIECE = 1 << 20


def read_regular(path: str | PathLike[str], limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; OSError for anything else."""
    with open_regular(path) as file:
        return read_at_most(file, limit, path)


def read_at_most(file: BinaryIO, limit: int, path: str | PathLike[str]) -> bytes:
    """The rest of an open file; OSError (EFBIG) if it has more than `limit` bytes."""
    pieces: list[bytes] = []
    left = limit + 1
    while left > 0 and (piece := file.read(min(left, _PIECE))):  # one large read would allocate `limit` bytes
        pieces.append(piece)
        left -= len(piece)
    data = b"".join(pieces)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} bytes, which is the limit", str(path))
    return data


def read_head(path: str | PathLike[str], length: int) -> bytes:
    """The first bytes of a file that a user named; ModelError if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(length)
    except OSError as error:
        raise _unreadable(path, error, "model file") from None


def read_input(path: str | PathLike[str], limit: int, what: str = "model file") -> bytes:
    """The bytes of a file that a user named; ModelError if it cannot be read. what: the kind of file."""
    try:
        return read_regular(path, limit)
    except OSError as error:
        raise _unreadable(path, error, what) from None


def _unreadable(path: str | PathLike[str], error: OSError, what: str) -> ModelError:
    remedy = f"check the name of the {what}"
    if error.errno == errno.EFBIG:
        remedy = "a model of this size is better built in Python, with kinegraph.Builder"
    return ModelError(f"cannot read {path}: {error.strerror}", remedy=remedy)


def read_input_text(path: str | PathLike[str], limit: int, what: str = "model file") -> str:
    """The text of a file that a user named: UTF-8, with or without a byte order mark."""
    try:
        return read_input(path, limit, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 text (byte {error.start} cannot be read)"
        raise ModelError(message, remedy="save the file as UTF-8 text") from None


@contextmanager
def written_to(path: str | PathLike[str]) -> Iterator[None]:
    """Add the file name to an OSError of this block: the system does not name a file that is already open.

    If the disk is full, the incomplete file is removed, because a truncated table looks like a complete one.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and Path(path).is_file() and not Path(path).is_symlink():
            Path(path).unlink()
        if error.filename is None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise
