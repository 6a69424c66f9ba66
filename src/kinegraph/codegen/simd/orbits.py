"""Which nodes of a graph go over into each other when symbols are exchanged.

A robot's left and right arm are computed by the same formulas, in other symbols. Where exchanging the symbols takes a
node of the graph to another one, or to its negative, both can be computed side by side. Nodes may be exchanged like
symbols, by their ids, whatever their formulas are: what the segments of a loop take in from outside.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kinegraph.graph.node import Coefficient, Function, Graph, Node, Polynomial, Symbol


class Signed(NamedTuple):
    """A node or its negative."""

    sign: int
    node: int


#: Symbols, and nodes by their ids.
Exchanged: TypeAlias = Symbol | int

#: The length of the orbit of a node that becomes itself.
_ALONE = 2

_Terms: TypeAlias = list[tuple[Coefficient, frozenset[tuple[int, int]]]]


def orbits(graph: Graph, exchange: Mapping[Exchanged, Exchanged]) -> dict[int, tuple[Signed, ...]]:
    """For every live node: itself and what it becomes, one exchange after the other, until it is itself or its own
    negative again, which is the last entry. Nodes that become nothing the graph has are left out."""
    image = images(graph, exchange)
    found: dict[int, tuple[Signed, ...]] = {}
    for index in image:
        orbit = [Signed(1, index)]
        following: Signed | None = image[index]
        while following is not None and following.node != index and len(orbit) <= len(exchange):
            orbit.append(following)
            further = image.get(following.node)
            following = further and Signed(following.sign * further.sign, further.node)
        if following is not None and following.node == index:
            found[index] = (*orbit, following)
    return found


def share_side_by_side(graph: Graph, exchange: Mapping[Exchanged, Exchanged]) -> float:
    """Which part of a graph's operations is done for nodes that become others; terms and factors count equally."""
    found = orbits(graph, exchange)
    work = {index: 0 for index in range(len(graph)) if graph.live[index] and not graph.static[index]}
    for index in work:
        node = graph.nodes[index]
        work[index] = sum(max(1, len(factors)) for _, factors in node.terms) if isinstance(node, Polynomial) else 1
    together = sum(count for index, count in work.items() if len(found.get(index, ())) > _ALONE)
    return together / max(1, sum(work.values()))


def images(graph: Graph, exchange: Mapping[Exchanged, Exchanged]) -> dict[int, Signed]:
    """What live nodes become if symbols are exchanged, where that is a node of the graph or its negative."""
    known: dict[Hashable, int] = {}
    itself = {index: Signed(1, index) for index in range(len(graph))}
    for index, live in enumerate(graph.live):
        if live:
            known[_key(graph, index, itself)] = index
    found: dict[int, Signed] = {}
    given = exchanged_nodes(graph.nodes, exchange)
    for index, live in enumerate(graph.live):
        if live and (image := given.get(index) or _image(graph, index, exchange, found, known)):
            found[index] = image
    return found


def exchanged_nodes(nodes: Sequence[Node], exchange: Mapping[Exchanged, Exchanged]) -> dict[int, Signed]:
    """What the nodes become that are exchanged by their ids, without the signs in front of them."""
    found: dict[int, Signed] = {}
    for one, other in exchange.items():
        if isinstance(one, int) and isinstance(other, int):
            (sign, node), (image_sign, image) = without_sign(nodes, one), without_sign(nodes, other)
            found[node] = Signed(sign * image_sign, image)
    return found


def without_sign(nodes: Sequence[Node], index: int) -> Signed:
    """A node without the signs in front of it."""
    sign, node = 1, nodes[index]
    while isinstance(node, Polynomial) and (inner := negative_of(node)) is not None:
        sign, index, node = -sign, inner, nodes[inner]
    return Signed(sign, index)


def _image(
    graph: Graph,
    index: int,
    exchange: Mapping[Exchanged, Exchanged],
    found: Mapping[int, Signed],
    known: Mapping[Hashable, int],
) -> Signed | None:
    node = graph.nodes[index]
    if isinstance(node, Symbol):
        other = known.get(exchange.get(node, node))
        return None if other is None else Signed(1, other)
    if isinstance(node, Function):
        other = known.get(_key(graph, index, found))
        return None if other is None else Signed(1, other)
    terms = _moved_terms(node, found)
    if terms is None:
        return None
    if (negated := negative_of(node)) is not None:
        return Signed(-found[negated].sign, found[negated].node)
    for sign in (1, -1):
        other = known.get(frozenset((sign * coefficient, factors) for coefficient, factors in terms))
        if other is not None:
            return Signed(sign, other)
    return None


def negative_of(node: Polynomial) -> int | None:
    """The node of which this is the negative, if it is just that."""
    if len(node.terms) != 1:
        return None
    coefficient, factors = node.terms[0]
    return factors[0][0] if coefficient == -1 and len(factors) == 1 and factors[0][1] == 1 else None


def _key(graph: Graph, index: int, place: Mapping[int, Signed]) -> Hashable:
    """What a node computes, from the nodes its children have become; None if one has become nothing."""
    node = graph.nodes[index]
    if isinstance(node, Symbol):
        return node
    if isinstance(node, Function):
        arguments = tuple(place.get(argument) for argument in node.arguments)
        return None if None in arguments else (node.name, arguments)
    terms = _moved_terms(node, place)
    return None if terms is None else frozenset(terms)


def _moved_terms(node: Polynomial, place: Mapping[int, Signed]) -> _Terms | None:
    terms: _Terms = []
    for coefficient, factors in node.terms:
        moved = []
        for child, exponent in factors:
            image = place.get(child)
            if image is None:
                return None
            if image.sign < 0 and exponent % 2:
                coefficient = -coefficient
            moved.append((image.node, exponent))
        terms.append((coefficient, frozenset(moved)))
    return terms
