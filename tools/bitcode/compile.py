"""Marked functions -> LLVM modules whose entries any C program could call."""

from functools import cache
from types import FunctionType

import numba
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types

from kinegraph.jit.marks import Kind, kind_of
from tools.bitcode.intrinsics import INTRINSICS
from tools.bitcode.records import WORD, Record, by_address, is_record_class, words

# Products and sums may be fused, nothing else is reordered; division by zero gives an infinity, as in C.
_OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_FAILED = -(1 << 40)  # what an entry returns where Numba's code raises


@cache
def dispatcher(function, counted):
    """A marked function as Numba compiles it, with all that it calls.

    counted: its functions make arrays, so references are counted, and the memory comes from `memory.ll`. Records are
    handed on entry by entry there, for a record that is an address does not know what to count.
    """
    kind = kind_of(function)
    if kind is Kind.INTRINSIC:
        return INTRINSICS[function]
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = names.get(name)
        if is_record_class(value) and not counted:
            names[name] = by_address(value)
        elif kind_of(value):
            names[name] = dispatcher(value, counted)
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    code = numba.njit(twin, **_OPTIONS, _nrt=counted, forceinline=kind is Kind.INLINED)
    return _without_constants(code)


def _without_constants(code):
    """Compile a function once for all constants it is called with: Numba would do so anew for each of them."""
    template = code.get_call_template

    def template_for(kinds, named):
        given = {name: types.unliteral(kind) for name, kind in named.items()}
        return template(tuple(map(types.unliteral, kinds)), given)

    code.get_call_template = template_for
    return code


def types_of(values):
    """The types of sample arguments; records are known once `register` saw their classes."""
    return tuple(numba.typeof(value) for value in values)


def register(values):
    """Let Numba know the classes of all records among values."""
    for value in values:
        if isinstance(value, tuple):
            if is_record_class(type(value)):
                by_address(type(value))
            register(value)


def module_of(function, kinds, counted):
    """The instructions of a function and all it calls, with its entry; and how the entry's arguments are laid out."""
    code = dispatcher(function, counted)
    code.compile(kinds)
    result = code.overloads[kinds]
    library, described, context = result.library, result.fndesc, result.target_context
    module = llvm.parse_bitcode(library._get_module_for_linking().as_bitcode())
    entry = ir.Module("entry")
    called = ir.Function(
        entry, context.call_conv.get_function_type(described.restype, described.argtypes), described.llvm_func_name
    )
    write = _callback if kind_of(function) is Kind.CALLBACK else _entry
    write(entry, symbol_of(function), called, described, context)
    entry.triple, entry.data_layout = module.triple, module.data_layout
    module.link_in(llvm.parse_assembly(str(entry)))
    return module, [_layout(kind) for kind in described.argtypes]


def symbol_of(function):
    """The name of a function's entry."""
    return f"kinegraph_{function.__name__.lstrip('_')}"


def _entry(module, symbol, called, described, context):
    """`int64 entry(words)`: reads each argument from the words and calls the function."""
    entry = ir.Function(module, ir.FunctionType(WORD, [ir.PointerType(WORD)]), symbol)
    builder, at, arguments = ir.IRBuilder(entry.append_basic_block()), 0, []
    for kind in described.argtypes:
        value_type = context.data_model_manager[kind].get_value_type()
        place = builder.gep(entry.args[0], [WORD(at)], inbounds=True)
        if value_type == ir.IntType(1):
            arguments.append(builder.trunc(builder.load(place), value_type))
        else:
            arguments.append(builder.load(builder.bitcast(place, value_type.as_pointer())))
        at += words(value_type)
    status, result = context.call_conv.call_function(builder, called, described.restype, described.argtypes, arguments)
    if described.restype == types.none:
        result = WORD(0)
    elif result.type != WORD:
        result = builder.zext(result, WORD)
    builder.ret(builder.select(status.is_error, WORD(_FAILED), result))


def _callback(module, symbol, called, described, context):
    """A function with the arguments as they are: integers (also addresses) and doubles; it returns a flag."""
    kinds = [context.get_value_type(kind) for kind in described.argtypes]
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), kinds), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    status, result = context.call_conv.call_function(
        builder, called, described.restype, described.argtypes, list(entry.args)
    )
    flag = ir.IntType(32)(0) if described.restype == types.none else builder.trunc(result, ir.IntType(32))
    builder.ret(builder.select(status.is_error, ir.IntType(32)(-1), flag))


_LETTERS = {types.float64: "f", types.int64: "i", types.boolean: "b"}


def _layout(kind):
    """How an argument is laid out, for the manifest: a letter, a letter and a dimension, a record, or a tuple."""
    if isinstance(kind, Record):
        return {name: _layout(one) for name, one in zip(kind.fields, kind.kinds, strict=True)}
    if isinstance(kind, types.BaseTuple):
        return [_layout(one) for one in kind]
    if isinstance(kind, types.Array):
        if kind.layout != "C":
            raise TypeError(f"a sample argument is not contiguous: {kind}")
        return f"{_LETTERS[kind.dtype]}{kind.ndim}"
    return _LETTERS[types.unliteral(kind)]
