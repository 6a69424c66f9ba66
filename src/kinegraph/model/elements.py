"""Elements that act on bodies: springs, dampers, friction, forces, moments, potentials, limits, compliant contacts.

An element acts on a *target*: an expression of positions, an expression linear in velocities, or the distance between
two points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from kinegraph.errors import ModelError, one_of
from kinegraph.model.axes import Axes
from kinegraph.model.expressions import Expression, Name, expression, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import component

Triple: TypeAlias = tuple[Expression, Expression, Expression]

#: The name of the deformation in the force or energy of a spring, and of the rate in the force of a damper.
STRETCH = Name("stretch")
RATE = Name("rate")

#: Default rate over which dry friction is smoothed.
DEFAULT_WIDTH = expression(0.01)


@dataclass(frozen=True, slots=True)
class Input:
    """A named signal, such as a motor current. None: its value is part of the argument `u`."""

    name: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point that an element acts on: an output, the origin or a point of a body, or of the fixed frame (None).

    The position is in the body's frame and may change with time.
    """

    of: str | None
    position: Triple = (ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Span:
    """The distance between two points."""

    first: Anchor
    second: Anchor


Target: TypeAlias = Expression | Span


@dataclass(frozen=True, slots=True)
class Linear:
    """Force = coefficient times deformation (or rate). The coefficient may be negative."""

    coefficient: Expression


@dataclass(frozen=True, slots=True)
class ForceLaw:
    """The force as an expression of `stretch` (or `rate`); a positive force opposes an increase."""

    force: Expression


@dataclass(frozen=True, slots=True)
class EnergyLaw:
    """The stored energy as an expression of `stretch`; the force is its derivative."""

    energy: Expression


@dataclass(frozen=True, slots=True)
class Spring:
    """Resists the deformation: the target minus its rest value."""

    name: str
    on: Target
    law: Linear | ForceLaw | EnergyLaw
    rest: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Damper:
    """Resists the rate of the target (a target with velocities is itself a rate)."""

    name: str
    on: Target
    law: Linear | ForceLaw


@dataclass(frozen=True, slots=True)
class Friction:
    """Smoothed dry friction and viscous friction: coulomb tanh(rate/width) + viscous rate."""

    name: str
    on: Target
    coulomb: Expression
    viscous: Expression = ZERO
    width: Expression = DEFAULT_WIDTH


@dataclass(frozen=True, slots=True)
class Force:
    """A generalized force on a target; a positive value increases the target."""

    name: str
    value: Expression
    on: Target


@dataclass(frozen=True, slots=True)
class PointForce:
    """A force at a point, by its three components."""

    name: str
    at: Anchor
    components: Triple
    axes: Axes = Axes.WORLD

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", one_of(Axes, self.axes, f"force {self.name}: axes", ModelError))


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment on a body (or on the body of an output), by its three components."""

    name: str
    on: str
    components: Triple
    axes: Axes = Axes.WORLD

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", one_of(Axes, self.axes, f"moment {self.name}: axes", ModelError))


@dataclass(frozen=True, slots=True)
class Potential:
    """A potential energy, any expression of positions and time."""

    name: str
    energy: Expression


@dataclass(frozen=True, slots=True)
class Limit:
    """A one-sided spring beyond each bound (None: no bound on that side).

    With the penetration d the force is d max(0, stiffness + damping d'), as in Hunt and Crossley's contact: it starts
    at zero and never pulls.
    """

    name: str
    on: Target
    stiffness: Expression
    lower: Expression | None = None
    upper: Expression | None = None
    damping: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere about a point."""

    center: Anchor
    radius: Expression


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of the segment between two points of one body."""

    first: Anchor
    second: Anchor
    radius: Expression


@dataclass(frozen=True, slots=True)
class Plane:
    """A half-space; its normal, in the axes of the point's body, points out of the solid."""

    point: Anchor
    normal: Triple


@dataclass(frozen=True, slots=True)
class Torus:
    """All points within `radius` of a circle of radius `ring`; `normal` of its plane is in the body's axes."""

    center: Anchor
    normal: Triple
    ring: Expression
    radius: Expression


@dataclass(frozen=True, slots=True)
class Arc:
    """A part of a torus with round ends, from `half_angle` before to `half_angle` after its middle.

    middle: the direction from the center to the middle of the arc, in the body's axes; its component along the normal
    is ignored.
    """

    center: Anchor
    normal: Triple
    middle: Triple
    ring: Expression
    half_angle: Expression
    radius: Expression


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A solid cylinder with flat ends, about the segment between two points of one body."""

    first: Anchor
    second: Anchor
    radius: Expression


@dataclass(frozen=True, slots=True)
class Cone:
    """A conical hollow in a solid, such as the receptacle of a probe: spheres touch its wall from inside, and its rim.

    apex: the tip. axis: from the tip to the mouth, in the body's axes. half_angle [rad] between axis and wall.
    length [m] of the wall from the tip to the rim, along the wall.
    """

    apex: Anchor
    axis: Triple
    half_angle: Expression
    length: Expression


ContactShape: TypeAlias = Sphere | Capsule | Plane | Torus | Arc | Cylinder | Cone

#: The exponent of Hertzian contact.
HERTZ = expression(Fraction(3, 2))


@dataclass(frozen=True, slots=True)
class CompliantContact:
    """A compliant contact of two shapes, after Hunt and Crossley.

    With the penetration d, the normal force is stiffness d^exponent max(0, 1 + damping d'); it starts at zero and never
    pulls. The friction force is `friction` times the normal force, smoothed over sliding velocities of about `slip`.
    """

    name: str
    shapes: tuple[ContactShape, ContactShape]
    stiffness: Expression
    exponent: Expression = HERTZ
    damping: Expression = ZERO
    friction: Expression = ZERO
    slip: Expression = DEFAULT_WIDTH


Element: TypeAlias = Spring | Damper | Friction | Force | PointForce | Moment | Potential | Limit | CompliantContact


def anchors_of(shape: ContactShape) -> tuple[Anchor, ...]:
    """The points of a shape."""
    if isinstance(shape, Capsule | Cylinder):
        return shape.first, shape.second
    if isinstance(shape, Cone):
        return (shape.apex,)
    return (shape.point,) if isinstance(shape, Plane) else (shape.center,)


def expressions(element: Element) -> Iterator[Expression]:
    """All expressions of an element."""
    stack: list[object] = [getattr(element, name) for name in element.__slots__]
    while stack:
        item = stack.pop()
        if isinstance(item, Expression):
            yield item
        elif isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, Span | Anchor | Linear | ForceLaw | EnergyLaw | ContactShape):
            stack.extend(getattr(item, name) for name in item.__slots__)


def uses_points(element: Element) -> bool:
    """Whether an element depends on positions of points."""
    if (
        isinstance(element, CompliantContact)
        or isinstance(getattr(element, "on", None), Span)
        or hasattr(element, "at")
    ):
        return True
    return any(component(name) is not None for item in expressions(element) for name in names(item))


def mentions(element: Element, name: str) -> bool:
    """Whether an element uses a name."""
    return any(name in names(item) for item in expressions(element))


def is_steered(spring: Spring, mechanism: Mechanism) -> bool:
    """Does a spring use states, or inputs with unknown rates? Then it is a driven force without stored energy."""
    free = frozenset((*mechanism.layout.inputs, *mechanism.layout.states))
    return any(free & names(item) for item in expressions(spring))
