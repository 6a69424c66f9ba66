"""Origins, axes, angles and quaternions of robot files as elementary transforms, exact where possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot

from kinegraph.errors import ModelError, Place
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.right_angles import DOUBLE, NEAR, Likeness, RightAngles, off_by, pi_multiple, tolerance_for
from kinegraph.io.robot.xml import Element, Written
from kinegraph.model.expressions import Call, Expression, Number, Operation, text
from kinegraph.model.mechanism import ZERO, Axis, Quaternion, Rotation, Shift, Transform
from kinegraph.model.report import FindingKind

# Quaternions that turn by right angles: their components are equal in size or zero, exactly or nearly.


@dataclass(frozen=True, slots=True)
class RightTurn:
    """The rotation of a quaternion whose components have these signs and one size, or are zero."""

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
    """The right turn a quaternion is, of any length; None if it is none."""
    sizes = {abs(part) for part in parts if part}
    signs = tuple((part > 0) - (part < 0) for part in parts)
    return RightTurn(signs) if len(sizes) == 1 and sum(map(abs, signs)) in (1, 2, 4) else None


def judge_turn(written: Sequence[Written], rule: RightAngles) -> tuple[Likeness, RightTurn, Fraction]:
    """How a quaternion that is no right turn stands to the nearest one, which that is, and the angle between them.

    The rule is that of angles: beyond `noise` every component must be what a right turn leaves when it is rounded or
    cut off to the digits written.
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
    """The angle of the rotation between two quaternions that are close: twice the distance of their directions."""
    length, size = hypot(*map(float, parts)), hypot(*signs)
    return Fraction(2 * hypot(*(float(part) / length - sign / size for part, sign in zip(parts, signs, strict=True))))


# Origins, axes and angles of robot files as elementary transforms, exact, with right angles recognized.

Three = tuple[Fraction, Fraction, Fraction]


def shifts(xyz: Sequence[Fraction]) -> tuple[Transform, ...]:
    """Moves along x, y, z; those by zero are left out."""
    return tuple(Shift(axis, Number(amount)) for axis, amount in zip(Axis, xyz, strict=True) if amount)


def inverse(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The way back of static transforms."""
    return tuple(_inverted(transform) for transform in reversed(tuple(transforms)))


def _inverted(transform: Transform) -> Transform:
    if isinstance(transform, Rotation):
        return Rotation(transform.axis, negative(transform.angle))
    if isinstance(transform, Shift):
        return Shift(transform.axis, negative(transform.distance))
    e0, *rest = transform.components
    e1, e2, e3 = (negative(item) for item in rest)
    return Quaternion((e0, e1, e2, e3))


def negative(item: Expression) -> Expression:
    """-item, numbers and signs folded."""
    if isinstance(item, Number):
        return Number(-item.value)
    taken = _without_minus(item)
    if taken is not None:
        return taken
    if isinstance(item, Operation) and item.operator in ("*", "/"):
        return Operation(item.operator, (negative(item.operands[0]), *item.operands[1:]))
    return Operation("neg", (item,))


def linear(factor: Fraction, item: Expression, offset: Expression = ZERO) -> Expression:
    """factor * item + offset, written as briefly as possible."""
    if not factor:
        return offset
    if abs(factor) != 1:
        item = Operation("*", (Number(factor), item))
    elif factor < 0:
        item = negative(item)
    return plus(item, offset)


def plus(item: Expression, offset: Expression) -> Expression:
    """item + offset, with a minus where the offset begins with one."""
    if ZERO in (item, offset):
        return offset if item == ZERO else item
    taken = _without_minus(offset)
    return Operation("+", (item, offset)) if taken is None else Operation("-", (item, taken))


def _without_minus(item: Expression) -> Expression | None:
    """-item if item begins with a minus: -2, -x, -pi/2; None otherwise."""
    if isinstance(item, Number):
        return Number(-item.value) if item.value < 0 else None
    if not isinstance(item, Operation) or item.operator not in ("neg", "*", "/"):
        return None
    if item.operator == "neg":
        return item.operands[0]
    first = _without_minus(item.operands[0])
    return None if first is None else Operation(item.operator, (first, *item.operands[1:]))


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction as a coordinate axis with a sign, after turning by `turns` (none where it is one already)."""

    axis: Axis
    sign: int = 1
    turns: tuple[Transform, ...] = ()

    def rotation(self, angle: Expression) -> tuple[Transform, ...]:
        """Turn about the direction; the frame is turned back afterwards."""
        return (*self.turns, Rotation(self.axis, linear(Fraction(self.sign), angle)), *inverse(self.turns))

    def translation(self, distance: Expression) -> tuple[Transform, ...]:
        """Move along the direction."""
        return (*self.turns, Shift(self.axis, linear(Fraction(self.sign), distance)), *inverse(self.turns))


def direction(x: Fraction, y: Fraction, z: Fraction) -> Direction:
    """The direction of a vector that is not zero, of any length; exact."""
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
    """Reads angles and directions by one rule for right angles, and reports each that was recognized."""

    def __init__(self, rule: RightAngles, findings: Findings) -> None:
        self.rule = rule
        self.findings = findings

    def angle(self, written: Written, what: str, place: Place) -> Expression:
        """An angle in radians; k right angles become k*pi/2."""
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
            message = f"{described} is taken as {exact}, {float(distance):.1e} away"
        else:
            kind = FindingKind.NEAR_RIGHT_ANGLE
            tolerance = tolerance_for(distance)
            message = f"{described} is {float(distance):.1e} off {exact}; angle tolerance {tolerance} takes it so"
        self.findings.add(kind, message, place, "right angles rounded", float(distance))

    def roll_pitch_yaw(self, rpy: Sequence[Written], what: str, place: Place) -> tuple[Transform, ...]:
        """The fixed-axis angles of URDF: first about x, then y, then z of the parent."""
        turned = zip((Axis.Z, Axis.Y, Axis.X), reversed(rpy), strict=True)
        found = [(axis, self.angle(angle, what, place)) for axis, angle in turned]
        return tuple(Rotation(axis, angle) for axis, angle in found if angle != ZERO)

    def direction(self, xyz: Sequence[Written], element: Element, what: str) -> Direction:
        """A direction; components that are noise beside the largest are zero."""
        amounts = [item.value for item in xyz]
        largest = max(abs(amount) for amount in amounts)
        if not largest:
            remedy = "write the direction the joint turns about or moves along, e.g. 0 0 1"
            raise ModelError(f"the axis of {what} is zero", element.place, remedy)
        if self.rule.active:
            cleaned = [amount if abs(amount) > self.rule.noise * largest else Fraction(0) for amount in amounts]
            if cleaned != amounts:
                described = " ".join(f"{float(amount):g}" for amount in amounts)
                taken = " ".join(f"{float(amount):g}" for amount in cleaned)
                message = f"the axis {described} of {what} is taken as {taken}"
                self.findings.add(FindingKind.RIGHT_ANGLE, message, element.place, "axes rounded")
            amounts = cleaned
        x, y, z = amounts
        return direction(x, y, z)

    def quaternion(
        self, written: Sequence[Written], what: str, place: Place, unit: str = "1 0 0 0"
    ) -> tuple[Transform, ...]:
        """A quaternion, scalar part first; turns by right angles become exact. unit: how the file says no rotation."""
        parts = [item.value for item in written]
        if not any(parts):
            raise ModelError(f"the quaternion of {what} is zero", place, f"write {unit} for no rotation")
        exact = exact_turn(parts)
        if exact is not None:
            return exact.transforms
        likeness, turn, distance = judge_turn(written, self.rule)
        if likeness is not Likeness.OTHER:
            described = f"the quaternion {' '.join(repr(float(part)) for part in parts)} of {what}"
            named = f"the right turn {' '.join(map(str, turn.signs))}"
            self._report_angle(likeness is Likeness.SAME, described, named, distance, place)
        if likeness is Likeness.SAME:
            return turn.transforms
        e0, e1, e2, e3 = (Number(part) for part in parts)
        return (Quaternion((e0, e1, e2, e3)),)
