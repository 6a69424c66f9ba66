"""Short code for parts: numbers of arrays are read and written by few instructions.

Numba writes some fifty instructions for `table[i, j]`, four times as many as are needed, and each of them takes time in
every phase that follows. The optimised code is the same.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from llvmlite import ir as llvm
from numba import types
from numba.core import ir
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from kinegraph.ahead.numba_words import F, NumbaType, TargetContext, unliteral

_WORD = llvm.IntType(64)
_DATA, _SHAPE = 4, 5  # where the address of the numbers and the lengths stand in an array
_phase = cast(Callable[[F], F], cast(Callable[..., object], register_pass)(mutates_CFG=True, analysis_only=False))
_NUMBERS = types.float64, types.int64


class _Tuple(Protocol):
    """The type of a tuple."""

    types: Sequence[NumbaType]


class _Variable(Protocol):
    """A variable of the function that is compiled."""

    name: str


class _Index(Protocol):
    """What says `x[i]`; where `i` is known, `index_var` is the variable that holds it."""

    op: str
    value: _Variable
    target: _Variable
    index: _Variable
    index_var: _Variable


class _Lowering(Protocol):
    """What is used of Numba's lowering of one function."""

    builder: llvm.IRBuilder
    context: TargetContext
    typeof: Callable[[str], NumbaType]
    loadvar: Callable[[str], llvm.Value]
    lower_assign: Callable[[NumbaType, object], llvm.Value]
    lower_expr: Callable[[NumbaType, _Index], llvm.Value]
    lower_inst: Callable[[object], object]


class PartLower(Lower):
    """Writes the code of a part."""

    def lower_assign(self, kind: NumbaType, statement: object) -> llvm.Value:
        """The value a variable gets. A function to be called is known by its type, and its value is never read."""
        if isinstance(kind, types.Dispatcher):
            return cast(_Lowering, self).context.get_dummy_value()
        return cast(_Lowering, super()).lower_assign(kind, statement)

    def lower_expr(self, kind: NumbaType, expression: _Index) -> llvm.Value:
        """The value of an expression."""
        lowering = cast(_Lowering, self)
        if expression.op in ("getitem", "static_getitem"):
            index = expression.index if expression.op == "getitem" else expression.index_var
            place = _place(lowering, expression.value, index)
            if place is not None:
                value = lowering.builder.load(place)
                return lowering.context.cast(lowering.builder, value, _number(lowering, expression.value), kind)
        return cast(_Lowering, super()).lower_expr(kind, expression)

    def lower_inst(self, statement: object) -> object:
        """Carry a statement out."""
        lowering = cast(_Lowering, self)
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            setting = cast(_Index, statement)
            index = setting.index if isinstance(statement, ir.SetItem) else setting.index_var
            place = _place(lowering, setting.target, index)
            if place is not None:
                name = setting.value.name
                number = _number(lowering, setting.target)
                value = lowering.context.cast(lowering.builder, lowering.loadvar(name), lowering.typeof(name), number)
                return lowering.builder.store(value, place)
        return cast(_Lowering, super()).lower_inst(statement)


def _number(lowering: _Lowering, array: _Variable) -> NumbaType:
    """The type of the numbers of an array."""
    return cast(types.Array, lowering.typeof(array.name)).dtype


def _place(lowering: _Lowering, array: _Variable, index: _Variable | None) -> llvm.Value | None:
    """Where the number at an index of an array stands; None where Numba has to say what the index means."""
    kind = lowering.typeof(array.name)
    if index is None or not _is_simple(kind):
        return None
    given = lowering.typeof(index.name)
    several = isinstance(given, types.BaseTuple)
    kinds = tuple(cast(_Tuple, given).types) if several else (given,)
    if len(kinds) != cast(types.Array, kind).ndim or any(unliteral(one) != types.int64 for one in kinds):
        return None
    value, builder = lowering.loadvar(index.name), lowering.builder
    indices = [builder.extract_value(value, k) for k in range(len(kinds))] if several else [value]
    return _address(builder, lowering.loadvar(array.name), indices)


def _is_simple(kind: NumbaType) -> bool:
    """Whether this is the type of an array whose numbers stand one behind the other."""
    return isinstance(kind, types.Array) and kind.dtype in _NUMBERS and kind.layout == "C" and kind.aligned


def _address(builder: llvm.IRBuilder, array: llvm.Value, indices: Sequence[llvm.Value]) -> llvm.Value:
    offset = None
    for dimension, index in enumerate(indices):
        length = builder.extract_value(array, (_SHAPE, dimension))
        place = _from_start(builder, index, length)
        offset = place if offset is None else builder.add(builder.mul(offset, length), place)
    return builder.gep(builder.extract_value(array, _DATA), [offset])


def _from_start(builder: llvm.IRBuilder, index: llvm.Value, length: llvm.Value) -> llvm.Value:
    """An index counted from the start, also one that was counted from the end."""
    if isinstance(index, llvm.Constant) and index.constant >= 0:
        return index
    return builder.select(builder.icmp_signed("<", index, _WORD(0)), builder.add(index, length), index)


@_phase
class PartLowering(NativeLowering):
    """Numba's phase that writes code, for parts."""

    _name = "part_lowering"

    @property
    def lowering_class(self) -> type[PartLower]:
        """What writes the code."""
        return PartLower
