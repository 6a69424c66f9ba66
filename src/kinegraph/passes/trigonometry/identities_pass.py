"""Trigonometric identities (Rackovic, Alg. 3.1), chosen by what they save and not by the order they are found in.

sin^2 x + cos^2 x = 1, the sine and cosine of sums, differences and doubles of angles, also of angles that came in by
an identity themselves. One candidate is one new angle wherever it can be used in any expression, or one square
written as one minus the other; each is tried, counted and taken back, and the best is carried out, until none saves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.coefficients import ZERO
from kinegraph.passes.factoring.convert import Translation, to_graph, to_system
from kinegraph.passes.factoring.tidy import tidy
from kinegraph.passes.trigonometry.angles import Angles, Form
from kinegraph.passes.trigonometry.places import FlatTerms, Occurrence, Product

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
