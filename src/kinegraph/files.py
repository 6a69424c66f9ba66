"""Files from strangers: regular files alone, and never more of one than a limit.

A named pipe blocks whoever opens it, and a link to a device may never end. Every file that Kinegraph did not write in
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

#: No more room: on the disk, for this user, in a file of this size.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: The pipe of a stranger must not hold us up when it is opened; Windows has no such pipes.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str | PathLike[str]) -> BinaryIO:
    """Open a regular file for reading, links followed. Anything else is an OSError that says what it is."""
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a name with a zero byte
        raise OSError(errno.EINVAL, f"this is no name of a file ({error})", str(path)) from None
    try:
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind != stat.S_IFREG:
            number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
            raise OSError(number, f"this is {_KINDS.get(kind, 'no regular file')}, not a regular file", str(path))
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


#: Bytes that are read at a time.
_PIECE = 1 << 20


def read_regular(path: str | PathLike[str], limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Whatever else it is, is an OSError."""
    with open_regular(path) as file:
        return read_at_most(file, limit, path)


def read_at_most(file: BinaryIO, limit: int, path: str | PathLike[str]) -> bytes:
    """The rest of an open file. Of one that holds more than `limit` bytes one more is read: an OSError (EFBIG)."""
    pieces: list[bytes] = []
    left = limit + 1
    while left > 0 and (piece := file.read(min(left, _PIECE))):  # asked for all at once, the limit would be reserved
        pieces.append(piece)
        left -= len(piece)
    data = b"".join(pieces)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} bytes, the limit", str(path))
    return data


def read_head(path: str | PathLike[str], length: int) -> bytes:
    """The first bytes of a file a user named; whatever is wrong with it is a ModelError."""
    try:
        with open_regular(path) as file:
            return file.read(length)
    except OSError as error:
        raise _unreadable(path, error, "model file") from None


def read_input(path: str | PathLike[str], limit: int, what: str = "model file") -> bytes:
    """The bytes of a file a user named; whatever is wrong with it is a ModelError, whose remedy says `what` it is."""
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
    """The text of a file a user named: UTF-8, with or without a mark at its beginning."""
    try:
        return read_input(path, limit, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 text (byte {error.start} cannot be read)"
        raise ModelError(message, remedy="save the file as UTF-8 text") from None


@contextmanager
def written_to(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of the disk name the file: of one that is open already the system does not say which it was.

    Where a disk is full, what was written of the file is removed: a table that ends early looks like a whole one.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and Path(path).is_file() and not Path(path).is_symlink():
            Path(path).unlink()
        if error.filename is None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise
