"""Principal axes (K1): bodies with products of inertia, and their principal moments.

Numeric, for an eigenvalue problem has no short exact solution; parameters take the model's values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expression import PI, names
from kinegraph.model.mechanism import ZERO, Body, Mechanism

Vector3 = tuple[float, float, float]
_MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """A body's principal moments, and their axes as unit vectors in the central frame of the model.

    Each axis is listed at the place of the model's axis it is nearest to; together they are right-handed.
    `quaternion` turns the central frame into them, scalar part first.
    """

    body: str
    moments: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    quaternion: tuple[float, float, float, float]


def report(mechanism: Mechanism) -> tuple[PrincipalAxes, ...]:
    """The principal axes of every body that has products of inertia and whose moments have values."""
    values = known_parameter_values(mechanism)
    found = (_principal(body, values) for body in mechanism.bodies if _has_products(body, values))
    return tuple(found)


def _has_products(body: Body, values: Mapping[str, Value]) -> bool:
    inertia = body.inertia
    if all(product == ZERO for product in (inertia.Jxy, inertia.Jyz, inertia.Jxz)):
        return False
    known = {*values, PI}
    if not all(names(getattr(inertia, moment)) <= known for moment in _MOMENTS):
        return False
    return any(number(product, values) != 0 for product in (inertia.Jxy, inertia.Jyz, inertia.Jxz))


def _principal(body: Body, values: Mapping[str, Value]) -> PrincipalAxes:
    jx, jy, jz, jxy, jyz, jxz = (number(getattr(body.inertia, moment), values) for moment in _MOMENTS)
    tensor = np.array([[jx, -jxy, -jxz], [-jxy, jy, -jyz], [-jxz, -jyz, jz]])
    moments, columns = np.linalg.eigh(tensor)
    order = max(permutations(range(3)), key=lambda choice: float(np.abs(np.diag(columns[:, choice])).sum()))
    matrix = _right_handed(columns[:, order])
    x, y, z = (_triple(column) for column in matrix.T)
    return PrincipalAxes(body.name, _triple(moments[list(order)]), (x, y, z), _quaternion(matrix))


def _right_handed(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every axis along, not against, the axis it is nearest to; the least certain one is turned if it must be."""
    signs = np.where(np.diag(columns) < 0, -1.0, 1.0)
    matrix = columns * signs
    if np.linalg.det(matrix) < 0:
        matrix[:, int(np.argmin(np.abs(np.diag(matrix))))] *= -1
    return matrix


def _quaternion(matrix: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation matrix: the eigenvector of Davenport's matrix, good for every angle."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    davenport = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    vector = np.linalg.eigh(davenport)[1][:, -1]
    vector = vector if vector[0] >= 0 else -vector
    e0, e1, e2, e3 = (float(part) for part in vector)
    return e0, e1, e2, e3


def _triple(values: NDArray[np.float64]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z
