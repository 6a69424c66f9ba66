"""Leg tables written in Python: a method of the builder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinegraph.model.expression import Scalar, expression
from kinegraph.model.mechanism import Axis, Body, Inertia, Shift, Transform
from kinegraph.model.platforms.records import Drive, LegKind, LegRow, LegType, Screw, leg_type


def leg(
    name: str,
    base: Sequence[Scalar],
    ring: Sequence[Scalar],
    base_turns: Iterable[Transform] = (),
    ring_turns: Iterable[Transform] = (),
    on: Body | str | None = None,
) -> LegRow:
    """One row of a leg table: the places of the joints on the base and, in its axes, on the ring.

    The turns lead from the axes of base and ring to those of the joints; `on` is the body the leg stands on, the fixed
    frame if left out.
    """
    body = on.name if isinstance(on, Body) else on
    return LegRow(name, (*_shifts(base), *base_turns), (*_shifts(ring), *ring_turns), body)


def screw(lead: Scalar, inertia: Scalar = 0, efficiency: Scalar = 1, back_driving: Scalar = 1) -> Screw:
    """A ball screw between motor and leg."""
    return Screw(expression(lead), expression(inertia), expression(efficiency), expression(back_driving))


def drive(
    damping: Scalar = 0,
    stiffness: Scalar = 0,
    rest: Scalar = 0,
    coulomb: Scalar = 0,
    powered: bool = False,
    limit: Scalar | None = None,
    screw: Screw | None = None,
    stroke: tuple[Scalar, Scalar] | None = None,
    stop: Scalar = 0,
    effort: Scalar = 0,
) -> Drive:
    """What acts in the driven joint of every leg of a table; see `Drive`."""
    ends = (None, None) if stroke is None else (expression(stroke[0]), expression(stroke[1]))
    return Drive(
        damping=expression(damping),
        stiffness=expression(stiffness),
        rest=expression(rest),
        coulomb=expression(coulomb),
        powered=powered,
        effort=expression(effort),
        limit=None if limit is None else expression(limit),
        screw=screw,
        shortest=ends[0],
        longest=ends[1],
        stop=expression(stop),
    )


class PlatformBuilder:
    """Collects leg tables."""

    def __init__(self) -> None:
        self._legs: list[tuple[LegKind, tuple[LegRow, ...]]] = []

    def platform(
        self,
        type: LegType | str,
        ring: Body | str,
        legs: Iterable[LegRow],
        first: Inertia | None = None,
        second: Inertia | None = None,
        crank: Scalar | None = None,
        rod: Scalar | None = None,
        drive: Drive | None = None,
    ) -> tuple[LegRow, ...]:
        """Stand a ring on legs of one type; `first` and `second` are the inertias of their two parts, `crank` and `rod`
        the lengths of legs RUS and RSU. Several tables may carry one ring."""
        kind = LegKind(
            type if isinstance(type, LegType) else leg_type(type),
            ring.name if isinstance(ring, Body) else ring,
            first or Inertia(),
            second or Inertia(),
            tuple(expression(one) for one in (crank, rod) if one is not None),
            drive or Drive(),
        )
        rows = tuple(legs)
        self._legs.append((kind, rows))
        return rows


def _shifts(place: Sequence[Scalar]) -> tuple[Transform, ...]:
    amounts = zip(Axis, map(expression, place), strict=True)
    return tuple(Shift(axis, amount) for axis, amount in amounts if amount != expression(0))
