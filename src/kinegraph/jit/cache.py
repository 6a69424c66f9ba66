"""The content-addressed cache on disk: digests of values, and files of object code with checksums."""

from __future__ import annotations

import os
import stat
import struct
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import KernelError, KinegraphError
from kinegraph.files import open_regular, read_at_most

# ---- Digests of values: the names of cached files


def digest(*values: object) -> str:
    """The digest of these values, in this order, as 64 hexadecimal digits.

    Two values have the same digest if and only if their types and complete contents are the same: 1, 1.0 and True
    differ, as do 0.0 and -0.0. Takes numbers, strings, enums, tuples, lists, sets, mappings (in any order), arrays, and
    dataclasses of these. Raises KernelError for anything else, because the digest would be incomplete.

    Display texts are never used: they may be shortened, rounded or ambiguous. The algorithm is iterative, because a sum
    of 50,000 terms is 50,000 levels deep.
    """
    return _Digests().of(values).hex()


class _Digests:
    """The digests of all composite parts of one value, each computed once however often the part is used."""

    def __init__(self) -> None:
        self._found: dict[int, bytes] = {}
        self._alive: list[object] = []  # an id is valid only while its object lives

    def of(self, root: object) -> bytes:
        stack: list[tuple[object, list[object] | None]] = [(root, None)]
        while stack:
            here, parts = stack.pop()
            if id(here) in self._found:
                continue
            if parts is None:
                parts = _splitter(type(here)).parts(here)
                stack.append((here, parts))
                stack.extend((part, None) for part in parts if _encoder(type(part)) is None)
            else:
                self._found[id(here)] = self._digest(here, parts)
                self._alive.append(here)
        return self._found[id(root)]

    def _digest(self, here: object, parts: list[object]) -> bytes:
        splitter = _splitter(type(here))
        encoded = [self._encoded(part) for part in parts]
        if splitter.order is _Order.NONE:
            encoded.sort()
        elif splitter.order is _Order.PAIRS:
            encoded = [b"".join(pair) for pair in sorted(zip(encoded[::2], encoded[1::2], strict=True))]
        return sha256(splitter.head + b"".join(encoded)).digest()

    def _encoded(self, part: object) -> bytes:
        """The encoding with its length in front, so that different sequences of parts never give the same bytes."""
        encoder = _encoder(type(part))
        data = b"#" + self._found[id(part)] if encoder is None else encoder(part)
        return b"%d:%b" % (len(data), data)


T = TypeVar("T")
_Encoder: TypeAlias = Callable[[object], bytes]


class _Order(Enum):
    """What the order of the parts of a composite means."""

    GIVEN = "given"
    NONE = "none"
    PAIRS = "pairs of key and value, in any order"


class _Splitter(NamedTuple):
    """How objects of a type are split into parts; `head` is the type, with a length in front."""

    head: bytes
    parts: Callable[[object], list[object]]
    order: _Order = _Order.GIVEN


def _leaf(kind: type[T], encode: Callable[[T], bytes]) -> tuple[type, _Encoder]:
    """A row of the table below: a type and the encoder of its objects."""
    return kind, cast("_Encoder", encode)


#: The types without parts. Integers are written in base sixteen: Python limits the length of decimal conversions.
_LEAVES: dict[type, _Encoder] = dict(
    [
        _leaf(type(None), lambda value: b"none"),
        _leaf(bool, lambda value: b"bool %d" % value),
        _leaf(int, lambda value: b"int %x" % value),
        _leaf(float, lambda value: b"float " + struct.pack(">d", value)),
        _leaf(str, lambda value: b"text " + value.encode("utf-8", "surrogatepass")),
        _leaf(bytes, lambda value: b"bytes " + value),
        _leaf(Fraction, lambda value: b"fraction %x/%x" % (value.numerator, value.denominator)),
        _leaf(Decimal, lambda value: b"decimal %b" % str(value.as_tuple()).encode()),
    ]
)


def _encoder(kind: type) -> _Encoder | None:
    """The encoder of a type without parts; None for composites."""
    if kind not in _LEAVES and issubclass(kind, Enum):
        name = _class_name(kind)
        _LEAVES[kind] = _leaf(Enum, lambda value: f"enum {name}.{value.name}".encode())[1]
    return _LEAVES.get(kind)


_SPLITTERS: dict[type, _Splitter] = {}


def _splitter(kind: type) -> _Splitter:
    """The splitter of a composite type."""
    if kind not in _SPLITTERS:
        _SPLITTERS[kind] = _new_splitter(kind)
    return _SPLITTERS[kind]


def _new_splitter(kind: type) -> _Splitter:
    head = b"%d:%b" % (len(_class_name(kind)), _class_name(kind).encode())
    if issubclass(kind, tuple | list):
        return _Splitter(head, _members)
    if issubclass(kind, frozenset | set):
        return _Splitter(head, _members, _Order.NONE)
    if issubclass(kind, Mapping):
        return _Splitter(b"7:mapping", _pairs, _Order.PAIRS)
    if issubclass(kind, np.ndarray):
        return _Splitter(head, _array_parts)
    if is_dataclass(kind):
        # Fields outside __init__ follow from the others, such as a hash that differs between processes.
        names = tuple(field.name for field in fields(kind) if field.init)
        return _Splitter(head, lambda value: [*names, *(getattr(value, name) for name in names)])
    raise KernelError(f"cannot compute a cache key from an object of type {_class_name(kind)}")


def _members(value: object) -> list[object]:
    return list(cast("Iterable[object]", value))


def _pairs(value: object) -> list[object]:
    return [part for pair in cast("Mapping[object, object]", value).items() for part in pair]


def _array_parts(found: object) -> list[object]:
    value = cast("NDArray[np.generic]", found)
    if value.dtype.hasobject:
        raise KernelError("cannot compute a cache key from an array of objects")
    return [value.dtype.str, value.shape, value.tobytes()]


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


# ---- Object code on disk
#
# The name of a file is the digest of everything the code depends on. The header holds a checksum of the code, so that a
# damaged file is detected and replaced. Files are written atomically. Only the user may write to the directory, because
# its contents are executed. If anything fails, kernels are compiled as if there were no cache.

_MAGIC = b"kinegraph object code 1\n"
_DIGEST_SIZE = sha256().digest_size

#: With more files than this, the oldest third is removed.
MOST_FILES = 5000

#: One in so many new files, chosen by digest, triggers a count: listing thousands takes longer than writing one.
TIDIED = 16

#: Larger files, in bytes, are not read.
LARGEST_FILE = 1_000_000_000


@cache
def sources_digest(folder: Path) -> str:
    """A digest of a folder's Python files, so that edits to them invalidate cached results.

    Reading hundreds of files would take longer than everything else in a process that finds its code in the cache.
    Therefore the digest itself is cached, under the sizes and times of the files.
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
    """The path, inode, size, and times of modification and change of a file."""
    found = os.stat(path)  # noqa: PTH116 - a Path object for each file would double the time
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
    """The code of this name; None if there is none, or if it cannot be trusted."""
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
    code = verified(data, name)
    if code is not None:
        with suppress(OSError):
            os.utime(path)  # files in use are not the oldest
    return code


def save(name: str, code: bytes) -> None:
    """Cache code; does nothing if it cannot be written."""
    folder = _usable_folder()
    if folder is None:
        return
    with suppress(OSError):
        data = checksummed(code, name)
        _write(folder, folder / f"{name}.o", data)
        if data[len(_MAGIC)] % TIDIED == 0:
            _remove_oldest(folder)


@dataclass(frozen=True)
class CachedRecord(Generic[T]):
    """A record on disk, under a name that tells all it follows from.

    There is one way to use it: load it; if there is none, make and check a new record, and save that.
    """

    name: str
    read: Callable[[str], T]
    write: Callable[[T], str]
    use_cache: bool = True

    def load(self) -> T | None:
        """The record; None if there is none, or none that can be read."""
        data = load(self.name) if self.use_cache else None
        if data is None:
            return None
        try:
            return self.read(data.decode())
        except (KinegraphError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def save(self, record: T, complete: bool = True) -> T:
        """The same record, which is on disk now if it is complete: what an interrupted search has left is not kept."""
        if self.use_cache and complete:
            save(self.name, self.write(record).encode())
        return record


def checksummed(code: bytes, name: str) -> bytes:
    """The bytes of a file that `verified` reads back."""
    return _MAGIC + sha256(name.encode() + code).digest() + code


def verified(data: bytes, name: str) -> bytes | None:
    """The code in the bytes of a file; None if they are damaged or belong to another name."""
    code = data[len(_MAGIC) + _DIGEST_SIZE :]
    return code if code and data == checksummed(code, name) else None


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
        with suppress(OSError):  # another process may remove files at the same time
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
    """Is this user the only one who can write here?"""
    return not _danger("", status)


def _danger(name: str, status: os.stat_result) -> str:
    """Who else could write to a file or folder; "" if nobody can."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return f"{name} belongs to another user, who could change the cached code. Set"
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return f"others could write to {name}. Run `chmod go-w {name}`, or set" if others else ""


@cache
def _warn(danger: str) -> None:
    warnings.warn(
        f"compiled code is not cached: {danger} KINEGRAPH_CACHE to a directory of your own",
        RuntimeWarning,
        stacklevel=2,
    )
