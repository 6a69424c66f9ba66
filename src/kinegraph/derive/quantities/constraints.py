"""Loops and constraints: residuals, Jacobians, multipliers, and the reactions of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.named_closed_form import NamedClosedForm
from kinegraph.derive.plan import InertiaMethod, Plan
from kinegraph.derive.quantities.dynamics import accelerations_of, driving_forces, joint_forces
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, apply, vector
from kinegraph.derive.tree.expressions import output
from kinegraph.derive.tree.kinematics import fixed_frame
from kinegraph.derive.tree.links import Placement, first_frame, second_frame
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar, transfer
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.changes.coordinates import RELEASED, released
from kinegraph.model.constraints import Loop
from kinegraph.model.expressions import Expression, names
from kinegraph.model.mechanism import Coordinate, Mechanism, amounts
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


# Loops and constraints: what they miss, their Jacobian, the forces they exert.


def values(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """What is missing to fit, row by row; zero for rows that restrict velocities only."""
    return derivation.constrained.values()


def jacobian(derivation: Derivation, quantity: Quantity) -> Square:
    """The derivative by displacements, row by row."""
    return derivation.constrained.jacobian()


def rates(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How fast what is missing changes, row by row."""
    return derivation.constrained.rates()


def accelerations(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How fast the rates change under given accelerations, row by row."""
    symbols = Variables.ACCELERATIONS.symbols(derivation.mechanism)
    builder = derivation.builder
    return derivation.constrained.row_accelerations([Scalar(builder, builder.symbol(*one)) for one in symbols])


def multipliers(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The force or moment that the first frame of every row exerts on the second."""
    constrained, segmented = derivation.constrained, derivation.segmented
    if segmented:
        return constrained.in_stated_axes(segmented.multipliers())
    return constrained.multipliers(driving_forces(derivation))


def proximal_accelerations(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Accelerations by a proximal solve; without constraints the usual ones."""
    if not derivation.is_constrained:
        return accelerations_of(derivation)
    return derivation.constrained.proximal_accelerations(driving_forces(derivation))


def pivots(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """How independent every row is of those before it."""
    constrained, segmented = derivation.constrained, derivation.segmented
    return constrained.spread(segmented.pivots(), 1) if segmented else constrained.pivots()


def increments(derivation: Derivation, quantity: Quantity) -> Square:
    """Displacements of the dependent coordinates that take away a unit of what each row misses."""
    return derivation.constrained.increments()


def dependent_columns(derivation: Derivation, quantity: Quantity) -> Square:
    """A of a loop, by all velocities; those of independent ones are zero."""
    loop, independent = named_loop(derivation, quantity), _independent(derivation, quantity)
    dependent = set(range(derivation.size)) - independent if _chooses(quantity) else None
    rows = _named_rows(derivation, loop)
    return derivation.constrained.closing_columns(loop, dependent=True, chosen=dependent, rows=rows)


def independent_columns(derivation: Derivation, quantity: Quantity) -> Square:
    """B of a loop, by all velocities; those of dependent ones are zero."""
    loop, independent = named_loop(derivation, quantity), _independent(derivation, quantity)
    return derivation.constrained.closing_columns(
        loop, dependent=False, chosen=independent if _chooses(quantity) else None,
        rows=_named_rows(derivation, loop),
    )  # fmt: skip


def _named_rows(derivation: Derivation, loop: Loop) -> Square | None:
    """The six rows of a loop in the named variables of Rackovic's algorithms; None in other plans."""
    form = derivation.closed_form if derivation.plan.inertia is InertiaMethod.NAMED_CLOSED_FORM else None
    if not isinstance(form, NamedClosedForm):
        return None
    bodies = form.tree.bodies
    entries = form.closing_entries(loop.name, bodies[first_frame(loop)], bodies[second_frame(loop)])
    motion = derivation.constraint_equations.motion
    rows = [[derivation.zero] * derivation.size for _ in range(_CLOSING_ROWS)]
    for column, values in entries.items():
        for velocity, factor in motion.columns[column.link][column.component].items():
            for row, value in zip(rows, values, strict=True):
                row[velocity] = row[velocity] + factor * value
    return rows


#: Three translations and three rotations.
_CLOSING_ROWS = 6


def _chooses(quantity: Quantity) -> bool:
    return ":" in quantity.of


def _independent(derivation: Derivation, quantity: Quantity) -> set[int]:
    """The velocities of the coordinates that are named after the loop."""
    mechanism = derivation.mechanism
    groups = zip(mechanism.coordinates, mechanism.velocity_groups, strict=True)
    known: dict[str, tuple[str, ...]] = {}
    for coordinate, velocities in groups:
        positions = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        known |= dict.fromkeys(positions, velocities) | {velocity: (velocity,) for velocity in velocities}
    found: set[int] = set()
    for name in quantity.of.split(":")[1:]:
        if name not in known:
            raise DerivationError(f"{quantity}: {name!r} is not a coordinate\n  {did_you_mean(name, known)}")
        found |= {mechanism.layout.velocities.index(velocity) for velocity in known[name]}
    return found


def named_loop(derivation: Derivation, quantity: Quantity) -> Loop:
    """The loop a quantity is asked of."""
    loops = {loop.name: loop for loop in derivation.mechanism.loops if isinstance(loop, Loop)}
    name = quantity.of.split(":")[0]
    if name not in loops:
        known = did_you_mean(name, loops) if loops else f"{derivation.mechanism.name} has no loop of two frames"
        raise DerivationError(f"{quantity}: there is no loop {name!r}\n  {known}")
    return loops[name]


# What joints transmit: of the tree by the principle of release, of loops by the multipliers of their rows.

#: What may follow `@` beside the names of bodies: the axes of what the joint stands on, and of what it carries.
PARENT, BODY = "parent", "body"


def reaction(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Force and moment that a joint's parent exerts on its body (a loop's first frame on its second)."""
    given = [derivation.zero] * len(RELEASED)
    if _loop(derivation, quantity) is None:
        force, moment = _ReleasedJoint(derivation, quantity).needed()
        given = [*force, *moment]
    for k, row in enumerate(transmission(derivation, quantity)):
        for multiplier, entry in zip(_multipliers(derivation), row, strict=True):
            given[k] = given[k] + entry * multiplier
    return given


def transmission(derivation: Derivation, quantity: Quantity) -> Square:
    """What a multiplier of 1 of every row adds to a reaction."""
    if not derivation.is_constrained:
        return [[] for _ in RELEASED]
    loop = _loop(derivation, quantity)
    return _ReleasedJoint(derivation, quantity).given() if loop is None else _of_loop(derivation, quantity, loop)


def _loop(derivation: Derivation, quantity: Quantity) -> Loop | None:
    """The loop that is named; None if it is a joint of the tree."""
    for loop in derivation.mechanism.loops:
        if loop.name == quantity.of:
            if isinstance(loop, Loop):
                return loop
            message = f"{loop.name} ties coordinates, not two frames: its force is among the multipliers"
            raise DerivationError(f"{quantity}: {message}")
    return None


def supported_body(mechanism: Mechanism, quantity: Quantity) -> str:
    """The body whose joint is meant: named itself, or by a coordinate or velocity that moves it alone."""
    name = quantity.of
    if name in mechanism.body_by_name:
        return name
    positions = _positions_of(mechanism, name)
    moved = [body.name for body in mechanism.bodies if positions & _coordinates_of(mechanism, body.name)]
    if len(moved) == 1:
        return moved[0]
    if moved:
        raise DerivationError(f"{quantity}: {name} moves the joints of {', '.join(moved)}: name one of these bodies")
    known = (*mechanism.body_by_name, *(loop.name for loop in mechanism.loops), *mechanism.layout.positions)
    raise DerivationError(f"{quantity}: {name!r} is not a joint\n  {did_you_mean(name, known)}")


def _positions_of(mechanism: Mechanism, name: str) -> set[str]:
    """The positions that a position or velocity stands for."""
    for coordinate, velocities in zip(mechanism.coordinates, mechanism.velocity_groups, strict=True):
        positions = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.names
        if name in (*positions, *velocities):
            return set(positions)
    return set()


def _coordinates_of(mechanism: Mechanism, body: str) -> set[str]:
    return {name for one in mechanism.body(body).transforms for amount in amounts(one) for name in names(amount)}


def _of_loop(derivation: Derivation, quantity: Quantity, loop: Loop) -> Square:
    equations = derivation.constrained.equations
    own = {PARENT: first_frame(loop), BODY: second_frame(loop)}
    view = kinematics.seen_from(derivation.layout, _viewer(derivation, quantity, own))
    turn = view.rotations[equations.ancestor(loop)]
    columns = [[*apply(turn, one.linear), *apply(turn, one.angular)] for one in equations.wrenches(loop)]
    return [equations.in_stated_axes(row) for row in zip(*columns, strict=True)]


def _viewer(derivation: Derivation, quantity: Quantity, own: Mapping[str, str | None]) -> Placement:
    """The frame whose axes are asked for; `parent` and `body` are the joint's own, unless a body is called so."""
    taken = quantity.frame in derivation.mechanism.body_by_name
    if taken or quantity.frame not in own:
        return derivation.frame(quantity)
    name = own[quantity.frame]
    return fixed_frame(derivation.zero) if name is None else derivation.tree.bodies[name]


class _ReleasedJoint:
    """A joint of the tree that is set free: the forces on six coordinates that stay zero at its point on the body."""

    def __init__(self, derivation: Derivation, quantity: Quantity) -> None:
        body = supported_body(derivation.mechanism, quantity)
        bound = tuple(sorted(derivation.bound.items()))
        self._joint = _Joint(type(derivation), derivation.mechanism, bound, quantity, body)
        self._supported = _Supported(derivation)

    def needed(self) -> tuple[Vector, Vector]:
        """Force and moment that the bodies behind the joint need as they move."""
        (found,) = self._turned(_needed_by_released(self._joint))
        return found

    def given(self) -> Square:
        """What a multiplier of 1 of every row spares the joint: by component and row."""
        wrenches = self._turned(_spared_by_rows(self._joint))
        columns = [[-entry for entry in (*force, *moment)] for force, moment in wrenches]
        return [list(row) for row in zip(*columns, strict=True)]

    def _turned(self, graphs: Sequence[Graph]) -> list[tuple[Vector, Vector]]:
        scalars = map(self._supported.scalars, graphs)
        turn = vector(next(scalars)), vector(next(scalars)), vector(next(scalars))
        return [(apply(turn, vector(own[:3])), apply(turn, vector(own[3:]))) for own in scalars]


@dataclass(frozen=True)
class _Joint:
    """The joint of a body, the frame its reaction is asked for in, and what derives it."""

    derivation: type[Derivation]
    mechanism: Mechanism
    bound: tuple[tuple[str, Expression], ...]
    quantity: Quantity
    body: str


class _Free:
    """The mechanism with a joint set free, derived by the first plan."""

    def __init__(self, joint: _Joint) -> None:
        released_one = released(joint.mechanism, joint.body)
        self.derivation = joint.derivation(released_one.mechanism, dict(joint.bound), Plan())
        own = {PARENT: released_one.base, BODY: released_one.body}
        layout = self.derivation.layout
        view = kinematics.seen_from(layout, _viewer(self.derivation, joint.quantity, own))
        pose = kinematics.pose(layout, view, self.derivation.tree.bodies[released_one.joint])
        self._turn = [row[:3] for row in pose[:3]]

    def graphs(self, forces: Sequence[Sequence[Scalar]]) -> tuple[Graph, ...]:
        """The rows of the matrix into the axes that are asked for; of each list of forces those on the joint."""
        wrenches = [one[-len(RELEASED) :] for one in forces]
        return tuple(
            self.derivation.builder.graph([output("", (len(scalars),), list(scalars))])
            for scalars in (*self._turn, *wrenches)
        )


# Both are the same by whatever plan the mechanism itself is derived; several are tried, each joint after joint.


@lru_cache(maxsize=128)
def _needed_by_released(joint: _Joint) -> tuple[Graph, ...]:
    free = _Free(joint)
    motion = free.derivation.motion(velocities=True, accelerations=True)
    return free.graphs([joint_forces(free.derivation, motion)])


@lru_cache(maxsize=128)
def _spared_by_rows(joint: _Joint) -> tuple[Graph, ...]:
    free = _Free(joint)
    return free.graphs([row.jacobian for row in free.derivation.constraint_equations.rows(stated=True)])


def _multipliers(derivation: Derivation) -> list[Scalar]:
    return derivation.constrained.multipliers(driving_forces(derivation)) if derivation.is_constrained else []


class _Supported:
    """Scalars of the released mechanism as scalars of the mechanism itself: as it moves, nothing goes apart."""

    def __init__(self, derivation: Derivation) -> None:
        self._target = derivation.builder
        self._accelerations = dict(
            zip(derivation.mechanism.layout.accelerations, accelerations_of(derivation), strict=True)
        )

    def scalars(self, graph: Graph) -> list[Scalar]:
        """The scalars of a graph in the builder of the mechanism."""
        place = transfer(graph, self._target, self._symbol)
        return [Scalar(self._target, place[index]) for index in graph.outputs[0].nodes]

    def _symbol(self, symbol: Symbol) -> int:
        if symbol.kind is Kind.ACCELERATION and symbol.name in self._accelerations:
            return self._accelerations[symbol.name].index
        if symbol.kind in _MOVING and symbol.name.removesuffix("'").removesuffix("'") in RELEASED:
            return self._target.zero
        return self._target.symbol(symbol.kind, symbol.name)


_MOVING = (Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION)
