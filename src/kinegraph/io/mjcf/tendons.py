"""Tendons of MJCF: their lengths as expressions of coordinates and sites, their springs, damping and ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.equality import Parts, Pose, found_part, poses_at, start_values
from kinegraph.io.mjcf.joints import SCALAR_JOINTS, MjcfJointReader
from kinegraph.io.mjcf.settings import Defaults, Settings, switched_range
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.placement import linear, plus
from kinegraph.io.robot.xml import Element, numbers, single
from kinegraph.model.constraints import Frame
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Call, Expression, Name, Number, Operation, expression
from kinegraph.model.mechanism import ONE, ZERO, Axis, Mechanism, Shift
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Extra, JointFriction, JointLimits, JointSpring

_TOPIC = "tendons"
_AXES = "xyz"
#: The value of `springlength` that means the length at the reference positions of springs.
_AUTOMATIC = Fraction(-1)


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


class Sites:
    """Positions of sites as names of output points: `tip.x`, and their rates.

    `point` gives a frame the name of an output point.
    """

    def __init__(self, frames: Mapping[str, Frame], point: Callable[[str, Frame], str]) -> None:
        self.frames = frames
        self._point = point

    def position(self, site: str) -> tuple[Name, ...]:
        """The three coordinates of a site in the fixed frame."""
        name = self._point(site, self.frames[site])
        return tuple(Name(f"{name}.{axis}") for axis in _AXES)

    def velocity(self, site: str) -> tuple[Name, ...]:
        """The velocity of a site."""
        name = self._point(site, self.frames[site])
        return tuple(Name(f"{name}.{axis}'") for axis in _AXES)

    def axis(self, site: str) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
        """The z axis of a site in the fixed frame, and its rate: from the site to a point ahead of it."""
        frame = self.frames[site]
        ahead = self._point(f"{site}_ahead", Frame(frame.body, (*frame.transforms, Shift(Axis.Z, ONE))))
        here, there = (
            (self.position(site), self.velocity(site)),
            [tuple(Name(f"{ahead}.{axis}{prime}") for axis in _AXES) for prime in ("", "'")],
        )
        direction, rate = (
            tuple(Operation("-", pair) for pair in zip(far, near, strict=True))
            for near, far in zip(here, there, strict=True)
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


@dataclass(frozen=True)
class Tendon:
    """A tendon with the attributes of its class, and its length at the initial positions.

    `extent` is None if its path is not supported.
    """

    name: str
    element: Element
    extent: Extent | None
    start: Expression = ZERO


@dataclass
class TendonReader:
    """Reads all tendons of a model whose bodies are in `mechanism`."""

    mechanism: Mechanism
    parts: Parts
    sites: Sites
    joints: MjcfJointReader
    defaults: Defaults
    findings: Findings

    @property
    def settings(self) -> Settings:
        """The settings of the model."""
        return self.joints.settings

    def tendons(self, root: Element) -> dict[str, Tendon]:
        """The tendons by name, in the order of the file."""
        found: dict[str, Tendon] = {}
        for group in root.all("tendon"):
            for element in (one for one in group.children if one.tag in ("fixed", "spatial")):
                name = element.get("name") or f"tendon_{len(found) + 1}"
                if name in found:
                    raise ModelError(f"two tendons have the name {name}", element.place, "rename one of them")
                full = self.defaults.complete(element, None, "tendon")
                extent = self._extent(full, name)
                start = ZERO if extent is None else expression(self._length_at(extent, start_values(self.mechanism)))
                found[name] = Tendon(name, full, extent, start)
        return found

    def _extent(self, element: Element, name: str) -> Extent | None:
        if element.tag == "fixed":
            return linear_form([self._share(joint) for joint in element.all("joint")])
        wrapping = next(element.all("geom"), None)
        if wrapping is not None:
            message = f"the tendon {name} wraps around the geom {wrapping.get('geom')}: no force acts along it"
            self.findings.add(FindingKind.LEFT_OUT, message, element.place, _TOPIC)
            return None
        return self._path(element)

    def _share(self, element: Element) -> tuple[str, Fraction]:
        joint, motion = found_part(self.parts.joints, element, "joint")
        if joint.kind not in SCALAR_JOINTS:
            message = f"the tendon uses {joint.name}, a {joint.kind.value} joint"
            raise ModelError(message, element.place, "name a hinge or slide joint")
        ((own,),) = motion.displacements
        assert isinstance(own, Name)
        return own.text, single(element, "coef") or Fraction(0)

    def _path(self, element: Element) -> Extent:
        """The sum of distances between consecutive sites; a pulley begins a new branch."""
        value: Expression = ZERO
        rate: Expression = ZERO
        before, divisor = "", Fraction(1)
        for step in element.children:
            if step.tag == "pulley":
                before, divisor = "", single(step, "divisor") or Fraction(1)
            elif step.tag == "site":
                found_part(self.sites.frames, step, "site")
                here = step.required("site")
                if before:
                    part = distance(before, here, self.sites).scaled(1 / divisor)
                    value, rate = plus(value, part.value), plus(rate, part.rate)
                before = here
        return Extent(value, rate)

    # springs, damping, friction, range

    def records(self, tendons: Mapping[str, Tendon]) -> Iterator[Extra]:
        """Springs, friction and ranges of the tendons, like those of joints."""
        for tendon in tendons.values():
            if tendon.extent is not None:
                yield from self._records(tendon, tendon.extent)

    def _records(self, tendon: Tendon, extent: Extent) -> Iterator[Extra]:
        element, along = tendon.element, (extent.value,)
        flags = self.settings.flags
        if extent.rate == ZERO:
            return
        within = switched_range(element, "limited", "range", self.settings) if flags.limits else None
        if within is not None:
            yield JointLimits(tendon.name, along, *(Number(item.value) for item in within))
        damping, *higher = self._polynomial(element, "damping") if flags.dampers else [ZERO]
        dry = single(element, "frictionloss") if flags.dry_friction else None
        if damping != ZERO or higher or dry:
            yield JointFriction(tendon.name, along, damping, Number(dry or Fraction(0)), tuple(higher))
        stiffness, *more = self._polynomial(element, "stiffness") if flags.springs else [ZERO]
        if stiffness != ZERO or more:
            lower, upper = self._rest(tendon, extent)
            yield JointSpring(tendon.name, *_stretched(extent.value, lower, upper, stiffness), tuple(more))
        armature = single(element, "armature")
        if armature:
            what = "the armature of a tendon"
            self.findings.count(FindingKind.LEFT_OUT, _TOPIC, what, element.place, tendon.name)

    def _polynomial(self, element: Element, name: str) -> list[Expression]:
        """The coefficients of a force, the linear coefficient first, without trailing zeros."""
        values = [item.value for item in numbers(element, name) or ()] or [Fraction(0)]
        while len(values) > 1 and not values[-1]:
            values.pop()
        return [Number(value) for value in values]

    def _rest(self, tendon: Tendon, extent: Extent) -> tuple[Expression, Expression]:
        """The lengths between which the spring is slack."""
        written = [item.value for item in numbers(tendon.element, "springlength") or ()] or [_AUTOMATIC]
        if written[0] == _AUTOMATIC:
            rest = expression(self._length_at(extent, self._spring_values))
            return rest, rest
        return Number(written[0]), Number(written[-1])

    def _length_at(self, extent: Extent, positions: Mapping[str, Value]) -> float:
        """The length at given positions of all coordinates."""
        values: dict[str, Value] = dict(positions)
        if extent.shares is None:
            poses = poses_at(self.mechanism, positions)
            for site, frame in self.sites.frames.items():
                position = poses[frame.body].moved(frame.transforms, {}).position
                values |= {name.text: float(one) for name, one in zip(self.sites.position(site), position, strict=True)}
        return float(number(extent.value, values))

    @cached_property
    def _spring_values(self) -> dict[str, Value]:
        values = start_values(self.mechanism)
        for joint, motion in self.parts.joints.values():
            if joint.kind in SCALAR_JOINTS:
                ((own,),) = motion.displacements
                assert isinstance(own, Name)
                values[own.text] = number(self.joints.amount(joint, "springref") or ZERO, {})
        return values


def _stretched(
    length: Expression, lower: Expression, upper: Expression, stiffness: Expression
) -> tuple[tuple[Expression, ...], Expression, tuple[Expression, ...]]:
    """Displacement, stiffness and rest of a spring; between two rest lengths the displacement is zero."""
    if lower == upper:
        return (length,), stiffness, (lower,)
    beyond = Call("max", (Operation("-", (length, upper)), ZERO))
    short = Call("min", (Operation("-", (length, lower)), ZERO))
    return (Operation("+", (beyond, short)),), stiffness, (ZERO,)
