"""Rounded right angles: an exact right angle makes the equations much shorter, but 1.5708 is not pi/2.

An angle is taken for k right angles if it is within 1e-7 of them: single precision, 6.1e-17 and the like. With a larger
`tolerance` it is also taken if it is what k right angles become when they are rounded or cut off to the digits written,
and is not off by more than that. So 1e-5 takes 1.5708 and 3.14159, while 1.57079, a calibrated angle, stays as it is.
Angles that a larger tolerance would take are reported.
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

#: Good to 1e-50: enough to judge every decimal a file may hold.
PI_VALUE = Fraction("3.14159265358979323846264338327950288419716939937510")
RIGHT_ANGLE = PI_VALUE / 2

#: How far an angle may be off to be taken for k right angles, unless the reader is told otherwise.
ANGLE_TOLERANCE = 1e-7

#: An angle is written in full where it is no farther off than the nearest double.
DOUBLE = Fraction(1, 10**15)

#: Angles coarser than `tolerance` but within this of k right angles are worth a word in the report.
NEAR = Fraction(1, 200)


class Likeness(Enum):
    """How an angle stands to the nearest multiple of the right angle."""

    SAME = "is taken as"
    NEAR = "is near"
    OTHER = "is not"


@dataclass(frozen=True, slots=True)
class RightAngles:
    """When a decimal angle, in radians, is taken for a multiple of the right angle."""

    tolerance: Fraction = Fraction(str(ANGLE_TOLERANCE))
    active: bool = True

    @classmethod
    def within(cls, tolerance: float, active: bool = True) -> RightAngles:
        """The rule for a tolerance in radians, from 0 (none but exact ones) to 0.1."""
        if not 0 <= tolerance <= 0.1:
            remedy = "write e.g. 1e-5: 1.5708 is then taken for pi/2"
            raise ModelError(f"{tolerance!r} is no tolerance of angles, which is 0 to 0.1 radians", remedy=remedy)
        return cls(Fraction(str(tolerance)), active)

    @property
    def noise(self) -> Fraction:
        """How far off an angle may be whatever its digits."""
        return min(self.tolerance, Fraction(str(ANGLE_TOLERANCE)))

    def judge(self, angle: Written) -> tuple[Likeness, int]:
        """How the angle stands to the nearest multiple, and which multiple that is."""
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
    """How far an angle is off that many right angles."""
    return abs(angle - turns * RIGHT_ANGLE)


def tolerance_for(distance: Fraction) -> str:
    """The power of ten, as one writes it, that is the least tolerance for an angle so far off."""
    exponent = next(exponent for exponent in range(16, -1, -1) if distance <= Fraction(1, 10**exponent))
    return f"1e-{exponent}"


def _shortened(exact: Fraction, written: Fraction, decimals: int) -> bool:
    """Whether `written` is `exact` rounded or cut off to so many decimals."""
    scale = 10**decimals
    return written * scale in (round(exact * scale), exact * scale // 1)


def pi_multiple(factor: Fraction) -> Expression:
    """factor * pi as the language writes it: `pi/2`, `-3*pi/4`."""
    pi: Expression = Name(PI)
    if not factor:
        return Number(Fraction(0))
    if abs(factor.numerator) != 1:
        pi = Operation("*", (Number(Fraction(factor.numerator)), pi))
    elif factor < 0:
        pi = Operation("neg", (pi,))
    return pi if factor.denominator == 1 else Operation("/", (pi, Number(Fraction(factor.denominator))))
