"""Legs UPS of round parts on a base that does not turn: no axes, one square root, everything in scalar products.

With d from the joint on the base to that on the ring, l its length, a the first axis of the universal joint, h = d . a,
m = d x a, S = m^2 and v the velocity of the end of d, the angles are known by alpha' = m . v / S (here with the other
sign than in the model) and by sin(beta) = h / l. Parts of inertia J across the leg and I about it, with the prismatic
part's first moment s, have the energy

    T = (J / l^2 + 2 s / l) / 2 (v^2 - (d . v)^2 / l^2) + I / 2 (sin(beta) alpha')^2.

Lagrange's equations of d give the inertia A 1 + b d d^T + c m m^T and a load along the acceleration, v, d, m and a. The
spin's gyroscopic part is that of a monopole: sin(beta) d(alpha) has the area of the sphere for its derivative.
"""

from __future__ import annotations

from functools import cached_property

from kinegraph.derive.platforms.legs.constants import LegNumbers, Part
from kinegraph.derive.platforms.legs.leg import Acceleration, Forces, JointMotion, LegInertia, Load
from kinegraph.derive.platforms.legs.struts import Strut
from kinegraph.derive.platforms.legs.swing import isotropic, symmetric_sum
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.tree.algebra import cross, dot, minus, plus, times
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.records import LegType


def is_round(numbers: LegNumbers) -> bool:
    """Whether both parts of a leg have their masses on its axis and are the same in all directions across it."""
    return all(_is_round(part) for part in (numbers.lower, numbers.upper))


def _is_round(part: Part) -> bool:
    x, y, _ = part.first
    return part.inertia.xx == part.inertia.yy and all(item.is_zero for item in (x, y, *part.inertia[3:]))


class RoundStrut(Strut):
    """A leg UPS of round parts; the base does not turn."""

    def __init__(self, numbers: LegNumbers, ring: FreeMotion, joint: JointMotion) -> None:
        super().__init__(LegType.UPS, numbers, ring, joint)
        self._ahead = self._main.ahead
        self._aside_square = self._square - self._ahead * self._ahead
        shared = (self.length * self._aside_square).reciprocal()
        self.inverse_length = self._aside_square * shared
        self._inverse_aside_square = self.length * shared
        self._inverse_aside = self._main.aside * self._inverse_aside_square
        self._inverse_square = self.inverse_length * self.inverse_length
        self._normal = cross(joint.place, joint.base_axis)
        inertia = numbers.lower.inertia.plus(numbers.upper.inertia)
        self._across, self._about = inertia.xx, inertia.zz

    # how it moves

    @cached_property
    def _far(self) -> Scalar:
        """d . v."""
        return dot(self.joint.place, self.joint.velocity)

    @cached_property
    def _stretch(self) -> Scalar:
        """l' / l."""
        return self._far * self._inverse_square

    @cached_property
    def _rise(self) -> Scalar:
        """h'."""
        return dot(self.joint.base_axis, self.joint.velocity)

    @cached_property
    def _climb(self) -> Scalar:
        """l (sin beta)'."""
        return self._rise - self._lean * self._far

    @cached_property
    def _lean(self) -> Scalar:
        """h / l^2."""
        return self._ahead * self._inverse_square

    @cached_property
    def _along_normal(self) -> Scalar:
        """m . v."""
        return dot(self._normal, self.joint.velocity)

    @cached_property
    def _turn(self) -> Scalar:
        """alpha', here with the other sign."""
        return self._along_normal * self._inverse_aside_square

    @cached_property
    def _turned(self) -> Scalar:
        """The square of the velocity along m."""
        return self._turn * self._along_normal

    @cached_property
    def _climbed(self) -> Scalar:
        """The square of the velocity across leg and m."""
        return self._climb * (self._climb * self._slant)

    @cached_property
    def _slant(self) -> Scalar:
        """1 / cos(beta)^2."""
        return self._square * self._inverse_aside_square

    @cached_property
    def extension_rate(self) -> Scalar:
        """l'."""
        return self._far * self.inverse_length

    def _seen_normal(self, acceleration: Acceleration) -> Scalar:
        """alpha'' S, here with the other sign."""
        aside = self._far - self._ahead * self._rise
        return dot(self._normal, acceleration.seen) - 2 * (self._turn * aside)

    def _growth(self, acceleration: Acceleration) -> Scalar:
        return (self._stretched(acceleration) + self._climbed) * self.inverse_length

    def _stretched(self, acceleration: Acceleration) -> Scalar:
        """l l'' without what climbing adds."""
        return dot(self.joint.place, acceleration.seen) + self._turned

    # inertia

    @cached_property
    def _swing_inertia(self) -> Scalar:
        """J / l^2."""
        return self._across * self._inverse_square

    @cached_property
    def _lever(self) -> Scalar:
        """s / l."""
        return self.numbers.upper.first[2] * self.inverse_length

    @cached_property
    def _isotropic(self) -> Scalar:
        """A."""
        return self._swing_inertia + self._lever + self._lever

    @cached_property
    def _spin_row(self) -> Scalar:
        """Times m . v / l it gives the spin."""
        return self._ahead * self._inverse_aside_square

    @cached_property
    def _spin_inertia(self) -> Scalar:
        """That of the spin times what of it a unit of m . v / l^2 is."""
        return self._about * self._inverse_square * self._spin_row

    def inertia(self) -> LegInertia:
        along = (self.numbers.armature - self._isotropic) * self._inverse_square
        spun = times(self._spin_inertia * self._spin_row, self._normal)
        pairs = (times(along, self.joint.place), self.joint.place), (spun, self._normal)
        return LegInertia(symmetric_sum(isotropic(self._isotropic), pairs))

    # loads

    @cached_property
    def _slowing(self) -> Scalar:
        """Times the velocity across the leg it is the force of a length that changes."""
        return 2 * (self._stretch * (self._swing_inertia + self._lever))

    def load(self, acceleration: Acceleration, forces: Forces) -> Load:
        weight = (self.numbers.lower.first[2] + self.numbers.upper.first[2]) * self.inverse_length
        aside = self._aside(forces)
        along = self._along(acceleration, forces) + aside * self._ahead
        along = along + weight * dot(self.joint.place, acceleration.fall)
        found = plus(times(self._isotropic, acceleration.seen), times(along * self._inverse_square, self.joint.place))
        found = plus(found, times(self._round_about(acceleration, forces), self._normal))
        return Load(minus(found, plus(times(aside, self.joint.base_axis), times(weight, acceleration.fall))))

    def _aside(self, forces: Forces) -> Scalar:
        """The load against a, which takes a share h / l^2 of it along d."""
        slowed = self._slowing * (self._climb * self._slant)
        return self._spin_inertia * self._turned + slowed + forces.beta * self._inverse_aside

    def _along(self, acceleration: Acceleration, forces: Forces) -> Scalar:
        """Of the load along d, times l^2, what does not come with that along a."""
        pushed = dot(self.joint.place, times(self._isotropic, acceleration.seen))
        flung = self._lever * (self._turned + self._climbed)
        return self._axial(acceleration, forces) * self.length - pushed - flung

    def _round_about(self, acceleration: Acceleration, forces: Forces) -> Scalar:
        """The load along m."""
        spun = self._spin_inertia * self._spin_row * self._seen_normal(acceleration)
        turned = self._turn * (2 * (self._spin_inertia * self._climb) - self._slowing)
        return spun + turned + forces.alpha * self._inverse_aside_square

    # coordinates

    def rates(self) -> tuple[Scalar, ...]:
        return self.extension_rate, -self._turn, self._climb * self._inverse_aside

    def accelerations(self, acceleration: Acceleration) -> tuple[Scalar, ...]:
        lifted = self._lean * self._stretched(acceleration)
        rest = dot(self.joint.base_axis, acceleration.seen) - lifted - 2 * (self._climb * self._stretch)
        alpha = self._seen_normal(acceleration) * self._inverse_aside_square
        return self._growth(acceleration), -alpha, rest * self._inverse_aside
