"""Chapter 4 of Rackovic's dissertation: the walker series by series, Tables 4.2 to 4.13."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from kinegraph.compiler.derive import in_closed_form
from kinegraph.compiler.mechanism_source import load
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Polynomial
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Coordinate, Inertia, Mechanism
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.by_parts import SIMPLIFIED, Choice, direction_cosines, part_of, put_back, top_of
from kinegraph.passes.effort import Effort
from kinegraph.passes.expand import Expand
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts
from kinegraph.reproduce.document import Entry, fewer, held

_ALL = "H,C,gravity"
_LIMITS = Limits(terms=5000, total=100_000, work=10**7, growth=1000)
_EXPAND = Expand(_LIMITS, forms=0)
#: "The upper degree of monomials is set to 2" (end of chapter 4).
_MONOMIALS = ExtractMonomials(degree=2)


@dataclass(frozen=True)
class Series:
    """The joints of a series, and those of its links that are counted here."""

    joints: tuple[int, ...]
    links: tuple[int, ...]


SERIES = (
    Series((1, 2, 3, 4, 5, 6, 7, 8), (1, 2, 3, 4, 5, 6, 7, 8)),
    Series((1, 2, 3, 4, 5, 9, 10, 11, 12), (9, 10, 11, 12)),
    Series((1, 2, 3, 4, 5, 9, 10, 13, 14), (13, 14)),
)


def mechanism_of(series: Series) -> Mechanism:
    """The walker with one series only; links that are counted elsewhere have no mass."""
    walker = load("rackovic-14r")
    bodies = tuple(
        body if _number(body.name) in series.links else replace(body, inertia=Inertia(central=body.inertia.central))
        for body in walker.bodies
        if _number(body.name) in series.joints
    )
    own = [one for one in walker.coordinates if isinstance(one, Coordinate) and _number(one.name) in series.joints]
    return replace(walker, name="series", bodies=bodies, coordinates=tuple(own), points=())


def _number(name: str) -> int:
    return int(name[1:])


# subgraphs


@dataclass(frozen=True)
class Reduced:
    """A subgraph through the dissertation's steps, and the whole graph with it put back."""

    initial: Operations
    complete: Operations
    simplified: Operations
    final: Operations
    products: Operations
    whole: Graph


def reduced_part(graph: Graph, choice: Choice = direction_cosines) -> Reduced:
    """Complete expressions, identities, equal expressions, monomials; the result put back, proved."""
    top = top_of(graph, choice(graph))
    part = part_of(graph, top)
    complete = _EXPAND.apply(part)
    simplified = SIMPLIFIED.apply(complete)
    final = _MONOMIALS.apply(simplified)
    products = _MONOMIALS.apply(FactorProducts().apply(simplified))
    whole = put_back(graph, top, final)
    prove(graph, whole).require()
    return Reduced(count(part), count(complete), count(simplified), count(final), count(products), whole)


def with_products_of_directions(graph: Graph) -> frozenset[int]:
    """Directions, and sums of products of two of them: (e_i . q_jk) and the components of e_i x e_j."""
    inside = direction_cosines(graph)
    return inside | {index for index, node in enumerate(graph.nodes) if _combines(graph, index, inside)}


def _combines(graph: Graph, index: int, inside: frozenset[int]) -> bool:
    node = graph.nodes[index]
    if not graph.live[index] or graph.static[index] or not isinstance(node, Polynomial):
        return False
    return all(
        abs(coefficient) == 1 and factors and all(child in inside or _turn(graph, child) for child, _ in factors)
        for coefficient, factors in node.terms
    )


def _turn(graph: Graph, index: int) -> bool:
    node = graph.nodes[index]
    return getattr(node, "name", "") in ("sin", "cos")


# tables


def _pair(name: str, printed: tuple[int, int], found: Operations, reason: str = "") -> Iterator[Entry]:
    yield fewer(f"{name}: mul", printed[0], found.mul, reason)
    yield fewer(f"{name}: add", printed[1], found.add, reason)


@cache
def _initial(number: int) -> Graph:
    return in_closed_form(mechanism_of(SERIES[number - 1]), _ALL, {})


@cache
def _directions(number: int) -> Reduced:
    return reduced_part(_initial(number))


def whole_walker() -> tuple[Entry, ...]:
    """Tables 4.2 to 4.4: the subgraph of directions of all fourteen joints, put back."""
    graph = in_closed_form(load("rackovic-14r"), _ALL, {})
    return tuple(_whole_entries(graph, reduced_part(graph)))


def _whole_entries(graph: Graph, found: Reduced) -> Iterator[Entry]:
    yield from _pair("Table 4.2, single support", (95219, 58951), count(graph))
    yield from _steps("Table 4.3", ((4738, 2407), (69356, 8996), (2144, 596), (387, 206)), found)
    yield from _pair("with products before monomials", (411, 220), found.products)
    yield from _pair("Table 4.4, single support", (67773, 39423), count(found.whole))


def _steps(name: str, printed: tuple[tuple[int, int], ...], found: Reduced) -> Iterator[Entry]:
    steps = (found.initial, found.complete, found.simplified, found.final)
    for word, said, operations in zip(("initial", "complete", "simplified", "final"), printed, steps, strict=True):
        yield from _pair(f"{name}, {word}", said, operations)


_TABLES = {
    1: ("Table 4.6", ((2172, 1094), (19848, 2629), (444, 137), (138, 57))),
    2: ("Table 4.9", ((2198, 1110), (24088, 3151), (272, 92), (104, 42))),
    3: ("Table 4.10", ((2198, 1110), (24088, 3151), (496, 156), (164, 78))),
}
#: Initial graph, graph with the subgraph put back, complete and simplified expressions, final graph.
_GRAPHS = {
    1: ((30247, 18435), (15454, 8366), (35828, 12869), (16002, 6406), (3287, 3270)),
    2: ((41315, 25434), (29030, 17079), (107440, 33547), (43073, 17938), (12021, 10653)),
    3: ((29837, 18363), (23418, 13824), (392500, 87905), (163632, 45199), (15299, 9326)),
}


def first_series() -> tuple[Entry, ...]:
    """Tables 4.5 to 4.8 and 4.11: legs."""
    return tuple(_series_entries(1))


def second_series() -> tuple[Entry, ...]:
    """Section 4.5.2 and Tables 4.9 and 4.12: body and one arm."""
    return tuple(_series_entries(2))


def third_series() -> tuple[Entry, ...]:
    """Section 4.5.3 and Tables 4.10 and 4.12: the other arm, on successive subgraphs."""
    return (*_series_entries(3), *_successive())


def _series_entries(number: int) -> Iterator[Entry]:
    first, back, complete, simplified, last = _GRAPHS[number]
    name, steps = _TABLES[number]
    found = _directions(number)
    yield from _pair(f"series {number}, initial graph", first, count(_initial(number)))
    yield from _steps(name, steps, found)
    yield from _pair(f"series {number}, subgraph put back", back, count(found.whole))
    expanded = _EXPAND.apply(found.whole)
    yield from _pair(f"series {number}, complete expressions", complete, count(expanded))
    short = SIMPLIFIED.apply(expanded)
    yield from _pair(f"series {number}, simplified expressions", simplified, count(short))
    final = _MONOMIALS.apply(short)
    prove(_initial(number), final).require()
    yield from _pair(f"series {number}, final graph", last, count(final))


def _successive() -> Iterator[Entry]:
    """The second subgraph of section 4.5.3 has products (e.q), the third e x e; here both are done at once."""
    found = reduced_part(_directions(3).whole, with_products_of_directions)
    yield from _pair("second and third subgraph, initial", (401, 178), found.initial)
    yield from _pair("second and third subgraph, final", (205, 110), found.final)
    yield from _pair("graph with both put back", (15299, 9325), count(found.whole))


def totals() -> tuple[Entry, ...]:
    """Table 4.13: the whole mechanism, and the sum of the series."""
    single = count(_final("rackovic-14r", _ALL))
    double = count(_final("rackovic-14r-double", f"{_ALL},B:support"))
    found = _different_quantities()
    return (
        held("different quantities, single support", "924", str(found), found == 924),
        held("and B of three joints in double support", "942", str(found + 3 * 6), found + 3 * 6 == 942),
        *_pair("Table 4.13, single support", (30607, 24008), single),
        *_pair("Table 4.13, double support with B", (30771, 24127), double),
    )


def _different_quantities() -> int:
    """Elements of H, C and h^G, each once, that depend on joints of one series."""
    elements: set[tuple[int, ...]] = set()
    for one in SERIES:
        elements |= {(i,) for i in one.joints}
        pairs = {(k, i) for k in one.joints for i in one.joints if i <= k}
        elements |= pairs | {(i, *pair) for i in one.joints for pair in pairs}
    return len(elements)


def _final(model: str, quantities: str) -> Graph:
    return reduced(request_of(load(model), quantities, numeric=True, effort=Effort.QUICK)).graph
