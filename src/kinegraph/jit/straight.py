"""Kernels of code that is written out straight: calls of one state and of many."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen import llvm
from kinegraph.codegen.arrays import Doubles, addresses, batch_rows, result_arrays, vector
from kinegraph.codegen.kernel import Code, Kernel, Outputs, Recipe, Result
from kinegraph.codegen.llvm.emission import BATCH_ENTRY, SCALAR_ENTRY
from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.zero_quaternions import refuse_zero_quaternions
from kinegraph.graph.count import Operations, count
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.jit.build import BuildReport, Source
from kinegraph.jit.engine import LoadedCode, assembly
from kinegraph.jit.options import KernelOptions
from kinegraph.jit.parallel import cores, for_blocks

if TYPE_CHECKING:
    from kinegraph.codegen.program.program import Program

_SCALAR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_FLOAT64 = np.dtype(np.float64)
_BLOCK_OPERATIONS = 2_000_000
_FUNCTION_WEIGHT = 20


class StraightKernel(Kernel):
    """A graph as code that is written out straight, loaded and ready to be called.

    `address` is a C function `void f(const double *x, double *y)` for compiled callers: x holds all arguments end to
    end, y receives all outputs; they must not overlap. It may be called from any number of threads: intermediate
    values are on the stack, or, beyond 64 KiB, in memory taken and given back in each call (if there is none, the
    outputs are NaN). The address is valid as long as the kernel exists.
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
        outputs = self.outputs
        if len(outputs) == 1:
            return y if len(outputs[0].shape) == 1 else y.reshape(outputs[0].shape)
        parts = zip(outputs, _split(y, outputs), strict=True)
        return {output.name: part.reshape(output.shape) for output, part in parts}

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The outputs for many states, computed on all cores.

        Each argument has shape (n, k), or (k,) if it is the same for all states; an argument of one symbol may have
        shape (n,) or be a number. Outputs have shape (n, ...). The first call compiles the batch code.

        `out` is what an earlier call returned, to be written again: getting memory for large results from the
        system takes as long as computing them.
        """
        if named or len(values) != len(self.arguments):
            values = self.arranged(values, named)
        rows, inputs = batch_rows(self.arguments, values)
        arrays = [one.array for one in inputs]
        shapes = [(output.name, (rows, *output.shape)) for output in self.outputs]
        results = result_arrays(shapes, out, arrays)
        strides = (ctypes.c_int64 * len(inputs))(*[one.stride for one in inputs])
        tables = addresses(arrays), strides, addresses(results)
        function = self._batch_function()
        for_blocks(lambda first, last: function.call(first, last, *tables), rows, function.block, function.threads)
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
        return llvm.scalar_program(self.binding, self._source.emission)

    @property
    def ir(self) -> str:
        """The scalar code as LLVM assembly, as it was written."""
        return self._source.text(SCALAR_ENTRY)

    @property
    def batch_ir(self) -> str:
        """The batch code as LLVM assembly, as it was written."""
        return self._for_batches.text(BATCH_ENTRY)

    def assembly(self, batch: bool = False) -> str:
        """The machine code as text."""
        return assembly(self.batch_ir if batch else self.ir, self._source.target)


class _Workspace(threading.local):
    """Where a thread puts a state and finds the outputs; made once per thread, for allocating takes longer."""

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
    """The batch code and how its work is shared out."""

    def __init__(self, code: LoadedCode, report: BuildReport, kernel: StraightKernel) -> None:
        self.code = code
        self.report = report
        self.call = _BATCH(code.address(BATCH_ENTRY))
        self.threads = kernel.options.threads or cores()
        operations = kernel.operations
        functions = operations.sin + operations.cos + operations.div + operations.sqrt + operations.other
        weight = operations.total + _FUNCTION_WEIGHT * functions + kernel.input_size + kernel.output_size
        self.block = max(_BLOCK_OPERATIONS // max(weight, 1) // kernel.lanes, 1) * kernel.lanes


def _split(y: Doubles, outputs: Sequence[Result]) -> list[Doubles]:
    ends = accumulate(output.size for output in outputs)
    return [y[end - output.size : end] for output, end in zip(outputs, ends, strict=True)]
