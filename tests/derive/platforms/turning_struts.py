"""Legs UPS of round parts on a base that turns, without axes of their own: a second derivation, by the spin's moment.

Seen by an observer who does not turn, all but the spin is as on a base at rest. With W the angular velocity of the base
and alpha' from the velocity relative to it (here with the other sign than in the model) the spin is W . n - sin(beta)
alpha', n = d / l. Its moment I s' n + I s n' is held by the end of d and, along the axis a x (d x a), by the universal
joint, so that the load on the end is I s / l^3 v x d - I s' h / (l S) m. It takes more operations than
axes do, for momenta against the base want these.
"""

from __future__ import annotations

from functools import cached_property

from kinegraph.derive.platforms.free_motion import added, skew, square
from kinegraph.derive.platforms.legs import JointAcceleration, LegForces, LegMomenta, isotropic, symmetric_sum
from kinegraph.derive.platforms.struts import RoundStrut
from kinegraph.derive.tree.algebra import MassMoments, Matrix, Vector, cross, dot, minus, plus, times, zero_vector
from kinegraph.graph.build import Scalar


class TurningStrut(RoundStrut):
    """An axially symmetric UPS leg on a rotating base."""

    @cached_property
    def _base_spin(self) -> Vector:
        spin = self.joint.base_spin
        return zero_vector(self.length) if spin is None else spin

    # how it moves, relative to the base

    @cached_property
    def _along_place(self) -> Scalar:
        """W . d."""
        return dot(self._base_spin, self.joint.place)

    @cached_property
    def _along_axis(self) -> Scalar:
        """W . a."""
        return dot(self._base_spin, self.joint.base_axis)

    @cached_property
    def _carried(self) -> Vector:
        """a', which the base turns."""
        return cross(self._base_spin, self.joint.base_axis)

    @cached_property
    def _relative_rise(self) -> Scalar:
        """h'."""
        return self._rise + dot(self._carried, self.joint.place)

    @cached_property
    def _relative_climb(self) -> Scalar:
        """l (sin beta)'."""
        return self._relative_rise - self._lean * self._far

    @cached_property
    def _relative_turn(self) -> Scalar:
        """alpha', with opposite sign."""
        turned = self._along_normal - self._ahead * self._along_place + self._square * self._along_axis
        return turned * self._inverse_aside_square

    @cached_property
    def _widening(self) -> Scalar:
        """S' / (2 S)."""
        return (self._far - self._ahead * self._relative_rise) * self._inverse_aside_square

    def _base_changes(self, acceleration: JointAcceleration) -> tuple[Scalar, Scalar]:
        """(W . d)' and (W . a)'."""
        along = dot(self._base_spin, self.joint.velocity)
        if acceleration.base is None:
            return along, along.number(0)
        own = dot(acceleration.base, self.joint.place)
        return along + own, dot(acceleration.base, self.joint.base_axis)

    def _normal_change(self, acceleration: JointAcceleration) -> Scalar:
        """(m . v)'."""
        turned = self._ahead * dot(self._base_spin, self.joint.velocity) - self._along_place * self._rise
        return dot(self._normal, acceleration.seen) + turned

    def _relative_change(self, acceleration: JointAcceleration) -> Scalar:
        """alpha'', with opposite sign."""
        along, axial = self._base_changes(acceleration)
        changed = self._normal_change(acceleration) - self._relative_rise * self._along_place - self._ahead * along
        changed = changed + 2 * (self._far * self._along_axis) + self._square * axial
        return changed * self._inverse_aside_square - 2 * (self._relative_turn * self._widening)

    # the spin

    @cached_property
    def _shift(self) -> Scalar:
        """W . (d - h a)."""
        return self._along_place - self._ahead * self._along_axis

    @cached_property
    def _inverse_spread(self) -> Scalar:
        """1 / (l S)."""
        return self.inverse_length * self._inverse_aside_square

    @cached_property
    def _spin(self) -> Scalar:
        return (self._square * self._shift - self._ahead * self._along_normal) * self._inverse_spread

    def _spin_change(self, acceleration: JointAcceleration) -> Scalar:
        along, axial = self._base_changes(acceleration)
        shifted = along - self._relative_rise * self._along_axis - self._ahead * axial
        grown = 2 * (self._far * self._shift) + self._square * shifted
        turned = self._relative_rise * self._along_normal + self._ahead * self._normal_change(acceleration)
        slowed = self._stretch + 2 * self._widening
        return (grown - turned) * self._inverse_spread - self._spin * slowed

    # loads

    def _aside(self, forces: LegForces) -> Scalar:
        slowed = self._slowing * (self._climb * self._slant)
        spun = self._about * self._spin * self._turn * self.inverse_length
        return slowed - spun + forces.beta * self._inverse_aside

    def _round_about(self, acceleration: JointAcceleration, forces: LegForces) -> Scalar:
        spun = self._climb * self._inverse_aside_square * self._spin + self._spin_row * self._spin_change(acceleration)
        pushed = forces.alpha * self._inverse_aside_square
        return pushed - self._about * self.inverse_length * spun - self._turn * self._slowing

    # what it is to the base

    @cached_property
    def _first(self) -> Scalar:
        """The first moment of both parts along the leg."""
        return self.numbers.lower.first[2] + self.numbers.upper.first[2]

    @cached_property
    def _first_by_length(self) -> Scalar:
        return self._first * self.inverse_length

    def moments(self) -> MassMoments:
        second, place = self.numbers.lower.second.plus(self.numbers.upper.second), self.joint.place
        along = second.zz - 2 * (self.length * self.numbers.lower.first[2]) - second.xx
        spread = symmetric_sum(isotropic(second.xx), [(times(along * self._inverse_square, place), place)])
        return MassMoments(self.length.number(0), times(self._first_by_length, place), spread)

    def momenta(self) -> LegMomenta:
        across, place = self._first_by_length, self.joint.place
        swung = symmetric_sum(isotropic(across), [(times(-(across * self._inverse_square), place), place)])
        lever = self._across * self.inverse_length + self.numbers.upper.first[2] - self.numbers.lower.first[2]
        spun = times(-(self._about * self._inverse_square * self._spin_row), self._normal)
        return LegMomenta(square(swung), added([skew(times(lever * self.inverse_length, place)), _dyad(place, spun)]))

    def momentum_rate(self, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        lower, upper = self.numbers.lower.first[2], self.numbers.upper.first[2]
        place, velocity, stretch = self.joint.place, self.joint.velocity, self._stretch
        bent = minus(acceleration.seen, times(2 * stretch, velocity))
        grown = 2 * (stretch * stretch) - self._growth(acceleration) * self.inverse_length
        force = times(self._first_by_length, plus(bent, times(grown, place)))
        swung = (self._across - self.length * lower) * self._inverse_square
        pushed = plus(times(swung, bent), times(upper * self.inverse_length, acceleration.seen))
        pushed = minus(pushed, times(self._first_by_length, acceleration.fall))
        spin = self._about * self.inverse_length
        spun = times(spin * self._spin, velocity)
        about = times(spin * (self._spin_change(acceleration) - self._spin * stretch), place)
        return force, plus(cross(place, pushed), plus(spun, about))

    # coordinates

    def rates(self) -> tuple[Scalar, ...]:
        return self.extension_rate, -self._relative_turn, self._relative_climb * self._inverse_aside

    def accelerations(self, acceleration: JointAcceleration) -> tuple[Scalar, ...]:
        climbed = self._relative_climb * (self._relative_climb * self._slant)
        lifted = self._lean * (self._stretched(acceleration) + self._climbed - climbed)
        rest = self._rise_change(acceleration) - lifted - 2 * (self._relative_climb * self._stretch)
        return self._growth(acceleration), -self._relative_change(acceleration), rest * self._inverse_aside

    def _rise_change(self, acceleration: JointAcceleration) -> Scalar:
        """h''."""
        found = dot(self.joint.base_axis, acceleration.seen) + 2 * dot(self._carried, self.joint.velocity)
        found = found + dot(cross(self._base_spin, self._carried), self.joint.place)
        if acceleration.base is None:
            return found
        return found + dot(cross(acceleration.base, self.joint.base_axis), self.joint.place)


def _dyad(a: Vector, b: Vector) -> Matrix:
    """a b^T."""
    x, y, z = (times(item, b) for item in a)
    return x, y, z
