"""What code calls the terms it uses several times: as `kinegraph derive` prints them, x1, x2, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph
from kinegraph.graph.transfer import transfer
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.defined import LARGEST, defined_nodes
from kinegraph.notation.naming import Naming, is_angle_function

#: What code calls values without a name; no definition may be called so.
_NUMBERED = re.compile(r"[xt]\d+", re.IGNORECASE)


def shared_terms(printed: Graph, coded: Graph, mechanism: Mechanism | None = None) -> Mapping[int, str]:
    """The names of terms in code, by the nodes of the graph `coded`: those that equations of `printed` have for them.

    Sines and cosines are named elsewhere. Definitions of the mechanism, and their negatives, go by their own names.

    Where a symbol is called x1, they are printed as y1, y2, ...; in code they are x1, x2, ... all the same.
    Both are of the same equations; code may be made of the graph as derived where the reduced one is printed. Equal
    expressions are one node in a builder, so they are known by that.
    """
    if len(printed) > LARGEST:
        return {}
    naming = Naming(printed, mechanism=mechanism)
    builder = GraphBuilder()
    places = transfer(naming.graph, builder)
    nodes = naming.graph.nodes
    shared = {i: label for i, label in naming.labels.items() if not is_angle_function(nodes[i])}
    names = {places[i]: f"x{label.suffix}" for i, label in shared.items() if label.suffix}
    found = {node: names[place] for node, place in transfer(coded, builder).items() if place in names}
    defined = {
        node: f"minus_{name}" if negative else name
        for node, (name, negative) in defined_nodes(coded, mechanism).items()
    }
    return found | {node: name for node, name in defined.items() if not _NUMBERED.fullmatch(name)}
