"""Machine code of the loops, kept on disk.

Importing this module imports Numba, so only modules that are themselves imported when a run starts may do it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba

from kinegraph.solve.loops import intrinsics, weights_code
from kinegraph.solve.loops import marks as plain
from kinegraph.solve.loops import weights as weights_loop
from kinegraph.solve.loops.marks import Kind, kind_of, loops_digest

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C. Loops allocate
# nothing, so they need not count references either: counting would take more time than the steps.
_PLAIN: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
_OPTIONS: dict[str, Any] = {**_PLAIN, "_nrt": False}
_INSIDE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # what only loops call
_BY_KIND: dict[Kind, dict[str, Any]] = {
    Kind.PART: _INSIDE,
    Kind.INLINED: {**_INSIDE, "forceinline": True},
    Kind.LOOP: {"nogil": True},
}
_INTRINSICS: dict[Any, Any] = {
    plain.call: intrinsics.call,
    plain.call_batch: intrinsics.call_batch,
    weights_loop.weighted: weights_code.weighted,
}


@cache
def compiled(function: F) -> F:
    """A marked function as machine code, together with all that it calls: compiled once per machine, kept on disk."""
    kind = kind_of(function)
    assert kind is not None and isinstance(function, FunctionType)
    if kind is Kind.INTRINSIC:
        return cast(F, _INTRINSICS[function])
    names = dict(function.__globals__)
    names |= {name: compiled(names[name]) for name in function.__code__.co_names if kind_of(names.get(name))}
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    return cast(F, _kept(lambda: numba.njit(cache=True, **_OPTIONS, **_BY_KIND[kind])(twin)))


def callback(signature: object) -> Callable[[Callable[..., Any]], Any]:
    """A function that C code calls; its `address` is a C function pointer."""
    return lambda function: _kept(lambda: numba.cfunc(signature, cache=True, **_PLAIN)(function))


def callback_part(function: F) -> F:
    """A function that callbacks call; it may make arrays from addresses, which needs references counted."""
    return cast(F, _kept(lambda: numba.njit(cache=True, **_PLAIN)(function)))


def _kept(compiled: Callable[[], Any]) -> Any:
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_cache(before))
    try:
        return compiled()
    finally:
        config.CACHE_DIR = before


def _cache(chosen_by_user: str) -> Path:
    """A directory named after the content of everything the loops are made of.

    Numba looks at the age of the file a loop stands in, not at those of its parts: it would run old code. The
    directory lies beside Python's own compiled files; where that is read-only, Numba turns to the user's cache.
    """
    return Path(chosen_by_user or Path(__file__).parent / "__pycache__") / f"solve-{loops_digest()}"
