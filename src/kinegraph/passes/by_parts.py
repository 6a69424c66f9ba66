"""By parts (Rackovic, section 3.4): reduce an independent part of the graph by itself, then put it back.

A part is independent if nothing but its top is used by the rest, so that nothing the rest needs is lost when the part
is computed in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import count
from kinegraph.graph.node import Function, Graph, Output, Polynomial, Term, children
from kinegraph.graph.transfer import copied, moved
from kinegraph.passes.rebuild import Rebuild
from kinegraph.passes.step import Pass

#: Chooses a part: the nodes inside it.
Choice: TypeAlias = Callable[[Graph], frozenset[int]]


def direction_cosines(graph: Graph) -> frozenset[int]:
    """Sums of products of sines and cosines of different angles: what turning by one joint after another gives.

    These are the axes of links and joints, which the dissertation reduces first (its Q and e); lengths, masses and
    rates come in later, and so does what combines two directions.
    """
    angles: dict[int, frozenset[int]] = {}
    inside: set[int] = set()
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or graph.static[index]:
            continue
        if isinstance(node, Function) and node.name in ("sin", "cos"):
            angles[index] = frozenset(node.arguments)
        elif isinstance(node, Polynomial) and all(_turns(term, angles) for term in node.terms):
            angles[index] = frozenset().union(*(angles[child] for child in children(node)))
            inside.add(index)
    return frozenset(inside)


def _turns(term: Term, angles: dict[int, frozenset[int]]) -> bool:
    """Is a term plus or minus a product of known factors that have no angle in common?"""
    coefficient, factors = term
    if abs(coefficient) != 1 or not factors or any(e > 1 or child not in angles for child, e in factors):
        return False
    return sum(len(angles[child]) for child, _ in factors) == len(
        frozenset().union(*(angles[child] for child, _ in factors))
    )


def top_of(graph: Graph, inside: frozenset[int]) -> tuple[int, ...]:
    """The nodes of a part that outputs or nodes outside use: all the rest knows of it."""
    used = {index for output in graph.outputs for index in output.nodes}
    for index, node in enumerate(graph.nodes):
        if graph.live[index] and index not in inside:
            used.update(children(node))
    return tuple(sorted(used & inside))


def part_of(graph: Graph, top: Sequence[int]) -> Graph:
    """The part alone, its top as one output."""
    builder = GraphBuilder()
    alone = Graph(graph.nodes, (Output("part", (len(top),), tuple(top)),))
    return builder.graph(moved(alone.outputs, copied(alone, builder)))


def put_back(graph: Graph, top: Sequence[int], part: Graph) -> Graph:
    """The graph with its part computed as another graph does; what that makes neutral is folded if it saves."""
    builder = GraphBuilder()
    place = copied(part, builder)
    given = dict(zip(top, (place[index] for index in part.outputs[0].nodes), strict=True))
    above = builder.graph(moved(graph.outputs, copied(graph, builder, given)))
    return min(above, Rebuild().apply(above), key=lambda candidate: count(candidate).total)


@dataclass(frozen=True)
class ByParts:
    """Run passes on an independent part alone; the graph stays as it is if that does not save."""

    steps: tuple[Pass, ...]
    choice: Choice = direction_cosines
    name: str = "by_parts"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        top = top_of(graph, self.choice(graph))
        if not top:
            return graph
        part = part_of(graph, top)
        for step in self.steps:
            part = step.apply(part)
        result = put_back(graph, top, part)
        return result if count(result).total <= count(graph).total else graph
