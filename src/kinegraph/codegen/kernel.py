"""One protocol for code of all forms: straight, by loops over bodies, of sparse matrices, interpreted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.arrays import Doubles, Results, batch_rows
from kinegraph.codegen.program.binding import Argument
from kinegraph.errors import KernelError
from kinegraph.graph.count import Operations
from kinegraph.graph.proof.whole import AnyProof

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
