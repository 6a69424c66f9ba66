"""A long part that swings about one end: its angular velocity and acceleration from the motion of the other end.

Axis 3 runs along the part. Across it the motion of the far end says everything; about it the universal joint does: its
cross stays at right angles to a reference axis, which is fixed in the base or turns with the ring. In axes 1, 2, 3
with 2 along the cross, the reference is (c, 0, s), and the spin follows from the swing by t = s / c.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.platforms.constants import Part
from kinegraph.derive.tree.algebra import Symmetric, Vector, cross, dot, minus, plus, times, vector
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class CrossAxes:
    """The axes 1, 2, 3 of a part in ring axes; `cosine` and `tangent` of the angle between 1 and the reference."""

    one: Vector
    two: Vector
    three: Vector
    cosine: Scalar
    inverse_cosine: Scalar
    tangent: Scalar

    def into(self, a: Vector) -> Vector:
        """A vector of ring axes in axes 1, 2, 3."""
        return dot(self.one, a), dot(self.two, a), dot(self.three, a)

    def out(self, a: Vector) -> Vector:
        """A vector of axes 1, 2, 3 in ring axes."""
        return plus(plus(times(a[0], self.one), times(a[1], self.two)), times(a[2], self.three))

    @property
    def reach(self) -> Vector:
        """How the ring's angular velocity adds to the spin, if the reference turns with it: 3 - t 1."""
        return minus(self.three, times(self.tangent, self.one))


def cross_axes(along: Vector, reference: Vector) -> CrossAxes:
    """The axes of a part along a unit vector, whose cross is at right angles to a unit reference axis."""
    normal, sine = cross(along, reference), dot(along, reference)
    cosine = (1 - sine * sine).apply("sqrt")
    inverse = cosine.reciprocal()
    two = times(inverse, normal)
    return CrossAxes(cross(two, along), two, along, cosine, inverse, sine * inverse)


@dataclass(frozen=True)
class Swing:
    """The motion of a part: `far` is the velocity of its far end seen from the near one, `slide` how fast it grows.

    `ring_spin` is the ring's angular velocity if the reference turns with the ring, else nothing.
    """

    axes: CrossAxes
    length: Scalar
    inverse_length: Scalar
    slide: Scalar
    far: Vector
    ring_spin: Vector | None

    @cached_property
    def reference_spin(self) -> Vector | None:
        """The ring's angular velocity in axes 1, 2, 3."""
        return None if self.ring_spin is None else self.axes.into(self.ring_spin)

    @cached_property
    def spin(self) -> Vector:
        """The angular velocity, in axes 1, 2, 3."""
        one = -(dot(self.axes.two, self.far) * self.inverse_length)
        two = dot(self.axes.one, self.far) * self.inverse_length
        about = self.axes.tangent * one
        if self.reference_spin is not None:
            about = about + self.reference_spin[2] - self.axes.tangent * self.reference_spin[0]
        return one, two, about

    @cached_property
    def _turning(self) -> Scalar:
        """The part of the spin's change that is there without any acceleration."""
        one, two, about = self.spin
        tangent = self.axes.tangent
        if self.reference_spin is None:
            return one * two * (1 + tangent * tangent)
        ahead, beside = self.reference_spin[0] - one, self.reference_spin[1] - two
        return ahead * self.reference_spin[1] * (1 + tangent * tangent) - beside * (one + tangent * about)

    def change(self, far: Vector, ring: Vector | None) -> Vector:
        """The angular acceleration, from the far end's acceleration in axes 1, 2, 3 and the ring's in ring axes."""
        one, two, about = self.spin
        drift = 2 * self.slide * self.inverse_length
        first = two * about - drift * one - far[1] * self.inverse_length
        second = far[0] * self.inverse_length - one * about - drift * two
        third = self.axes.tangent * first + self._turning
        if self.ring_spin is not None and ring is not None:
            third = third + dot(self.axes.reach, ring)
        return first, second, third

    def at_end(self, moment: Vector) -> Vector:
        """The force on the far end, in axes 1, 2, 3, that does what a moment on the part does."""
        first = moment[1] * self.inverse_length
        second = -((moment[0] + self.axes.tangent * moment[2]) * self.inverse_length)
        return first, second, moment[0].number(0)

    def moment(self, part: Part, change: Vector) -> Vector:
        """I e + w x I w."""
        momentum = part.inertia.apply(self.spin)
        return plus(part.inertia.apply(change), cross(self.spin, momentum))

    def shift_force(self, part: Part, change: Vector) -> Vector:
        """e x s + w x (w x s): the force that the first moment adds to that on the origin."""
        if all(item.is_zero for item in part.first):
            return vector([self.slide.number(0)] * 3)
        return plus(cross(change, part.first), cross(self.spin, cross(self.spin, part.first)))


@dataclass(frozen=True)
class SwingMass:
    """The inertia of a swinging part in the motion of its far end across it, and about itself.

    `across` acts along 1, `more` is what comes on top along 2, `mixed` between both; `about` couples 1, 2 and 3 with
    the spin that the ring causes, `about_itself` is that spin's own.
    """

    across: Scalar
    more: Scalar
    mixed: Scalar
    about: Vector
    about_itself: Scalar


def swing_mass(swing: Swing, inertia: Symmetric) -> SwingMass:
    """From the inertia tensor about the near end."""
    inverse, t = swing.inverse_length, swing.axes.tangent
    square = inverse * inverse
    more = (inertia.xx - inertia.yy) + 2 * t * inertia.xz + t * t * inertia.zz
    about = inertia.yz * inverse, -((inertia.xz + t * inertia.zz) * inverse), t.number(0)
    mixed = -(inertia.xy + t * inertia.yz) * square
    return SwingMass(inertia.yy * square, more * square, mixed, about, inertia.zz)
