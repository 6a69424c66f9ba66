"""Equality constraints of MJCF as loops and constraints, at the initial pose of the bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.joints import SCALAR_JOINTS, MjcfJoint
from kinegraph.io.mjcf.settings import Defaults
from kinegraph.io.mjcf.transforms import DIGITS, cleaned, exact_quaternion
from kinegraph.io.robot.joint_motion import JointMotion, NameTable
from kinegraph.io.robot.placement import AngleReader, plus, shifts
from kinegraph.io.robot.xml import Element, Written, numbers, single, vector
from kinegraph.model.constraints import Constraint, Frame, Joint, JointType, Loop
from kinegraph.model.evaluate import Value, number, value
from kinegraph.model.expressions import PI, Expression, Number, Operation, names, negative
from kinegraph.model.mechanism import Coordinate, Mechanism, Quaternion, Shift, Transform, amounts
from kinegraph.model.names import STATEMENTS, did_you_mean
from kinegraph.model.poses import about, quaternion_matrix
from kinegraph.model.report import FindingKind, Places
from kinegraph.model.topology import tree_of_records

# Initial poses of bodies: exact if all rotations are right angles, else floating point.

#: Arrays of Fraction for exact numbers, of float for all others.
Values = NDArray[np.object_]

_QUARTER = math.pi / 2
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Pose:
    """Rotation matrix and position of a frame in the fixed frame."""

    rotation: Values
    position: Values

    @classmethod
    def origin(cls) -> Pose:
        """The fixed frame."""
        return cls(_exact(np.eye(3)), _exact(np.zeros(3)))

    def moved(self, transforms: Iterable[Transform], values: Mapping[str, Value]) -> Pose:
        """The frame after transforms from here; `values` are those of the names in them."""
        rotation, position = self.rotation, self.position
        for transform in transforms:
            if isinstance(transform, Shift):
                position = position + rotation[:, transform.axis.value] * value(transform.distance, values)
            else:
                rotation = rotation @ _turn(transform, values)
        return Pose(rotation, position)

    def seen_from(self, other: Pose) -> Pose:
        """This frame relative to another frame."""
        back = other.rotation.T
        return Pose(back @ self.rotation, back @ (self.position - other.position))


def start_poses(mechanism: Mechanism) -> dict[str | None, Pose]:
    """The frame of each body (None: the fixed frame) at the initial positions; bases come before their bodies."""
    return poses_at(mechanism, start_values(mechanism))


def poses_at(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str | None, Pose]:
    """The frame of each body (None: the fixed frame) at given positions."""
    found: dict[str | None, Pose] = {None: Pose.origin()}
    for body in mechanism.bodies:
        found[body.name] = found[body.base].moved(body.transforms, values)
    return found


def start_values(mechanism: Mechanism) -> dict[str, Value]:
    """The initial position of each coordinate."""
    values: dict[str, Value] = {}
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            values[one.name] = value(one.position, {})
        else:
            values |= {name: value(part, {}) for name, part in zip(one.names, one.position, strict=True)}
    return values


def _turn(transform: Transform, values: Mapping[str, Value]) -> Values:
    assert not isinstance(transform, Shift)
    if isinstance(transform, Quaternion):
        matrix = quaternion_matrix([number(item, values) for item in transform.components])
        return _exact(matrix) if np.isin(matrix, (-1, 0, 1)).all() else matrix.astype(object)
    angle = number(transform.angle, values)
    quarters = round(angle / _QUARTER)
    if abs(angle - quarters * _QUARTER) <= _ROUNDING * max(1, abs(quarters)):
        return _exact(np.rint(about(transform.axis.value, angle)))
    return about(transform.axis.value, angle).astype(object)


def _exact(whole: NDArray[np.float64]) -> Values:
    """Integers as fractions."""
    return np.array([Fraction(int(entry)) for entry in whole.flat], dtype=object).reshape(whole.shape)


# <connect>, <weld>, <joint> and <tendon> of <equality> as loops and constraints. They are soft in MuJoCo (`solref`,
# `solimp`) and exact here, as the report says. Without an explicit pose, a constraint keeps the relative pose at the
# start (`qpos0`).

_DEFAULT_POLYNOMIAL = (Fraction(0), Fraction(1), Fraction(0), Fraction(0), Fraction(0))
_ORIGIN = (Fraction(0), Fraction(0), Fraction(0))
_KINDS = ("connect", "weld", "joint", "tendon")
_TOPIC = "equality constraints"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Parts:
    """The targets of constraints, by their names in the file: bodies, frames of sites, joints with their motion.

    ranges: of the joints that have a range, also if limits are switched off. lengths: of tendons, and their values at
    the initial positions; `without_length` are the tendons of which they are not known.
    """

    bodies: Mapping[str, str | None]
    sites: Mapping[str, Frame]
    joints: Mapping[str, tuple[MjcfJoint, JointMotion]]
    ranges: Mapping[str, tuple[Expression, Expression]] = field(default_factory=dict)
    lengths: Mapping[str, tuple[Expression, Expression]] = field(default_factory=dict)
    without_length: Set[str] = frozenset()


@dataclass
class EqualityReader:
    """Reads the equality constraints of a model whose bodies are in `mechanism`."""

    mechanism: Mechanism
    parts: Parts
    defaults: Defaults
    angle_reader: AngleReader
    places: Places
    _loops: list[Loop] = field(default_factory=list)
    _constraints: list[Constraint] = field(default_factory=list)

    def constrained(self, root: Element, in_force: bool, wanted: bool = True) -> Mechanism:
        """The mechanism with the loops and constraints of a model; `in_force`: its flags do not disable them.

        If they are not `wanted`, they are reported as left out.
        """
        elements = [one for group in root.all("equality") for one in group.children if one.tag in _KINDS]
        taken = list(self._in_force(elements, in_force))
        if not wanted:
            for element in taken:
                what = f"<{element.tag}> of <equality>, as requested"
                self.angle_reader.findings.count(FindingKind.LEFT_OUT, _TOPIC, what, element.place, _called(element))
            return self.mechanism
        forbidden = (*STATEMENTS, *(body.name for body in self.mechanism.bodies))
        table = NameTable((name for one in taken if (name := one.get("name"))), forbidden)
        for element in taken:
            given = element.get("name")
            name = table[given] if given else table.fresh(_called(element))
            self._add(element, name)
        if self._loops or self._constraints:
            message = "loops and constraints are exact; in MuJoCo they are soft (solref, solimp)"
            self.angle_reader.findings.add(FindingKind.ASSUMED, message, taken[0].place, _TOPIC)
        return replace(self.mechanism, loops=tuple(self._loops), constraints=tuple(self._constraints))

    def _in_force(self, elements: Iterable[Element], in_force: bool) -> Iterator[Element]:
        for element in elements:
            full = self.defaults.complete(element, None, "equality")
            active = full.get("active") or "true"
            if active not in ("true", "false"):
                message = f"invalid value `{active}` of active in <{element.tag}>"
                raise ModelError(message, element.place, "write true or false")
            if in_force and active == "true":
                yield full
            else:
                what = f"<{element.tag}> of <equality> that is disabled"
                self.angle_reader.findings.count(FindingKind.NOT_USED, _TOPIC, what, element.place, _called(element))

    def _add(self, element: Element, name: str) -> None:
        if element.tag in ("joint", "tendon"):
            if not self._measured(element):
                return
            self._constraints.append(self.places.mark(self._relation(element, name), element.place))
            return
        joint = Joint(JointType.SPHERICAL if _leaves_rotation(element) else JointType.FIXED)
        first, second = self._site_frames(element) or self._body_frames(element)
        loop = self.places.mark(Loop(name, joint, first, second), element.place)
        if self._moves(loop):
            self._loops.append(loop)
        else:
            message = f"<{element.tag}> of <equality> has no effect: no joint moves {first} relative to {second}"
            self.angle_reader.findings.add(FindingKind.NOT_USED, message, element.place, _TOPIC)

    def _moves(self, loop: Loop) -> bool:
        """Whether a joint moves the two bodies relative to each other."""
        (chains,) = tree_of_records(replace(self.mechanism, loops=(loop,))).loops
        own = [self.mechanism.body(name) for name in (*chains.first, *chains.second)]
        return any(names(amount) - {PI} for body in own for one in body.transforms for amount in amounts(one))

    # frames

    def _site_frames(self, element: Element) -> tuple[Frame, Frame] | None:
        """The frames of two sites; None if the element names no site."""
        words = [element.get("site1"), element.get("site2")]
        if not any(words):
            return None
        if not all(words) or any(element.get(word) for word in ("body1", "body2", "anchor", "relpose")):
            remedy = "write site1 and site2, or body1, body2 and anchor"
            raise ModelError(f"<{element.tag}> needs either two sites or two bodies", element.place, remedy)
        first, second = (found_part(self.parts.sites, element, word) for word in ("site1", "site2"))
        return first, second

    def _body_frames(self, element: Element) -> tuple[Frame, Frame]:
        element.required("body1")
        first = found_part(self.parts.bodies, element, "body1")
        second = found_part(self.parts.bodies, element, "body2") if element.get("body2") else None
        if first == second:
            message = f"<{element.tag}> connects {first or 'the world'} to itself"
            raise ModelError(message, element.place, "name two bodies, or omit body2 for the world")
        if element.tag == "connect":
            element.required("anchor")
            anchor = Frame(first, shifts(_three(element, "anchor")))
            return anchor, Frame(second, self._frame_at(anchor, second))
        anchor = Frame(second, shifts(_three(element, "anchor")))
        relpose = vector(element, "relpose", 7)
        if relpose is None or not any(item.value for item in relpose[3:]):
            turned = () if _leaves_rotation(element) else self._turn(element, second, first)
            return Frame(first, (*self._frame_at(anchor, first), *turned)), anchor
        turned = self.angle_reader.quaternion(relpose[3:], _what(element), element.place)
        return Frame(first, (*shifts([item.value for item in relpose[:3]]), *turned)), anchor

    @cached_property
    def _poses(self) -> dict[str | None, Pose]:
        return start_poses(self.mechanism)

    def _frame_at(self, anchor: Frame, body: str | None) -> tuple[Transform, ...]:
        """The shifts from a body's frame to the anchor, on another body, at the start."""
        there = self._poses[anchor.body].moved(anchor.transforms, {})
        return shifts([item.value for item in cleaned(there.seen_from(self._poses[body]).position)])

    def _turn(self, element: Element, body: str | None, base: str | None) -> tuple[Transform, ...]:
        """The rotation from the frame of one body to that of another at the start."""
        turned = self._poses[body].seen_from(self._poses[base]).rotation
        parts = exact_quaternion(turned.astype(np.float64))
        return self.angle_reader.quaternion(
            [Written(part.value, DIGITS) for part in parts], _what(element), element.place
        )

    # coordinates

    def _measured(self, element: Element) -> bool:
        """Whether the lengths of the tendons are known; if not, the constraint is reported."""
        unknown = [name for word in _ENDS if (name := element.get(word)) in self.parts.without_length]
        if unknown:
            what = f"<{element.tag}> of <equality>, because of the path of the tendon {unknown[0]}"
            self.angle_reader.findings.count(FindingKind.LEFT_OUT, _TOPIC, what, element.place, _called(element))
        return not unknown

    def _relation(self, element: Element, name: str) -> Constraint:
        """x1 - start1 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4 with x = x2 - start2, of joints or lengths of tendons.

        Without a second joint or tendon it is only c0.
        """
        read = self._coordinate if element.tag == "joint" else self._length
        ends = (f"{element.tag}1", f"{element.tag}2")
        first, start = read(element, ends[0])
        coefficients = _polynomial(element)
        right = _sum(start, coefficients[0])
        if not element.get(ends[1]):
            return Constraint(name, first, right)
        if element.get(ends[0]) == element.get(ends[1]):
            message = f"<{element.tag}> connects {element.get(ends[0])} to itself"
            raise ModelError(message, element.place, f"name two {element.tag}s")
        second, reference = read(element, ends[1])
        x = plus(second, negative(reference))
        for power, factor in enumerate(coefficients[1:], start=1):
            if factor:
                term = x if power == 1 else Operation("^", (x, Number(Fraction(power))))
                right = plus(right, term if factor == 1 else Operation("*", (Number(factor), term)))
        return Constraint(name, first, right)

    def _length(self, element: Element, word: str) -> tuple[Expression, Expression]:
        """The length of a tendon, and its value at the start."""
        return found_part(self.parts.lengths, element, word)

    def _coordinate(self, element: Element, word: str) -> tuple[Expression, Expression]:
        """The coordinate of a joint, and its position at the start."""
        joint, motion = found_part(self.parts.joints, element, word)
        if joint.kind not in SCALAR_JOINTS:
            message = f"{word} of <joint> is {joint.name}, a {joint.kind.value} joint"
            raise ModelError(message, element.place, "name a hinge or slide joint")
        (coordinate,), ((own,),) = motion.coordinates, motion.displacements
        assert isinstance(coordinate, Coordinate)
        return own, coordinate.position


def found_part(table: Mapping[str, _T], element: Element, word: str) -> _T:
    """What the attribute `word` of an element names."""
    name = element.required(word)
    if name not in table:
        message = f"unknown {word} '{name}' of <{element.tag}>"
        raise ModelError(message, element.place, did_you_mean(name, table))
    return table[name]


def _leaves_rotation(element: Element) -> bool:
    """Whether a constraint fixes only a point; the rotation of a weld may have zero weight."""
    return element.tag == "connect" or single(element, "torquescale") == 0


def _polynomial(element: Element) -> tuple[Fraction, ...]:
    """Five coefficients, completed with the defaults."""
    written = [item.value for item in numbers(element, "polycoef") or ()]
    if len(written) > len(_DEFAULT_POLYNOMIAL):
        message = f"polycoef of <joint> takes up to {len(_DEFAULT_POLYNOMIAL)} numbers, found {len(written)}"
        raise ModelError(message, element.place, "write the coefficients of 1, x, x^2, x^3 and x^4")
    return (*written, *_DEFAULT_POLYNOMIAL[len(written) :])


def _sum(start: Expression, more: Fraction) -> Expression:
    return Number(start.value + more) if isinstance(start, Number) else plus(start, Number(more))


def _three(element: Element, name: str) -> tuple[Fraction, ...]:
    written = vector(element, name, 3)
    return tuple(item.value for item in written) if written else _ORIGIN


def _called(element: Element) -> str:
    """The name of a constraint, or the names of what it connects."""
    ends = [value for word in _ENDS if (value := element.get(word))]
    return element.get("name") or "_".join((element.tag, *ends))


_ENDS = ("body1", "body2", "site1", "site2", "joint1", "joint2", "tendon1", "tendon2")


def _what(element: Element) -> str:
    return f"the <{element.tag}> {_called(element)}"
