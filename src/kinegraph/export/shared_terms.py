"""What code calls the terms it uses several times: as `kinegraph derive` prints them, x1, x2, ..."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph
from kinegraph.graph.transfer import transfer
from kinegraph.notation.naming import Naming, is_angle_function

#: Equations beyond this many nodes are printed for nobody.
_LARGEST = 20_000


def shared_terms(printed: Graph, coded: Graph) -> Mapping[int, str]:
    """By the nodes of `coded` the names of the terms that are printed of the other graph, sines and cosines apart.

    Where a symbol is called x1, they are printed as y1, y2, ...; in code they are x1, x2, ... all the same.
    Both are of the same equations; code may be made of the graph as derived where the reduced one is printed. Equal
    expressions are one node in a builder, so they are known by that.
    """
    if len(printed) > _LARGEST:
        return {}
    naming = Naming(printed)
    builder = GraphBuilder()
    places = transfer(naming.graph, builder)
    nodes = naming.graph.nodes
    shared = {i: label for i, label in naming.labels.items() if not is_angle_function(nodes[i])}
    names = {places[i]: f"x{label.suffix}" for i, label in shared.items()}
    return {node: names[place] for node, place in transfer(coded, builder).items() if place in names}
