"""The last step of derivatives of accelerations: many right-hand sides of one factorised linear system.

H = L^T D L has been factorised and the right-hand sides computed by straight code; solving for a hundred columns by
straight code would be most of it. As loops over the columns it is short, and runs in the lanes of vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from kinegraph.graph.count import Operations
from kinegraph.graph.node import Graph, Output


@dataclass(frozen=True)
class BackSubstitution:
    """X = - (L^T D L)^-1 R for square matrices R.

    The graph before it has as many outputs as `solved`, each a right-hand side or, where `solved` is false, a result
    to be copied; then `lower`, the entries L_ij of the pairs (i, j); then `inverse`, one over the entries of D.
    """

    size: int
    order: tuple[int, ...]
    lower: tuple[tuple[int, int], ...]
    solved: tuple[bool, ...]

    def results(self, graph: Graph) -> tuple[Output, ...]:
        """The outputs that are left."""
        return graph.outputs[: len(self.solved)]

    def starts(self, graph: Graph) -> list[int]:
        """Where in the values of the graph its outputs begin."""
        return list(accumulate((len(output.nodes) for output in graph.outputs), initial=0))

    def operations(self) -> Operations:
        """What it adds to the operations of the graph."""
        columns = self.size * sum(self.solved)
        pairs = 2 * len(self.lower) * columns
        return Operations(mul=pairs + self.size * columns, add=pairs)
