"""Rackovic's reduction: identical expressions, monomials, products, reduction by parts, and the steps of his
tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from kinegraph.graph.build import GraphBuilder, copied, moved
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Function, Graph, Output, Polynomial, Term, children
from kinegraph.graph.proof import prove
from kinegraph.passes.analytic_expansion import Limits
from kinegraph.passes.common_subexpressions import Rebuild
from kinegraph.passes.effort import Pass, PassSequence
from kinegraph.passes.expand import Expand
from kinegraph.passes.factoring.convert import to_graph, to_system
from kinegraph.passes.factoring.extract import LONG, tidy
from kinegraph.passes.factoring.polynomials import ONE, ZERO, Key, Normal, System, normalized
from kinegraph.passes.trigonometric_identities import TrigonometricIdentities

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


# By parts (Rackovic, section 3.4): reduce an independent part of the graph by itself, then put it back.
#
# A part is independent if nothing but its top is used by the rest, so that nothing the rest needs is lost when the part
# is computed in another way.

#: Chooses a part: the nodes inside it.
Choice: TypeAlias = Callable[[Graph], frozenset[int]]


def direction_cosines(graph: Graph) -> frozenset[int]:
    """Sums of products of sines and cosines of different angles: what turning by one joint after another gives.

    These are the axes of links and joints, which the dissertation reduces first (its Q and e); lengths, masses and
    rates come in later, and so does what combines two directions.
    """
    angles: dict[int, frozenset[int]] = {}
    inside: set[int] = set()
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or graph.static[index]:
            continue
        if isinstance(node, Function) and node.name in ("sin", "cos"):
            angles[index] = frozenset(node.arguments)
        elif isinstance(node, Polynomial) and all(_turns(term, angles) for term in node.terms):
            angles[index] = frozenset().union(*(angles[child] for child in children(node)))
            inside.add(index)
    return frozenset(inside)


def _turns(term: Term, angles: dict[int, frozenset[int]]) -> bool:
    """Is a term plus or minus a product of known factors that have no angle in common?"""
    coefficient, factors = term
    if abs(coefficient) != 1 or not factors or any(e > 1 or child not in angles for child, e in factors):
        return False
    return sum(len(angles[child]) for child, _ in factors) == len(
        frozenset().union(*(angles[child] for child, _ in factors))
    )


def top_of(graph: Graph, inside: frozenset[int]) -> tuple[int, ...]:
    """The nodes of a part that outputs or nodes outside use: all the rest knows of it."""
    used = {index for output in graph.outputs for index in output.nodes}
    for index, node in enumerate(graph.nodes):
        if graph.live[index] and index not in inside:
            used.update(children(node))
    return tuple(sorted(used & inside))


def part_of(graph: Graph, top: Sequence[int]) -> Graph:
    """The part alone, its top as one output."""
    builder = GraphBuilder()
    alone = Graph(graph.nodes, (Output("part", (len(top),), tuple(top)),))
    return builder.graph(moved(alone.outputs, copied(alone, builder)))


def put_back(graph: Graph, top: Sequence[int], part: Graph) -> Graph:
    """The graph with its part computed as another graph does; what that makes neutral is folded if it saves."""
    builder = GraphBuilder()
    place = copied(part, builder)
    given = dict(zip(top, (place[index] for index in part.outputs[0].nodes), strict=True))
    above = builder.graph(moved(graph.outputs, copied(graph, builder, given)))
    return min(above, Rebuild().apply(above), key=lambda candidate: count(candidate).total)


@dataclass(frozen=True)
class ByParts:
    """Run passes on an independent part alone; the graph stays as it is if that does not save."""

    steps: tuple[Pass, ...]
    choice: Choice = direction_cosines
    name: str = "by_parts"

    def apply(self, graph: Graph) -> Graph:
        """The graph after this pass."""
        top = top_of(graph, self.choice(graph))
        if not top:
            return graph
        part = part_of(graph, top)
        for step in self.steps:
            part = step.apply(part)
        result = put_back(graph, top, part)
        return result if count(result).total <= count(graph).total else graph


# The steps of Rackovic's dissertation one after the other, with the counts after each (its Tables 3.3 and 3.4).
#
# Four cases: the whole model at once or by parts, without or with factorization into products before monomials are
# extracted. Analytic expressions are reduced by sin^2 + cos^2 = 1 while they are formed, equal expressions are one from
# the start, and identities are chosen by what they save: the rest is the dissertation's.


@dataclass(frozen=True)
class Published:
    """What the dissertation prints for Example 2.1; sines and cosines for final results only."""

    mul: int
    add: int
    sin: int | None = None
    cos: int | None = None


@dataclass(frozen=True)
class ReductionStep:
    """The count after one step: of the whole graph, or of the part that is worked on.

    `changed` is False where a pass left the graph as it is; `too_large` says that its limits are why.
    """

    name: str
    operations: Operations
    published: Published | None
    changed: bool
    too_large: bool = False


@dataclass(frozen=True)
class Case:
    """One of the four ways to reduce the model; every step was proved equal to the graph it started from."""

    number: int
    title: str
    steps: tuple[ReductionStep, ...]
    graph: Graph

    @property
    def result(self) -> ReductionStep:
        """What the last step left."""
        return self.steps[-1]


#: Whole models of some hundred terms per output are written out; beyond, the steps say that nothing changed.
LIMITS = Limits(terms=5000, total=20000, work=10**7, growth=1000)


@dataclass
class _Record:
    """The steps of one case as they are made, and the cheapest state of the whole graph among them."""

    steps: list[ReductionStep] = field(default_factory=list)
    cheapest: tuple[str, Graph] | None = None

    def note(
        self, name: str, graph: Graph, published: Published | None, changed: bool = True, too_large: bool = False
    ) -> Graph:
        self.steps.append(ReductionStep(name, count(graph), published, changed, too_large))
        if not name.startswith("part: ") and (
            self.cheapest is None or count(graph).total <= count(self.cheapest[1]).total
        ):
            self.cheapest = name, graph
        return graph

    def ended(self, graph: Graph) -> Graph:
        """The last graph; where it costs more than one before it, that one, with a step that says so."""
        if self.cheapest is None or count(graph).total <= count(self.cheapest[1]).total:
            return graph
        name, cheaper = self.cheapest
        return self.note(f"back to {name}: what follows costs more", cheaper, None)

    def run(self, name: str, step: Pass, graph: Graph, published: Published) -> Graph:
        result = step.apply(graph)
        prove(graph, result).require()
        same = result is graph
        # Writing out is the one step with limits, and it makes a new graph wherever it keeps to them.
        return self.note(name, result, published, not same, same and isinstance(step, Expand))


def like_rackovic(graph: Graph, limits: Limits = LIMITS) -> tuple[Case, ...]:
    """The four cases, from a graph that has not been reduced yet."""
    cases_in_order: tuple[tuple[str, Callable[[_Record, Graph, Limits], Graph]], ...] = (
        ("the whole model, monomials", _whole),
        ("the whole model, products and monomials", _whole_with_products),
        ("by parts, monomials", _by_parts),
        ("by parts, products and monomials", _by_parts_with_products),
    )
    cases = []
    for number, (title, way) in enumerate(cases_in_order, start=1):
        record = _Record()
        start = record.run("neutral elements", Rebuild(), graph, Published(10268, 6166))
        result = record.ended(way(record, start, limits))
        cases.append(Case(number, title, tuple(record.steps), result))
    return tuple(cases)


#: The dissertation's identities: of sums and squares, not of single products.
IDENTITIES = TrigonometricIdentities(double_sines=False)
_IDENTICAL = IdenticalExpressions()
SIMPLIFIED = PassSequence("simplified", (IDENTITIES, _IDENTICAL))
_MONOMIALS, _PRODUCTS = ExtractMonomials(), FactorProducts()


def _simplified(record: _Record, graph: Graph, limits: Limits) -> Graph:
    """The whole model up to where cases 1 and 2 part."""
    graph = record.run("analytic expressions", Expand(limits, forms=0), graph, Published(5768, 1047))
    graph = record.run("trigonometric identities", IDENTITIES, graph, Published(1340, 453))
    return record.run("identical expressions", _IDENTICAL, graph, Published(801, 257))


def _whole(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _simplified(record, graph, limits)
    return record.run("monomials", _MONOMIALS, graph, Published(260, 177, 13, 13))


def _whole_with_products(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _simplified(record, graph, limits)
    graph = record.run("products", _PRODUCTS, graph, Published(453, 148))
    return record.run("monomials", _MONOMIALS, graph, Published(218, 138, 13, 13))


def _with_new_part(record: _Record, graph: Graph, limits: Limits) -> Graph:
    """The directions reduced alone and put back, then the whole up to where cases 3 and 4 part."""
    top = top_of(graph, direction_cosines(graph))
    part = record.note("part: directions", part_of(graph, top), Published(768, 382))
    part = record.run("part: analytic expressions", Expand(limits, forms=0), part, Published(543, 191))
    part = record.run("part: simplified expressions", SIMPLIFIED, part, Published(60, 14))
    part = record.run("part: monomials", _MONOMIALS, part, Published(43, 14))
    whole = record.note("part put back", put_back(graph, top, part), Published(9544, 5798))
    prove(graph, whole).require()
    whole = record.run("analytic expressions", Expand(limits, forms=0), whole, Published(931, 310))
    return record.run("simplified expressions", SIMPLIFIED, whole, Published(442, 174))


def _by_parts(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _with_new_part(record, graph, limits)
    return record.run("monomials", _MONOMIALS, graph, Published(196, 135, 7, 7))


def _by_parts_with_products(record: _Record, graph: Graph, limits: Limits) -> Graph:
    graph = _with_new_part(record, graph, limits)
    graph = record.run("products", _PRODUCTS, graph, Published(328, 138))
    return record.run("monomials", _MONOMIALS, graph, Published(140, 107, 7, 7))
