"""Singular positions in tasks: where rows of loops depend on each other, nothing that follows from them is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.operating_point import Floats, OperatingPoint

#: So near to a singular position Newton's method ends with forces that grow without bound and loops that stay open,
#: and has not arrived where so much is missing beside the largest slope; nearer than the first nothing arrives.
_AT, _NEAR, _ARRIVED = 1e-4, 1e-2, 1e-13


@dataclass(frozen=True)
class SingularPlace:
    """A position where rows follow from others, or near which a search ended: what rests there is not determined."""

    q: Floats
    rows: tuple[str, ...]


def refuse_singular(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, what: str
) -> None:
    """TaskError naming the rows if a point is singular."""
    if is_constrained(mechanism):
        values = {**(parameters or {}), **dict(point.given)}
        message = Assembler(mechanism, values, point.runtime).singular_message(what, point.q, point.t)
        if message:
            raise TaskError(message)


def singular_places(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, places: Sequence[tuple[OperatingPoint, float]]
) -> list[SingularPlace | None]:
    """For every point that a search found, with what is missing there: the singular position it is, or None."""
    if not places or not is_constrained(mechanism):
        return [None] * len(places)
    assembler = Assembler(mechanism, {**(parameters or {}), **dict(places[0][0].given)})
    found: list[SingularPlace | None] = []
    for point, missing in places:
        rows = assembler.singular_rows(point.q, point.t, _NEAR if missing > _ARRIVED else _AT)
        found.append(SingularPlace(point.q, rows) if rows else None)
    return found


def apart(places: Sequence[SingularPlace]) -> tuple[SingularPlace, ...]:
    """Each singular position once: searches end around it."""
    found: list[SingularPlace] = []
    for place in places:
        if all(np.max(np.abs(np.sin((place.q - other.q) / 2))) > 2 * _NEAR for other in found):
            found.append(place)
    return tuple(found)
