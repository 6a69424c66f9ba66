"""Complete analytic expressions of stored variables: expand them, store them, and write them as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import NamedTuple, TypeAlias

import flint
from sqlalchemy import Connection, select

from kinegraph.errors import StoreError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.canonical import exact
from kinegraph.graph.lookup import label_of
from kinegraph.graph.node import Coefficient, Function, Graph, Kind, Node, Output, Polynomial, Symbol, children
from kinegraph.notation.writing import number_text, split_number
from kinegraph.store import tables as schema
from kinegraph.store.catalog import entry_codes, graph_row
from kinegraph.store.database import Store
from kinegraph.store.graphs import compact, needed, read_nodes
from kinegraph.store.rows import from_columns, insert_rows, to_columns

# Complete analytic expressions: polynomials in basic quantities only (the dissertation's Alg. 2.3). Children come first
# in a graph, so one pass multiplies out every node. sin^2 + cos^2 = 1 is applied at every step, so equal expressions
# become equal polynomials. The shortest equivalent form is chosen at the end.

#: Longer expressions are not readable, and would not fit in memory for long.
MAX_TERMS = 500_000


class Basic(NamedTuple):
    """A basic quantity: a node itself (function ''), or the sine or cosine of it."""

    node: int
    function: str = ""


Monomial: TypeAlias = tuple[tuple[Basic, int], ...]
Expansion: TypeAlias = dict[Monomial, Coefficient]
Exponents: TypeAlias = tuple[int, ...]
Terms: TypeAlias = dict[Exponents, Coefficient]


def expand(graph: Graph, numbers: Mapping[int, Coefficient], sums: bool = False) -> dict[int, Expansion]:
    """The complete expressions of all nodes in the outputs of a graph.

    `numbers` gives nodes (parameters) a value. Sines and cosines of sums of symbols are expanded by the addition
    formulas, unless `sums` keeps them. Other functions, and angles that are not integer multiples of symbols, are
    basic quantities.
    """
    angles = {} if sums else _angles(graph)
    ring = _Ring(_basics(graph, numbers, angles), _pairs(graph, angles))
    wanted = {index for output in graph.outputs for index in output.nodes}
    polynomials: dict[int, flint.fmpq_mpoly] = {}
    last_use = _last_uses(graph)
    for index, node in enumerate(graph.nodes):
        polynomials[index] = _expanded(index, node, ring, polynomials, numbers, angles)
        for child in set(children(node)):
            if last_use[child] == index and child not in wanted:
                del polynomials[child]
    return {index: ring.shortest(polynomials[index]) for index in wanted}


Angle: TypeAlias = tuple[tuple[int, int], ...]


def _angles(graph: Graph) -> dict[int, Angle]:
    """The sines and cosines whose argument is a sum of integer multiples of symbols, with that sum."""
    found: dict[int, Angle] = {}
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Function) and node.name in ("sin", "cos"):
            form = linear_form(graph.nodes, node.arguments[0])
            if all(_is_multiple(graph, monomial, times) for monomial, times in form.items()):
                found[index] = tuple((monomial[0][0], int(times)) for monomial, times in sorted(form.items()))
    return found


def _is_multiple(graph: Graph, monomial: tuple[tuple[int, int], ...], times: Coefficient) -> bool:
    if len(monomial) != 1 or monomial[0][1] != 1 or times.denominator != 1:
        return False
    node = graph.nodes[monomial[0][0]]
    return isinstance(node, Symbol) and node.name != "pi"


def _basics(graph: Graph, numbers: Mapping[int, Coefficient], angles: Mapping[int, Angle]) -> list[Basic]:
    turned = sorted({node for angle in angles.values() for node, _ in angle})
    basics = [Basic(node, "sin") for node in turned] + [Basic(node, "cos") for node in turned]
    own = [
        index
        for index, node in enumerate(graph.nodes)
        if (isinstance(node, Symbol) and index not in numbers) or (isinstance(node, Function) and index not in angles)
    ]
    # Sines first: the remainder by sin^2 + cos^2 - 1 then has no squares of sines.
    own.sort(key=lambda index: (not _is(graph.nodes[index], "sin"), index))
    return basics + [Basic(index) for index in own]


def _is(node: Node, function: str) -> bool:
    return isinstance(node, Function) and node.name == function


def _pairs(graph: Graph, angles: Mapping[int, Angle]) -> list[tuple[Basic, Basic]]:
    """All (sine, cosine) of the same angle."""
    pairs = [(Basic(n, "sin"), Basic(n, "cos")) for n in sorted({n for angle in angles.values() for n, _ in angle})]
    whole = {
        (node.name, node.arguments): Basic(index)
        for index, node in enumerate(graph.nodes)
        if isinstance(node, Function) and index not in angles
    }
    for (name, arguments), sine in whole.items():
        if name == "sin" and ("cos", arguments) in whole:
            pairs.append((sine, whole[("cos", arguments)]))
    return pairs


def _last_uses(graph: Graph) -> list[int]:
    last = list(range(len(graph)))
    for index, node in enumerate(graph.nodes):
        for child in children(node):
            last[child] = index
    return last


def _expanded(
    index: int,
    node: Node,
    ring: _Ring,
    polynomials: Mapping[int, flint.fmpq_mpoly],
    numbers: Mapping[int, Coefficient],
    angles: Mapping[int, Angle],
) -> flint.fmpq_mpoly:
    if index in numbers:
        return ring.number(numbers[index])
    if index in angles:
        assert isinstance(node, Function)
        cosine, sine = ring.turned(angles[index])
        return sine if node.name == "sin" else cosine
    if not isinstance(node, Polynomial):
        return ring.basic(Basic(index))
    total = ring.number(0)
    for coefficient, factors in node.terms:
        product = ring.number(coefficient)
        for child, exponent in factors:
            for _ in range(exponent):
                product = ring.multiply(product, polynomials[child])
        total += product
    return ring.reduced(total)


class _Ring:
    """Polynomials in the basic quantities, over the rationals, modulo sin^2 + cos^2 = 1."""

    def __init__(self, basics: Sequence[Basic], pairs: Sequence[tuple[Basic, Basic]]) -> None:
        self.basics = basics
        self.place = {basic: place for place, basic in enumerate(basics)}
        names = tuple(f"x{place}" for place in range(len(basics))) or ("x",)
        self.context = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex)
        self.generators = self.context.gens()
        self.pairs = [(self.place[sine], self.place[cosine]) for sine, cosine in pairs]
        self.circles = [self.generators[s] ** 2 + self.generators[c] ** 2 - 1 for s, c in self.pairs]

    def number(self, value: Coefficient) -> flint.fmpq_mpoly:
        return self.context.constant(flint.fmpq(value.numerator, value.denominator))

    def basic(self, basic: Basic) -> flint.fmpq_mpoly:
        return self.generators[self.place[basic]]

    def multiply(self, left: flint.fmpq_mpoly, right: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        if len(left) * len(right) > 40 * MAX_TERMS:
            raise _too_long()
        return self.reduced(left * right)

    def reduced(self, polynomial: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        degrees = polynomial.degrees()
        for (sine, _), circle in zip(self.pairs, self.circles, strict=True):
            if degrees[sine] > 1:
                polynomial = polynomial % circle
        if len(polynomial) > MAX_TERMS:
            raise _too_long()
        return polynomial

    def turned(self, angle: Angle) -> tuple[flint.fmpq_mpoly, flint.fmpq_mpoly]:
        """Cosine and sine of a sum of multiples, by the addition formulas."""
        cosine, sine = self.number(1), self.number(0)
        for node, times in angle:
            c, s = self.basic(Basic(node, "cos")), self.basic(Basic(node, "sin"))
            s = s if times > 0 else -s
            for _ in range(abs(times)):
                cosine, sine = self.reduced(cosine * c - sine * s), self.reduced(sine * c + cosine * s)
        return cosine, sine

    def shortest(self, polynomial: flint.fmpq_mpoly) -> Expansion:
        """For every angle, squares of sines or squares of cosines: whichever gives fewer terms."""
        terms: Terms = {
            tuple(map(int, exponents)): exact(Fraction(int(value.p), int(value.q)))
            for exponents, value in polynomial.to_dict().items()
        }
        for sine, cosine in self.pairs:
            other = _exchanged(terms, cosine, sine)
            if len(other) < len(terms):
                terms = other
        return dict(sorted(((self._monomial(e), c) for e, c in terms.items()), key=_order))

    def _monomial(self, exponents: Exponents) -> Monomial:
        powers = ((self.basics[place], power) for place, power in enumerate(exponents) if power)
        return tuple(sorted(powers, key=lambda power: (power[0].node, power[0].function)))


def _order(term: tuple[Monomial, Coefficient]) -> tuple[int, Monomial]:
    return len(term[0]), term[0]


def _exchanged(terms: Terms, away: int, to: int) -> Terms:
    """Even powers of one generator written as powers of 1 - the square of the other."""
    result: Terms = {}
    for exponents, coefficient in terms.items():
        half, rest = divmod(exponents[away], 2)
        for k in range(half + 1):
            moved = list(exponents)
            moved[away], moved[to] = rest, exponents[to] + 2 * k
            key = tuple(moved)
            total = result.get(key, 0) + coefficient * (-1) ** k * comb(half, k)
            if total:
                result[key] = exact(total)
            else:
                result.pop(key, None)
    return result


def _too_long() -> StoreError:
    return StoreError(
        f"the complete expression has more than {MAX_TERMS} terms; request one entry, treat parameters "
        "as numbers, or keep the sines of sums (--sums)"
    )


# Variables and terms as readable text.


def node_text(code: int, nodes: Mapping[int, Node], depth: int = 3) -> str:
    """A variable written out to some depth; deeper variables are named by their codes."""
    node = nodes[code]
    if isinstance(node, Symbol):
        return node.name
    if not depth:
        return f"%{code}"
    if isinstance(node, Function):
        return f"{label_of(node.name)}({', '.join(node_text(child, nodes, depth - 1) for child in node.arguments)})"
    return sum_text([_term(term, nodes, depth) for term in node.terms])


def definition(code: int, nodes: Mapping[int, Node]) -> str:
    """The definition of a variable by those one level lower; sines and cosines are written out."""
    node = nodes[code]
    if not isinstance(node, Polynomial):
        return node_text(code, nodes)
    names = {child: _short(child, nodes) for child in set(children(node))}
    return sum_text([term_text(c, [(names[child], e) for child, e in factors]) for c, factors in node.terms])


def _short(code: int, nodes: Mapping[int, Node]) -> str:
    return f"%{code}" if isinstance(nodes[code], Polynomial) else node_text(code, nodes)


def _term(term: tuple[Coefficient, tuple[tuple[int, int], ...]], nodes: Mapping[int, Node], depth: int) -> str:
    coefficient, factors = term
    texts = [(node_text(child, nodes, depth - 1), exponent) for child, exponent in factors]
    if coefficient == 1 and len(texts) == 1 and texts[0][1] == 1:
        return texts[0][0]
    enclosed = [
        (f"({text})" if " " in text and isinstance(nodes[child], Polynomial) else text, exponent)
        for (text, exponent), (child, _) in zip(texts, factors, strict=True)
    ]
    return term_text(coefficient, enclosed)


def term_text(coefficient: Coefficient, powers: Sequence[tuple[str, int]]) -> str:
    """A coefficient times powers of named quantities."""
    written = [name if exponent == 1 else f"{name}^{exponent}" for name, exponent in powers]
    if written and abs(coefficient) == 1:
        return ("-" if coefficient < 0 else "") + "*".join(written)
    return "*".join([_number_text(Fraction(coefficient)), *written])


def _number_text(value: Fraction) -> str:
    """A decimal, a short fraction, or a decimal of 17 digits: the exact number is in the store, and in `--json`."""
    numerator, denominator = split_number(abs(value))
    text = number_text(numerator) + (f"/{number_text(denominator)}" if denominator != 1 else "")
    return f"-{text}" if value < 0 else text


def sum_text(pieces: Sequence[str]) -> str:
    """Terms with their signs, joined."""
    return " + ".join(pieces).replace("+ -", "- ") or "0"


def symbols_below(code: int, nodes: Mapping[int, Node]) -> frozenset[str]:
    """The names of the symbols a variable depends on."""
    found: set[str] = set()
    seen: set[int] = set()
    stack = [code]
    while stack:
        here = stack.pop()
        if here not in seen:
            seen.add(here)
            node = nodes[here]
            if isinstance(node, Symbol):
                found.add(node.name)
            stack.extend(children(node))
    return frozenset(found)


# Complete analytic expressions of stored variables: formed from the graph, stored in their own pair of tables.


@dataclass(frozen=True, slots=True)
class Form:
    """`numeric`: parameters as their stored numbers. `sums`: sines of sums of angles are not expanded."""

    numeric: bool = False
    sums: bool = False

    def __str__(self) -> str:
        return ("numeric" if self.numeric else "symbolic") + ("+sums" if self.sums else "")


SYMBOLIC = Form()


class BasicName(NamedTuple):
    """The text of a basic quantity, and the symbols in it."""

    text: str
    symbols: frozenset[str]


@dataclass(frozen=True, slots=True)
class Expression:
    """A complete expression; the nodes of its basic quantities are codes of the stored graph."""

    label: str
    form: Form
    terms: Expansion
    names: Mapping[Basic, BasicName]

    def __str__(self) -> str:
        return f"{self.label} = {sum_text([self.term(monomial) for monomial in self.terms])}"

    def term(self, monomial: Monomial) -> str:
        """One term as text."""
        return term_text(self.terms[monomial], [(self.names[basic].text, exponent) for basic, exponent in monomial])

    def symbols(self, monomial: Monomial) -> frozenset[str]:
        """The symbols in a term; q5 is in sin(q5)."""
        return frozenset[str]().union(*(self.names[basic].symbols for basic, _ in monomial))

    def rows(self) -> list[dict[str, object]]:
        """The terms as plain data: the exact coefficient and the factors by name."""
        return [
            {"coefficient": str(c), "factors": [{"name": self.names[b].text, "exponent": e} for b, e in monomial]}
            for monomial, c in self.terms.items()
        ]


def form_expressions(
    store: Store, reference: str | int, wanted: str, form: Form = SYMBOLIC, keep: bool = False
) -> list[Expression]:
    """The expressions of an output (`H`), an entry (`H11`) or a variable (`%7`): read if they are stored, otherwise
    formed.

    With `keep` they are written to the store, all in one change; without it the store is only read.
    """
    with store.writing() if keep else store.reading() as connection:
        graph = graph_row(connection, reference)
        codes = entry_codes(connection, graph, wanted)
        known = _stored(connection, graph.id, form, set(codes.values()))
        missing = set(codes.values()) - set(known)
        formed = _form(connection, graph.id, missing, form) if missing else {}
        if keep:
            _keep(connection, graph.id, form, formed)
        found = known | formed
        names = _names(connection, graph.id, {basic for e in found.values() for m in e for basic, _ in m})
    return [Expression(label, form, found[code], names) for label, code in codes.items()]


def _form(connection: Connection, graph: int, codes: set[int], form: Form) -> dict[int, Expansion]:
    with needed(connection, graph, codes) as only:
        nodes = read_nodes(connection, graph, only=only)
    part = compact(nodes, [Output("wanted", (len(codes),), tuple(sorted(codes)))])
    back = list(nodes)
    values = parameter_values(connection, graph) if form.numeric else {}
    numbers = {
        index: values[node.name]
        for index, node in enumerate(part.nodes)
        if isinstance(node, Symbol) and node.kind is Kind.PARAMETER and node.name in values
    }
    expansions = expand(part, numbers, form.sums)
    return {back[index]: _translated(expansion, back) for index, expansion in expansions.items()}


def _translated(expansion: Expansion, back: list[int]) -> Expansion:
    return {tuple((Basic(back[b.node], b.function), e) for b, e in m): c for m, c in expansion.items()}


def parameter_values(connection: Connection, graph: int) -> dict[str, Coefficient]:
    """The exact values of the parameters that have one."""
    v = schema.variable
    known = (v.c.graph == graph) & (v.c.kind == Kind.PARAMETER.value) & v.c.exact.is_not(None)
    rows = connection.execute(select(v.c.name, v.c.exact).where(known))
    return {row.name: from_columns(0.0, row.exact) for row in rows}


# The pair of tables


def _keep(connection: Connection, graph: int, form: Form, formed: Mapping[int, Expansion]) -> None:
    insert_rows(connection, schema.expression_term, list(_term_rows(graph, str(form), formed)))
    insert_rows(connection, schema.expression_factor, list(_factor_rows(graph, str(form), formed)))


def _term_rows(graph: int, form: str, formed: Mapping[int, Expansion]) -> Iterator[tuple[object, ...]]:
    for code, expansion in sorted(formed.items()):
        # Zero is a term too: without it, nothing would show that the expression was formed.
        for ordinal, coefficient in enumerate(expansion.values() or (0,)):
            yield graph, code, form, ordinal, *to_columns(coefficient)


def _factor_rows(graph: int, form: str, formed: Mapping[int, Expansion]) -> Iterator[tuple[object, ...]]:
    for code, expansion in sorted(formed.items()):
        for ordinal, monomial in enumerate(expansion):
            for basic, exponent in monomial:
                yield graph, code, form, ordinal, basic.node, basic.function, exponent


def _stored(connection: Connection, graph: int, form: Form, codes: set[int]) -> dict[int, Expansion]:
    t, f = schema.expression_term, schema.expression_factor
    found: dict[int, Expansion] = {}
    for code in sorted(codes):
        of_code = (f.c.graph == graph) & (f.c.variable == code) & (f.c.form == str(form))
        powers = select(f.c.term, f.c.factor, f.c.function, f.c.exponent).where(of_code)
        powers = powers.order_by(f.c.term, f.c.factor, f.c.function)
        factors: dict[int, list[tuple[Basic, int]]] = {}
        for term, node, function, power in connection.execute(powers).all():
            factors.setdefault(term, []).append((Basic(node, function), power))
        of_code = (t.c.graph == graph) & (t.c.variable == code) & (t.c.form == str(form))
        terms = connection.execute(select(t.c.ordinal, t.c.coefficient, t.c.exact).where(of_code).order_by(t.c.ordinal))
        for ordinal, double, digits in terms.all():
            expansion = found.setdefault(code, {})
            if double:
                expansion[tuple(factors.get(ordinal, ()))] = from_columns(double, digits)
    return found


def _names(connection: Connection, graph: int, basics: set[Basic]) -> dict[Basic, BasicName]:
    if not basics:
        return {}
    with needed(connection, graph, {basic.node for basic in basics}) as only:
        nodes = read_nodes(connection, graph, only=only)
    return {basic: _name(basic, nodes) for basic in basics}


def _name(basic: Basic, nodes: Mapping[int, Node]) -> BasicName:
    inner = node_text(basic.node, nodes)
    return BasicName(f"{basic.function}({inner})" if basic.function else inner, symbols_below(basic.node, nodes))
