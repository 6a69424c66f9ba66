"""From derived equations to reduced ones, proved."""

from __future__ import annotations

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.records.reduced import Reduced
from kinegraph.compiler.stages.contest import seconds_left
from kinegraph.graph import law
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.by_name import read_passes
from kinegraph.passes.pipeline import Reduction, reduce


def reduced(chain: Chain) -> tuple[Reduced, bool]:
    """The derived equations of a chain reduced and proved, and whether the reduction came to its end."""
    request, derived, derivations = chain.request, chain.derived, chain.derivations
    found = reduction(chain, derived.graph, seconds_left(request.seconds))
    law.check(found.graph)
    first, _ = derivations.first(derived.plan)
    proof = derivations.proved(found.graph, derived.plan)
    record = Reduced(request.key, found.graph, count(first), count(derived.graph), found.reports, proof)
    return record, not found.interrupted


def reduction(chain: Chain, graph: Graph, seconds: float | None) -> Reduction:
    """A graph by the request's passes, or by those of its effort; not proved yet."""
    request = chain.request
    passes = read_passes(request.passes) if request.passes else ()
    return reduce(
        graph, request.effort, seconds, request.seed, prove=False, on_pass=chain.on_pass,
        interrupt=chain.derivations.interrupt, passes=passes,
    )  # fmt: skip
