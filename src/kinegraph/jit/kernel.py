"""Compile a graph to a kernel: bind its symbols, generate code or take it from the cache, load it."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kinegraph import codegen
from kinegraph.codegen import llvm
from kinegraph.codegen.kernel import (
    Code,
    Doubles,
    Kernel,
    Outputs,
    Recipe,
    Result,
    addresses,
    batch_rows,
    refuse_zero_quaternions,
    result_arrays,
    vector,
)
from kinegraph.codegen.program.binding import (
    BATCH_ENTRY,
    SCALAR_ENTRY,
    Argument,
    BackSubstitution,
    Bound,
    Emission,
    Exchange,
    ParameterValue,
    bind,
)
from kinegraph.errors import KernelError
from kinegraph.graph import text
from kinegraph.graph.certificate import WholeProof
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit import cache as disk
from kinegraph.jit.builtin_call import BuiltinCall, Signature, call_of_one, call_of_rows
from kinegraph.jit.cache import digest
from kinegraph.jit.engine import LoadedCode, Target, assembly, host, object_code, versions
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.version import __version__

if TYPE_CHECKING:
    from kinegraph.codegen.program.instructions import Program


@dataclass(frozen=True)
class KernelOptions:
    """Options of compilation.

    lanes: number of states a batch computes in parallel vector lanes, a power of two; None: the fastest on this
    processor. chunk: approximate number of operations in one generated function; None: the fastest.
    cache: keep compiled code on disk.
    side_by_side: compute limbs of equal structure (two arms, four legs) in vector lanes if that is faster.
    threads: number of threads of a batch; None: all cores.
    """

    lanes: int | None = None
    chunk: int | None = None
    cache: bool = True
    threads: int | None = None
    side_by_side: bool = True

    def __post_init__(self) -> None:
        if self.lanes is not None and not (_is_integer(self.lanes) and self.lanes in (2, 4, 8, 16)):
            raise KernelError(f"lanes is {self.lanes!r}: give 2, 4, 8 or 16, or None for the fastest on this processor")
        if self.chunk is not None and not (_is_integer(self.chunk) and self.chunk >= 10):
            raise KernelError(f"chunk is {self.chunk!r}: give at least 10 operations, or None for the fastest")
        if self.threads is not None and not (_is_integer(self.threads) and self.threads >= 1):
            raise KernelError(f"threads is {self.threads!r}: give at least 1, or None for all cores")
        for name in ("cache", "side_by_side"):
            if not isinstance(getattr(self, name), bool):
                raise KernelError(f"{name} is {getattr(self, name)!r}: give True or False")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def options_of(options: KernelOptions | None) -> KernelOptions:
    """The given options, or the defaults."""
    if options is None:
        return KernelOptions()
    if not isinstance(options, KernelOptions):
        raise KernelError(f"options is {options!r:.80}: give KernelOptions, such as KernelOptions(threads=2)")
    return options


@dataclass(frozen=True)
class BuildReport:
    """Seconds to write, compile and load one function; `cached`: the code came from disk."""

    emit: float
    compile: float
    load: float
    cached: bool

    @property
    def seconds(self) -> float:
        """The total in seconds."""
        return self.emit + self.compile + self.load


@dataclass(frozen=True)
class Source:
    """Everything that the code of a kernel depends on."""

    binding: Bound
    emission: Emission
    target: Target

    @cached_property
    def identity(self) -> str:
        """The digest of all fields and versions, for the cache."""
        binding = self.binding
        return digest(
            text.dump(binding.graph),
            binding.arguments,
            binding.parameters,
            self.emission,
            self.target,
            versions(),
            _emitter_version(),
        )

    def text(self, entry: str) -> str:
        """The LLVM assembly of the function `entry`."""
        return llvm.module_text(entry, self.binding, self.emission)

    def build(self, entry: str, use_cache: bool) -> tuple[LoadedCode, BuildReport]:
        """The loaded function `entry`, from the cache if possible."""
        started = time.perf_counter()
        name = f"{entry}-{self.identity}" if use_cache else ""
        code = disk.load(name) if use_cache else None
        cached = code is not None
        emitted = compiled = time.perf_counter()
        if code is None:
            written = self.text(entry)
            emitted = time.perf_counter()
            code = object_code(written, self.target)
            compiled = time.perf_counter()
            if use_cache:
                disk.save(name, code)
        loaded = LoadedCode(code, entry)
        done = time.perf_counter()
        return loaded, BuildReport(emitted - started, compiled - emitted, done - compiled, cached)


@cache
def _emitter_version() -> str:
    """The package's version and a digest of the code generators."""
    return f"kinegraph {__version__} {disk.sources_digest(Path(codegen.__file__).parent)}"


_SCALAR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_FLOAT64 = np.dtype(np.float64)
_BLOCK_OPERATIONS = 2_000_000
_FUNCTION_WEIGHT = 20

#: Fewer blocks than this are computed by one thread: to start another takes longer than it saves.
_WORTH_THREADS = 4

#: Blocks of a large batch: at least so many for each thread, and at most so many times as long as those of a small one.
_BLOCKS_PER_THREAD, _LONGEST_BLOCK = 4, 16

#: Longer code, of some 10 us, is called through ctypes, which lets other threads run meanwhile.
_LONGEST_BUILTIN = 50_000


class StraightKernel(Kernel):
    """A graph as straight-line machine code, for one state or a batch of states.

    `address` is a C function `void f(const double *x, double *y)` for compiled callers: x holds all arguments end to
    end, y receives all outputs; they must not overlap. The function is thread-safe: intermediate values are on the
    stack or, above 64 KiB, in memory allocated for each call (if allocation fails, the outputs are NaN). The address is
    valid as long as the kernel exists.
    """

    form = "straight"
    operations: Operations

    def __init__(
        self,
        source: Source,
        for_batches: Source,
        options: KernelOptions,
        code: LoadedCode,
        report: BuildReport,
        recipe: Recipe,
        proof: WholeProof | None = None,
    ) -> None:
        binding, emission = source.binding, source.emission
        self.proof = proof
        self.binding = binding
        self.options = options
        self.report = report
        self.graph = binding.graph
        self.arguments = binding.arguments
        self.tail, self.exchange = emission.tail, emission.exchange
        self.outputs = tuple(Result(output.name, output.shape) for output in emission.results(binding.graph))
        self.operations = count(binding.graph) + (self.tail.operations() if self.tail else Operations())
        self._source, self._code, self._recipe = source, code, recipe
        self._for_batches = for_batches
        self._address = code.address(SCALAR_ENTRY)
        self._function = _SCALAR(self._address)
        self._workspace = _Workspace(binding, self.output_size)
        self._builtin: BuiltinCall = self._first_call
        self._batch: _BatchFunction | None = None
        self._batch_lock = threading.Lock()

    @property
    def recipe(self) -> Recipe:
        return self._recipe

    @property
    def address(self) -> int:
        return self._address

    @property
    def code(self) -> Code:
        return self._address

    # calling

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The outputs for one state: an array, or a dict of arrays by name if there are several outputs."""
        y = None if named else self._builtin(*values)
        if y is None:
            y = self._converted(*values, **named)
        return y if len(self.outputs) == 1 else self._parts(y)

    def _first_call(self, *values: ArrayLike) -> Doubles | None:
        """Make the built-in function, if there can be one, and call it."""
        size = self.operations.total + _FUNCTION_WEIGHT * (self.operations.sin + self.operations.cos)
        made = call_of_one(self._address, self._signature) if size < _LONGEST_BUILTIN else None
        self._builtin = made or _needs_conversion
        found: Doubles | None = self._builtin(*values)
        return found

    @property
    def _signature(self) -> Signature:
        sizes = tuple(len(argument.symbols) for argument in self.arguments)
        begins = accumulate(sizes, initial=0)
        turned = tuple(k + q for k, one in zip(begins, self.arguments, strict=False) for q in one.quaternions)
        return Signature(sizes, self.outputs[0].shape if len(self.outputs) == 1 else (self.output_size,), turned)

    def _converted(self, *values: ArrayLike, **named: ArrayLike) -> Doubles:
        """The outputs for arguments of any kind, each made an array of doubles or refused; the reference."""
        if named or len(values) != len(self.arguments):
            values = self.arranged(values, named)
        space = self._workspace
        for number, value in enumerate(values):
            view = space.views[number]
            if type(value) is not np.ndarray or value.dtype is not _FLOAT64 or value.shape != view.shape:
                value = vector(self.arguments[number], value)
            view[...] = value
            if self.arguments[number].quaternions:
                refuse_zero_quaternions(self.arguments[number], view)
        self._function(space.x_address, space.y_address)
        y = space.y.copy()
        return y.reshape(self.outputs[0].shape) if len(self.outputs) == 1 else y

    def _parts(self, y: Doubles) -> dict[str, Doubles]:
        """All outputs, which follow each other, by name."""
        parts = zip(self.outputs, _split(y, self.outputs), strict=True)
        return {output.name: part.reshape(output.shape) for output, part in parts}

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The outputs for a batch of states, computed on all cores.

        Each argument has shape (n, k), or (k,) if it is the same for all states. An argument of one symbol may have
        shape (n,) or be a number. Outputs have shape (n, ...). The first call compiles the batch code.

        out: the result of an earlier call, to be overwritten. Allocating memory for large results takes as long as
        computing them.
        """
        function = self._batch or self._batch_function()
        found = None if named else function.builtin(*values) if out is None else function.builtin(*values, out)
        if found is not None:
            return found
        if named or len(values) != len(self.arguments):
            values = self.arranged(values, named)
        rows, inputs = batch_rows(self.arguments, values)
        arrays = [one.array for one in inputs]
        shapes = [(output.name, (rows, *output.shape)) for output in self.outputs]
        results = result_arrays(shapes, out, arrays)
        strides = (ctypes.c_int64 * len(inputs))(*[one.stride for one in inputs])
        tables = addresses(arrays), strides, addresses(results)
        block = function.block_of(rows)
        for_blocks(lambda first, last: function.call(first, last, *tables), rows, block, function.threads)
        if len(results) == 1:
            return results[0]
        return {output.name: array for output, array in zip(self.outputs, results, strict=True)}

    def _batch_function(self) -> _BatchFunction:
        with self._batch_lock:
            if self._batch is None:
                code, report = self._for_batches.build(BATCH_ENTRY, self.options.cache)
                self._batch = _BatchFunction(code, report, self)
            return self._batch

    # inspection

    @property
    def batch_address(self) -> int:
        """The batch code as a C function for compiled callers; the first use compiles it.

        `void f(int64_t first, int64_t last, double *const *arguments, const int64_t *strides, double *const
        *results)` computes the states first <= i < last. State i of argument k begins strides[k] * i doubles behind
        arguments[k], states of a result follow each other without gaps.
        """
        return self._batch_function().code.address(BATCH_ENTRY)

    @property
    def seconds(self) -> float:
        """Seconds to compile or load the scalar code, and the batch code if it was used."""
        return self.report.seconds + (self._batch.report.seconds if self._batch else 0.0)

    @property
    def lanes(self) -> int:
        """The number of states that a batch computes in parallel lanes."""
        return self._source.emission.lanes

    @property
    def program(self) -> Program:
        """The instructions of one call, in the order they are computed."""
        return llvm.scalar_program(self.binding, self._source.emission)

    @property
    def ir(self) -> str:
        """The scalar code as LLVM assembly, before LLVM's passes."""
        return self._source.text(SCALAR_ENTRY)

    @property
    def batch_ir(self) -> str:
        """The batch code as LLVM assembly, before LLVM's passes."""
        return self._for_batches.text(BATCH_ENTRY)

    def assembly(self, batch: bool = False) -> str:
        """The machine code as text."""
        return assembly(self.batch_ir if batch else self.ir, self._source.target)


class _Workspace(threading.local):
    """Arrays for arguments and outputs, allocated once per thread to save time."""

    def __init__(self, binding: Bound, output_size: int) -> None:
        self.x: Doubles = np.zeros(max(binding.input_size, 1))
        self.y: Doubles = np.zeros(output_size)
        self.x_address = self.x.ctypes.data
        self.y_address = self.y.ctypes.data
        self.views: list[Doubles] = []
        start = 0
        for argument in binding.arguments:
            self.views.append(self.x[start : start + len(argument.symbols)])
            start += len(argument.symbols)


class _BatchFunction:
    """The batch code, and the size of the blocks that threads compute."""

    def __init__(self, code: LoadedCode, report: BuildReport, kernel: StraightKernel) -> None:
        self.code = code
        self.report = report
        self.call = _BATCH(code.address(BATCH_ENTRY))
        self.threads = kernel.options.threads or cores()
        operations = kernel.operations
        functions = operations.sin + operations.cos + operations.div + operations.sqrt + operations.other
        weight = operations.total + _FUNCTION_WEIGHT * functions + kernel.input_size + kernel.output_size
        self.block = max(_BLOCK_OPERATIONS // max(weight, 1) // kernel.lanes, 1) * kernel.lanes
        address, single = code.address(BATCH_ENTRY), len(kernel.outputs) == 1
        made = call_of_rows(address, kernel._signature, self._alone) if single else None
        self.builtin: BuiltinCall = made or _needs_conversion

    @property
    def _alone(self) -> int:
        """So many states are computed sooner by one thread than by several."""
        return self.block * (_WORTH_THREADS if self.threads > 1 else _LONGEST_BLOCK)

    def block_of(self, rows: int) -> int:
        """The states of one block: some for each thread, so that all end together."""
        blocks = min(max(rows // (_BLOCKS_PER_THREAD * self.threads * self.block), 1), _LONGEST_BLOCK)
        return blocks * self.block


def _needs_conversion(*values: ArrayLike) -> None:
    """In place of a built-in function where there is none."""


def _split(y: Doubles, outputs: Sequence[Result]) -> list[Doubles]:
    ends = accumulate(output.size for output in outputs)
    return [y[end - output.size : end] for output, end in zip(outputs, ends, strict=True)]


def compile_graph(
    graph: Graph,
    arguments: Sequence[Argument],
    parameters: Mapping[str, ParameterValue] | None = None,
    options: KernelOptions | None = None,
    tail: BackSubstitution | None = None,
    exchange: Exchange = (),
    proof: WholeProof | None = None,
    for_batches: Graph | None = None,
) -> StraightKernel:
    """Compile a graph to machine code, with the back-substitution that comes after it, if any.

    proof: what the graph was proved equal to; None if its origin is unknown.

    exchange: pairs of symbols, or of node ids, that describe a symmetry of the graph. Nodes that map to each other when
    the pairs are exchanged are computed in parallel lanes in a call for one state.

    for_batches: a graph of the same values with fewer operations, for batches, where lanes are states.

    Every live symbol must occur in an argument or have a value in `parameters`. Nodes that depend only on parameters
    are computed now, in extended precision. KernelError names the missing symbols.
    """
    arriving = {symbol for argument in arguments for symbol in argument.symbols}
    for one, other in exchange:
        if isinstance(one, Symbol) and isinstance(other, Symbol) and (one in arriving) != (other in arriving):
            raise KernelError(f"{one.name!r} and {other.name!r} are exchanged, but only one of them is an argument")
    binding = bind(graph, arguments, parameters or {})
    batches = None if for_batches is None else bind(for_batches, arguments, {})
    return compile_binding(binding, options_of(options), host(), tail, exchange, proof, batches)


def compile_binding(
    binding: Bound,
    options: KernelOptions,
    target: Target,
    tail: BackSubstitution | None = None,
    exchange: Exchange = (),
    proof: WholeProof | None = None,
    batches: Bound | None = None,
) -> StraightKernel:
    """Compile a bound graph for a processor, or take its code from the cache, and load it."""
    exchanged = exchange if options.side_by_side else ()
    emission = Emission(options.lanes or target.lanes, options.chunk, target.fused, tail, exchanged)
    source = Source(binding, emission, target)
    code, report = source.build(SCALAR_ENTRY, options.cache)
    parameters = dict(binding.parameters)
    given = (binding.graph, binding.arguments, parameters, options, tail, exchanged, proof)
    recipe = compile_graph, (*given, None if batches is None else batches.graph)
    for_batches = source if batches is None else Source(batches, emission, target)
    return StraightKernel(source, for_batches, options, code, report, recipe, proof)
