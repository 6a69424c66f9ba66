"""Complete analytic expressions of stored variables: formed from the graph, stored in their own pair of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select

from kinegraph.graph.node import Coefficient, Kind, Node, Output, Symbol
from kinegraph.store.read.cone import needed
from kinegraph.store.read.expand import Basic, Expansion, Monomial, expand
from kinegraph.store.read.find import entry_codes, graph_row
from kinegraph.store.read.load import compact, read_nodes
from kinegraph.store.read.text import node_text, sum_text, symbols_below, term_text
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.bulk import insert_rows
from kinegraph.store.schema.exact import from_columns, to_columns
from kinegraph.store.schema.open import Store


@dataclass(frozen=True, slots=True)
class Form:
    """`numeric`: parameters as the numbers they were saved with. `sums`: sines of sums of angles are left whole."""

    numeric: bool = False
    sums: bool = False

    def __str__(self) -> str:
        return ("numeric" if self.numeric else "symbolic") + ("+sums" if self.sums else "")


SYMBOLIC = Form()


class BasicName(NamedTuple):
    """How a basic quantity is written, and the symbols in it."""

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
    """The expressions of an output (`H`), an entry (`H11`) or a variable (`%7`): read if they are stored, else formed.

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
        # Zero is a term too: without it, nothing would tell that the expression was formed.
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
        for ordinal, double, exact in terms.all():
            expansion = found.setdefault(code, {})
            if double:
                expansion[tuple(factors.get(ordinal, ()))] = from_columns(double, exact)
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
