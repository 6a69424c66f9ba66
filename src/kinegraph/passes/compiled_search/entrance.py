# ruff: noqa: F403, F405
"""The one way into the compiled search, kept on disk, so that compiling is done once on a machine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from numba import njit
from numba.core.errors import NumbaError

from kinegraph.passes.compiled_search.compiled import compile_waiting
from kinegraph.passes.compiled_search.layout import *

if TYPE_CHECKING:
    from kinegraph.passes.compiled_search.anneal import first_greedy, load, run, settle_loaded
    from kinegraph.passes.compiled_search.lookup import memo_row

#: What the entrance is asked to do.
LOAD, FIRST_GREEDY, SETTLE, RUN, FIND_MEMO = range(5)

#: Where the functions are that the entrance calls.
_PARTS = {"anneal": ("first_greedy", "load", "run", "settle_loaded"), "lookup": ("memo_row",)}

_TYPES = "int64(int64[::1], int64[::1], float64[::1], int64, int64, int64)"

_log = logging.getLogger("kinegraph")

Entrance = Callable[[Any, Any, Any, int, int, int], int]


@cache
def entrance() -> Entrance:
    """The compiled search, from disk or compiled now, of which the user is told."""
    salt = _salt()
    try:
        return _compiled(salt)
    except NumbaError:
        # Not on disk, and the functions it calls are not there yet: this is how Numba says so.
        _log.warning("compiling the search, once for this version: it takes about half a minute ...")
    for module, names in _PARTS.items():
        parts = import_module(f"kinegraph.passes.compiled_search.{module}")
        globals().update({name: getattr(parts, name) for name in names})
    compile_waiting()
    return _compiled(salt)


def _salt() -> int:
    """A number that changes with every file of this folder."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return int(digest.hexdigest()[:15], 16)


def _compiled(salt: int) -> Entrance:
    """The entrance, compiled or read from disk.

    Numba finds code on disk by the function itself, what it closes over and its file. So it closes over the salt:
    without it a change in another file of this folder would go unnoticed.
    """

    def enter(m: Any, rows: Any, schedule: Any, command: int, first: int, second: int) -> int:
        m[SALT] = salt
        if command == LOAD:
            return int(load(m, rows, first))
        if command == FIRST_GREEDY:
            return int(first_greedy(m))
        if command == SETTLE:
            settle_loaded(m)
            return 1
        if command == RUN:
            return int(run(m, schedule, first, second))
        return memo_row(m, first)

    return cast(Entrance, cast(Any, njit)(_TYPES, cache=True, no_cfunc_wrapper=True, error_model="numpy")(enter))
