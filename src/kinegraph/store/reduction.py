"""Run the pipelines of `kg.reduce` on stored graphs. The result is a new graph, or row updates of a copy."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from kinegraph.errors import StoreError, one_of
from kinegraph.graph.build import bind
from kinegraph.graph.canonical import mapped
from kinegraph.graph.count import count
from kinegraph.graph.node import Coefficient, Graph, Node
from kinegraph.graph.proof import prove
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import OnPass, passes_text, read_passes
from kinegraph.passes.pipeline import reduce as reduce_graph
from kinegraph.store import tables as schema
from kinegraph.store.catalog import GraphRecord, PassRecord, StoredGraph, graph_row
from kinegraph.store.database import Store
from kinegraph.store.elimination import finished, working_copy
from kinegraph.store.expressions import parameter_values
from kinegraph.store.graphs import compact, read_graph, read_nodes, read_outputs
from kinegraph.store.rows import from_columns
from kinegraph.store.saving import save_graph, write_nodes
from kinegraph.store.tables import reduction

# The pipelines of `kg.reduce` on stored graphs: the result is a new graph, with a record of its passes.

#: The stage of a graph from the user's passes; those of an effort give "reduced".
BY_PASSES = "by passes"
#: What replacing parameters by their values is called among the passes.
NUMBERS = "numbers"


@dataclass(frozen=True, slots=True)
class StoredReduction:
    """The new graph, its origin, the passes or the effort, and the operations after each pass."""

    graph: int
    origin: int
    stage: str
    passes: str
    counts: tuple[PassRecord, ...]
    proved: bool


def reduce_stored(
    store: Store,
    reference: str | int,
    passes: str = "",
    effort: Effort | str = Effort.QUICK,
    stage: str = "",
    on_pass: OnPass | None = None,
    numeric: bool = False,
) -> StoredReduction:
    """Reduce a stored graph (without a stage: the initial one) by the user's passes or by those of an effort.

    The result is proved equal and saved as a graph of the same mechanism; passes are written as for `kinegraph
    count`. `numeric` replaces parameters by their saved values first.
    """
    effort = one_of(Effort, effort, "effort", StoreError)
    steps = read_passes(passes) if passes else ()
    with store.reading() as connection:
        origin = origin_of(connection, reference)
        first, values = read_graph(connection, origin.id), symbol_values(connection, origin.id)
        graph = bind(first, parameter_values(connection, origin.id)) if numeric else first
    found = reduce_graph(graph, effort, on_pass=on_pass, passes=steps)
    if found.interrupted:
        raise StoreError("the reduction was interrupted: nothing was saved")
    counts = [PassRecord(origin.stage, count(first))]
    counts += [PassRecord(NUMBERS, count(graph))] if numeric else []
    counts += [PassRecord(one.name, one.after, one.seconds) for one in found.reports]
    counts.append(PassRecord("best", count(found.graph)))
    said = passes_text(steps) if steps else f"effort {effort.value}"
    said = f"{NUMBERS}, {said}" if numeric else said
    named = stage or (BY_PASSES if steps else "reduced")
    record = GraphRecord(named, origin.quantities, found.graph, tuple(counts), proved=found.proved)
    key = save_graph(store, origin, record, values, said)
    return StoredReduction(key, origin.id, named, said, tuple(counts), found.proved)


def origin_of(connection: Connection, reference: str | int) -> StoredGraph:
    """The graph of a reference; for a model alone, the initial one."""
    text = str(reference)
    alone = isinstance(reference, str) and ":" not in text and not text.startswith("#")
    return graph_row(connection, f"{text}:initial" if alone else reference)


def symbol_values(connection: Connection, graph: int) -> dict[str, Coefficient]:
    """The exact values of all symbols of a graph that have one."""
    v = schema.variable
    known = (v.c.graph == graph) & v.c.kind.not_in(("sum", "function")) & v.c.exact.is_not(None)
    rows = connection.execute(select(v.c.name, v.c.exact).where(known))
    return {row.name: from_columns(0.0, row.exact) for row in rows}


# Passes as updates of the stored graph: each changes only the necessary rows of a copy. Unchanged variables keep their
# rows; new ones are added above them, entries are redirected, and unneeded rows are deleted. The copy becomes a new
# graph, as after `eliminate`.

BY_UPDATES = "by updates"


@dataclass(frozen=True, slots=True)
class Changed:
    """How many variables a pass added, deleted and left unchanged."""

    added: int
    deleted: int
    remaining: int


def reduce_by_updates(
    store: Store, reference: str | int, passes: str, stage: str = "", numeric: bool = False
) -> StoredReduction:
    """Run passes on a stored graph (without a stage: the initial one), each as an update inside the database.

    Everything is one change of the store; the result is proved equal to its origin. `numeric` replaces parameters by
    their saved values first.
    """
    steps = read_passes(passes)
    said = f"{NUMBERS}, {passes_text(steps)}" if numeric else passes_text(steps)
    with store.writing() as connection:
        origin = origin_of(connection, reference)
        first = read_graph(connection, origin.id)
        work = working_copy(connection, origin)
        counts = [PassRecord(origin.stage, count(first))]
        if numeric:
            first = bind(first, parameter_values(connection, origin.id))
            updated(connection, work, first)
            counts.append(PassRecord(NUMBERS, count(first)))
        for step in steps:
            started = time.perf_counter()
            updated(connection, work, step.apply(_current(connection, work)))
            counts.append(PassRecord(step.name, count(_current(connection, work)), time.perf_counter() - started))
        prove(first, _current(connection, work)).require()
        key = finished(connection, origin.id, work, stage or BY_UPDATES, counts)
        connection.execute(update(schema.graph).where(schema.graph.c.id == key).values(proved=True))
        connection.execute(insert(reduction).values(graph=key, origin=origin.id, passes=said))
    return StoredReduction(key, origin.id, stage or BY_UPDATES, said, tuple(counts), True)


def _current(connection: Connection, work: int) -> Graph:
    """The graph of the current rows."""
    return compact(read_nodes(connection, work), read_outputs(connection, work))


def updated(connection: Connection, work: int, result: Graph) -> Changed:
    """Make the rows of a graph those of `result`, which has the same outputs."""
    old = read_nodes(connection, work)
    place, added = _placed(result, old)
    write_nodes(connection, work, added, result.levels, result.static)
    _point_entries(connection, work, result, place)
    used = set(place.values())
    dead = [code for code in old if code not in used]
    _delete(connection, work, dead)
    return Changed(len(added), len(dead), len(old) - len(dead))


def _placed(result: Graph, old: dict[int, Node]) -> tuple[dict[int, int], dict[int, tuple[int, Node]]]:
    """The code of every needed node; by code the new nodes, with their index in `result`."""
    known = {node: code for code, node in old.items()}
    following = max(old, default=-1) + 1
    place: dict[int, int] = {}
    added: dict[int, tuple[int, Node]] = {}
    for index, node in enumerate(result.nodes):
        if not result.live[index]:
            continue
        here = mapped(node, place)
        code = known.get(here)
        if code is None:
            code, following = following, following + 1
            added[code] = index, here
        place[index] = code
    return place, added


def _point_entries(connection: Connection, work: int, result: Graph, place: dict[int, int]) -> None:
    e = schema.entry
    own = (e.c.graph == work) & (e.c.output == bindparam("o")) & (e.c.position == bindparam("p"))
    rows = [
        {"o": number, "p": position, "v": place[node]}
        for number, output in enumerate(result.outputs)
        for position, node in enumerate(output.nodes)
    ]
    if rows:
        connection.execute(update(e).where(own).values(variable=bindparam("v")), rows)


def _delete(connection: Connection, work: int, dead: list[int]) -> None:
    if not dead:
        return
    rows = [{"code_": code} for code in dead]
    for table, column in (
        (schema.factor, schema.factor.c.variable),
        (schema.argument, schema.argument.c.variable),
        (schema.term, schema.term.c.variable),
        (schema.variable, schema.variable.c.code),
    ):
        connection.execute(delete(table).where((table.c.graph == work) & (column == bindparam("code_"))), rows)
