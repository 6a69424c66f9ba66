"""From derived equations to reduced ones, proved equal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.plan_selection import seconds_left
from kinegraph.graph import law, text
from kinegraph.graph.certificate import WholeProof
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.passes.pipeline import PassReport, Reduction, read_passes, reduce

# The record of a reduction.


@dataclass(frozen=True)
class Reduced:
    """The equations with as few operations as the effort allows, proved equal to those first derived.

    `first` counts the equations as the recursions give them, `derived` those of the cheapest plan.
    """

    key: str
    graph: Graph
    first: Operations
    derived: Operations
    reports: tuple[PassReport, ...]
    proof: WholeProof

    def __str__(self) -> str:
        return f"reduced: {len(self.graph)} nodes, {count(self.graph)}; {self.proof}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def dump(self) -> str:
        """The record as text that `read` reads back."""
        reports = [asdict(report) for report in self.reports]
        counts = {"first": asdict(self.first), "derived": asdict(self.derived)}
        return json.dumps(
            {"key": self.key, **counts, "graph": text.dump(self.graph), "reports": reports, "proof": asdict(self.proof)}
        )

    @classmethod
    def read(cls, dumped: str) -> Reduced:
        """What dump wrote; the graph must obey the law."""
        found = json.loads(dumped)
        reports = tuple(
            PassReport(**{**one, "before": Operations(**one["before"]), "after": Operations(**one["after"])})
            for one in found["reports"]
        )
        first, derived = Operations(**found["first"]), Operations(**found["derived"])
        proof = WholeProof(**found["proof"])
        return cls(found["key"], text.read(found["graph"]), first, derived, reports, proof)


# From derived equations to reduced ones, proved.


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
