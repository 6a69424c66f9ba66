"""Where Numba keeps machine code, and how it is written: a file appears whole, and an index never names another's file.

Numba itself writes the index first, then the code under a number that may have been used before. Whoever is interrupted
in between, or writes at the same time, leaves an index that names other code: it would be executed. It also believes
what it reads; here a file that was cut or changed is as good as none.

Importing this module imports Numba.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar, cast
from uuid import uuid4

import numba
from numba.core import caching

from kinegraph.ahead.folder import unkept
from kinegraph.jit.cache import sealed, unsealed
from kinegraph.jit.once import making

T = TypeVar("T")


class _IndexFile(Protocol):
    """What is used of Numba's index of one function's code."""

    _index_name: str
    _index_path: str
    _version: str
    _source_stamp: object

    def _save_data(self, name: str, data: object) -> None: ...
    def _save_index(self, overloads: Mapping[object, str]) -> None: ...
    def _load_index(self) -> dict[object, str]: ...
    def _data_path(self, name: str) -> str: ...
    def _dump(self, data: object) -> bytes: ...
    def _open_for_write(self, path: str) -> AbstractContextManager[BinaryIO]: ...


class _Settings(Protocol):
    """What is used of Numba's settings."""

    CACHE_DIR: str


class _Caching(Protocol):
    """What is used of Numba's module of caches."""

    IndexDataCacheFile: type


class CacheFile(caching.IndexDataCacheFile):
    """An index and its code: the code is written first, under a name that nobody else has."""

    def save(self, key: object, data: object) -> None:
        """Keep the code of one signature. Where the disk is full or read-only it runs in this process alone."""
        numba_file: _IndexFile = self
        name = f"{Path(numba_file._index_name).stem}.{uuid4().hex}.nbc"
        try:
            numba_file._save_data(name, data)
            numba_file._save_index({**numba_file._load_index(), key: name})
        except OSError:
            unkept.append(name)

    def _save_data(self, name: str, data: object) -> None:
        numba_file: _IndexFile = self
        _write(numba_file, numba_file._data_path(name), data)

    def _load_data(self, name: str) -> object:
        numba_file: _IndexFile = self
        return _read(numba_file._data_path(name))

    def _save_index(self, overloads: Mapping[object, str]) -> None:
        numba_file: _IndexFile = self
        _write(numba_file, numba_file._index_path, (numba_file._version, numba_file._source_stamp, dict(overloads)))

    def _load_index(self) -> dict[object, str]:
        numba_file: _IndexFile = self
        try:
            version, stamp, overloads = cast("tuple[str, object, dict[object, str]]", _read(numba_file._index_path))
        except OSError:
            return {}
        fresh = version == numba_file._version and stamp == numba_file._source_stamp
        return overloads if fresh else {}


def _write(numba_file: _IndexFile, path: str, data: object) -> None:
    with numba_file._open_for_write(path) as file:
        file.write(sealed(numba_file._dump(data), Path(path).name))


def _read(path: str) -> object:
    """What was written to a file; OSError, which Numba takes for none, where it is damaged."""
    code = unsealed(Path(path).read_bytes(), Path(path).name)
    if code is None:
        raise OSError(f"{path} is damaged")
    return pickle.loads(code)


def cached_in(folder: Path, make: Callable[[], T]) -> T:
    """What `make` returns, a function of Numba with cache=True; its code is stored in the folder."""
    config = cast("_Settings", numba.config)
    modules = cast("_Caching", caching)
    with making:  # Numba's settings are those of all threads
        before = config.CACHE_DIR, modules.IndexDataCacheFile
        config.CACHE_DIR, modules.IndexDataCacheFile = str(folder), CacheFile
        try:
            return make()
        finally:
            config.CACHE_DIR, modules.IndexDataCacheFile = before
