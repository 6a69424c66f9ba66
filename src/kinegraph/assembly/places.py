"""Positions that are the same place: an angle is after a whole turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.derive.constraints.conditions import Floats
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Coordinate, Mechanism, Rotation, amounts


def is_among(place: Floats, others: Sequence[Floats], turns: Sequence[int], tolerance: float = 1e-6) -> bool:
    """Whether one of the others is the same place but for whole turns of the positions `turns`, by index.

    All are compared at once: searches find hundreds of places.
    """
    if not others:
        return False
    difference = np.abs(np.array(others) - place)
    part = np.mod(difference[:, list(turns)], 2 * np.pi)
    difference[:, list(turns)] = np.minimum(part, 2 * np.pi - part)
    return bool((difference < tolerance).all(axis=1).any())


def angle_names(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that appear in rotations and nowhere else in the geometry."""
    coordinates = {c.name for c in mechanism.coordinates if isinstance(c, Coordinate)}
    rotated: set[str] = set()
    other: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            found = {name for amount in amounts(transform) for name in names(amount)} & coordinates
            (rotated if isinstance(transform, Rotation) else other).update(found)
    return frozenset(rotated - other)


def wrapped(q: Floats, turns: Sequence[int], box: Floats | None = None) -> Floats:
    """Angles brought into the turn that ends at the upper limit, by default (-pi, pi]; rounding does not move one."""
    q = np.array(q, dtype=float)
    for index in turns:
        high = (np.pi if box is None else box[index, 1]) + 1e-9
        q[:, index] = high - np.mod(high - q[:, index], 2 * np.pi)
    return q
