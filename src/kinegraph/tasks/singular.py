"""Singular positions in tasks: where rows of loops depend on each other, or coordinates of a tree move nothing.

Nothing that follows from accelerations is told there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.checks.singular_coordinates import PivotMeasure, singular_words, usual_compliance
from kinegraph.tasks.equations import INERTIA, force_kernel
from kinegraph.tasks.kernels import called
from kinegraph.tasks.linear.acceleration_slopes import acceleration_slopes
from kinegraph.tasks.operating_point import Floats, OperatingPoint

#: So near to a singular position Newton's method ends with forces that grow without bound and loops that stay open,
#: and has not arrived where so much is missing beside the largest slope; nearer than the first nothing arrives.
_AT, _NEAR, _ARRIVED = 1e-4, 1e-2, 1e-13
#: Inertia matrices with a larger condition number have no inverse.
_REGULAR = 1e14


@dataclass(frozen=True)
class SingularPlace:
    """A position where rows follow from others, or near which a search ended: what rests there is not determined.

    coordinates: those that move nothing there; forces on them vanish whether it rests or not. reason: why
    nothing is told of the position, if it is neither of both.
    """

    q: Floats
    rows: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        if self.rows:
            return f"{', '.join(self.rows)} follows from other rows, rest is not determined there"
        if self.coordinates:
            return f"the coordinates are singular there ({', '.join(self.coordinates)}), rest is not determined in them"
        return self.reason


def refuse_singular(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, what: str
) -> None:
    """TaskError naming the rows if a point is singular."""
    if is_constrained(mechanism):
        values = {**(parameters or {}), **dict(point.given)}
        message = Assembler(mechanism, values, point.runtime).singular_message(what, point.q, point.t)
        if message:
            raise TaskError(message)


def refuse_singular_coordinates(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None,
    by_force: Floats,
    what: str,
) -> None:
    """TaskError naming the coordinates if they are singular; by_force: the accelerations by forces."""
    pivots = pivots_beside(mechanism, point, parameters)
    lost = pivots.lost(np.diagonal(by_force)) if np.isfinite(by_force).all() else pivots.singular(point.q)
    if lost:
        raise TaskError(f"{what}: {singular_words(mechanism, lost)}")


def singular_places(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, places: Sequence[tuple[OperatingPoint, float]]
) -> list[SingularPlace | None]:
    """For every point that a search found, with what is missing there: the singular position it is, or None."""
    if not places:
        return []
    assembler = None
    if is_constrained(mechanism):
        assembler = Assembler(mechanism, {**(parameters or {}), **dict(places[0][0].given)})
    found: list[SingularPlace | None] = []
    for point, missing in places:
        near = _NEAR if missing > _ARRIVED else _AT
        if assembler is not None and (rows := assembler.singular_rows(point.q, point.t, near)):
            found.append(SingularPlace(point.q, rows))
        elif lost := pivots_beside(mechanism, point, parameters).singular(point.q):
            found.append(SingularPlace(point.q, coordinates=lost))
        else:
            found.append(None)
    return found


def pivots_beside(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> PivotMeasure:
    """The pivots at positions beside a point, and the usual ones."""
    given = tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    resting = replace(point, v=np.zeros_like(point.v))
    usual = _usual(mechanism, given, _PointKey(resting))
    known = {**(parameters or {}), **dict(point.given)}
    return PivotMeasure(mechanism, lambda rows: _compliance(mechanism, resting, parameters, rows), usual, known)


class _PointKey:
    """A point that is no part of a key: pivots are usual by the first point that asks for them."""

    def __init__(self, point: OperatingPoint) -> None:
        self.point = point

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PointKey) and self.point.runtime == other.point.runtime

    def __hash__(self) -> int:
        return hash(self.point.runtime)


@lru_cache(maxsize=32)
def _usual(mechanism: Mechanism, parameters: tuple[tuple[str, Expression], ...], key: _PointKey) -> Floats:
    point, values = key.point, dict(parameters)
    known: dict[str, Scalar] = {**values, **dict(point.given)}
    compliance = _tree_compliance if is_constrained(mechanism) else _compliance
    return usual_compliance(mechanism, point.q, lambda rows: compliance(mechanism, point, values, rows), known)


def _tree_compliance(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, rows: Floats
) -> Floats:
    """The same for the tree without its loops: these only take compliance away, at any position, assembled or not.

    Where bodies without mass hang on loops there is none, and nothing is judged.
    """
    kernel = force_kernel(mechanism, parameters, point.runtime)
    found = np.full((len(rows), len(point.v)), np.nan)
    for index, q in enumerate(rows):
        inertia = called(kernel, point.at(q).arguments())[INERTIA]
        if np.isfinite(inertia).all() and np.linalg.cond(inertia) < _REGULAR:
            found[index] = np.diagonal(np.linalg.inv(inertia))
    return found


def _compliance(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, rows: Floats
) -> Floats:
    """The diagonal of H^-1 for rows of positions; NaN where there is none."""
    found = np.full((len(rows), len(point.v)), np.nan)
    for index, q in enumerate(rows):
        with np.errstate(all="ignore"), suppress(TaskError):
            found[index] = np.diagonal(acceleration_slopes(mechanism, point.at(q), parameters).by_force)
    return found


def apart(places: Sequence[SingularPlace]) -> tuple[SingularPlace, ...]:
    """Each singular position once: searches end around it."""
    found: list[SingularPlace] = []
    for place in places:
        if all(np.max(np.abs(np.sin((place.q - other.q) / 2))) > 2 * _NEAR for other in found):
            found.append(place)
    return tuple(found)
