"""From derived equations to reduced equations, proved equal.

Derived -> `reduced` -> Reduced
"""

from __future__ import annotations

from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.plan_selection import seconds_left
from kinegraph.compiler.stage_records import Reduced
from kinegraph.graph import law
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.pipeline import OnPass, Reduction, read_passes, reduce


def reduced(derivations: Derivations, on_pass: OnPass | None = None) -> Reduced:
    """The derived equations reduced, and proved equal to the first ones; `on_pass` hears of each pass."""

    def make() -> tuple[Reduced, bool]:
        start = derived(derivations)
        found = reduction(derivations, start.graph, seconds_left(request.seconds), on_pass)
        law.check(found.graph)
        first, _ = derivations.first(start.plan)
        proof = derivations.proved(found.graph, start.plan)
        record = Reduced(request.key, found.graph, count(first), count(start.graph), found.reports, proof)
        return record, not found.interrupted

    request = derivations.request
    return derivations.record(request.stored_as("reduced"), Reduced.read, make)


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
