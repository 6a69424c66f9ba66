"""Expressions of a leg's coordinates written in those of the ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer

#: Kinds of symbols that stand for coordinates of legs and their rates.
_KINDS = (Kind.COORDINATE, Kind.VELOCITY)


def without_leg_coordinates(items: Sequence[Scalar], meanings: Mapping[str, Scalar]) -> list[Scalar]:
    """The same scalars with the coordinates and velocities of legs replaced by what they are."""
    if not items:
        return []
    builder = items[0].builder
    output = Output("items", (len(items),), tuple(item.index for item in items))
    graph = builder.graph([output])
    symbols = [node for node in graph.nodes if isinstance(node, Symbol)]
    if not any(_meant(node, meanings) for node in symbols):
        return list(items)

    def symbol(node: Symbol) -> int:
        return meanings[node.name].index if _meant(node, meanings) else builder.symbol(node.kind, node.name)

    (replaced,) = moved(graph.outputs, transfer(graph, builder, symbol))
    return [Scalar(builder, index) for index in replaced.nodes]


def _meant(node: Symbol, meanings: Mapping[str, Scalar]) -> bool:
    return node.kind in _KINDS and node.name in meanings
