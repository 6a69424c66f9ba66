"""A mechanism that starts elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinegraph.model.expression import expression
from kinegraph.model.mechanism import Coordinate, Mechanism, QuaternionCoordinates


def with_start(mechanism: Mechanism, q: Sequence[float]) -> Mechanism:
    """The mechanism with other initial positions, in the order of its layout."""
    values = [expression(float(value)) for value in q]
    coordinates: list[Coordinate | QuaternionCoordinates] = []
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            coordinates.append(replace(one, position=values.pop(0)))
        else:
            four = values.pop(0), values.pop(0), values.pop(0), values.pop(0)
            coordinates.append(replace(one, position=four))
    return replace(mechanism, coordinates=tuple(coordinates))
