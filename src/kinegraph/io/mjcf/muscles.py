"""Muscles of MJCF: active force by length and speed, passive force by length, and activation, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.model.expressions import Call, Expression, Number, Operation
from kinegraph.model.mechanism import ONE, ZERO

#: Parameters of a muscle that are not stated: range, force, scale, lmin, lmax, vmax, fpmax, fvmax.
MUSCLE_VALUES = tuple(map(Fraction, ("0.75", "1.05", "-1", "200", "0.5", "1.6", "1.5", "1.3", "1.2")))
#: Time constants of activation and deactivation, and the width of the step between them.
MUSCLE_TIMES = tuple(map(Fraction, ("0.01", "0.04", "0")))

_HALF = Fraction(1, 2)
_LEAST = Fraction(1, 10**15)  # MuJoCo's least divisor


@dataclass(frozen=True)
class MuscleCurves:
    """The curves of one muscle: `lower`, `upper` are the lengths of its tendon, `force` its largest force."""

    values: Sequence[Fraction]
    lower: Fraction
    upper: Fraction
    force: Fraction

    @property
    def _optimal(self) -> Fraction:
        """The length of the muscle at which its force is largest."""
        return (self.upper - self.lower) / max(self.values[1] - self.values[0], _LEAST)

    def length(self, along: Expression) -> Expression:
        """The length of the muscle, as a multiple of the optimal one."""
        return _linear(along, 1 / max(self._optimal, _LEAST), self.values[0] - self.lower / max(self._optimal, _LEAST))

    def active(self, along: Expression, rate: Expression) -> Expression:
        """The force at full activation; it pulls, so it is negative."""
        length = self.length(along)
        speed = _linear(rate, 1 / max(self._optimal * self.values[6], _LEAST))
        return _times(-self.force, self._by_length(length) * self._by_speed(speed))

    def _by_length(self, length: Expression) -> Expression:
        """A bump of four parabolas: zero at lmin and lmax, one at the optimal length."""
        least, most = self.values[4], self.values[5]
        first, last = (least + 1) * _HALF, (1 + most) * _HALF
        rising = _times(_HALF, _square(_linear(length, *_scaled(-least, first - least))))
        up = ONE - _times(_HALF, _square(_linear(length, *_scaled(Fraction(-1), 1 - first))))
        down = ONE - _times(_HALF, _square(_linear(length, *_scaled(Fraction(-1), last - 1))))
        falling = _times(_HALF, _square(_linear(length, *_scaled(-most, most - last))))
        bump = _beyond(length, first, _beyond(length, Fraction(1), _beyond(length, last, falling, down), up), rising)
        return _beyond(length, least, _beyond(length, most, ZERO, bump), ZERO)

    def _by_speed(self, speed: Expression) -> Expression:
        """From zero at the largest speed of shortening to fvmax when it is stretched."""
        largest = self.values[8]
        reach = largest - 1
        stretched = Number(largest) - _times(1 / max(reach, _LEAST), _square(_linear(speed, Fraction(-1), reach)))
        slow = _beyond(speed, reach, Number(largest), stretched)
        return _beyond(speed, Fraction(-1), _beyond(speed, Fraction(0), slow, _square(speed + ONE)), ZERO)

    def passive(self, along: Expression) -> Expression:
        """The force without activation: zero up to the optimal length, then a parabola and its tangent."""
        length = self.length(along)
        middle = (1 + self.values[5]) * _HALF
        width = max(middle - 1, _LEAST)
        bent = _times(_HALF, _square(_linear(length, 1 / width, -1 / width)))
        straight = _linear(length, 1 / width, _HALF - middle / width)
        curve = _beyond(length, Fraction(1), _beyond(length, middle, straight, bent), ZERO)
        return _times(-self.force * self.values[7], curve)


def muscle_rate(times: Sequence[Fraction], control: Expression, activation: Expression) -> Expression:
    """The rate of activation. It rises and falls with time constants that depend on the activation."""
    excitation, level = (Call("max", (ZERO, Call("min", (ONE, one)))) for one in (control, activation))
    missing = excitation - activation
    stretch = _linear(level, Fraction(3, 2), _HALF)
    rising, falling = _times(times[0], stretch), Number(times[1]) / stretch
    if times[2] < _LEAST:
        constant: Expression = Call("select", (missing, rising, falling))
    else:
        part = Call("max", (ZERO, Call("min", (ONE, _linear(missing, 1 / times[2], _HALF)))))
        step = part * part * part * (Number(Fraction(3)) * part * (_linear(part, Fraction(2), Fraction(-5))) + 10)
        constant = falling + (rising - falling) * step
    return Operation("/", (missing, Call("max", (Number(_LEAST), constant))))


def _beyond(item: Expression, limit: Fraction, above: Expression, below: Expression) -> Expression:
    """`above` where the item is larger than a limit."""
    return Call("select", (_linear(item, Fraction(1), -limit), above, below))


def _scaled(offset: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
    """Factor and offset of (x + offset) / width."""
    width = max(width, _LEAST)
    return 1 / width, offset / width


def _linear(item: Expression, factor: Fraction, offset: Fraction = Fraction(0)) -> Expression:
    scaled = item if factor == 1 else _times(factor, item)
    return scaled + Number(offset) if offset else scaled


def _times(factor: Fraction, item: Expression) -> Expression:
    return Operation("*", (Number(factor), item))


def _square(item: Expression) -> Expression:
    return Operation("^", (item, Number(Fraction(2))))
