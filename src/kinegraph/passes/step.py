"""What a pass is."""

from __future__ import annotations

from typing import Protocol

from kinegraph.graph.node import Graph


class Pass(Protocol):
    """A rewriting of graphs that keeps what they compute."""

    @property
    def name(self) -> str: ...

    def apply(self, graph: Graph) -> Graph: ...
