"""Maintain a store: compare versions of a mechanism, prune unused rows, and check that all contents are intact."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, func, select, text

from kinegraph.errors import GraphError, StoreError
from kinegraph.graph import law
from kinegraph.graph.count import Operations
from kinegraph.store import tables as schema
from kinegraph.store.catalog import StoredGraph, graph_rows, mechanism_row
from kinegraph.store.database import PATIENCE, Store, reported
from kinegraph.store.graphs import read_graph
from kinegraph.store.rows import model_parts
from kinegraph.store.saving import digest, graph_hash

# Versions of a mechanism: differences, and removing unreferenced rows.


@dataclass(frozen=True, slots=True)
class CountChange:
    """The final operations of a stage in both versions; None if a version has no such graph."""

    stage: str
    quantities: tuple[str, ...]
    before: Operations | None
    after: Operations | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes: records removed and added, and counts that differ."""

    name: str
    old: int
    new: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    counts: tuple[CountChange, ...]


def diff(store: Store, name: str, old: int | None = None, new: int | None = None) -> Difference:
    """Compare two versions; by default the newest with the one before it."""
    with store.reading() as connection:
        last = mechanism_row(connection, name, new)
        if old is None and last.version == 1:
            raise StoreError(f"the store has only one version of {name}: nothing to compare")
        first = mechanism_row(connection, name, last.version - 1 if old is None else old)
        removed, added = _changed_records(records(first.text), records(last.text))
        counts = _changed_counts(_final_counts(connection, name, first.id), _final_counts(connection, name, last.id))
    return Difference(name, first.version, last.version, removed, added, counts)


def records(model: str) -> list[str]:
    """The records and statements of a model text, one each, without layout and comments at line ends.

    A statement that declares several names counts as one for each of them: `parameters a = 1; parameters b = 2;`.
    """
    lines = (line.partition("#")[0] for line in model.splitlines())
    parts = (" ".join(part.split()) for part in " ".join(lines).split(";") if part.strip())
    return [f"{one};" for part in parts for one in _declarations(part)]


#: Keywords of statements that declare one name after another.
_LISTS = ("parameters", "coordinates", "inputs", "initial", "armature", "define", "quasivelocity", "unknown", "state")


def _declarations(statement: str) -> list[str]:
    word, _, rest = statement.partition(" ")
    if word not in _LISTS:
        return [statement]
    parts, depth = [""], 0
    for character in rest:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [f"{word} {part.strip()}" for part in parts]


def _changed_records(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    removed: list[str] = []
    added: list[str] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[i:j]
            added += new[k:m]
    return tuple(removed), tuple(added)


_Counts = dict[tuple[str, tuple[str, ...]], Operations]


def _final_counts(connection: Connection, name: str, mechanism: int) -> _Counts:
    p = schema.pass_count
    found: _Counts = {}
    for graph in graph_rows(connection, name):
        if graph.mechanism == mechanism:
            columns = select(p.c.mul, p.c.add, p.c.div, p.c.sqrt, p.c.sin, p.c.cos, p.c.other)
            row = connection.execute(columns.where(p.c.graph == graph.id).order_by(p.c.ordinal.desc())).first()
            if row is not None:
                found[(graph.stage, graph.quantities)] = Operations(*row)
    return found


def _changed_counts(before: _Counts, after: _Counts) -> tuple[CountChange, ...]:
    keys = [*before, *(key for key in after if key not in before)]
    changes = (CountChange(*key, before.get(key), after.get(key)) for key in keys)
    return tuple(change for change in changes if change.before != change.after)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The removed rows, or those that would be removed."""

    runs: tuple[int, ...]
    graphs: tuple[int, ...]
    mechanisms: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.runs or self.graphs or self.mechanisms)


def prune(store: Store, keep_versions: int | None = None, dry: bool = False) -> Pruned:
    """Remove unreferenced rows, in this order: runs whose result file is missing; graphs that were saved again later
    for the same version, stage and quantities; old versions without graphs and runs.

    With `keep_versions`, all but that many newest versions of each mechanism are removed with their contents.
    """
    if keep_versions is not None and keep_versions < 1:
        raise StoreError("at least one version of every mechanism must be kept")
    with store.reading() if dry else store.writing() as connection:
        outdated = _outdated(connection, keep_versions)
        runs = _lost_runs(connection)
        graphs = _superseded(connection, set(runs))
        unused = _unused(connection, set(runs), set(graphs)) | outdated
        names = tuple(sorted(f"{row.name}@{row.version}" for row in _rows(connection) if row.id in unused))
        if not dry:
            _remove(connection, runs, graphs, unused)
    pruned = Pruned(tuple(runs), tuple(graphs), names)
    if pruned and not dry and store.is_sqlite:
        _compact(store)
    return pruned


def _rows(connection: Connection):  # type: ignore[no-untyped-def]
    m = schema.mechanism
    return connection.execute(select(m.c.id, m.c.name, m.c.version).order_by(m.c.name, m.c.version)).all()


def _outdated(connection: Connection, keep: int | None) -> set[int]:
    if keep is None:
        return set()
    by_name: dict[str, list[int]] = {}
    for row in _rows(connection):
        by_name.setdefault(row.name, []).append(row.id)
    return {key for keys in by_name.values() for key in keys[:-keep]}


def _lost_runs(connection: Connection) -> list[int]:
    r = schema.run
    rows = connection.execute(select(r.c.id, r.c.result).where(r.c.result.is_not(None)).order_by(r.c.id))
    return [row.id for row in rows if not Path(row.result).exists()]


def _superseded(connection: Connection, without_runs: set[int]) -> list[int]:
    r, s = schema.run, schema.source
    used = {row.graph for row in connection.execute(select(r.c.id, r.c.graph)) if row.id not in without_runs}
    used |= set(connection.execute(select(s.c.graph)).scalars())
    newest: dict[tuple[int, str, tuple[str, ...]], int] = {}
    graphs = graph_rows(connection)
    for graph in graphs:
        newest[(graph.mechanism, graph.stage, graph.quantities)] = graph.id
    return [graph.id for graph in graphs if graph.id not in newest.values() and graph.id not in used]


def _unused(connection: Connection, runs: set[int], graphs: set[int]) -> set[int]:
    r = schema.run
    newest = {row.name: row.id for row in _rows(connection)}
    used = {graph.mechanism for graph in graph_rows(connection) if graph.id not in graphs}
    used |= {row.mechanism for row in connection.execute(select(r.c.id, r.c.mechanism)) if row.id not in runs}
    return {row.id for row in _rows(connection)} - used - set(newest.values())


def _remove(connection: Connection, runs: Sequence[int], graphs: Sequence[int], mechanisms: set[int]) -> None:
    r, g, m = schema.run, schema.graph, schema.mechanism
    for key in mechanisms:
        connection.execute(delete(r).where(r.c.mechanism == key))
        connection.execute(delete(m).where(m.c.id == key))
    for key in runs:
        connection.execute(delete(r).where(r.c.id == key))
    for key in graphs:
        connection.execute(delete(g).where(g.c.id == key))


def _compact(store: Store) -> None:
    """Release the freed pages. This may fail on a full disk: the store is intact either way."""
    assert store.path is not None
    with reported(store.where), closing(sqlite3.connect(store.path, timeout=PATIENCE)) as connection:
        connection.execute("VACUUM")


# Integrity check: all contents are read and compared with their hashes.


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The number of checked items, the faults, and result files that are missing outside the store."""

    mechanisms: int
    graphs: int
    faults: tuple[str, ...]
    warnings: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.faults

    def require(self) -> None:
        """Raise StoreError naming the first fault."""
        if self.faults:
            raise StoreError(f"the store is damaged: {self.faults[0]} ({len(self.faults)} in total)")


def check(store: Store) -> StoreReport:
    """Check the whole store: the database's own structure, and every mechanism and graph against its hash."""
    with store.reading() as connection:
        faults = list(_database_faults(connection)) if store.is_sqlite else []
        faults += _mechanism_faults(connection)
        faults += _part_faults(connection)
        graphs = graph_rows(connection)
        for graph in graphs:
            faults += [f"{graph} (#{graph.id}): {fault}" for fault in _graph_faults(connection, graph)]
        faults += _expression_faults(connection)
        warnings = tuple(_missing_results(connection))
        mechanisms = connection.execute(select(func.count()).select_from(schema.mechanism)).scalar() or 0
    return StoreReport(mechanisms, len(graphs), tuple(faults), warnings)


def _database_faults(connection: Connection) -> Iterator[str]:
    for (message,) in connection.execute(text("PRAGMA integrity_check")):
        if message != "ok":
            yield f"the database file: {message}"
    for row in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"table {row[0]} has rows that refer to missing rows"


def _mechanism_faults(connection: Connection) -> Iterator[str]:
    m = schema.mechanism
    for row in connection.execute(select(m.c.name, m.c.version, m.c.text, m.c.hash)):
        if digest(row.text) != row.hash:
            yield f"the text of {row.name}@{row.version} differs from the one saved"


def _part_faults(connection: Connection) -> Iterator[str]:
    """Bodies, joints and all other parts must agree with the text."""
    m = schema.mechanism
    for row in connection.execute(select(m.c.id, m.c.name, m.c.version, m.c.text)).all():
        for table, expected in model_parts(row.text).items():
            columns = list(table.columns)[2:]
            stored = select(*columns).where(table.c.mechanism == row.id).order_by(table.c.ordinal)
            if [tuple(one) for one in connection.execute(stored)] != expected:
                yield f"the table {table.name} of {row.name}@{row.version} does not agree with its text"


def _graph_faults(connection: Connection, row: StoredGraph) -> Iterator[str]:
    try:
        graph = read_graph(connection, row.id)
        law.check(graph)
    except (GraphError, ValueError, KeyError, ArithmeticError) as problem:
        yield f"it is not a graph: {problem}"
        return
    if len(graph) != row.nodes or graph_hash(graph) != row.hash:
        yield "it differs from the graph saved"
        return
    v = schema.variable
    stored = connection.execute(select(v.c.level, v.c.static).where(v.c.graph == row.id).order_by(v.c.code)).all()
    if [(level, bool(static)) for level, static in stored] != list(zip(graph.levels, graph.static, strict=True)):
        yield "its levels are wrong"


def _expression_faults(connection: Connection) -> Iterator[str]:
    v = schema.variable
    for table, column in (
        (schema.expression_term, schema.expression_term.c.variable),
        (schema.expression_factor, schema.expression_factor.c.factor),
    ):
        known = select(v.c.code).where(v.c.graph == table.c.graph, v.c.code == column).exists()
        lost = connection.execute(select(func.count()).select_from(table).where(~known)).scalar()
        if lost:
            yield f"{lost} rows of {table.name} refer to missing variables"


def _missing_results(connection: Connection) -> Iterator[str]:
    r = schema.run
    for row in connection.execute(select(r.c.id, r.c.result).where(r.c.result.is_not(None))):
        if not Path(row.result).exists():
            yield f"the result of run {row.id} is missing: {row.result}"
