"""Stored models and graphs: their records, and references such as `rackovic-6r@1:initial` or `H11`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from sqlalchemy import Connection, Row, select

from kinegraph.errors import StoreError
from kinegraph.graph.count import Operations
from kinegraph.graph.node import Coefficient, Graph, Output
from kinegraph.model.names import did_you_mean
from kinegraph.store import tables as schema

# Records written to and read from the store.


@dataclass(frozen=True, slots=True)
class PassRecord:
    """The operations left after one pass, and its duration."""

    name: str
    operations: Operations
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """A graph to save. `quantities` are the quantities it was derived for, `proved` whether it was proved.

    `names` are those of its nodes; True: of the node's negative.
    """

    stage: str
    quantities: tuple[str, ...]
    graph: Graph
    passes: tuple[PassRecord, ...] = ()
    proved: bool | None = None
    names: Mapping[int, tuple[str, bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A mechanism with its graphs; `values` are those of its parameters (and of other symbols with a value)."""

    name: str
    text: str
    graphs: tuple[GraphRecord, ...] = ()
    values: Mapping[str, Coefficient | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavedModel:
    """Where a model was saved: `version` is new if the text differs from the one last saved under this name."""

    mechanism: int
    name: str
    version: int
    graphs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """One row of the list of graphs."""

    id: int
    mechanism: int
    name: str
    version: int
    stage: str
    quantities: tuple[str, ...]
    nodes: int
    levels: int
    hash: str
    proved: bool | None
    created: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}:{self.stage} ({','.join(self.quantities)})"


def labels(output: Output) -> list[str]:
    """The names of an output's entries in row-major order: H[1,1], H[1,2], ...; a scalar has the name of the output."""
    if not output.shape:
        return [output.name]
    places = product(*(range(1, size + 1) for size in output.shape))
    return [f"{output.name}[{','.join(map(str, place))}]" for place in places]


# References: `rackovic-6r`, `rackovic-6r@1`, `rackovic-6r@1:initial`, `#7`, `H11`.

_MODEL = re.compile(r"(?P<name>[^@:#]+)(?:@(?P<version>\d{1,18}))?(?::(?P<stage>.+))?$")

#: The largest number a database compares with a version or an id; no row has it.
_LARGEST = 2**31 - 1

_ENTRY = re.compile(r"(?P<name>.*?)\[?(?P<places>\d+(?:,\d+)*)\]?$")


def mechanism_row(connection: Connection, name: str, version: int | None = None) -> Row[tuple[object, ...]]:
    """The row of a mechanism, the newest version by default."""
    table = schema.mechanism
    wanted = select(table).where(table.c.name == name).order_by(table.c.version.desc())
    if version is not None:
        wanted = wanted.where(table.c.version == min(version, _LARGEST))
    row = connection.execute(wanted).first()
    if row is not None:
        return row
    names = connection.execute(select(table.c.name).distinct()).scalars().all()
    if version is not None and name in names:
        raise StoreError(f"the store has no version {version} of {name}; `kinegraph store list {name}` lists them")
    raise StoreError(f"the store has no mechanism {name!r}; {did_you_mean(name, names) or 'it is empty'}")


def mechanism_of(connection: Connection, reference: str | int) -> Row[tuple[object, ...]]:
    """The mechanism of a reference, with graphs or without: NAME, NAME@VERSION, or that of #GRAPH."""
    match = _MODEL.match(str(reference))
    if isinstance(reference, int) or not match:
        found = graph_row(connection, reference)
        return mechanism_row(connection, found.name, found.version)
    return mechanism_row(connection, match["name"], int(match["version"]) if match["version"] else None)


def graph_rows(connection: Connection, name: str | None = None, key: int | None = None) -> list[StoredGraph]:
    """All graphs (of one mechanism, or the one of an id), oldest first."""
    g, m = schema.graph, schema.mechanism
    wanted = select(
        g.c.id, g.c.mechanism, m.c.name, m.c.version, g.c.stage, g.c.quantities, g.c.nodes, g.c.levels, g.c.hash,
        g.c.proved, g.c.created,
    ).join(m, g.c.mechanism == m.c.id).order_by(g.c.id)  # fmt: skip
    if name is not None:
        wanted = wanted.where(m.c.name == name)
    if key is not None:
        wanted = wanted.where(g.c.id == min(key, _LARGEST))
    return [StoredGraph(*row[:5], _words(row.quantities), *row[6:]) for row in connection.execute(wanted)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def graph_row(connection: Connection, reference: str | int) -> StoredGraph:
    """The graph of a reference: of the newest version, the reduced one if it exists, the latest saved."""
    text = str(reference)
    if isinstance(reference, int) or re.fullmatch(r"#\d{1,18}", text):
        number = int(text.lstrip("#"))
        found = graph_rows(connection, key=number)
        if not found:
            raise StoreError(f"the store has no graph {number}; `kinegraph store list` lists all graphs")
        return found[0]
    match = _MODEL.match(text)
    if not match:
        raise StoreError(f"{text!r} is not a stored model; write NAME, NAME@VERSION, NAME@VERSION:STAGE or #GRAPH")
    version = int(match["version"]) if match["version"] else None
    mechanism = mechanism_row(connection, match["name"], version)
    return _choose(graph_rows(connection, match["name"]), mechanism.id, match["stage"], text)


def _choose(rows: list[StoredGraph], mechanism: int, stage: str | None, text: str) -> StoredGraph:
    own = [row for row in rows if row.mechanism == mechanism]
    if not own:
        raise StoreError(f"the store has no graph of {text}; add one with `kinegraph store add MODEL -q H,C,gravity`")
    chosen = [row for row in own if row.stage == (stage or "reduced")]
    if stage is not None and not chosen:
        known = ", ".join(sorted({row.stage for row in own}))
        raise StoreError(f"the store has no stage {stage!r} of {text}; it has {known}")
    return (chosen or own)[-1]


def entry_codes(connection: Connection, graph: StoredGraph, wanted: str) -> dict[str, int]:
    """The variables of an output (`H`) or of one entry (`H[1,2]`, `H12`, `tau3`), by label.

    `%7` is variable 7, `e_2_1` a variable of this name; the label has a minus if the variable is the negative.
    """
    if re.fullmatch(r"%\d{1,18}", wanted):
        code = int(wanted[1:])
        if code >= graph.nodes:
            raise StoreError(f"{graph} has no variable {wanted}; its last variable is %{graph.nodes - 1}")
        return {wanted: code}
    e, o = schema.entry, schema.output
    rows = select(o.c.name, e.c.label, e.c.variable).join(
        o, (o.c.graph == e.c.graph) & (o.c.ordinal == e.c.output)
    ).where(e.c.graph == graph.id).order_by(e.c.output, e.c.position)  # fmt: skip
    entries = connection.execute(rows).all()
    for accepted in (lambda row: row.name == wanted, lambda row: row.label in _spellings(wanted)):
        found = {row.label: row.variable for row in entries if accepted(row)}
        if found:
            return found
    if found := _named_variable(connection, graph, wanted):
        return found
    names = {row.name for row in entries} | {row.label for row in entries}
    raise StoreError(f"{graph} has no output {wanted!r}; {did_you_mean(wanted, names)}")


def _named_variable(connection: Connection, graph: StoredGraph, wanted: str) -> dict[str, int]:
    """The variable with a name, by which its negative is called too: `-NAME`."""
    d = schema.defined
    rows = connection.execute(
        select(d.c.variable, d.c.negative).where(d.c.graph == graph.id, d.c.definition == wanted.lstrip("-"))
    )
    return {("-" if row.negative else "") + wanted.lstrip("-"): row.variable for row in rows}


def _spellings(wanted: str) -> set[str]:
    """Short forms: H12 for H[1,2] if no index has two digits, and gravity3 for gravity[3]."""
    match = _ENTRY.match(wanted)
    if not match:
        return {wanted}
    places = match["places"]
    return {wanted, f"{match['name']}[{places}]", f"{match['name']}[{','.join(places)}]"}


def quantity_words(text: str) -> list[str]:
    """`H,C[1,2,3],tau1` as a list: commas inside brackets do not separate."""
    return [word.strip() for word in re.split(r",(?![^\[(]*[\])])", text) if word.strip()]
