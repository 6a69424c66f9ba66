"""Reduce a graph by parts: an independent part alone, or the sums over each chain alone (Rackovic, 3.4 and 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kinegraph.graph.build import GraphBuilder, Scalar, copied, moved
from kinegraph.graph.count import count
from kinegraph.graph.node import Function, Graph, Kind, Output, Polynomial, Symbol, Term, children
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.common_subexpressions import Rebuild
from kinegraph.passes.effort import Pass, PassSequence
from kinegraph.passes.expand import Expand
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts, IdenticalExpressions
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities

# The dissertation's steps on one part

#: The dissertation's identities: of sums and squares, not of single products.
IDENTITIES = TrigonometricIdentities(double_sines=False)
SIMPLIFIED = PassSequence("simplified", (IDENTITIES, IdenticalExpressions()))

#: Complete expressions, identities, equal expressions, products, monomials: where a pipeline names no passes.
STEPS: tuple[Pass, ...] = (
    Expand(Limits(terms=5000, total=20000, work=10**7, growth=1000), forms=0),
    IDENTITIES,
    IdenticalExpressions(),
    FactorProducts(),
    ExtractMonomials(),
)


def _applied(steps: Sequence[Pass], graph: Graph) -> Graph:
    for step in steps:
        graph = step.apply(graph)
    return graph


# A part of the graph (Rackovic, section 3.4)
#
# A part is independent if nothing but its top is used by the rest, so that nothing the rest needs is lost when the part
# is computed in another way.

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

    steps: tuple[Pass, ...] = STEPS
    choice: Choice = direction_cosines
    name: str = "by_parts"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        top = top_of(graph, self.choice(graph))
        if not top:
            return graph
        result = put_back(graph, top, _applied(self.steps, part_of(graph, top)))
        return result if count(result).total <= count(graph).total else graph


# Series (Rackovic, sections 1.4 and 4.5): a tree is a set of chains from the root to a tip. What its bodies contribute
# to H, C and gravity are sums, and each summand depends on the coordinates of one chain alone. So the summands of each
# chain are reduced alone, and added again.
#
# The graph alone tells the chains: two coordinates are on one chain if some summand depends on both, and a chain is a
# largest set of coordinates that are so in pairs.

#: Beyond so many chains the graph is left as it is: that many sets are not those of a tree.
MOST_CHAINS = 200

#: A set of coordinates, one bit for each.
Coordinates: TypeAlias = int


@dataclass(frozen=True)
class Series:
    """Run passes on the summands of each chain alone, and add the results.

    A graph of one chain is reduced whole. The graph stays as it is if nothing is saved.
    """

    steps: tuple[Pass, ...] = STEPS
    name: str = "series"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        parts = [_applied(self.steps, part) for part in series_of(graph)]
        result = added(parts) if len(parts) > 1 else parts[0]
        return result if count(result).total <= count(graph).total else graph


def added(parts: Sequence[Graph]) -> Graph:
    """The sums of graphs with the same outputs."""
    builder = GraphBuilder()
    every = [moved(part.outputs, copied(part, builder)) for part in parts]
    outputs = []
    for same in zip(*every, strict=True):
        entries = zip(*(output.nodes for output in same), strict=True)
        outputs.append(same[0]._replace(nodes=tuple(_sum(builder, entry) for entry in entries)))
    return builder.graph(outputs)


def _sum(builder: GraphBuilder, nodes: Sequence[int]) -> int:
    return sum((Scalar(builder, index) for index in nodes), Scalar(builder, builder.zero)).index


def series_of(graph: Graph) -> list[Graph]:
    """The graph as a sum: for each chain the summands that depend on its coordinates.

    A summand of several chains belongs to the first.
    """
    depends = _dependences(graph)
    chains = _chains(_pairs(graph, depends))
    if len(chains) < 2:
        return [graph]
    summands = _Summands(graph, depends, chains)
    return [summands.of(chain) for chain in range(len(chains))]


def _dependences(graph: Graph) -> list[Coordinates]:
    """The coordinates that each node depends on."""
    bits = {symbol: 1 << place for place, symbol in enumerate(graph.symbols(Kind.COORDINATE))}
    found: list[Coordinates] = []
    for node in graph.nodes:
        own = bits.get(node, 0) if isinstance(node, Symbol) else 0
        for child in children(node):
            own |= found[child]
        found.append(own)
    return found


def _single(term: Term) -> int | None:
    """The node that a term adds a number of times; None of a product."""
    factors = term[1]
    return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else None


def _pairs(graph: Graph, depends: Sequence[Coordinates]) -> dict[Coordinates, Coordinates]:
    """For each coordinate those that a summand of an output depends on beside it."""
    beside: dict[Coordinates, Coordinates] = {}
    for together in _together(graph, depends):
        for bit in _bits(together):
            beside[bit] = beside.get(bit, 0) | together
    return {bit: others & ~bit for bit, others in beside.items()}


def _together(graph: Graph, depends: Sequence[Coordinates]) -> set[Coordinates]:
    """The coordinates of every summand of the outputs, sums of sums taken apart."""
    found: set[Coordinates] = set()
    todo = {index for output in graph.outputs for index in output.nodes}
    seen: set[int] = set()
    while todo:
        index = todo.pop()
        seen.add(index)
        node = graph.nodes[index]
        if not isinstance(node, Polynomial):
            found.add(depends[index])
            continue
        for term in node.terms:
            child = _single(term)
            if child is None:
                found.add(_of_term(term, depends))
            elif child not in seen:
                todo.add(child)
    return found


def _of_term(term: Term, depends: Sequence[Coordinates]) -> Coordinates:
    found = 0
    for child, _ in term[1]:
        found |= depends[child]
    return found


def _bits(coordinates: Coordinates) -> Iterator[Coordinates]:
    while coordinates:
        lowest = coordinates & -coordinates
        yield lowest
        coordinates ^= lowest


def _chains(beside: Mapping[Coordinates, Coordinates]) -> list[Coordinates]:
    """The largest sets of coordinates that are in pairs beside each other (Bron and Kerbosch), in a fixed order."""
    found: list[Coordinates] = []
    stack = [(0, sum(beside), 0)]
    while stack:
        chosen, candidates, known = stack.pop()
        if not candidates:
            if not known and chosen:
                found.append(chosen)
            continue
        if len(found) > MOST_CHAINS or len(stack) > 100 * MOST_CHAINS:
            return []
        pivot = max(_bits(candidates | known), key=lambda bit: (beside[bit] & candidates).bit_count())
        for bit in _bits(candidates & ~beside[pivot]):
            stack.append((chosen | bit, candidates & beside[bit], known & beside[bit]))
            candidates, known = candidates & ~bit, known | bit
    return sorted(found, key=lambda chain: list(_bits(chain)))


class _Summands:
    """The summands of all outputs by chain, over one copy of the graph."""

    def __init__(self, graph: Graph, depends: Sequence[Coordinates], chains: Sequence[Coordinates]) -> None:
        self.graph, self.depends, self.chains = graph, depends, chains
        self.builder = GraphBuilder()
        self.place = copied(graph, self.builder)
        self.outputs = [[self._apart(index) for index in output.nodes] for output in graph.outputs]

    def of(self, chain: int) -> Graph:
        """The graph of one chain."""
        outputs = []
        for output, entries in zip(self.graph.outputs, self.outputs, strict=True):
            nodes = tuple(entry.get(chain, self.builder.zero) for entry in entries)
            outputs.append(output._replace(nodes=nodes))
        return self.builder.graph(outputs)

    def _apart(self, index: int) -> dict[int, int]:
        """The sum of the summands of each chain; sums of one chain are not taken apart."""
        total: dict[int, Scalar] = {}
        todo = {index: self._number(1)}
        while todo:
            highest = max(todo)
            weight = todo.pop(highest)
            node, chain = self.graph.nodes[highest], self._chain(self.depends[highest])
            if chain is not None:
                total[chain] = total.get(chain, self._number(0)) + weight * Scalar(self.builder, self.place[highest])
                continue
            assert isinstance(node, Polynomial), "what is no sum depends on the coordinates of one chain"
            for term in node.terms:
                child = _single(term)
                if child is not None:
                    todo[child] = todo.get(child, self._number(0)) + weight * term[0]
                    continue
                own = self._chain(_of_term(term, self.depends))
                assert own is not None, "a summand depends on the coordinates of one chain"
                total[own] = total.get(own, self._number(0)) + weight * self._product(term)
        return {chain: value.index for chain, value in total.items()}

    def _chain(self, coordinates: Coordinates) -> int | None:
        """The first chain with these coordinates."""
        return next((number for number, chain in enumerate(self.chains) if not coordinates & ~chain), None)

    def _product(self, term: Term) -> Scalar:
        factors = ((self.place[child], exponent) for child, exponent in term[1])
        return Scalar(self.builder, self.builder.polynomial(((term[0], tuple(sorted(factors))),)))

    def _number(self, value: int) -> Scalar:
        return Scalar(self.builder, self.builder.number(value))
