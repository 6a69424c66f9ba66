"""The passes that expand outputs into complete analytic expressions, and the systems they build from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq, fmpq_mpoly

from kinegraph.graph.canonical import exact
from kinegraph.graph.count import count
from kinegraph.graph.node import Factor, Function, Graph, Polynomial, Symbol
from kinegraph.passes.analytic_expansion import (
    Expansion,
    Form,
    Limits,
    Terms,
    TooLargeError,
    WrittenForm,
    naive_cost,
    number,
    sparse,
    written_forms,
)
from kinegraph.passes.effort import Annealing, Budget
from kinegraph.passes.factoring.alternatives import Alternatives, relations
from kinegraph.passes.factoring.convert import Entry, Translation, to_graph
from kinegraph.passes.factoring.extract import greedy
from kinegraph.passes.factoring.polynomials import ONE, System
from kinegraph.passes.search import search

# Systems made of complete analytic expressions, each root written in a way of its own choice.

#: How many times expressions are rewritten in another basis, over all roots: it takes milliseconds each.
REWRITINGS = 1500


@dataclass
class Root:
    """An expression to be computed and the forms it can be written in."""

    polynomial: fmpq_mpoly
    forms: list[WrittenForm] = field(default_factory=list)


class Assembly:
    """The roots of a graph, expanded; makes systems out of them. Without other forms the graph's own angles stay."""

    def __init__(self, graph: Graph, limits: Limits, most_forms: int = 8) -> None:
        self.graph = graph
        self.expansion = Expansion(graph, limits, own_angles=most_forms == 0)
        self.roots: list[Root] = []
        self.place: dict[int, tuple[int, fmpq]] = {}
        self._known: dict[str, list[int]] = {}
        for index in self._root_nodes():
            self._add(index)
        if sum(len(root.polynomial) for root in self.roots) > limits.total:
            raise TooLargeError("all roots together")
        if self.unfactored_cost() > limits.growth * count(graph).total + 1000:
            raise TooLargeError("written out, the roots cost too much to be worth factoring again")
        bases = max(1, min(4 * most_forms, REWRITINGS // max(1, len(self.roots))))
        for root in self.roots:
            root.forms = written_forms(self.expansion, root.polynomial, most_forms, bases) or [
                WrittenForm(sparse(root.polynomial), 0, ())
            ]

    def unfactored_cost(self) -> int:
        """The operations of all roots as sums of products."""
        static = frozenset(i for i, (kind, _) in enumerate(self.expansion.generators) if kind == "static")
        return sum(naive_cost(sparse(root.polynomial), static) for root in self.roots)

    def _root_nodes(self) -> list[int]:
        """Dynamic polynomials that are outputs, used as arguments of functions, or part of an angle as they are."""
        graph, space = self.graph, self.expansion.space
        found = {index: None for output in graph.outputs for index in output.nodes}
        for index, node in enumerate(graph.nodes):
            if isinstance(node, Function) and (self.expansion.valued[index] or self.expansion.named[index]):
                inner = space.parts(space.forms[index]) if index in space.forms else node.arguments
                found.update(dict.fromkeys(inner))
        return [i for i in found if not graph.static[i] and isinstance(graph.nodes[i], Polynomial)]

    def _add(self, index: int) -> None:
        """Multiples of one polynomial are one root."""
        polynomial = self.expansion.values[index]
        if not polynomial:
            self.place[index] = (-1, fmpq(0))
            return
        leading = polynomial.leading_coefficient()
        key = str(polynomial / leading)
        for position in self._known.get(key, ()):
            other = self.roots[position].polynomial
            self.place[index] = (position, leading / other.leading_coefficient())
            return
        self._known.setdefault(key, []).append(len(self.roots))
        self.place[index] = (len(self.roots), fmpq(1))
        self.roots.append(Root(polynomial))

    def build(self, choice: list[int]) -> Installation:
        """A system with every root written in the chosen way."""
        return Installation(self, choice)


class Installation:
    """A translation whose roots can be rewritten in their other forms."""

    def __init__(self, assembly: Assembly, choice: list[int]) -> None:
        self.assembly = assembly
        self.translation = Translation(assembly.graph)
        self.system: System = self.translation.system
        self._literal: dict[int, int] = {}
        self._nodes: dict[int, int] = {}
        self._lasting: set[int] = set()
        self._converted_forms: dict[tuple[int, int], dict[int, int]] = {}
        self._angle_terms: dict[int, dict[int, int]] = {}
        self.choice = list(choice)
        self.roots = [self.system.create() for _ in assembly.roots]
        for literal in self.roots:
            self.system.roots[literal] = 1
        for position, way in enumerate(choice):
            self.install(position, way)
        for output in assembly.graph.outputs:
            self.translation.output(output.name, output.shape, [self._entry(i) for i in output.nodes])

    def install(self, position: int, way: int) -> None:
        """Write a root in one of its forms, fully expanded."""
        system, literal = self.system, self.roots[position]
        for monomial in list(system.expressions[literal]):
            system.set_term(literal, monomial, 0)
        for monomial, coefficient in self._terms(position, way).items():
            system.set_term(literal, monomial, coefficient)
        self._activate(literal)

    def _activate(self, literal: int) -> None:
        system = self.system
        for monomial in system.expressions[literal]:
            for factor in system.monomials.literals[monomial]:
                argument = system.arguments.get(factor)
                if argument is not None and argument not in system.expressions:
                    system.create(argument)
                    for m, c in self._angle_terms[argument].items():
                        system.set_term(argument, m, c)

    def alternatives(self) -> Alternatives:
        """All forms of all roots, in the literals of this system."""
        roots = self.assembly.roots
        found = {self.roots[p]: [self._terms(p, way) for way in range(len(root.forms))] for p, root in enumerate(roots)}
        return Alternatives(found, self._angle_terms, relations(self.translation, self._angle_terms))

    def _terms(self, position: int, way: int) -> dict[int, int]:
        key = (position, way)
        if key not in self._converted_forms:
            self._converted_forms[key] = self._converted(self.assembly.roots[position].forms[way].terms)
        return self._converted_forms[key]

    def _converted(self, terms: Terms) -> dict[int, int]:
        table, monomials = self.system.coefficients, self.system.monomials
        result: dict[int, int] = {}
        for exponents, c in terms.items():
            static, found = [], []
            for position, exponent in exponents:
                kind, what = self.assembly.expansion.generators[position]
                if kind == "static" and isinstance(what, int):
                    static.append((what, exponent))
                else:
                    found += [self._leaf(position)] * exponent
            coefficient = table.intern(((tuple(sorted(static)), number(c)),))
            monomial = monomials.intern(tuple(sorted(found)))
            result[monomial] = table.add(result.get(monomial, 0), coefficient)
        return {m: c for m, c in result.items() if c}

    def _leaf(self, position: int) -> int:
        known = self._literal.get(position)
        if known is None:
            kind, what = self.assembly.expansion.generators[position]
            known = self._node(what) if isinstance(what, int) else self._angle(kind, what)
            self._literal[position] = known
        return known

    def _node(self, index: int) -> int:
        """The literal of a symbol or function; what is inside it comes first, without recursion."""
        pending = [index]
        while pending:
            top = pending[-1]
            missing = [child for child in self._inside(top) if child not in self._nodes]
            if missing:
                pending += reversed(missing)
                continue
            pending.pop()
            if top not in self._nodes:
                self._nodes[top] = self._made(top)
        return self._nodes[index]

    def _inside(self, index: int) -> list[int]:
        """The symbols and functions a function is made of; sums are roots, and known."""
        graph, space = self.assembly.graph, self.assembly.expansion.space
        node = graph.nodes[index]
        if not isinstance(node, Function):
            return []
        inner = space.parts(space.forms[index]) if index in space.forms else node.arguments
        return [child for child in inner if not graph.static[child] and child not in self.assembly.place]

    def _made(self, index: int) -> int:
        node = self.assembly.graph.nodes[index]
        if isinstance(node, Symbol):
            return self.translation.symbol(node)
        assert isinstance(node, Function)
        form = self.assembly.expansion.space.forms.get(index)
        if form is not None:
            return self._lasting_angle(node.name, form)
        return self.translation.function(node.name, tuple(self._entry(a) for a in node.arguments))

    def _angle(self, name: str, form: Form) -> int:
        """The literal of the sine or cosine of an angle; the angle's own sum is an expression of the system."""
        space = self.assembly.expansion.space
        table, monomials = self.system.coefficients, self.system.monomials
        terms: dict[int, int] = {}
        for atom, denominator, times in zip(space.atoms, space.denominators, form, strict=True):
            if not times:
                continue
            static, found = self._product(atom)
            coefficient = table.intern(((static, exact(Fraction(times, denominator))),))
            monomial = monomials.intern(tuple(sorted(found)))
            terms[monomial] = table.add(terms.get(monomial, 0), coefficient)
        return self._function_of(name, terms)

    def _product(self, atom: tuple[Factor, ...]) -> tuple[tuple[Factor, ...], list[int]]:
        """The static factors of a product, and the literals of the others."""
        graph = self.assembly.graph
        static = tuple((child, exponent) for child, exponent in atom if graph.static[child])
        moving = [(child, exponent) for child, exponent in atom if not graph.static[child]]
        return static, [literal for child, exponent in moving for literal in [self._entry(child)[1]] * exponent]

    def _function_of(self, name: str, terms: dict[int, int]) -> int:
        system = self.system
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            if coefficient == ONE and system.monomials.degree[monomial] == 1:
                return self._registered(name, system.monomials.literals[monomial][0])
        for argument, known in self._angle_terms.items():
            if known == terms:
                return self._registered(name, argument)
        argument = system.leaf()
        system.roots[argument] = 1
        self._angle_terms[argument] = terms
        return self._registered(name, argument)

    def _registered(self, name: str, argument: int) -> int:
        literal = self.translation.function(name, (("literal", argument),))
        self.system.priced[literal] = None
        if argument in self._angle_terms and argument not in self._lasting and literal not in self.system.arguments:
            self.system.depend(literal, argument)
        return literal

    def _entry(self, index: int) -> Entry:
        if self.assembly.graph.static[index]:
            return ("static", index)
        if index not in self.assembly.place:
            return ("literal", self._node(index))
        position, ratio = self.assembly.place[index]
        if position >= 0 and ratio == 1:
            return ("literal", self.roots[position])
        return ("literal", self._multiple(position, ratio))

    def _lasting_angle(self, name: str, form: Form) -> int:
        """A sine or cosine that is an output, or stands inside an angle or a function: it is never dropped."""
        literal = self._angle(name, form)
        argument = self.translation.functions[literal][1][0][1]
        self._lasting.add(argument)
        if argument in self._angle_terms and argument not in self.system.expressions:
            self.system.create(argument)
            for m, c in self._angle_terms[argument].items():
                self.system.set_term(argument, m, c)
        for leaf in self.system.dependants.pop(argument, []):
            self.system.arguments.pop(leaf, None)
        return literal

    def _multiple(self, position: int, ratio: fmpq) -> int:
        system = self.system
        literal = system.create()
        if position >= 0:
            monomial = system.monomials.intern((self.roots[position],))
            system.set_term(literal, monomial, system.coefficients.number(number(ratio)))
        return literal


# Complete analytic expressions, and the search that starts from them.


@dataclass(frozen=True)
class Expand:
    """Every output as one sum of products in sines, cosines and symbols, modulo sin^2 + cos^2 = 1.

    Each is written in the cheapest of some bases of angles; with `forms` 0 in the sines and cosines that are there. The
    graph is returned as it is where that would be too large.
    """

    limits: Limits = field(default_factory=Limits)
    forms: int = 1
    name: str = "expand"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        try:
            assembly = Assembly(graph, self.limits, self.forms)
        except TooLargeError:
            return graph
        return to_graph(assembly.build([0] * len(assembly.roots)).translation)


@dataclass(frozen=True)
class Analytic:
    """Outputs expanded in several bases of angles, factored together, each output's basis chosen by the search.

    With `greedy` the search starts from the factoring of `fast_extract`: short searches leave fewer operations then.
    """

    budget: Budget
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    forms: int = 8
    annealing: Annealing = field(default_factory=Annealing)
    greedy: bool = False
    name: str = "analytic"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        try:
            assembly = Assembly(graph, self.limits, self.forms)
        except TooLargeError:
            return graph
        installation = assembly.build([0] * len(assembly.roots))
        alternatives = installation.alternatives()
        if self.greedy:
            installation.system.build_index()
            greedy(installation.system)
        search(installation.system, self.budget, self.seed, self.annealing, alternatives)
        return to_graph(installation.translation)


def can_be_written_out(graph: Graph) -> bool:
    """Are the outputs small enough as sums of products?"""
    try:
        Assembly(graph, Limits(), most_forms=0)
    except TooLargeError:
        return False
    return True
