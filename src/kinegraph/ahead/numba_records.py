"""Records of compiled code: named tuples that lie in memory, and of which functions hand on the address alone.

Numba hands on a named tuple entry by entry: an array is seven numbers, and a record of forty arrays takes hundreds of
instructions at every call, which are written, optimised and run. Here each call takes one. Nobody writes to a record
once it is made, and compiled code is told so: it reads an entry once, where it would read it all the time.

A record that a function makes and returns is copied to its caller's memory, where each call that is written has one
place: a loop must not keep the record of an earlier round.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from inspect import Parameter
from inspect import Signature as PythonSignature
from itertools import accumulate
from typing import Protocol, TypeAlias, TypeGuard, cast

from llvmlite import ir
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, unbox

from kinegraph.ahead.numba_words import (
    DataModel,
    DataModels,
    NumbaType,
    Signature,
    TargetContext,
    TypingContext,
    Written,
    unliteral,
    written_by_hand,
)

#: A class of named tuples.
RecordClass: TypeAlias = type[tuple[object, ...]]

_WORD = ir.IntType(64)
_ADDRESS = ir.PointerType(_WORD)

# Words of Numba, with types.
_borrowed = cast(Callable[..., ir.Value], impl_ret_borrowed)
_native = cast(Callable[..., object], NativeValue)
_lowered = cast(Callable[[type], Callable[[object], object]], lower_getattr_generic)
_unboxed = cast(Callable[[type], Callable[[object], object]], unbox)


class _NamedTuple(Protocol):
    """What is used of a class of named tuples beside calling it."""

    _fields: tuple[str, ...]


class _Entry(Protocol):
    """A value of Python that was taken over into compiled code."""

    value: ir.Value
    is_error: ir.Value
    cleanup: Callable[[], object] | None


class _PythonObjects(Protocol):
    """What compiled code calls of Python."""

    def tuple_getitem(self, value: ir.Value, place: int) -> ir.Value: ...


class _Taking(Protocol):
    """What takes values of Python over."""

    builder: ir.IRBuilder
    pyapi: _PythonObjects

    def unbox(self, kind: NumbaType, value: ir.Value) -> _Entry: ...


class Record(types.Type):
    """The type of a record: its class, and the types of its entries."""

    def __init__(self, of: RecordClass, kinds: tuple[NumbaType, ...]) -> None:
        self.of, self.kinds = of, kinds
        self.fields = cast(_NamedTuple, of)._fields
        # The name is what makes two types equal, and part of the names of all functions that take it: so it is short.
        contents = f"{of.__module__} {' '.join(map(str, kinds))}"
        begin: Callable[..., None] = super().__init__
        begin(name=f"{of.__name__}.{sha256(contents.encode()).hexdigest()[:16]}")


def is_record_class(value: object) -> TypeGuard[RecordClass]:
    """Whether this is a class of named tuples."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


@cache
def by_address(of: RecordClass) -> Callable[..., object]:
    """Let compiled code take records of a class by their address; returns what makes them there."""
    typeof_impl.register(of)(lambda value, context: Record(of, tuple(typeof_impl(one, context) for one in value)))

    def make(typing_context: TypingContext, *given: NumbaType) -> Written:
        kinds = tuple(map(unliteral, given))
        return cast(Callable[..., Signature], Record(of, kinds))(*kinds), _make

    names = ("typing_context", *cast(_NamedTuple, of)._fields)
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    make.__signature__ = PythonSignature(parameters)  # type: ignore[attr-defined]
    return written_by_hand(make, of)


def _make(
    context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
) -> ir.Value:
    return _written(builder, arguments)


def _written(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
    """Memory of the function at hand that holds these values."""
    record, words = _memory(builder, [value.type for value in values]), 0
    for value in values:
        builder.store(value, builder.bitcast(_place(builder, record, words), value.type.as_pointer()))
        words += _words(value.type)
    return record


def _memory(builder: ir.IRBuilder, kinds: Sequence[ir.Type]) -> ir.Value:
    """Memory for values of these types, as long as the function runs."""
    with builder.goto_entry_block():
        memory = builder.alloca(ir.ArrayType(_WORD, sum(map(_words, kinds))))
        return builder.bitcast(memory, _ADDRESS)


def _place(builder: ir.IRBuilder, record: ir.Value, words: int) -> ir.Value:
    """Where an entry begins that stands behind so many words."""
    return builder.gep(record, [_WORD(words)], inbounds=True)


def _words(kind: ir.Type) -> int:
    """The words of memory that a value takes; every number has its own."""
    if isinstance(kind, ir.Aggregate):
        return sum(_words(one) for one in kind.elements)
    return 1


@register_model(Record)
class RecordModel(PrimitiveModel):
    """A record is an address. To the caller it is returned as what stands there."""

    def __init__(self, models: DataModels, kind: Record) -> None:
        begin: Callable[..., None] = super().__init__
        begin(models, kind, _ADDRESS)
        self._models = [models.lookup(one) for one in kind.kinds]
        self.kinds = [one.get_value_type() for one in self._models]
        self.places = (0, *accumulate(map(_words, self.kinds)))

    def entry(self, builder: ir.IRBuilder, record: ir.Value, place: int) -> ir.Value:
        """One of the entries."""
        return builder.load(_place(builder, record, self.places[place]), typ=self.kinds[place])

    def from_argument(self, builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        """A record that is handed to a function, of which the function knows that nobody writes to it."""
        if isinstance(value, ir.Argument):
            value.add_attribute("noalias")
        return value

    def get_return_type(self) -> ir.Type:
        """All words of the record."""
        return ir.ArrayType(_WORD, self.places[-1])

    def as_return(self, builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        """What stands in a record."""
        return builder.load(value, typ=self.get_return_type())

    def from_return(self, builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        """A record with this content."""
        record = _memory(builder, self.kinds)
        builder.store(value, builder.bitcast(record, value.type.as_pointer()))
        return record

    def traverse(self, builder: ir.IRBuilder) -> Iterator[tuple[NumbaType, Callable[[ir.Value], ir.Value]]]:
        """The entries, for those who count references."""
        for place, kind in enumerate(cast(Record, self._fe_type).kinds):
            yield kind, lambda record, place=place: self.entry(builder, record, place)  # type: ignore[misc]

    def inner_models(self) -> list[DataModel]:
        """How the entries are laid out."""
        return self._models


def entry_of(context: TargetContext, builder: ir.IRBuilder, kind: Record, record: ir.Value, name: str) -> ir.Value:
    """An entry of a record, by name."""
    model = cast(RecordModel, context.data_model_manager[kind])
    return model.entry(builder, record, kind.fields.index(name))


@infer_getattr
class _Entries(AttributeTemplate):
    key = Record

    def generic_resolve(self, kind: Record, name: str) -> NumbaType | None:  # type: ignore[override]
        return kind.kinds[kind.fields.index(name)] if name in kind.fields else None


def _read(context: TargetContext, builder: ir.IRBuilder, kind: Record, record: ir.Value, name: str) -> ir.Value:
    entry = entry_of(context, builder, kind, record, name)
    return _borrowed(context, builder, kind.kinds[kind.fields.index(name)], entry)


def _from_python(kind: Record, value: ir.Value, c: _Taking) -> object:
    """A record of Python, written to memory of the function that calls compiled code."""
    entries = [c.unbox(one, c.pyapi.tuple_getitem(value, place)) for place, one in enumerate(kind.kinds)]
    wrong = ir.IntType(1)(0)
    for entry in entries:
        wrong = c.builder.or_(wrong, entry.is_error)
    cleanups = [entry.cleanup for entry in reversed(entries) if entry.cleanup is not None]
    record = _written(c.builder, [entry.value for entry in entries])
    return _native(record, is_error=wrong, cleanup=(lambda: [one() for one in cleanups]) if cleanups else None)


_lowered(Record)(_read)
_unboxed(Record)(_from_python)
