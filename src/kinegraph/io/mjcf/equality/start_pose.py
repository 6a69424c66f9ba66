"""Where the bodies of a mechanism stand at its start: exact where all turns are right angles, else floating point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kinegraph.io.mjcf.numeric import about, quaternion_matrix
from kinegraph.model.evaluate import Value, number, value
from kinegraph.model.mechanism import Coordinate, Mechanism, Quaternion, Shift, Transform

#: Arrays of Fraction where a number is known exactly, of float where it is not.
Values = NDArray[np.object_]

_QUARTER = math.pi / 2
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Pose:
    """Rotation matrix and position of a frame in the fixed frame."""

    rotation: Values
    position: Values

    def moved(self, transforms: Iterable[Transform], values: Mapping[str, Value]) -> Pose:
        """The frame that transforms lead to from here; `values` are those of the names they use."""
        rotation, position = self.rotation, self.position
        for transform in transforms:
            if isinstance(transform, Shift):
                position = position + rotation[:, transform.axis.value] * value(transform.distance, values)
            else:
                rotation = rotation @ _turn(transform, values)
        return Pose(rotation, position)

    def seen_from(self, other: Pose) -> Pose:
        """This frame in the axes of another and from its origin."""
        back = other.rotation.T
        return Pose(back @ self.rotation, back @ (self.position - other.position))


def start_poses(mechanism: Mechanism) -> dict[str | None, Pose]:
    """The frame of every body (None: the fixed one) at the initial positions; bases come before their bodies."""
    values = _start(mechanism)
    found: dict[str | None, Pose] = {None: Pose(_exact(np.eye(3)), _exact(np.zeros(3)))}
    for body in mechanism.bodies:
        found[body.name] = found[body.base].moved(body.transforms, values)
    return found


def _start(mechanism: Mechanism) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            values[one.name] = value(one.position, {})
        else:
            values |= {name: value(part, {}) for name, part in zip(one.names, one.position, strict=True)}
    return values


def _turn(transform: Transform, values: Mapping[str, Value]) -> Values:
    assert not isinstance(transform, Shift)
    if isinstance(transform, Quaternion):
        matrix = quaternion_matrix([number(item, values) for item in transform.components])
        return _exact(matrix) if np.isin(matrix, (-1, 0, 1)).all() else matrix.astype(object)
    angle = number(transform.angle, values)
    quarters = round(angle / _QUARTER)
    if abs(angle - quarters * _QUARTER) <= _ROUNDING * max(1, abs(quarters)):
        return _exact(np.rint(about(transform.axis.value, angle)))
    return about(transform.axis.value, angle).astype(object)


def _exact(whole: NDArray[np.float64]) -> Values:
    """Whole numbers as fractions."""
    return np.array([Fraction(int(entry)) for entry in whole.flat], dtype=object).reshape(whole.shape)
