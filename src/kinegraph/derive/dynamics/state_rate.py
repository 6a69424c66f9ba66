"""The equations of motion as a first-order system, with the energy balances of elements and prescribed motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from kinegraph.derive.elements.forces import is_steered
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
    mentions,
    uses_points,
)
from kinegraph.model.expressions import TIME, Expression, expression, expressions, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import component
from kinegraph.model.states import is_force, moved_by

# Which mechanisms laws of time move: what drives them so does work, although no force is written down for it.


def has_prescribed_motion(mechanism: Mechanism) -> bool:
    """Whether transforms, gravity, loops or constraints move by themselves; contacts do not count."""
    placed = (mechanism.gravity, *(body.transforms for body in mechanism.bodies))
    tied = (*mechanism.loops, *mechanism.constraints)
    return _timed(mechanism, (*placed, *tied)) or any(_drives(mechanism, one) for one in mechanism.constraints)


def has_prescribed_bodies(mechanism: Mechanism) -> bool:
    """Whether bodies, and points of them, move by themselves."""
    return _timed(mechanism, [body.transforms for body in mechanism.bodies])


def has_prescribed_contacts(mechanism: Mechanism) -> bool:
    """Whether a surface that bodies touch moves by itself."""
    if _timed(mechanism, mechanism.contacts):
        return True
    return any(_leads(mechanism, slip) for contact in mechanism.contacts for slip in contact.slip)


def _timed(mechanism: Mechanism, records: Iterable[object]) -> bool:
    """Whether an expression of the records names time, or an input that is a law of time."""
    laws = {one.name for one in mechanism.inputs if one.value is not None and TIME in names(one.value)}
    return any(names(one) & {TIME, *laws} for record in records for one in expressions(record))


def _drives(mechanism: Mechanism, constraint: Constraint) -> bool:
    """Whether a constraint of velocities asks for some: `q1' = 2` drives, `x' = r*q1'` does not."""
    of_velocities = constraint_kind(mechanism, constraint) is ConstraintKind.NONHOLONOMIC
    return of_velocities and _leads(mechanism, constraint.residual)


def _leads(mechanism: Mechanism, rate: Expression) -> bool:
    """Whether a rate is other than zero while all velocities are zero."""
    builder = GraphBuilder()
    zero = Scalar(builder, builder.zero)
    meanings = dict.fromkeys(mechanism.layout.velocities, zero)
    for name in names(rate):
        found = component(name)
        if found is not None:
            meanings[name] = zero if found.rate else Scalar(builder, builder.symbol(Kind.COORDINATE, name))
    return not Names(builder, mechanism, {}).scalar(rate, meanings).is_zero


# The motion as one system of first order: y = [q, v, balances], y' = [N(q) v, qdd(q, v, tau, u, t), powers].
#
# The balances say where energy went: the work of forces in joints, what elements dissipated and what they supplied,
# with what laws of time supply.

#: The balances: energy changes by work - dissipated + supplied.
WORK, DISSIPATED, SUPPLIED = "work", "dissipated", "supplied"
SIGNS = {WORK: 1, DISSIPATED: -1, SUPPLIED: 1}

#: The quantities that they are integrals of: of elements, and of laws of time.
POWER, LAW_POWER = "power", "law_power"


@dataclass(frozen=True)
class Forces:
    """What drives a mechanism from outside, by input symbol: `tau:q1` is a force in a joint, `u` a declared input.

    formulas: expressions of the state and time. sampled: those whose values arrive as inputs when the code runs.
    Joint forces that are not named vanish; declared inputs without a value must be named.
    """

    formulas: Mapping[str, Expression]
    sampled: tuple[str, ...] = ()

    def check(self, mechanism: Mechanism) -> None:
        """DerivationError for an input that does not exist, and for one that has no value."""
        for name in (*self.formulas, *self.sampled):
            input_symbol(mechanism, name)
        for name in mechanism.layout.inputs:
            if name not in self.formulas and name not in self.sampled:
                raise DerivationError(f"the input {name!r} has no value: give inputs={{'{name}': ...}}")

    @property
    def given(self) -> bool:
        """Whether any force or input is given."""
        return bool(self.formulas or self.sampled)

    @property
    def in_joints(self) -> bool:
        """Whether any works directly on a coordinate."""
        return any(is_force(name) for name in (*self.formulas, *self.sampled))


NO_FORCES = Forces({})


def input_symbol(mechanism: Mechanism, name: str) -> str:
    """The symbol of what a user calls `q1`, `tau:q1` (a force in a joint) or `u` (a declared input)."""
    declared = [given.name for given in mechanism.inputs]
    if name in declared:
        return name
    layout = mechanism.layout
    if symbol := layout.force(name):
        return symbol
    known = ", ".join([*(moved_by(force) for force in layout.forces), *declared])
    raise DerivationError(f"there is no coordinate or input {name!r} to act on; known are {known}")


def balance_names(mechanism: Mechanism, forces: Forces = NO_FORCES) -> tuple[str, ...]:
    """The entries of y beyond q and v: only what can be other than zero."""
    working, led = _elements_work(mechanism), has_prescribed_motion(mechanism) or has_prescribed_contacts(mechanism)
    led = led or _elements_are_led(mechanism)
    return (WORK,) * forces.in_joints + (DISSIPATED,) * working + (SUPPLIED,) * (working or led)


def motion_words(mechanism: Mechanism) -> tuple[str, ...]:
    """The quantities from which the rates of the state are made."""
    power = _elements_work(mechanism) or _elements_are_led(mechanism)
    return ("qdd", *(POWER,) * power, *(LAW_POWER,) * has_prescribed_motion(mechanism))


def _elements_work(mechanism: Mechanism) -> bool:
    return not all(_stores(element, mechanism) for element in mechanism.elements)


def _elements_are_led(mechanism: Mechanism) -> bool:
    """Whether springs or potentials hang on points that prescribed motions of bodies move."""
    return has_prescribed_bodies(mechanism) and any(uses_points(element) for element in mechanism.elements)


def _stores(element: Element, mechanism: Mechanism) -> bool:
    """Whether an element gives back all it takes."""
    if mentions(element, TIME) or any(mentions(element, given.name) for given in mechanism.inputs):
        return False
    if isinstance(element, Spring):
        return not isinstance(element.law, ForceLaw) and not is_steered(element, mechanism)
    if isinstance(element, CompliantContact):
        return element.damping == ZERO and element.friction == ZERO
    return isinstance(element, Potential) or (isinstance(element, Limit) and element.damping == ZERO)


def state_names(mechanism: Mechanism, forces: Forces = NO_FORCES) -> tuple[str, ...]:
    """The entries of y: positions, velocities, integrals of quasi-velocities, balances."""
    return replace(mechanism.layout, balances=balance_names(mechanism, forces)).state


def state_rate(
    mechanism: Mechanism,
    motion: Graph,
    bound: Mapping[str, Expression],
    forces: Forces = NO_FORCES,
    balances: tuple[str, ...] | None = None,
) -> Graph:
    """The graph with the one output `rate`, from a graph with the outputs of `motion_words`.

    balances: which of them end the state, after the integrals of quasi-velocities; None takes all that can be other
    than zero. Without any the state is q and v alone.
    """
    forces.check(mechanism)
    builder = GraphBuilder()
    names = Names(builder, mechanism, bound)
    given = input_meanings(mechanism, names, forces)
    place = transfer(motion, builder, _replacing(builder, names, given))
    qdd = moved([motion.output("qdd")], place)[0].nodes
    v = [names[name] for name in mechanism.layout.velocities]
    rates = [*(rate.index for rate in position_rates(mechanism, builder, v)), *qdd]
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
    """What is dissipated and what is supplied; a motion that has no such power has none."""
    none = names.number(0)
    dissipated, supplied = (Scalar(names.builder, node) for node in found.get(POWER, (none.index, none.index)))
    (led,) = found.get(LAW_POWER, (none.index,))
    return [dissipated, supplied + Scalar(names.builder, led)]


def rates_and_forces(mechanism: Mechanism, bound: Mapping[str, Expression], forces: Forces = NO_FORCES) -> Graph:
    """All of y' but the accelerations: `position_rates`, the joint `forces` they follow from, and what is `further`.

    For accelerations that no graph gives: loops over bodies compute them. `further` are the integrals of
    quasi-velocities and the power of the forces.
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
    """A graph of the state and the forces as one of the state, with what each force stands for."""
    forces.check(mechanism)
    builder = GraphBuilder()
    names = Names(builder, mechanism, bound)
    place = transfer(graph, builder, _replacing(builder, names, input_meanings(mechanism, names, forces)))
    return builder.graph(moved(graph.outputs, place))


def input_meanings(mechanism: Mechanism, names: Names, forces: Forces) -> dict[str, Scalar]:
    """What every input symbol stands for."""
    found = {}
    for symbol in (*mechanism.layout.forces, *mechanism.layout.inputs):
        if symbol in forces.sampled:
            found[symbol] = Scalar(names.builder, names.builder.symbol(Kind.INPUT, symbol))
        else:
            found[symbol] = names.scalar(forces.formulas.get(symbol, expression(0)))
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
    """d(rate)/dy, row by row; entries of y that are no coordinates or velocities have no influence."""
    builder = GraphBuilder()
    roots = moved(rate.outputs, transfer(rate, builder))[0].nodes
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    symbols += [builder.symbol(Kind.VELOCITY, name) for name in mechanism.layout.velocities]
    rows = jacobian(builder, roots, symbols)
    padding = (builder.zero,) * (len(roots) - len(symbols))
    entries = tuple(entry for row in rows for entry in (*row, *padding))
    return builder.graph([Output("jacobian", (len(roots), len(roots)), entries)])


def weighted(rate: Graph) -> Graph:
    """The rates, each times a random number: along them the terms of a first integral's rate do not cancel."""
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
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    symbols += [builder.symbol(Kind.VELOCITY, name) for name in mechanism.layout.velocities]
    seeds = dict(zip(symbols, slopes, strict=False)) | {builder.symbol(Kind.TIME, "t"): builder.one}
    total = ForwardDerivative(builder, seeds)
    return builder.graph([one._replace(nodes=tuple(total(node) for node in one.nodes)) for one in outputs])
