"""Partial derivatives of stored graphs: of any output, entry or named variable, by any of its symbols."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import resolve_closure
from kinegraph.derive.dynamics.derivatives import displacement_seeds
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, group_word
from kinegraph.errors import DerivationError, ModelError, ProofError, StoreError
from kinegraph.graph import law
from kinegraph.graph.build import GraphBuilder, Scalar, bind, moved, transfer
from kinegraph.graph.count import count
from kinegraph.graph.differentiate import ForwardDerivative, gradient
from kinegraph.graph.node import Coefficient, Graph, Kind, Output, Symbol
from kinegraph.graph.proof import prove
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.store import tables as schema
from kinegraph.store.catalog import GraphRecord, PassRecord, StoredGraph, graph_row
from kinegraph.store.database import Store
from kinegraph.store.evaluation import wanted_outputs
from kinegraph.store.expressions import parameter_values
from kinegraph.store.graphs import compact, needed, read_nodes
from kinegraph.store.reduction import symbol_values
from kinegraph.store.saving import save_graph

STAGE = "differentiated"

#: Beyond so many nodes a model is not derived again, and beyond so many steps not differentiated a second time.
LARGEST_DERIVED, MOST_STEPS = 20_000, 20_000_000

#: How a derivative was proved: the model derived again and differentiated by its own recursions, or the graph
#: differentiated in the other direction, from the outputs to the symbols.
BY_DERIVATION, BY_REVERSE_MODE = "equal to the derivative of the derivation", "equal in forward and reverse mode"


@dataclass(frozen=True, slots=True)
class StoredDerivative:
    """The new graph, its origin, its outputs such as `d(H)/d(q1)`, the operations before and after, and the proof."""

    graph: int
    origin: int
    stage: str
    outputs: tuple[str, ...]
    counts: tuple[PassRecord, ...]
    proof: str

    @property
    def proved(self) -> bool:
        """Whether it was proved."""
        return bool(self.proof)


def differentiate(
    store: Store, reference: str | int, outputs: Sequence[str], by: str, stage: str = ""
) -> StoredDerivative:
    """Differentiate outputs, entries or named variables of a stored graph (none: all outputs); save the result.

    `by`: a symbol of the graph (`q1`, `q1'`, a parameter), or a group of them (`q`, `v`, `p` ...; then the last index
    is that of the symbol). Parameters are symbols, so the result holds for all their values.
    """
    started = time.perf_counter()
    with store.reading() as connection:
        origin = graph_row(connection, reference)
        whole = wanted_outputs(connection, origin, outputs)
        with needed(connection, origin.id, {code for output in whole for code in output.nodes}) as only:
            part = compact(read_nodes(connection, origin.id, only=only), whole)
        values = symbol_values(connection, origin.id)
        numbers = parameter_values(connection, origin.id)
        symbols = _symbols(connection, origin.id)
        mechanism = _mechanism(connection, origin)
    derivative = _Derivative(part, symbols, mechanism, by)
    graph = derivative.graph()
    law.check(graph)
    seconds = time.perf_counter() - started
    proof = _proved_by_derivation(graph, mechanism, numbers) or derivative.proved_in_reverse(graph)
    names = tuple(output.name for output in graph.outputs)
    counts = (PassRecord(origin.stage, count(part)), PassRecord(f"d/d({by})", count(graph), seconds))
    record = GraphRecord(stage or STAGE, names, graph, counts, proved=bool(proof))
    key = save_graph(store, origin, record, values, f"d/d({by})")
    return StoredDerivative(key, origin.id, stage or STAGE, names, counts, proof)


def _symbols(connection: Connection, graph: int) -> dict[str, Symbol]:
    v = schema.variable
    rows = connection.execute(
        select(v.c.kind, v.c.name).where(v.c.graph == graph, v.c.kind.in_([kind.value for kind in Kind]))
    )
    return {row.name: Symbol(Kind(row.kind), row.name) for row in rows}


def _mechanism(connection: Connection, origin: StoredGraph) -> Mechanism | None:
    """The mechanism; None if the text of a graph that was saved by hand is not a model."""
    m = schema.mechanism
    text = connection.execute(select(m.c.text).where(m.c.id == origin.mechanism)).scalar_one()
    try:
        return parse(text, origin.name)
    except ModelError:
        return None


class _Derivative:
    """The derivative of a graph by a symbol or a group of symbols."""

    def __init__(self, part: Graph, symbols: dict[str, Symbol], mechanism: Mechanism | None, by: str) -> None:
        self.part, self.mechanism, self.by = part, mechanism, by
        self.single, self.wanted = self._variables(symbols)

    def _variables(self, symbols: dict[str, Symbol]) -> tuple[bool, tuple[Symbol, ...]]:
        """Whether it is a single one, and the symbols; of a model also those the graph does not depend on."""
        model = self.mechanism
        known = dict(symbols)
        if model is not None:
            known |= {one.name: one for group in Variables for one in group.symbols(model) if one.name not in known}
        if self.by in known:
            return True, (known[self.by],)
        word = group_word(self.by, model)
        if model is not None and word == DISPLACEMENTS:  # without quaternions they are the coordinates
            return False, () if model.layout.quaternions else Variables.POSITIONS.symbols(model)
        if word in tuple(Variables):
            found = _of_group(Variables(word), model, symbols)
            if found:
                return False, found
        raise StoreError(
            f"the graph has no symbol {self.by!r}; {did_you_mean(self.by, known)}; groups are q, dq, v, z, a, tau, u, p"
        )

    def graph(self) -> Graph:
        """The derivatives of all outputs, in forward mode."""
        builder = GraphBuilder()
        outputs = moved(self.part.outputs, transfer(self.part, builder))
        columns = self._columns(builder, outputs)
        return builder.graph([self._output(output, columns) for output in outputs])

    def _output(self, output: Output, columns: Sequence[dict[int, int]]) -> Output:
        nodes = tuple(column[node] for node in output.nodes for column in columns)
        shape = output.shape if self.single else (*output.shape, len(columns))
        return Output(f"d({output.name})/d({self.by})", shape, nodes)

    def _columns(self, builder: GraphBuilder, outputs: Sequence[Output]) -> list[dict[int, int]]:
        """For each symbol (or displacement) the derivative of each node of the outputs."""
        nodes = {node for output in outputs for node in output.nodes}
        if not self.wanted:
            assert self.mechanism is not None
            every = displacement_seeds(self.mechanism, builder)
            return [_along(builder, nodes, seeds) for seeds in every]
        places = [builder.symbol(symbol.kind, symbol.name) for symbol in self.wanted]
        columns = [_along(builder, nodes, {place: builder.one}) for place in places]
        return self._along_unit_quaternions(builder, nodes, columns)

    def _along_unit_quaternions(
        self, builder: GraphBuilder, nodes: set[int], columns: list[dict[int, int]]
    ) -> list[dict[int, int]]:
        """Without what would change the length of a quaternion, as everywhere (docs/quantities.md)."""
        layout = self.mechanism.layout if self.mechanism else None
        fours = [layout.positions[first : first + 4] for first in layout.quaternions] if layout else []
        found = list(columns)
        for place, symbol in enumerate(self.wanted):
            four = next((four for four in fours if symbol.name in four), None)
            if four is None or symbol.kind is not Kind.COORDINATE:
                continue
            parts = [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in four]
            slopes = [_along(builder, nodes, {part.index: builder.one}) for part in parts]
            own = parts[four.index(symbol.name)]
            found[place] = {
                node: (Scalar(builder, columns[place][node]) - own * _lengthening(parts, slopes, node)).index
                for node in nodes
            }
        return found

    def proved_in_reverse(self, graph: Graph) -> str:
        """How the derivative was proved: differentiated again from the outputs down; nothing if that takes too long."""
        entries = sum(len(output.nodes) for output in self.part.outputs)
        if not self.wanted or entries * len(self.part) > MOST_STEPS:
            return ""
        builder = GraphBuilder()
        outputs = moved(self.part.outputs, transfer(self.part, builder))
        nodes = {node for output in outputs for node in output.nodes}
        places = [builder.symbol(symbol.kind, symbol.name) for symbol in self.wanted]
        rows = {node: gradient(builder, node, places) for node in nodes}
        columns = [{node: rows[node][k] for node in nodes} for k in range(len(places))]
        columns = self._along_unit_quaternions(builder, nodes, columns)
        prove(graph, builder.graph([self._output(output, columns) for output in outputs])).require()
        return BY_REVERSE_MODE


def _of_group(group: Variables, model: Mechanism | None, symbols: dict[str, Symbol]) -> tuple[Symbol, ...]:
    """The symbols of a group: those of the model in its order, or those of the graph."""
    own = tuple(symbol for symbol in symbols.values() if symbol.kind is group.kind and symbol.name != "pi")
    return own if model is None else group.symbols(model)


def _along(builder: GraphBuilder, nodes: set[int], seeds: Mapping[int, int]) -> dict[int, int]:
    derivative = ForwardDerivative(builder, seeds)
    return {node: derivative(node) for node in nodes}


def _lengthening(parts: Sequence[Scalar], slopes: Sequence[dict[int, int]], node: int) -> Scalar:
    """The derivative along the quaternion itself."""
    terms = (part * Scalar(part.builder, slope[node]) for part, slope in zip(parts, slopes, strict=True))
    return sum(terms, parts[0].number(0))


def _proved_by_derivation(graph: Graph, mechanism: Mechanism | None, numbers: Mapping[str, Coefficient]) -> str:
    """How it was proved if all outputs are quantities of the model, derived and differentiated again."""
    if mechanism is None or len(graph) > LARGEST_DERIVED:
        return ""
    words = ",".join(output.name for output in graph.outputs)
    try:
        request = resolve_closure(request_of(mechanism, words))
        again = Derivations(request).at_once
        prove(bind(graph, _missing(graph, again, numbers)), bind(again, _missing(again, graph, numbers))).require()
    except (DerivationError, ProofError):  # entries and variables are not quantities; closed forms hold on loops only
        return ""
    return BY_DERIVATION


def _missing(graph: Graph, other: Graph, numbers: Mapping[str, Coefficient]) -> dict[str, Coefficient]:
    """The values of the parameters that only one of two graphs has: in the other they are numbers."""
    theirs = {symbol.name for symbol in other.symbols(Kind.PARAMETER)}
    own = {symbol.name for symbol in graph.symbols(Kind.PARAMETER)} - theirs
    return {name: numbers[name] for name in own if name in numbers}
