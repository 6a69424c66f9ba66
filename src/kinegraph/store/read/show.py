"""One stored graph in full: what `kinegraph store show` prints."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from kinegraph.store.read.find import graph_row
from kinegraph.store.read.load import read_outputs
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.open import Store
from kinegraph.store.schema.records import StoredGraph


@dataclass(frozen=True, slots=True)
class Description:
    """A graph with its outputs, counts, stored expressions (output or entry, form, terms), sources and runs."""

    graph: StoredGraph
    text: str
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    passes: tuple[dict[str, object], ...]
    expressions: tuple[tuple[str, str, int], ...]
    sources: tuple[dict[str, object], ...]
    runs: tuple[dict[str, object], ...]


def describe(store: Store, reference: str | int) -> Description:
    """All there is about a stored graph except the graph itself."""
    m, p, s, r, e, x = (
        schema.mechanism, schema.pass_count, schema.source, schema.run, schema.entry, schema.expression_term,
    )  # fmt: skip
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        text = connection.execute(select(m.c.text).where(m.c.id == graph.mechanism)).scalar_one()
        outputs = tuple((output.name, output.shape) for output in read_outputs(connection, graph.id))
        passes = connection.execute(select(p).where(p.c.graph == graph.id).order_by(p.c.ordinal)).mappings().all()
        label = select(func.min(e.c.label)).where(e.c.graph == graph.id, e.c.variable == x.c.variable)
        stored_counts = (
            select(label.scalar_subquery(), x.c.form, func.count(), x.c.variable)
            .where(x.c.graph == graph.id)
            .group_by(x.c.variable, x.c.form)
            .order_by(x.c.variable)
        )
        expressions = [
            (name or f"%{code}", form, terms) for name, form, terms, code in connection.execute(stored_counts)
        ]
        written = select(s.c.id, s.c.language, s.c.quantities, s.c.created).where(s.c.graph == graph.id)
        sources = connection.execute(written.order_by(s.c.id)).mappings().all()
        made = select(r.c.id, r.c.settings, r.c.result, r.c.created).where(r.c.mechanism == graph.mechanism)
        runs = connection.execute(made.order_by(r.c.id)).mappings().all()
    tables = (tuple(dict(row) for row in rows) for rows in (passes, sources, runs))
    counted, texts, computed = tables
    return Description(graph, text, outputs, counted, tuple(expressions), texts, computed)
