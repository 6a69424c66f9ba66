"""Lengths along which tendons and actuators of MJCF act: linear forms of coordinates, distances between sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.io.mjcf.equality import Pose
from kinegraph.io.robot.placement import linear, plus
from kinegraph.model.constraints import Frame
from kinegraph.model.expressions import Call, Expression, Name, Operation, expression
from kinegraph.model.mechanism import ONE, ZERO, Axis, Shift

_AXES = "xyz"


@dataclass(frozen=True)
class Extent:
    """A length along which a tendon or actuator acts, and its rate.

    shares: the factor of each coordinate if the length is a linear form of coordinates, else None.
    """

    value: Expression
    rate: Expression
    shares: tuple[tuple[str, Fraction], ...] | None = None

    def scaled(self, factor: Fraction) -> Extent:
        """This length, times a factor."""
        shares = None if self.shares is None else tuple((name, factor * share) for name, share in self.shares)
        return Extent(linear(factor, self.value), linear(factor, self.rate), shares)


def linear_form(shares: Sequence[tuple[str, Fraction]]) -> Extent:
    """The length of factors times coordinates."""
    together: dict[str, Fraction] = {}
    for name, factor in shares:
        together[name] = together.get(name, Fraction(0)) + factor
    nonzero = tuple((name, factor) for name, factor in together.items() if factor)
    value: Expression = ZERO
    rate: Expression = ZERO
    for name, factor in nonzero:
        value, rate = (plus(total, linear(factor, Name(one))) for total, one in ((value, name), (rate, name + "'")))
    return Extent(value, rate, nonzero)


def scalar_product(first: Sequence[Expression], second: Sequence[Expression]) -> Expression:
    """The scalar product of two vectors."""
    total: Expression = ZERO
    for one, other in zip(first, second, strict=True):
        if ZERO not in (one, other):
            total = plus(total, Operation("*", (one, other)))
    return total


@dataclass(frozen=True)
class MovingPoint:
    """The coordinates of an output point in the fixed frame, and their rates, as names."""

    position: tuple[Name, ...]
    velocity: tuple[Name, ...]


class Sites:
    """Positions of sites as names of output points: `tip.x`, and their rates.

    `point_of` gives a frame the name of an output point; `used` are the frames that have got one.
    """

    def __init__(self, frames: Mapping[str, Frame], point_of: Callable[[str, Frame], str]) -> None:
        self.frames = frames
        self.used: dict[str, Frame] = {}
        self._point_of = point_of

    def point(self, name: str, frame: Frame) -> MovingPoint:
        """The origin of a frame; an output point of a similar name is made for it."""
        known = self._point_of(name, frame)
        self.used[known] = frame
        position, velocity = (tuple(Name(f"{known}.{axis}{prime}") for axis in _AXES) for prime in ("", "'"))
        return MovingPoint(position, velocity)

    def position(self, site: str) -> tuple[Name, ...]:
        """The three coordinates of a site in the fixed frame."""
        return self.point(site, self.frames[site]).position

    def velocity(self, site: str) -> tuple[Name, ...]:
        """The velocity of a site."""
        return self.point(site, self.frames[site]).velocity

    def axis(self, site: str) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
        """The z axis of a site in the fixed frame, and its rate: from the site to a point ahead of it."""
        frame = self.frames[site]
        here = self.point(site, frame)
        ahead = self.point(f"{site}_ahead", Frame(frame.body, (*frame.transforms, Shift(Axis.Z, ONE))))
        direction, rate = (
            tuple(Operation("-", pair) for pair in zip(far, near, strict=True))
            for near, far in ((here.position, ahead.position), (here.velocity, ahead.velocity))
        )
        return direction, rate


def distance(first: str, second: str, sites: Sites) -> Extent:
    """The distance between two sites; a number if one body carries both."""
    here, there = sites.frames[first], sites.frames[second]
    if here.body == there.body:
        away = [Pose.origin().moved(frame.transforms, {}).position.astype(float) for frame in (here, there)]
        return Extent(expression(float(np.linalg.norm(away[0] - away[1]))), ZERO)
    steps, rates = (
        [Operation("-", pair) for pair in zip(read(second), read(first), strict=True)]
        for read in (sites.position, sites.velocity)
    )
    length = Call("sqrt", (scalar_product(steps, steps),))
    return Extent(length, Operation("/", (scalar_product(steps, rates), length)))
