"""What a search may exchange: other forms of the roots of a system, and sums of sines and cosines that vanish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import NamedTuple, TypeAlias

from kinegraph.passes.factoring.convert import Translation
from kinegraph.passes.factoring.polynomials import MINUS_ONE, ONE, System


@dataclass(frozen=True)
class Alternatives:
    """The forms of each root, cheapest first, and the sums of the angles these may need, by literal.

    `relations` are sums that vanish, whatever the coordinates are.
    """

    roots: Mapping[int, Sequence[Mapping[int, int]]] = field(default_factory=dict)
    angles: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    relations: Sequence[Mapping[int, int]] = ()


#: An angle as a sum of monomials with numbers, sorted.
Angle: TypeAlias = tuple[tuple[int, Fraction], ...]
Terms: TypeAlias = Mapping[int, int]

#: More relations are not looked for: a search tries few of them.
MOST = 400


class Pair(NamedTuple):
    """The literals of an angle's sine and cosine, and the sign the sine has."""

    sine: int
    cosine: int
    sign: int


def relations(translation: Translation, sums: Mapping[int, Terms] | None = None) -> list[dict[int, int]]:
    """Sums that vanish: sin^2 + cos^2 - 1, and addition theorems. `sums` are angles that are not in use yet."""
    system = translation.system
    pairs = _pairs(translation, {**(sums or {}), **system.expressions})
    return [_collected(system, terms) for terms in islice(_sums(pairs), MOST)]


def _pairs(translation: Translation, sums: Mapping[int, Terms]) -> dict[Angle, Pair]:
    """Angles of which both sine and cosine are there."""
    found: dict[Angle, dict[str, tuple[int, int]]] = {}
    for literal, (name, arguments) in translation.functions.items():
        kind, argument = arguments[0]
        if name in ("sin", "cos") and kind == "literal":
            sign, angle = _positive(_angle(translation.system, sums, argument))
            found.setdefault(angle, {}).setdefault(name, (literal, sign))
    return {
        angle: Pair(here["sin"][0], here["cos"][0], here["sin"][1]) for angle, here in found.items() if len(here) == 2
    }


def _angle(system: System, sums: Mapping[int, Terms], literal: int) -> Angle:
    """A literal with sums inside it written out; what has other factors than numbers is one quantity."""
    total: dict[int, Fraction] = {}
    pending = [(literal, Fraction(1))]
    while pending:
        top, factor = pending.pop()
        terms = sums.get(top)
        numbers = {m: system.coefficients.rational(c) for m, c in terms.items()} if terms else {}
        if not numbers or None in numbers.values():
            monomial = system.monomials.intern((top,))
            total[monomial] = total.get(monomial, Fraction(0)) + factor
            continue
        for monomial, number in numbers.items():
            literals, scaled = system.monomials.literals[monomial], factor * Fraction(number or 0)
            if len(literals) == 1:
                pending.append((literals[0], scaled))
            else:
                total[monomial] = total.get(monomial, Fraction(0)) + scaled
    return tuple(sorted((m, c) for m, c in total.items() if c))


def _positive(angle: Angle) -> tuple[int, Angle]:
    """The sign and the angle whose first number is positive."""
    if angle and angle[0][1] < 0:
        return -1, tuple((m, -c) for m, c in angle)
    return 1, angle


def _with(left: Angle, right: Angle, sign: int) -> Angle:
    """One angle plus or minus another."""
    total = dict(left)
    for monomial, number in right:
        total[monomial] = total.get(monomial, Fraction(0)) + sign * number
    return tuple(sorted((m, c) for m, c in total.items() if c))


#: Terms of a relation: a number that is a sign, and literals.
_Sum: TypeAlias = list[tuple[int, tuple[int, ...]]]


def _sums(pairs: Mapping[Angle, Pair]) -> Iterator[_Sum]:
    """The circles first, then the addition theorems."""
    for sine, cosine, _ in pairs.values():
        yield [(1, (sine, sine)), (1, (cosine, cosine)), (-1, ())]
    for (first, a), (second, b) in combinations_with_replacement(pairs.items(), 2):
        for sign in (1, -1):
            turned, angle = _positive(_with(first, second, sign))
            if angle in pairs:
                yield from _addition(a, b, pairs[angle], sign, turned)


def _addition(a: Pair, b: Pair, whole: Pair, sign: int, turned: int) -> Iterable[_Sum]:
    """cos(a + sign b) and sin(a + sign b), written in those of a and b."""
    ab = a.sign * b.sign * sign
    yield [(-1, (whole.cosine,)), (1, (a.cosine, b.cosine)), (-ab, (a.sine, b.sine))]
    sine = whole.sign * turned
    yield [(-sine, (whole.sine,)), (a.sign, (a.sine, b.cosine)), (b.sign * sign, (a.cosine, b.sine))]


def _collected(system: System, terms: _Sum) -> dict[int, int]:
    total: dict[int, int] = {}
    for sign, literals in terms:
        monomial = system.monomials.intern(tuple(sorted(literals)))
        coefficient = ONE if sign > 0 else MINUS_ONE
        total[monomial] = system.coefficients.add(total.get(monomial, 0), coefficient)
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}
