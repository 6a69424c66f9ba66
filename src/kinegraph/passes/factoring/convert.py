"""From a graph to a system and back.

Static nodes become coefficients, symbols and functions leaves, polynomials expressions. What a function is applied to
and what an output shows are roots: they are kept, whatever happens to the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kinegraph.graph.build import GraphBuilder, transfer
from kinegraph.graph.canonical import exact
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Output, Polynomial, Symbol
from kinegraph.passes.factoring.polynomials import ONE, CoefficientTable, Static, System

#: A static sum longer than this is one opaque quantity.
STATIC_TERMS = 24

#: An argument of a function or an entry of an output: a literal, or a static node of the source graph.
Entry = tuple[str, int]


@dataclass
class Translation:
    """A system and what its literals stand for in the graph it came from."""

    graph: Graph
    system: System = field(default_factory=System)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    functions: dict[int, tuple[str, tuple[Entry, ...]]] = field(default_factory=dict)
    outputs: list[tuple[str, tuple[int, ...], list[Entry]]] = field(default_factory=list)
    _function_literals: dict[tuple[str, tuple[Entry, ...]], int] = field(default_factory=dict)
    _symbol_literals: dict[Symbol, int] = field(default_factory=dict)

    def symbol(self, symbol: Symbol) -> int:
        """The literal of a symbol."""
        known = self._symbol_literals.get(symbol)
        if known is None:
            known = self._symbol_literals[symbol] = self.system.leaf()
            self.symbols[known] = symbol
        return known

    def function(self, name: str, arguments: tuple[Entry, ...]) -> int:
        """The literal of a function's value; arguments that are expressions become roots."""
        known = self._function_literals.get((name, arguments))
        if known is None:
            known = self._function_literals[(name, arguments)] = self.system.leaf()
            self.functions[known] = (name, arguments)
            self.system.inside[known] = tuple(literal for kind, literal in arguments if kind == "literal")
            for kind, literal in arguments:
                self._root(kind, literal)
        return known

    def output(self, name: str, shape: tuple[int, ...], entries: list[Entry]) -> None:
        """Add an output; entries that are expressions become roots."""
        self.outputs.append((name, shape, entries))
        for kind, literal in entries:
            self._root(kind, literal)

    def _root(self, kind: str, literal: int) -> None:
        if kind == "literal" and literal in self.system.expressions:
            self.system.roots[literal] = self.system.roots.get(literal, 0) + 1


def static_coefficients(graph: Graph, table: CoefficientTable) -> dict[int, int]:
    """For every live static node its coefficient; long sums and functions are atoms named by the node."""
    found: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        if not (graph.live[index] and graph.static[index]):
            continue
        atom = table.intern(((((index, 1),), 1),))
        found[index] = _static_polynomial(node, table, found, atom) if isinstance(node, Polynomial) else atom
    return found


def _static_polynomial(node: Polynomial, table: CoefficientTable, found: dict[int, int], atom: int) -> int:
    if len(node.terms) > STATIC_TERMS:  # the builder has joined what can be joined
        return atom
    products = []
    for coefficient, factors in node.terms:
        product = table.number(coefficient)
        for child, exponent in factors:
            power = _static_power(table, child, found[child], exponent)
            if len(table.values[product]) * len(table.values[power]) > STATIC_TERMS:
                return atom
            product = table.multiply(product, power)
        products.append(product)
    total = table.sum(products)
    return total if len(table.values[total]) <= STATIC_TERMS else atom


def _static_power(table: CoefficientTable, node: int, coefficient: int, exponent: int) -> int:
    """The power of a static node; of a sum that would be long, as the power of one opaque quantity."""
    terms = len(table.values[coefficient])
    if terms > 1 and (exponent > STATIC_TERMS or terms**exponent > STATIC_TERMS**2):
        return table.intern(((((node, exponent),), 1),))
    return table.power(coefficient, exponent)


def to_system(graph: Graph) -> Translation:
    """The graph as a system, node by node."""
    translation = Translation(graph)
    system = translation.system
    static = static_coefficients(graph, system.coefficients)
    powers = _Powers(system)
    literals: dict[int, int] = {}

    def entry(index: int) -> Entry:
        return ("static", index) if graph.static[index] else ("literal", literals[index])

    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or graph.static[index]:
            continue
        if isinstance(node, Symbol):
            literals[index] = translation.symbol(node)
        elif isinstance(node, Function):
            literals[index] = translation.function(node.name, tuple(entry(a) for a in node.arguments))
        else:
            literals[index] = system.create()
            for coefficient, monomial in _terms(node, literals, static, powers):
                system.add_term(literals[index], monomial, coefficient)
    for output in graph.outputs:
        translation.output(output.name, output.shape, [entry(index) for index in output.nodes])
    return translation


def _terms(
    node: Polynomial, literals: dict[int, int], static: dict[int, int], powers: _Powers
) -> Iterator[tuple[int, int]]:
    """The terms of a node as coefficient and monomial of a system."""
    table, monomials = powers.system.coefficients, powers.system.monomials
    for coefficient, factors in node.terms:
        product, found = table.number(coefficient), []
        for child, exponent in factors:
            if child in static:
                product = table.multiply(product, _static_power(table, child, static[child], exponent))
            else:
                found += powers.literals(literals[child], exponent)
        yield product, monomials.intern(tuple(sorted(found)))


#: Higher powers are computed by squaring: a monomial repeats a literal for every power of it.
LONG_POWER = 16


class _Powers:
    """Powers of literals while a system is made."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: dict[tuple[int, int], int] = {}

    def literals(self, literal: int, exponent: int) -> list[int]:
        """Literals whose product is the power: itself over and over, or the square of another where that is long."""
        short, halvings = exponent, 0
        while short > LONG_POWER:
            short, halvings = short // 2, halvings + 1
        found = [literal] * short
        for step in range(halvings - 1, -1, -1):
            root = self._expression(literal, exponent >> (step + 1), found)
            found = [root, root] + [literal] * (exponent >> step & 1)
        return found

    def _expression(self, literal: int, exponent: int, product: list[int]) -> int:
        known = self._known.get((literal, exponent))
        if known is None:
            known = self._known[literal, exponent] = self.system.create()
            self.system.set_term(known, self.system.monomials.intern(tuple(sorted(product))), ONE)
        return known


class GraphEmission:
    """Writing a system into a builder, children first."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self.system = translation.system
        self.builder = GraphBuilder()
        graph = translation.graph
        only = [live and static for live, static in zip(graph.live, graph.static, strict=True)]
        self.static = transfer(graph, self.builder, only=only)
        self.place: dict[int, int] = {}
        self._coefficients: dict[int, tuple[Coefficient, tuple[Factor, ...]]] = {}

    def graph(self) -> Graph:
        """The finished graph."""
        outputs = []
        for name, shape, entries in self.translation.outputs:
            outputs.append(Output(name, shape, tuple(self._entry(*entry) for entry in entries)))
        return self.builder.graph(outputs)

    def _entry(self, kind: str, value: int) -> int:
        return self.static[value] if kind == "static" else self._literal(value)

    def _literal(self, literal: int) -> int:
        stack = [literal]
        while stack:
            top = stack[-1]
            missing = [] if top in self.place else [x for x in self._needs(top) if x not in self.place]
            if missing:
                stack += missing
                continue
            if top not in self.place:
                self.place[top] = self._written(top)
            stack.pop()
        return self.place[literal]

    def _needs(self, literal: int) -> list[int]:
        if literal in self.system.expressions:
            monomials = self.system.monomials.literals
            return [x for m in self.system.expressions[literal] for x in monomials[m]]
        if literal in self.translation.functions:
            return [value for kind, value in self.translation.functions[literal][1] if kind == "literal"]
        return []

    def _written(self, literal: int) -> int:
        if literal in self.translation.symbols:
            symbol = self.translation.symbols[literal]
            return self.builder.symbol(symbol.kind, symbol.name)
        if literal in self.translation.functions:
            name, arguments = self.translation.functions[literal]
            nodes = tuple(self.static[v] if kind == "static" else self.place[v] for kind, v in arguments)
            return self._function(name, nodes)
        return self._polynomial(self.system.expressions[literal])

    def _function(self, name: str, arguments: tuple[int, ...]) -> int:
        if all(self.builder.static[argument] for argument in arguments):
            return self.builder.apply(name, *arguments)
        # Not `apply`: it would open or replace the argument, whose sum is chosen here.
        return self.builder.intern(Function(name, arguments))

    def _polynomial(self, terms: dict[int, int]) -> int:
        static_total: dict[tuple[Factor, ...], Coefficient] = {}
        collected: dict[tuple[Factor, ...], Coefficient] = {}
        for monomial, coefficient in terms.items():
            number, static = self._coefficient(coefficient)
            if not monomial:
                static_total[static] = number
                continue
            exponents = dict(static)
            for literal in self.system.monomials.literals[monomial]:
                node = self.place[literal]
                value = self.builder.value_of(node)  # roots may have become numbers: pi (s^2 + c^2) / pi
                if value is None:
                    exponents[node] = exponents.get(node, 0) + 1
                else:
                    number = exact(number * value)
            factors = tuple(sorted(exponents.items()))
            collected[factors] = collected.get(factors, 0) + number
        if not collected:
            return self.builder.polynomial((c, factors) for factors, c in static_total.items())
        for factors, c in static_total.items():
            collected[factors] = collected.get(factors, 0) + c
        return self._interned(collected)

    def _interned(self, collected: dict[tuple[Factor, ...], Coefficient]) -> int:
        joined = tuple((c, factors) for factors, c in sorted(collected.items()) if c)
        if not joined:
            return self.builder.number(0)
        if len(joined) == 1 and joined[0][0] == 1 and len(joined[0][1]) == 1 and joined[0][1][0][1] == 1:
            return joined[0][1][0][0]
        # Not `builder.polynomial`: it opens c*x wherever x is used, and a shared c*x saves a multiplication.
        return self.builder.intern(Polynomial(joined))

    def _coefficient(self, index: int) -> tuple[Coefficient, tuple[Factor, ...]]:
        """A number and at most one static node."""
        known = self._coefficients.get(index)
        if known is None:
            known = self._coefficients[index] = self._static(self.system.coefficients.values[index])
        return known

    def _static(self, value: Static) -> tuple[Coefficient, tuple[Factor, ...]]:
        if len(value) == 1 and not value[0][0]:
            return value[0][1], ()
        sign = -1 if value[0][1] < 0 else 1
        terms = ((sign * c, tuple((self.static[a], e) for a, e in factors)) for factors, c in value)
        node = self.builder.polynomial(terms)
        number = self.builder.value_of(node)
        return (sign, ((node, 1),)) if number is None else (sign * number, ())


def to_graph(translation: Translation) -> Graph:
    """The system as a graph again."""
    return GraphEmission(translation).graph()
