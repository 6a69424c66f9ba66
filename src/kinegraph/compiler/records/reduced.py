"""The record of a reduction."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kinegraph.graph import text
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.graph.proof.whole import WholeProof
from kinegraph.passes.pipeline import PassReport


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
