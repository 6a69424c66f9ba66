"""Positions and orientations of MJCF as exact transforms, and static transforms in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.io.robot.placement import AngleReader, shifts
from kinegraph.io.robot.right_angles import pi_multiple
from kinegraph.io.robot.xml import Element, Written, vector
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Call, Expression, Number
from kinegraph.model.mechanism import ZERO, Axis, Quaternion, Rotation, Shift, Transform

# Static transforms in floating point, for what has no short exact form: inertia of several geoms, starting poses.

Floats = NDArray[np.float64]

#: Entries smaller than this beside the largest are rounding, and zero in truth.
_ROUNDING = 1e-15


def pose(transforms: Iterable[Transform]) -> tuple[Floats, Floats]:
    """Rotation matrix and position at the end of static transforms."""
    rotation, position = np.eye(3), np.zeros(3)
    for transform in transforms:
        if isinstance(transform, Shift):
            position = position + rotation[:, transform.axis.value] * number(transform.distance, {})
        elif isinstance(transform, Rotation):
            rotation = rotation @ about(transform.axis.value, number(transform.angle, {}))
        else:
            rotation = rotation @ quaternion_matrix([number(item, {}) for item in transform.components])
    return rotation, position


def about(axis: int, angle: float) -> Floats:
    """The matrix of a rotation about a coordinate axis."""
    matrix = np.eye(3)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix[j, j] = matrix[k, k] = math.cos(angle)
    matrix[k, j] = math.sin(angle)
    matrix[j, k] = -matrix[k, j]
    return matrix


def quaternion_matrix(components: Sequence[float]) -> Floats:
    """The matrix of a quaternion of any length but zero, scalar part first."""
    w, x, y, z = np.array(components) / math.hypot(*components)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def quaternion_of_matrix(m: Floats) -> tuple[Number, Number, Number, Number]:
    """The quaternion of a rotation matrix, scalar part first, by the largest of its four components (Shepperd)."""
    squares = [1 + m[0, 0] + m[1, 1] + m[2, 2], *(1 + 2 * m[i, i] - np.trace(m) for i in range(3))]
    i = int(np.argmax(squares))
    if i == 0:
        found = [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    else:
        a, b, c = i - 1, i % 3, (i + 1) % 3
        found = [m[c, b] - m[b, c], 0.0, 0.0, 0.0]
        found[1 + a], found[1 + b], found[1 + c] = squares[i], m[b, a] + m[a, b], m[c, a] + m[a, c]
    e0, e1, e2, e3 = cleaned([value / math.sqrt(4 * squares[i]) for value in found])
    return e0, e1, e2, e3


def placed(position: Iterable[float], quaternion: Iterable[float]) -> tuple[Transform, ...]:
    """The transforms to a frame at a position, turned by a quaternion."""
    moves = (Shift(axis, amount) for axis, amount in zip(Axis, cleaned(position), strict=True) if amount.value)
    e0, e1, e2, e3 = cleaned(quaternion)
    turned = any(item.value for item in (e1, e2, e3))
    return (*moves, *((Quaternion((e0, e1, e2, e3)),) if turned else ()))


def cleaned(values: Iterable[Value]) -> tuple[Number, ...]:
    """Numbers with the shortest decimals of the doubles, rounding beside the largest removed; fractions stay."""
    listed = list(values)
    if not all(map(math.isfinite, listed)):
        raise ModelError("a mass, moment or position is too large to be computed", remedy="check the sizes of geoms")
    least = _ROUNDING * max((abs(float(value)) for value in listed), default=0.0)
    return tuple(Number(_cleaned(value, least)) for value in listed)


def _cleaned(value: Value, least: float) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return Fraction(repr(float(value))) if abs(value) > least else Fraction(0)


# pos, and the five ways of MJCF to state an orientation, as transforms.

#: Decimals of a number computed in double precision.
DIGITS = 15
_AXES = {"x": Axis.X, "y": Axis.Y, "z": Axis.Z}


class Orienter:
    """Reads placements by the settings of one model: the unit of angles and the sequence of Euler angles."""

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
        """The rotation an element states; none if it states none."""
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
        """Turns by Euler angles; lower case is about the axes as they are by then, upper case about those before."""
        turns: list[Rotation] = []
        for letter, amount in zip(self.sequence, written, strict=True):
            turn = Rotation(_AXES[letter.lower()], self.angle(amount, element, what))
            turns.insert(len(turns) if letter.islower() else 0, turn)
        return tuple(turn for turn in turns if turn.angle != ZERO)


def z_to(z: Sequence[Fraction], element: Element) -> tuple[Transform, ...]:
    """The shortest rotation that takes the z axis into a direction."""
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
    """The quaternion of a frame given by its x and y axes, the second made orthogonal to the first."""
    x, y = np.array(axes[:3]), np.array(axes[3:])
    if not x.any() or not np.cross(x, y).any():
        raise ModelError("xyaxes gives no frame", element.place, "write two directions that are not parallel")
    x = x / math.sqrt(x @ x)
    y = y - (x @ y) * x
    y = y / math.sqrt(y @ y)
    parts = quaternion_of_matrix(np.column_stack([x, y, np.cross(x, y)]))
    return tuple(Written(part.value, DIGITS) for part in parts)
