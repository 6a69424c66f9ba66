"""What a leg table may say: lengths, drives and screws in numbers that mean something, legs that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expression import Expression, names
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.platforms.records import Drive, LegKind, LegRow, Screw

Tables: TypeAlias = Sequence[tuple[LegKind, Sequence[LegRow]]]
Floats: TypeAlias = npt.NDArray[np.float64]

#: Joints nearer than this, in parts of the platform's size, coincide.
_NEAR = 1e-9
#: As many legs as hold a ring.
_LEGS = 6


def check_tables(mechanism: Mechanism, tables: Tables) -> None:
    """Refuse tables whose numbers mean nothing, as far as parameters have values; errors name the leg."""
    _check_names(tables)
    values = _known_values(mechanism)
    for kind, rows in tables:
        leg = f"the leg {rows[0].name}" if len(rows) == 1 else f"the legs {rows[0].name} to {rows[-1].name}"
        for what, amount in zip(("crank", "rod"), kind.lengths, strict=False):
            if not _within(amount, values, above=0):
                raise ModelError(
                    f"the {what} of {leg} is {number(amount, values):g} long",
                    remedy=f"write a positive length; a {what} in the other direction is a turn of the joint's frame",
                )
        _check_drive(leg, kind.drive, values)


def _check_names(tables: Tables) -> None:
    found: set[str] = set()
    for _, rows in tables:
        for row in rows:
            if row.name in found:
                raise ModelError(f"two legs are called {row.name}", remedy="give every leg a name of its own")
            found.add(row.name)


def _known_values(mechanism: Mechanism) -> dict[str, Value]:
    try:
        return {**known_parameter_values(mechanism), "pi": np.pi}
    except ModelError:  # validation says it with the parameter's place
        return {}


def _within(amount: Expression | None, values: Mapping[str, Value], above: float, most: float = np.inf) -> bool:
    """Whether a value, if it is known, is above one bound and at most another."""
    if amount is None or not names(amount) <= values.keys():
        return True
    try:
        return above < number(amount, values) <= most
    except ModelError:  # it divides by zero: validation says where
        return True


def _check_drive(leg: str, drive: Drive, values: Mapping[str, Value]) -> None:
    for word, amount in (("damping", drive.damping), ("coulomb", drive.coulomb), ("limit", drive.limit)):
        if amount is not None and amount != ZERO and not _within(amount, values, above=-1e-300):
            message = f"`{word}` of {leg} is {number(amount, values):g}: it would drive the leg"
            raise ModelError(message, remedy="write a positive number, or a formula as `effort(...)`")
    if not _within(drive.width, values, above=0):
        message = f"`width` of {leg} is {number(drive.width, values):g}"
        raise ModelError(message, remedy="write the positive rate over which dry friction changes its direction")
    for word, partner in _without_effect(drive):
        message = f"`{word}` of {leg} has no effect: the drive has no `{partner}`"
        raise ModelError(message, remedy=f"write `{partner}(...)` as well, or leave `{word}` out")
    if drive.screw is not None:
        _check_screw(leg, drive.screw, values)


def _without_effect(drive: Drive) -> Iterator[tuple[str, str]]:
    usual = Drive()
    if drive.stiffness == ZERO and drive.rest != usual.rest:
        yield "rest", "stiffness"
    if drive.coulomb == ZERO and drive.screw is None and drive.width != usual.width:
        yield "width", "coulomb"
    if drive.stop == ZERO and drive.shortest is not None:
        yield "stroke", "stop"
    if drive.stop != ZERO and drive.shortest is None:
        yield "stop", "stroke"


def _check_screw(leg: str, screw: Screw, values: Mapping[str, Value]) -> None:
    if not _within(screw.lead, values, above=0):
        message = f"the lead of the screw of {leg} is {number(screw.lead, values):g} m"
        raise ModelError(message, remedy="write the positive way of one turn; `effort(-...)` turns it backwards")
    if not _within(screw.inertia, values, above=-1e-300):
        message = f"the inertia of the screw of {leg} is {number(screw.inertia, values):g} kg m^2"
        raise ModelError(message, remedy="write a positive number, or zero")
    if not _within(screw.efficiency, values, 0, 1):
        message = f"the efficiency of the screw of {leg} is {number(screw.efficiency, values):g}"
        raise ModelError(message, remedy="write the part of the motor's power that arrives, above 0 and at most 1")
    if not _within(screw.back_driving, values, 0, 1):
        raise ModelError(
            f"the screw of {leg} is driven back with an efficiency of {number(screw.back_driving, values):g}",
            remedy="write a number above 0, at most 1; a screw that locks itself is one with dry friction above its "
            "load, `coulomb(f)`",
        )


# where legs stand, in numbers


def check_places(names_of_legs: Sequence[str], base: Floats, ring: Floats) -> None:
    """Refuse legs between the same points, and six joints on one line; rows are points in fixed axes."""
    size = float(max(np.max(np.ptp(base, axis=0)), np.max(np.ptp(ring, axis=0)), 1e-300))
    for j, k in combinations(range(len(base)), 2):
        if max(np.linalg.norm(base[j] - base[k]), np.linalg.norm(ring[j] - ring[k])) < _NEAR * size:
            message = f"the legs {names_of_legs[j]} and {names_of_legs[k]} coincide: both joints are at the same places"
            raise ModelError(message, remedy=f"move a joint of {names_of_legs[k]}, or leave that leg out")
    if len(base) < _LEGS:
        return
    for what, points in (("base", base), ("ring", ring)):
        if np.linalg.svd(points - np.mean(points, axis=0), compute_uv=False)[1] < _NEAR * size:
            message = f"the joints of the legs {', '.join(names_of_legs)} on the {what} lie on one line"
            raise ModelError(message, remedy="move some of them away from it: no drive keeps the ring from turning")
