"""Monomial extraction (Rackovic, Alg. 3.3): Y_j = mu Y1_j + Y2_j for all j with one mu, largest saving first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.coefficients import ONE, ZERO
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.multiples import Normal, normalised
from kinegraph.passes.factoring.system import System
from kinegraph.passes.factoring.tidy import tidy

#: Larger systems are left to fast extract, which keeps its candidates incrementally.
MOST_TERMS = 4000


@dataclass(frozen=True)
class ExtractMonomials:
    """Take the monomial with the largest saving out of all expressions at once, until none saves.

    A monomial of degree d that stands in p terms of an expression saves p d - 1 multiplications there; computing it
    costs d - 1. Over all N expressions and Phi terms that hold it this is U = Phi d - N - (d - 1). After each
    extraction quotients that are equal up to a number become one. `degree` is the largest d that is looked at.
    """

    degree: int = 3
    name: str = "monomials"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        system = translation.system
        if sum(map(len, system.expressions.values())) > MOST_TERMS:
            return graph
        tidy(system)
        while (best := _best(system, self.degree)) is not None:
            _extract(system, best)
        return to_graph(translation)


def _best(system: System, degree: int) -> tuple[int, ...] | None:
    """The monomial that saves most."""
    savings: Counter[tuple[int, ...]] = Counter()
    for terms in system.expressions.values():
        held: Counter[tuple[int, ...]] = Counter()
        for monomial in terms:
            held.update(_divisors(system.monomials.literals[monomial], degree))
        for divisor, number in held.items():
            savings[divisor] += number * len(divisor) - 1
    worth = {divisor: saving - len(divisor) + 1 for divisor, saving in savings.items()}
    best = max(worth, key=lambda divisor: (worth[divisor], tuple(-x for x in divisor)), default=None)
    return best if best is not None and worth[best] > 0 else None


def _divisors(literals: tuple[int, ...], degree: int) -> set[tuple[int, ...]]:
    """All parts of up to so many literals: larger ones are found in steps."""
    return {part for size in range(1, min(degree, len(literals)) + 1) for part in combinations(literals, size)}


def _extract(system: System, divisor: tuple[int, ...]) -> None:
    holders = {
        literal: [m for m in terms if not Counter(divisor) - Counter(system.monomials.literals[m])]
        for literal, terms in system.expressions.items()
    }
    known: dict[Normal, tuple[int, int]] = {}
    for literal, terms in system.expressions.items():
        if len(terms) > 1:
            key, scale = normalised(system, terms)
            known.setdefault(key, (literal, scale))
    factor = divisor[0] if len(divisor) == 1 else _product(system, divisor, holders)
    for literal, monomials in holders.items():
        if literal == factor or not monomials:
            continue
        terms = {system.monomials.without(m, divisor): system.expressions[literal][m] for m in monomials}
        for monomial in monomials:
            system.set_term(literal, monomial, ZERO)
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            system.add_term(literal, system.monomials.times(monomial, (factor,)), coefficient)
        else:
            rest, scale = _quotient(system, terms, known)
            system.add_term(literal, system.monomials.intern(tuple(sorted((factor, rest)))), scale)
    tidy(system)


def _quotient(system: System, terms: dict[int, int], known: dict[Normal, tuple[int, int]]) -> tuple[int, int]:
    """The expression of these terms and the number to multiply it by: equal up to a number are one (Alg. 3.2)."""
    key, scale = normalised(system, terms)
    literal, own = known.get(key, (-1, ONE))
    ratio = system.coefficients.divide(scale, own) if literal >= 0 else None
    if ratio is not None:
        return literal, ratio
    literal = system.create()
    for monomial, coefficient in terms.items():
        system.set_term(literal, monomial, coefficient)
    known.setdefault(key, (literal, scale))
    return literal, ONE


def _product(system: System, divisor: tuple[int, ...], holders: dict[int, list[int]]) -> int:
    """The expression of the monomial itself, one that is there already if possible."""
    product = system.monomials.intern(divisor)
    for literal in holders:
        if system.expressions[literal] == {product: 1}:
            return literal
    literal = system.create()
    system.set_term(literal, product, 1)
    return literal
