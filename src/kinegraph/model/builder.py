"""Mechanisms written in Python, with the same power as the model language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from kinegraph.errors import ModelError
from kinegraph.model.constraints.builder import ConstraintBuilder
from kinegraph.model.definitions import resolved
from kinegraph.model.element_builder import ElementBuilder
from kinegraph.model.expression import Expression, Name, Scalar, expression
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Point,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.platforms.builder import PlatformBuilder
from kinegraph.model.platforms.expand import with_legs
from kinegraph.model.platforms.start import fitted
from kinegraph.model.robot.data import FORMS, Shape, ShapeKind
from kinegraph.model.validation.mechanism import validate

T = TypeVar("T")


def Rx(angle: Scalar) -> Rotation:
    """Turn about the current x axis."""
    return Rotation(Axis.X, expression(angle))


def Ry(angle: Scalar) -> Rotation:
    """Turn about the current y axis."""
    return Rotation(Axis.Y, expression(angle))


def Rz(angle: Scalar) -> Rotation:
    """Turn about the current z axis."""
    return Rotation(Axis.Z, expression(angle))


def Sx(distance: Scalar) -> Shift:
    """Move along the current x axis."""
    return Shift(Axis.X, expression(distance))


def Sy(distance: Scalar) -> Shift:
    """Move along the current y axis."""
    return Shift(Axis.Y, expression(distance))


def Sz(distance: Scalar) -> Shift:
    """Move along the current z axis."""
    return Shift(Axis.Z, expression(distance))


def Q(e0: Scalar, e1: Scalar, e2: Scalar, e3: Scalar) -> Quaternion:
    """Turn by a quaternion, scalar part first: four constants, or the four names of one declared quaternion."""
    return Quaternion((expression(e0), expression(e1), expression(e2), expression(e3)))


def inertia(
    mass: Scalar = 0,
    Jx: Scalar = 0,
    Jy: Scalar = 0,
    Jz: Scalar = 0,
    Jxy: Scalar = 0,
    Jyz: Scalar = 0,
    Jxz: Scalar = 0,
    at: Iterable[Transform] = (),
    accepted: bool = False,
) -> Inertia:
    """Mass and central moments; `at` leads from the link frame to the central frame.

    `accepted=True` takes moments that break the triangle inequality as they are stated.
    """
    return Inertia(
        expression(mass),
        *(expression(Jx), expression(Jy), expression(Jz)),
        *(expression(Jxy), expression(Jyz), expression(Jxz)),
        central=tuple(at),
        accepted=accepted,
    )


class Builder(ElementBuilder, ConstraintBuilder, PlatformBuilder):
    """Collects the pieces of a mechanism; `build` checks them and returns it."""

    def __init__(self, name: str = "mechanism", gravity: Sequence[Scalar] = (0, 0, 0)) -> None:
        ElementBuilder.__init__(self)
        ConstraintBuilder.__init__(self)
        PlatformBuilder.__init__(self)
        self.name = name
        self._gravity = _expressions(gravity, 3, "gravity")
        self._parameters: list[Parameter] = []
        self._coordinates: list[Coordinate | QuaternionCoordinates] = []
        self._bodies: list[Body] = []
        self._points: list[Point] = []
        self._shapes: list[Shape] = []

    def parameter(self, name: str, value: Scalar | None = None) -> Name:
        """Declare a parameter; without a value, one must be given before numbers are asked."""
        self._parameters.append(Parameter(name, None if value is None else expression(value)))
        return Name(name)

    def coordinate(
        self, name: str, position: Scalar | None = None, velocity: Scalar | None = None, armature: Scalar = 0
    ) -> Name:
        """Declare a generalized coordinate with its initial position and velocity, and inertia of its own.

        What is not given is zero, and is free to move where loops have to be closed.
        """
        start, rate = (ZERO if one is None else expression(one) for one in (position, velocity))
        zeros = position is not None and start == ZERO, velocity is not None and rate == ZERO
        self._coordinates.append(Coordinate(name, start, rate, expression(armature), zeros))
        return Name(name)

    def quaternion(
        self,
        names: Sequence[str],
        velocities: Sequence[str],
        position: Sequence[Scalar] = (1, 0, 0, 0),
        velocity: Sequence[Scalar] = (0, 0, 0),
        armature: Scalar = 0,
    ) -> Quaternion:
        """Declare four coordinates of unit norm with three angular velocities; returns the transform Q of it.

        `armature` is inertia of the joint itself, the same about all axes.
        """
        e0, e1, e2, e3 = _expect(tuple(names), 4, "the names of a quaternion")
        wx, wy, wz = _expect(tuple(velocities), 3, "the velocities of a quaternion")
        p0, p1, p2, p3 = _expressions(position, 4, "the initial position of a quaternion")
        vx, vy, vz = _expressions(velocity, 3, "the initial velocity of a quaternion")
        start = (p0, p1, p2, p3), (vx, vy, vz)
        group = QuaternionCoordinates((e0, e1, e2, e3), (wx, wy, wz), *start, expression(armature))
        self._coordinates.append(group)
        return Q(e0, e1, e2, e3)

    def body(
        self,
        name: str,
        base: Body | str | None = None,
        transforms: Iterable[Transform] = (),
        inertia: Inertia | None = None,
    ) -> Body:
        """Add a body; no base means the fixed frame, no inertia a massless body."""
        body = Body(name, base.name if isinstance(base, Body) else base, tuple(transforms), inertia or Inertia())
        self._bodies.append(body)
        return body

    def point(
        self,
        name: str,
        body: Body | str | None,
        position: Sequence[Scalar] = (0, 0, 0),
        orientation: Iterable[Rotation | Quaternion] = (),
    ) -> Point:
        """Add a point of interest, fixed in the body's link frame (the fixed frame if body is None).

        The rotations of `orientation` turn the axes of that frame into the point's own, those of `pose:NAME`.
        """
        x, y, z = _expressions(position, 3, f"the position of {name}")
        point = Point(name, body.name if isinstance(body, Body) else body, (x, y, z), tuple(orientation))
        self._points.append(point)
        return point

    def shape(
        self,
        body: Body | str | None,
        kind: ShapeKind | str,
        sizes: Sequence[Scalar],
        at: Iterable[Transform] = (),
        colour: Sequence[float] | None = None,
    ) -> Shape:
        """Add a shape to be drawn: a `box`, `sphere`, `cylinder`, `capsule` or `ellipsoid` on a body, or on the fixed
        frame; `at` leads from the body's frame to the shape's. Colour is red, green, blue and perhaps opacity."""
        form = ShapeKind(kind)
        count = len(FORMS.get(form, ()))
        found = _expressions(sizes, count, f"a {form.value}")
        paint = None
        if colour is not None:
            red, green, blue, *opacity = colour
            paint = (red, green, blue, opacity[0] if opacity else 1.0)
        shape = Shape(form, body.name if isinstance(body, Body) else body, found, tuple(at), colour=paint)
        self._shapes.append(shape)
        return shape

    def build(self) -> Mechanism:
        """The mechanism, validated."""
        x, y, z = self._gravity
        mechanism = Mechanism(
            self.name,
            tuple(self._bodies),
            tuple(self._coordinates),
            tuple(self._parameters),
            (x, y, z),
            tuple(self._points),
            tuple(self._shapes),
            elements=tuple(self._elements),
            inputs=tuple(self._inputs),
            definitions=tuple(self._definitions),
            quasivelocities=tuple(self._quasivelocities),
            loops=tuple(self._loops),
            constraints=tuple(self._constraints),
            contacts=tuple(self._contacts),
            impacts=self._impacts,
            unknowns=tuple(self._unknowns),
            cuts=tuple(self._cuts),
        )
        mechanism = resolved(with_legs(mechanism, tuple(self._legs)))
        validate(mechanism)
        return fitted(mechanism)


def _expressions(values: Sequence[Scalar], count: int, what: str) -> tuple[Expression, ...]:
    return _expect(tuple(expression(value) for value in values), count, what)


def _expect(values: tuple[T, ...], count: int, what: str) -> tuple[T, ...]:
    if len(values) != count:
        raise ModelError(f"{what} takes {count} entries, found {len(values)}")
    return values
