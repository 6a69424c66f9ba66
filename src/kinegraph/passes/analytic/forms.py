"""Other ways to write an expression: in another basis of angles, with either square eliminated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb
from typing import TypeAlias

from flint import fmpq, fmpq_mpoly

from kinegraph.passes.analytic.angles import Form, minus, plus, positive, trees
from kinegraph.passes.analytic.expansion import Expansion, TooLargeError

#: Exponents by generator position, and coefficient: a polynomial outside flint.
Exponents: TypeAlias = tuple[tuple[int, int], ...]
Terms: TypeAlias = dict[Exponents, fmpq]

#: Longer polynomials stay in the basis they come in.
REWRITTEN = 150


@dataclass(frozen=True)
class WrittenForm:
    """An expression in one basis: its terms, and a first guess of its cost."""

    terms: Terms
    cost: int
    angles: tuple[Form, ...]


def sparse(polynomial: fmpq_mpoly) -> Terms:
    """Terms with the generators that occur only."""
    return {
        tuple((i, int(e)) for i, e in enumerate(exponents) if e): c for exponents, c in polynomial.to_dict().items()
    }


def naive_cost(terms: Terms, static: frozenset[int]) -> int:
    """Multiplications and additions of a sum of products as it stands."""
    total = -1
    for exponents, c in terms.items():
        degree = sum(e for i, e in exponents if i not in static)
        total += 1
        if degree:
            unit_term = abs(c) == 1 and not any(i in static for i, _ in exponents)
            total += degree - 1 if unit_term else degree
    return max(total, 0)


def written_forms(expansion: Expansion, polynomial: fmpq_mpoly, most: int, bases: int) -> list[WrittenForm]:
    """The cheapest ways to write a polynomial, cheapest first, by the naive count; at most so many bases are tried."""
    static = frozenset(i for i, (kind, _) in enumerate(expansion.generators) if kind == "static")
    found: dict[frozenset[object], WrittenForm] = {}
    for basis, rewritten in islice(_in_bases(expansion, polynomial), bases):
        angles = tuple(f for f in basis if _has(expansion, rewritten, f))
        for terms in _eliminations(expansion, sparse(rewritten), angles):
            for changed in (terms, folded(expansion, terms, angles)):
                key = frozenset((m, str(c)) for m, c in changed.items())
                if key not in found:
                    found[key] = WrittenForm(changed, naive_cost(changed, static), angles)
    return sorted(found.values(), key=lambda way: (way.cost, len(way.angles)))[:most]


def _has(expansion: Expansion, polynomial: fmpq_mpoly, form: Form) -> bool:
    degrees = polynomial.degrees()
    return bool(degrees[expansion.position[("sin", form)]] or degrees[expansion.position[("cos", form)]])


def _in_bases(expansion: Expansion, polynomial: fmpq_mpoly) -> Iterator[tuple[list[Form], fmpq_mpoly]]:
    """The polynomial itself, then in bases made of differences of its angles."""
    own = [f for f in expansion.basis if _has(expansion, polynomial, f)]
    yield own, polynomial
    if len(polynomial) > REWRITTEN:
        return
    members = [[expansion.basis[i] for i in block if expansion.basis[i] in own] for block in expansion.blocks]
    members = [block for block in members if block]
    for choice in product(*(list(trees(len(block))) for block in members)):
        if all(not any(parents) for parents in choice):
            continue
        basis: list[Form] = []
        for block, parents in zip(members, choice, strict=True):
            for node, parent in enumerate(parents, start=1):
                edge = block[node - 1] if not parent else minus(block[node - 1], block[parent - 1])
                basis.append(positive(edge)[1])
        try:
            rewritten = _substituted(expansion, polynomial, own, basis)
        except TooLargeError:
            continue
        yield basis, rewritten


def _substituted(expansion: Expansion, polynomial: fmpq_mpoly, own: list[Form], basis: list[Form]) -> fmpq_mpoly:
    arguments = list(expansion.gens)
    for form in own:
        cosine, sine = expansion.point(form, basis)
        arguments[expansion.position[("cos", form)]] = cosine
        arguments[expansion.position[("sin", form)]] = sine
    return expansion.reduced(polynomial.compose(*arguments, ctx=expansion.context), basis)


def _eliminations(expansion: Expansion, terms: Terms, angles: tuple[Form, ...]) -> Iterator[Terms]:
    """The terms with sin^2 eliminated, and for each angle where it matters with cos^2 eliminated instead."""
    pairs = [(expansion.position[("sin", f)], expansion.position[("cos", f)]) for f in angles]
    squared = {i for exponents in terms for i, e in exponents if e > 1}
    swaps = [pair for pair in pairs if pair[1] in squared][:3]
    for choice in product((False, True), repeat=len(swaps)):
        changed = terms
        for (sine, cosine), swap in zip(swaps, choice, strict=True):
            if swap:
                changed = without_square(changed, cosine, sine)
        yield changed


def folded(expansion: Expansion, terms: Terms, angles: tuple[Form, ...]) -> Terms:
    """The terms with cos a cos b + sin a sin b and the like as functions of a - b or a + b where they have one factor.

    No basis gives this: a, b and their difference then stand side by side in one expression.
    """
    for a, b in combinations(angles, 2):
        for sign, form in ((1, minus(a, b)), (-1, plus(a, b))):
            turned, normal = positive(form)
            if ("cos", normal) in expansion.position:
                terms = _with_sum(expansion, terms, (a, b, normal), sign, turned)
    return terms


def _with_sum(expansion: Expansion, terms: Terms, forms: tuple[Form, Form, Form], sign: int, turned: int) -> Terms:
    """One identity: cos a cos b + sign sin a sin b = cos(a - sign b), sin a cos b - sign cos a sin b = its sine."""
    (sine_a, cosine_a), (sine_b, cosine_b), (sine, cosine) = (
        (expansion.position["sin", form], expansion.position["cos", form]) for form in forms
    )
    for first, second, ratio, whole, factor in (
        ((cosine_a, cosine_b), (sine_a, sine_b), sign, cosine, 1),
        ((sine_a, cosine_b), (cosine_a, sine_b), -sign, sine, turned),
    ):
        terms = _replaced(terms, first, second, ratio, whole, factor)
    return terms


def _replaced(
    terms: Terms, first: tuple[int, int], second: tuple[int, int], ratio: int, whole: int, factor: int
) -> Terms:
    """x first + ratio x second as factor x whole, for every monomial x where both terms are there."""
    result = dict(terms)
    for exponents, c in terms.items():
        rest = _divided(exponents, first)
        if rest is None or result.get(exponents) != c:
            continue
        other = _multiplied(rest, second)
        if result.get(other) == ratio * c:
            del result[exponents], result[other]
            _add(result, _multiplied(rest, (whole,)), factor * c)
    return result


def _divided(exponents: Exponents, factors: tuple[int, ...]) -> Exponents | None:
    """A monomial without some of its factors; None if it does not have them."""
    powers = dict(exponents)
    for factor in factors:
        if not powers.get(factor):
            return None
        powers[factor] -= 1
    return tuple(sorted((i, e) for i, e in powers.items() if e))


def _multiplied(exponents: Exponents, factors: tuple[int, ...]) -> Exponents:
    powers = dict(exponents)
    for factor in factors:
        powers[factor] = powers.get(factor, 0) + 1
    return tuple(sorted(powers.items()))


def _add(terms: Terms, key: Exponents, value: fmpq) -> None:
    total = terms.get(key, 0) + value
    if total:
        terms[key] = total
    else:
        terms.pop(key, None)


def without_square(terms: Terms, gone: int, remaining: int) -> Terms:
    """Replace the square of one generator by one minus the square of another, by the binomial theorem."""
    result: Terms = {}
    for exponents, c in terms.items():
        powers = dict(exponents)
        squares, rest = divmod(powers.pop(gone, 0), 2)
        if rest:
            powers[gone] = rest
        for taken in range(squares + 1):
            expanded = dict(powers)
            if taken:
                expanded[remaining] = expanded.get(remaining, 0) + 2 * taken
            _add(result, tuple(sorted(expanded.items())), (-1) ** taken * comb(squares, taken) * c)
    return result
