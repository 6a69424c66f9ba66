"""Expressions of a leg's coordinates written in those of the ring.

A pose of the ring determines angles of legs but for whole turns. These are taken from the coordinates themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.derive.platforms.dynamics import PlatformDynamics
from kinegraph.graph.node import Function, Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar

#: Kinds of symbols that stand for coordinates of legs, their rates and accelerations.
_KINDS = (Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION)


def without_leg_coordinates(items: Sequence[Scalar], dynamics: PlatformDynamics) -> list[Scalar]:
    """The same scalars with the coordinates and velocities of legs replaced by what they are."""
    if not items:
        return []
    output = Output("items", (len(items),), tuple(item.index for item in items))
    graph = items[0].builder.graph([output])
    return in_ring_coordinates(graph, graph.outputs[0].nodes, dynamics)


def in_ring_coordinates(
    graph: Graph, wanted: Sequence[int], dynamics: PlatformDynamics, accelerations: Mapping[str, Scalar] | None = None
) -> list[Scalar]:
    """Nodes of a graph in the builder of a platform; sines of a leg's angles become what they are, no angles.

    `accelerations` of legs by the name of their symbols are put in as well.
    """
    return _Replacing(dynamics, accelerations or {}).nodes(graph, wanted)


class _Replacing:
    def __init__(self, dynamics: PlatformDynamics, accelerations: Mapping[str, Scalar]) -> None:
        self.builder = dynamics.ring.position[0].builder
        self.turns = dynamics.leg_turns()
        followed = {name: turn.near(dynamics.names[name]) for name, turn in self.turns.items()}
        self.meanings = dynamics.leg_positions() | followed | dynamics.leg_rates() | dict(accelerations)

    def nodes(self, graph: Graph, wanted: Sequence[int]) -> list[Scalar]:
        place: dict[int, int] = {}
        for index, node in enumerate(graph.nodes):
            if isinstance(node, Symbol):
                place[index] = self._symbol(node)
            elif isinstance(node, Function):
                place[index] = self._function(graph, node, place)
            else:
                terms = ((c, tuple((place[child], e) for child, e in factors)) for c, factors in node.terms)
                place[index] = self.builder.polynomial(terms)
        return [Scalar(self.builder, place[index]) for index in wanted]

    def _symbol(self, node: Symbol) -> int:
        known = node.kind in _KINDS and node.name in self.meanings
        return self.meanings[node.name].index if known else self.builder.symbol(node.kind, node.name)

    def _function(self, graph: Graph, node: Function, place: dict[int, int]) -> int:
        angle = graph.nodes[node.arguments[0]]
        if node.name in ("sin", "cos") and isinstance(angle, Symbol) and angle.name in self.turns:
            turn = self.turns[angle.name]
            return (turn.sine if node.name == "sin" else turn.cosine).index
        return self.builder.apply(node.name, *(place[argument] for argument in node.arguments))
