"""The steps of Rackovic's dissertation one after the other, with the counts after each (its Tables 3.3 and 3.4)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.graph.prove import prove
from kinegraph.passes.analytic.expansion import Limits
from kinegraph.passes.expand import Expand
from kinegraph.passes.fast_extract import Inline
from kinegraph.passes.monomials import ExtractMonomials
from kinegraph.passes.pipeline import Pass, PassReport
from kinegraph.passes.products import FactorProducts
from kinegraph.passes.rebuild import Rebuild

#: Published for Example 2.1: multiplications and additions after each step, by the names used here.
PUBLISHED: dict[str, tuple[int, int]] = {
    "neutral elements": (10268, 6166),
    "analytic expressions": (5768, 1047),
    "trigonometric identities": (1340, 453),
    "identical expressions": (801, 257),
    "case 1: whole, monomials": (260, 177),
    "case 2: whole, products, monomials": (218, 138),
    "case 3: by parts, monomials": (196, 135),
    "case 4: by parts, products, monomials": (140, 107),
}


@dataclass(frozen=True)
class _Named:
    """A pass under the dissertation's name for it."""

    name: str
    steps: tuple[Pass, ...]

    def apply(self, graph: Graph) -> Graph:
        for step in self.steps:
            graph = step.apply(graph)
        return graph


def like_rackovic(graph: Graph, limits: Limits | None = None) -> tuple[PassReport, ...]:
    """Counts after every step and for the four cases, each proved equal to the graph.

    Analytic expressions are reduced by sin^2 + cos^2 = 1 from the start, and equal expressions are always one node, so
    the first steps are ahead of the published ones. `By parts` works on the graph's own intermediate quantities.
    """
    limits = limits or Limits()
    whole = Expand(limits, ways=8)
    monomials, products = ExtractMonomials(), FactorProducts()
    started = _Named("neutral elements", (Rebuild(),))
    chains = (
        (started, _Named("analytic expressions", (Expand(limits),))),
        (started, _Named("trigonometric identities", (whole,))),
        (started, _Named("identical expressions", (whole, Inline()))),
        (started, _Named("case 1: whole, monomials", (whole, monomials))),
        (started, _Named("case 2: whole, products, monomials", (whole, products, monomials))),
        (started, _Named("case 3: by parts, monomials", (monomials,))),
        (started, _Named("case 4: by parts, products, monomials", (products, monomials))),
    )
    reports = [_report(started, graph)[1]]
    for first, second in chains:
        reports.append(_report(second, first.apply(graph))[1])
    return tuple(reports)


def _report(step: Pass, graph: Graph) -> tuple[Graph, PassReport]:
    begun = time.perf_counter()
    result = step.apply(graph)
    prove(graph, result).require()
    return result, PassReport(step.name, count(graph), count(result), time.perf_counter() - begun)


def table(reports: Iterable[PassReport]) -> str:
    """The counts beside the published ones."""
    lines = [f"{'step':42}{'mul':>7}{'add':>7}{'published':>16}"]
    for report in reports:
        published = PUBLISHED.get(report.name)
        beside = f"{published[0]:>9}{published[1]:>7}" if published else ""
        lines.append(f"{report.name:42}{report.after.mul:>7}{report.after.add:>7}{beside}")
    return "\n".join(lines)
