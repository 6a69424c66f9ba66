"""Kernels: compiled graphs that are called with arrays."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from kinegraph.codegen.llvm.module import BATCH_ENTRY, SCALAR_ENTRY, Emission, Exchange, batch_module, scalar_module
from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.codegen.program.binding import Argument, Binding, ParameterValue, bind
from kinegraph.codegen.program.program import Program
from kinegraph.codegen.program.zero_quaternions import refuse_zero_quaternions
from kinegraph.errors import KernelError
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.jit.arrays import Doubles, batch_rows, result_arrays, vector
from kinegraph.jit.build import BuildReport, Source
from kinegraph.jit.engine import LoadedCode, assembly
from kinegraph.jit.parallel import cores, for_blocks
from kinegraph.jit.target import Target, host

__all__ = ["Argument", "Kernel", "KernelOptions", "compile_graph"]

_SCALAR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_FLOAT64 = np.dtype(np.float64)
_BLOCK_OPERATIONS = 2_000_000
_FUNCTION_WEIGHT = 20


@dataclass(frozen=True)
class KernelOptions:
    """How a kernel is compiled.

    lanes: states a batch computes side by side, a power of two; None takes what is fastest on this processor.
    chunk: about how many operations one function of the generated code holds; None takes what runs fastest.
    cache: keep compiled code on disk.
    side_by_side: compute limbs of one shape (two arms, four legs) in the lanes of vectors where that is faster.
    threads: how many threads a batch uses; None takes all cores.
    """

    lanes: int | None = None
    chunk: int | None = None
    cache: bool = True
    threads: int | None = None
    side_by_side: bool = True

    def __post_init__(self) -> None:
        if self.lanes is not None and not (_is_whole(self.lanes) and self.lanes in (2, 4, 8, 16)):
            raise KernelError(f"lanes is {self.lanes!r}: give 2, 4, 8 or 16, or None for this processor's best")
        if self.chunk is not None and not (_is_whole(self.chunk) and self.chunk >= 10):
            raise KernelError(f"chunk is {self.chunk!r}: give at least 10 operations, or None for what runs fastest")
        if self.threads is not None and not (_is_whole(self.threads) and self.threads >= 1):
            raise KernelError(f"threads is {self.threads!r}: give at least 1, or None for all cores")
        for name in ("cache", "side_by_side"):
            if not isinstance(getattr(self, name), bool):
                raise KernelError(f"{name} is {getattr(self, name)!r}: give True or False")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def options_of(options: KernelOptions | None) -> KernelOptions:
    """The options given, or the usual ones."""
    if options is None:
        return KernelOptions()
    if not isinstance(options, KernelOptions):
        raise KernelError(f"options is {options!r:.80}: give KernelOptions, such as KernelOptions(threads=2)")
    return options


def compile_graph(
    graph: Graph,
    arguments: Sequence[Argument],
    parameters: Mapping[str, ParameterValue] | None = None,
    options: KernelOptions | None = None,
    tail: BackSubstitution | None = None,
    exchange: Exchange = (),
    proof: WholeProof | None = None,
) -> Kernel:
    """Compile a graph to machine code, with the back-substitution that comes after it, if any.

    `proof` says what the graph was proved equal to; None: nothing is known of where it came from.

    `exchange` are pairs of symbols: what goes over into each other when every first is exchanged for its second is
    computed side by side when the kernel is called for one state.

    Every live symbol must stand in an argument, or have a value in `parameters`; what depends on parameters alone is
    computed now, in extended precision. Raises KernelError naming what is missing.
    """
    arriving = {symbol for argument in arguments for symbol in argument.symbols}
    for one, other in exchange:
        if (one in arriving) != (other in arriving):
            raise KernelError(f"{one.name!r} and {other.name!r} are exchanged, but only one of them is an argument")
    return Kernel(bind(graph, arguments, parameters or {}), options_of(options), host(), tail, exchange, proof)


class Kernel:
    """A compiled graph.

    `kernel(q, v, a)` takes one state, positionally or by argument name, and returns an array, or a dict of arrays by
    name if the graph has several outputs. `kernel.batch(q, v, a)` takes many states. Quaternions must have unit length;
    one of zeros is refused.

    `address` is a C function `void f(const double *x, double *y)` for compiled callers: x holds all arguments end to
    end, y receives all outputs; they must not overlap. It may be called from any number of threads: intermediate
    values are on the stack, or, beyond 64 KiB, in memory taken and given back in each call (if there is none, the
    outputs are NaN). The address is valid as long as the kernel exists.

    `proof` is the record of what the graph was proved equal to; None for a graph of unknown origin.
    """

    def __init__(
        self,
        binding: Binding,
        options: KernelOptions,
        target: Target,
        tail: BackSubstitution | None = None,
        exchange: Exchange = (),
        proof: WholeProof | None = None,
    ) -> None:
        self.proof = proof
        self.binding = binding
        self.options = options
        self.graph = binding.graph
        self.arguments = binding.arguments
        self.input_size = binding.input_size
        self.tail = tail
        self.exchange = exchange if options.side_by_side else ()
        emission = Emission(options.lanes or target.lanes, options.chunk, target.fused, tail, self.exchange)
        self.outputs = emission.results(binding.graph)
        self.output_size = sum(len(output.nodes) for output in self.outputs)
        self.operations: Operations = count(binding.graph) + (tail.operations() if tail else Operations())
        self._source = Source(binding, emission, target)
        self._code, self.report = self._source.build(scalar_module, SCALAR_ENTRY, options.cache)
        self.address = self._code.address(SCALAR_ENTRY)
        self._function = _SCALAR(self.address)
        self._workspace = _Workspace(binding, self.output_size)
        self._batch: _BatchFunction | None = None
        self._batch_lock = threading.Lock()

    def __repr__(self) -> str:
        arguments = ", ".join(f"{one.name}[{len(one.symbols)}]" for one in self.arguments)
        outputs = ", ".join(f"{one.name}{list(one.shape)}" for one in self.outputs)
        return f"<Kernel ({arguments}) -> {outputs}: {self.operations}>"

    def __reduce__(self) -> tuple[Any, ...]:
        parameters = dict(self.binding.parameters)
        return compile_graph, (
            self.graph,
            self.arguments,
            parameters,
            self.options,
            self.tail,
            self.exchange,
            self.proof,
        )

    # calling

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The outputs for one state: an array, or a dict of arrays by name if there are several outputs."""
        if named or len(values) != len(self.arguments):
            values = self._arranged(values, named)
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
        outputs = self.outputs
        if len(outputs) == 1:
            return y if len(outputs[0].shape) == 1 else y.reshape(outputs[0].shape)
        parts = zip(outputs, _split(y, outputs), strict=True)
        return {output.name: part.reshape(output.shape) for output, part in parts}

    def batch(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """The outputs for many states, computed on all cores.

        Each argument has shape (n, k), or (k,) if it is the same for all states; an argument of one symbol may have
        shape (n,) or be a number. Outputs have shape (n, ...). The first call compiles the batch code.

        `out` is what an earlier call returned, to be written again: getting memory for large results from the
        system takes as long as computing them.
        """
        if named or len(values) != len(self.arguments):
            values = self._arranged(values, named)
        rows, inputs = batch_rows(self.arguments, values)
        shapes = [(output.name, (rows, *output.shape)) for output in self.outputs]
        results = result_arrays(shapes, out, [one.array for one in inputs])
        strides = (ctypes.c_int64 * len(inputs))(*(one.stride for one in inputs))
        tables = _addresses([one.array for one in inputs]), strides, _addresses(results)
        function = self._batch_function()
        for_blocks(lambda first, last: function.call(first, last, *tables), rows, function.block, function.threads)
        if len(results) == 1:
            return results[0]
        return {output.name: array for output, array in zip(self.outputs, results, strict=True)}

    def _arranged(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        names = [argument.name for argument in self.arguments]
        if len(values) > len(names):
            raise KernelError(f"{len(values)} arguments were given, the kernel takes {len(names)}: {', '.join(names)}")
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names:
                raise KernelError(f"the kernel has no argument {name!r}; it takes {', '.join(names)}")
            if name in given:
                raise KernelError(f"argument {name!r} was given twice, by place and by name: give it once")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise KernelError(f"argument {missing[0]!r} is missing: the kernel takes {', '.join(names)}")
        return tuple(given[name] for name in names)

    def _batch_function(self) -> _BatchFunction:
        with self._batch_lock:
            if self._batch is None:
                code, report = self._source.build(batch_module, BATCH_ENTRY, self.options.cache)
                self._batch = _BatchFunction(code, report, self)
            return self._batch

    # inspection

    @property
    def batch_address(self) -> int:
        """The batch code as a C function for compiled callers; compiles it if nothing has yet.

        `void f(int64_t first, int64_t last, double *const *arguments, const int64_t *strides, double *const
        *results)` computes the states first <= i < last. State i of argument k begins strides[k] * i doubles behind
        arguments[k], states of a result follow each other without gaps.
        """
        return self._batch_function().code.address(BATCH_ENTRY)

    @property
    def seconds(self) -> float:
        """How long compiling or loading the scalar code took, and the batch code if it was used."""
        return self.report.seconds + (self._batch.report.seconds if self._batch else 0.0)

    @property
    def lanes(self) -> int:
        """How many states a batch computes side by side."""
        return self._source.emission.lanes

    @property
    def program(self) -> Program:
        """The instructions of one call, in the order they are computed."""
        return self._source.emission.scalar_program(self.binding)

    @property
    def ir(self) -> str:
        """The scalar code as LLVM assembly, as it was written."""
        return scalar_module(self.binding, self._source.emission)

    @property
    def batch_ir(self) -> str:
        """The batch code as LLVM assembly, as it was written."""
        return batch_module(self.binding, self._source.emission)

    def assembly(self, batch: bool = False) -> str:
        """The machine code as text."""
        return assembly(self.batch_ir if batch else self.ir, self._source.target)


class _Workspace(threading.local):
    """Where a thread puts a state and finds the outputs; made once per thread, for allocating takes longer."""

    def __init__(self, binding: Binding, output_size: int) -> None:
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
    """The batch code and how its work is shared out."""

    def __init__(self, code: LoadedCode, report: BuildReport, kernel: Kernel) -> None:
        self.code = code
        self.report = report
        self.call = _BATCH(code.address(BATCH_ENTRY))
        self.threads = kernel.options.threads or cores()
        operations = kernel.operations
        functions = operations.sin + operations.cos + operations.div + operations.sqrt + operations.other
        weight = operations.total + _FUNCTION_WEIGHT * functions + kernel.input_size + kernel.output_size
        self.block = max(_BLOCK_OPERATIONS // max(weight, 1) // kernel.lanes, 1) * kernel.lanes


def _addresses(arrays: Sequence[Doubles]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.__array_interface__["data"][0] for array in arrays))


def _split(y: Doubles, outputs: Sequence[Output]) -> list[Doubles]:
    ends = accumulate(len(output.nodes) for output in outputs)
    return [y[end - len(output.nodes) : end] for output, end in zip(outputs, ends, strict=True)]
