"""Origins, axes, angles and quaternions of robot files as elementary transforms, exact where possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot

from kinegraph.errors import ModelError, Place
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.right_angles import DOUBLE, NEAR, Likeness, RightAngles, off_by, pi_multiple, tolerance_for
from kinegraph.io.robot.xml import Element, Written
from kinegraph.model.expressions import Call, Expression, Number, Operation, negative, text, without_minus
from kinegraph.model.mechanism import ZERO, Axis, Quaternion, Rotation, Shift, Transform, inverse
from kinegraph.model.report import FindingKind

# Quaternions of right-angle rotations: all nonzero components have the same size


@dataclass(frozen=True, slots=True)
class RightTurn:
    """The rotation of a quaternion whose components have these signs and the same size, or are zero."""

    signs: tuple[int, ...]

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """Nothing, a rotation about one axis, or the quaternion itself."""
        scalar, *rest = self.signs
        turned = [axis for axis, sign in zip(Axis, rest, strict=True) if sign]
        if not turned:
            return ()
        if len(turned) == 1:
            right_angles = rest[turned[0].value] * (scalar or 1) * (1 if scalar else 2)
            return (Rotation(turned[0], pi_multiple(Fraction(right_angles, 2))),)
        e0, e1, e2, e3 = (Number(Fraction(sign)) for sign in self.signs)
        return (Quaternion((e0, e1, e2, e3)),)


def exact_turn(parts: Sequence[Fraction]) -> RightTurn | None:
    """The right-angle rotation of a quaternion of any length; None for other rotations."""
    sizes = {abs(part) for part in parts if part}
    signs = tuple((part > 0) - (part < 0) for part in parts)
    return RightTurn(signs) if len(sizes) == 1 and sum(map(abs, signs)) in (1, 2, 4) else None


def judge_turn(written: Sequence[Written], rule: RightAngles) -> tuple[Likeness, RightTurn, Fraction]:
    """Compare a quaternion with the nearest right-angle rotation: the result, that rotation, and the angle between.

    The rule is that of angles: beyond `noise`, each component must be that of the exact rotation, rounded or truncated
    to the digits written.
    """
    largest = max(abs(item.value) for item in written)
    signs = tuple(0 if abs(item.value) < largest / 2 else (1 if item.value > 0 else -1) for item in written)
    turn, distance = RightTurn(signs), _angle_between([item.value for item in written], signs)
    if not rule.active or sum(map(abs, signs)) not in (1, 2, 4) or distance > NEAR:
        return Likeness.OTHER, turn, distance
    if distance <= rule.noise:
        return Likeness.SAME, turn, distance
    if any(
        abs(item.value - sign * largest) > Fraction(1, 10**item.decimals)
        for item, sign in zip(written, signs, strict=True)
    ):
        return Likeness.OTHER, turn, distance
    return (Likeness.SAME if distance <= rule.tolerance else Likeness.NEAR), turn, distance


def _angle_between(parts: Sequence[Fraction], signs: Sequence[int]) -> Fraction:
    """The rotation angle between two close quaternions: twice the distance between their directions."""
    length, size = hypot(*map(float, parts)), hypot(*signs)
    return Fraction(2 * hypot(*(float(part) / length - sign / size for part, sign in zip(parts, signs, strict=True))))


Three = tuple[Fraction, Fraction, Fraction]


def shifts(xyz: Sequence[Fraction]) -> tuple[Transform, ...]:
    """Shifts along x, y, z, without shifts by zero."""
    return tuple(Shift(axis, Number(amount)) for axis, amount in zip(Axis, xyz, strict=True) if amount)


def linear(factor: Fraction, item: Expression, offset: Expression = ZERO) -> Expression:
    """factor * item + offset, in its shortest form."""
    if not factor:
        return offset
    if abs(factor) != 1:
        item = Operation("*", (Number(factor), item))
    elif factor < 0:
        item = negative(item)
    return plus(item, offset)


def plus(item: Expression, offset: Expression) -> Expression:
    """item + offset, as a difference if the offset begins with a minus."""
    if ZERO in (item, offset):
        return offset if item == ZERO else item
    taken = without_minus(offset)
    return Operation("+", (item, offset)) if taken is None else Operation("-", (item, taken))


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction as a signed coordinate axis after the rotations `turns` (empty for a coordinate axis)."""

    axis: Axis
    sign: int = 1
    turns: tuple[Transform, ...] = ()

    def rotation(self, angle: Expression) -> tuple[Transform, ...]:
        """Rotation about the direction, in the original axes."""
        return (*self.turns, Rotation(self.axis, linear(Fraction(self.sign), angle)), *inverse(self.turns))

    def translation(self, distance: Expression) -> tuple[Transform, ...]:
        """Translation along the direction."""
        return (*self.turns, Shift(self.axis, linear(Fraction(self.sign), distance)), *inverse(self.turns))


def direction(x: Fraction, y: Fraction, z: Fraction) -> Direction:
    """The exact direction of a nonzero vector of any length."""
    along = [(axis, amount) for axis, amount in zip(Axis, (x, y, z), strict=True) if amount]
    if len(along) == 1:
        axis, amount = along[0]
        return Direction(axis, 1 if amount > 0 else -1)
    if not z:
        return Direction(Axis.X, turns=(Rotation(Axis.Z, _atan2(y, x)),))
    if not y:
        return Direction(Axis.Z, turns=(Rotation(Axis.Y, _atan2(x, z)),))
    if not x:
        return Direction(Axis.Z, turns=(Rotation(Axis.X, _atan2(-y, z)),))
    tilt = Call("atan2", (Call("sqrt", (Number(x * x + y * y),)), Number(z)))
    return Direction(Axis.Z, turns=(Rotation(Axis.Z, _atan2(y, x)), Rotation(Axis.Y, tilt)))


def _atan2(y: Fraction, x: Fraction) -> Expression:
    return Call("atan2", (Number(y), Number(x)))


class AngleReader:
    """Reads angles and directions with a rule for right angles, and reports those that were rounded."""

    def __init__(self, rule: RightAngles, findings: Findings) -> None:
        self.rule = rule
        self.findings = findings

    def angle(self, written: Written, what: str, place: Place) -> Expression:
        """An angle in radians; a rounded multiple of the right angle becomes k*pi/2."""
        likeness, turns = self.rule.judge(written)
        if likeness is Likeness.OTHER:
            return Number(written.value)
        exact = pi_multiple(Fraction(turns, 2))
        described = f"{float(written.value)!r} of {what}"
        self._report_angle(likeness is Likeness.SAME, described, text(exact), off_by(written.value, turns), place)
        return exact if likeness is Likeness.SAME else Number(written.value)

    def _report_angle(self, same: bool, described: str, exact: str, distance: Fraction, place: Place) -> None:
        if same:
            kind = FindingKind.RIGHT_ANGLE if distance > DOUBLE else FindingKind.DOUBLE_ANGLE
            message = f"{described} is read as {exact} (difference {float(distance):.1e})"
        else:
            kind = FindingKind.NEAR_RIGHT_ANGLE
            tolerance = tolerance_for(distance)
            message = f"{described} differs from {exact} by {float(distance):.1e}; tolerance {tolerance} rounds it"
        self.findings.add(kind, message, place, "right angles rounded", float(distance))

    def roll_pitch_yaw(self, rpy: Sequence[Written], what: str, place: Place) -> tuple[Transform, ...]:
        """The fixed-axis angles of URDF: first about x, then y, then z of the parent."""
        turned = zip((Axis.Z, Axis.Y, Axis.X), reversed(rpy), strict=True)
        found = [(axis, self.angle(angle, what, place)) for axis, angle in turned]
        return tuple(Rotation(axis, angle) for axis, angle in found if angle != ZERO)

    def direction(self, xyz: Sequence[Written], element: Element, what: str) -> Direction:
        """A direction; components that are noise relative to the largest become zero."""
        amounts = [item.value for item in xyz]
        largest = max(abs(amount) for amount in amounts)
        if not largest:
            remedy = "write the direction of the joint axis, e.g. 0 0 1"
            raise ModelError(f"the axis of {what} is zero", element.place, remedy)
        if self.rule.active:
            cleaned = [amount if abs(amount) > self.rule.noise * largest else Fraction(0) for amount in amounts]
            if cleaned != amounts:
                described = " ".join(f"{float(amount):g}" for amount in amounts)
                taken = " ".join(f"{float(amount):g}" for amount in cleaned)
                message = f"the axis {described} of {what} is read as {taken}"
                self.findings.add(FindingKind.RIGHT_ANGLE, message, element.place, "axes rounded")
            amounts = cleaned
        x, y, z = amounts
        return direction(x, y, z)

    def quaternion(
        self, written: Sequence[Written], what: str, place: Place, unit: str = "1 0 0 0"
    ) -> tuple[Transform, ...]:
        """A quaternion, scalar part first; right-angle rotations become exact. unit: the identity in the file."""
        parts = [item.value for item in written]
        if not any(parts):
            raise ModelError(f"the quaternion of {what} is zero", place, f"write {unit} for no rotation")
        exact = exact_turn(parts)
        if exact is not None:
            return exact.transforms
        likeness, turn, distance = judge_turn(written, self.rule)
        if likeness is not Likeness.OTHER:
            described = f"the quaternion {' '.join(repr(float(part)) for part in parts)} of {what}"
            named = f"the right-angle rotation {' '.join(map(str, turn.signs))}"
            self._report_angle(likeness is Likeness.SAME, described, named, distance, place)
        if likeness is Likeness.SAME:
            return turn.transforms
        e0, e1, e2, e3 = (Number(part) for part in parts)
        return (Quaternion((e0, e1, e2, e3)),)
