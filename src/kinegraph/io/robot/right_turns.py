"""Quaternions that turn by right angles: their components are equal in size or zero, exactly or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot

from kinegraph.io.robot.attributes import Written
from kinegraph.io.robot.right_angles import NEAR, Likeness, RightAngles, pi_multiple
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Axis, Quaternion, Rotation, Transform


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
