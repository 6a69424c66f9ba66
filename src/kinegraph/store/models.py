"""Add the complete model of a mechanism to the store, and compile a kernel from a stored graph."""

from __future__ import annotations

from sqlalchemy import select

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.chain import chain_of
from kinegraph.compiler.compile import kernel_of
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Quantities, request_of
from kinegraph.graph.build import bind
from kinegraph.graph.count import count
from kinegraph.graph.node import Coefficient
from kinegraph.io import parse, write
from kinegraph.model.evaluate import initial_positions, initial_velocities, known_parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import OnPass
from kinegraph.store import tables as schema
from kinegraph.store.catalog import GraphRecord, ModelRecord, PassRecord, SavedModel, graph_row
from kinegraph.store.database import Store
from kinegraph.store.expressions import parameter_values
from kinegraph.store.graphs import read_graph
from kinegraph.store.saving import save


def add(
    store: Store,
    model: MechanismSource,
    quantities: Quantities,
    effort: Effort | str = Effort.QUICK,
    on_pass: OnPass | None = None,
    passes: str = "",
) -> SavedModel:
    """Derive quantities, reduce them, and save the mechanism with both graphs and the counts after each pass.

    `passes` replace those of the effort: 'products, monomials(degree=4)'.
    """
    mechanism = mechanism_of(model)
    chain = chain_of(request_of(mechanism, quantities, effort=effort, passes=passes), on_pass=on_pass)
    words = tuple(str(quantity) for quantity in chain.request.quantities)
    initial, reduced = chain.derived.graph, chain.reduced
    counts = [PassRecord("initial", count(initial))]
    counts += [PassRecord(report.name, report.after, report.seconds) for report in reduced.reports]
    counts.append(PassRecord("best", count(reduced.graph)))
    graphs = (
        GraphRecord("initial", words, initial),
        GraphRecord("reduced", words, reduced.graph, tuple(counts), proved=True),
    )
    return save(store, ModelRecord(mechanism.name, write(mechanism), graphs, default_values(mechanism)))


def default_values(mechanism: Mechanism) -> dict[str, Coefficient | float]:
    """The default values of symbols: parameters as in the model, the initial state, no acceleration.

    A coordinate whose initial value cannot be computed (a parameter is missing) has none.
    """
    values: dict[str, Coefficient | float] = dict(known_parameter_values(mechanism))
    if len(values) == len(mechanism.parameters):
        known = known_parameter_values(mechanism)
        values |= zip(mechanism.layout.positions, initial_positions(mechanism, known), strict=True)
        values |= zip(mechanism.layout.velocities, initial_velocities(mechanism, known), strict=True)
    return values | dict.fromkeys((*mechanism.layout.accelerations, "t"), 0)


def kernel(store: Store, reference: str | int) -> Kernel:
    """Machine code of a stored graph, with its stored parameters; fast if the code is cached."""
    with store.reading() as connection:
        row = graph_row(connection, reference)
        graph = bind(read_graph(connection, row.id), parameter_values(connection, row.id))
        m = schema.mechanism
        model = connection.execute(select(m.c.text).where(m.c.id == row.mechanism)).scalar_one()
    return kernel_of(parse(model, f"{row.name}@{row.version}"), graph, row.quantities)
