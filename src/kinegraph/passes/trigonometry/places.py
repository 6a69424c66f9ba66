"""Where identities apply: pairs of terms that make the sine or cosine of another angle, and squares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from kinegraph.passes.factoring.coefficients import MINUS_ONE, ONE
from kinegraph.passes.trigonometry.angles import Angles, Form

#: Literals, sorted.
Product = tuple[int, ...]


#: Longer products, powers of powers, are not written out further.
MOST_FACTORS = 20


@dataclass(frozen=True)
class Occurrence:
    """Terms (by monomial) that together are coefficient * rest * name(form); cos of the zero angle is 1."""

    terms: tuple[int, ...]
    rest: Product
    coefficient: int
    name: str
    form: Form


class FlatTerms:
    """The terms of one expression; products that are expressions of their own are written out in them."""

    def __init__(self, angles: Angles, expression: int) -> None:
        self.angles = angles
        self.coefficient: dict[Product, int] = {}
        self.monomial: dict[Product, int] = {}
        for monomial, coefficient in angles.system.expressions[expression].items():
            sign, product = self._flat(monomial)
            if product not in self.monomial:
                table = angles.system.coefficients
                self.coefficient[product] = coefficient if sign > 0 else table.negative(coefficient)
                self.monomial[product] = monomial

    def _flat(self, monomial: int) -> tuple[int, Product]:
        system = self.angles.system
        sign = 1
        found: list[int] = []
        pending = list(system.monomials.literals[monomial])
        while pending:
            literal = pending.pop()
            terms = system.expressions.get(literal)
            if terms is not None and len(terms) == 1 and len(pending) + len(found) < MOST_FACTORS:
                ((inner, coefficient),) = terms.items()
                if coefficient in (ONE, MINUS_ONE):
                    sign = -sign if coefficient == MINUS_ONE else sign
                    pending += system.monomials.literals[inner]
                    continue
            found.append(literal)
        return sign, tuple(sorted(found))

    def places(self) -> Iterator[Occurrence]:
        """Everything that can be written with the sine or cosine of another angle."""
        known = self.angles.known
        for product in self.coefficient:
            moving = sorted({x for x in product if x in known})
            for one, two in combinations(moving, 2):
                yield from self._of_pair(product, one, two)
            for one in moving:
                if product.count(one) > 1:
                    yield from self._of_pair(product, one, one)

    def _of_pair(self, product: Product, one: int, two: int) -> Iterator[Occurrence]:
        first, second = self.angles.known[one], self.angles.known[two]
        if first.name == second.name == "cos":
            yield from self._cosine(product, one, two)
        elif first.name != second.name:
            sine, cosine = (one, two) if first.name == "sin" else (two, one)
            if first.form == second.form:
                yield from self._double_sine(product, sine, cosine)
            elif self.angles.known[sine].form < self.angles.known[cosine].form:
                yield from self._sine(product, sine, cosine)

    def _cosine(self, product: Product, one: int, two: int) -> Iterator[Occurrence]:
        """k cos x cos y + k' sin x sin y with k' = k or -k."""
        x, y = self.angles.known[one].form, self.angles.known[two].form
        partner = self._partner(product, (one, two), (("sin", x), ("sin", y)))
        if partner is None:
            return
        coefficient, other, relation = self._relation(product, partner, (("sin", x), ("sin", y)))
        if relation:
            form = self.angles.plus(x, self.angles.negative(y) if relation > 0 else y)
            yield from self._target((product, other), _without(product, one, two), coefficient, "cos", form)

    def _sine(self, product: Product, sine: int, cosine: int) -> Iterator[Occurrence]:
        """k sin x cos y + k' cos x sin y with k' = k or -k."""
        x, y = self.angles.known[sine].form, self.angles.known[cosine].form
        partner = self._partner(product, (sine, cosine), (("cos", x), ("sin", y)))
        if partner is None:
            return
        coefficient, other, relation = self._relation(product, partner, (("cos", x), ("sin", y)))
        if self.angles.known[sine].sign < 0:
            relation = -relation
        if relation:
            signed = self._signed(coefficient, self.angles.known[sine].sign)
            form = self.angles.plus(x, y if relation > 0 else self.angles.negative(y))
            yield from self._target((product, other), _without(product, sine, cosine), signed, "sin", form)

    def _double_sine(self, product: Product, sine: int, cosine: int) -> Iterator[Occurrence]:
        """k sin x cos x."""
        table = self.angles.system.coefficients
        x = self.angles.known[sine]
        half = table.divide(self.coefficient[product], table.number(2))
        if half is not None:
            form = self.angles.plus(x.form, x.form)
            rest = _without(product, sine, cosine)
            yield from self._target((product,), rest, self._signed(half, x.sign), "sin", form)

    def _target(
        self, products: tuple[Product, ...], rest: Product, coefficient: int, name: str, form: Form
    ) -> Iterator[Occurrence]:
        sign, normal = self.angles.positive(form)
        if self.angles.possible(normal):
            terms = tuple(self.monomial[product] for product in products)
            signed = self._signed(coefficient, sign if name == "sin" else 1)
            yield Occurrence(terms, rest, signed, name, normal)

    def _partner(
        self, product: Product, gone: tuple[int, int], wanted: tuple[tuple[str, Form], tuple[str, Form]]
    ) -> Product | None:
        """The product with two literals replaced by others, if there is such a term."""
        literals = [self.angles.find(*one) for one in wanted]
        if literals[0] is None or literals[1] is None:
            return None
        found = tuple(sorted((*_without(product, *gone), literals[0], literals[1])))
        return found if found in self.coefficient and found != product else None

    def _relation(
        self, product: Product, partner: Product, wanted: tuple[tuple[str, Form], tuple[str, Form]]
    ) -> tuple[int, Product, int]:
        """The coefficient, the partner, and 1, -1 or 0: is its coefficient the same, the negative, or another?"""
        table = self.angles.system.coefficients
        coefficient, other = self.coefficient[product], self.coefficient[partner]
        for one in wanted:
            literal = self.angles.find(*one)
            assert literal is not None
            other = self._signed(other, self.angles.known[literal].sign)
        relation = 1 if other == coefficient else -1 if other == table.negative(coefficient) else 0
        return coefficient, partner, relation

    def _signed(self, coefficient: int, sign: int) -> int:
        return coefficient if sign > 0 else self.angles.system.coefficients.negative(coefficient)

    def squares(self) -> Iterator[tuple[Product, int]]:
        """Products with the literal of a sine or cosine they hold twice."""
        for product in self.coefficient:
            for literal in dict.fromkeys(product):
                if literal in self.angles.known and product.count(literal) > 1:
                    yield product, literal


def _without(product: Product, *literals: int) -> Product:
    rest = list(product)
    for literal in literals:
        rest.remove(literal)
    return tuple(rest)
