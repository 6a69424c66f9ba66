"""Common subexpressions: value numbering, dead code, inlining, greedy sharing, and shared sums of angles."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.canonical import is_folded, without_dead_nodes
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import Translation, to_graph, to_system
from kinegraph.passes.factoring.extract import factored, greedy, inline, tidy


@dataclass(frozen=True)
class Rebuild:
    """Fold what the builder can fold, give equal expressions one node, leave out what no output needs."""

    name: str = "rebuild"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        if is_folded(graph):
            return without_dead_nodes(graph)
        builder = GraphBuilder()
        return builder.graph(moved(graph.outputs, transfer(graph, builder)))


@dataclass(frozen=True)
class DeadCode:
    """Leave out the nodes no output needs; what remains is untouched."""

    name: str = "dead_code"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        return without_dead_nodes(graph)


@dataclass(frozen=True)
class Inline:
    """Sums into sums and products into products where used once; a term's static factors become one constant."""

    name: str = "inline"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        tidy(translation.system)
        return to_graph(translation)


@dataclass(frozen=True)
class FastExtract:
    """Share two-term divisors, pairs of literals and scaled literals, largest saving first."""

    name: str = "fast_extract"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        return to_graph(factored(lambda: to_system(graph)))


# Partial sums of angles computed once: q1 + q2 inside q1 + q2 + q3. Additions of angles count like any other.


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
