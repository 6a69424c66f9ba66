"""Add the complete model of a mechanism to the store, and compile a kernel from a stored graph."""

from __future__ import annotations

from sqlalchemy import select

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.bind import kernel_of
from kinegraph.compiler.derive import Derivations, derived, named_closed_form
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import Quantities, request_of
from kinegraph.compiler.stored import resolve_closure
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
    closed_form: bool = False,
) -> SavedModel:
    """Derive quantities, reduce them, and save the mechanism with both graphs and the counts after each pass.

    `passes` replace those of the effort: 'products, monomials(degree=4)'. `closed_form`: the initial graph is that of
    Racković's algorithms for H, C and gravity. Every number is a parameter, axes and arms are variables with names, and
    nothing is folded, so that `eliminate` has something to do.
    """
    mechanism = mechanism_of(model)
    request = resolve_closure(request_of(mechanism, quantities, effort=effort, passes=passes))
    words = tuple(str(quantity) for quantity in request.quantities)
    derivations = Derivations(request)
    initial, final = derived(derivations).graph, reduced(derivations, on_pass)
    counts = [PassRecord("initial", count(initial))]
    counts += [PassRecord(report.name, report.after, report.seconds) for report in final.reports]
    counts.append(PassRecord("best", count(final.graph)))
    values = default_values(mechanism)
    first = GraphRecord("initial", words, initial)
    if closed_form:
        named = named_closed_form(mechanism, quantities)
        first = GraphRecord("initial", words, named.graph, proved=True, names=named.names)
        counts[:1] = [PassRecord("closed form", count(named.graph)), PassRecord("derived", count(initial))]
        values |= named.values
    graphs = (first, GraphRecord("reduced", words, final.graph, tuple(counts), proved=True))
    return save(store, ModelRecord(mechanism.name, write(mechanism), graphs, values))


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
