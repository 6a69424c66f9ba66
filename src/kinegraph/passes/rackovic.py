"""Rackovic's passes: identical expressions, monomials, and factorization into products."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.extract import LONG, tidy
from kinegraph.passes.factoring.polynomials import ONE, ZERO, Key, Normal, System, normalized

# Identical expressions (Rackovic, Alg. 3.2): sums that are equal up to a number are computed once.
#
# The builder gives equal expressions one node already; multiples of a sum are found here.


@dataclass(frozen=True)
class IdenticalExpressions:
    """Compute one of several sums or products that differ by a number only, until there are no more."""

    name: str = "identical_expressions"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        while _merge(translation.system):
            tidy(translation.system)
        return to_graph(translation)


def _merge(system: System) -> bool:
    """Write every expression that is a multiple of an earlier one so; returns whether there was any."""
    known: dict[Normal, tuple[int, int]] = {}
    merged = False
    for literal in sorted(system.expressions):
        terms = system.expressions[literal]
        if not terms or _is_multiple(system, terms):
            continue
        key, scale = normalized(system, terms)
        first, own = known.setdefault(key, (literal, scale))
        ratio = system.coefficients.divide(scale, own)
        if first == literal or ratio is None:
            continue
        for monomial in list(terms):
            system.set_term(literal, monomial, ZERO)
        system.set_term(literal, system.monomials.intern((first,)), ratio)
        merged = True
    return merged


def _is_multiple(system: System, terms: dict[int, int]) -> bool:
    """Is this a number times one quantity already?"""
    return len(terms) == 1 and system.monomials.degree[next(iter(terms))] <= 1


# Monomial extraction (Rackovic, Alg. 3.3): Y_j = mu Y1_j + Y2_j for all j with one mu, largest saving first.

#: Larger systems are left to fast extract, which keeps its candidates incrementally.
MOST_TERMS = 4000


@dataclass(frozen=True)
class ExtractMonomials:
    """Take the monomial with the largest saving out of all expressions at once, until none saves.

    A monomial of degree d that stands in p terms of an expression saves p d - 1 multiplications there; computing it
    costs d - 1. Over all N expressions and Phi terms that hold it this is U = Phi d - N - (d - 1). After each
    extraction quotients that are equal up to a number become one. `degree` is the largest d that is looked at.
    """

    degree: int = 3
    name: str = "monomials"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        system = translation.system
        if sum(map(len, system.expressions.values())) > MOST_TERMS:
            return graph
        tidy(system)
        while (best := _best_monomial(system, self.degree)) is not None:
            _extract(system, best)
        return to_graph(translation)


def _best_monomial(system: System, degree: int) -> tuple[int, ...] | None:
    """The monomial that saves most."""
    savings: Counter[tuple[int, ...]] = Counter()
    for terms in system.expressions.values():
        held: Counter[tuple[int, ...]] = Counter()
        for monomial in terms:
            held.update(_divisors(system.monomials.literals[monomial], degree))
        for divisor, number in held.items():
            savings[divisor] += number * len(divisor) - 1
    worth = {divisor: saving - len(divisor) + 1 for divisor, saving in savings.items()}
    best = max(worth, key=lambda divisor: (worth[divisor], tuple(-x for x in divisor)), default=None)
    return best if best is not None and worth[best] > 0 else None


def _divisors(literals: tuple[int, ...], degree: int) -> set[tuple[int, ...]]:
    """All parts of up to so many literals: larger ones are found in steps."""
    return {part for size in range(1, min(degree, len(literals)) + 1) for part in combinations(literals, size)}


def _extract(system: System, divisor: tuple[int, ...]) -> None:
    holders = {
        literal: [m for m in terms if not Counter(divisor) - Counter(system.monomials.literals[m])]
        for literal, terms in system.expressions.items()
    }
    known: dict[Normal, tuple[int, int]] = {}
    for literal, terms in system.expressions.items():
        if len(terms) > 1:
            key, scale = normalized(system, terms)
            known.setdefault(key, (literal, scale))
    factor = divisor[0] if len(divisor) == 1 else _product(system, divisor, holders)
    for literal, monomials in holders.items():
        if literal == factor or not monomials:
            continue
        terms = {system.monomials.without(m, divisor): system.expressions[literal][m] for m in monomials}
        for monomial in monomials:
            system.set_term(literal, monomial, ZERO)
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            system.add_term(literal, system.monomials.times(monomial, (factor,)), coefficient)
        else:
            rest, scale = _quotient(system, terms, known)
            system.add_term(literal, system.monomials.intern(tuple(sorted((factor, rest)))), scale)
    tidy(system)


def _quotient(system: System, terms: dict[int, int], known: dict[Normal, tuple[int, int]]) -> tuple[int, int]:
    """The expression of these terms and the number to multiply it by: equal up to a number are one (Alg. 3.2)."""
    key, scale = normalized(system, terms)
    literal, own = known.get(key, (-1, ONE))
    ratio = system.coefficients.divide(scale, own) if literal >= 0 else None
    if ratio is not None:
        return literal, ratio
    literal = system.create()
    for monomial, coefficient in terms.items():
        system.set_term(literal, monomial, coefficient)
    known.setdefault(key, (literal, scale))
    return literal, ONE


def _product(system: System, divisor: tuple[int, ...], holders: dict[int, list[int]]) -> int:
    """The expression of the monomial itself, one that is there already if possible."""
    product = system.monomials.intern(divisor)
    for literal in holders:
        if system.expressions[literal] == {product: 1}:
            return literal
    literal = system.create()
    system.set_term(literal, product, 1)
    return literal


# Factorization into products (Rackovic, Alg. 3.4 and 3.5): Y = (sum of rows)(sum of columns) + rest.
#
# A two-by-two block is a two-term divisor that occurs twice in one expression: exponents with e1 + e4 = e2 + e3 and
# coefficients with k1 k4 = k2 k3. Blocks grow to 2 x n by further occurrences and to m x n by further rows.

Part = tuple[int, int]


@dataclass(frozen=True)
class Block:
    """Rows and columns (monomial, coefficient) whose products are terms of one expression."""

    expression: int
    rows: tuple[Part, ...]
    columns: tuple[Part, ...]
    saving: int


@dataclass(frozen=True)
class FactorProducts:
    """Write expressions as sums of products of sums, the block with the largest saving first, until none saves."""

    name: str = "products"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        translation = to_system(graph)
        system = translation.system
        if any(len(terms) > LONG for terms in system.expressions.values()):
            return graph
        tidy(system)
        system.build_index()
        while (best := _best_block(system)) is not None:
            _factor(system, best)
        return to_graph(translation)


def _best_block(system: System) -> Block | None:
    blocks = [
        block
        for key, places in system.places.items()
        if len(key) == 4 and len(places) > 1
        for block in _blocks(system, key)
    ]
    best = max(blocks, key=lambda block: (block.saving, -block.expression), default=None)
    return best if best is not None and best.saving > 0 else None


def _blocks(system: System, key: Key) -> list[Block]:
    """The blocks of one divisor, one for each expression that holds it twice without overlap."""
    by_expression: dict[int, list[tuple[int, int]]] = {}
    for expression, first, second in system.places[key]:
        by_expression.setdefault(expression, []).append((first, second))
    found = []
    for expression, pairs in by_expression.items():
        columns: list[Part] = []
        taken: set[int] = set()
        for first, second in pairs:
            if first not in taken and second not in taken:
                taken |= {first, second}
                terms = system.expressions[expression]
                outer = system.coefficients.normal(terms[first], terms[second])[2]
                columns.append((system.monomials.split(first, second)[0], outer))
        if len(columns) > 1:
            found.append(_grown(system, expression, [(key[0], key[2]), (key[1], key[3])], columns))
    return found


def _grown(system: System, expression: int, rows: list[Part], columns: list[Part]) -> Block:
    """The block with all further rows that fit."""
    terms, literals = system.expressions[expression], system.monomials.literals
    base, scale = columns[0]
    for monomial, coefficient in terms.items():
        _, rest, row = system.monomials.split(base, monomial)
        if rest or not _is_new(system, rows, row):
            continue
        ratio = system.coefficients.divide(coefficient, scale)
        if ratio is not None and all(
            terms.get(system.monomials.times(column, literals[row])) == system.coefficients.multiply(ratio, c)
            for column, c in columns
        ):
            rows.append((row, ratio))
    return Block(expression, tuple(rows), tuple(columns), _saving(system, rows, columns))


def _is_new(system: System, rows: list[Part], row: int) -> bool:
    return all(row != known for known, _ in rows)


def _sum_cost(system: System, parts: list[Part] | tuple[Part, ...]) -> int:
    return sum(system.term_cost(m, c) + 1 for m, c in parts) - 1


def _saving(system: System, rows: list[Part], columns: list[Part]) -> int:
    products = {
        system.monomials.times(m, system.monomials.literals[n]): system.coefficients.multiply(c, d)
        for m, c in rows
        for n, d in columns
    }
    if len(products) < len(rows) * len(columns):
        return 0
    before = _sum_cost(system, list(products.items()))
    return before - _sum_cost(system, rows) - _sum_cost(system, columns) - 1


def _factor(system: System, block: Block) -> None:
    literals = []
    for row, _ in block.rows:
        for column, _ in block.columns:
            product = system.monomials.times(row, system.monomials.literals[column])
            system.set_term(block.expression, product, ZERO)
    for parts in (block.rows, block.columns):
        literal = system.create()
        literals.append(literal)
        for monomial, coefficient in parts:
            system.set_term(literal, monomial, coefficient)
    system.add_term(block.expression, system.monomials.intern(tuple(sorted(literals))), 1)
    tidy(system)
