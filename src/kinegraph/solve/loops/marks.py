"""What loops are written with: marks that say how each function is compiled, and the calls of kernels.

The files of this folder are plain Python. As they stand the interpreter runs them, slowly but at once; `machine_code`
makes machine code of the same functions. This module needs no Numba, which takes seconds to wake up.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.codegen.kernel import Code

F = TypeVar("F", bound=Callable[..., object])

#: Arrays inside loops.
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_MARK = "__kinegraph_loop__"
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_DOUBLE = ctypes.sizeof(ctypes.c_double)


class Kind(Enum):
    """How a function becomes machine code."""

    PART = auto()  # a function that loops call; its code becomes part of theirs
    INLINED = auto()  # a part so small that handing over its arguments would take longer than running it
    LOOP = auto()  # a function that Python calls, without Python's lock
    INTRINSIC = auto()  # replaced by code written for it by hand


def part(function: F) -> F:
    """Mark a function that loops call."""
    return _marked(function, Kind.PART)


def inlined(function: F) -> F:
    """Mark a part that is too small for a call of its own."""
    return _marked(function, Kind.INLINED)


def loop(function: F) -> F:
    """Mark a function that Python calls, without Python's lock."""
    return _marked(function, Kind.LOOP)


def intrinsic(function: F) -> F:
    """Mark a function that compiled code replaces by code written by hand."""
    return _marked(function, Kind.INTRINSIC)


def _marked(function: F, kind: Kind) -> F:
    setattr(function, _MARK, kind)
    return function


def kind_of(value: object) -> Kind | None:
    """The mark of a function of the loops; None for everything else."""
    return getattr(value, _MARK, None)


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


@cache
def loops_digest() -> str:
    """A digest of what the loops are made of."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in loop_files())).hexdigest()[:16]


def loop_files() -> tuple[Path, ...]:
    """What the loops are made of: their files, and the callbacks."""
    here = Path(__file__).parent
    return (*sorted(here.rglob("*.py")), here.parent / "sundials" / "compiled_callbacks.py")
