"""Trigonometric identities (Rackovic, Alg. 3.1): sines and cosines by angle, where an identity applies, and the
pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import Translation, to_graph, to_system
from kinegraph.passes.factoring.extract import tidy
from kinegraph.passes.factoring.polynomials import MINUS_ONE, ONE, ZERO, System

# The sines and cosines of a system, known by their angle up to sign; new ones are made when an identity needs them.

#: An angle: its sum as sorted (monomial, coefficient); none at all is the angle zero.
Form = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sinusoid:
    """What a literal is: sign * sin(form) or cos(form)."""

    name: str
    form: Form
    sign: int


@dataclass
class Angles:
    """All sines and cosines of a translated graph."""

    translation: Translation
    known: dict[int, Sinusoid] = field(default_factory=dict)
    _literals: dict[tuple[str, Form], int] = field(default_factory=dict)
    _arguments: dict[Form, int] = field(default_factory=dict)
    _output_angles: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for literal, (name, arguments) in sorted(self.translation.functions.items()):
            if name in ("sin", "cos") and arguments[0][0] == "literal":
                self._learn(literal, name, arguments[0][1])
        entries = [e for _, _, found in self.translation.outputs for e in found]
        entries += [e for _, found in self.translation.functions.values() for e in found]
        self._output_angles = {literal for kind, literal in entries if kind == "literal"} & self.known.keys()

    @property
    def system(self) -> System:
        """The polynomials the angles belong to."""
        return self.translation.system

    def _learn(self, literal: int, name: str, argument: int) -> None:
        sign, form = self.positive(self._linear(argument))
        self.known[literal] = Sinusoid(name, form, sign if name == "sin" else 1)
        self._literals.setdefault((name, form), literal)
        self._arguments.setdefault(form, argument)

    def _linear(self, argument: int) -> Form:
        """An argument as a sum over leaves; one that is no such sum is an angle of its own."""
        system, table = self.system, self.system.coefficients
        total: dict[int, int] = {}
        pending = [(argument, ONE)]
        while pending:
            literal, scale = pending.pop()
            if literal not in system.expressions:
                leaf = system.monomials.intern((literal,))
                total[leaf] = table.add(total.get(leaf, 0), scale)
                continue
            for monomial, coefficient in system.expressions[literal].items():
                factors = system.monomials.literals[monomial]
                if len(factors) > 1:
                    return ((system.monomials.intern((argument,)), ONE),)
                if factors:
                    pending.append((factors[0], table.multiply(scale, coefficient)))
                else:
                    total[monomial] = table.add(total.get(monomial, 0), table.multiply(scale, coefficient))
        return tuple(sorted((m, c) for m, c in total.items() if c))

    # forms

    def positive(self, form: Form) -> tuple[int, Form]:
        """The sign and the form or its negative, the same for both."""
        if not form or form[0][1] == self.system.coefficients.size(form[0][1]):
            return 1, form
        return -1, self.negative(form)

    def negative(self, form: Form) -> Form:
        """Minus a linear form."""
        return tuple((m, self.system.coefficients.negative(c)) for m, c in form)

    def plus(self, left: Form, right: Form) -> Form:
        """The sum of two linear forms."""
        total = dict(left)
        for monomial, coefficient in right:
            total[monomial] = self.system.coefficients.add(total.get(monomial, 0), coefficient)
        return tuple(sorted((m, c) for m, c in total.items() if c))

    def possible(self, form: Form) -> bool:
        """May sine and cosine of this angle be used: known already, or a sum of leaves without a fixed part?

        With a fixed part the new angle might be a right angle and more, which only the builder folds.
        """
        if form in self._arguments or not form:
            return True
        monomials = self.system.monomials
        leaves = self.translation.symbols
        return all(monomials.degree[m] == 1 and monomials.literals[m][0] in leaves for m, _ in form)

    # literals

    def find(self, name: str, form: Form) -> int | None:
        """The literal of a sine or cosine that is there already."""
        return self._literals.get((name, form))

    def literal(self, name: str, form: Form) -> int:
        """The literal of a sine or cosine. If there is none it is made, and its angle is computed."""
        literal = self._literals.get((name, form))
        if literal is None:
            literal = self.translation.function(name, (("literal", self._argument(form)),))
            self.known[literal] = Sinusoid(name, form, 1)
            self._literals[(name, form)] = literal
        self._compute(form)
        return literal

    def _argument(self, form: Form) -> int:
        if form not in self._arguments:
            monomials = self.system.monomials
            if len(form) == 1 and form[0][1] == ONE:
                self._arguments[form] = monomials.literals[form[0][0]][0]
            else:
                argument = self._arguments[form] = self.system.leaf()
                # A root: kept though no expression uses it.
                self.system.roots[argument] = 1
        return self._arguments[form]

    def _compute(self, form: Form) -> None:
        """Enter the sum of a new angle; a trial that was taken back has removed it."""
        argument = self._arguments[form]
        if argument in self.system.roots and argument not in self.system.expressions:
            self.system.create(argument)
            for monomial, coefficient in form:
                self.system.set_term(argument, monomial, coefficient)

    # cost

    def used(self) -> int:
        """How many sines and cosines are in use."""
        return sum(literal in self._output_angles or self.system.used(literal) for literal in self.known)

    def idle_cost(self) -> int:
        """Operations of angles that no sine or cosine in use is taken of: they will be left out."""
        system = self.system
        needed = {
            self._arguments[one.form]
            for literal, one in self.known.items()
            if literal in self._output_angles or system.used(literal)
        }
        cost = 0
        for argument in set(self._arguments.values()) - needed - self._arguments_of_others():
            if argument in system.expressions and not system.used(argument):
                terms = system.expressions[argument]
                cost += sum(system.term_cost(m, c) + 1 for m, c in terms.items()) - 1
        return cost

    def _arguments_of_others(self) -> set[int]:
        """Angles that are outputs or arguments of other functions as well."""
        entries = [e for _, _, found in self.translation.outputs for e in found]
        entries += [e for n, found in self.translation.functions.values() if n not in ("sin", "cos") for e in found]
        return {literal for kind, literal in entries if kind == "literal"}


# Where identities apply: pairs of terms that make the sine or cosine of another angle, and squares.

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


# Trigonometric identities (Rackovic, Alg. 3.1), chosen by what they save and not by the order they are found in.
#
# sin^2 x + cos^2 x = 1, the sine and cosine of sums, differences and doubles of angles, also of angles that came in by
# an identity themselves. One candidate is one new angle wherever it can be used in any expression, or one square
# written as one minus the other; each is tried, counted and taken back, and the best is carried out, until none saves.

#: Larger systems are left as they are: every candidate is tried out.
MOST_TERMS = 6000


@dataclass(frozen=True)
class NewAngle:
    """Use sine and cosine of an angle in all expressions; the zero angle stands for sin^2 + cos^2 = 1."""

    form: Form


@dataclass(frozen=True)
class Square:
    """Write a square of one sine or cosine as 1 minus the other's, in one term of an expression or in all of them."""

    expression: int
    literal: int
    product: Product | None


Candidate: TypeAlias = NewAngle | Square


@dataclass(frozen=True)
class TrigonometricIdentities:
    """Apply identities while they save operations; `function_weight` is what a sine or cosine costs in operations.

    `double_sines` also writes the single term sin x cos x as half of sin 2x, which saves a multiplication but leaves
    less for others to share.
    """

    function_weight: float = 0.25
    double_sines: bool = True
    name: str = "trigonometric_identities"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        if sum(map(len, translation.system.expressions.values())) > MOST_TERMS:
            return graph
        tidy(translation.system)
        _Rewriting(translation, self).run()
        result = to_graph(translation)
        return result if count(result).total <= count(graph).total else graph


class _Rewriting:
    """A system, what can be done to it, and what each of these saves as far as known."""

    def __init__(self, translation: Translation, options: TrigonometricIdentities) -> None:
        self.system = translation.system
        self.angles = Angles(translation)
        self.options = options
        self.savings: dict[Candidate, float] = {}
        self._holders: dict[Candidate, set[int]] = {}
        self._candidates: dict[int, set[Candidate]] = {}

    def run(self) -> None:
        """Carry out the candidate that saves most until none does."""
        self._look_at(set(self.system.expressions))
        while self.savings:
            best = max(self.savings, key=lambda one: (self.savings[one], repr(one)))
            if self.savings[best] <= 0:
                return
            self.system.journal.clear()
            self._carry_out(best)
            self._look_at(self._changed())

    def objective(self) -> tuple[int, float]:
        """Operations, and these with a price on every sine and cosine in use."""
        operations = self.system.cost - self.angles.idle_cost()
        return operations, operations + self.options.function_weight * self.angles.used()

    def _changed(self) -> set[int]:
        """Expressions written to since the journal was cleared, and those that use them."""
        found = {literal for literal, _, _ in self.system.journal}
        return found | {user for literal in found for user, _ in self.system.uses.get(literal, ())}

    # candidates

    def _look_at(self, expressions: set[int]) -> None:
        """Find the candidates of these expressions anew, and value all that occur in them."""
        doubtful: set[Candidate] = set()
        for expression in expressions:
            for candidate in self._candidates.pop(expression, ()):
                self._holders[candidate].discard(expression)
                doubtful.add(candidate)
            if expression in self.system.expressions:
                found = self._candidates_in(expression)
                self._candidates[expression] = found
                for candidate in found:
                    self._holders.setdefault(candidate, set()).add(expression)
                doubtful |= found
        for candidate in sorted(doubtful, key=repr):
            if self._holders[candidate]:
                self.savings[candidate] = self._saving(candidate)
            else:
                self.savings.pop(candidate, None)

    def _candidates_in(self, expression: int) -> set[Candidate]:
        terms = FlatTerms(self.angles, expression)
        found: set[Candidate] = {NewAngle(place.form) for place in self._places(terms)}
        for product, literal in terms.squares():
            found |= {Square(expression, literal, product), Square(expression, literal, None)}
        return found

    def _places(self, terms: FlatTerms) -> Iterator[Occurrence]:
        return (place for place in terms.places() if len(place.terms) > 1 or self.options.double_sines)

    def _saving(self, candidate: Candidate) -> float:
        """What the candidate saves, by trying it; none if it adds operations, whatever functions it removes."""
        system = self.system
        operations, value = self.objective()
        mark = system.mark()
        self._carry_out(candidate)
        after, value_after = self.objective()
        system.undo(mark)
        system.touched.clear()
        return value - value_after if after <= operations else 0.0

    # carrying out

    def _carry_out(self, candidate: Candidate) -> None:
        if isinstance(candidate, NewAngle):
            for expression in sorted(self._holders[candidate]):
                self._use_angle(expression, candidate.form)
        else:
            self._replace_square(candidate)
        tidy(self.system)

    def _use_angle(self, expression: int, form: Form) -> None:
        """Rewrite what makes this angle, again if the new terms make it once more."""
        while True:
            terms = FlatTerms(self.angles, expression)
            places = [place for place in self._places(terms) if place.form == form]
            gone: set[int] = set()
            for place in places:
                if gone.isdisjoint(place.terms):
                    gone.update(place.terms)
                    self._rewrite(expression, terms, place)
            if not places:
                return

    def _rewrite(self, expression: int, terms: FlatTerms, place: Occurrence) -> None:
        for monomial in place.terms:
            self.system.set_term(expression, monomial, ZERO)
        product, coefficient = place.rest, place.coefficient
        if place.form:
            literal = self.angles.literal(place.name, place.form)
            product = tuple(sorted((*product, literal)))
            if place.name == "sin" and self.angles.known[literal].sign < 0:
                coefficient = self.system.coefficients.negative(coefficient)
        self._add(expression, terms, product, coefficient)

    def _add(self, expression: int, terms: FlatTerms, product: Product, coefficient: int) -> None:
        """Add a term, to one that is the same product written otherwise if there is one."""
        known = terms.monomial.get(product)
        monomial = known if known in self.system.expressions[expression] else self.system.monomials.intern(product)
        assert monomial is not None
        self.system.add_term(expression, monomial, coefficient)

    def _replace_square(self, square: Square) -> None:
        one = self.angles.known[square.literal]
        other = self.angles.literal("cos" if one.name == "sin" else "sin", one.form)
        terms = FlatTerms(self.angles, square.expression)
        for product, literal in list(terms.squares()):
            if literal == square.literal and square.product in (None, product):
                coefficient = terms.coefficient[product]
                self.system.set_term(square.expression, terms.monomial[product], ZERO)
                rest = list(product)
                rest.remove(literal)
                rest.remove(literal)
                self._add(square.expression, terms, tuple(rest), coefficient)
                squared = tuple(sorted((*rest, other, other)))
                self._add(square.expression, terms, squared, self.system.coefficients.negative(coefficient))
