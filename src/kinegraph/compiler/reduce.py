"""From derived equations to reduced equations, proved equal.

Derived -> `reduced` -> Reduced
"""

from __future__ import annotations

from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.plan_selection import seconds_left
from kinegraph.compiler.stage_records import Reduced, reduced_on_disk
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import law
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.pipeline import OnPass, Reduction, read_passes, reduce


@gc_paused()
def reduced(derivations: Derivations, on_pass: OnPass | None = None) -> Reduced:
    """The derived equations reduced, and proved equal to the first ones; `on_pass` hears of each pass."""
    request = derivations.request
    stored = reduced_on_disk(request, derivations.cache)
    found = derivations.known(stored)
    if found is None:
        start = derived(derivations)
        after = reduction(derivations, start.graph, seconds_left(request.seconds), on_pass)
        law.check(after.graph)
        first, _ = derivations.first(start.plan)
        proof = derivations.proved(after.graph, start.plan)
        record = Reduced(request.key, after.graph, count(first), count(start.graph), after.reports, proof)
        found = derivations.keep(stored, record, complete=not after.interrupted)
    return found


def reduction(
    derivations: Derivations, graph: Graph, seconds: float | None, on_pass: OnPass | None = None
) -> Reduction:
    """A graph by the request's passes, or by those of its effort; not proved yet."""
    request = derivations.request
    passes = read_passes(request.passes) if request.passes else ()
    return reduce(
        graph, request.effort, seconds, request.seed, prove=False, on_pass=on_pass,
        interrupt=derivations.interrupt, passes=passes,
    )  # fmt: skip
