"""Complete analytic expressions: polynomials in basic quantities only (the dissertation's Alg. 2.3).

Children come first in a graph, so one walk multiplies out every node; sin^2 + cos^2 = 1 is applied at every step, so
that equal expressions end up as equal polynomials. The shortest of the equivalent writings is chosen at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple, TypeAlias

import flint

from kinegraph.errors import StoreError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.canonical.numbers import exact
from kinegraph.graph.node import Coefficient, Function, Graph, Node, Polynomial, Symbol, children

#: More terms than this are no expression a person reads, and would not fit in memory for long.
MAX_TERMS = 500_000


class Basic(NamedTuple):
    """A basic quantity: a node itself (function ''), or the sine or cosine of it."""

    node: int
    function: str = ""


Monomial: TypeAlias = tuple[tuple[Basic, int], ...]
Expansion: TypeAlias = dict[Monomial, Coefficient]
Exponents: TypeAlias = tuple[int, ...]
Terms: TypeAlias = dict[Exponents, Coefficient]


def expand(graph: Graph, numbers: Mapping[int, Coefficient], sums: bool = False) -> dict[int, Expansion]:
    """The complete expressions of all nodes that outputs of a graph show.

    `numbers` gives nodes (parameters) a value. Sines and cosines of sums of symbols are expanded by the addition
    formulas, unless `sums` keeps them as they are. Other functions, and angles that are no whole multiples of symbols,
    are basic quantities themselves.
    """
    angles = {} if sums else _angles(graph)
    ring = _Ring(_basics(graph, numbers, angles), _pairs(graph, angles))
    wanted = {index for output in graph.outputs for index in output.nodes}
    polynomials: dict[int, flint.fmpq_mpoly] = {}
    last_use = _last_uses(graph)
    for index, node in enumerate(graph.nodes):
        polynomials[index] = _expanded(index, node, ring, polynomials, numbers, angles)
        for child in set(children(node)):
            if last_use[child] == index and child not in wanted:
                del polynomials[child]
    return {index: ring.shortest(polynomials[index]) for index in wanted}


Angle: TypeAlias = tuple[tuple[int, int], ...]


def _angles(graph: Graph) -> dict[int, Angle]:
    """The sines and cosines whose argument is a sum of whole multiples of symbols, with that sum."""
    found: dict[int, Angle] = {}
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Function) and node.name in ("sin", "cos"):
            form = linear_form(graph.nodes, node.arguments[0])
            if all(_is_multiple(graph, monomial, times) for monomial, times in form.items()):
                found[index] = tuple((monomial[0][0], int(times)) for monomial, times in sorted(form.items()))
    return found


def _is_multiple(graph: Graph, monomial: tuple[tuple[int, int], ...], times: Coefficient) -> bool:
    if len(monomial) != 1 or monomial[0][1] != 1 or times.denominator != 1:
        return False
    node = graph.nodes[monomial[0][0]]
    return isinstance(node, Symbol) and node.name != "pi"


def _basics(graph: Graph, numbers: Mapping[int, Coefficient], angles: Mapping[int, Angle]) -> list[Basic]:
    turned = sorted({node for angle in angles.values() for node, _ in angle})
    basics = [Basic(node, "sin") for node in turned] + [Basic(node, "cos") for node in turned]
    own = [
        index
        for index, node in enumerate(graph.nodes)
        if (isinstance(node, Symbol) and index not in numbers) or (isinstance(node, Function) and index not in angles)
    ]
    # Sines first: the remainder by sin^2 + cos^2 - 1 is then free of squares of sines.
    own.sort(key=lambda index: (not _is(graph.nodes[index], "sin"), index))
    return basics + [Basic(index) for index in own]


def _is(node: Node, function: str) -> bool:
    return isinstance(node, Function) and node.name == function


def _pairs(graph: Graph, angles: Mapping[int, Angle]) -> list[tuple[Basic, Basic]]:
    """All (sine, cosine) of the same angle."""
    pairs = [(Basic(n, "sin"), Basic(n, "cos")) for n in sorted({n for angle in angles.values() for n, _ in angle})]
    whole = {
        (node.name, node.arguments): Basic(index)
        for index, node in enumerate(graph.nodes)
        if isinstance(node, Function) and index not in angles
    }
    for (name, arguments), sine in whole.items():
        if name == "sin" and ("cos", arguments) in whole:
            pairs.append((sine, whole[("cos", arguments)]))
    return pairs


def _last_uses(graph: Graph) -> list[int]:
    last = list(range(len(graph)))
    for index, node in enumerate(graph.nodes):
        for child in children(node):
            last[child] = index
    return last


def _expanded(
    index: int,
    node: Node,
    ring: _Ring,
    polynomials: Mapping[int, flint.fmpq_mpoly],
    numbers: Mapping[int, Coefficient],
    angles: Mapping[int, Angle],
) -> flint.fmpq_mpoly:
    if index in numbers:
        return ring.number(numbers[index])
    if index in angles:
        assert isinstance(node, Function)
        cosine, sine = ring.turned(angles[index])
        return sine if node.name == "sin" else cosine
    if not isinstance(node, Polynomial):
        return ring.basic(Basic(index))
    total = ring.number(0)
    for coefficient, factors in node.terms:
        product = ring.number(coefficient)
        for child, exponent in factors:
            for _ in range(exponent):
                product = ring.multiply(product, polynomials[child])
        total += product
    return ring.reduced(total)


class _Ring:
    """Polynomials in the basic quantities, over the rationals, modulo sin^2 + cos^2 = 1."""

    def __init__(self, basics: Sequence[Basic], pairs: Sequence[tuple[Basic, Basic]]) -> None:
        self.basics = basics
        self.place = {basic: place for place, basic in enumerate(basics)}
        names = tuple(f"x{place}" for place in range(len(basics))) or ("x",)
        self.context = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex)
        self.generators = self.context.gens()
        self.pairs = [(self.place[sine], self.place[cosine]) for sine, cosine in pairs]
        self.circles = [self.generators[s] ** 2 + self.generators[c] ** 2 - 1 for s, c in self.pairs]

    def number(self, value: Coefficient) -> flint.fmpq_mpoly:
        return self.context.constant(flint.fmpq(value.numerator, value.denominator))

    def basic(self, basic: Basic) -> flint.fmpq_mpoly:
        return self.generators[self.place[basic]]

    def multiply(self, left: flint.fmpq_mpoly, right: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        if len(left) * len(right) > 40 * MAX_TERMS:
            raise _too_long()
        return self.reduced(left * right)

    def reduced(self, polynomial: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        degrees = polynomial.degrees()
        for (sine, _), circle in zip(self.pairs, self.circles, strict=True):
            if degrees[sine] > 1:
                polynomial = polynomial % circle
        if len(polynomial) > MAX_TERMS:
            raise _too_long()
        return polynomial

    def turned(self, angle: Angle) -> tuple[flint.fmpq_mpoly, flint.fmpq_mpoly]:
        """Cosine and sine of a sum of multiples, by the addition formulas."""
        cosine, sine = self.number(1), self.number(0)
        for node, times in angle:
            c, s = self.basic(Basic(node, "cos")), self.basic(Basic(node, "sin"))
            s = s if times > 0 else -s
            for _ in range(abs(times)):
                cosine, sine = self.reduced(cosine * c - sine * s), self.reduced(sine * c + cosine * s)
        return cosine, sine

    def shortest(self, polynomial: flint.fmpq_mpoly) -> Expansion:
        """For every angle, squares of sines or squares of cosines: whichever leaves fewer terms."""
        terms: Terms = {
            tuple(map(int, exponents)): exact(Fraction(int(value.p), int(value.q)))
            for exponents, value in polynomial.to_dict().items()
        }
        for sine, cosine in self.pairs:
            other = _exchanged(terms, cosine, sine)
            if len(other) < len(terms):
                terms = other
        return dict(sorted(((self._monomial(e), c) for e, c in terms.items()), key=_order))

    def _monomial(self, exponents: Exponents) -> Monomial:
        powers = ((self.basics[place], power) for place, power in enumerate(exponents) if power)
        return tuple(sorted(powers, key=lambda power: (power[0].node, power[0].function)))


def _order(term: tuple[Monomial, Coefficient]) -> tuple[int, Monomial]:
    return len(term[0]), term[0]


def _exchanged(terms: Terms, away: int, to: int) -> Terms:
    """Even powers of one generator written as powers of 1 - the square of the other."""
    result: Terms = {}
    for exponents, coefficient in terms.items():
        half, rest = divmod(exponents[away], 2)
        for k in range(half + 1):
            moved = list(exponents)
            moved[away], moved[to] = rest, exponents[to] + 2 * k
            key = tuple(moved)
            total = result.get(key, 0) + coefficient * (-1) ** k * comb(half, k)
            if total:
                result[key] = exact(total)
            else:
                result.pop(key, None)
    return result


def _too_long() -> StoreError:
    return StoreError(
        f"the complete expression has more than {MAX_TERMS} terms; ask for one entry, treat parameters as numbers, "
        "or keep the sines of sums (--sums)"
    )
