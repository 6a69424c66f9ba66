"""What the writing of code depends on beside the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.codegen.program.back_substitution import BackSubstitution
from kinegraph.graph.node import Graph, Output

if TYPE_CHECKING:
    from kinegraph.codegen.simd import Exchanged

#: The names of the functions that modules define.
SCALAR_ENTRY = "kinegraph_scalar"
BATCH_ENTRY = "kinegraph_batch"

#: Pairs of symbols, the second in place of the first.
Exchange: TypeAlias = "tuple[tuple[Exchanged, Exchanged], ...]"


@dataclass(frozen=True)
class Emission:
    """How code is written: lanes of the batch, instructions per function (None: what runs fastest), whether the
    processor has fused multiply-add, what comes after the graph, and which symbols to exchange so that limbs of one
    shape become each other, to be computed side by side."""

    lanes: int
    chunk: int | None
    fused: bool
    tail: BackSubstitution | None = None
    exchange: Exchange = ()

    def results(self, graph: Graph) -> tuple[Output, ...]:
        """What the code gives back."""
        return self.tail.results(graph) if self.tail else graph.outputs
