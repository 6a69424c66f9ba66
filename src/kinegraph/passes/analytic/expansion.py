"""The complete analytic expression of every root, modulo sin^2 + cos^2 = 1, by python-flint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from kinegraph.graph.canonical.numbers import exact
from kinegraph.graph.node import Coefficient, Function, Graph, Polynomial, Symbol, children
from kinegraph.passes.analytic.angles import AngleSpace, Form, blocks, combination, minus, positive
from kinegraph.passes.factoring.convert import STATIC_TERMS

#: What a variable of the polynomials stands for: the sine or cosine of an angle, or a node.
Generator: TypeAlias = tuple[str, Form | int]


#: Sine and cosine of n angles added up have some 2^n terms, of n times one angle n terms.
MOST_TURNS = 24

#: Higher powers of one quantity are not written out.
MOST_POWER = 64


class TooLargeError(Exception):
    """An expression written out exceeds the limit; the caller works without it."""


@dataclass(frozen=True)
class Limits:
    """How far expressions are written out: terms of one expression, of all roots, and of all steps on the way.

    What grows by more than the factor `growth` when written out is better factored as it is.
    """

    terms: int = 1000
    total: int = 2500
    work: int = 60000
    growth: int = 4


class Expansion:
    """All roots of a graph as polynomials in one flint context.

    Generators are sines (first, so that the lexicographic order eliminates their squares) and cosines of all angles
    that may be wanted, other symbols and functions, and static quantities. With `own_angles` every angle of the graph
    stays as it is, and nothing but sin^2 + cos^2 = 1 is known of it; otherwise all are written in a basis.
    """

    def __init__(self, graph: Graph, limits: Limits, own_angles: bool = False) -> None:
        self.graph, self.limits = graph, limits
        self.space = AngleSpace(graph)
        if any(exponent > MOST_POWER for atom in self.space.atoms for _, exponent in atom):
            raise TooLargeError(f"a power of more than {MOST_POWER} in an angle")
        self.valued, self.named = self._wanted()
        self.basis = self.space.own() if own_angles else self.space.basis()
        self.blocks = blocks(self.basis)
        self.forms = self._candidate_forms()
        self.generators = self._generators()
        if len(self.generators) > 600:
            raise TooLargeError(f"{len(self.generators)} quantities")
        self.position = {generator: i for i, generator in enumerate(self.generators)}
        self.context = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(self.generators))], Ordering.lex)
        self.gens = self.context.gens()
        self._circles = {form: self.sine(form) ** 2 + self.cosine(form) ** 2 - 1 for form in self.forms}
        self._work = 0
        self.values = self._evaluate()

    def sine(self, form: Form) -> fmpq_mpoly:
        """The generator that stands for the sine of an angle."""
        return self.gens[self.position[("sin", form)]]

    def cosine(self, form: Form) -> fmpq_mpoly:
        """The generator that stands for the cosine of an angle."""
        return self.gens[self.position[("cos", form)]]

    def _candidate_forms(self) -> list[Form]:
        """The basis, the graph's own angles, and differences of basis angles that share an atom."""
        found = dict.fromkeys([*self.basis, *self.space.own()])
        for block in self.blocks:
            for i in block:
                for j in block:
                    if i < j:
                        found[positive(minus(self.basis[j], self.basis[i]))[1]] = None
        return list(found)

    def _generators(self) -> list[Generator]:
        found: list[Generator] = [(name, form) for name in ("sin", "cos") for form in self.forms]
        for index, node in enumerate(self.graph.nodes):
            if self.graph.live[index] and self.graph.static[index]:
                found.append(("static", index))
            elif self.valued[index] and not isinstance(node, Polynomial) and index not in self.space.forms:
                found.append(("leaf", index))
        return found

    def _wanted(self) -> tuple[list[bool], list[bool]]:
        """For every node: is its polynomial needed, and is it needed by itself, inside an angle or a function?"""
        graph, forms = self.graph, self.space.forms
        valued, named = [False] * len(graph), [False] * len(graph)
        for output in graph.outputs:
            for index in output.nodes:
                valued[index] = True
        for index in range(len(graph) - 1, -1, -1):
            node = graph.nodes[index]
            if not (valued[index] or named[index]) or isinstance(node, Symbol):
                continue
            inner: Iterable[int] = self.space.parts(forms[index]) if index in forms else children(node)
            for child in inner:
                if isinstance(node, Polynomial) or isinstance(graph.nodes[child], Polynomial):
                    valued[child] = valued[child] or isinstance(node, Polynomial) or not graph.static[child]
                else:
                    named[child] = not graph.static[child]
        return valued, named

    def _evaluate(self) -> dict[int, fmpq_mpoly]:
        values: dict[int, fmpq_mpoly] = {}
        for index, node in enumerate(self.graph.nodes):
            if not self.valued[index]:
                continue
            if index in self.space.forms:
                assert isinstance(node, Function)
                cosine, sine = self.point(self.space.forms[index], self.basis)
                values[index] = cosine if node.name == "cos" else sine
            elif isinstance(node, Polynomial):
                values[index] = self._polynomial(index, node, values)
            else:
                values[index] = self.gens[self.position[("static" if self.graph.static[index] else "leaf", index)]]
        return values

    def _polynomial(self, index: int, node: Polynomial, values: dict[int, fmpq_mpoly]) -> fmpq_mpoly:
        total = self.context.constant(0)
        for coefficient, factors in node.terms:
            term = self.context.constant(fmpq(coefficient.numerator, coefficient.denominator))
            for child, exponent in factors:
                if exponent > MOST_POWER:
                    raise TooLargeError(f"a power of more than {MOST_POWER}")
                for _ in range(exponent):
                    self._work += len(term) * len(values[child])
                    if self._work > self.limits.work:
                        raise TooLargeError("all steps together")
                    term = term * values[child]
            total = total + term
        if self.graph.static[index]:
            if len(total) > STATIC_TERMS:
                return self.gens[self.position[("static", index)]]
            return total
        total = self.reduced(total, self.basis)
        if max(total.degrees(), default=0) > MOST_POWER:
            raise TooLargeError(f"a power of more than {MOST_POWER}")
        if len(total) > self.limits.terms:
            raise TooLargeError(f"{len(total)} terms in one expression")
        return total

    def reduced(self, polynomial: fmpq_mpoly, forms: list[Form]) -> fmpq_mpoly:
        """Without squares of sines of the given angles."""
        degrees = polynomial.degrees()
        for form in forms:
            if degrees[self.position[("sin", form)]] > 1:
                polynomial = divmod(polynomial, self._circles[form])[1]
        return polynomial

    def point(self, form: Form, basis: list[Form]) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Cosine and sine of an angle, written in those of a basis."""
        sign, normal = positive(form)
        if normal in basis:
            return self.cosine(normal), sign * self.sine(normal)
        numbers = combination(basis, form)
        assert numbers is not None
        if sum(map(abs, numbers)) > MOST_TURNS:
            raise TooLargeError(f"an angle that is a sum of more than {MOST_TURNS} others")
        cosine, sine = self.context.constant(1), self.context.constant(0)
        for number, angle in zip(numbers, basis, strict=True):
            c, s = self.cosine(angle), self.sine(angle)
            if number < 0:
                s = -s
            for _ in range(abs(number)):
                cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return self.reduced(cosine, basis), self.reduced(sine, basis)


def number(value: fmpq) -> Coefficient:
    """A flint rational as ours."""
    return exact(Fraction(int(value.p), int(value.q)))
