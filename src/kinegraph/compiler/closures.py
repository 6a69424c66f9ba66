"""Which way loops are closed: of all that a mechanism allows, the one that is estimated to run fastest."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from kinegraph.codegen.estimate.choice import cycles_of_kernel
from kinegraph.codegen.program.binding import bind
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.records import Means
from kinegraph.compiler.request import Request, arguments_of
from kinegraph.derive.quantities.plan import Closure
from kinegraph.errors import DerivationError
from kinegraph.jit.target import host
from kinegraph.model.constraints.records import is_constrained

_log = logging.getLogger("kinegraph")


def settled(request: Request, runtime: Sequence[str], cache: bool = True) -> Request:
    """The request with one way to close loops: the fastest is looked for where that is asked."""
    if not is_constrained(request.mechanism):
        return replace(request, closure=Closure.MULTIPLIERS)
    if request.closure is not Closure.FASTEST:
        return request
    times = closure_times(request, runtime, cache)
    fastest = min(times, key=lambda one: times[one])
    _log.info("%s: %s", request, ", ".join(f"{one.value} {cycles:.0f} cycles" for one, cycles in times.items()))
    return replace(request, closure=fastest)


def closure_times(request: Request, runtime: Sequence[str], cache: bool = True) -> dict[Closure, float]:
    """Estimated cycles of a call by every way there is."""
    arguments = arguments_of(request.mechanism, request.quantities, runtime)
    found = {}
    for closure in (Closure.MULTIPLIERS, Closure.PARTITION, Closure.CLOSED_FORM):
        try:
            chosen = Chain(replace(request, closure=closure), cache).chosen(Means(side_by_side=True), runtime)
        except DerivationError:
            if closure is Closure.MULTIPLIERS:
                raise
            continue
        binding = bind(chosen.graph, arguments, chosen.numbers)
        found[closure] = cycles_of_kernel(binding, dict(chosen.exchange), host().fused)
    return found
