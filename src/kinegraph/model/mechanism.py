"""The mechanism: frozen records of bodies, joints, coordinates and parameters. Nothing here is derived or numeric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from kinegraph.display import RichDisplay
from kinegraph.model.expressions import Expression, expression, names
from kinegraph.model.report import Report
from kinegraph.model.states import StateLayout

if TYPE_CHECKING:
    from kinegraph.model.constraints import AnyLoop, Constraint, Contact, Cut, Unknown
    from kinegraph.model.definitions import Definition, QuasiVelocity
    from kinegraph.model.elements import Element, Input
    from kinegraph.model.robot_data import Extra


# What happens when contacts close with a speed: the law of restitution, and how several impacts at once are taken.


class ImpactLaw(Enum):
    """What restitution is a ratio of.

    NEWTON: the velocities along the normal, after and before. POISSON: the impulses of expansion and compression.
    """

    NEWTON = "newton"
    POISSON = "poisson"


class ImpactOrder(Enum):
    """How impacts at one time are taken.

    SIMULTANEOUS: all contacts at once, as one complementarity problem. SEQUENTIAL: one contact after the other, the
    fastest first, until none closes any more.
    """

    SIMULTANEOUS = "simultaneous"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Impacts:
    """`impacts poisson, sequential;`: how all contacts of a model meet."""

    law: ImpactLaw = ImpactLaw.NEWTON
    order: ImpactOrder = ImpactOrder.SIMULTANEOUS


# What a mechanism is: frozen records, nothing derived, nothing numeric.

ZERO = expression(0)
ONE = expression(1)


class Axis(Enum):
    """A coordinate axis; the value is its index."""

    X = 0
    Y = 1
    Z = 2


@dataclass(frozen=True, slots=True)
class Rotation:
    """R_axis(angle): turn about a current axis, radians."""

    axis: Axis
    angle: Expression


@dataclass(frozen=True, slots=True)
class Shift:
    """S_axis(distance): move along a current axis."""

    axis: Axis
    distance: Expression


@dataclass(frozen=True, slots=True)
class Quaternion:
    """Q(e0,e1,e2,e3): the rotation of a quaternion, scalar part first; normalised when constant.

    The four components are either constants and parameters (a fixed rotation) or exactly the names of one
    `QuaternionCoordinates` group of the mechanism.
    """

    components: tuple[Expression, Expression, Expression, Expression]


Transform = Rotation | Shift | Quaternion


def amounts(transform: Transform) -> tuple[Expression, ...]:
    """How far a transform goes: one expression, or the four components of a quaternion."""
    if isinstance(transform, Rotation):
        return (transform.angle,)
    return (transform.distance,) if isinstance(transform, Shift) else transform.components


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass and moments about the centre of mass, along the axes of the central frame.

    `Jxy` is the product of inertia (sum of m x y), so it enters the inertia tensor with a minus sign. `central` leads
    from the link frame to the central frame (K1's new form); it is empty in the old form. `accepted` says that the
    moments are meant as stated although no real body has them (published tables are not always physical).
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
    """A named constant; its value may use other parameters. None: a value must be given before numbers are asked."""

    name: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A generalized coordinate with its initial position and velocity; its velocity is written name'.

    `armature` is inertia in the coordinate itself, such as that of a motor's rotor seen through its gear: it adds to
    the diagonal of the inertia matrix. It belongs to no body and has no momentum in space.
    `zeros` says which of position and velocity the model declares although they are zero: loops keep declared values.
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
    """Four position coordinates of unit norm with three quasi-velocities: the angular velocity in the turned axes.

    `armature` is the same about all axes: it adds to the diagonal of the inertia matrix for each quasi-velocity.
    `zeros` says whether the model declares the rotation, and each velocity, although they are none.
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
class Point:
    """A point of interest: fixed in a body's link frame (the fixed frame if body is None).

    `orientation` turns the axes of that frame into the point's own, those of `pose:NAME`.
    """

    name: str
    body: str | None
    position: tuple[Expression, Expression, Expression] = (ZERO, ZERO, ZERO)
    orientation: tuple[Rotation | Quaternion, ...] = ()

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The way from the body's link frame to the point's own frame."""
        shifts = (Shift(axis, amount) for axis, amount in zip(Axis, self.position, strict=True))
        return (*shifts, *self.orientation)


@dataclass(frozen=True, repr=False)
class Mechanism(RichDisplay):
    """A complete description. Order of bodies, coordinates and parameters is as written; bases may come later.

    `extras` hold what robot files say beyond rigid-body mechanics (limits, friction, shapes); the model language does
    not cover them. `elements` act on the bodies, `inputs` are the signals they may use, `unknowns` are forces to be
    found. The records give every body one joint on its base; `loops`, `constraints` and `contacts` tie them beyond
    that, and `impacts` says how contacts meet. `cuts` name the joints at which the model wants its loops cut.
    `definitions` and `quasivelocities` are names for expressions. `report` tells what a file said that is not in the
    mechanism, and what was rounded; it is no part of what the mechanism is.
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
    report: Report = field(default=Report(), compare=False, repr=False)

    def __repr__(self) -> str:
        parts = ("bodies", "coordinates", "parameters", "elements", "loops", "constraints", "contacts")
        facts = [f"{len(getattr(self, part))} {part}" for part in parts if getattr(self, part)]
        return f"<Mechanism {self.name}: {', '.join(facts)}>"

    def __getstate__(self) -> dict[str, object]:
        """What is stated alone: look-ups are made again where a pickle is read."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Made once: what is remembered of a mechanism is looked up thousands of times."""
        return hash(tuple(getattr(self, one.name) for one in fields(self) if one.compare))

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self.body_by_name[name]

    @cached_property
    def body_by_name(self) -> Mapping[str, Body]:
        """The bodies by their names, in the order of the model."""
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
        inputs = tuple(given.name for given in self.inputs if given.value is None)
        integrals = tuple(one.integral for one in self.quasivelocities)
        return StateLayout(tuple(positions), tuple(velocities), inputs, tuple(quaternions), integrals=integrals)

    @property
    def declared(self) -> tuple[str, ...]:
        """The positions and velocities whose initial values the model declares, in the order of the model."""
        return tuple(name for coordinate in self.coordinates for name in coordinate.declared)

    @cached_property
    def lengths(self) -> frozenset[str]:
        """The coordinates that are lengths: displacements contain them, and no rotation does."""
        used: dict[bool, set[str]] = {True: set(), False: set()}
        for transform in (one for body in self.bodies for one in body.transforms):
            used[isinstance(transform, Shift)].update(*(names(amount) for amount in amounts(transform)))
        lengths = used[True] - used[False]
        return frozenset(one.name for one in self.coordinates if isinstance(one, Coordinate) and one.name in lengths)

    @property
    def velocity_groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of the entries of v, one group for each coordinate or quaternion."""
        return tuple((c.name + "'",) if isinstance(c, Coordinate) else c.velocities for c in self.coordinates)

    @property
    def armature(self) -> tuple[Expression, ...]:
        """The inertia in each entry of v that belongs to no body."""
        groups = zip(self.coordinates, self.velocity_groups, strict=True)
        return tuple(coordinate.armature for coordinate, group in groups for _ in group)
