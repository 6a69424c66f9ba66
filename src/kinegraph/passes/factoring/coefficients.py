"""The coefficients of a system: polynomials in static quantities, interned as integers.

What depends on constants and parameters only is free, so `(m1 + m2) l1^2` is one coefficient like 5 is. Equal
coefficients have equal ids; products and quotients are looked up once computed.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinegraph.graph.canonical.numbers import exact, power_of_number, product_of_numbers, quotient_of_numbers
from kinegraph.graph.node import Coefficient, Factor

Static = tuple[tuple[tuple[Factor, ...], Coefficient], ...]

ZERO, ONE, MINUS_ONE = 0, 1, 2


class CoefficientTable:
    """Interned coefficients: each is a sum of (static monomial, number); ids 0, 1, 2 are 0, 1, -1."""

    def __init__(self) -> None:
        self.values: list[Static] = []
        self._ids: dict[Static, int] = {}
        self._products: dict[tuple[int, int], int] = {}
        self._sums: dict[tuple[int, int], int] = {}
        self.normals: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._quotients: dict[tuple[int, int], int | None] = {}
        self._negatives: list[int] = []
        for value in (0, 1, -1):
            self.number(value)

    def number(self, value: Coefficient) -> int:
        """The id of a rational number."""
        return self.intern((((), exact(value)),) if value else ())

    def intern(self, value: Static) -> int:
        """The id of a sum of static monomials, sorted, without zeros."""
        known = self._ids.get(value)
        if known is None:
            known = self._ids[value] = len(self.values)
            self.values.append(value)
            self._negatives.append(-1)
        return known

    def rational(self, index: int) -> Coefficient | None:
        """The number a coefficient is, or None."""
        value = self.values[index]
        if not value:
            return 0
        return value[0][1] if len(value) == 1 and not value[0][0] else None

    def negative(self, index: int) -> int:
        """The number of the negative coefficient."""
        known = self._negatives[index]
        if known < 0:
            known = self.intern(tuple((monomial, -c) for monomial, c in self.values[index]))
            self._negatives[index] = known
            self._negatives[known] = index
        return known

    def size(self, index: int) -> int:
        """The coefficient or its negative, the same for both."""
        other = self.negative(index)
        return index if index < other else other

    def multiply(self, left: int, right: int) -> int:
        """The number of the product of two coefficients."""
        if left == ONE:
            return right
        if right == ONE:
            return left
        key = (left, right) if left < right else (right, left)
        known = self._products.get(key)
        if known is None:
            known = self._products[key] = self._multiply(self.values[left], self.values[right])
        return known

    def _multiply(self, left: Static, right: Static) -> int:
        total: dict[tuple[Factor, ...], Coefficient] = {}
        for first, c in left:
            for second, d in right:
                monomial = _merged(first, second) if first and second else first or second
                total[monomial] = total.get(monomial, 0) + c * d
        return self._collected(total)

    def _collected(self, total: dict[tuple[Factor, ...], Coefficient]) -> int:
        return self.intern(tuple(sorted([(monomial, exact(c)) for monomial, c in total.items() if c])))

    def power(self, index: int, exponent: int) -> int:
        """The power of a coefficient; of a sum, multiplied out."""
        value = self.values[index]
        if len(value) == 1:
            ((monomial, number),) = value
            raised = tuple((atom, e * exponent) for atom, e in monomial)
            return self.intern(((raised, exact(power_of_number(number, exponent))),)) if exponent else ONE
        result = ONE
        for _ in range(exponent):
            result = self.multiply(result, index)
        return result

    def add(self, left: int, right: int) -> int:
        """The number of the sum of two coefficients."""
        if left == ZERO or right == ZERO:
            return left or right
        key = (left, right) if left < right else (right, left)
        known = self._sums.get(key)
        if known is None:
            total = dict(self.values[left])
            for monomial, c in self.values[right]:
                total[monomial] = total.get(monomial, 0) + c
            known = self._sums[key] = self._collected(total)
        return known

    def sum(self, summands: Iterable[int]) -> int:
        """All of them at once: adding one by one would look up every sum on the way."""
        total: dict[tuple[Factor, ...], Coefficient] = {}
        for summand in summands:
            for monomial, c in self.values[summand]:
                total[monomial] = total.get(monomial, 0) + c
        return self._collected(total)

    def normal(self, first: int, second: int) -> tuple[int, int, int]:
        """(a, b, k) with first = k a and second = k b, the same (a, b) for all proportional pairs."""
        key = (first, second)
        known = self.normals.get(key)
        if known is None:
            known = self.normals[key] = self._normalise(self.values[first], self.values[second])
        return known

    def divide(self, value: int, divisor: int) -> int | None:
        """The quotient where it is a number, or the divisor is one."""
        if divisor == ONE:
            return value
        if divisor == MINUS_ONE:
            return self.negative(value)
        key = (value, divisor)
        if key not in self._quotients:
            self._quotients[key] = self._divide(self.values[value], self.values[divisor])
        return self._quotients[key]

    def _divide(self, value: Static, divisor: Static) -> int | None:
        if not value:
            return ZERO
        ratio = _ratio(divisor, value)
        if ratio is not None:
            return self.number(ratio)
        if len(divisor) == 1 and not divisor[0][0]:
            return self.intern(_divided(value, (), divisor[0][1]))
        return None

    def _normalise(self, first: Static, second: Static) -> tuple[int, int, int]:
        ratio = _ratio(first, second)
        if ratio is not None:
            return ONE, self.number(ratio), self.intern(first)
        common = _common(first + second)
        leading = first[0][1]
        outer = self.intern(((common, leading),))
        return self.intern(_divided(first, common, leading)), self.intern(_divided(second, common, leading)), outer


def _merged(first: tuple[Factor, ...], second: tuple[Factor, ...]) -> tuple[Factor, ...]:
    exponents = dict(first)
    for atom, exponent in second:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return tuple(sorted(exponents.items()))


def _ratio(first: Static, second: Static) -> Coefficient | None:
    """second / first where that is a number."""
    if len(first) != len(second):
        return None
    for (monomial, _), (other, _) in zip(first, second, strict=True):
        if monomial != other:
            return None
    ratio = quotient_of_numbers(second[0][1], first[0][1])
    others = zip(first[1:], second[1:], strict=True)
    return ratio if all(d == product_of_numbers(c, ratio) for (_, c), (_, d) in others) else None


def _common(value: Static) -> tuple[Factor, ...]:
    """The static monomial that divides every term."""
    exponents = dict(value[0][0])
    for monomial, _ in value[1:]:
        if not exponents:
            return ()
        present = dict(monomial)
        exponents = {atom: min(e, present[atom]) for atom, e in exponents.items() if atom in present}
    return tuple(sorted(exponents.items()))


def _divided(value: Static, common: tuple[Factor, ...], leading: Coefficient) -> Static:
    if not common:
        return tuple((monomial, quotient_of_numbers(c, leading)) for monomial, c in value)
    taken = dict(common)
    quotient = []
    for monomial, c in value:
        rest = tuple((atom, e - taken.get(atom, 0)) for atom, e in monomial if e > taken.get(atom, 0))
        quotient.append((rest, quotient_of_numbers(c, leading)))
    return tuple(sorted(quotient))
