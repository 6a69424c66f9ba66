"""The sines and cosines of a system, known by their angle up to sign; new ones are made when an identity needs them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinegraph.passes.factoring.coefficients import ONE
from kinegraph.passes.factoring.convert import Translation
from kinegraph.passes.factoring.system import System

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
