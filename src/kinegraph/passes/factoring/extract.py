"""Greedy factoring: tidying, Horner schemes for long sums, and fast extract. Every search starts from its result."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from math import gcd, lcm

from kinegraph.passes.factoring.convert import Translation
from kinegraph.passes.factoring.polynomials import MINUS_ONE, ONE, ZERO, Key, System, TermPlace

# Keeping a system free of what is never worth its own expression: dead ones, other names, single uses.

#: Products are not joined to longer ones: every pair of their factors is a candidate for sharing.
MOST_FACTORS = 32

#: Sums are not joined to longer ones either: every pair of terms is a candidate, and chains of n bodies took n^3.
MOST_TERMS = 100


def tidy(system: System) -> None:
    """Visit what has changed; take in expressions used once where that costs nothing."""
    touched = system.touched
    while touched:
        for literal in list(touched):  # what is touched meanwhile comes after these
            del touched[literal]
            if literal in system.arguments:
                _drop_argument(system, system.arguments[literal])
            terms = system.expressions.get(literal)
            if terms is None or literal in system.roots:
                continue
            if not system.uses.get(literal):
                system.delete(literal)
            elif _worth_inlining(system, literal, terms):
                inline(system, literal)


def _drop_argument(system: System, argument: int) -> None:
    """Remove what sines and cosines are taken of once none of them is used."""
    if argument in system.expressions and not any(map(system.used, system.dependants[argument])):
        inline(system, argument)
        system.delete(argument)


def _worth_inlining(system: System, literal: int, terms: dict[int, int]) -> bool:
    uses = system.uses[literal]
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        if system.monomials.degree[monomial] <= 1 and coefficient in (ONE, MINUS_ONE):
            return True
        if len(uses) == 1 or system.monomials.degree[monomial] <= 1:
            return _inlining_cost(system, literal, terms) <= 0
        return False
    if not terms:
        return True
    if len(uses) > 1:
        return False
    ((expression, monomial),) = uses
    if len(terms) + len(system.expressions[expression]) > MOST_TERMS:
        return False
    return system.monomials.degree[monomial] == 1 and _inlining_cost(system, literal, terms) <= 0


def _inlining_cost(system: System, literal: int, terms: dict[int, int]) -> int:
    """Operations added by inlining an expression everywhere; like terms are not foreseen."""
    degree, multiply = system.monomials.degree, system.coefficients.multiply
    change = -(sum(system.term_cost(m, c) + 1 for m, c in terms.items()) - 1)
    for expression, monomial in system.uses[literal]:
        times = system.monomials.literals[monomial].count(literal)
        if times > 1 and len(terms) > 1:
            return 1
        outer = system.expressions[expression][monomial]
        change -= system.term_cost(monomial, outer) + 1
        for m, c in terms.items():
            size = degree[monomial] + times * (degree[m] - 1)
            if size > MOST_FACTORS:
                return 1
            product = outer
            for _ in range(times):
                product = multiply(product, c)
            change += (size - (product in (ONE, MINUS_ONE)) if size else 0) + 1
    return change


def inlined_size(system: System, literal: int) -> int:
    """The number of terms inlining would write."""
    terms = len(system.expressions[literal])
    total = 0
    for _, monomial in system.uses.get(literal, ()):
        total += terms ** system.monomials.literals[monomial].count(literal)
    return total


def inline(system: System, literal: int) -> None:
    """Write an expression out in all its uses; it is deleted unless it is a root."""
    terms = dict(system.expressions[literal])
    for expression, monomial in sorted(system.uses.get(literal, ())):
        outer = system.expressions[expression][monomial]
        literals = system.monomials.literals[monomial]
        times = literals.count(literal)
        rest = system.monomials.intern(tuple(x for x in literals if x != literal))
        system.set_term(expression, monomial, ZERO)
        for product, coefficient in expanded(system, rest, outer, terms, times).items():
            system.add_term(expression, product, coefficient)
    if literal not in system.roots:
        system.delete(literal)


def expanded(system: System, monomial: int, outer: int, terms: dict[int, int], times: int) -> dict[int, int]:
    """outer * monomial * (sum of terms)^times, written out."""
    result = {monomial: outer}
    for _ in range(times):
        product: dict[int, int] = {}
        for left, c in result.items():
            for right, d in terms.items():
                key = system.monomials.times(left, system.monomials.literals[right])
                value = system.coefficients.multiply(c, d)
                product[key] = system.coefficients.add(product.get(key, ZERO), value)
        result = product
    return result


# Fast extract: share the candidate with the largest saving, over all expressions at once, until none saves.
#
# Candidates are the two-term divisors k1 m1 + k2 m2 up to a common factor, the pairs of literals and the products of a
# coefficient and a literal. `System` keeps where each occurs; here they are valued and carried out.


def saving(system: System, key: Key) -> int:
    """Operations saved by sharing a candidate in all the places it occurs at."""
    places = system.places.get(key)
    if not places:
        return 0
    if len(key) == 4:
        if len(places) == 1 and _is_vain(system, key, *places):
            return 0
        return _divisor_saving(system, key, places)
    if len(key) == 3:
        return len(places) - 1
    if len(places) == 1:
        ((_, monomial),) = places
        return 0 if system.monomials.degree[monomial] < 4 else _multiplicity(system, key, monomial) - 1
    return sum(_multiplicity(system, key, place[1]) for place in places) - 1


def _is_vain(system: System, key: Key, place: TermPlace) -> bool:
    """Can two terms that stand nowhere else save nothing by an expression of their own?

    So it is if they have no common factor: c x + d y is k (a x + b y), and that takes as many multiplications by
    numbers, unless c and d are of one size other than 1.
    """
    literal, first, second = place
    if system.monomials.degree[first] != system.monomials.degree[key[0]]:
        return False
    terms = system.expressions[literal]
    c, d = terms[first], terms[second]
    return c <= MINUS_ONE or d <= MINUS_ONE or system.coefficients.size(c) != system.coefficients.size(d)


def _divisor_saving(system: System, key: Key, places: dict[TermPlace, None]) -> int:
    degree = system.monomials.degree
    gain = 0
    outers = []
    for _, worth, outer in _disjoint(system, key, places):
        gain += worth
        outers.append(outer)
    if not outers:
        return 0
    first, second = degree[key[0]], degree[key[1]]
    definition = (first - 1 if first else 0) + (second - 1 if second else 0) + 1
    return gain - definition - best_scale(system, key, outers)[1]


def best_scale(system: System, key: Key, outers: list[int]) -> tuple[int, int]:
    """The number to scale a divisor by so that it and its uses need fewest coefficients, and how many those are."""
    multiply, divide = system.coefficients.multiply, system.coefficients.divide
    first, second, a, b = key
    best, least = ONE, 1 << 30
    for scale in dict.fromkeys((ONE, *outers[:8], *_inverse(system, b))):
        needed = 0
        if first and multiply(scale, a) > MINUS_ONE:
            needed += 1
        if second and multiply(scale, b) > MINUS_ONE:
            needed += 1
        for outer in outers:
            quotient = divide(outer, scale)
            if quotient is None:
                break
            if quotient > MINUS_ONE:
                needed += 1
        else:
            if needed < least:
                best, least = scale, needed
                if not needed:
                    break
    return best, least


def _inverse(system: System, coefficient: int) -> tuple[int, ...]:
    quotient = system.coefficients.divide(ONE, coefficient)
    return () if quotient is None else (quotient,)


def _multiplicity(system: System, key: Key, monomial: int) -> int:
    """How often a pair of literals can be taken out of a monomial."""
    literals = system.monomials.literals[monomial]
    if len(literals) == 2:
        return 1
    x, y = key
    return literals.count(x) // 2 if x == y else min(literals.count(x), literals.count(y))


def _disjoint(system: System, key: Key, places: dict[TermPlace, None]) -> Iterator[tuple[TermPlace, int, int]]:
    """Places of a two-term divisor that share no term, with what each saves before its coefficient, and that."""
    degree = system.monomials.degree
    normal = system.coefficients.normal
    taken: set[tuple[int, int]] = set()
    single = len(places) == 1
    rest = degree[key[0]]
    for place in places:
        literal, first, second = place
        if not single:
            if (literal, first) in taken or (literal, second) in taken:
                continue
            taken.add((literal, first))
            taken.add((literal, second))
        terms = system.expressions[literal]
        c, d = terms[first], terms[second]
        gain = system.term_cost(first, c) + system.term_cost(second, d) + 1 - (degree[first] - rest)
        yield place, gain, normal(c, d)[2]


def extract(system: System, key: Key) -> None:
    """Share a candidate."""
    if len(key) == 4:
        _extract_divisor(system, key)
    elif len(key) == 3:
        _extract_scaled(system, key)
    else:
        _extract_pair(system, key)


def _extract_divisor(system: System, key: Key) -> None:
    table = system.coefficients
    chosen = list(_disjoint(system, key, system.places[key]))
    scale, _ = best_scale(system, key, [outer for _, _, outer in chosen])
    first, second = table.multiply(key[2], scale), table.multiply(key[3], scale)
    literal, sign = _existing(system, key, first, [place for place, _, _ in chosen])
    if literal is None:
        literal = system.create()
        system.set_term(literal, key[0], first)
        system.set_term(literal, key[1], second)
    for (expression, left, right), _, outer in chosen:
        if expression == literal:
            continue
        common, _, _ = system.monomials.split(left, right)
        system.set_term(expression, left, ZERO)
        system.set_term(expression, right, ZERO)
        quotient = table.divide(outer, scale)
        assert quotient is not None
        system.add_term(expression, system.monomials.times(common, (literal,)), table.multiply(quotient, sign))


def _existing(system: System, key: Key, coefficient: int, chosen: list[TermPlace]) -> tuple[int | None, int]:
    """An expression that is the divisor already, up to sign."""
    for literal, first, second in chosen:
        terms = system.expressions[literal]
        if len(terms) == 2 and first == key[0] and second == key[1]:
            if terms[first] == coefficient:
                return literal, ONE
            if terms[first] == system.coefficients.negative(coefficient):
                return literal, MINUS_ONE
    return None, ONE


def _extract_scaled(system: System, key: Key) -> None:
    size, factor, _ = key
    alone = system.monomials.intern((factor,))
    places = list(system.places[key])
    literal, sign = None, ONE
    for expression, monomial in places:
        terms = system.expressions[expression]
        if monomial == alone and len(terms) == 1:
            literal, sign = expression, ONE if terms[alone] == size else MINUS_ONE
            break
    if literal is None:
        literal = system.create()
        system.set_term(literal, alone, size)
    for expression, monomial in places:
        if expression == literal:
            continue
        positive = system.expressions[expression][monomial] == size
        system.set_term(expression, monomial, ZERO)
        rest = system.monomials.without(monomial, (factor,))
        same = (sign == ONE) == positive
        system.add_term(expression, system.monomials.times(rest, (literal,)), ONE if same else MINUS_ONE)


def _extract_pair(system: System, key: Key) -> None:
    product = system.monomials.intern(key)
    places = list(system.places[key])
    literal, sign = None, ONE
    for expression, monomial in places:
        terms = system.expressions[expression]
        if monomial == product and len(terms) == 1 and terms[product] in (ONE, MINUS_ONE):
            literal, sign = expression, terms[product]
            break
    if literal is None:
        literal = system.create()
        system.set_term(literal, product, ONE)
    for expression, monomial in places:
        if expression == literal:
            continue
        coefficient = system.expressions[expression][monomial]
        times = _multiplicity(system, key, monomial)
        system.set_term(expression, monomial, ZERO)
        rest = system.monomials.without(monomial, key * times)
        coefficient = system.coefficients.multiply(coefficient, system.coefficients.power(sign, times))
        system.add_term(expression, system.monomials.times(rest, (literal,) * times), coefficient)


def greedy(system: System, chance: random.Random | None = None, noise: float = 0.0) -> None:
    """Share the best candidate until none saves; `noise` blurs what the best is."""
    heap: list[tuple[float, Key]] = []
    tidy(system)
    while True:
        for key in system.dirty:
            worth = saving(system, key)
            if worth > 0:
                blur = chance.random() * noise if chance else 0.0
                heapq.heappush(heap, (-worth - blur, key))
        system.dirty.clear()
        if not heap:
            return
        priority, key = heapq.heappop(heap)
        worth = saving(system, key)
        if worth <= 0 or worth < int(-priority):
            # An entry with the present value was pushed when the candidate changed.
            continue
        extract(system, key)
        tidy(system)


# Horner schemes for long sums: P = x Q + R by one literal after another, equal parts shared.
#
# Fast extract looks at all pairs of terms of an expression, which is hopeless for thousands of terms. A Horner scheme
# breaks them up first; in which order the literals are taken out matters much more than what is done afterwards.

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


# The factoring every search starts from: long sums broken up in the best of several orders, then fast extract.

#: How many of the orders are factored in full; the others are judged by their Horner schemes alone.
TRIED = 2

#: More expressions than this are tidied before their candidates are indexed: far fewer are then entered and left again.
_MANY = 2000


def factored(make: Callable[[], Translation]) -> Translation:
    """A translation, greedily factored. `make` gives a fresh one each time it is called."""
    translation = make()
    if not has_long_sums(translation.system):
        return _greedily(translation)
    schemes = []
    for order in Order:
        candidate = make()
        break_up(candidate.system, order)
        schemes.append(candidate)
    schemes.sort(key=lambda scheme: scheme.system.cost)
    return min((_greedily(scheme) for scheme in schemes[:TRIED]), key=lambda scheme: scheme.system.cost)


def _greedily(translation: Translation) -> Translation:
    if len(translation.system.expressions) > _MANY:
        tidy(translation.system)
    translation.system.build_index()
    greedy(translation.system)
    return translation
