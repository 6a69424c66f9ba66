"""Rounded right angles: 1.5708 in a model file means pi/2, and an exact right angle makes the equations much shorter.

An angle is taken for k right angles if it is within `noise` of them (single precision, 6.1e-17 and the like), or if it
is what k right angles become when they are rounded or cut off to the digits written, and is not off by more than
`tolerance`. So 1.5708, 1.5707 and 3.14159 are right angles, while 1.57075, a calibrated angle, stays as it is. An angle
such as 1.57 would be one but for the tolerance; it stays as well, and is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.io.robot.attributes import Written
from kinegraph.model.expression import PI, Expression, Name, Number, Operation

#: Good to 1e-50: enough to judge every decimal a file may hold.
PI_VALUE = Fraction("3.14159265358979323846264338327950288419716939937510")
RIGHT_ANGLE = PI_VALUE / 2

#: Angles coarser than `tolerance` but within this of k right angles are worth a word in the report.
_NEAR = Fraction(1, 200)


class Likeness(Enum):
    """How an angle stands to the nearest multiple of the right angle."""

    SAME = "is taken as"
    NEAR = "is near"
    OTHER = "is not"


@dataclass(frozen=True, slots=True)
class RightAngles:
    """When a decimal angle, in radians, is taken for a multiple of the right angle."""

    tolerance: Fraction = Fraction(1, 10_000)
    noise: Fraction = Fraction(1, 1_000_000)
    active: bool = True

    def judge(self, angle: Written) -> tuple[Likeness, int]:
        """How the angle stands to the nearest multiple, and which multiple that is."""
        turns = round(angle.value / RIGHT_ANGLE)
        distance = abs(angle.value - turns * RIGHT_ANGLE)
        if not self.active or not angle.value:
            return Likeness.OTHER, turns
        if distance <= self.noise:
            return Likeness.SAME, turns
        if not turns or not _shortened(abs(turns) * RIGHT_ANGLE, abs(angle.value), angle.decimals):
            return Likeness.OTHER, turns
        if distance <= self.tolerance:
            return Likeness.SAME, turns
        return (Likeness.NEAR if distance <= _NEAR else Likeness.OTHER), turns


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
