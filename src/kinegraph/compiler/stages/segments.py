"""A planar loop as a kernel: the segments that are estimated to run fastest, side by side in the lanes of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.codegen.estimate.choice import cycles_of_kernel
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.simd import Exchanged
from kinegraph.compiler.stages.whole_proof import with_exact_numbers
from kinegraph.derive import constraints
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.plans import PlanSearch
from kinegraph.graph.flatten import flattened
from kinegraph.graph.node import Graph, Symbol
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class InSegments:
    """The graph of one way to cut a loop, not yet proved; `numbers` and `values` are what symbols stand for."""

    plan: Plan
    graph: Graph
    numbers: Mapping[Symbol, Scalar]
    values: Mapping[str, Fraction]
    exchange: tuple[tuple[Exchanged, Exchanged], ...]
    cycles: float

    def with_exact_numbers(self) -> Graph:
        """The graph with numbers in place of the symbols that stand for them."""
        return with_exact_numbers(self.graph, self.numbers)


def fastest_segments(search: PlanSearch, arguments: Sequence[Argument], fused: bool) -> InSegments | None:
    """Of all ways to cut the loop the one estimated to run fastest; None if there is none."""
    found = [_in_segments(search, plan, arguments, fused) for plan in search.segment_plans()]
    return min((one for one in found if one is not None), key=lambda one: one.cycles, default=None)


def _in_segments(search: PlanSearch, plan: Plan, arguments: Sequence[Argument], fused: bool) -> InSegments | None:
    candidate = search.derived(plan)
    side_by_side = candidate.limbs
    assert side_by_side is not None
    values = side_by_side.values()
    if values is None:
        return None
    # Segments are written with few operations; what is reduced further would no longer be of one shape.
    graph, nodes = constraints.without_lanes(flattened(candidate.graph))
    exchange = (*side_by_side.exchange.items(), *nodes)
    cycles = cycles_of_kernel(bind(graph, arguments, values), dict(exchange), fused)
    return InSegments(plan, graph, side_by_side.numbers, values, exchange, cycles)
