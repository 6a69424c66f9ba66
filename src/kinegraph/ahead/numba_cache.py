"""Where Numba keeps machine code, and how it is written: a file appears whole, and an index never names another's file.

Numba itself writes the index first, then the code under a number that may have been used before. Whoever is interrupted
in between, or writes at the same time, leaves an index that names other code: it would be executed.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numba
from numba.core import caching

from kinegraph.ahead.folder import unkept
from kinegraph.jit.once import making

T = TypeVar("T")


class CacheFile(caching.IndexDataCacheFile):
    """An index and its code: the code is written first, under a name that nobody else has."""

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of one signature. Where the disk is full or read-only it runs in this process alone."""
        name = f"{Path(self._index_name).stem}.{uuid4().hex}.nbc"
        numba_file: Any = self
        try:
            numba_file._save_data(name, data)
            numba_file._save_index({**numba_file._load_index(), key: name})
        except OSError:
            unkept.append(name)


def cached_in(folder: Path, make: Callable[[], T]) -> T:
    """What `make` returns, a function of Numba with cache=True; its code is kept in the folder."""
    config: Any = numba.config
    modules: Any = caching
    with making:  # Numba's settings are those of all threads
        before = config.CACHE_DIR, modules.IndexDataCacheFile
        config.CACHE_DIR, modules.IndexDataCacheFile = str(folder), CacheFile
        try:
            return make()
        finally:
            config.CACHE_DIR, modules.IndexDataCacheFile = before
