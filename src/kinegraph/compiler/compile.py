"""The contents page: load a model -> derive -> reduce -> choose -> bind -> load code.

Each stage is one function, each value between two stages a frozen record:

    Request  --derive.derived-->  Derived  --reduce.reduced-->  Reduced  --choose.chosen-->  Chosen  --bind-->  Kernel

`stored` reads each record from disk, or calls the stage that makes it. Where the stages are: docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler import stored
from kinegraph.compiler.bind import recursive_kernel, sparse_kernel, straight_kernel
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Parameters, Quantities, Request, request_of, runtime_names
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Topology
from kinegraph.derive.quantities.table import TABLE
from kinegraph.errors import KernelError
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import KernelOptions, options_of
from kinegraph.model.constraints import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort

#: Beyond this many velocities code is no longer written out straight: recursive algorithms need no compiling and run
#: as fast.
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
    return stored.derived(stored.resolve_closure(request)).graph


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
    parameters: values that replace the model's. runtime: names of parameters that become the kernel's last argument p,
        or patterns (`m_*`), whose parameters are in the order of the model.
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
    if not sparse and is_recursive(request, runtime, loops):
        return recursive_kernel(request)
    if sparse and loops:
        raise KernelError("loops do not make sparse matrices: compile with loops=False")
    request = stored.resolve_closure(request, runtime, options.cache)
    return sparse_kernel(request, runtime, options) if sparse else straight_kernel(request, runtime, options)


def is_recursive(request: Request, runtime: Sequence[str] = (), loops: bool | None = None) -> bool:
    """Whether `compile` computes a request by recursive algorithms over bodies; `loops` forces one or the other."""
    usual = request.closure in (Closure.MULTIPLIERS, Closure.FASTEST)
    known = all(_has_recursion(quantity, request.mechanism) for quantity in request.quantities)
    possible = usual and known and not runtime and not request.passes
    if loops and not possible:
        names = ", ".join(record.name for record in TABLE if _topology(request.mechanism) in record.recursive)
        raise KernelError(f"loops compute {names} only, all parameters bound, without passes: compile with loops=False")
    if loops is not None:
        return loops
    acting = request.mechanism.elements or request.mechanism.states
    return possible and not acting and len(request.mechanism.layout.velocities) > LARGE


def _has_recursion(quantity: Quantity, mechanism: Mechanism) -> bool:
    """Whether a recursive algorithm computes a quantity of a mechanism of this topology."""
    return not quantity.by and _topology(mechanism) in quantity.record.recursive


def _topology(mechanism: Mechanism) -> Topology:
    return Topology.CLOSED_LOOPS if is_constrained(mechanism) else Topology.TREES
