"""Positions and orientations of MJCF as exact transforms, and static transforms in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.robot.placement import AngleReader, shifts
from kinegraph.io.robot.right_angles import pi_multiple
from kinegraph.io.robot.xml import Element, Written, vector
from kinegraph.model.evaluate import Value
from kinegraph.model.expressions import Call, Expression, Number
from kinegraph.model.mechanism import ZERO, Axis, Quaternion, Rotation, Shift, Transform
from kinegraph.model.poses import Floats, quaternion_of_matrix

#: Entries smaller than this relative to the largest are rounding errors.
_ROUNDING = 1e-15


def exact_quaternion(matrix: Floats) -> tuple[Number, Number, Number, Number]:
    """The quaternion of a rotation matrix as numbers, scalar part first."""
    e0, e1, e2, e3 = cleaned(quaternion_of_matrix(matrix))
    return e0, e1, e2, e3


def placed(position: Iterable[float], quaternion: Iterable[float]) -> tuple[Transform, ...]:
    """The transforms to a frame at a position, rotated by a quaternion."""
    moves = (Shift(axis, amount) for axis, amount in zip(Axis, cleaned(position), strict=True) if amount.value)
    e0, e1, e2, e3 = cleaned(quaternion)
    turned = any(item.value for item in (e1, e2, e3))
    return (*moves, *((Quaternion((e0, e1, e2, e3)),) if turned else ()))


def cleaned(values: Iterable[Value]) -> tuple[Number, ...]:
    """Doubles as their shortest decimals, without rounding errors relative to the largest; fractions are unchanged."""
    listed = list(values)
    if not all(map(math.isfinite, listed)):
        raise ModelError("a mass, moment or position is not finite", remedy="check the sizes of geoms")
    least = _ROUNDING * max((abs(float(value)) for value in listed), default=0.0)
    return tuple(Number(_cleaned(value, least)) for value in listed)


def _cleaned(value: Value, least: float) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return Fraction(repr(float(value))) if abs(value) > least else Fraction(0)


#: Decimals of a number computed in double precision.
DIGITS = 15
_AXES = {"x": Axis.X, "y": Axis.Y, "z": Axis.Z}


class Orienter:
    """Reads positions and orientations with the settings of one model: angle unit, sequence of Euler angles."""

    def __init__(self, angle_reader: AngleReader, degrees: bool, sequence: str) -> None:
        self.angle_reader = angle_reader
        self.degrees = degrees
        self.sequence = sequence

    def place(self, element: Element, what: str) -> tuple[Transform, ...]:
        """pos, then the orientation, of a body, geom, site, frame or inertial."""
        pos = vector(element, "pos", 3)
        return (*(shifts([item.value for item in pos]) if pos else ()), *self.orientation(element, what))

    def angle(self, written: Written, element: Element, what: str) -> Expression:
        """An angle in the model's unit; degrees are exact multiples of pi."""
        if self.degrees:
            return pi_multiple(written.value / 180)
        return self.angle_reader.angle(written, what, element.place)

    def orientation(self, element: Element, what: str) -> tuple[Transform, ...]:
        """The rotation of an element; empty if it gives none."""
        if quat := vector(element, "quat", 4):
            return self.angle_reader.quaternion(quat, what, element.place)
        if euler := vector(element, "euler", 3):
            return self.euler(euler, element, what)
        if turned := vector(element, "axisangle", 4):
            direction = self.angle_reader.direction(turned[:3], element, what)
            angle = self.angle(turned[3], element, what)
            return direction.rotation(angle) if angle != ZERO else ()
        if axes := vector(element, "xyaxes", 6):
            parts = _xy_axes([float(item.value) for item in axes], element)
            return self.angle_reader.quaternion(parts, what, element.place)
        if zaxis := vector(element, "zaxis", 3):
            return z_to([item.value for item in zaxis], element)
        return ()

    def euler(self, written: Sequence[Written], element: Element, what: str) -> tuple[Transform, ...]:
        """Rotations by Euler angles; lower case is intrinsic, upper case extrinsic."""
        turns: list[Rotation] = []
        for letter, amount in zip(self.sequence, written, strict=True):
            turn = Rotation(_AXES[letter.lower()], self.angle(amount, element, what))
            turns.insert(len(turns) if letter.islower() else 0, turn)
        return tuple(turn for turn in turns if turn.angle != ZERO)


def z_to(z: Sequence[Fraction], element: Element) -> tuple[Transform, ...]:
    """The shortest rotation of the z axis into a direction."""
    x, y, along = z
    if not any(z):
        raise ModelError("the direction is zero", element.place, "write e.g. 0 0 1")
    if not x and not y:
        return () if along > 0 else (Rotation(Axis.X, pi_multiple(Fraction(1))),)
    if not along and not x:
        return (Rotation(Axis.X, pi_multiple(Fraction(-1 if y > 0 else 1, 2))),)
    if not along and not y:
        return (Rotation(Axis.Y, pi_multiple(Fraction(1 if x > 0 else -1, 2))),)
    length = Call("sqrt", (Number(x * x + y * y + along * along),))
    scalar: Expression = length + Number(along) if along else length
    return (Quaternion((scalar, Number(-y), Number(x), ZERO)),)


def _xy_axes(axes: Sequence[float], element: Element) -> tuple[Written, ...]:
    """The quaternion of a frame given by its x and y axes; y is made orthogonal to x."""
    x, y = np.array(axes[:3]), np.array(axes[3:])
    if not x.any() or not np.cross(x, y).any():
        raise ModelError("xyaxes does not define a frame", element.place, "write two directions that are not parallel")
    x = x / math.sqrt(x @ x)
    y = y - (x @ y) * x
    y = y / math.sqrt(y @ y)
    parts = exact_quaternion(np.column_stack([x, y, np.cross(x, y)]))
    return tuple(Written(part.value, DIGITS) for part in parts)
