"""Tendons of MJCF: their lengths as expressions of coordinates and sites, their springs, damping and ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.equality import Parts, found_part, poses_at, start_values
from kinegraph.io.mjcf.geoms import Geom
from kinegraph.io.mjcf.joints import SCALAR_JOINTS, MjcfJointReader
from kinegraph.io.mjcf.settings import Defaults, Settings, switched_range
from kinegraph.io.mjcf.tendon_paths import Extent, Sites, distance, linear_form
from kinegraph.io.mjcf.wrapping import UnsupportedPathError, wrap_geom, wrapped
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.placement import plus
from kinegraph.io.robot.xml import Element, numbers, single
from kinegraph.model.constraints import Frame
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Call, Expression, Name, Number, Operation, expression
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Extra, JointFriction, JointLimits, JointSpring

_TOPIC = "tendons"
#: The value of `springlength` that means the length at the reference positions of springs.
_AUTOMATIC = Fraction(-1)


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
    geoms: Mapping[str, tuple[Geom, Frame]]
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
        try:
            return self._path(element)
        except UnsupportedPathError as reason:
            message = f"the tendon {name}: {reason}; no force acts along it"
            self.findings.add(FindingKind.LEFT_OUT, message, element.place, _TOPIC)
            return None

    def _share(self, element: Element) -> tuple[str, Fraction]:
        joint, motion = found_part(self.parts.joints, element, "joint")
        if joint.kind not in SCALAR_JOINTS:
            message = f"the tendon uses {joint.name}, a {joint.kind.value} joint"
            raise ModelError(message, element.place, "name a hinge or slide joint")
        ((own,),) = motion.displacements
        assert isinstance(own, Name)
        return own.text, single(element, "coef") or Fraction(0)

    def _path(self, element: Element) -> Extent:
        """The sum of distances between consecutive sites, perhaps around a geom; a pulley begins a new branch."""
        value: Expression = ZERO
        rate: Expression = ZERO
        before, divisor = "", Fraction(1)
        around: Element | None = None
        for step in element.children:
            if step.tag == "pulley":
                before, divisor = "", single(step, "divisor") or Fraction(1)
            elif step.tag == "geom":
                around = step
            elif step.tag == "site":
                found_part(self.sites.frames, step, "site")
                here = step.required("site")
                if before:
                    part = self._segment(before, here, around).scaled(1 / divisor)
                    value, rate = plus(value, part.value), plus(rate, part.rate)
                before, around = here, None
        return Extent(value, rate)

    def _segment(self, first: str, second: str, around: Element | None) -> Extent:
        if around is None:
            return distance(first, second, self.sites)
        if around.get("sidesite"):
            found_part(self.sites.frames, around, "sidesite")
        geom, frame = found_part(self.geoms, around, "geom")
        return wrapped(first, second, wrap_geom(geom, frame), around.get("sidesite") or "", self.sites)

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
            for point, frame in self.sites.used.items():
                position = poses[frame.body].moved(frame.transforms, {}).position
                values |= {f"{point}.{axis}": float(one) for axis, one in zip("xyz", position, strict=True)}
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
