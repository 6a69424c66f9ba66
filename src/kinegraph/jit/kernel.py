"""From a graph to a kernel: bind its symbols, write and compile its code or take it from the cache, load it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.llvm.emission import SCALAR_ENTRY, Emission, Exchange
from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.codegen.program.binding import Argument, Bound, ParameterValue, bind
from kinegraph.errors import KernelError
from kinegraph.graph.node import Graph, Symbol
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.jit.build import Source
from kinegraph.jit.options import KernelOptions, options_of
from kinegraph.jit.straight import StraightKernel
from kinegraph.jit.target import Target, host

__all__ = ["Argument", "Kernel", "KernelOptions", "compile_binding", "compile_graph", "options_of"]


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

    `proof` says what the graph was proved equal to; None: nothing is known of where it came from.

    `exchange` are pairs of symbols, or of nodes by their ids: what goes over into each other when every first is
    exchanged for its second is computed side by side when the kernel is called for one state. `for_batches` is a graph
    of the same values with fewer operations, for batches, whose lanes are states.

    Every live symbol must stand in an argument, or have a value in `parameters`; what depends on parameters alone is
    computed now, in extended precision. Raises KernelError naming what is missing.
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
