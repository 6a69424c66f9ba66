"""Rounded right angles: an exact right angle makes the equations much shorter, but 1.5708 is not pi/2.

An angle within 1e-7 of a multiple of the right angle becomes exact: single precision, 6.1e-17 and the like. With a
larger `tolerance`, an angle also becomes exact if it is the exact value rounded or truncated to the digits written, and
differs by no more than the tolerance. So 1e-5 changes 1.5708 and 3.14159, but not 1.57079, a calibrated angle. Angles
that a larger tolerance would change are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from kinegraph.errors import ModelError
from kinegraph.model.expressions import PI, Expression, Name, Number, Operation

if TYPE_CHECKING:
    from kinegraph.io.robot.xml import Written

#: Accurate to 1e-50: enough for every decimal in a file.
PI_VALUE = Fraction("3.14159265358979323846264338327950288419716939937510")
RIGHT_ANGLE = PI_VALUE / 2

#: Default tolerance of right angles.
ANGLE_TOLERANCE = 1e-7

#: An angle within this is as exact as a double.
DOUBLE = Fraction(1, 10**15)

#: Angles beyond `tolerance` but within this of a multiple of the right angle are reported.
NEAR = Fraction(1, 200)


class Likeness(Enum):
    """Comparison of an angle with the nearest multiple of the right angle."""

    SAME = "is read as"
    NEAR = "is near"
    OTHER = "is not"


@dataclass(frozen=True, slots=True)
class RightAngles:
    """The rule by which a decimal angle, in radians, becomes a multiple of the right angle."""

    tolerance: Fraction = Fraction(str(ANGLE_TOLERANCE))
    active: bool = True

    @classmethod
    def within(cls, tolerance: float, active: bool = True) -> RightAngles:
        """The rule for a tolerance in radians, from 0 (no rounding) to 0.1."""
        if not 0 <= tolerance <= 0.1:
            remedy = "write e.g. 1e-5, which makes 1.5708 exactly pi/2"
            raise ModelError(f"the angle tolerance {tolerance!r} is not from 0 to 0.1 radians", remedy=remedy)
        return cls(Fraction(str(tolerance)), active)

    @property
    def noise(self) -> Fraction:
        """The tolerance independent of the number of digits."""
        return min(self.tolerance, Fraction(str(ANGLE_TOLERANCE)))

    def judge(self, angle: Written) -> tuple[Likeness, int]:
        """Compare the angle with the nearest multiple: the result, and the multiple."""
        turns = round(angle.value / RIGHT_ANGLE)
        distance = off_by(angle.value, turns)
        if not self.active or not angle.value:
            return Likeness.OTHER, turns
        if distance <= self.noise:
            return Likeness.SAME, turns
        if not turns or not _shortened(abs(turns) * RIGHT_ANGLE, abs(angle.value), angle.decimals):
            return Likeness.OTHER, turns
        if distance <= self.tolerance:
            return Likeness.SAME, turns
        return (Likeness.NEAR if distance <= NEAR else Likeness.OTHER), turns


def off_by(angle: Fraction, turns: int) -> Fraction:
    """The difference between an angle and a multiple of the right angle."""
    return abs(angle - turns * RIGHT_ANGLE)


def tolerance_for(distance: Fraction) -> str:
    """The smallest power of ten, as text, that is a tolerance for this difference."""
    exponent = next(exponent for exponent in range(16, -1, -1) if distance <= Fraction(1, 10**exponent))
    return f"1e-{exponent}"


def _shortened(exact: Fraction, written: Fraction, decimals: int) -> bool:
    """Whether `written` is `exact`, rounded or truncated to this number of decimals."""
    scale = 10**decimals
    return written * scale in (round(exact * scale), exact * scale // 1)


def pi_multiple(factor: Fraction) -> Expression:
    """factor * pi in the form of the model language: `pi/2`, `-3*pi/4`."""
    pi: Expression = Name(PI)
    if not factor:
        return Number(Fraction(0))
    if abs(factor.numerator) != 1:
        pi = Operation("*", (Number(Fraction(factor.numerator)), pi))
    elif factor < 0:
        pi = Operation("neg", (pi,))
    return pi if factor.denominator == 1 else Operation("/", (pi, Number(Fraction(factor.denominator))))
