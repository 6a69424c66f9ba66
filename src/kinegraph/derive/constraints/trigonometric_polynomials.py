"""Polynomials in sines and cosines of unknown angles and in unknown displacements, with square roots simplified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from kinegraph.graph.angle import LinearForm, linear_form
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import GUARDED, Coefficient, Factor, Function, Kind, Polynomial, Symbol, Term, children

#: Coefficients of unknown coordinates, by symbol.
Combination: TypeAlias = tuple[tuple[int, Coefficient], ...]


#: Prefix of coordinates that determine the branch. Names of coordinates have no spaces.
GIVEN = "given "


class NoClosedForm(Exception):
    """No closed form of these equations is known."""


class AtomKind(Enum):
    """The function of an unknown in a monomial."""

    COSINE = "cos"
    SINE = "sin"
    VALUE = "value"


class Atom(NamedTuple):
    """A sine or cosine of an unknown angle, or an unknown displacement."""

    part: AtomKind
    unknown: Combination


Monomial: TypeAlias = tuple[Atom, ...]
Expanded: TypeAlias = dict[Monomial, Scalar]

#: The known forms have no longer products.
_MOST_FACTORS = 3


class SineCosine(NamedTuple):
    """Sine and cosine of an angle."""

    sine: Scalar
    cosine: Scalar

    def after(self, other: SineCosine) -> SineCosine:
        """Sine and cosine of the sum of two angles."""
        return SineCosine(
            self.sine * other.cosine + self.cosine * other.sine, self.cosine * other.cosine - self.sine * other.sine
        )

    def back(self) -> SineCosine:
        """Sine and cosine of the negative angle."""
        return SineCosine(-self.sine, self.cosine)


class Unknowns:
    """Expands scalars as polynomials in unknowns; `angles`: the representative angle of each unknown combination.

    Angles that differ by a known angle are one unknown: sin(q1 + q2) and sin(q2) with q1 known. The first one found
    represents all of them, so that a chain in the axes of the ground keeps the absolute angles of its bars.
    """

    def __init__(self, builder: GraphBuilder, symbols: Iterable[int]) -> None:
        self.builder = builder
        self.symbols = frozenset(symbols)
        self.angles: dict[Combination, LinearForm] = {}
        self._known: dict[int, Expanded] = {}
        self._touched: dict[int, bool] = {}

    def expanded(self, scalar: Scalar) -> Expanded:
        """A scalar as a polynomial in the unknowns; NoClosedForm if it is not a polynomial."""
        return self._expanded(scalar.index)

    def _depends(self, index: int) -> bool:
        if index not in self._touched:
            node = self.builder.nodes[index]
            self._touched[index] = index in self.symbols or any(self._depends(child) for child in children(node))
        return self._touched[index]

    def _expanded(self, index: int) -> Expanded:
        if index not in self._known:
            self._known[index] = self._new(index)
        return self._known[index]

    def _new(self, index: int) -> Expanded:
        if not self._depends(index):
            return {(): Scalar(self.builder, index)}
        node = self.builder.nodes[index]
        if isinstance(node, Polynomial):
            return self._sum(node)
        if isinstance(node, Function):
            if node.name not in ("sin", "cos"):
                raise NoClosedForm
            return self._sine(node)
        return {(Atom(AtomKind.VALUE, ((index, 1),)),): Scalar(self.builder, self.builder.one)}

    def _sum(self, node: Polynomial) -> Expanded:
        total: Expanded = {}
        for coefficient, factors in node.terms:
            term: Expanded = {(): Scalar(self.builder, self.builder.number(coefficient))}
            for child, exponent in factors:
                for _ in range(exponent):
                    term = multiplied(term, self._expanded(child))
            total = added(total, term)
        return total

    def _sine(self, node: Function) -> Expanded:
        form = linear_form(self.builder.nodes, node.arguments[0])
        if not any(self._depends(child) for monomial in form for child, _ in monomial):  # unknowns that cancel
            turn = turn_of(self.builder, form)
            return without_zeros({(): turn.cosine if node.name == "cos" else turn.sine})
        combination, sign = self._combination(form)
        angle = self.angles.setdefault(combination, _scaled(form, sign))
        rest = turn_of(self.builder, less(_scaled(form, sign), angle))
        sine, cosine = (Atom(part, combination) for part in (AtomKind.SINE, AtomKind.COSINE))
        if node.name == "cos":
            return without_zeros({(cosine,): rest.cosine, (sine,): -rest.sine})
        return without_zeros({(sine,): sign * rest.cosine, (cosine,): sign * rest.sine})

    def _combination(self, form: LinearForm) -> tuple[Combination, int]:
        """The unknown part of an angle with a positive first coefficient, and the sign it was multiplied by."""
        found: dict[int, Coefficient] = {}
        for monomial, coefficient in form.items():
            if any(self._depends(child) for child, _ in monomial):
                if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0] not in self.symbols:
                    raise NoClosedForm
                found[monomial[0][0]] = coefficient
        sign = 1 if found[min(found)] > 0 else -1
        return tuple((symbol, sign * found[symbol]) for symbol in sorted(found)), sign


def turn_of(builder: GraphBuilder, form: LinearForm) -> SineCosine:
    """Sine and cosine of an angle given as a linear form."""
    angle = Scalar(builder, builder.polynomial((c, monomial) for monomial, c in form.items()))
    return SineCosine(angle.sin(), angle.cos())


def given(builder: GraphBuilder, index: int) -> int:
    """The symbol of a given coordinate, which is never replaced and determines the branch."""
    node = builder.nodes[index]
    if not isinstance(node, Symbol) or node.kind is not Kind.COORDINATE:
        return index
    return builder.symbol(Kind.COORDINATE, GIVEN + node.name)


def given_turn(builder: GraphBuilder, form: LinearForm) -> SineCosine:
    """Sine and cosine of an angle of given coordinates."""
    return turn_of(builder, {tuple((given(builder, x), e) for x, e in one): c for one, c in form.items()})


def _scaled(form: LinearForm, sign: int) -> LinearForm:
    return {monomial: sign * coefficient for monomial, coefficient in form.items()}


def less(form: LinearForm, other: LinearForm, times: int = 1) -> LinearForm:
    """An angle minus a multiple of another."""
    found = dict(form)
    for monomial, coefficient in other.items():
        found[monomial] = found.get(monomial, 0) - times * coefficient
    return {monomial: coefficient for monomial, coefficient in found.items() if coefficient}


def added(first: Expanded, second: Expanded) -> Expanded:
    """The sum of two polynomials."""
    total = dict(first)
    for monomial, coefficient in second.items():
        total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
    return without_zeros(total)


def multiplied(first: Expanded, second: Expanded) -> Expanded:
    """The product of two polynomials, with sin^2 replaced by 1 - cos^2."""
    total: Expanded = {}
    for left, a in first.items():
        for right, b in second.items():
            for monomial, sign in _without_squares(tuple(sorted((*left, *right), key=_order))):
                product = sign * (a * b)
                total[monomial] = total[monomial] + product if monomial in total else product
    return without_zeros(total)


def _without_squares(monomial: Monomial) -> list[tuple[Monomial, int]]:
    """Replace sin^2 by 1 - cos^2, so that constant lengths become constants."""
    for place, (first, second) in enumerate(pairwise(monomial)):
        if first == second and first.part is AtomKind.SINE:
            rest = (*monomial[:place], *monomial[place + 2 :])
            cosine = Atom(AtomKind.COSINE, first.unknown)
            squared = tuple(sorted((*rest, cosine, cosine), key=_order))
            return [*_without_squares(rest), *((one, -sign) for one, sign in _without_squares(squared))]
    if len(monomial) > _MOST_FACTORS:
        raise NoClosedForm
    return [(monomial, 1)]


def _order(atom: Atom) -> tuple[Combination, str]:
    return atom.unknown, atom.part.value


def without_zeros(expanded: Mapping[Monomial, Scalar]) -> Expanded:
    """The polynomial without zero terms."""
    return {monomial: coefficient for monomial, coefficient in expanded.items() if not coefficient.is_zero}


def without_squared_roots(scalar: Scalar) -> Scalar:
    """The same scalar with sqrt(x)^2 = x and sign(x)^2 = 1 in its terms, so that squares need no root."""
    builder = scalar.builder
    node = builder.nodes[scalar.index]
    if not isinstance(node, Polynomial):
        return scalar
    if len(node.terms) == 1 and len(node.terms[0][1]) == 1 and node.terms[0][1][0][1] == 1:  # a multiple of a sum
        inner = without_squared_roots(Scalar(builder, node.terms[0][1][0][0]))
        return Scalar(builder, builder.scale(node.terms[0][0], inner.index))
    return Scalar(builder, builder.polynomial(expanded_terms(builder, node.terms)))


def expanded_terms(builder: GraphBuilder, terms: tuple[Term, ...]) -> Iterator[Term]:
    """Terms without squares of roots; a term that becomes a sum is expanded."""
    for coefficient, factors in terms:
        whole, exponents = _exponents(builder, factors)
        if any(exponent > 1 and _is(builder, child, "sqrt") for child, exponent in exponents.items()):
            yield from _replaced(builder, coefficient * whole, exponents)
        else:
            yield coefficient, factors


def _has_root(builder: GraphBuilder, index: int) -> bool:
    node = builder.nodes[index]
    if isinstance(node, Polynomial) and len(node.terms) == 1:
        return any(_has_root(builder, child) for child, _ in node.terms[0][1])
    return _is(builder, index, "sqrt")


def _is(builder: GraphBuilder, index: int, name: str) -> bool:
    node = builder.nodes[index]
    return isinstance(node, Function) and node.name == name


def _exponents(builder: GraphBuilder, factors: tuple[Factor, ...]) -> tuple[Coefficient, dict[int, int]]:
    """The coefficient and exponents of a product, with products of roots expanded into their factors."""
    whole: Coefficient = 1
    found: dict[int, int] = {}
    waiting = list(factors)
    while waiting:
        child, exponent = waiting.pop()
        node = builder.nodes[child]
        if isinstance(node, Polynomial) and len(node.terms) == 1 and _has_root(builder, child):
            whole *= node.terms[0][0] ** exponent
            waiting += [(inner, power * exponent) for inner, power in node.terms[0][1]]
        else:
            found[child] = found.get(child, 0) + exponent
    return whole, found


def _replaced(builder: GraphBuilder, coefficient: Coefficient, exponents: dict[int, int]) -> Iterator[Term]:
    """A term with sqrt(x)^2 = x and sign(x)^2 = 1: if the sign is zero, the root next to it is NaN."""
    rest: list[Factor] = []
    squares: list[int] = []
    for child, exponent in exponents.items():
        is_root = _is(builder, child, "sqrt")
        if is_root:
            squares += [_radicand(builder, builder.nodes[child])] * (exponent // 2)
        exponent = exponent % 2 if is_root or _is(builder, child, "sign") else exponent
        rest += [(child, exponent)] if exponent else []
    if not rest and len(squares) == 1:
        only = builder.nodes[squares[0]]
        if isinstance(only, Polynomial):
            yield from ((coefficient * c, factors) for c, factors in only.terms)
            return
    yield coefficient, (*rest, *((square, 1) for square in squares))


def _radicand(builder: GraphBuilder, node: object) -> int:
    """The radicand of a root, without its guard."""
    assert isinstance(node, Function)
    inner = builder.nodes[node.arguments[0]]
    guarded = isinstance(inner, Function) and inner.name == GUARDED
    return inner.arguments[0] if guarded and isinstance(inner, Function) else node.arguments[0]
