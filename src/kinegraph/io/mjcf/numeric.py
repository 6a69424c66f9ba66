"""Static transforms in floating point, for what has no short exact form: inertia of several geoms, starting poses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Axis, Quaternion, Rotation, Shift, Transform

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
