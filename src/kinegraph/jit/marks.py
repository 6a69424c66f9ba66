"""Decorators for functions that are compiled when the package is built, and the intrinsics that these may call.

A marked function is plain Python; running it in the interpreter defines its meaning. `make bitcode` compiles it with
everything it calls; `jit.bitcode` loads the result. Nothing here needs a compiler.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., object])
S = TypeVar("S", bound=np.generic)

_MARK = "__kinegraph_loop__"


class Kind(Enum):
    """How a function is compiled."""

    PART = auto()  # called by other marked functions and compiled with them
    INLINED = auto()  # a device function that is faster without a call
    LOOP = auto()  # called by Python, without Python's lock
    CALLBACK = auto()  # called by C: its arguments are addresses as integers, and numbers
    INTRINSIC = auto()  # replaced by hand-written instructions


def part(function: F) -> F:
    """Mark a function that other marked functions call."""
    return _marked(function, Kind.PART)


def inlined(function: F) -> F:
    """Mark a device function that is inlined."""
    return _marked(function, Kind.INLINED)


def loop(function: F) -> F:
    """Mark a function that Python calls, without Python's lock."""
    return _marked(function, Kind.LOOP)


def callback(function: F) -> F:
    """Mark a function that C calls. Its arguments are addresses as integers, and numbers."""
    return _marked(function, Kind.CALLBACK)


def intrinsic(function: F) -> F:
    """Mark a function that the compiler replaces by hand-written instructions."""
    return _marked(function, Kind.INTRINSIC)


def _marked(function: F, kind: Kind) -> F:
    setattr(function, _MARK, kind)
    return function


def kind_of(value: object) -> Kind | None:
    """The mark of a function; None for everything else."""
    return getattr(value, _MARK, None)


@intrinsic
def doubles_at(address: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The contiguous array of doubles at an address."""
    return _array_at(address, shape, np.float64)


@intrinsic
def integers_at(address: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The contiguous array of 64-bit integers at an address."""
    return _array_at(address, shape, np.int64)


@intrinsic
def flags_at(address: int, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The contiguous array of booleans at an address."""
    return _array_at(address, shape, np.bool_)


@intrinsic
def call_pointer(address: int, argument: int) -> int:
    """Call a C function that takes a pointer and returns a pointer, both as integers."""
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(argument))


@intrinsic
def call_with(address: int, values: NDArray[np.float64]) -> None:
    """Call a C function with the address of an array, as both of its arguments."""
    data = values.ctypes.data
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(data, data)


def _array_at(address: int, shape: tuple[int, ...], kind: type[S]) -> NDArray[S]:
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = memoryview((ctypes.c_char * size).from_address(int(address)))
    return np.frombuffer(memory, dtype=kind).reshape(shape)
