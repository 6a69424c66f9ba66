"""Build a mechanism in Python, with all features of the model language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np

from kinegraph.errors import ModelError, one_of
from kinegraph.model.constraints import (
    AnyLoop,
    Constraint,
    Contact,
    Coupling,
    Cut,
    Frame,
    Joint,
    JointType,
    Loop,
    Unknown,
)
from kinegraph.model.definitions import Definition, QuasiVelocity, resolved
from kinegraph.model.element_builder import ElementBuilder
from kinegraph.model.expressions import Expression, Name, Number, Scalar, expression
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    FirstOrderState,
    ImpactLaw,
    ImpactOrder,
    Impacts,
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
from kinegraph.model.platforms.initial_pose import fitted
from kinegraph.model.platforms.leg_table import Drive, LegKind, LegRow, LegType, Screw, leg_type, with_legs
from kinegraph.model.robot_data import FORMS, Shape, ShapeKind
from kinegraph.model.tables import Interpolation, Outside, Table, checked
from kinegraph.model.validation.mechanism import validate

#: A frame in Python: `frame(body, transforms...)`, or a body or its name, or None for the fixed frame.
FrameLike: TypeAlias = Frame | Body | str | None


def frame(body: Body | str | None, *transforms: Transform) -> Frame:
    """A frame on a body (on the fixed frame if body is None), given by transforms from the body's frame."""
    return Frame(body.name if isinstance(body, Body) else body, transforms)


class ConstraintBuilder:
    """Collects loops, constraints, contacts, unknown forces and definitions."""

    def __init__(self) -> None:
        self._definitions: list[Definition] = []
        self._quasivelocities: list[QuasiVelocity] = []
        self._loops: list[AnyLoop] = []
        self._constraints: list[Constraint] = []
        self._contacts: list[Contact] = []
        self._impacts = Impacts()
        self._unknowns: list[Unknown] = []
        self._cuts: list[Cut] = []

    def define(self, name: str, value: Scalar) -> Name:
        """Define a name for an expression."""
        self._definitions.append(Definition(name, expression(value)))
        return Name(name)

    def quasivelocity(self, name: str, value: Scalar) -> Name:
        """Define a name for a linear form of velocities; its integral is an output of every simulation."""
        self._quasivelocities.append(QuasiVelocity(name, expression(value)))
        return Name(name)

    def unknown(self, name: str) -> Name:
        """Declare an unknown force or moment, to be found from the motion."""
        self._unknowns.append(Unknown(name))
        return Name(name)

    def loop(
        self,
        name: str,
        joint: JointType | str,
        first: FrameLike,
        second: FrameLike,
        *,
        axes: Sequence[Axis | str] = (),
        length: Scalar | None = None,
    ) -> Loop:
        """Close a loop by a joint between two frames. `axes` are `x`, `y` or `z` of both frames (for a universal joint,
        an axis of the first and an axis of the second); `length` is that of a `distance`."""
        kind = one_of(JointType, joint, f"joint of the loop {name}", ModelError)
        usual = kind.fixes.axes
        chosen = tuple(one_of(Axis, axis, f"axis of the loop {name}", ModelError) for axis in axes) or usual
        if len(chosen) != len(usual):
            raise ModelError(f"a {kind.value} joint takes {len(usual)} axes, found {len(chosen)}")
        if kind.fixes.relation or (length is None) is bool(kind.fixes.amounts):
            remedy = (
                f"use coupling(...) for a {kind.value}" if kind.fixes.relation else "give `length` to a `distance` only"
            )
            raise ModelError(f"the arguments of the loop {name} do not fit a {kind.value} joint", remedy=remedy)
        closing = Joint(kind, chosen, None if length is None else expression(length))
        loop = Loop(name, closing, _frame(first), _frame(second))
        self._loops.append(loop)
        return loop

    def coupling(
        self, name: str, first: Name | str, second: Name | str, ratio: Scalar, offset: Scalar = 0, rack: bool = False
    ) -> Coupling:
        """A gear between two coordinates, first = ratio * second + offset; with `rack` the first translates."""
        kind = JointType.RACK if rack else JointType.GEAR
        ends = [one.text if isinstance(one, Name) else one for one in (first, second)]
        coupling = Coupling(name, kind, ends[0], ends[1], expression(ratio), expression(offset))
        self._loops.append(coupling)
        return coupling

    def constraint(self, name: str, left: Scalar, right: Scalar = ZERO) -> Constraint:
        """A constraint left = right, of positions and time, or linear in the velocities."""
        constraint = Constraint(name, expression(left), expression(right))
        self._constraints.append(constraint)
        return constraint

    def contact(
        self, name: str, gap: Scalar, *, restitution: Scalar = 0, friction: Scalar = 0, slip: Sequence[Scalar] = ()
    ) -> Contact:
        """A rigid contact: the gap never becomes negative; friction opposes the one or two velocities `slip`."""
        slip_velocities = tuple(expression(item) for item in slip)
        contact = Contact(name, expression(gap), expression(restitution), expression(friction), slip_velocities)
        self._contacts.append(contact)
        return contact

    def impacts(
        self, law: ImpactLaw | str = ImpactLaw.NEWTON, order: ImpactOrder | str = ImpactOrder.SIMULTANEOUS
    ) -> None:
        """The impact model: restitution by `newton` or `poisson`; `simultaneous` or `sequential` impacts."""
        self._impacts = Impacts(
            one_of(ImpactLaw, law, "impact law", ModelError),
            one_of(ImpactOrder, order, "impact order", ModelError),
        )

    def cut(self, *joints: str | Loop | Body) -> None:
        """Cut loops at these joints: the joint of a loop, or of a body on its base."""
        self._cuts.extend(Cut(joint if isinstance(joint, str) else joint.name) for joint in joints)


def _frame(given: FrameLike) -> Frame:
    return given if isinstance(given, Frame) else frame(given)


def leg(
    name: str,
    base: Sequence[Scalar],
    platform: Sequence[Scalar],
    base_turns: Iterable[Transform] = (),
    platform_turns: Iterable[Transform] = (),
    on: Body | str | None = None,
) -> LegRow:
    """One row of a leg table: the positions of the joints on the base and on the platform, each in its own axes.

    The turns rotate the axes of base and platform into those of the joints. `on` is the body that carries the leg; the
    default is the fixed frame.
    """
    body = on.name if isinstance(on, Body) else on
    return LegRow(name, (*_shifts(base), *base_turns), (*_shifts(platform), *platform_turns), body)


def screw(lead: Scalar, inertia: Scalar = 0, efficiency: Scalar = 1, back_driving: Scalar = 1) -> Screw:
    """A ball screw between motor and leg."""
    return Screw(expression(lead), expression(inertia), expression(efficiency), expression(back_driving))


def drive(
    damping: Scalar = 0,
    stiffness: Scalar = 0,
    rest: Scalar = 0,
    coulomb: Scalar = 0,
    powered: bool = False,
    limit: Scalar | None = None,
    screw: Screw | None = None,
    stroke: tuple[Scalar, Scalar] | None = None,
    stop: Scalar = 0,
    effort: Scalar = 0,
) -> Drive:
    """The forces in the driven joint of each leg of a table; see `Drive`."""
    ends = (None, None) if stroke is None else (expression(stroke[0]), expression(stroke[1]))
    return Drive(
        damping=expression(damping),
        stiffness=expression(stiffness),
        rest=expression(rest),
        coulomb=expression(coulomb),
        powered=powered,
        effort=expression(effort),
        limit=None if limit is None else expression(limit),
        screw=screw,
        shortest=ends[0],
        longest=ends[1],
        stop=expression(stop),
    )


class PlatformBuilder:
    """Collects leg tables."""

    def __init__(self) -> None:
        self._legs: list[tuple[LegKind, tuple[LegRow, ...]]] = []

    def platform(
        self,
        type: LegType | str,
        platform: Body | str,
        legs: Iterable[LegRow],
        first: Inertia | None = None,
        second: Inertia | None = None,
        crank: Scalar | None = None,
        rod: Scalar | None = None,
        drive: Drive | None = None,
    ) -> tuple[LegRow, ...]:
        """Put a platform on legs of one type; `first` and `second` are the inertias of their two parts, `crank` and
        `rod` the lengths of legs RUS and RSU. Several tables may carry one platform."""
        kind = LegKind(
            type if isinstance(type, LegType) else leg_type(type),
            platform.name if isinstance(platform, Body) else platform,
            first or Inertia(),
            second or Inertia(),
            tuple(expression(one) for one in (crank, rod) if one is not None),
            drive or Drive(),
        )
        rows = tuple(legs)
        self._legs.append((kind, rows))
        return rows


def _shifts(place: Sequence[Scalar]) -> tuple[Transform, ...]:
    amounts = zip(Axis, map(expression, place), strict=True)
    return tuple(Shift(axis, amount) for axis, amount in amounts if amount != expression(0))


T = TypeVar("T")


def Rx(angle: Scalar) -> Rotation:
    """Rotate about the current x axis."""
    return Rotation(Axis.X, expression(angle))


def Ry(angle: Scalar) -> Rotation:
    """Rotate about the current y axis."""
    return Rotation(Axis.Y, expression(angle))


def Rz(angle: Scalar) -> Rotation:
    """Rotate about the current z axis."""
    return Rotation(Axis.Z, expression(angle))


def Sx(distance: Scalar) -> Shift:
    """Translate along the current x axis."""
    return Shift(Axis.X, expression(distance))


def Sy(distance: Scalar) -> Shift:
    """Translate along the current y axis."""
    return Shift(Axis.Y, expression(distance))


def Sz(distance: Scalar) -> Shift:
    """Translate along the current z axis."""
    return Shift(Axis.Z, expression(distance))


def Q(e0: Scalar, e1: Scalar, e2: Scalar, e3: Scalar) -> Quaternion:
    """Rotate by a quaternion, scalar part first: four constants, or the four names of a declared quaternion."""
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
    """Mass and central moments; `at` are the transforms from the link frame to the central frame.

    `accepted=True` allows moments that no real body has.
    """
    return Inertia(
        expression(mass),
        *(expression(Jx), expression(Jy), expression(Jz)),
        *(expression(Jxy), expression(Jyz), expression(Jxz)),
        central=tuple(at),
        accepted=accepted,
    )


class Builder(ElementBuilder, ConstraintBuilder, PlatformBuilder):
    """Collects the parts of a mechanism; `build` validates and returns it."""

    def __init__(self, name: str = "mechanism", gravity: Sequence[Scalar] = (0, 0, 0)) -> None:
        ElementBuilder.__init__(self)
        ConstraintBuilder.__init__(self)
        PlatformBuilder.__init__(self)
        self.name = name
        self._gravity = _expressions(gravity, 3, "gravity")
        self._parameters: list[Parameter] = []
        self._coordinates: list[Coordinate | QuaternionCoordinates] = []
        self._states: list[FirstOrderState] = []
        self._tables: list[Table] = []
        self._bodies: list[Body] = []
        self._points: list[Point] = []
        self._shapes: list[Shape] = []

    def parameter(self, name: str, value: Scalar | None = None) -> Name:
        """Declare a parameter. Without a value, it needs one before anything is evaluated."""
        self._parameters.append(Parameter(name, None if value is None else expression(value)))
        return Name(name)

    def coordinate(
        self, name: str, position: Scalar | None = None, velocity: Scalar | None = None, armature: Scalar = 0
    ) -> Name:
        """Declare a generalized coordinate with its initial position and velocity, and its armature.

        Values that are not given are zero, and may change when loops are assembled.
        """
        start, rate = (ZERO if one is None else expression(one) for one in (position, velocity))
        zeros = position is not None and start == ZERO, velocity is not None and rate == ZERO
        self._coordinates.append(Coordinate(name, start, rate, expression(armature), zeros))
        return Name(name)

    def state(self, name: str, rate: Scalar, initial: Scalar = 0) -> Name:
        """Declare a first-order state with its rate and initial value, such as the current of a motor.

        A rate that contains the state itself uses its name: `state("i", (U - R*Name("i"))/L)`.
        """
        self._states.append(FirstOrderState(name, expression(rate), expression(initial)))
        return Name(name)

    def table(
        self,
        name: str,
        x: Sequence[float | Fraction],
        y: Sequence[float | Fraction] | Sequence[Sequence[float | Fraction]],
        *across: Sequence[float | Fraction],
        interpolation: Interpolation | str = Interpolation.LINEAR,
        outside: Outside | str = Outside.REFUSE,
    ) -> Table:
        """Declare a table: values `y` at the arguments `x`. Call it to use it: `torque(Name("w'"))`.

        With two arguments: `table(name, x, values, y)`, a row of values for each x. `interpolation` is linear, spline
        or monotone; `outside` its points: refuse (not a number), hold, extrapolate or periodic.
        """
        table = Table(
            name,
            tuple(_numbers(axis, name) for axis in (x, *across)),
            tuple(_numbers(np.ravel(np.asarray(y, dtype=object)), name)),
            one_of(Interpolation, interpolation, f"interpolation of the table {name}", ModelError),
            one_of(Outside, outside, f"value outside the table {name}", ModelError),
        )
        checked(table)
        self._tables.append(table)
        return table

    def quaternion(
        self,
        names: Sequence[str],
        velocities: Sequence[str],
        position: Sequence[Scalar] = (1, 0, 0, 0),
        velocity: Sequence[Scalar] = (0, 0, 0),
        armature: Scalar = 0,
    ) -> Quaternion:
        """Declare four coordinates of unit norm with three angular velocities; returns the transform Q.

        `armature` is the inertia of the joint itself, the same about all axes.
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
        """Add a body. Without a base it is on the fixed frame; without inertia it is massless."""
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
        """Add an output point, fixed in the body's link frame (in the fixed frame if body is None).

        `orientation` rotates the axes of that frame into the axes of the point, those of `pose:NAME`.
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
        color: Sequence[float] | None = None,
    ) -> Shape:
        """Add a shape for drawings: a `box`, `sphere`, `cylinder`, `capsule` or `ellipsoid` on a body or on the fixed
        frame. `at` are the transforms to the shape. The color is red, green, blue, and optionally opacity."""
        form = one_of(ShapeKind, kind, "shape", ModelError)
        count = len(FORMS.get(form, ()))
        found = _expressions(sizes, count, f"a {form.value}")
        paint = None
        if color is not None:
            red, green, blue, *opacity = color
            paint = (red, green, blue, opacity[0] if opacity else 1.0)
        shape = Shape(form, body.name if isinstance(body, Body) else body, found, tuple(at), color=paint)
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
            states=tuple(self._states),
            tables=tuple(self._tables),
        )
        mechanism = resolved(with_legs(mechanism, tuple(self._legs)))
        validate(mechanism)
        return fitted(mechanism)


def _numbers(values: Iterable[float | Fraction], table: str) -> tuple[Fraction, ...]:
    found = [expression(value, f"an entry of the table {table}") for value in values]
    if not all(isinstance(one, Number) for one in found):
        raise ModelError(f"the table {table} has entries that are not numbers", remedy="write numbers")
    return tuple(one.value for one in found if isinstance(one, Number))


def _expressions(values: Sequence[Scalar], count: int, what: str) -> tuple[Expression, ...]:
    return _expect(tuple(expression(value) for value in values), count, what)


def _expect(values: tuple[T, ...], count: int, what: str) -> tuple[T, ...]:
    if len(values) != count:
        raise ModelError(f"{what}: expected {count} entries, found {len(values)}")
    return values
