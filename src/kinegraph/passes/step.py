"""What a pass is, and how hard passes may be asked to work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from kinegraph.graph.node import Graph


class Effort(Enum):
    """How long `reduce` may take: about a second, half a minute, or as long as it is told."""

    QUICK = "quick"
    NORMAL = "normal"
    SEARCH = "search"


#: Passes that take a fraction of a second, for code that is wanted at once: nothing is written out to be searched.
AT_ONCE = "trigonometric_identities, fast_extract"


class Pass(Protocol):
    """A rewriting of graphs that keeps what they compute."""

    @property
    def name(self) -> str:
        """What the pass is called in pipelines and reports."""
        ...

    def apply(self, graph: Graph) -> Graph:
        """The graph after the pass; the same object if nothing changed."""
        ...


@dataclass(frozen=True)
class Sequence:
    """Passes one after the other under one name."""

    name: str
    steps: tuple[Pass, ...]

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        for step in self.steps:
            graph = step.apply(graph)
        return graph
