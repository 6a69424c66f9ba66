"""Code written by hand for the calls of kernels inside compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils

from kinegraph.ahead.numba_records import Record, entry_of
from kinegraph.ahead.numba_words import NumbaType, Signature, TargetContext, TypingContext, Written, written_by_hand
from kinegraph.solve.loops import marks, weights


def data_of(context: TargetContext, builder: ir.IRBuilder, kind: NumbaType, value: ir.Value) -> ir.Value:
    """The pointer to the first entry of an array."""
    return context.make_array(kind)(context, builder, value).data


def _table(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
    """An array in the stack frame that holds the values; the pointer to its first entry."""
    allocate: Callable[..., ir.Value] = cgutils.alloca_once
    table = allocate(builder, values[0].type, size=len(values))
    for place, value in enumerate(values):
        builder.store(value, builder.gep(table, [ir.IntType(64)(place)]))
    return table


def is_doubles(kind: NumbaType) -> bool:
    """Whether this is the type of a contiguous array of doubles."""
    return isinstance(kind, types.Array) and kind.dtype == types.float64 and kind.layout == "C"


def _call(typing_context: TypingContext, address: NumbaType, x: NumbaType, y: NumbaType, start: NumbaType) -> Written:
    """Call the kernel at `address`: it reads x and writes to y from its flat index `start` on."""
    if not (is_doubles(x) and is_doubles(y)):
        return None

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        address, x, y, start = arguments
        pointer = ir.PointerType(ir.DoubleType())
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer])
        source = data_of(context, builder, signature.args[1], x)
        target = builder.gep(data_of(context, builder, signature.args[2], y), [start])
        builder.call(builder.inttoptr(address, kind.as_pointer()), [source, target])
        return context.get_dummy_value()

    return types.void(types.int64, x, y, types.int64), generate


def _call_batch(
    typing_context: TypingContext, address: NumbaType, rows: NumbaType, y: NumbaType, t: NumbaType, u: NumbaType,
    p: NumbaType, results: NumbaType, start: NumbaType,
) -> Written:  # fmt: skip
    """Call the batch code of a kernel (y, t, u, p) -> results for the first `rows` rows of contiguous arrays.

    The results go from the flat index `start` on, without gaps. A kernel without inputs has no u, one without
    parameters no p.
    """
    if not all(is_doubles(one) for one in (y, t, u, p, results)):
        return None

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        address, rows, y, t, u, p, results, start = arguments
        word, kinds = ir.IntType(64), signature.args
        places = ((2, y), (3, t), (4, u), (5, p))
        sources = [data_of(context, builder, kinds[place], value) for place, value in places]
        shapes = [context.make_array(kinds[place])(context, builder, value).shape for place, value in places]
        widths = [word(1) if place == 1 else builder.extract_value(shapes[place], 1) for place in range(4)]
        given = builder.icmp_signed(">", widths[2], word(0))  # else the parameters follow the time
        for values in (sources, widths):
            values[2] = builder.select(given, values[2], values[3])
        target = builder.gep(data_of(context, builder, kinds[6], results), [start])
        tables = [_table(builder, values) for values in (sources, widths, [target])]
        kind = ir.FunctionType(ir.VoidType(), [word, word, *(table.type for table in tables)])
        builder.call(builder.inttoptr(address, kind.as_pointer()), [word(0), rows, *tables])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, y, t, u, p, results, types.int64), generate


def _weighted(
    typing_context: TypingContext, method: Record, row: NumbaType, h: NumbaType, base: NumbaType,
    slopes: NumbaType, size: NumbaType, target: NumbaType, start: NumbaType,
) -> Written:  # fmt: skip
    """Call the weighted sums of a method by their address; h is a number, or an array with one entry for each d."""
    each = is_doubles(h)
    if not (is_doubles(base) and is_doubles(slopes) and is_doubles(target)):
        return None

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        record, row, h, base, slopes, size, target, start = arguments
        kinds = signature.args
        pointers = (
            data_of(context, builder, kinds[3], base),
            data_of(context, builder, kinds[4], slopes),
            builder.gep(data_of(context, builder, kinds[6], target), [start]),
        )
        step = data_of(context, builder, kinds[2], h) if each else h
        values = [row, step, size, *pointers]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        address = entry_of(context, builder, method, record, "each_sums" if each else "sums")
        builder.call(builder.inttoptr(address, kind.as_pointer()), values)
        return context.get_dummy_value()

    step_kind = h if each else types.float64
    return types.void(method, types.int64, step_kind, base, slopes, types.int64, target, types.int64), generate


call = written_by_hand(_call, marks.call)
weighted = written_by_hand(_weighted, weights.weighted)
call_batch = written_by_hand(_call_batch, marks.call_batch)
