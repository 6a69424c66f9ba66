"""The pipelines of `kg.reduce` on stored graphs: the result is a graph of its own, with the way to it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from kinegraph.errors import StoreError, one_of
from kinegraph.graph.count import count
from kinegraph.graph.node import Coefficient
from kinegraph.passes.by_name import passes_text, read_passes
from kinegraph.passes.pipeline import OnPass
from kinegraph.passes.pipeline import reduce as reduce_graph
from kinegraph.passes.step import Effort
from kinegraph.store.read.find import graph_row
from kinegraph.store.read.load import read_graph
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.exact import from_columns
from kinegraph.store.schema.open import Store
from kinegraph.store.schema.records import GraphRecord, PassRecord, StoredGraph
from kinegraph.store.write.save import save_graph

#: The stage of a graph that passes of the user's own led to; those of an effort lead to "reduced".
BY_PASSES = "by passes"


@dataclass(frozen=True, slots=True)
class StoredReduction:
    """The new graph, the one it came from, what led to it and the operations after each pass."""

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
) -> StoredReduction:
    """Reduce a stored graph (without a stage: the initial one) by passes of your own or by those of an effort.

    The result is proved equal and saved as a graph of the same mechanism; passes are written as for `kinegraph ops`.
    """
    effort = one_of(Effort, effort, "effort", StoreError)
    steps = read_passes(passes) if passes else ()
    with store.reading() as connection:
        origin = origin_of(connection, reference)
        graph, values = read_graph(connection, origin.id), symbol_values(connection, origin.id)
    found = reduce_graph(graph, effort, on_pass=on_pass, passes=steps)
    if found.interrupted:
        raise StoreError("the reduction was interrupted: nothing was saved")
    counts = [PassRecord(origin.stage, count(graph))]
    counts += [PassRecord(one.name, one.after, one.seconds) for one in found.reports]
    counts.append(PassRecord("best", count(found.graph)))
    said = passes_text(steps) if steps else f"effort {effort.value}"
    named = stage or (BY_PASSES if steps else "reduced")
    record = GraphRecord(named, origin.quantities, found.graph, tuple(counts), proved=found.proved)
    key = save_graph(store, origin, record, values, said)
    return StoredReduction(key, origin.id, named, said, tuple(counts), found.proved)


def origin_of(connection: Connection, reference: str | int) -> StoredGraph:
    """The graph that is meant; of a model alone, the initial one."""
    text = str(reference)
    alone = isinstance(reference, str) and ":" not in text and not text.startswith("#")
    return graph_row(connection, f"{text}:initial" if alone else reference)


def symbol_values(connection: Connection, graph: int) -> dict[str, Coefficient]:
    """The exact values of all symbols of a graph that have one."""
    v = schema.variable
    known = (v.c.graph == graph) & v.c.kind.not_in(("sum", "function")) & v.c.exact.is_not(None)
    rows = connection.execute(select(v.c.name, v.c.exact).where(known))
    return {row.name: from_columns(0.0, row.exact) for row in rows}
