"""What a caller passes, made into rows of doubles, with an error that says what arrived and what is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.zero_quaternions import refuse_zero_quaternions
from kinegraph.errors import KernelError

Doubles = NDArray[np.float64]

#: Real numbers as callers give them: doubles or shorter ones, with or without signs.
Numbers: TypeAlias = NDArray[np.floating | np.integer]

#: What a call returns: an array, or arrays by name if there are several outputs.
Results: TypeAlias = Doubles | Mapping[str, Doubles]
Shape: TypeAlias = tuple[int, ...]

_FLOAT64 = np.dtype(np.float64)


class Rows(NamedTuple):
    """Rows of one argument: each contiguous, `stride` doubles apart; 0 repeats one row for all states."""

    array: Doubles
    stride: int


def vector(argument: Argument, value: ArrayLike) -> Numbers:
    """The value of an argument for one state; a single number serves where one is needed."""
    array = _numbers(argument, value)
    size = len(argument.symbols)
    if array.shape != (size,) and not (size == 1 and array.shape == ()):
        raise KernelError(
            f"argument {argument.name!r} needs {_needed(argument)}, but an array of shape {array.shape} arrived"
            + ("; for many states call kernel.batch" if array.ndim == 2 else "")
        )
    return array


def address(array: Numbers) -> int:
    """Where an array's numbers begin: by its buffer, which takes a fifth of the time that NumPy's attributes do."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError, BufferError):  # it is empty, read-only or has gaps
        return int(array.__array_interface__["data"][0])


def addresses(arrays: Sequence[Numbers]) -> ctypes.Array[ctypes.c_void_p]:
    """Where the numbers of several arrays begin, as a table for compiled code."""
    return (ctypes.c_void_p * len(arrays))(*[address(array) for array in arrays])


def batch_rows(arguments: Sequence[Argument], values: Sequence[ArrayLike]) -> tuple[int, list[Rows]]:
    """The number of states and the rows of every argument."""
    arrays = [_row_array(argument, value) for argument, value in zip(arguments, values, strict=True)]
    rows = _number_of_states(arguments, arrays)
    for argument, array in zip(arguments, arrays, strict=True):
        if argument.quaternions:
            refuse_zero_quaternions(argument, array)
    return rows, [_rows(array) for array in arrays]


def _number_of_states(arguments: Sequence[Argument], arrays: Sequence[Numbers]) -> int:
    sizes = {len(array) for array in arrays if array.ndim == 2 and len(array) != 1}
    if len(sizes) > 1:
        shapes = ", ".join(f"{a.name!r} {array.shape}" for a, array in zip(arguments, arrays, strict=True))
        raise KernelError(f"the arguments have different numbers of states: {shapes}; all need the same")
    if not sizes and all(array.ndim == 1 for array in arrays):
        raise KernelError("no argument has many states: give at least one as an array of shape (n, k)")
    return sizes.pop() if sizes else 1


def result_arrays(shapes: Sequence[tuple[str, Shape]], out: object, inputs: Sequence[Numbers]) -> list[Doubles]:
    """Where results of these names and shapes are written: the arrays given as `out`, or new ones."""
    if out is None:
        return [np.empty(shape) for _, shape in shapes]
    names = [name for name, _ in shapes]
    given = out if len(shapes) > 1 else {names[0]: out}
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise KernelError(f"`out` needs a dict of arrays with the keys {', '.join(names)}")
    found: list[Doubles] = []
    for name, shape in shapes:
        found.append(_result(name, shape, given[name], [*inputs, *found]))
    return found


def _result(name: str, shape: Shape, array: object, others: Sequence[Numbers]) -> Doubles:
    if not (isinstance(array, np.ndarray) and array.dtype == _FLOAT64 and array.shape == shape):
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise KernelError(f"`out` for {name!r} needs an array of float64 of shape {shape}, but {found} arrived")
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        raise KernelError(f"`out` for {name!r} must be contiguous and writeable: take what an earlier call returned")
    if any(np.may_share_memory(array, other) for other in others):
        raise KernelError(f"`out` for {name!r} overlaps an argument or another result: each needs memory of its own")
    return array


def _row_array(argument: Argument, value: ArrayLike) -> Numbers:
    """Of shape (n, k), or (k,) where one row serves all states."""
    size = len(argument.symbols)
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.ndim == 2 and value.shape[1] == size:
        return value  # nearly always
    array = _numbers(argument, value)
    if size == 1 and array.shape != (1,) and array.ndim < 2:
        array = array.reshape(-1, 1) if array.ndim else array.reshape(1)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise KernelError(
            f"argument {argument.name!r} needs shape (n, {size}), or ({size},) for all states, but an array of "
            f"shape {array.shape} arrived"
        )
    return array


def _rows(array: Numbers) -> Rows:
    if array.dtype is _FLOAT64 and array.flags.carray and array.ndim == 2 and len(array) > 1:  # nearly always
        return Rows(cast("Doubles", array), array.shape[1])
    aligned = array.dtype == _FLOAT64 and array.flags.aligned and array.dtype.isnative
    if not (aligned and (array.shape[-1] <= 1 or array.strides[-1] == 8) and array.strides[0] % 8 == 0):
        array = np.ascontiguousarray(array, dtype=_FLOAT64)
    repeated = array.ndim == 1 or len(array) == 1
    return Rows(cast("Doubles", array), 0 if repeated else array.strides[0] // 8)


def _numbers(argument: Argument, value: ArrayLike) -> Numbers:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:
        raise KernelError(f"argument {argument.name!r} is no array of numbers: {problem}") from None
    if array.dtype.kind not in "fiu":
        raise KernelError(
            f"argument {argument.name!r} has entries of type {array.dtype}: real numbers are needed, "
            f"{_needed(argument)}"
        )
    return array


def _needed(argument: Argument) -> str:
    names = [symbol.name for symbol in argument.symbols]
    listed = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
    return f"{len(names)} number{'' if len(names) == 1 else 's'} ({listed})" if names else "no numbers"
