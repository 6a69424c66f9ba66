"""Whole LLVM modules: the scalar kernel with its C interface, and the batch kernel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from kinegraph.codegen.llvm.batch import Row, batch_function
from kinegraph.codegen.llvm.body import angle_lanes, body_functions
from kinegraph.codegen.llvm.cache_lines import PREFETCH_DECLARATION
from kinegraph.codegen.llvm.emission import SCALAR_ENTRY, Emission
from kinegraph.codegen.llvm.functions import LIBRARY_FUNCTIONS, library_declarations, library_function
from kinegraph.codegen.llvm.lanes import Lanes
from kinegraph.codegen.llvm.scratch import HEAP_DECLARATIONS, Scratch, fill_with_nan
from kinegraph.codegen.llvm.sincos import sincos_function
from kinegraph.codegen.llvm.substitute import body_with_substitution, substitute_function
from kinegraph.codegen.llvm.writer import Writer
from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.chunk import Chunks, cut
from kinegraph.codegen.program.estimated import take
from kinegraph.codegen.program.expand import expansion
from kinegraph.codegen.program.lower import lower
from kinegraph.codegen.program.program import Op, Program
from kinegraph.codegen.simd import lower_side_by_side
from kinegraph.graph.node import Graph, Output

# Beyond this many, sines are calls: inlined they would be most of the code.
_INLINED_SINES = 64
# Angles a scalar kernel computes side by side. Eight would switch x86 processors to 512 bits, where scalar code has
# one port less.
SCALAR_GROUP = 4

# Measured on seven kernels: up to about this length code runs fastest in one piece, longer code cut small. Why is a
# guess: the processor's cache of decoded instructions, and shorter addresses on the stack.
_WHOLE = 2600
_CHUNK = 400

# #0: our functions, #1: the way of huge angles, #2: the C library's functions, which touch no memory of ours, #3: the
# same for all lanes.
_ATTRIBUTES = """
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
attributes #1 = { nounwind noinline cold "min-legal-vector-width"="512" "prefer-vector-width"="512" }
attributes #2 = { nounwind willreturn memory(none) }
attributes #3 = { nounwind willreturn memory(none) noinline "min-legal-vector-width"="512" "prefer-vector-width"="512" }
!0 = !{!"branch_weights", i32 1, i32 1048576}
"""


def scalar_program(binding: Bound, emission: Emission) -> Program:
    """The program of one call."""
    if emission.exchange:
        return lower_side_by_side(binding, dict(emission.exchange), SCALAR_GROUP, emission.fused)
    return take(binding, SCALAR_GROUP, emission.fused) or lower(binding, SCALAR_GROUP, emission.fused)


def module_text(entry: str, binding: Bound, emission: Emission) -> str:
    """The module that defines `kinegraph_scalar`, or `kinegraph_batch`."""
    return (scalar_module if entry == SCALAR_ENTRY else batch_module)(binding, emission)


def scalar_module(binding: Bound, emission: Emission) -> str:
    """`void kinegraph_scalar(const double *x, double *y)`: all arguments to all outputs, each laid end to end."""
    program = scalar_program(binding, emission)
    chunks = _cut(emission, program)
    lanes = Lanes(1)
    widths = {angle_lanes(len(one.operands)) for one in program.instructions if one.op is Op.SINCOS}
    bodies, scratch = _bodies(emission, binding.graph, program, chunks, lanes, inline=True)
    size = sum(len(result.nodes) for result in emission.results(binding.graph))
    return _module(program, emission, widths, bodies, _scalar_entry(size, Scratch(lanes, scratch), _widest(program)))


def batch_module(binding: Bound, emission: Emission) -> str:
    """`kinegraph_batch`, which computes many states; see `batch.batch_function`."""
    if emission.tail:
        computed, entries = binding, _in_order(emission.tail.results(binding.graph))
    else:
        computed, entries = expansion(binding)
    program = lower(computed, group=1, fuse=emission.fused)
    chunks = _cut(emission, program)
    lanes = Lanes(emission.lanes)
    bodies, scratch = _bodies(emission, binding.graph, program, chunks, lanes)
    entry = batch_function(lanes, _rows(binding, program), entries, scratch)
    return _module(program, emission, {emission.lanes}, *_library_functions(program, lanes), bodies, entry)


def _cut(emission: Emission, program: Program) -> Chunks:
    """A program in chunks, as the options say."""
    return cut(program, _CHUNK, _WHOLE) if emission.chunk is None else cut(program, emission.chunk)


def _bodies(
    emission: Emission, graph: Graph, program: Program, chunks: Chunks, lanes: Lanes, inline: bool = False
) -> tuple[str, int]:
    """The functions up to `@body(x, y, s)`, and how many values it needs at s."""
    tail = emission.tail
    if tail is None:
        return body_functions(program, chunks, lanes, inline), chunks.scratch_size
    functions = (
        body_functions(program, chunks, lanes, inline, "values"),
        substitute_function(tail, tail.starts(graph), lanes, emission.lanes),
        body_with_substitution(program.output_size, lanes),
    )
    return "\n".join(functions), program.output_size + chunks.scratch_size


def _rows(binding: Bound, program: Program) -> list[Row]:
    """The rows of the arguments, with the columns a program reads: a platform's leave out most positions of legs."""
    read = {int(one.detail) for one in program.instructions if one.op is Op.INPUT}
    rows, start = [], 0
    for argument in binding.arguments:
        size = len(argument.symbols)
        rows.append(Row(size, frozenset(column for column in range(size) if start + column in read)))
        start += size
    return rows


def _in_order(results: Sequence[Output]) -> tuple[tuple[int | float, ...], ...]:
    """The entries of results that are computed end to end, all of them."""
    ends = accumulate(len(result.nodes) for result in results)
    return tuple(tuple(range(end - len(result.nodes), end)) for result, end in zip(results, ends, strict=True))


def _module(program: Program, emission: Emission, widths: set[int], *functions: str) -> str:
    groups = sum(one.op is Op.SINCOS for one in program.instructions)
    inline = groups <= _INLINED_SINES
    sines = [sincos_function(Lanes(width), emission.fused, inline) for width in sorted(widths)] if groups else []
    return "\n".join(
        [library_declarations() + HEAP_DECLARATIONS + PREFETCH_DECLARATION, *sines, *functions, _ATTRIBUTES]
    )


def _library_functions(program: Program, lanes: Lanes) -> list[str]:
    used = {str(one.detail) for one in program.instructions if one.op is Op.FUNCTION}
    return [library_function(name, lanes) for name in sorted(used & LIBRARY_FUNCTIONS.keys())]


def _widest(program: Program) -> Lanes:
    """The longest vector of a scalar program's limbs side by side."""
    return Lanes(max(program.widths, default=1))


def _scalar_entry(size: int, scratch: Scratch, widest: Lanes) -> str:
    writer = Writer()
    scratch.around(
        writer,
        lambda s: writer.do(f"call void @body(ptr %x, ptr %y, ptr {s})"),
        lambda: fill_with_nan(writer, "%y", size),
    )
    writer.do("ret void")
    return writer.function(f"define void @{SCALAR_ENTRY}(ptr noalias readonly %x, ptr noalias %y) {widest.on_stack}#0")
