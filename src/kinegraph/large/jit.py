"""How the loops are compiled, and where their machine code is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from kinegraph.ahead.folder import folder
from kinegraph.ahead.numba_cache import cached_in

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


def part(function: F) -> F:
    """A function that kernels call; its code becomes part of theirs."""
    return cast(F, numba.njit(forceinline=True, **_OPTIONS)(function))


def kernel(function: F) -> F:
    """A function that Python calls: compiled at the first call, kept on disk for the next process.

    While it runs, other threads of Python may run too.
    """
    return cast(F, cached_in(kernels_folder(), lambda: numba.njit(cache=True, nogil=True, **_OPTIONS)(function)))


@cache
def kernels_folder() -> Path:
    """The folder of all kernels, named after the content of everything they are made of."""
    return folder("loops", Path(__file__).parent.rglob("*.py"))
