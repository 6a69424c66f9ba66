"""The contents page: derive -> reduce -> prove -> emit -> load kernel. Each arrow is one function here.

`compiler/load.py` comes before: from a file to a mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinegraph.compiler.kernel_graph import PLAN_BUDGET, KernelRequest
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.compiler.request import (
    Parameters,
    Quantities,
    arguments_of,
    bound_parameters,
    effort_of,
    quantities_of,
    runtime_names,
)
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import Candidate, PlanSearch
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.table import TABLE
from kinegraph.errors import KernelError
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import Kernel, KernelOptions, compile_graph, options_of
from kinegraph.jit.sparse import SparseKernel, condensed
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.pipeline import Effort

if TYPE_CHECKING:
    from kinegraph.large.kernel import LoopedKernel

#: Beyond this many velocities code is no longer written out straight: loops compile at once and run as fast.
LARGE = 300


def derive(
    mechanism: MechanismSource,
    quantities: Quantities,
    *,
    numeric: bool = False,
    parameters: Parameters | None = None,
    effort: Effort | str = Effort.QUICK,
) -> Graph:
    """The exact equations. Parameters stay symbols unless `numeric` (the model's values) or named in `parameters`."""
    return plan(mechanism, quantities, numeric=numeric, parameters=parameters, effort=effort).graph


def plan(
    mechanism: MechanismSource,
    quantities: Quantities,
    *,
    numeric: bool = False,
    parameters: Parameters | None = None,
    effort: Effort | str = Effort.QUICK,
) -> Candidate:
    """Like derive, together with the plan (frames, origins, algorithms) that was the cheapest."""
    mechanism = mechanism_of(mechanism)
    bound = bound_parameters(mechanism, numeric, parameters)
    return PlanSearch(mechanism, quantities_of(quantities), bound).best(PLAN_BUDGET[effort_of(effort)])


def derived_plainly(mechanism: Mechanism, quantities: Quantities, parameters: Parameters) -> Graph:
    """The equations as the recursions give them: every link in its own frame, no parameters regrouped."""
    search = PlanSearch(mechanism, quantities_of(quantities), bound_parameters(mechanism, False, parameters))
    return search.derived(Plan(kept=frozenset(), regroup=False)).graph


def compile(
    mechanism: MechanismSource,
    quantities: Quantities,
    *,
    parameters: Parameters | None = None,
    runtime: str | Sequence[str] = (),
    effort: Effort | str = Effort.QUICK,
    options: KernelOptions | None = None,
    loops: bool | None = None,
) -> Kernel | LoopedKernel:
    """From a mechanism to a callable kernel; parameters named in `runtime` become its last argument p.

    Mechanisms of more than LARGE joints are computed by loops over bodies where the quantities allow it; `loops`
    forces one or the other.
    """
    mechanism, options, effort = mechanism_of(mechanism), options_of(options), effort_of(effort)
    wanted, runtime = quantities_of(quantities), runtime_names(mechanism, runtime)
    if _use_loops(mechanism, wanted, runtime, loops):
        return _looped(mechanism, wanted, parameters)
    bound = bound_parameters(mechanism, True, parameters)
    fixed = {name: value for name, value in bound.items() if name not in runtime}
    arguments = arguments_of(mechanism, wanted, runtime)
    request = KernelRequest(mechanism, wanted, fixed, effort)
    source = request.graph(arguments, options.cache, options.side_by_side)
    return compile_graph(source.graph, arguments, source.numbers, options, source.tail, source.exchange)


def compile_sparse(
    mechanism: MechanismSource,
    quantities: Quantities,
    *,
    parameters: Parameters | None = None,
    runtime: str | Sequence[str] = (),
    effort: Effort | str = Effort.QUICK,
    options: KernelOptions | None = None,
) -> SparseKernel:
    """Like compile, for matrices of trees with branches (H, derivatives): what is zero whatever the state is neither
    computed nor stored."""
    mechanism, options, effort = mechanism_of(mechanism), options_of(options), effort_of(effort)
    wanted, runtime = quantities_of(quantities), runtime_names(mechanism, runtime)
    fixed = {n: e for n, e in bound_parameters(mechanism, True, parameters).items() if n not in runtime}
    arguments = arguments_of(mechanism, wanted, runtime)
    request = KernelRequest(mechanism, wanted, fixed, effort, loops=False)
    source = request.graph(arguments, options.cache, options.side_by_side)
    graph, patterns = condensed(source.graph)
    kernel = compile_graph(graph, arguments, source.numbers, options, exchange=source.exchange)
    return SparseKernel(kernel, patterns)


def _use_loops(mechanism: Mechanism, wanted: Sequence[Quantity], runtime: Sequence[str], loops: bool | None) -> bool:
    possible = not runtime and all(q.record.looped and not q.by for q in wanted)
    if loops and not possible:
        names = ", ".join(record.name for record in TABLE if record.looped)
        raise KernelError(f"loops compute {names} only, with all parameters bound; compile with loops=False")
    if loops is not None:
        return loops
    return possible and not mechanism.elements and len(mechanism.layout.velocities) > LARGE


def _looped(mechanism: Mechanism, wanted: Sequence[Quantity], parameters: Parameters | None) -> LoopedKernel:
    from kinegraph.large.kernel import LoopedKernel  # brings Numba with it, which takes its time to import

    arguments = [argument.name for argument in arguments_of(mechanism, wanted)]
    return LoopedKernel(mechanism, [quantity.name for quantity in wanted], arguments, parameters)


def reduced_graph(
    mechanism: Mechanism, wanted: Sequence[Quantity], bound: Mapping[str, Expression], effort: Effort, cache: bool
) -> Graph:
    """The cheapest plan's graph, reduced and proved if that makes its kernel faster.

    It is kept on disk, so that a second run need not derive it again.
    """
    return KernelRequest(mechanism, tuple(wanted), bound, effort).reduced(cache)


def kernel_of(
    mechanism: Mechanism,
    graph: Graph,
    quantities: Quantities,
    runtime: Sequence[str] = (),
    options: KernelOptions | None = None,
) -> Kernel:
    """Machine code for a graph of a mechanism's quantities."""
    return compile_graph(graph, arguments_of(mechanism, quantities, runtime), options=options)
