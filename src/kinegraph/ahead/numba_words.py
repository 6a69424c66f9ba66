"""Numba with types: functions keep theirs when they are compiled, and what Numba hands to code writers has names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., object])
A = TypeVar("A", bound=NDArray[np.generic])

#: The type Numba found for a value.
NumbaType: TypeAlias = types.Type


class AddressedCode(Protocol):
    """Machine code that C can call."""

    @property
    def address(self) -> int:
        """Where it begins."""
        ...


class Dispatcher(Protocol):
    """A compiled function with its code for all types it was asked for."""

    def compile(self, kinds: tuple[NumbaType, ...] | Signature) -> object:
        """Make the code for arguments of these types, or load it."""
        ...

    def disable_compile(self) -> None:
        """Take no other types from now on."""
        ...

    def get_call_template(self, kinds: Sequence[NumbaType], named: dict[str, NumbaType]) -> object:
        """What a call with arguments of these types is, by place and by name; their code is made."""
        ...

    def typeof_pyval(self, value: object) -> NumbaType:
        """The type of a value of Python."""
        ...


class ArrayStruct(Protocol):
    """An array as compiled code knows it."""

    @property
    def data(self) -> ir.Value:
        """The pointer to its first entry."""
        ...

    @property
    def shape(self) -> ir.Value:
        """Its lengths, as an aggregate."""
        ...


class DataModel(Protocol):
    """How values of one type are laid out."""

    def get_value_type(self) -> ir.Type:
        """Their type in LLVM."""
        ...


class DataModels(Protocol):
    """How values of all types are laid out."""

    def lookup(self, kind: NumbaType) -> DataModel:
        """The layout of one type."""
        ...

    def __getitem__(self, kind: NumbaType) -> DataModel:
        """The same."""
        ...


class TargetContext(Protocol):
    """How values are laid out."""

    @property
    def data_model_manager(self) -> DataModels:
        """The layouts of all types."""
        ...

    def make_array(self, kind: NumbaType) -> Callable[[TargetContext, ir.IRBuilder, ir.Value], ArrayStruct]:
        """What reads an array of this type."""
        ...

    def cast(self, builder: ir.IRBuilder, value: ir.Value, given: NumbaType, wanted: NumbaType) -> ir.Value:
        """A value of one type as one of another."""
        ...

    def get_dummy_value(self) -> ir.Value:
        """The value of what returns nothing."""
        ...


class Signature(Protocol):
    """The types a function is compiled for."""

    @property
    def args(self) -> Sequence[NumbaType]:
        """Those of its arguments."""
        ...


#: What is known of other functions while types are found; nothing here asks it.
TypingContext: TypeAlias = object

#: Writes the code of one call.
Generator: TypeAlias = Callable[[TargetContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value]

#: What an intrinsic answers for the types of its arguments: a signature and what writes the code; None: not for these.
Written: TypeAlias = tuple[Signature, Generator] | None


def written_by_hand(write: Callable[..., Written], like: F) -> F:
    """A function of compiled code whose machine code `write` writes; its arguments are those of `like`."""
    return cast(F, intrinsic(write))


def machine_code(function: F, *signatures: str, **options: object) -> F:
    """A function as Numba compiles it, at once for the signatures or when it is called."""
    compiler = cast(Callable[..., Callable[[F], F]], numba.njit)
    code = compiler(*signatures, **options)(function)
    if code is not function:  # as it is where NUMBA_DISABLE_JIT is set
        _without_constants(cast(Dispatcher, code))
    return code


def _without_constants(code: Dispatcher) -> None:
    """Compile a function once for all constants it is called with: Numba would do so anew for each of them."""
    template = code.get_call_template

    def template_for(kinds: Sequence[NumbaType], named: dict[str, NumbaType]) -> object:
        return template(tuple(map(unliteral, kinds)), {name: unliteral(kind) for name, kind in named.items()})

    code.get_call_template = template_for  # type: ignore[method-assign]


def addressed(function: Callable[..., object], signature: object, **options: object) -> AddressedCode:
    """A function that C can call, compiled at once."""
    compiler = cast(Callable[..., Callable[[object], AddressedCode]], numba.cfunc)
    return compiler(signature, **options)(function)


class _ArrayAt(Protocol):
    def __call__(self, pointer: A, shape: tuple[int, ...]) -> A:
        """The array that begins at a pointer. A pointer is annotated as the array it leads to."""
        ...


carray = cast(_ArrayAt, numba.carray)  # type: ignore[attr-defined]
repeated = cast(Callable[[NumbaType, int], NumbaType], types.UniTuple)
tuple_of = cast(Callable[[tuple[NumbaType, ...]], NumbaType], types.Tuple)
unliteral = cast(Callable[[NumbaType], NumbaType], types.unliteral)
pointer_to = cast(Callable[[NumbaType], NumbaType], types.CPointer)
