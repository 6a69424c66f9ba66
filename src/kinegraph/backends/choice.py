"""Is a reduced graph faster as a kernel? Fewer operations are not always: sums lose fused multiplications, values wait.

The counts that are reported stay the fewest; a kernel is made of the graph that is estimated to run shorter.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.backends.binding import Argument, bind
from kinegraph.backends.estimate import estimated_cycles
from kinegraph.graph.node import Graph, Kind

#: Longer code is taken as it was reduced: estimating it would take seconds, and many operations saved are time saved.
MOST_NODES = 20_000


@dataclass(frozen=True)
class KernelChoice:
    """The graph a kernel is made of, and the estimated cycles of a call before and after the reduction."""

    graph: Graph
    before: float
    after: float

    @property
    def reduction_taken(self) -> bool:
        return self.after <= self.before

    def __str__(self) -> str:
        change = 100 * (self.after - self.before) / self.before if self.before else 0.0
        if self.reduction_taken:
            return f"kernel: reduction taken, estimated {-change:.0f} % less time"
        return f"kernel: reduction not taken, its kernel is estimated to take {change:.0f} % more time"


def faster_as_kernel(derived: Graph, reduced: Graph, runtime: bool = True, fused: bool = True) -> KernelChoice:
    """The faster of two equal graphs. `runtime`: parameters that are left are arguments of the kernel, not numbers."""
    if derived == reduced or max(len(derived), len(reduced)) > MOST_NODES:
        return KernelChoice(reduced, 0, 0)
    before, after = (_cycles(graph, runtime, fused) for graph in (derived, reduced))
    return KernelChoice(reduced if after <= before else derived, before, after)


def _cycles(graph: Graph, runtime: bool, fused: bool) -> float:
    parameters = graph.symbols(Kind.PARAMETER)
    moving = [one for one in graph.symbols() if not one.kind.static] + (list(parameters) if runtime else [])
    # Which numbers does not matter, as long as none is 0 or 1.
    values = {} if runtime else {one.name: 0.3 + 0.01 * place for place, one in enumerate(parameters)}
    return estimated_cycles(bind(graph, (Argument("x", tuple(moving)),), values), fused)
