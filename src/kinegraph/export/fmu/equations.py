"""The equations of an FMU as graphs of one row of known numbers: time, states, inputs, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.request import bound_parameters, request_of
from kinegraph.derive.dynamics.state_rate import Forces, state_rate
from kinegraph.errors import KernelError
from kinegraph.export.options import ExportOptions
from kinegraph.export.prepare import Part
from kinegraph.graph.build import Builder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import join, moved, transfer
from kinegraph.jit.kernel import Argument
from kinegraph.model.expression import PI, TIME, Expression, names
from kinegraph.model.mechanism import Mechanism

DERIVATIVES, OUTPUTS, TANGENT = "derivatives", "outputs", "tangent"
_ENERGIES = ("kinetic", "potential", "energy")


@dataclass(frozen=True)
class Equations:
    """x' and further outputs as one graph in the symbols `known`; `outputs` names the entries of the latter."""

    graph: Graph
    states: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    parameters: tuple[Symbol, ...]
    outputs: tuple[str, ...]

    @property
    def known(self) -> tuple[Symbol, ...]:
        return (Symbol(Kind.TIME, TIME), *self.states, *self.inputs, *self.parameters)


def equations(mechanism: Mechanism, options: ExportOptions) -> Equations:
    """What `simulate` integrates, with a force on every velocity and every free input of the model as inputs."""
    if not mechanism.coordinates:
        raise KernelError(f"{mechanism.name} has no coordinates, so nothing moves and there is nothing to simulate")
    bound = _bound(mechanism, options)
    graph = join([_rate(mechanism, bound, options), _observed(mechanism, bound, options)])
    states = [Symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    states += [Symbol(Kind.VELOCITY, name) for name in mechanism.layout.velocities]
    used = {symbol.name for symbol in graph.symbols(Kind.PARAMETER)}
    return Equations(
        graph,
        tuple(states),
        tuple(Symbol(Kind.INPUT, name) for name in (*mechanism.layout.forces, *mechanism.layout.inputs)),
        tuple(Symbol(Kind.PARAMETER, one.name) for one in mechanism.parameters if one.name in used),
        (*_ENERGIES, *(f"{point.name}.{axis}" for point in mechanism.points for axis in "xyz")),
    )


def _bound(mechanism: Mechanism, options: ExportOptions) -> dict[str, Expression]:
    """The parameters that are no parameters of the FMU: all if numbers are wanted, else those that follow others."""
    numbers = bound_parameters(mechanism, True, options.parameters)
    if options.symbolic_parameters is False:
        return numbers
    return {name: value for name, value in numbers.items() if names(value) - {PI}}


def _rate(mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions) -> Graph:
    accelerations = Chain(request_of(mechanism, "qdd", parameters=bound, effort=options.effort)).chosen().graph
    forces = Forces({}, (*mechanism.layout.forces, *mechanism.layout.inputs))
    rate = state_rate(mechanism, accelerations, bound, forces, accounts=())
    nodes = rate.output("rate").nodes
    return Graph(rate.nodes, (Output(DERIVATIVES, (len(nodes),), nodes),))


def _observed(mechanism: Mechanism, bound: Mapping[str, Expression], options: ExportOptions) -> Graph:
    """Energies and the places of output points, called as `simulate` calls its columns."""
    wanted = ["energy", *(f"pose:{point.name}" for point in mechanism.points)]
    graph = Chain(request_of(mechanism, wanted, parameters=bound, effort=options.effort)).chosen().graph
    builder = Builder()
    energy, *poses = moved(graph.outputs, transfer(graph, builder))
    kinetic, potential = energy.nodes
    total = (Scalar(builder, kinetic) + Scalar(builder, potential)).index
    nodes = (kinetic, potential, total, *(pose.nodes[row * 4 + 3] for pose in poses for row in range(3)))
    return builder.graph([Output(OUTPUTS, (len(nodes),), nodes)])


def parts(system: Equations) -> tuple[Part, ...]:
    """The three functions of the C code: x', outputs, and the derivative of both along a direction of the knowns."""
    known = Argument("known", system.known)
    along = Argument("along", tuple(map(_seed, system.known)))
    return (
        Part(DERIVATIVES, _only(system.graph, DERIVATIVES), (known,), {DERIVATIVES: "derivatives of the states"}),
        Part(OUTPUTS, _only(system.graph, OUTPUTS), (known,), {OUTPUTS: "energies, then places of output points"}),
        Part(
            TANGENT,
            _tangent(system),
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
    """How fast a known number changes along the direction. No name of a model has brackets."""
    return Symbol(Kind.INPUT, f"d({symbol.name})")


def _tangent(system: Equations) -> Graph:
    builder = Builder()
    outputs = moved(system.graph.outputs, transfer(system.graph, builder))
    seeds = {}
    for symbol in system.known:
        rate = _seed(symbol)
        seeds[builder.symbol(symbol.kind, symbol.name)] = builder.symbol(rate.kind, rate.name)
    derivative = ForwardDerivative(builder, seeds)
    return builder.graph(
        [Output(f"d_{one.name}", one.shape, tuple(derivative(node) for node in one.nodes)) for one in outputs]
    )


def dependencies(graph: Graph, output: str, known: Sequence[Symbol]) -> list[list[int]]:
    """For every entry of an output: the places of the known symbols it is computed from."""
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
