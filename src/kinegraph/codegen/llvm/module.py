"""Whole LLVM modules: the scalar kernel with its C interface, and the batch kernel."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from kinegraph.codegen.llvm.assembly import (
    LIBRARY_FUNCTIONS,
    Lanes,
    Writer,
    library_declarations,
    library_function,
    lookup_functions,
)
from kinegraph.codegen.llvm.batch import (
    HEAP_DECLARATIONS,
    PREFETCH_DECLARATION,
    Early,
    Row,
    Scratch,
    batch_function,
    fill_with_nan,
)
from kinegraph.codegen.llvm.body import angle_lanes, body_functions, body_with_substitution, substitute_function
from kinegraph.codegen.llvm.sincos import sign_of_sine_function, sincos_function
from kinegraph.codegen.program.binding import SCALAR_ENTRY, Bound, Emission
from kinegraph.codegen.program.instructions import Chunks, Instruction, Op, Program, cut, split
from kinegraph.codegen.program.lowering import lower, rounded
from kinegraph.codegen.simd import lower_side_by_side
from kinegraph.graph.interpret import extended_precision
from kinegraph.graph.node import Graph, Kind, Output, is_lookup

# Results put together from few values.
#
# The inertia matrix of a humanoid has 2,500 entries, of which 560 differ: most are zero or stand in it twice. A batch
# computes the distinct values alone and writes the rows of results from them.


class Expansion(NamedTuple):
    """`binding` computes the distinct values; `entries` has for every result what its entries are: the number of a
    distinct value, or a constant."""

    binding: Bound
    entries: tuple[tuple[int | float, ...], ...]


def expansion(binding: Bound) -> Expansion:
    """How to write the results of a graph from its distinct values."""
    graph = binding.graph
    nodes = dict.fromkeys(node for output in graph.outputs for node in output.nodes)
    distinct = tuple(node for node in nodes if node not in binding.statics)
    values = Graph(graph.nodes, (Output("values", (len(distinct),), distinct),))
    number: dict[int, int | float] = {node: place for place, node in enumerate(distinct)}
    with extended_precision():
        number |= {node: rounded(binding.statics[node]) for node in nodes if node in binding.statics}
    entries = tuple(tuple(number[node] for node in output.nodes) for output in graph.outputs)
    return Expansion(replace(binding, graph=values), entries)


# Programs that are kept from the estimate of their running time until the code of one of them is written.
#
# Lowering a graph takes a third of both, and the estimate's arguments differ from the kernel's in their order alone.


@dataclass(frozen=True)
class _Estimated:
    """A program and what it was lowered from."""

    program: Program
    binding: Bound
    group: int
    fuse: bool

    def fits(self, binding: Bound, group: int, fuse: bool) -> bool:
        """Would lowering differ in the places of inputs alone? Values of parameters might be others."""
        same_graph = self.binding.graph is binding.graph and self.binding.inputs.keys() == binding.inputs.keys()
        return same_graph and (self.group, self.fuse) == (group, fuse) and not binding.parameters

    def with_inputs_of(self, binding: Bound) -> Program:
        """The program with its inputs where another binding has them."""
        places = {old: binding.inputs[node] for node, old in self.binding.inputs.items()}

        def moved(one: Instruction) -> Instruction:
            return one._replace(detail=places[int(one.detail)]) if one.op is Op.INPUT else one

        return Program(tuple(map(moved, self.program.instructions)), binding.input_size, binding.output_size)


#: Two graphs are compared by their estimates; what is not asked for makes room for the next two.
_programs: deque[_Estimated] = deque(maxlen=2)


def keep(program: Program, binding: Bound, group: int, fuse: bool) -> None:
    """Keep a program for whoever writes its code."""
    if not binding.parameters:
        _programs.append(_Estimated(program, binding, group, fuse))


def take(binding: Bound, group: int, fuse: bool) -> Program | None:
    """The program of a bound graph if it is kept; from then on none is."""
    found = next((one for one in tuple(_programs) if one.fits(binding, group, fuse)), None)
    if found is None:
        return None
    _programs.clear()
    return found.with_inputs_of(binding)


# Whole LLVM modules: the scalar kernel with its C interface, and the batch kernel.

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
    entry = _scalar_entry(size, Scratch(lanes, scratch), _widest(program))
    return _module(program, emission, widths, *_lookups(program, lanes), bodies, entry)


def batch_module(binding: Bound, emission: Emission) -> str:
    """`kinegraph_batch`, which computes many states; see `batch.batch_function`."""
    if emission.tail:
        computed, entries = binding, _in_order(emission.tail.results(binding.graph))
    else:
        computed, entries = expansion(binding)
    program = lower(computed, group=1, fuse=emission.fused)
    lanes, rows = Lanes(emission.lanes), _rows(binding, program)
    parts, early = _early(binding, program)
    chunks = _cut(emission, parts[-1])
    bodies, scratch = _bodies(emission, binding.graph, parts[-1], chunks, lanes)
    if len(parts) > 1:
        first = _cut(emission, parts[0])
        bodies += "\n" + body_functions(parts[0], first, lanes, name="early")
        scratch = max(scratch, first.scratch_size)
    entry = batch_function(lanes, rows, entries, scratch, early)
    further = [*_library_functions(program, lanes), *_lookups(program, lanes)]
    return _module(program, emission, {emission.lanes}, *further, bodies, entry)


def _early(binding: Bound, program: Program) -> tuple[tuple[Program, ...], Early | None]:
    """A program split at what depends on run-time parameters alone, if they are arguments and anything does."""
    start = 0
    for number, argument in enumerate(binding.arguments):
        size = len(argument.symbols)
        if size and all(one.kind is Kind.PARAMETER for one in argument.symbols):
            found = split(program, range(start, start + size))
            if found is None:
                return (program,), Early(number, 0)
            return found, Early(number, found.early.output_size)
        start += size
    return (program,), None


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
    if program.signs:
        sines += [sign_of_sine_function(Lanes(width), emission.fused) for width in sorted(widths)]
    return "\n".join(
        [library_declarations() + HEAP_DECLARATIONS + PREFETCH_DECLARATION, *sines, *functions, _ATTRIBUTES]
    )


def _lookups(program: Program, lanes: Lanes) -> list[str]:
    """The tables of a program, each once, for the lanes in which they are used."""
    widths: dict[str, set[int]] = {}
    for index, one in enumerate(program.instructions):
        if one.op is Op.FUNCTION and is_lookup(str(one.detail)):
            width = program.width(index) if program.widths else lanes.count
            widths.setdefault(str(one.detail), set()).add(width)
    return [lookup_functions(name, sorted(found)) for name, found in widths.items()]


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
