"""The steps of Rackovic's dissertation one after the other, with the counts after each (its Tables 3.3 and 3.4).

Four cases: the whole model at once or by parts, without or with factorization into products before monomials are
extracted. Analytic expressions are reduced by sin^2 + cos^2 = 1 while they are formed, equal expressions are one from
the start, and identities are chosen by what they save: the rest is the dissertation's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.graph.proof import prove
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.by_parts import IDENTITIES, SIMPLIFIED, direction_cosines, part_of, put_back, top_of
from kinegraph.passes.common_subexpressions import Rebuild
from kinegraph.passes.effort import Pass
from kinegraph.passes.expand import Expand
from kinegraph.passes.rackovic import ExtractMonomials, FactorProducts, IdenticalExpressions


@dataclass(frozen=True)
class Published:
    """What the dissertation prints for Example 2.1; sines and cosines for final results only."""

    mul: int
    add: int
    sin: int | None = None
    cos: int | None = None


@dataclass(frozen=True)
class ReductionStep:
    """The count after one step: of the whole graph, or of the part that is worked on.

    `changed` is False where a pass left the graph as it is; `too_large` says that its limits are why.
    """

    name: str
    operations: Operations
    published: Published | None
    changed: bool
    too_large: bool = False


@dataclass(frozen=True)
class Case:
    """One of the four ways to reduce the model; every step was proved equal to the graph it started from."""

    number: int
    title: str
    steps: tuple[ReductionStep, ...]
    graph: Graph

    @property
    def result(self) -> ReductionStep:
        """What the last step left."""
        return self.steps[-1]


#: Whole models of some hundred terms per output are written out; beyond, the steps say that nothing changed.
LIMITS = Limits(terms=5000, total=20000, work=10**7, growth=1000)


@dataclass
class _Record:
    """The steps of one case as they are made, and the cheapest state of the whole graph among them."""

    steps: list[ReductionStep] = field(default_factory=list)
    cheapest: tuple[str, Graph] | None = None

    def note(
        self, name: str, graph: Graph, published: Published | None, changed: bool = True, too_large: bool = False
    ) -> Graph:
        self.steps.append(ReductionStep(name, count(graph), published, changed, too_large))
        if not name.startswith("part: ") and (
            self.cheapest is None or count(graph).total <= count(self.cheapest[1]).total
        ):
            self.cheapest = name, graph
        return graph

    def ended(self, graph: Graph) -> Graph:
        """The last graph; where it costs more than one before it, that one, with a step that says so."""
        if self.cheapest is None or count(graph).total <= count(self.cheapest[1]).total:
            return graph
        name, cheaper = self.cheapest
        return self.note(f"back to {name}: what follows costs more", cheaper, None)

    def run(self, name: str, step: Pass, graph: Graph, published: Published) -> Graph:
        result = step.apply(graph)
        prove(graph, result).require()
        same = result is graph
        # Writing out is the one step with limits, and it makes a new graph wherever it keeps to them.
        return self.note(name, result, published, not same, same and isinstance(step, Expand))


def like_rackovic(graph: Graph, limits: Limits = LIMITS) -> tuple[Case, ...]:
    """The four cases, from a graph that has not been reduced yet."""
    cases_in_order: tuple[tuple[str, Callable[[_Record, Graph, Limits], Graph]], ...] = (
        ("the whole model, monomials", _whole),
        ("the whole model, products and monomials", _whole_with_products),
        ("by parts, monomials", _by_parts),
        ("by parts, products and monomials", _by_parts_with_products),
    )
    cases = []
    for number, (title, way) in enumerate(cases_in_order, start=1):
        record = _Record()
        start = record.run("neutral elements", Rebuild(), graph, Published(10268, 6166))
        result = record.ended(way(record, start, limits))
        cases.append(Case(number, title, tuple(record.steps), result))
    return tuple(cases)


_IDENTICAL = IdenticalExpressions()
_MONOMIALS, _PRODUCTS = ExtractMonomials(), FactorProducts()


def _simplified(record: _Record, graph: Graph, limits: Limits) -> Graph:
    """The whole model up to where cases 1 and 2 part."""
    graph = record.run("analytic expressions", Expand(limits, forms=0), graph, Published(5768, 1047))
    graph = record.run("trigonometric identities", IDENTITIES, graph, Published(1340, 453))
    return record.run("identical expressions", _IDENTICAL, graph, Published(801, 257))


def _whole(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _simplified(record, graph, limits)
    return record.run("monomials", _MONOMIALS, graph, Published(260, 177, 13, 13))


def _whole_with_products(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _simplified(record, graph, limits)
    graph = record.run("products", _PRODUCTS, graph, Published(453, 148))
    return record.run("monomials", _MONOMIALS, graph, Published(218, 138, 13, 13))


def _with_new_part(record: _Record, graph: Graph, limits: Limits) -> Graph:
    """The directions reduced alone and put back, then the whole up to where cases 3 and 4 part."""
    top = top_of(graph, direction_cosines(graph))
    part = record.note("part: directions", part_of(graph, top), Published(768, 382))
    part = record.run("part: analytic expressions", Expand(limits, forms=0), part, Published(543, 191))
    part = record.run("part: simplified expressions", SIMPLIFIED, part, Published(60, 14))
    part = record.run("part: monomials", _MONOMIALS, part, Published(43, 14))
    whole = record.note("part put back", put_back(graph, top, part), Published(9544, 5798))
    prove(graph, whole).require()
    whole = record.run("analytic expressions", Expand(limits, forms=0), whole, Published(931, 310))
    return record.run("simplified expressions", SIMPLIFIED, whole, Published(442, 174))


def _by_parts(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _with_new_part(record, graph, limits)
    return record.run("monomials", _MONOMIALS, graph, Published(196, 135, 7, 7))


def _by_parts_with_products(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _with_new_part(record, graph, limits)
    graph = record.run("products", _PRODUCTS, graph, Published(328, 138))
    return record.run("monomials", _MONOMIALS, graph, Published(140, 107, 7, 7))
