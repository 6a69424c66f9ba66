"""The protocol of all kernels: arguments as rows of doubles, results, and the choice a kernel was made by."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.codegen.program.binding import Argument
from kinegraph.errors import KernelError
from kinegraph.graph.certificate import AnyProof
from kinegraph.graph.count import Operations

# Quaternions of zeros among a caller's numbers: the formulas would take them for some orientation, unsaid.


def refuse_zero_quaternions(argument: Argument, array: NDArray[np.generic]) -> None:
    """A quaternion of zeros (of one state, or in a row of many) is not an orientation, though formulas give it one."""
    for start in argument.quaternions:
        scalar_parts = array[..., start]
        if np.count_nonzero(scalar_parts) == scalar_parts.size:  # nearly always; the quickest way NumPy has to know
            continue
        rows = np.flatnonzero(~array[..., start : start + 4].any(axis=-1))
        if len(rows):
            names = ", ".join(symbol.name for symbol in argument.symbols[start : start + 4])
            where = f" of row {rows[0]}" if array.ndim > 1 else ""
            raise KernelError(
                f"argument {argument.name!r}: the quaternion ({names}){where} is zero, which is not an orientation; "
                "give it unit length, such as 1, 0, 0, 0"
            )


# What a caller passes, made into rows of doubles, with an error that says what arrived and what is needed.

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
            f"argument {argument.name!r} needs {_needed(argument)}, found an array of shape {array.shape}"
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
        raise KernelError(f"argument {argument.name!r} is not an array of numbers: {problem}") from None
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


# One protocol for code of all forms: straight, recursive, of sparse matrices, interpreted.

#: Code as loops call it: the address of a C function `void f(const double *x, double *y)`, or a Python function x -> y
#: in its place.
Code: TypeAlias = int | Callable[[Doubles], Sequence[float]]

#: What a call returns: an array, arrays by name where there are several outputs (`Results`), or sparse matrices. What
#: was asked for when the kernel was compiled decides which, so no type can: of a union every caller would have to take
#: apart what it knows to be an array.
Outputs: TypeAlias = Any

#: What makes a kernel anew, in this process or another: a function and its arguments.
Recipe: TypeAlias = "tuple[Callable[..., Kernel], tuple[object, ...]]"


@dataclass(frozen=True, slots=True)
class Result:
    """What a kernel gives under one name."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers that are."""
        return prod(self.shape)


class Kernel(ABC):
    """Code that computes outputs from arguments.

    `kernel(q, v, a)` takes one state, positionally or by argument name, and returns an array, or a dict of arrays by
    name if there are several outputs. `kernel.batch(q, v, a)` takes many states. Quaternions must have unit length;
    one of zeros is refused.

    operations: of one call; None where nobody counted them.
    proof: the record of what the code was proved equal to; None for a graph of unknown origin. Loops over bodies are
    proved when it is asked for.
    Pickling sends the recipe, never code or an address: who receives it makes the same kernel.
    """

    #: How the code is made, as errors and reports say it.
    form: ClassVar[str]

    arguments: tuple[Argument, ...]
    outputs: tuple[Result, ...]
    operations: Operations | None
    proof: AnyProof | None = None

    @abstractmethod
    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The outputs for one state."""

    @abstractmethod
    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The outputs for many states: arguments of shape (n, k), or (k,) if all states share them."""

    @property
    @abstractmethod
    def recipe(self) -> Recipe:
        """What makes this kernel anew."""

    @property
    def input_size(self) -> int:
        """How many numbers all arguments have."""
        return sum(len(argument.symbols) for argument in self.arguments)

    @property
    def output_size(self) -> int:
        """How many numbers all outputs have."""
        return sum(output.size for output in self.outputs)

    @property
    def address(self) -> int:
        """A C function `void f(const double *x, double *y)`; KernelError for code that Python alone can call."""
        raise KernelError(f"{self.form} code has no address: call it, or compile with loops=False")

    @property
    def batch_address(self) -> int:
        """The address of code for many states; 0 where there is none."""
        return 0

    @property
    def lanes(self) -> int:
        """How many states code for many states computes side by side."""
        return 1

    @property
    def code(self) -> Code:
        """The address, or a Python function in its place."""
        return self.flat

    @property
    def addressable(self) -> bool:
        """Whether compiled loops can call it."""
        return isinstance(self.code, int)

    def flat(self, x: Doubles) -> Sequence[float]:
        """All outputs end to end for all arguments end to end."""
        ends = np.cumsum([len(argument.symbols) for argument in self.arguments])
        found = self.by_name(self(*np.split(x, ends[:-1])))
        joined: list[float] = np.concatenate([np.ravel(found[output.name]) for output in self.outputs]).tolist()
        return joined

    def by_name(self, found: Results) -> Mapping[str, Doubles]:
        """What a call or a batch returned, by name also where it is a single array."""
        return found if isinstance(found, Mapping) else {self.outputs[0].name: found}

    def __reduce__(self) -> Recipe:
        return self.recipe

    def __repr__(self) -> str:
        arguments = ", ".join(f"{one.name}[{len(one.symbols)}]" for one in self.arguments)
        outputs = ", ".join(f"{one.name}{list(one.shape)}" for one in self.outputs)
        counted = "" if self.operations is None else f": {self.operations}"
        return f"<{type(self).__name__} ({arguments}) -> {outputs}{counted}>"

    def arranged(self, values: tuple[ArrayLike, ...], named: Mapping[str, ArrayLike]) -> tuple[ArrayLike, ...]:
        """The values in the order of the arguments, whichever way they were given."""
        names = [argument.name for argument in self.arguments]
        if len(values) > len(names):
            raise KernelError(f"{len(values)} arguments were given, the kernel takes {len(names)}: {', '.join(names)}")
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names:
                raise KernelError(f"the kernel has no argument {name!r}; it takes {', '.join(names)}")
            if name in given:
                raise KernelError(f"argument {name!r} was given twice, by place and by name: give it once")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise KernelError(f"argument {missing[0]!r} is missing: the kernel takes {', '.join(names)}")
        return tuple(given[name] for name in names)

    def rows(self, values: tuple[ArrayLike, ...], named: Mapping[str, ArrayLike]) -> list[Doubles]:
        """Many states, a table for every argument: rows that all states share are repeated."""
        rows, inputs = batch_rows(self.arguments, self.arranged(values, named))
        sizes = (len(argument.symbols) for argument in self.arguments)
        return [np.broadcast_to(one.array, (rows, size)) for one, size in zip(inputs, sizes, strict=True)]

    def refuse_out(self, out: object) -> None:
        """KernelError for memory that this form of code cannot write to."""
        if out is not None:
            raise KernelError(f"{self.form} code returns new arrays: leave `out` away, or compile with loops=False")


# What was chosen for a kernel, and on what estimate.


@dataclass(frozen=True)
class KernelChoice:
    """Whether a kernel is made of the reduced graph, and the estimated cycles of a call before and after."""

    reduction_taken: bool
    before: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        if not self.before:
            return f"kernel: reduction {'taken' if self.reduction_taken else 'not taken, it saves too little'}"
        change = 100 * (self.after - self.before) / self.before
        if self.reduction_taken:
            less = f", estimated {-change:.0f} % less time" if change < 0 else ""
            return f"kernel: reduction taken{less}"
        return f"kernel: reduction not taken, its kernel is estimated to take {change:.0f} % more time"
