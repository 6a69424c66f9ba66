"""What joints transmit: of the tree by the principle of release, of loops by the multipliers of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinegraph.derive.quantities.definitions.accelerations import accelerations_of, driving_forces
from kinegraph.derive.quantities.definitions.inverse_dynamics import joint_forces
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.values import output
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, apply, vector
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.kinematics import fixed_frame
from kinegraph.derive.tree.links import Placement, first_frame, second_frame
from kinegraph.errors import DerivationError
from kinegraph.graph.node import Kind, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import transfer
from kinegraph.model.changes.release import RELEASED, released
from kinegraph.model.constraints.records import Loop
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Coordinate, Mechanism, amounts
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity

#: What may follow `@` beside the names of bodies: the axes of what the joint stands on, and of what it carries.
PARENT, BODY = "parent", "body"


def reaction(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Force and moment that a joint's parent exerts on its body (a loop's first frame on its second)."""
    given = [derivation.zero] * len(RELEASED)
    if _loop(derivation, quantity) is None:
        force, moment = _released_joint(derivation, quantity).needed()
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
    return _released_joint(derivation, quantity).given() if loop is None else _of_loop(derivation, quantity, loop)


def _loop(derivation: Derivation, quantity: Quantity) -> Loop | None:
    """The loop that is named; None if it is a joint of the tree."""
    for loop in derivation.mechanism.loops:
        if loop.name == quantity.of:
            if isinstance(loop, Loop):
                return loop
            message = f"{loop.name} ties coordinates, not two frames: its force is among the multipliers"
            raise DerivationError(f"{quantity}: {message}")
    return None


def carried_body(mechanism: Mechanism, quantity: Quantity) -> str:
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
    raise DerivationError(f"{quantity}: {name!r} names no joint\n  {did_you_mean(name, known)}")


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
    ties = derivation.constrained.ties
    own = {PARENT: first_frame(loop), BODY: second_frame(loop)}
    view = kinematics.seen_from(derivation.layout, _viewer(derivation, quantity, own))
    turn = view.rotations[ties.ancestor(loop)]
    columns = [[*apply(turn, one.linear), *apply(turn, one.angular)] for one in ties.wrenches(loop)]
    return [ties.in_stated_axes(row) for row in zip(*columns, strict=True)]


def _viewer(derivation: Derivation, quantity: Quantity, own: Mapping[str, str | None]) -> Placement:
    """The frame whose axes are asked for; `parent` and `body` are the joint's own, unless a body is called so."""
    taken = quantity.frame in derivation.mechanism.body_by_name
    if taken or quantity.frame not in own:
        return derivation.frame(quantity)
    name = own[quantity.frame]
    return fixed_frame(derivation.zero) if name is None else derivation.tree.bodies[name]


class _ReleasedJoint:
    """A joint of the tree that is set free: the forces on six coordinates that stay zero where its motion begins."""

    def __init__(self, derivation: Derivation, quantity: Quantity, body: str) -> None:
        released_one = released(derivation.mechanism, body)
        self._free = type(derivation)(released_one.mechanism, derivation.bound, Plan())
        self._carried = _Carried(derivation, self._free)
        own = {PARENT: released_one.base, BODY: released_one.body}
        layout = self._free.layout
        view = kinematics.seen_from(layout, _viewer(self._free, quantity, own))
        pose = kinematics.pose(layout, view, self._free.tree.bodies[released_one.joint])
        x, y, z = (vector(self._carried.scalars(row[:3])) for row in pose[:3])
        self._turn = x, y, z

    def needed(self) -> tuple[Vector, Vector]:
        """Force and moment that the bodies behind the joint need as they move."""
        motion = self._free.motion(velocities=True, accelerations=True)
        return self._turned(joint_forces(self._free, motion))

    def given(self) -> Square:
        """What a multiplier of 1 of every row spares the joint: by component and row."""
        columns = []
        for row in self._free.ties.rows(stated=True):
            force, moment = self._turned(row.jacobian)
            columns.append([-entry for entry in (*force, *moment)])
        return [list(row) for row in zip(*columns, strict=True)]

    def _turned(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        own = self._carried.scalars(forces[-len(RELEASED) :])
        return apply(self._turn, vector(own[:3])), apply(self._turn, vector(own[3:]))


def _released_joint(derivation: Derivation, quantity: Quantity) -> _ReleasedJoint:
    return _ReleasedJoint(derivation, quantity, carried_body(derivation.mechanism, quantity))


def _multipliers(derivation: Derivation) -> list[Scalar]:
    return derivation.constrained.multipliers(driving_forces(derivation)) if derivation.is_constrained else []


class _Carried:
    """Scalars of the released mechanism as scalars of the mechanism itself: as it moves, nothing goes apart."""

    def __init__(self, derivation: Derivation, free: Derivation) -> None:
        self._target, self._source = derivation.builder, free.builder
        self._accelerations = dict(
            zip(derivation.mechanism.layout.accelerations, accelerations_of(derivation), strict=True)
        )

    def scalars(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """The same scalars in the builder of the mechanism."""
        graph = self._source.graph([output("", (len(scalars),), list(scalars))])
        place = transfer(graph, self._target, self._symbol)
        return [Scalar(self._target, place[index]) for index in graph.outputs[0].nodes]

    def _symbol(self, symbol: Symbol) -> int:
        if symbol.kind is Kind.ACCELERATION and symbol.name in self._accelerations:
            return self._accelerations[symbol.name].index
        if symbol.kind in _MOVING and symbol.name.removesuffix("'").removesuffix("'") in RELEASED:
            return self._target.zero
        return self._target.symbol(symbol.kind, symbol.name)


_MOVING = (Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION)
