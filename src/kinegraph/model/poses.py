"""Numeric poses: rotation matrices, quaternions, and the pose at the end of transforms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from kinegraph.model.evaluate import Value, number
from kinegraph.model.mechanism import Rotation, Shift, Transform

Floats = npt.NDArray[np.float64]


def pose(transforms: Iterable[Transform], values: Mapping[str, Value] | None = None) -> tuple[Floats, Floats]:
    """Rotation matrix and position at the end of transforms; `values` are those of the names in them."""
    known = values or {}
    rotation, position = np.eye(3), np.zeros(3)
    for transform in transforms:
        if isinstance(transform, Shift):
            position = position + rotation[:, transform.axis.value] * number(transform.distance, known)
        elif isinstance(transform, Rotation):
            rotation = rotation @ about(transform.axis.value, number(transform.angle, known))
        else:
            rotation = rotation @ quaternion_matrix([number(item, known) for item in transform.components])
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
    """The rotation matrix of a quaternion of any nonzero length, scalar part first."""
    w, x, y, z = np.array(components) / math.hypot(*components)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def quaternion_of_matrix(m: Floats) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation matrix, scalar part first, by its largest component (Shepperd)."""
    squares = [1 + m[0, 0] + m[1, 1] + m[2, 2], *(1 + 2 * m[i, i] - np.trace(m) for i in range(3))]
    i = int(np.argmax(squares))
    if i == 0:
        found = [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    else:
        a, b, c = i - 1, i % 3, (i + 1) % 3
        found = [m[c, b] - m[b, c], 0.0, 0.0, 0.0]
        found[1 + a], found[1 + b], found[1 + c] = squares[i], m[b, a] + m[a, b], m[c, a] + m[a, c]
    e0, e1, e2, e3 = (float(value / math.sqrt(4 * squares[i])) for value in found)
    return e0, e1, e2, e3


def rational_quaternion(turn: Sequence[Sequence[Fraction]]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The quaternion of a rotation matrix, not normalized, so that it stays rational (Shepperd)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = turn
    choices = (
        (1 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx),
        (xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy),
        (yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz),
    )
    chosen = max(range(4), key=lambda k: choices[k][k])
    e0, e1, e2, e3 = choices[chosen]
    size = abs(choices[chosen][chosen])
    return e0 / size, e1 / size, e2 / size, e3 / size
