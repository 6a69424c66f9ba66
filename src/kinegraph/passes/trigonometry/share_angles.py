"""Partial sums of angles computed once: q1 + q2 inside q1 + q2 + q3. Additions of angles count like any other."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import Translation, to_graph, to_system
from kinegraph.passes.factoring.extract import greedy
from kinegraph.passes.factoring.tidy import inline


@dataclass(frozen=True)
class ShareAngles:
    """Write the arguments of sines and cosines out and share their partial sums anew."""

    name: str = "share_angles"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        angles = _angles(translation)
        _flatten(translation, angles)
        translation.system.build_index(angles)
        greedy(translation.system)
        result = to_graph(translation)
        return result if count(result).total <= count(graph).total else graph


def _angles(translation: Translation) -> set[int]:
    """The expressions sines and cosines are taken of."""
    arguments = {
        literal
        for name, entries in translation.functions.values()
        if name in ("sin", "cos")
        for kind, literal in entries
        if kind == "literal"
    }
    return arguments & set(translation.system.expressions)


def _flatten(translation: Translation, angles: set[int]) -> None:
    """Inline angles into angles; one that is used elsewhere too stays an expression."""
    system = translation.system
    for literal in sorted(angles):
        if any(user in angles for user, _ in system.uses.get(literal, ())):
            inline(system, literal)
