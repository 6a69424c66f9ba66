"""Instructions written by hand for functions that are marked as intrinsics."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from kinegraph.jit import marks
from kinegraph.solve.loops import contact_cones
from kinegraph.solve.loops import marks as loop_marks
from kinegraph.solve.loops import step as weights
from tools.bitcode.records import WORD, entry_of

_POINTER = ir.PointerType(ir.DoubleType())


def _data(context, builder, kind, value):
    """The pointer to the first entry of an array."""
    return context.make_array(kind)(context, builder, value).data


def _is_doubles(kind):
    return isinstance(kind, types.Array) and kind.dtype == types.float64 and kind.layout == "C"


def _call_at(builder, address, result, values):
    """Call the function at an address."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), values)


def _table(builder, values):
    """An array in the stack frame that holds the values; the pointer to its first entry."""
    table = cgutils.alloca_once(builder, values[0].type, size=len(values))
    for place, value in enumerate(values):
        builder.store(value, builder.gep(table, [WORD(place)]))
    return table


@intrinsic
def call(typing_context, address, x, y, start):
    """Call the kernel at `address`: it reads x and writes to y from its flat index `start` on."""
    if not (_is_doubles(x) and _is_doubles(y)):
        return None

    def generate(context, builder, signature, arguments):
        address, x, y, start = arguments
        source = _data(context, builder, signature.args[1], x)
        target = builder.gep(_data(context, builder, signature.args[2], y), [start])
        _call_at(builder, address, ir.VoidType(), [source, target])
        return context.get_dummy_value()

    return types.void(types.int64, x, y, types.int64), generate


@intrinsic
def call_batch(typing_context, address, rows, y, t, u, p, results, start):
    """Call the batch code of a kernel (y, t, u, p) -> results for the first `rows` rows of contiguous arrays.

    The results go from the flat index `start` on, without gaps. A kernel without inputs has no u, one without
    parameters no p.
    """
    if not all(_is_doubles(one) for one in (y, t, u, p, results)):
        return None

    def generate(context, builder, signature, arguments):
        address, rows, y, t, u, p, results, start = arguments
        kinds, places = signature.args, ((2, y), (3, t), (4, u), (5, p))
        sources = [_data(context, builder, kinds[place], value) for place, value in places]
        shapes = [context.make_array(kinds[place])(context, builder, value).shape for place, value in places]
        widths = [WORD(1) if place == 1 else builder.extract_value(shapes[place], 1) for place in range(4)]
        given = builder.icmp_signed(">", widths[2], WORD(0))  # else the parameters follow the time
        for values in (sources, widths):
            values[2] = builder.select(given, values[2], values[3])
        target = builder.gep(_data(context, builder, kinds[6], results), [start])
        tables = [_table(builder, values) for values in (sources, widths, [target])]
        _call_at(builder, address, ir.VoidType(), [WORD(0), rows, *tables])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, y, t, u, p, results, types.int64), generate


@intrinsic
def weighted(typing_context, method, row, h, base, slopes, size, target, start):
    """Call the weighted sums of a method by their address; h is a number, or an array with one entry for each d."""
    each = _is_doubles(h)
    if not (_is_doubles(base) and _is_doubles(slopes) and _is_doubles(target)):
        return None

    def generate(context, builder, signature, arguments):
        record, row, h, base, slopes, size, target, start = arguments
        kinds = signature.args
        step = _data(context, builder, kinds[2], h) if each else h
        pointers = (
            _data(context, builder, kinds[3], base),
            _data(context, builder, kinds[4], slopes),
            builder.gep(_data(context, builder, kinds[6], target), [start]),
        )
        address = entry_of(context, builder, method, record, "each_sums" if each else "sums")
        _call_at(builder, address, ir.VoidType(), [row, step, size, *pointers])
        return context.get_dummy_value()

    step_kind = h if each else types.float64
    return types.void(method, types.int64, step_kind, base, slopes, types.int64, target, types.int64), generate


@intrinsic
def call_pointer(typing_context, address, argument):
    """Call a C function that takes a pointer and returns a pointer, both as integers."""
    return types.int64(types.int64, types.int64), lambda context, builder, signature, arguments: _call_at(
        builder, arguments[0], WORD, arguments[1:]
    )


@intrinsic
def call_with(typing_context, address, values):
    """Call a C function with the address of an array, as both of its arguments."""

    def generate(context, builder, signature, arguments):
        data = _data(context, builder, signature.args[1], arguments[1])
        _call_at(builder, arguments[0], ir.VoidType(), [data, data])
        return context.get_dummy_value()

    return types.void(types.int64, values), generate


@intrinsic
def respond_in_cones(typing_context, contacts, compliance, who):
    """False: compiled loops leave round cones to Python."""
    kind = types.boolean(contacts, compliance, who)
    return kind, lambda context, builder, signature, arguments: context.get_constant(types.boolean, False)


def _array_at(dtype):
    """What makes an array of memory at an address. Numba's own `carray` counts references, which loops do not."""

    def array_at(typing_context, address, shape):
        if not isinstance(shape, types.UniTuple):
            return None
        kind = types.Array(dtype, shape.count, "C")

        def generate(context, builder, signature, arguments):
            lengths = cgutils.unpack_tuple(builder, arguments[1])
            size = WORD(context.get_abi_sizeof(context.get_data_type(dtype)))
            strides = [size]
            for length in reversed(lengths[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            array = make_array(kind)(context, builder)
            data = builder.inttoptr(arguments[0], context.get_data_type(dtype).as_pointer())
            populate_array(array, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(types.int64, types.UniTuple(types.int64, shape.count)), generate

    return intrinsic(array_at)


INTRINSICS = {
    loop_marks.call: call,
    loop_marks.call_batch: call_batch,
    weights.weighted: weighted,
    contact_cones.respond_in_cones: respond_in_cones,
    marks.call_pointer: call_pointer,
    marks.call_with: call_with,
    marks.doubles_at: _array_at(types.float64),
    marks.integers_at: _array_at(types.int64),
    marks.flags_at: _array_at(types.boolean),
}
