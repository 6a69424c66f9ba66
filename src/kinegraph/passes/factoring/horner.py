"""Horner schemes for long sums: P = x Q + R by one literal after another, equal parts shared.

Fast extract looks at all pairs of terms of an expression, which is hopeless for thousands of terms. A Horner scheme
breaks them up first; in which order the literals are taken out matters much more than what is done afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from math import gcd, lcm

from kinegraph.passes.factoring.coefficients import ONE, ZERO
from kinegraph.passes.factoring.system import System

#: Sums of more terms than this are broken up.
LONG = 100

Poly = dict[tuple[int, ...], int]


class Order(Enum):
    """Which literal is taken out first."""

    RAREST = "rarest"
    COMMONEST = "commonest"
    ADAPTIVE = "adaptive"
    FORWARD = "forward"
    BACKWARD = "backward"


def has_long_sums(system: System) -> bool:
    """Is there anything to break up?"""
    return any(len(terms) > LONG for terms in system.expressions.values())


def break_up(system: System, order: Order) -> None:
    """Rewrite all long sums by Horner schemes; to be done before candidates are indexed."""
    long = [literal for literal, terms in system.expressions.items() if len(terms) > LONG]
    scheme = _Scheme(system, _ranked(system, long, order))
    for literal in long:
        monomials = system.monomials.literals
        poly = {monomials[m]: c for m, c in system.expressions[literal].items()}
        for monomial in list(system.expressions[literal]):
            system.set_term(literal, monomial, ZERO)
        scheme.fill(literal, poly)


def _ranked(system: System, long: Sequence[int], order: Order) -> list[int] | None:
    if order is Order.ADAPTIVE:
        return None
    frequency: Counter[int] = Counter()
    for literal in long:
        for monomial in system.expressions[literal]:
            frequency.update(set(system.monomials.literals[monomial]))
    if order in (Order.FORWARD, Order.BACKWARD):
        return sorted(frequency, reverse=order is Order.BACKWARD)
    sign = 1 if order is Order.RAREST else -1
    return sorted(frequency, key=lambda literal: (sign * frequency[literal], literal))


class _Scheme:
    """Shares equal quotients over all expressions it is given."""

    def __init__(self, system: System, ranked: list[int] | None) -> None:
        self.system, self.ranked = system, ranked
        self._known: dict[tuple[tuple[tuple[int, ...], int], ...], int] = {}

    def fill(self, literal: int, poly: Poly) -> None:
        """Write a polynomial into an expression; the quotients become expressions of their own."""
        pending = [(literal, poly)]
        while pending:
            target, current = pending.pop()
            position = 0
            while len(current) > 1:
                literal_out, position = self._next(current, position)
                if literal_out < 0:
                    break
                quotient, current = _divided(current, literal_out)
                common, quotient = _common(quotient)
                self._term(target, (literal_out, *common), quotient, pending)
            for monomial, coefficient in current.items():
                self._add(target, monomial, coefficient)

    def _next(self, poly: Poly, position: int) -> tuple[int, int]:
        """The literal to take out and where to go on in the order; -1 if none stands in two terms."""
        frequency = Counter(x for monomial in poly for x in set(monomial))
        if self.ranked is None:
            literal = max(frequency, key=lambda x: (frequency[x], -x), default=-1)
            return (literal if literal >= 0 and frequency[literal] > 1 else -1), position
        while position < len(self.ranked):
            if frequency.get(self.ranked[position], 0) > 1:
                return self.ranked[position], position
            position += 1
        return -1, position

    def _term(self, target: int, factors: tuple[int, ...], quotient: Poly, pending: list[tuple[int, Poly]]) -> None:
        """Add factors * quotient, the quotient being an expression known up to a number."""
        if len(quotient) == 1:
            ((monomial, coefficient),) = quotient.items()
            self._add(target, (*factors, *monomial), coefficient)
            return
        table = self.system.coefficients
        items = sorted(quotient.items())
        scale = self._content([c for _, c in items])
        key = tuple((monomial, _exactly(table.divide(c, scale))) for monomial, c in items)
        if key not in self._known:
            self._known[key] = self.system.create()
            pending.append((self._known[key], dict(key)))
        self._add(target, (*factors, self._known[key]), scale)

    def _content(self, coefficients: list[int]) -> int:
        """The number to take out: what the coefficients have in common, with the sign of the first."""
        table = self.system.coefficients
        numbers = [table.rational(c) for c in coefficients]
        known = [Fraction(x) for x in numbers if x is not None]
        if len(known) < len(numbers):
            return ONE
        size = Fraction(gcd(*(x.numerator for x in known)), lcm(*(x.denominator for x in known)))
        return table.number(size if known[0] > 0 else -size)

    def _add(self, target: int, factors: tuple[int, ...], coefficient: int) -> None:
        self.system.add_term(target, self.system.monomials.intern(tuple(sorted(factors))), coefficient)


def _exactly(quotient: int | None) -> int:
    assert quotient is not None, "a number divides every coefficient"
    return quotient


def _divided(poly: Poly, literal: int) -> tuple[Poly, Poly]:
    quotient: Poly = {}
    rest: Poly = {}
    for monomial, coefficient in poly.items():
        if literal in monomial:
            place = monomial.index(literal)
            quotient[monomial[:place] + monomial[place + 1 :]] = coefficient
        else:
            rest[monomial] = coefficient
    return quotient, rest


def _common(poly: Poly) -> tuple[tuple[int, ...], Poly]:
    """The monomial all terms share, and the terms without it."""
    monomials = iter(poly)
    shared = Counter(next(monomials))
    for monomial in monomials:
        shared &= Counter(monomial)
        if not shared:
            return (), poly
    taken: Poly = {}
    for monomial, coefficient in poly.items():
        rest = Counter(monomial)
        rest.subtract(shared)
        taken[tuple(sorted(rest.elements()))] = coefficient
    return tuple(shared.elements()), taken
