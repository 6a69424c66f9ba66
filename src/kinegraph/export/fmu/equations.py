"""The equations of an FMU as graphs of one row of known numbers: time, states, inputs, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.request import Quantities, bound_parameters, request_of
from kinegraph.compiler.stored import chosen, resolve_closure
from kinegraph.derive.constraints.projection import PIVOTS, PROJECTED, projection
from kinegraph.derive.constraints.redundancy import holonomic_rows
from kinegraph.derive.dynamics.state_rate import STATE_RATES, Forces, initial_symbols, state_rate
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation, constraint_graph
from kinegraph.errors import KernelError
from kinegraph.export.options import ExportOptions
from kinegraph.export.prepare import ExportPart
from kinegraph.graph.build import GraphBuilder, Scalar, join, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import PI, TIME, Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce

DERIVATIVES, OUTPUTS, TANGENT, CLOSED, ROWS = "derivatives", "outputs", "tangent", "closed", "rows"
_ENERGIES = ("kinetic", "potential", "energy")


@dataclass(frozen=True)
class FmuEquations:
    """x' and further outputs as one graph in the symbols `known`; `outputs` names the entries of the latter.

    `closing` is one Newton step of the states onto loops and constraints, with pivots; None if there are none.
    `rows` are the residuals of the independent ones by position and by velocity, and their Jacobian: given start
    values hold, and others follow. `by_position` says which of them hold by position.
    """

    graph: Graph
    states: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    parameters: tuple[Symbol, ...]
    outputs: tuple[str, ...]
    closing: Graph | None = None
    rows: Graph | None = None
    by_position: tuple[bool, ...] = ()

    @property
    def closing_rows(self) -> int:
        """The number of independent loop and constraint rows."""
        return 0 if self.closing is None else len(self.closing.output(PIVOTS).nodes)

    @property
    def known(self) -> tuple[Symbol, ...]:
        """The symbols with a value at any time, time first."""
        return (Symbol(Kind.TIME, TIME), *self.states, *self.inputs, *self.parameters)


def equations(
    mechanism: Mechanism, options: ExportOptions, bound: Mapping[str, Expression] | None = None
) -> FmuEquations:
    """The equations of `simulate`, with a force on every velocity and every free input of the model as inputs.

    bound: the parameters that become numbers, with their values; by default as `options` say.
    """
    if not mechanism.coordinates:
        raise KernelError(f"{mechanism.name} has no coordinates, so there is nothing to simulate")
    bound = _bound(mechanism, options) if bound is None else bound
    graph = join([_rate(mechanism, bound, options), _observed(mechanism, bound, options)])
    closing = _closing(mechanism, bound) if is_constrained(mechanism) else None
    rows, by_position = (None, ()) if closing is None else _rows(mechanism, bound, options)
    graphs = [one for one in (graph, closing, rows) if one is not None]
    used = {symbol.name for one in graphs for symbol in one.symbols(Kind.PARAMETER)}
    return FmuEquations(
        graph,
        initial_symbols(mechanism),
        tuple(Symbol(Kind.INPUT, name) for name in (*mechanism.layout.forces, *mechanism.layout.inputs)),
        tuple(Symbol(Kind.PARAMETER, one.name) for one in mechanism.parameters if one.name in used),
        (*_ENERGIES, *(f"{point.name}.{axis}" for point in mechanism.points for axis in "xyz")),
        closing,
        rows,
        by_position,
    )


def _rows(
    mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions
) -> tuple[Graph, tuple[bool, ...]]:
    """The independent rows of loops and constraints, and which of them hold by position."""
    graph = constraint_graph(mechanism, tuple(sorted(bound.items())))
    taken = Assembler(mechanism, options.parameters).independent_rows()
    value, jacobian, rate = (graph.output(name) for name in ("value", "jacobian", "rate"))
    size = jacobian.shape[1]
    entries = tuple(node for row in taken for node in jacobian.nodes[row * size : (row + 1) * size])
    outputs = (
        Output("missed", (len(taken),), tuple(value.nodes[row] for row in taken)),
        Output("jacobian", (len(taken), size), entries),
        Output("missed_rate", (len(taken),), tuple(rate.nodes[row] for row in taken)),
    )
    holonomic = holonomic_rows(mechanism)
    wanted = reduce(Graph(graph.nodes, outputs), effort=Effort.QUICK).graph
    return wanted, tuple(row in holonomic for row in taken)


def _closing(mechanism: Mechanism, bound: Mapping[str, Expression]) -> Graph | None:
    graph = projection(Derivation(mechanism, bound, Plan()))
    if not graph.output(PIVOTS).nodes:
        return None
    builder = GraphBuilder()
    state, pivots = moved([graph.output(PROJECTED), graph.output(PIVOTS)], transfer(graph, builder))
    others = (builder.symbol(Kind.STATE, name) for name in mechanism.layout.states)  # loops do not depend on them
    nodes = (*state.nodes, *others)
    wanted = builder.graph([Output(CLOSED, (len(nodes),), nodes), pivots])
    return reduce(wanted, effort=Effort.QUICK).graph


def _bound(mechanism: Mechanism, options: ExportOptions) -> dict[str, Expression]:
    """The parameters that are not parameters of the FMU: all if numbers are requested, otherwise those that depend
    on others."""
    numbers = bound_parameters(mechanism, True, options.parameters)
    if options.symbolic_parameters is False:
        return numbers
    return {name: value for name, value in numbers.items() if names(value) - {PI}}


def chosen_graph(
    mechanism: Mechanism, wanted: Quantities, bound: Mapping[str, Expression], options: ExportOptions
) -> Graph:
    """Quantities as one reduced graph, with symbols for the parameters that are not bound."""
    request = request_of(mechanism, wanted, parameters=bound, effort=options.effort, passes=options.passes)
    return chosen(resolve_closure(request)).graph


def _rate(mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions) -> Graph:
    motion = chosen_graph(mechanism, ["qdd", *[STATE_RATES] * bool(mechanism.states)], bound, options)
    forces = Forces({}, (*mechanism.layout.forces, *mechanism.layout.inputs))
    rate = state_rate(mechanism, motion, bound, forces, balances=())
    nodes = rate.output("rate").nodes
    return Graph(rate.nodes, (Output(DERIVATIVES, (len(nodes),), nodes),))


def _observed(mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions) -> Graph:
    """Energies and the positions of output points, with the names of `simulate`'s columns."""
    wanted = ["energy", *(f"pose:{point.name}" for point in mechanism.points)]
    graph = chosen_graph(mechanism, wanted, bound, options)
    builder = GraphBuilder()
    energy, *poses = moved(graph.outputs, transfer(graph, builder))
    kinetic, potential = energy.nodes
    total = (Scalar(builder, kinetic) + Scalar(builder, potential)).index
    nodes = (kinetic, potential, total, *(pose.nodes[row * 4 + 3] for pose in poses for row in range(3)))
    return builder.graph([Output(OUTPUTS, (len(nodes),), nodes)])


def parts(system: FmuEquations) -> tuple[ExportPart, ...]:
    """The functions of the C code: x', outputs, and the derivative of both along a direction of the knowns; with
    loops also a step of the states onto them, and its derivative."""
    known = Argument("known", system.known)
    along = Argument("along", tuple(map(_seed, system.known)))
    closing: tuple[ExportPart, ...] = ()
    if system.closing is not None and system.rows is not None:
        missed = {
            "missed": "what loops and constraints miss by position", "jacobian": "of rows by displacements",
            "missed_rate": "what they miss by velocity",
        }  # fmt: skip
        step = {CLOSED: "states, nearer to closed loops", PIVOTS: "how independent the rows are"}
        closing = (
            ExportPart(CLOSED, system.closing, (known,), step),
            ExportPart(
                f"{CLOSED}_{TANGENT}", _tangent(_only(system.closing, CLOSED), system.known), (known, along),
                {f"d_{CLOSED}": "change of the step along a direction"},
            ),
            ExportPart(ROWS, system.rows, (known,), missed),
        )  # fmt: skip
    return (
        *closing,
        ExportPart(DERIVATIVES, _only(system.graph, DERIVATIVES), (known,), {DERIVATIVES: "derivatives of the states"}),
        ExportPart(
            OUTPUTS, _only(system.graph, OUTPUTS), (known,), {OUTPUTS: "energies, then places of output points"}
        ),
        ExportPart(
            TANGENT,
            _tangent(system.graph, system.known),
            (known, along),
            {
                f"d_{DERIVATIVES}": "change of the derivatives along a direction",
                f"d_{OUTPUTS}": "change of the outputs",
            },
        ),
    )


def _only(graph: Graph, name: str) -> Graph:
    return Graph(graph.nodes, (graph.output(name),))


def _seed(symbol: Symbol) -> Symbol:
    """The rate of a known number along the direction. No name in a model has brackets."""
    return Symbol(Kind.INPUT, f"d({symbol.name})")


def _tangent(graph: Graph, known: Sequence[Symbol]) -> Graph:
    builder = GraphBuilder()
    outputs = moved(graph.outputs, transfer(graph, builder))
    seeds = {}
    for symbol in known:
        rate = _seed(symbol)
        seeds[builder.symbol(symbol.kind, symbol.name)] = builder.symbol(rate.kind, rate.name)
    derivative = ForwardDerivative(builder, seeds)
    return builder.graph(
        [Output(f"d_{one.name}", one.shape, tuple(derivative(node) for node in one.nodes)) for one in outputs]
    )


def dependencies(graph: Graph, output: str, known: Sequence[Symbol]) -> list[list[int]]:
    """For every entry of an output: the indices of the known symbols it depends on."""
    place = {symbol: index for index, symbol in enumerate(known)}
    reached: list[int] = []  # a bit for every known symbol
    for node in graph.nodes:
        if isinstance(node, Symbol):
            reached.append(1 << place[node] if node in place else 0)
        else:
            bits = 0
            for child in children(node):
                bits |= reached[child]
            reached.append(bits)
    return [[i for i in range(len(known)) if reached[node] >> i & 1] for node in graph.output(output).nodes]
