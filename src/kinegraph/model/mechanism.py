"""The mechanism: frozen records of bodies, joints, coordinates and parameters. Nothing here is derived or numeric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from kinegraph.display import RichDisplay
from kinegraph.model.expressions import Expression, expression, names, negative
from kinegraph.model.report import Report
from kinegraph.model.states import StateLayout
from kinegraph.model.tables import Table

if TYPE_CHECKING:
    from kinegraph.model.constraints import AnyLoop, Constraint, Contact, Cut, Unknown
    from kinegraph.model.definitions import Definition, QuasiVelocity
    from kinegraph.model.elements import Element, Input
    from kinegraph.model.robot_data import Extra, FileJoint


class ImpactLaw(Enum):
    """The definition of restitution as a ratio.

    NEWTON: the velocities along the normal, after and before. POISSON: the impulses of expansion and compression.
    """

    NEWTON = "newton"
    POISSON = "poisson"


class ImpactOrder(Enum):
    """How impacts at the same time are resolved.

    SIMULTANEOUS: all contacts at once, as one complementarity problem. SEQUENTIAL: one contact after the other, the
    fastest first, until none is closing.
    """

    SIMULTANEOUS = "simultaneous"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Impacts:
    """`impacts poisson, sequential;`: the impact model of all rigid contacts."""

    law: ImpactLaw = ImpactLaw.NEWTON
    order: ImpactOrder = ImpactOrder.SIMULTANEOUS


ZERO = expression(0)
ONE = expression(1)


class Axis(Enum):
    """A coordinate axis; the value is its index."""

    X = 0
    Y = 1
    Z = 2


@dataclass(frozen=True, slots=True)
class Rotation:
    """R_axis(angle): rotate about the current axis, in radians."""

    axis: Axis
    angle: Expression


@dataclass(frozen=True, slots=True)
class Shift:
    """S_axis(distance): translate along the current axis."""

    axis: Axis
    distance: Expression


@dataclass(frozen=True, slots=True)
class Quaternion:
    """Q(e0,e1,e2,e3): the rotation of a quaternion, scalar part first; normalized when constant.

    The four components are either constants and parameters (a fixed rotation) or exactly the names of one
    `QuaternionCoordinates` group of the mechanism.
    """

    components: tuple[Expression, Expression, Expression, Expression]


Transform = Rotation | Shift | Quaternion


def amounts(transform: Transform) -> tuple[Expression, ...]:
    """The angle or distance of a transform, or the four components of a quaternion."""
    if isinstance(transform, Rotation):
        return (transform.angle,)
    return (transform.distance,) if isinstance(transform, Shift) else transform.components


def inverse(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The inverse of a sequence of transforms."""
    return tuple(_inverse(transform) for transform in reversed(tuple(transforms)))


def _inverse(transform: Transform) -> Transform:
    if isinstance(transform, Rotation):
        return Rotation(transform.axis, negative(transform.angle))
    if isinstance(transform, Shift):
        return Shift(transform.axis, negative(transform.distance))
    e0, e1, e2, e3 = transform.components
    return Quaternion((e0, negative(e1), negative(e2), negative(e3)))


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass and moments about the center of mass, along the axes of the central frame.

    `Jxy` is the product of inertia (sum of m x y), so it enters the inertia tensor with a minus sign. `central` are the
    transforms from the link frame to the central frame (K1's new form; empty in the old form). `accepted`: use the
    moments as given even if no real body has them (published tables are not always physical).
    """

    mass: Expression = ZERO
    Jx: Expression = ZERO
    Jy: Expression = ZERO
    Jz: Expression = ZERO
    Jxy: Expression = ZERO
    Jyz: Expression = ZERO
    Jxz: Expression = ZERO
    central: tuple[Transform, ...] = ()
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """One record `Name~Base | transforms | inertia ;`. No base means the fixed frame."""

    name: str
    base: str | None = None
    transforms: tuple[Transform, ...] = ()
    inertia: Inertia = field(default_factory=Inertia)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named constant; its value may use other parameters. None: it needs a value before anything is evaluated."""

    name: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A generalized coordinate with its initial position and velocity; its velocity is written name'.

    `armature` is inertia of the coordinate itself, such as a rotor behind a gear: it adds to the diagonal of the mass
    matrix. It does not belong to a body and has no momentum in space.
    `zeros`: whether the model declares a zero position and a zero velocity; assembly keeps declared values.
    """

    name: str
    position: Expression = ZERO
    velocity: Expression = ZERO
    armature: Expression = ZERO
    zeros: tuple[bool, bool] = (False, False)

    @property
    def declared(self) -> tuple[str, ...]:
        """The names of the initial values that the model declares."""
        stated = ((self.name, self.position != ZERO), (self.name + "'", self.velocity != ZERO))
        return tuple(name for (name, given), zero in zip(stated, self.zeros, strict=True) if given or zero)


@dataclass(frozen=True, slots=True)
class QuaternionCoordinates:
    """Four position coordinates of unit norm with three velocities: the angular velocity in body axes.

    `armature` is the same about all axes: it adds to the diagonal of the mass matrix for each velocity.
    `zeros`: whether the model declares the identity rotation, and each zero velocity.
    """

    names: tuple[str, str, str, str]
    velocities: tuple[str, str, str]
    position: tuple[Expression, Expression, Expression, Expression] = (ONE, ZERO, ZERO, ZERO)
    velocity: tuple[Expression, Expression, Expression] = (ZERO, ZERO, ZERO)
    armature: Expression = ZERO
    zeros: tuple[bool, bool, bool, bool] = (False, False, False, False)

    @property
    def declared(self) -> tuple[str, ...]:
        """The names of the initial values that the model declares."""
        turned = self.zeros[0] or self.position != (ONE, ZERO, ZERO, ZERO)
        rates = zip(self.velocities, self.velocity, self.zeros[1:], strict=True)
        return (*(self.names if turned else ()), *(name for name, given, zero in rates if zero or given != ZERO))


@dataclass(frozen=True, slots=True)
class FirstOrderState:
    """`state i' = (U - R*i)/L;`: a variable with a rate of its own, such as the current of a motor.

    The rate is an expression of coordinates, velocities, points, states, inputs and time.
    """

    name: str
    rate: Expression
    initial: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Point:
    """An output point, fixed in a body's link frame (in the fixed frame if body is None).

    `orientation` rotates the axes of that frame into the axes of the point, those of `pose:NAME`.
    """

    name: str
    body: str | None
    position: tuple[Expression, Expression, Expression] = (ZERO, ZERO, ZERO)
    orientation: tuple[Rotation | Quaternion, ...] = ()

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The transforms from the body's link frame to the frame of the point."""
        shifts = (Shift(axis, amount) for axis, amount in zip(Axis, self.position, strict=True))
        return (*shifts, *self.orientation)


@dataclass(frozen=True, repr=False)
class Mechanism(RichDisplay):
    """A complete description of a mechanism. Bodies, coordinates and parameters are in the order of the model.

    bodies: each has one joint on its base; a base may come later. elements: act on the bodies. inputs: signals that
    elements may use. states: variables of first-order equations. tables: functions given by points. unknowns: forces
    to be found. loops, constraints, contacts: beyond the tree of bodies. impacts: the impact model of contacts. cuts:
    joints at which loops are to be cut. definitions, quasivelocities: names for expressions. extras: data of robot
    files beyond rigid bodies (limits, friction, shapes), which the model language does not cover. joints: those of a
    robot file, for the order of their coordinates in other programs. report: findings of the file reader. Both are not
    part of comparisons.
    """

    name: str
    bodies: tuple[Body, ...]
    coordinates: tuple[Coordinate | QuaternionCoordinates, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    gravity: tuple[Expression, Expression, Expression] = (ZERO, ZERO, ZERO)
    points: tuple[Point, ...] = ()
    extras: tuple[Extra, ...] = ()
    elements: tuple[Element, ...] = ()
    inputs: tuple[Input, ...] = ()
    definitions: tuple[Definition, ...] = ()
    quasivelocities: tuple[QuasiVelocity, ...] = ()
    loops: tuple[AnyLoop, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    contacts: tuple[Contact, ...] = ()
    impacts: Impacts = field(default_factory=Impacts)
    unknowns: tuple[Unknown, ...] = ()
    cuts: tuple[Cut, ...] = ()
    states: tuple[FirstOrderState, ...] = ()
    tables: tuple[Table, ...] = ()
    joints: tuple[FileJoint, ...] = field(default=(), compare=False, repr=False)
    report: Report = field(default=Report(), compare=False, repr=False)

    def __repr__(self) -> str:
        parts = ("bodies", "coordinates", "states", "parameters", "elements", "loops", "constraints", "contacts")
        facts = [f"{len(getattr(self, part))} {part}" for part in parts if getattr(self, part)]
        return f"<Mechanism {self.name}: {', '.join(facts)}>"

    def __getstate__(self) -> dict[str, object]:
        """The fields only; cached properties are computed again after unpickling."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: caches look up mechanisms thousands of times."""
        return hash(tuple(getattr(self, one.name) for one in fields(self) if one.compare))

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self.body_by_name[name]

    @cached_property
    def body_by_name(self) -> Mapping[str, Body]:
        """The bodies by name, in the order of the model."""
        return MappingProxyType({body.name: body for body in self.bodies})

    @cached_property
    def layout(self) -> StateLayout:
        """The order of q, v and all other vectors."""
        positions: list[str] = []
        velocities: list[str] = []
        quaternions: list[int] = []
        for coordinate in self.coordinates:
            if isinstance(coordinate, Coordinate):
                positions.append(coordinate.name)
                velocities.append(coordinate.name + "'")
            else:
                quaternions.append(len(positions))
                positions.extend(coordinate.names)
                velocities.extend(coordinate.velocities)
        free = tuple(given.name for given in self.inputs if given.value is None)
        inputs = (*free, *(unknown.name for unknown in self.unknowns))
        integrals = tuple(one.integral for one in self.quasivelocities)
        states = tuple(one.name for one in self.states)
        return StateLayout(
            tuple(positions), tuple(velocities), inputs, tuple(quaternions), integrals=integrals, states=states
        )

    @property
    def declared(self) -> tuple[str, ...]:
        """The positions and velocities whose initial values the model declares, in the order of the model."""
        return tuple(name for coordinate in self.coordinates for name in coordinate.declared)

    @cached_property
    def lengths(self) -> frozenset[str]:
        """The coordinates that are lengths: they occur in shifts and in no rotation."""
        used: dict[bool, set[str]] = {True: set(), False: set()}
        for transform in (one for body in self.bodies for one in body.transforms):
            used[isinstance(transform, Shift)].update(*(names(amount) for amount in amounts(transform)))
        lengths = used[True] - used[False]
        return frozenset(one.name for one in self.coordinates if isinstance(one, Coordinate) and one.name in lengths)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of all inputs, with a value or without, and of the unknowns, which are inputs until found."""
        return (*(given.name for given in self.inputs), *(unknown.name for unknown in self.unknowns))

    @property
    def velocity_groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the entries of v, grouped by coordinate or quaternion."""
        return tuple((c.name + "'",) if isinstance(c, Coordinate) else c.velocities for c in self.coordinates)

    @property
    def armature(self) -> tuple[Expression, ...]:
        """The armature of each entry of v."""
        groups = zip(self.coordinates, self.velocity_groups, strict=True)
        return tuple(coordinate.armature for coordinate, group in groups for _ in group)
