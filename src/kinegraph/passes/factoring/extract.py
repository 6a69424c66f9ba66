"""Fast extract: share the candidate with the largest saving, over all expressions at once, until none saves.

Candidates are the two-term divisors k1 m1 + k2 m2 up to a common factor, the pairs of literals and the products of a
coefficient and a literal. `System` keeps where each occurs; here they are valued and carried out.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

from kinegraph.passes.factoring.coefficients import MINUS_ONE, ONE, ZERO
from kinegraph.passes.factoring.system import Key, System, TermPlace
from kinegraph.passes.factoring.tidy import tidy


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
