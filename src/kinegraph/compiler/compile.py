"""The contents page: load -> derive -> reduce -> choose -> bind -> load code.

A `Request` says what is asked for; a `Chain` leads from it to the graphs Derived, Reduced and Chosen, each a frozen
record; `jit` binds and loads the last as a kernel. Where these stages are in the package: docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.chain import Chain, chain_of
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.records import Means
from kinegraph.compiler.request import Parameters, Quantities, Request, arguments_of, request_of, runtime_names
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Looped
from kinegraph.derive.quantities.table import TABLE
from kinegraph.errors import KernelError
from kinegraph.graph.node import Graph, Symbol
from kinegraph.jit.kernel import KernelOptions, StraightKernel, compile_graph, options_of
from kinegraph.jit.sparse import SparseKernel, without_zeros
from kinegraph.model.constraints import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort

#: Beyond this many velocities code is no longer written out straight: loops compile at once and run as fast.
LARGE = 300


def derive(
    model: MechanismSource,
    quantities: Quantities,
    *,
    numeric: bool = False,
    parameters: Parameters | None = None,
    effort: Effort | str = Effort.QUICK,
    closed_legs: bool = True,
    closure: Closure | str = Closure.MULTIPLIERS,
) -> Graph:
    """Derive exact equations as a graph. Parameters stay symbols unless `numeric` or named in `parameters`.

    model: a Mechanism, a path, or a library name. quantities: words such as "H,gravity"; see docs/quantities.md.
    numeric: use the model's parameter values. parameters: values of chosen parameters.
    effort: how hard to reduce: quick, normal or search.
    closed_legs: solve the legs of platforms in closed form; without it they are loops like any others.
    closure: how to close loops: multipliers, partition, closed-form or fastest (see docs/closed-loops.md).
    """
    mechanism = mechanism_of(model)
    request = request_of(
        mechanism, quantities, numeric=numeric, parameters=parameters, effort=effort, closed_legs=closed_legs,
        closure=closure,
    )  # fmt: skip
    return chain_of(request).derived.graph


def compile(
    model: MechanismSource,
    quantities: Quantities,
    *,
    parameters: Parameters | None = None,
    runtime: str | Sequence[str] = (),
    effort: Effort | str = Effort.QUICK,
    options: KernelOptions | None = None,
    loops: bool | None = None,
    sparse: bool = False,
    closed_legs: bool = True,
    closure: Closure | str = Closure.MULTIPLIERS,
    passes: str = "",
) -> Kernel:
    """Compile quantities of a mechanism to a kernel, a function of NumPy arrays.

    model: a Mechanism, a path, or a library name. quantities: words such as "tau,energy"; see docs/quantities.md.
    parameters: values that replace the model's. runtime: names of parameters that become the kernel's last argument p.
    effort: how hard to reduce: quick, normal or search. options: threads, lanes, cache of the kernel.
    loops: use recursive algorithms over bodies; None uses them for more than LARGE joints where possible.
    sparse: for matrices of branched trees (H, derivatives): return SciPy sparse arrays without structural zeros.
    closed_legs: solve the legs of platforms in closed form; without it they are loops like any others.
    closure: how to close loops: multipliers, partition, closed-form or fastest (see docs/closed-loops.md).
    passes: run these passes instead of those of the effort: 'products, monomials(degree=4)'.
    """
    mechanism, options = mechanism_of(model), options_of(options)
    runtime = runtime_names(mechanism, runtime)
    request = request_of(
        mechanism, quantities, numeric=True, parameters=parameters, runtime=runtime, effort=effort,
        closed_legs=closed_legs, closure=closure, passes=passes,
    )  # fmt: skip
    if not sparse and uses_loops(request, runtime, loops):
        return _looped(request)
    if sparse and loops:
        raise KernelError("loops do not make sparse matrices: compile with loops=False")
    chain = chain_of(request, runtime, options.cache)
    return sparse_kernel(chain, runtime, options) if sparse else straight_kernel(chain, runtime, options)


def sparse_kernel(chain: Chain, runtime: Sequence[str], options: KernelOptions) -> SparseKernel:
    """The matrices of a request as code that computes only what can differ from zero."""
    chosen = chain.chosen(Means(options.side_by_side), runtime)
    graph, patterns = without_zeros(chosen.graph)
    arguments = arguments_of(chain.request.mechanism, chain.request.quantities, runtime)
    exchange = tuple(pair for pair in chosen.exchange if isinstance(pair[0], Symbol))  # nodes are no longer the same
    kernel = compile_graph(graph, arguments, chosen.numbers, options, exchange=exchange, proof=chosen.proof)
    return SparseKernel(kernel, patterns)


def straight_kernel(chain: Chain, runtime: Sequence[str] = (), options: KernelOptions | None = None) -> StraightKernel:
    """The chosen graph of a request as code that is written out straight; `runtime` are its parameters p."""
    options = options_of(options)
    chosen = chain.chosen(Means(options.side_by_side, solving_loops=True), runtime)
    arguments = arguments_of(chain.request.mechanism, chain.request.quantities, runtime)
    return compile_graph(
        chosen.graph, arguments, chosen.numbers, options, chosen.tail, chosen.exchange, chosen.proof, chosen.for_batches
    )


def uses_loops(request: Request, runtime: Sequence[str] = (), loops: bool | None = None) -> bool:
    """Whether `compile` computes a request by loops over bodies; `loops` forces one or the other."""
    usual = request.closure in (Closure.MULTIPLIERS, Closure.FASTEST)
    looped = all(_is_looped(quantity, request.mechanism) for quantity in request.quantities)
    possible = usual and looped and not runtime and not request.passes
    if loops and not possible:
        names = ", ".join(record.name for record in TABLE if _kind(request.mechanism) in record.looped)
        raise KernelError(f"loops compute {names} only, all parameters bound, without passes: compile with loops=False")
    if loops is not None:
        return loops
    return possible and not request.mechanism.elements and len(request.mechanism.layout.velocities) > LARGE


def _is_looped(quantity: Quantity, mechanism: Mechanism) -> bool:
    """Whether loops over bodies compute a quantity, of a mechanism that is built so."""
    if quantity.by:
        return False
    return _kind(mechanism) in quantity.record.looped


def _kind(mechanism: Mechanism) -> Looped:
    return Looped.CLOSED_LOOPS if is_constrained(mechanism) else Looped.TREES


def _looped(request: Request) -> Kernel:
    from kinegraph.recursive.kernel import RecursiveKernel

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
