"""The contents page: derive -> reduce -> prove -> emit -> load kernel. Each arrow is one function here.

`compiler/load.py` comes before: from a file to a mechanism.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.compiler.kernel_graph import PLAN_BUDGET, KernelRequest
from kinegraph.derive.quantities.derivatives import dependencies
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import Candidate, PlanSearch
from kinegraph.derive.quantities.quantity import Quantity, parse_list
from kinegraph.derive.quantities.table import TABLE
from kinegraph.derive.quantities.variables import Variables, depends_on_time
from kinegraph.errors import DerivationError, KernelError, ModelError
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.jit.kernel import Argument, Kernel, KernelOptions, compile_graph
from kinegraph.jit.sparse import SparseKernel, condensed
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.passes.pipeline import Effort, OnPass, Reduction, reduce

if TYPE_CHECKING:
    from kinegraph.large.kernel import LoopedKernel

_log = logging.getLogger("kinegraph")

Quantities: TypeAlias = str | Quantity | Sequence[str | Quantity]
Values: TypeAlias = Mapping[str, Scalar]

#: Beyond this many velocities code is no longer written out straight: loops compile at once and run as fast.
LARGE = 300


def quantities_of(wanted: Quantities) -> tuple[Quantity, ...]:
    """Quantities from a word, a list separated by commas, or a sequence of words; each may be named once."""
    found = _read_quantities(wanted)
    if not found:
        raise DerivationError("no quantity is named; name one or more, such as tau or H,gravity")
    for place, quantity in enumerate(found):
        if quantity in found[:place]:
            raise DerivationError(f"{quantity} is named twice; name each quantity once, for results go by its name")
    return found


def _read_quantities(wanted: Quantities) -> tuple[Quantity, ...]:
    if isinstance(wanted, Quantity):
        return (wanted,)
    if isinstance(wanted, str):
        return parse_list(wanted)
    words: list[object] = list(wanted) if isinstance(wanted, Iterable) else [wanted]
    return tuple(_read_quantity(word) for word in words)


def _read_quantity(word: object) -> Quantity:
    if isinstance(word, str):
        return Quantity.parse(word)
    if not isinstance(word, Quantity):
        raise DerivationError(f"{word!r:.80} names no quantities; write text such as 'tau' or ['H', 'gravity']")
    return word


def derive(
    mechanism: Mechanism,
    quantities: Quantities,
    *,
    numeric: bool = False,
    values: Values | None = None,
    effort: Effort = Effort.QUICK,
) -> Graph:
    """The exact equations. Parameters stay symbols unless `numeric` (the model's values) or named in `values`."""
    return plan(mechanism, quantities, numeric=numeric, values=values, effort=effort).graph


def plan(
    mechanism: Mechanism,
    quantities: Quantities,
    *,
    numeric: bool = False,
    values: Values | None = None,
    effort: Effort = Effort.QUICK,
) -> Candidate:
    """Like derive, together with the plan (frames, origins, algorithms) that was the cheapest."""
    bound = bound_parameters(mechanism, numeric, values)
    return PlanSearch(mechanism, quantities_of(quantities), bound).best(PLAN_BUDGET[effort])


def derived_plainly(mechanism: Mechanism, quantities: Quantities, values: Values) -> Graph:
    """The equations as the recursions give them: every link in its own frame, no parameters regrouped."""
    search = PlanSearch(mechanism, quantities_of(quantities), bound_parameters(mechanism, False, values))
    return search.derived(Plan(kept=frozenset(), regroup=False)).graph


def unit_quaternions(mechanism: Mechanism) -> list[tuple[Symbol, ...]]:
    """The symbols of quaternions, whose squares add up to one: derivations make use of it, proofs must know it."""
    return [
        tuple(Symbol(Kind.COORDINATE, name) for name in coordinate.names)
        for coordinate in mechanism.coordinates
        if isinstance(coordinate, QuaternionCoordinates)
    ]


def bound_parameters(mechanism: Mechanism, numeric: bool, values: Values | None) -> dict[str, Expression]:
    """The parameters that become numbers, as exact expressions."""
    given = {name: expression(value) for name, value in (values or {}).items()}
    known = {parameter.name: parameter.value for parameter in mechanism.parameters}
    for name in given:
        if name not in known:
            raise ModelError(f"there is no parameter {name!r}", remedy=f"parameters are: {', '.join(known) or 'none'}")
    if not numeric:
        return given
    parameter_values(mechanism, values)  # names every value that is missing
    return {name: value for name, value in known.items() if value is not None} | given


def arguments_of(mechanism: Mechanism, quantities: Quantities, runtime: Sequence[str] = ()) -> tuple[Argument, ...]:
    """What a kernel of these quantities takes, in the order q, v, a, tau, u, t, p; only what they depend on."""
    needed = {group for quantity in quantities_of(quantities) for group in dependencies(quantity, mechanism)}
    arguments = [Argument(group.value, group.symbols(mechanism)) for group in Variables if group in needed]
    if runtime:
        arguments.append(Argument(Variables.PARAMETERS.value, tuple(Symbol(Kind.PARAMETER, name) for name in runtime)))
    return tuple(arguments)


def compile(
    mechanism: Mechanism,
    quantities: Quantities,
    *,
    values: Values | None = None,
    runtime: Sequence[str] = (),
    effort: Effort = Effort.QUICK,
    options: KernelOptions | None = None,
    loops: bool | None = None,
) -> Kernel | LoopedKernel:
    """From a mechanism to a callable kernel; parameters named in `runtime` become its last argument p.

    Mechanisms of more than LARGE joints are computed by loops over bodies where the quantities allow it; `loops`
    forces one or the other.
    """
    wanted = quantities_of(quantities)
    _require_parameters(mechanism, runtime)
    if _use_loops(mechanism, wanted, runtime, loops):
        return _looped(mechanism, wanted, values)
    bound = bound_parameters(mechanism, True, values)
    fixed = {name: value for name, value in bound.items() if name not in runtime}
    options = options or KernelOptions()
    arguments = arguments_of(mechanism, wanted, runtime)
    request = KernelRequest(mechanism, wanted, fixed, effort)
    source = request.graph(arguments, options.cache, options.side_by_side)
    return compile_graph(source.graph, arguments, source.numbers, options, source.tail, source.exchange)


def compile_sparse(
    mechanism: Mechanism,
    quantities: Quantities,
    *,
    values: Values | None = None,
    runtime: Sequence[str] = (),
    effort: Effort = Effort.QUICK,
    options: KernelOptions | None = None,
) -> SparseKernel:
    """Like compile, for matrices of trees with branches (H, derivatives): what is zero whatever the state is neither
    computed nor stored."""
    wanted = quantities_of(quantities)
    _require_parameters(mechanism, runtime)
    fixed = {n: e for n, e in bound_parameters(mechanism, True, values).items() if n not in runtime}
    options = options or KernelOptions()
    arguments = arguments_of(mechanism, wanted, runtime)
    request = KernelRequest(mechanism, wanted, fixed, effort, loops=False)
    source = request.graph(arguments, options.cache, options.side_by_side)
    graph, patterns = condensed(source.graph)
    kernel = compile_graph(graph, arguments, source.numbers, options, exchange=source.exchange)
    return SparseKernel(kernel, patterns)


def _require_parameters(mechanism: Mechanism, runtime: Sequence[str]) -> None:
    known = {parameter.name for parameter in mechanism.parameters}
    for name in runtime:
        if name not in known:
            raise KernelError(f"runtime parameter {name!r} does not exist; parameters are: {', '.join(sorted(known))}")


def _use_loops(mechanism: Mechanism, wanted: Sequence[Quantity], runtime: Sequence[str], loops: bool | None) -> bool:
    possible = not runtime and all(q.record.looped and not q.by for q in wanted)
    if loops and not possible:
        names = ", ".join(record.name for record in TABLE if record.looped)
        raise KernelError(f"loops compute {names} only, with all parameters bound; compile with loops=False")
    if loops is not None:
        return loops
    return possible and not mechanism.elements and len(mechanism.layout.velocities) > LARGE


def _looped(mechanism: Mechanism, wanted: Sequence[Quantity], values: Values | None) -> LoopedKernel:
    from kinegraph.large.kernel import LoopedKernel  # brings Numba with it, which takes its time to import

    arguments = [argument.name for argument in arguments_of(mechanism, wanted)]
    return LoopedKernel(mechanism, [quantity.name for quantity in wanted], arguments, values)


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


__all__ = [
    "Effort", "OnPass", "Reduction", "arguments_of", "bound_parameters", "compile", "compile_sparse",
    "depends_on_time", "derive", "derived_plainly", "kernel_of", "plan", "quantities_of", "reduce",
]  # fmt: skip
