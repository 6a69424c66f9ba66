"""Which nodes of a graph are expressions that the model has a name for (`define`, `quasivelocity`).

They are known by their values at a random point of a prime field, as in proofs: however the reduction has written an
expression, it is the one that was defined, up to its sign.
"""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.derive.elements.element_names import ElementNames
from kinegraph.derive.quantities.derivation import Derivation, Plan
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import KinegraphError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof.prove import values_at_one_point
from kinegraph.model.definitions import named_expressions
from kinegraph.model.expression import Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component

#: Equations beyond this many nodes are printed for nobody.
LARGEST = 20_000


def defined_nodes(graph: Graph, mechanism: Mechanism | None) -> dict[int, tuple[str, bool]]:
    """By node the name of the definition it is, and whether with the other sign; one node for each definition.

    Definitions that the reduction has not left whole are not found.
    """
    if mechanism is None or not named_expressions(mechanism) or len(graph) > LARGEST:
        return {}
    try:
        definitions = _definitions(graph, mechanism)
        values, wanted, prime = values_at_one_point(graph, definitions)
    except KinegraphError:  # no name is worth a failure
        return {}
    places: dict[int, int] = {}
    for index, value in enumerate(values):
        if not isinstance(graph.nodes[index], Symbol) and not graph.static[index]:
            places.setdefault(value, index)
    found: dict[int, tuple[str, bool]] = {}
    for output in definitions.outputs:
        value = wanted[output.nodes[0]]
        negative = value not in places
        place = places.get(-value % prime if negative else value)
        if place is not None and place not in found:
            found[place] = output.name, negative
    return found


def _definitions(graph: Graph, mechanism: Mechanism) -> Graph:
    """The definitions as graphs; parameters that the equations know as numbers are numbers here too."""
    known = _names(mechanism, _bound(graph, mechanism))
    outputs: list[Output] = []
    for one in named_expressions(mechanism):
        try:
            outputs.append(Output(one.name, (), (known.scalar(one.value).index,)))
        except KinegraphError:  # no name is worth a failure
            continue
    return known.builder.graph(outputs)


def _names(mechanism: Mechanism, bound: Mapping[str, Expression]) -> Names:
    """What names stand for; where points are followed, only if a definition uses some."""
    used = {name for one in named_expressions(mechanism) for name in names(one.value)}
    if not any(map(component, used)):
        return Names(GraphBuilder(), mechanism, bound)
    return ElementNames(mechanism, bound, Derivation(mechanism, bound, Plan()).layout)


def _bound(graph: Graph, mechanism: Mechanism) -> Mapping[str, Expression]:
    symbols = {symbol.name for symbol in graph.symbols(Kind.PARAMETER)}
    return {one.name: one.value for one in mechanism.parameters if one.name not in symbols and one.value is not None}
