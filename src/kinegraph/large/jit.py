"""How the loops are compiled, and where their machine code is stored."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from kinegraph.ahead.folder import folder
from kinegraph.ahead.numba_cache import cached_in
from kinegraph.ahead.numba_words import AddressedCode, addressed, machine_code
from kinegraph.ahead.parts import PART

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C.
_OPTIONS: dict[str, object] = {"error_model": "numpy", "fastmath": {"contract"}}


def part(function: F) -> F:
    """A function that kernels call; its code becomes part of theirs, at every call."""
    return machine_code(function, forceinline=True, **_OPTIONS, **PART)


def subroutine(function: F) -> F:
    """A function that kernels call from several places, part of their code; stored on disk for the next process."""
    return cached_in(kernels_folder(), lambda: machine_code(function, cache=True, **_OPTIONS, **PART))


def kernel(function: F) -> F:
    """A function that Python calls: compiled at the first call, stored on disk for the next process.

    While it runs, other threads of Python may run too.
    """
    return cached_in(kernels_folder(), lambda: machine_code(function, cache=True, nogil=True, **_OPTIONS))


def address(signature: object) -> Callable[[Callable[..., object]], AddressedCode]:
    """A function that C code calls, by its `address`: compiled at once, stored on disk for the next process."""
    return lambda function: cached_in(kernels_folder(), lambda: addressed(function, signature, cache=True, **_OPTIONS))


@cache
def kernels_folder() -> Path:
    """The folder of all kernels, named after the content of everything they are made of."""
    return folder("loops", Path(__file__).parent.rglob("*.py"))
