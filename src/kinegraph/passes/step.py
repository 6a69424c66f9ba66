"""What a pass is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kinegraph.graph.node import Graph


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
