# ruff: noqa: F403
"""The one way into the compiled search, kept on disk, so that compiling is done once on a machine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from kinegraph.ahead.compilation import Compilation
from kinegraph.ahead.folder import folder
from kinegraph.ahead.numba_cache import cached_in
from kinegraph.ahead.numba_words import machine_code
from kinegraph.interrupt import delayed
from kinegraph.passes.compiled_search.compiled import Memory, Schedule, compile_waiting
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

Integers: TypeAlias = NDArray[np.int64]
Entrance = Callable[[Integers, Integers, NDArray[np.float64], int, int, int], int]


#: Seconds that compiling takes on a common machine.
_SECONDS = 12


@cache
def entrance() -> Entrance:
    """The compiled search, from disk; where it is not there the user is told, and waits for it."""
    compilation().require(_SECONDS, _log.warning)
    with delayed():
        return _loaded()


def compilation() -> Compilation:
    """The search as a process of its own compiles it."""
    return Compilation("search", "the search", _folder(), _loaded)


@cache
def _folder() -> Path:
    """Numba finds code on disk by the function itself and its file; this folder changes with every file here."""
    return folder("search", Path(__file__).parent.glob("*.py"))


def _loaded() -> Entrance:
    """The compiled search, from disk or compiled now."""
    try:
        return _compiled()
    except NumbaError:
        pass  # not on disk, and the functions it calls are not there yet: this is how Numba says so
    for module, names in _PARTS.items():
        parts = import_module(f"kinegraph.passes.compiled_search.{module}")
        globals().update({name: getattr(parts, name) for name in names})
    compile_waiting()
    return _compiled()


def _compiled() -> Entrance:
    """The entrance, compiled or read from disk."""

    def enter(m: Memory, rows: Memory, schedule: Schedule, command: int, first: int, second: int) -> int:
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

    given = cast(Entrance, enter)  # lists stand for arrays in compiled code
    options: dict[str, object] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
    return cached_in(_folder(), lambda: machine_code(given, _TYPES, cache=True, **options))
