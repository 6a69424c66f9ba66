"""Save mechanisms, graphs, sources and runs. Every function is one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from fractions import Fraction
from math import isfinite
from pathlib import Path

from sqlalchemy import Connection, Table, insert, select

from kinegraph.errors import StoreError
from kinegraph.garbage_collection import gc_paused
from kinegraph.graph import text as graph_text
from kinegraph.graph.angle import PI
from kinegraph.graph.count import count
from kinegraph.graph.node import Coefficient, Function, Graph, Node, Polynomial, Symbol
from kinegraph.store import tables as schema
from kinegraph.store.catalog import GraphRecord, ModelRecord, PassRecord, SavedModel, StoredGraph, labels
from kinegraph.store.database import Store, now
from kinegraph.store.names import carry_names, write_names
from kinegraph.store.rows import insert_rows, to_columns, write_model_parts
from kinegraph.store.tables import reduction

# Writing mechanisms, graphs, sources and runs. Every function is one transaction.

Values = Mapping[str, Coefficient | float]


def save(store: Store, model: ModelRecord) -> SavedModel:
    """Save a mechanism and its graphs as one change. An unchanged text keeps its version."""
    if not model.name:
        raise StoreError("a mechanism in the store needs a name")
    values = {name: _exactly(name, value) for name, value in model.values.items()}
    with gc_paused(), store.writing() as connection:
        mechanism, version = _save_mechanism(connection, model)
        graphs = tuple(_save_graph(connection, mechanism, record, values) for record in model.graphs)
    return SavedModel(mechanism, model.name, version, graphs)


def save_graph(store: Store, origin: StoredGraph, record: GraphRecord, values: Values, passes: str) -> int:
    """Save a graph that was reduced from a stored one, and how: one change."""
    exact = {name: _exactly(name, value) for name, value in values.items()}
    with gc_paused(), store.writing() as connection:
        key = _save_graph(connection, origin.mechanism, record, exact)
        carry_names(connection, origin.id, key, record.graph)
        connection.execute(insert(reduction).values(graph=key, origin=origin.id, passes=passes))
    return key


def save_source(store: Store, graph: int, language: str, quantities: tuple[str, ...], text: str) -> int:
    """Save a generated program text; the same text for the same graph is stored once."""
    source = schema.source
    own = digest(text)
    with store.writing() as connection:
        same = (source.c.graph == graph) & (source.c.language == language) & (source.c.hash == own)
        known = connection.execute(select(source.c.id).where(same)).scalar()
        if known is not None:
            return int(known)
        row = {"graph": graph, "language": language, "quantities": ",".join(quantities), "text": text, "hash": own}
        return _insert(connection, source, row | {"created": now()})


def save_run(
    store: Store,
    mechanism: int,
    settings: Mapping[str, object],
    result: Path | str | None = None,
    graph: int | None = None,
) -> int:
    """Save the settings of a computation and the path of its result."""
    try:
        settings_data = json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise StoreError(f"the settings of a run must be plain JSON: {problem}") from None
    row = {"mechanism": mechanism, "graph": graph, "settings": settings_data, "created": now()}
    with store.writing() as connection:
        return _insert(connection, schema.run, row | {"result": str(Path(result).absolute()) if result else None})


def graph_hash(graph: Graph) -> str:
    """The hash of a graph's text form: equal for equal graphs."""
    return digest(graph_text.dump(graph))


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _exactly(name: str, value: Coefficient | float) -> Coefficient:
    if isinstance(value, float):
        if not isfinite(value):
            raise StoreError(f"the value of {name} is {value}: it must be a finite number")
        value = Fraction(repr(float(value)))
    return value.numerator if value.denominator == 1 else value


def _insert(connection: Connection, table: Table, row: Mapping[str, object]) -> int:
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _save_mechanism(connection: Connection, model: ModelRecord) -> tuple[int, int]:
    table = schema.mechanism
    newest = select(table).where(table.c.name == model.name).order_by(table.c.version.desc()).limit(1)
    last = connection.execute(newest).first()
    own = digest(model.text)
    if last is not None and last.hash == own:
        return last.id, last.version
    version = last.version + 1 if last is not None else 1
    row = {"name": model.name, "version": version, "text": model.text, "hash": own, "created": now()}
    key = _insert(connection, table, row)
    write_model_parts(connection, key, model.text)
    return key, version


def _save_graph(connection: Connection, mechanism: int, record: GraphRecord, values: Mapping[str, Coefficient]) -> int:
    graph = record.graph
    row = {
        "mechanism": mechanism, "stage": record.stage, "quantities": ",".join(record.quantities),
        "nodes": len(graph), "levels": max(graph.levels, default=0), "hash": graph_hash(graph),
        "proved": record.proved, "created": now(),
    }  # fmt: skip
    key = _insert(connection, schema.graph, row)
    write_parts(connection, key, graph, values)
    write_names(connection, key, mechanism, graph, record.names)
    passes = record.passes or (PassRecord(record.stage, count(graph)),)
    rows = [(key, ordinal, p.name, *astuple(p.operations), p.seconds) for ordinal, p in enumerate(passes)]
    insert_rows(connection, schema.pass_count, rows)
    return key


def write_parts(connection: Connection, key: int, graph: Graph, values: Mapping[str, Coefficient]) -> None:
    """The variables, terms, factors, arguments and outputs of a graph."""
    insert_rows(connection, schema.variable, _variables(key, graph, values))
    _write_inside(connection, key, dict(enumerate(graph.nodes)))
    outputs = [(key, i, output.name, ",".join(map(str, output.shape))) for i, output in enumerate(graph.outputs)]
    insert_rows(connection, schema.output, outputs)
    entries = [
        (key, i, position, label, node)
        for i, output in enumerate(graph.outputs)
        for position, (label, node) in enumerate(zip(labels(output), output.nodes, strict=True))
    ]
    insert_rows(connection, schema.entry, entries)


def write_nodes(
    connection: Connection,
    key: int,
    nodes: Mapping[int, tuple[int, Node]],
    levels: Sequence[int],
    static: Sequence[bool],
) -> None:
    """Further variables of a graph: by code their index in `levels` and `static`, and the node in codes."""
    nodes_by_code = {code: node for code, (_, node) in nodes.items()}
    rows = [
        (key, code, *_kind(node), levels[index], static[index], None, None) for code, (index, node) in nodes.items()
    ]
    insert_rows(connection, schema.variable, rows)
    _write_inside(connection, key, nodes_by_code)


def _write_inside(connection: Connection, key: int, nodes: Mapping[int, Node]) -> None:
    insert_rows(connection, schema.term, _terms(key, nodes))
    insert_rows(connection, schema.factor, _factors(key, nodes))
    insert_rows(connection, schema.argument, _arguments(key, nodes))


Row = tuple[object, ...]


def _kind(node: Node) -> tuple[str, str | None]:
    if isinstance(node, Polynomial):
        return "sum", None
    return ("function", node.name) if isinstance(node, Function) else (node.kind.value, node.name)


def _variables(key: int, graph: Graph, values: Mapping[str, Coefficient]) -> Iterator[Row]:
    for code, (node, level, static) in enumerate(zip(graph.nodes, graph.levels, graph.static, strict=True)):
        value = _symbol_value(node, values) if isinstance(node, Symbol) else (None, None)
        yield key, code, *_kind(node), level, static, *value


def _symbol_value(symbol: Symbol, values: Mapping[str, Coefficient]) -> tuple[float | None, str | None]:
    """A symbol's value twice: as a double to compute with, and always as text, because null means no value."""
    if symbol == PI or symbol.name not in values:
        return None, None
    value = values[symbol.name]
    return to_columns(value)[0], str(value)


def _terms(key: int, nodes: Mapping[int, Node]) -> Iterator[Row]:
    for code, node in nodes.items():
        if isinstance(node, Polynomial):
            for ordinal, (coefficient, _) in enumerate(node.terms):
                yield key, code, ordinal, *to_columns(coefficient)


def _factors(key: int, nodes: Mapping[int, Node]) -> Iterator[Row]:
    for code, node in nodes.items():
        if isinstance(node, Polynomial):
            for ordinal, (_, factors) in enumerate(node.terms):
                for child, exponent in factors:
                    yield key, code, ordinal, child, exponent


def _arguments(key: int, nodes: Mapping[int, Node]) -> Iterator[Row]:
    for code, node in nodes.items():
        if isinstance(node, Function):
            for position, child in enumerate(node.arguments):
                yield key, code, position, child
