"""How the loops are compiled, kept on disk, and call kernels by their address.

Importing this module imports Numba, so only modules that are themselves imported when a run starts may do it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., object])

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C. Loops allocate
# nothing, so they need not count references either: counting would take more time than the steps.
_PLAIN: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
_OPTIONS: dict[str, Any] = {**_PLAIN, "_nrt": False}


def part(function: F) -> F:
    """A function that loops call; its code becomes part of theirs."""
    return cast(F, _kept(lambda: numba.njit(cache=True, **_OPTIONS)(function)))


def inlined(function: F) -> F:
    """A part so small that handing over its arguments would take longer than running it."""
    return cast(F, _kept(lambda: numba.njit(cache=True, forceinline=True, **_OPTIONS)(function)))


def loop(function: F) -> F:
    """A function that Python calls, without Python's lock: compiled once per machine, kept on disk."""
    return cast(F, _kept(lambda: numba.njit(cache=True, nogil=True, **_OPTIONS)(function)))


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
    """A directory named after the content of all loops (the files `*_loop.py`).

    Numba looks at the age of the file a loop stands in, not at those of its parts: it would run old code. The
    directory lies beside Python's own compiled files; where that is read-only, Numba turns to the user's cache.
    """
    here = Path(__file__).parent
    files = [Path(__file__), *sorted(here.glob("*_loop.py"))]
    content = b"".join(file.read_bytes() for file in files)
    name = f"solve-{hashlib.sha256(content).hexdigest()[:16]}"
    return Path(chosen_by_user or here / "__pycache__") / name


def data_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The pointer to the first entry of an array."""
    return context.make_array(kind)(context, builder, value).data


def _table(builder: Any, values: list[Any]) -> Any:
    """An array in the stack frame that holds the values; the pointer to its first entry."""
    allocate: Any = cgutils.alloca_once
    table = allocate(builder, values[0].type, size=len(values))
    for place, value in enumerate(values):
        builder.store(value, builder.gep(table, [ir.IntType(64)(place)]))
    return table


def is_doubles(kind: Any) -> bool:
    """Whether this is the type of a contiguous array of doubles."""
    return isinstance(kind, types.Array) and kind.dtype == types.float64 and kind.layout == "C"


def _call(typing_context: Any, address: Any, x: Any, y: Any, start: Any) -> Any:
    """Call the kernel at `address`: it reads x and writes to y from its flat index `start` on."""
    if not (is_doubles(x) and is_doubles(y)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, x, y, start = arguments
        pointer = ir.PointerType(ir.DoubleType())
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        source = data_of(context, builder, signature.args[1], x)
        target = builder.gep(data_of(context, builder, signature.args[2], y), [start])
        builder.call(builder.inttoptr(address, kind.as_pointer()), [source, target])
        return context.get_dummy_value()

    return types.void(types.int64, x, y, types.int64), generate


def _call_batch(
    typing_context: Any, address: Any, rows: Any, y: Any, t: Any, p: Any, rates: Any, start: Any
) -> Any:  # fmt: skip
    """Call the batch code of a kernel (y, t, p) -> rate for the first `rows` rows of contiguous arrays.

    The results go to `rates` from its flat index `start` on, without gaps. A kernel without parameters reads no p.
    """
    if not all(is_doubles(one) for one in (y, t, p, rates)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, rows, y, t, p, rates, start = arguments
        word, kinds = ir.IntType(64), signature.args
        widths = [context.make_array(kinds[place])(context, builder, value).shape for place, value in ((2, y), (4, p))]
        strides = [builder.extract_value(widths[0], 1), word(1), builder.extract_value(widths[1], 1)]
        sources = [data_of(context, builder, kinds[place], value) for place, value in ((2, y), (3, t), (4, p))]
        target = builder.gep(data_of(context, builder, kinds[5], rates), [start])
        tables = [_table(builder, values) for values in (sources, strides, [target])]
        kind = ir.FunctionType(ir.VoidType(), [word, word, *(table.type for table in tables)])
        builder.call(builder.inttoptr(address, kind.as_pointer()), [word(0), rows, *tables])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, y, t, p, rates, types.int64), generate


call: Any = intrinsic(_call)
call_batch: Any = intrinsic(_call_batch)
