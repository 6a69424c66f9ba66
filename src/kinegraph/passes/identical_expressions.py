"""Identical expressions (Rackovic, Alg. 3.2): sums that are equal up to a number are computed once.

The builder gives equal expressions one node already; multiples of a sum are found here.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.coefficients import ZERO
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.multiples import Normal, normalised
from kinegraph.passes.factoring.system import System
from kinegraph.passes.factoring.tidy import tidy


@dataclass(frozen=True)
class IdenticalExpressions:
    """Compute one of several sums or products that differ by a number only, until there are no more."""

    name: str = "identical_expressions"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        while _merge(translation.system):
            tidy(translation.system)
        return to_graph(translation)


def _merge(system: System) -> bool:
    """Write every expression that is a multiple of an earlier one so; returns whether there was any."""
    known: dict[Normal, tuple[int, int]] = {}
    merged = False
    for literal in sorted(system.expressions):
        terms = system.expressions[literal]
        if not terms or _is_multiple(system, terms):
            continue
        key, scale = normalised(system, terms)
        first, own = known.setdefault(key, (literal, scale))
        ratio = system.coefficients.divide(scale, own)
        if first == literal or ratio is None:
            continue
        for monomial in list(terms):
            system.set_term(literal, monomial, ZERO)
        system.set_term(literal, system.monomials.intern((first,)), ratio)
        merged = True
    return merged


def _is_multiple(system: System, terms: dict[int, int]) -> bool:
    """Is this a number times one quantity already?"""
    return len(terms) == 1 and system.monomials.degree[next(iter(terms))] <= 1
