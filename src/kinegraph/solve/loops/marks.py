"""Marks that define how a function of a loop is compiled, and the calls of kernels.

The files of this folder are plain Python: the interpreter can run them, slowly but at once. `make bitcode` compiles the
same functions to machine code, which is part of the package.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

from kinegraph.arrays import Floats
from kinegraph.codegen.kernel import Code
from kinegraph.jit.marks import inlined, intrinsic, loop, part

__all__ = ["call", "call_batch", "inlined", "intrinsic", "loop", "part"]

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_DOUBLE = ctypes.sizeof(ctypes.c_double)


@intrinsic
def call(code: Code, x: Floats, y: Floats, start: int) -> None:
    """Call a kernel, by its address or as a Python function: it reads x and writes to y from the flat index `start`."""
    if isinstance(code, int):
        _function(code)(_address(x), _address(y) + _DOUBLE * int(start))
    else:
        values = code(x)
        y.reshape(-1)[start : start + len(values)] = values


@intrinsic
def call_batch(
    address: int, rows: int, y: Floats, t: Floats, u: Floats, p: Floats, results: Floats, start: int
) -> None:
    """Only compiled loops call batch code."""
    raise NotImplementedError


@cache
def _function(address: int) -> Callable[[int, int], None]:
    return _KERNEL(address)


def _address(array: Floats) -> int:
    return int(array.__array_interface__["data"][0])
