"""Factorisation into products (Rackovic, Alg. 3.4 and 3.5): Y = (sum of rows)(sum of columns) + rest.

A two-by-two block is a two-term divisor that occurs twice in one expression: exponents with e1 + e4 = e2 + e3 and
coefficients with k1 k4 = k2 k3. Blocks grow to 2 x n by further occurrences and to m x n by further rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.graph.node import Graph
from kinegraph.passes.factoring.coefficients import ZERO
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.horner import LONG
from kinegraph.passes.factoring.system import Key, System
from kinegraph.passes.factoring.tidy import tidy

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
        while (best := _best(system)) is not None:
            _factor(system, best)
        return to_graph(translation)


def _best(system: System) -> Block | None:
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
