"""From a chosen graph to a kernel: its symbols bound to arguments and numbers, its code loaded.

Chosen -> Bound -> Kernel (`jit.kernel.compile_graph` binds and loads)
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.request import Quantities, Request, arguments_of
from kinegraph.compiler.stage_records import TargetFeatures
from kinegraph.compiler.stored import chosen
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit.kernel import KernelOptions, StraightKernel, compile_graph, options_of
from kinegraph.jit.sparse import SparseKernel, without_zeros
from kinegraph.model.mechanism import Mechanism


def straight_kernel(
    request: Request, runtime: Sequence[str] = (), options: KernelOptions | None = None
) -> StraightKernel:
    """A request, its closure resolved, as code that is written out straight; `runtime` are its parameters p."""
    options = options_of(options)
    source = chosen(request, TargetFeatures(options.side_by_side, solving_loops=True), runtime, options.cache)
    arguments = arguments_of(request.mechanism, request.quantities, runtime)
    return compile_graph(
        source.graph, arguments, source.numbers, options, source.tail, source.exchange, source.proof, source.for_batches
    )


def sparse_kernel(request: Request, runtime: Sequence[str] = (), options: KernelOptions | None = None) -> SparseKernel:
    """The matrices of a request as code that computes only entries that can differ from zero."""
    options = options_of(options)
    source = chosen(request, TargetFeatures(options.side_by_side), runtime, options.cache)
    graph, patterns = without_zeros(source.graph)
    arguments = arguments_of(request.mechanism, request.quantities, runtime)
    exchange = tuple(pair for pair in source.exchange if isinstance(pair[0], Symbol))  # nodes are no longer the same
    kernel = compile_graph(graph, arguments, source.numbers, options, exchange=exchange, proof=source.proof)
    return SparseKernel(kernel, patterns)


def recursive_kernel(request: Request) -> Kernel:
    """A request computed by recursive algorithms over the bodies."""
    from kinegraph.recursive.kernel import RecursiveKernel  # large mechanisms only

    arguments = arguments_of(request.mechanism, request.quantities)
    names = [quantity.name for quantity in request.quantities]
    return RecursiveKernel(request.mechanism, names, arguments, request.parameters)


def kernel_of(
    mechanism: Mechanism,
    graph: Graph,
    quantities: Quantities,
    runtime: Sequence[str] = (),
    options: KernelOptions | None = None,
) -> StraightKernel:
    """Machine code for a graph of a mechanism's quantities."""
    return compile_graph(graph, arguments_of(mechanism, quantities, runtime), options=options)
