"""The equations of motion as a first-order system, with the energy balances of elements and prescribed motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from random import Random

from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative, jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.constraints import Constraint, ConstraintKind, constraint_kind
from kinegraph.model.elements import (
    CompliantContact,
    Element,
    ForceLaw,
    Limit,
    Potential,
    Spring,
    is_steered,
    mentions,
    uses_points,
)
from kinegraph.model.expressions import TIME, Expression, expression, expressions, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import component
from kinegraph.model.states import is_force, moved_by

# ---- Prescribed motion, which does work without an explicit force


def has_prescribed_motion(mechanism: Mechanism) -> bool:
    """Are transforms, gravity, loops or constraints prescribed in time? Contacts do not count."""
    placed = (mechanism.gravity, *(body.transforms for body in mechanism.bodies))
    constraints = (*mechanism.loops, *mechanism.constraints)
    prescribed = _depends_on_time(mechanism, (*placed, *constraints))
    return prescribed or any(_drives(mechanism, one) for one in mechanism.constraints)


def has_prescribed_bodies(mechanism: Mechanism) -> bool:
    """Are the transforms of bodies prescribed in time?"""
    return _depends_on_time(mechanism, [body.transforms for body in mechanism.bodies])


def has_prescribed_contacts(mechanism: Mechanism) -> bool:
    """Is the motion of a contact surface prescribed in time?"""
    if _depends_on_time(mechanism, mechanism.contacts):
        return True
    return any(_is_driven(mechanism, slip) for contact in mechanism.contacts for slip in contact.slip)


def _depends_on_time(mechanism: Mechanism, records: Iterable[object]) -> bool:
    """Does an expression of the records contain time, or an input that is a function of time?"""
    inputs = {one.name for one in mechanism.inputs if one.value is not None and TIME in names(one.value)}
    return any(names(one) & {TIME, *inputs} for record in records for one in expressions(record))


def _drives(mechanism: Mechanism, constraint: Constraint) -> bool:
    """Does a constraint prescribe a velocity? `q1' = 2` does, `x' = r*q1'` does not."""
    of_velocities = constraint_kind(mechanism, constraint) is ConstraintKind.NONHOLONOMIC
    return of_velocities and _is_driven(mechanism, constraint.residual)


def _is_driven(mechanism: Mechanism, rate: Expression) -> bool:
    """Is a rate nonzero while all velocities are zero?"""
    builder = GraphBuilder()
    zero = Scalar(builder, builder.zero)
    meanings = dict.fromkeys(mechanism.layout.velocities, zero)
    for name in names(rate):
        found = component(name)
        if found is not None:
            meanings[name] = zero if found.rate else Scalar(builder, builder.symbol(Kind.COORDINATE, name))
    return not Names(builder, mechanism, {}).scalar(rate, meanings).is_zero


# ---- The first-order system: y = [q, v, z, balances], y' = [N(q) v, qdd(q, v, z, tau, u, t), z', powers]

#: The balances: energy changes by work - dissipated + supplied. Work is that of joint forces. Elements dissipate and
#: supply energy; prescribed motions supply energy.
WORK, DISSIPATED, SUPPLIED = "work", "dissipated", "supplied"
SIGNS = {WORK: 1, DISSIPATED: -1, SUPPLIED: 1}

#: The quantities whose integrals they are: powers of elements and of prescribed motions.
POWER, PRESCRIBED_POWER = "power", "prescribed_power"

#: The rates of first-order states.
STATE_RATES = "state_rates"


@dataclass(frozen=True)
class Forces:
    """External forces and inputs, by input symbol: `tau:q1` is a joint force, `u` a declared input.

    formulas: expressions of the state and time. sampled: inputs whose values are passed at run time. Joint forces that
    are not named are zero, as are unknowns; declared inputs without a value must be named.
    quantities: those whose entries the formulas use (`gravity[0]`, `tip.z`), of positions, velocities and time.
    """

    formulas: Mapping[str, Expression]
    sampled: tuple[str, ...] = ()
    quantities: Graph | None = None

    def check(self, mechanism: Mechanism) -> None:
        """DerivationError for an unknown input, or for an input without a value."""
        for name in (*self.formulas, *self.sampled):
            input_symbol(mechanism, name)
        optional = {*self.formulas, *self.sampled, *(unknown.name for unknown in mechanism.unknowns)}
        for name in mechanism.layout.inputs:
            if name not in optional:
                raise DerivationError(f"the input {name!r} has no value: give inputs={{'{name}': ...}}")

    @property
    def given(self) -> bool:
        """Is any force or input given?"""
        return bool(self.formulas or self.sampled)

    @property
    def in_joints(self) -> bool:
        """Does any act directly on a coordinate?"""
        return any(is_force(name) for name in (*self.formulas, *self.sampled))


NO_FORCES = Forces({})


def input_symbol(mechanism: Mechanism, name: str) -> str:
    """The symbol of a user's name: `q1` or `tau:q1` (a joint force), or `u` (a declared input)."""
    declared, layout = mechanism.input_names, mechanism.layout
    if name in declared:
        return name
    if symbol := layout.force(name):
        return symbol
    known = ", ".join([*(moved_by(force) for force in layout.forces), *declared])
    raise DerivationError(f"unknown coordinate or input {name!r}; known are {known}")


def balance_names(mechanism: Mechanism, forces: Forces = NO_FORCES) -> tuple[str, ...]:
    """The balances of the state: those that can be nonzero."""
    working = _elements_work(mechanism)
    prescribed = has_prescribed_motion(mechanism) or has_prescribed_contacts(mechanism) or _elements_are_led(mechanism)
    return (WORK,) * forces.in_joints + (DISSIPATED,) * working + (SUPPLIED,) * (working or prescribed)


def motion_words(mechanism: Mechanism) -> tuple[str, ...]:
    """The quantities from which the rates of the state follow."""
    power = _elements_work(mechanism) or _elements_are_led(mechanism)
    rates = (STATE_RATES,) * bool(mechanism.states)
    return ("qdd", *rates, *(POWER,) * power, *(PRESCRIBED_POWER,) * has_prescribed_motion(mechanism))


def _elements_work(mechanism: Mechanism) -> bool:
    return not all(_stores(element, mechanism) for element in mechanism.elements)


def _elements_are_led(mechanism: Mechanism) -> bool:
    """Are elements attached to points of bodies with prescribed motion?"""
    return has_prescribed_bodies(mechanism) and any(uses_points(element) for element in mechanism.elements)


def _stores(element: Element, mechanism: Mechanism) -> bool:
    """Does an element return all energy that it takes?"""
    driving = (TIME, *mechanism.input_names, *mechanism.layout.states)
    if any(mentions(element, name) for name in driving):
        return False
    if isinstance(element, Spring):
        return not isinstance(element.law, ForceLaw) and not is_steered(element, mechanism)
    if isinstance(element, CompliantContact):
        return element.damping == ZERO and element.friction == ZERO
    return isinstance(element, Potential) or (isinstance(element, Limit) and element.damping == ZERO)


def state_names(mechanism: Mechanism, forces: Forces = NO_FORCES) -> tuple[str, ...]:
    """The entries of y: positions, velocities, states, integrals of quasi-velocities, balances."""
    return replace(mechanism.layout, balances=balance_names(mechanism, forces)).state


def state_rate(
    mechanism: Mechanism,
    motion: Graph,
    bound: Mapping[str, Expression],
    forces: Forces = NO_FORCES,
    balances: tuple[str, ...] | None = None,
) -> Graph:
    """The graph with the output `rate`, from a graph with the outputs of `motion_words`.

    balances: the balances at the end of the state, after the integrals of quasi-velocities; None: all that can be
    nonzero. If empty, the state is only q, v and z.
    """
    forces.check(mechanism)
    builder = GraphBuilder()
    names = Names(builder, mechanism, bound)
    given = input_meanings(mechanism, names, forces)
    place = transfer(motion, builder, _replacing(builder, names, given))
    qdd = moved([motion.output("qdd")], place)[0].nodes
    v = [names[name] for name in mechanism.layout.velocities]
    own = moved([motion.output(STATE_RATES)], place)[0].nodes if mechanism.states else ()
    rates = [*(rate.index for rate in position_rates(mechanism, builder, v)), *qdd, *own]
    if balances != ():
        rates.extend(names.scalar(one.value).index for one in mechanism.quasivelocities)
    chosen = balance_names(mechanism, forces) if balances is None else balances
    if WORK in chosen:
        rates.append(_power(mechanism, names, given).index)
    if SUPPLIED in chosen:
        powers = _powers(names, {one.name: one.nodes for one in moved(motion.outputs, place)})
        rates.extend(power.index for power in (powers if DISSIPATED in chosen else powers[1:]))
    return builder.graph([Output("rate", (len(rates),), tuple(rates))])


def _powers(names: Names, found: Mapping[str, Sequence[int]]) -> list[Scalar]:
    """The dissipated and supplied power; zero if the motion has no such output."""
    none = names.number(0)
    dissipated, supplied = (Scalar(names.builder, node) for node in found.get(POWER, (none.index, none.index)))
    (prescribed,) = found.get(PRESCRIBED_POWER, (none.index,))
    return [dissipated, supplied + Scalar(names.builder, prescribed)]


def rates_and_forces(mechanism: Mechanism, bound: Mapping[str, Expression], forces: Forces = NO_FORCES) -> Graph:
    """The parts of y' for recursive algorithms, which compute the accelerations without a graph.

    Outputs: `position_rates`, the joint `forces`, and `further`: the quasi-velocities and the power of the forces.
    """
    forces.check(mechanism)
    builder = GraphBuilder()
    names = Names(builder, mechanism, bound)
    given = input_meanings(mechanism, names, forces)
    moving = position_rates(mechanism, builder, [names[name] for name in mechanism.layout.velocities])
    further = [names.scalar(one.value) for one in mechanism.quasivelocities]
    if WORK in balance_names(mechanism, forces):
        further.append(_power(mechanism, names, given))
    parts = {
        "position_rates": moving,
        "forces": [given[name] for name in mechanism.layout.forces],
        "further": further,
    }
    return builder.graph([Output(name, (len(part),), tuple(one.index for one in part)) for name, part in parts.items()])


def with_forces(
    mechanism: Mechanism, graph: Graph, bound: Mapping[str, Expression], forces: Forces = NO_FORCES
) -> Graph:
    """A graph with the symbols of forces and inputs replaced by their expressions."""
    forces.check(mechanism)
    builder = GraphBuilder()
    names = Names(builder, mechanism, bound)
    place = transfer(graph, builder, _replacing(builder, names, input_meanings(mechanism, names, forces)))
    return builder.graph(moved(graph.outputs, place))


def input_meanings(mechanism: Mechanism, names: Names, forces: Forces) -> dict[str, Scalar]:
    """The expression of every input symbol."""
    if forces.quantities is not None:
        names.replace(quantity_entries(forces.quantities, names))
    found = {}
    for symbol in (*mechanism.layout.forces, *mechanism.layout.inputs):
        if symbol in forces.sampled:
            found[symbol] = Scalar(names.builder, names.builder.symbol(Kind.INPUT, symbol))
        else:
            found[symbol] = names.scalar(forces.formulas.get(symbol, expression(0)))
    return found


def quantity_entries(quantities: Graph, names: Names) -> dict[str, Scalar]:
    """The scalars of all entries of quantities, as formulas name them."""
    meant = (Kind.COORDINATE, Kind.VELOCITY, Kind.PARAMETER)

    def symbol(node: Symbol) -> int:
        return names[node.name].index if node.kind in meant else names.builder.symbol(node.kind, node.name)

    outputs = moved(quantities.outputs, transfer(quantities, names.builder, symbol))
    return {
        name: Scalar(names.builder, output.nodes[place])
        for output in outputs
        for name, place in entry_places(output).items()
    }


def entry_places(output: Output) -> dict[str, int]:
    """Where the entries of a quantity are: `gravity[0]`, `H[0,1]`; of points also `tip.z` and its rate `tip.z'`."""
    indices = product(*map(range, output.shape))
    found = {f"{output.name}[{','.join(map(str, index))}]": place for place, index in enumerate(indices)}
    kind, _, point = output.name.partition(":")
    for place, axis in enumerate("xyz"):
        if kind == "pose":
            found[f"{point}.{axis}"] = 4 * place + 3
        elif kind == "velocity":
            found[f"{point}.{axis}'"] = place
            found[f"{point}.w{axis}"] = 3 + place
    return found


def _replacing(builder: GraphBuilder, names: Names, given: Mapping[str, Scalar]) -> Callable[[Symbol], int]:
    def symbol(node: Symbol) -> int:
        if node.kind is Kind.INPUT and node.name in given:
            return given[node.name].index
        if node.kind in (Kind.COORDINATE, Kind.VELOCITY):
            return names[node.name].index
        return builder.symbol(node.kind, node.name)

    return symbol


def _power(mechanism: Mechanism, names: Names, tau: Mapping[str, Scalar]) -> Scalar:
    total = names.number(0)
    for name, velocity in zip(mechanism.layout.forces, mechanism.layout.velocities, strict=True):
        total = total + tau[name] * names[velocity]
    return total


def rate_jacobian(mechanism: Mechanism, rate: Graph) -> Graph:
    """d(rate)/dy, row by row; integrals and balances have no influence."""
    builder = GraphBuilder()
    roots = moved(rate.outputs, transfer(rate, builder))[0].nodes
    symbols = [builder.symbol(*one) for one in initial_symbols(mechanism)]
    rows = jacobian(builder, roots, symbols)
    padding = (builder.zero,) * (len(roots) - len(symbols))
    entries = tuple(entry for row in rows for entry in (*row, *padding))
    return builder.graph([Output("jacobian", (len(roots), len(roots)), entries)])


def initial_symbols(mechanism: Mechanism) -> tuple[Symbol, ...]:
    """The symbols of q, v and z, with which y begins."""
    layout = mechanism.layout
    groups = ((Kind.COORDINATE, layout.positions), (Kind.VELOCITY, layout.velocities), (Kind.STATE, layout.states))
    return tuple(Symbol(kind, name) for kind, names in groups for name in names)


def weighted(rate: Graph) -> Graph:
    """The rates, each times a random number, so that the terms of a first integral's rate do not cancel."""
    random = Random(2)
    builder = GraphBuilder()
    (output,) = moved(rate.outputs, transfer(rate, builder))
    nodes = (builder.multiply(builder.number(Fraction(random.randint(10, 99), 100)), node) for node in output.nodes)
    return builder.graph([output._replace(nodes=tuple(nodes))])


def along_motion(mechanism: Mechanism, rate: Graph, quantities: Graph) -> Graph:
    """The time derivatives of a graph's outputs along the motion: zero for a first integral."""
    builder = GraphBuilder()
    slopes = moved(rate.outputs, transfer(rate, builder))[0].nodes
    outputs = moved(quantities.outputs, transfer(quantities, builder))
    symbols = [builder.symbol(*one) for one in initial_symbols(mechanism)]
    seeds = dict(zip(symbols, slopes, strict=False)) | {builder.symbol(Kind.TIME, "t"): builder.one}
    total = ForwardDerivative(builder, seeds)
    return builder.graph([one._replace(nodes=tuple(total(node) for node in one.nodes)) for one in outputs])
