"""The state of a factoring: interned coefficients, monomials, expressions over literals, and candidates for
sharing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kinegraph.graph.canonical import exact, power_of_number, product_of_numbers, quotient_of_numbers
from kinegraph.graph.node import Coefficient, Factor

# The coefficients of a system: polynomials in static quantities, interned as integers.
#
# What depends on constants and parameters only is free, so `(m1 + m2) l1^2` is one coefficient like 5 is. Equal
# coefficients have equal ids; products and quotients are looked up once computed.

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
            known = self.normals[key] = self._normalize(self.values[first], self.values[second])
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

    def _normalize(self, first: Static, second: Static) -> tuple[int, int, int]:
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


# The state of a factoring: expressions over literals, their cost, and every candidate for sharing, kept up to date.
#
# A literal is an integer: a leaf of the graph (a symbol or a function's value) or an expression. A monomial is an
# interned sorted tuple of literals, repeated for powers. All changes go through `set_term`, `create` and `delete`, are
# written to a journal and can be undone.

Key = tuple[int, ...]
#: One place a candidate occurs at: (expression, monomial) or (expression, monomial, monomial).
TermPlace = tuple[int, ...]


class Monomials:
    """Interned monomials; id 0 is the empty one."""

    def __init__(self) -> None:
        self.literals: list[tuple[int, ...]] = []
        self.degree: list[int] = []
        self._ids: dict[tuple[int, ...], int] = {}
        self.splits: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._pairs: dict[int, tuple[Key, ...]] = {}
        self.intern(())

    def intern(self, literals: tuple[int, ...]) -> int:
        """The id of a sorted tuple of literals."""
        known = self._ids.get(literals)
        if known is None:
            known = self._ids[literals] = len(self.literals)
            self.literals.append(literals)
            self.degree.append(len(literals))
        return known

    def times(self, monomial: int, literals: Iterable[int]) -> int:
        """The product with further literals."""
        return self.intern(tuple(sorted((*self.literals[monomial], *literals))))

    def without(self, monomial: int, literals: Iterable[int]) -> int:
        """The quotient by literals the monomial holds."""
        rest = list(self.literals[monomial])
        for literal in literals:
            rest.remove(literal)
        return self.intern(tuple(rest))

    def split(self, first: int, second: int) -> tuple[int, int, int]:
        """(common, first / common, second / common)."""
        key = (first, second)
        known = self.splits.get(key)
        if known is None:
            known = self.splits[key] = self._split(first, second)
        return known

    def _split(self, first: int, second: int) -> tuple[int, int, int]:
        left, right = list(self.literals[first]), list(self.literals[second])
        common = []
        for literal in self.literals[first]:
            if literal in right:
                right.remove(literal)
                left.remove(literal)
                common.append(literal)
        return self.intern(tuple(common)), self.intern(tuple(left)), self.intern(tuple(right))

    def pairs(self, monomial: int) -> tuple[Key, ...]:
        """The distinct pairs of literals a monomial holds, a square as (x, x)."""
        known = self._pairs.get(monomial)
        if known is None:
            factors = self.literals[monomial]
            found = dict.fromkeys((x, y) for place, x in enumerate(factors) for y in factors[place + 1 :])
            known = self._pairs[monomial] = tuple(found)
        return known


class System:
    """Expressions {monomial: coefficient} by literal, with their cost in multiplications and additions."""

    def __init__(self) -> None:
        self.coefficients = CoefficientTable()
        self.monomials = Monomials()
        self.expressions: dict[int, dict[int, int]] = {}
        self.roots: dict[int, int] = {}
        self.uses: dict[int, set[TermPlace]] = {}
        self.cost = 0
        self.places: dict[Key, dict[TermPlace, None]] = {}
        self.dirty: dict[Key, None] = {}
        self.touched: dict[int, None] = {}
        self.journal: list[tuple[int, int, int]] = []
        self.indexed = False
        self._only: set[int] | None = None
        self.work = 0
        self.arguments: dict[int, int] = {}
        self.dependants: dict[int, list[int]] = {}
        self.priced: dict[int, None] = {}
        self.inside: dict[int, tuple[int, ...]] = {}
        self._next = 0
        self._free: list[int] = []

    # literals and expressions

    def leaf(self) -> int:
        """A new literal that is not an expression."""
        self._next += 1
        return self._next - 1

    def size(self) -> int:
        """All literals are below this number."""
        return self._next

    def _unused(self) -> int:
        """A literal for a new expression; old ones are used again so that interned monomials stay few."""
        while self._free:
            literal = self._free.pop()
            if literal not in self.expressions:
                return literal
        return self.leaf()

    def create(self, literal: int | None = None) -> int:
        """A new expression without terms."""
        if literal is None:
            literal = self._unused()
        self.expressions[literal] = {}
        if self._only is not None:
            self._only.add(literal)
        self.journal.append((literal, -1, 0))
        return literal

    def delete(self, literal: int) -> None:
        """Remove an expression; its terms first."""
        for monomial in list(self.expressions[literal]):
            self.set_term(literal, monomial, ZERO)
        del self.expressions[literal]
        if literal not in self.roots:
            self._free.append(literal)
        self.journal.append((literal, -2, 0))

    def set_term(self, literal: int, monomial: int, coefficient: int) -> None:
        """Give a term of an expression its coefficient; ZERO removes it."""
        terms = self.expressions[literal]
        old = terms.get(monomial, ZERO)
        if old == coefficient:
            return
        self.work += 1 + len(terms)
        self.journal.append((literal, monomial, old))
        self.touched[literal] = None
        if old:
            del terms[monomial]
            self.cost += not terms
            self._unlink(literal, monomial, old, terms)
        if coefficient:
            self.cost -= not terms
            self._link(literal, monomial, coefficient, terms)
            terms[monomial] = coefficient

    def add_term(self, literal: int, monomial: int, coefficient: int) -> None:
        """Add to a term of an expression."""
        old = self.expressions[literal].get(monomial, ZERO)
        self.set_term(literal, monomial, self.coefficients.add(old, coefficient))

    def mark(self) -> int:
        """A point of the journal to return to."""
        return len(self.journal)

    def undo(self, mark: int) -> None:
        """Take back everything done since the mark."""
        journal = self.journal
        while len(journal) > mark:
            literal, monomial, old = journal.pop()
            if monomial == -1:
                del self.expressions[literal]
                if literal not in self.roots:
                    self._free.append(literal)
            elif monomial == -2:
                self.expressions[literal] = {}
            else:
                self.set_term(literal, monomial, old)
                journal.pop()

    def depend(self, leaf: int, argument: int) -> None:
        """Say that a leaf is a function of an expression, which may go when the leaf is used no more."""
        self.arguments[leaf] = argument
        self.dependants.setdefault(argument, []).append(leaf)

    def used(self, literal: int) -> bool:
        """Whether any term reads a literal."""
        return bool(self.uses.get(literal))

    # cost

    def term_cost(self, monomial: int, coefficient: int) -> int:
        """Multiplications of one term."""
        degree = self.monomials.degree[monomial]
        if not degree:
            return 0
        return degree - 1 if coefficient in (ONE, MINUS_ONE) else degree

    # the index of candidates

    def build_index(self, only: set[int] | None = None) -> None:
        """Start keeping candidates, of some expressions and those made later only; before this it is only a store."""
        if self.indexed:
            return
        self.indexed = True
        self._only = only
        for literal, terms in self.expressions.items():
            if only is not None and literal not in only:
                continue
            seen: dict[int, int] = {}
            for monomial, coefficient in terms.items():
                self._enter(self._candidates(literal, monomial, coefficient, seen))
                seen[monomial] = coefficient

    def _link(self, literal: int, monomial: int, coefficient: int, others: dict[int, int]) -> None:
        self.cost += self.term_cost(monomial, coefficient) + 1
        place = (literal, monomial)
        for factor in self.monomials.literals[monomial]:
            found = self.uses.get(factor)
            if found is None:
                self.uses[factor] = {place}
            else:
                found.add(place)
        if self.indexed and (self._only is None or literal in self._only):
            self._enter(self._candidates(literal, monomial, coefficient, others))

    def _unlink(self, literal: int, monomial: int, coefficient: int, others: dict[int, int]) -> None:
        self.cost -= self.term_cost(monomial, coefficient) + 1
        place = (literal, monomial)
        for factor in self.monomials.literals[monomial]:
            self.uses[factor].discard(place)
            self.touched[factor] = None
        if self.indexed and (self._only is None or literal in self._only):
            self._leave(self._candidates(literal, monomial, coefficient, others))

    def _candidates(
        self, literal: int, monomial: int, coefficient: int, others: dict[int, int]
    ) -> list[tuple[Key, TermPlace]]:
        """What a term can be shared by, alone and with the other terms of its expression."""
        monomials, table = self.monomials, self.coefficients
        splits, normals = monomials.splits, table.normals
        found: list[tuple[Key, TermPlace]] = []
        for other, c in others.items():
            low, high, a, b = monomial, other, coefficient, c
            if low > high:
                low, high, a, b = high, low, b, a
            # Nearly all are known: looking them up here spares two calls for every pair of terms.
            _, first, second = splits.get((low, high)) or monomials.split(low, high)
            if first > second:
                low, high, a, b, first, second = high, low, b, a, second, first
            a, b, _ = normals.get((a, b)) or table.normal(a, b)
            found.append(((first, second, a, b), (literal, low, high)))
        self._add_products(found, (literal, monomial), coefficient)
        return found

    def _add_products(self, found: list[tuple[Key, TermPlace]], place: TermPlace, coefficient: int) -> None:
        factors = self.monomials.literals[place[1]]
        if len(factors) > 1:
            found += [(key, place) for key in self.monomials.pairs(place[1])]
        if coefficient != ONE and coefficient != MINUS_ONE and factors:
            size = self.coefficients.size(coefficient)
            found += [((size, factor, -1), place) for factor in dict.fromkeys(factors)]

    def _enter(self, candidates: list[tuple[Key, TermPlace]]) -> None:
        places, dirty = self.places, self.dirty
        for key, place in candidates:
            found = places.get(key)
            if found is None:
                places[key] = {place: None}
            else:
                found[place] = None
            dirty[key] = None

    def _leave(self, candidates: list[tuple[Key, TermPlace]]) -> None:
        places, dirty = self.places, self.dirty
        for key, place in candidates:
            found = places[key]
            del found[place]
            if found:
                dirty[key] = None
            else:
                del places[key]
                dirty.pop(key, None)


# Expressions that are equal up to a number.

#: Terms (monomial, coefficient), the first coefficient 1 where all can be divided by it.
Normal: TypeAlias = tuple[tuple[int, int], ...]


def normalized(system: System, terms: Mapping[int, int]) -> tuple[Normal, int]:
    """The same terms for all multiples of a sum, and what this one is a multiple by."""
    table = system.coefficients
    ordered = sorted(terms.items())
    scale = ordered[0][1]
    quotients = [(monomial, table.divide(coefficient, scale)) for monomial, coefficient in ordered]
    if any(quotient is None for _, quotient in quotients):
        return tuple(ordered), ONE
    return tuple((monomial, quotient) for monomial, quotient in quotients if quotient is not None), scale
