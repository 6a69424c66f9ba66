"""What acts on the bodies beside gravity: springs, dampers, friction, forces, moments, potentials, limits, inputs.

Every element works on a *target*: an expression of the positions (its deformation), an expression linear in the
velocities, or the distance of two points. Through it the element contributes to the equations of motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from kinegraph.errors import ModelError, one_of
from kinegraph.model.axes import Axes
from kinegraph.model.expressions import Expression, Name, expression, names
from kinegraph.model.mechanism import ZERO
from kinegraph.model.names import component

Triple: TypeAlias = tuple[Expression, Expression, Expression]

#: The name of the deformation in the law of a spring, and of the rate in the law of a damper.
STRETCH = Name("stretch")
RATE = Name("rate")

#: How sharp friction changes its direction unless the model says so.
DEFAULT_WIDTH = expression(0.01)


@dataclass(frozen=True, slots=True)
class Input:
    """A named signal from outside, such as a motor's current. None: its value arrives as the argument `u`."""

    name: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point elements act on: an output or a body's origin by name, a point of a body, or of the fixed frame (None).

    The position is in the body's frame and may change with time.
    """

    of: str | None
    position: Triple = (ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Span:
    """The distance of two points."""

    first: Anchor
    second: Anchor


Target: TypeAlias = Expression | Span


@dataclass(frozen=True, slots=True)
class Linear:
    """Force = coefficient times deformation (or rate). A negative coefficient is taken as it stands."""

    coefficient: Expression


@dataclass(frozen=True, slots=True)
class ForceLaw:
    """The force as an expression of `stretch` (or `rate`), against growth where it is positive."""

    force: Expression


@dataclass(frozen=True, slots=True)
class EnergyLaw:
    """The energy stored, as an expression of `stretch`; the force is its derivative."""

    energy: Expression


@dataclass(frozen=True, slots=True)
class Spring:
    """Resists the deformation: target less rest value."""

    name: str
    on: Target
    law: Linear | ForceLaw | EnergyLaw
    rest: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Damper:
    """Resists the rate of the target (a target with velocities is a rate already)."""

    name: str
    on: Target
    law: Linear | ForceLaw


@dataclass(frozen=True, slots=True)
class Friction:
    """Dry friction smoothed over rates of the size of `width`, and viscous: coulomb tanh(rate/width) + viscous rate."""

    name: str
    on: Target
    coulomb: Expression
    viscous: Expression = ZERO
    width: Expression = DEFAULT_WIDTH


@dataclass(frozen=True, slots=True)
class Force:
    """A value that works on a target: positive where it makes the target grow."""

    name: str
    value: Expression
    on: Target


@dataclass(frozen=True, slots=True)
class PointForce:
    """A force on a point, by its three components."""

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
    """Any potential energy of the positions and time."""

    name: str
    energy: Expression


@dataclass(frozen=True, slots=True)
class Limit:
    """A one-sided spring beyond each bound (None: no bound on that side).

    With the penetration d the force is d max(0, stiffness + damping d'): it begins at zero, never pulls, and damps
    like Hunt and Crossley's contact.
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

    centre: Anchor
    radius: Expression


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of the segment between two points of one body: a rod, a pin, the edge of a guide."""

    first: Anchor
    second: Anchor
    radius: Expression


@dataclass(frozen=True, slots=True)
class Plane:
    """A half-space: its normal points out of the material. It is in the axes of the point's body."""

    point: Anchor
    normal: Triple


@dataclass(frozen=True, slots=True)
class Torus:
    """A ring: all points within `radius` of a circle of radius `ring`; the normal of its plane in the body's axes."""

    centre: Anchor
    normal: Triple
    ring: Expression
    radius: Expression


@dataclass(frozen=True, slots=True)
class Arc:
    """A part of a ring with round ends: as a torus, from `half_angle` before to `half_angle` after its middle.

    middle: the direction from the centre to the middle of the arc, in the body's axes; what of it lies along the normal
    does not count.
    """

    centre: Anchor
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


ContactShape: TypeAlias = Sphere | Capsule | Plane | Torus | Arc | Cylinder

#: The exponent of Hertz' contact of round bodies.
HERTZ = expression(Fraction(3, 2))


@dataclass(frozen=True, slots=True)
class CompliantContact:
    """Two shapes that push each other apart where they overlap, after Hunt and Crossley.

    With the depth d: force = stiffness d^exponent max(0, 1 + damping d'), friction times that force against sliding,
    smoothed over velocities of the size of `slip`. It begins at zero and never pulls.
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
    """The points a shape hangs on."""
    if isinstance(shape, Capsule | Cylinder):
        return shape.first, shape.second
    return (shape.point,) if isinstance(shape, Plane) else (shape.centre,)


def expressions(element: Element) -> Iterator[Expression]:
    """Every expression of an element."""
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
    """Whether an element depends on where points of bodies are."""
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
