"""Named tuples in compiled code: they stand in memory, and functions hand on their address alone.

Numba hands on a named tuple entry by entry: an array is seven numbers, so a record of forty arrays takes hundreds of
instructions at every call. Here each call takes one. Nobody writes to a record once it is made, and compiled code is
told so. A function that returns a record copies it to its caller's memory, where each call that is written has one
place: a loop must not keep the record of an earlier round.
"""

from functools import cache
from hashlib import sha256
from inspect import Parameter, Signature
from itertools import accumulate

from llvmlite import ir
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof_impl
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model

WORD = ir.IntType(64)
_ADDRESS = ir.PointerType(WORD)


class Record(types.Type):
    """The type of a record: its class, and the types of its entries."""

    def __init__(self, of, kinds):
        self.of, self.kinds, self.fields = of, kinds, of._fields
        # The name makes two types equal and is part of the names of all functions that take it, so it is short.
        contents = f"{of.__module__} {' '.join(map(str, kinds))}"
        super().__init__(name=f"{of.__name__}.{sha256(contents.encode()).hexdigest()[:16]}")


def is_record_class(value):
    """Whether this is a class of named tuples."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


@cache
def by_address(of):
    """Let compiled code take records of a class by their address; returns what makes them there."""
    typeof_impl.register(of)(lambda value, context: Record(of, tuple(typeof_impl(one, context) for one in value)))

    def make(typing_context, *given):
        kinds = tuple(map(types.unliteral, given))
        return Record(of, kinds)(*kinds), lambda context, builder, signature, values: _written(builder, values)

    names = ("typing_context", *of._fields)
    make.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    return intrinsic(make)


def _written(builder, values):
    """Memory of the function at hand that holds these values."""
    record, at = _memory(builder, [value.type for value in values]), 0
    for value in values:
        builder.store(value, builder.bitcast(_place(builder, record, at), value.type.as_pointer()))
        at += words(value.type)
    return record


def _memory(builder, kinds):
    """Memory for values of these types, as long as the function runs."""
    with builder.goto_entry_block():
        memory = builder.alloca(ir.ArrayType(WORD, sum(map(words, kinds))))
        return builder.bitcast(memory, _ADDRESS)


def _place(builder, record, at):
    return builder.gep(record, [WORD(at)], inbounds=True)


def words(kind):
    """The words of memory that a value takes; every number has its own."""
    return sum(map(words, kind.elements)) if isinstance(kind, ir.Aggregate) else 1


@register_model(Record)
class _RecordModel(PrimitiveModel):
    """A record is an address. To the caller it is returned as its contents."""

    def __init__(self, models, kind):
        super().__init__(models, kind, _ADDRESS)
        self._models = [models.lookup(one) for one in kind.kinds]
        self.kinds = [one.get_value_type() for one in self._models]
        self.places = (0, *accumulate(map(words, self.kinds)))

    def entry(self, builder, record, place):
        return builder.load(_place(builder, record, self.places[place]), typ=self.kinds[place])

    def from_argument(self, builder, value):
        if isinstance(value, ir.Argument):
            value.add_attribute("noalias")  # the function knows that nobody writes to it
        return value

    def get_return_type(self):
        return ir.ArrayType(WORD, self.places[-1])

    def as_return(self, builder, value):
        return builder.load(value, typ=self.get_return_type())

    def from_return(self, builder, value):
        record = _memory(builder, self.kinds)
        builder.store(value, builder.bitcast(record, value.type.as_pointer()))
        return record

    def traverse(self, builder):
        for place, kind in enumerate(self._fe_type.kinds):
            yield kind, lambda record, place=place: self.entry(builder, record, place)

    def inner_models(self):
        return self._models


def entry_of(context, builder, kind, record, name):
    """An entry of a record, by name."""
    return context.data_model_manager[kind].entry(builder, record, kind.fields.index(name))


@infer_getattr
class _Entries(AttributeTemplate):
    key = Record

    def generic_resolve(self, kind, name):
        return kind.kinds[kind.fields.index(name)] if name in kind.fields else None


@lower_getattr_generic(Record)
def _read(context, builder, kind, record, name):
    entry = entry_of(context, builder, kind, record, name)
    return impl_ret_borrowed(context, builder, kind.kinds[kind.fields.index(name)], entry)
