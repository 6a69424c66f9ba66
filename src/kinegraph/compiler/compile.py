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
    mechanism: MechanismSource,
    quantities: Quantities,
    *,
    numeric: bool = False,
    parameters: Parameters | None = None,
    effort: Effort | str = Effort.QUICK,
    closed_legs: bool = True,
    closure: Closure | str = Closure.MULTIPLIERS,
) -> Graph:
    """The exact equations. Parameters stay symbols unless `numeric` (the model's values) or named in `parameters`.

    Without `closed_legs` the legs of platforms are loops like any others. `closure` is the method that closes loops:
    multipliers, partition, closed-form or fastest (see docs/closed-loops.md).
    """
    mechanism = mechanism_of(mechanism)
    request = request_of(
        mechanism, quantities, numeric=numeric, parameters=parameters, effort=effort, closed_legs=closed_legs,
        closure=closure,
    )  # fmt: skip
    return stored.derived(stored.resolve_closure(request)).graph


def compile(
    mechanism: MechanismSource,
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
    """From a mechanism to a callable kernel; parameters named in `runtime` become its last argument p.

    Mechanisms of more than LARGE joints are computed by recursive algorithms where the quantities allow it; `loops`
    forces one or the other. `sparse` is for matrices of trees with branches (H, derivatives): what is zero whatever
    the state is neither computed nor stored, and calls return SciPy's sparse arrays. Without `closed_legs` the legs
    of platforms are loops like any others. `closure` is the method that closes loops: multipliers, partition,
    closed-form, or the fastest of these. `passes` are run in place of those of the effort, such as
    'products, monomials(degree=4)'.
    """
    mechanism, options = mechanism_of(mechanism), options_of(options)
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
    return possible and not request.mechanism.elements and len(request.mechanism.layout.velocities) > LARGE


def _has_recursion(quantity: Quantity, mechanism: Mechanism) -> bool:
    """Whether a recursive algorithm computes a quantity of a mechanism of this topology."""
    return not quantity.by and _topology(mechanism) in quantity.record.recursive


def _topology(mechanism: Mechanism) -> Topology:
    return Topology.CLOSED_LOOPS if is_constrained(mechanism) else Topology.TREES
