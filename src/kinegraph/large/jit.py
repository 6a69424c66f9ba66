"""How the loops are compiled, and where their machine code is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numba
from numba import types

from kinegraph.ahead.folder import folder
from kinegraph.ahead.numba_cache import cached_in

F = TypeVar("F", bound=Callable[..., object])

#: Numba's words for a pointer to numbers, and for the array that begins there; it has no types of them for Python.
CArray: TypeAlias = Any
PointerTo: Callable[[object], Any] = types.CPointer
carray: Callable[[CArray, tuple[int, ...]], CArray] = numba.carray  # type: ignore[attr-defined]


class AddressedCode(Protocol):
    """Machine code that C can call."""

    @property
    def address(self) -> int: ...


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


def address(signature: object) -> Callable[[F], AddressedCode]:
    """A function that C code calls, by its `address`: compiled at once, kept on disk for the next process."""
    return lambda function: cast(
        AddressedCode, cached_in(kernels_folder(), lambda: numba.cfunc(signature, cache=True, **_OPTIONS)(function))
    )
