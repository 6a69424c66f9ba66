"""Coordinates that are angles: a turn more is the same place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.model.elements import mentions
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Coordinate, Mechanism, Quaternion, Rotation, Transform
from kinegraph.tasks.operating_point import Floats


def angle_names(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that appear in rotations and nowhere else in the geometry."""
    coordinates = {c.name for c in mechanism.coordinates if isinstance(c, Coordinate)}
    rotated: set[str] = set()
    other: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            found = _names(transform) & coordinates
            (rotated if isinstance(transform, Rotation) else other).update(found)
    return frozenset(rotated - other)


def _names(transform: Transform) -> set[str]:
    if isinstance(transform, Quaternion):
        return {name for item in transform.components for name in names(item)}
    return set(names(transform.angle if isinstance(transform, Rotation) else transform.distance))


def repeats(mechanism: Mechanism, name: str) -> bool:
    """Whether a turn more changes nothing at all: no element uses the angle itself."""
    return name in angle_names(mechanism) and not any(mentions(element, name) for element in mechanism.elements)


def wrapped(q: Floats, turns: Sequence[int], box: Floats | None = None) -> Floats:
    """Angles brought into the turn that ends at the upper limit, by default (-pi, pi]; rounding does not move one."""
    q = np.array(q, dtype=float)
    for index in turns:
        high = (np.pi if box is None else box[index, 1]) + 1e-9
        q[:, index] = high - np.mod(high - q[:, index], 2 * np.pi)
    return q
