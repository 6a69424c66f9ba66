"""Legs of a platform: the inertia and load at the joint on the platform, and links that swing on a universal joint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.platforms.free_motion import FreeMotion, added, no_matrix, outer, square
from kinegraph.derive.platforms.leg_parameters import LegNumbers, RigidPart
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    minus,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    transpose,
)
from kinegraph.graph.build import Scalar
from kinegraph.model.platforms.leg_table import LegType

# What a leg is to the platform: an inertia and a load at its joint there.


@dataclass(frozen=True)
class LegForces:
    """Generalized forces on the coordinates of a leg; the twist's is nothing where there is none."""

    drive: Scalar
    alpha: Scalar
    beta: Scalar
    twist: Scalar | None = None

    @property
    def on_angles(self) -> bool:
        """Whether something acts on more than the drive."""
        return any(item is not None and not item.is_zero for item in (self.alpha, self.beta, self.twist))


@dataclass(frozen=True)
class LegAngle:
    """An angle by its sine and cosine."""

    sine: Scalar
    cosine: Scalar

    @property
    def angle(self) -> Scalar:
        """The angle from -pi to pi."""
        return self.sine.apply("atan2", self.cosine)

    def near(self, coordinate: Scalar) -> Scalar:
        """The angle that differs from a coordinate by less than half a turn: springs and stops count whole turns."""
        sine, cosine = coordinate.sin(), coordinate.cos()
        ahead = self.sine * cosine - self.cosine * sine
        return coordinate + ahead.apply("atan2", self.cosine * cosine + self.sine * sine)


@dataclass(frozen=True)
class LegInertia:
    """The inertia of a leg at its joint on the platform, in platform axes; `spin` where the platform makes the leg turn."""

    at_joint: Symmetric
    spin: SpinInertia | None = None


@dataclass(frozen=True)
class SpinInertia:
    """The spin that the platform causes: how it is coupled with the joint's velocity, its own inertia, and what of the
    platform's angular velocity it is."""

    coupling: Vector
    itself: Scalar
    reach: Vector


@dataclass(frozen=True)
class LegLoad:
    """What the platform does to a leg at its joint, in platform axes, for the leg to move so; without the leg's mass that is
    counted with the platform."""

    force: Vector
    moment: Vector | None = None


@dataclass(frozen=True)
class JointMotion:
    """The motion of the joint on the platform, in platform axes.

    `place` and `velocity` are seen from the joint on the base, `velocity` by an observer who does not turn;
    `base_spin` is the angular velocity of the base, nothing if it does not turn. `ahead` is the place along the base's
    axis.
    """

    place: Vector
    velocity: Vector
    base_axis: Vector
    ahead: Scalar
    base_spin: Vector | None = None


@dataclass(frozen=True)
class JointAcceleration:
    """Accelerations a leg is computed for: of its joint on the platform against that on the base, of the rotations of both.

    `fall` is gravity less the acceleration of its joint on the base. Rotations left out do not change.
    """

    seen: Vector
    fall: Vector
    platform: Vector | None = None
    base: Vector | None = None

    @property
    def joint(self) -> Vector:
        """Of the joint on the platform less gravity."""
        return minus(self.seen, self.fall)


@dataclass(frozen=True)
class LegMomenta:
    """Momentum, and moment of momentum about the joint on the platform, of a leg on a base at rest, in platform axes.

    Both are matrices, to be multiplied by the velocity of the joint on the platform; `spin` where the platform makes the leg
    turn as well.
    """

    linear: Matrix
    angular: Matrix
    spin: SpinMomentum | None = None


@dataclass(frozen=True)
class SpinMomentum:
    """The same by the spin that the platform causes, which is `reach` times the platform's angular velocity."""

    linear: Vector
    angular: Vector
    reach: Vector


class Leg(ABC):
    """One leg at one state. What it takes as `forces` are those on its coordinates beside inertia and gravity."""

    def __init__(self, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion) -> None:
        self.numbers = numbers
        self.platform_motion = platform_motion
        self.joint = joint

    @abstractmethod
    def inertia(self) -> LegInertia:
        """Its inertia at the joint on the platform."""

    @abstractmethod
    def load(self, acceleration: JointAcceleration, forces: LegForces) -> LegLoad:
        """What it takes to move it so."""

    @abstractmethod
    def effort(self) -> Vector:
        """The load that a unit effort of its drive takes away, a force in platform axes."""

    @property
    @abstractmethod
    def base_mass(self) -> Scalar:
        """The mass counted as a point at its joint on the base."""

    @abstractmethod
    def moments(self) -> MassMoments:
        """Its mass distribution about its joint on the platform, in platform axes, without the points at its ends."""

    @abstractmethod
    def momenta(self) -> LegMomenta:
        """What momentum it has by its motion relative to the base, without the points at its ends."""

    @abstractmethod
    def momentum_rate(self, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        """The force, and moment about its joint on the platform, that its motion takes, without the points at its ends."""

    def on_base(self, acceleration: JointAcceleration, load: LegLoad) -> tuple[Vector, Vector]:
        """Force and moment, about its joint there, that it exerts on the base, in platform axes."""
        taken, about = self.momentum_rate(acceleration)
        rest = minus(load.force, taken)
        moment = minus(cross(self.joint.place, rest), about)
        force = plus(rest, times(self.base_mass, acceleration.fall))
        return force, moment if load.moment is None else plus(moment, load.moment)

    @abstractmethod
    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[LegAngle | None, ...]:
        """Sine and cosine of its coordinates, the driven one first, nothing for a length; `base` are the axes of its
        frame on the base in platform axes."""

    @abstractmethod
    def lengths(self) -> tuple[Scalar, ...]:
        """Which of its coordinates are lengths: the one that a drive moves."""

    def positions(self, base: tuple[Vector, Vector, Vector]) -> tuple[Scalar, ...]:
        """Its coordinates, the driven one first."""
        turns = [turn for turn in self.turns(base) if turn is not None]
        return (*self.lengths(), *(turn.angle for turn in turns))

    @abstractmethod
    def rates(self) -> tuple[Scalar, ...]:
        """The rates of its coordinates."""

    @abstractmethod
    def accelerations(self, acceleration: JointAcceleration) -> tuple[Scalar, ...]:
        """The second derivatives of its coordinates."""

    @abstractmethod
    def pivots(self) -> tuple[Scalar, ...]:
        """How far it is from a singular position, 1 to 0."""


# A long part that swings about one end: its angular velocity and acceleration from the motion of the other end.
#
# Axis 3 runs along the part. Across it the motion of the far end says everything; about it the universal joint does:
# its cross stays at right angles to a reference axis, which is fixed in the base or in the platform. In axes 1, 2, 3 with 2
# along the cross, the reference is (c, 0, s), and the spin follows from the swing by t = s / c.


@dataclass(frozen=True)
class CrossAxes:
    """The axes 1, 2, 3 of a part in platform axes; `cosine` and `tangent` of the angle between 1 and the reference."""

    one: Vector
    two: Vector
    three: Vector
    cosine: Scalar
    inverse_cosine: Scalar
    tangent: Scalar

    def into(self, a: Vector) -> Vector:
        """A vector of platform axes in axes 1, 2, 3."""
        return dot(self.one, a), dot(self.two, a), dot(self.three, a)

    def out(self, a: Vector) -> Vector:
        """A vector of axes 1, 2, 3 in platform axes."""
        return plus(plus(times(a[0], self.one), times(a[1], self.two)), times(a[2], self.three))

    def spread(self, second: Symmetric) -> Symmetric:
        """A symmetric tensor of axes 1, 2, 3 in platform axes; the same in 1 and 2, as of a round part, it costs least."""
        first = second.xx
        found = isotropic(first)
        found = found.plus(scaled(second.yy - first, outer_square(self.two)))
        found = found.plus(scaled(second.zz - first, outer_square(self.three)))
        pairs = (second.yz, self.two, self.three), (second.xz, self.one, self.three), (second.xy, self.one, self.two)
        for entry, a, b in pairs:
            if not entry.is_zero:
                found = found.plus(scaled(entry, symmetric_product(a, b)))
        return found

    def across(self, value: Scalar) -> Matrix:
        """A value across the part and nothing along it: value (1 - 3 3^T)."""
        return square(isotropic(value).plus(scaled(-value, outer_square(self.three))))

    def spread_out(self, m: Matrix) -> Matrix:
        """A matrix of axes 1, 2, 3 in platform axes."""
        columns = zip(transpose(m), (self.one, self.two, self.three), strict=True)
        found = [outer(self.out(column), axis) for column, axis in columns if any(not item.is_zero for item in column)]
        return added([*found, no_matrix(self.cosine)])

    @cached_property
    def reach(self) -> Vector:
        """How the angular velocity of what carries the reference adds to the spin: 3 - t 1."""
        return minus(self.three, times(self.tangent, self.one))


@dataclass(frozen=True)
class Across:
    """A line against a reference axis: `ahead` along it, `aside` across it, both lengths."""

    reference: Vector
    ahead: Scalar
    aside: Scalar


def across(line: Vector, length_squared: Scalar, reference: Vector, ahead: Scalar | None = None) -> Across:
    """How a line, whose squared length is given, lies to a unit reference axis."""
    ahead = dot(line, reference) if ahead is None else ahead
    return Across(reference, ahead, (length_squared - ahead * ahead).apply("sqrt"))


def cross_axes(line: Vector, length: Scalar, inverse: Scalar, lies: Across, inverse_aside: Scalar) -> CrossAxes:
    """The axes of a part along a line of a length and its inverse, with a cross at right angles to the reference."""
    along, two = times(inverse, line), times(inverse_aside, cross(line, lies.reference))
    cosine, tangent = lies.aside * inverse, lies.ahead * inverse_aside
    return CrossAxes(cross(two, along), two, along, cosine, length * inverse_aside, tangent)


@dataclass(frozen=True)
class Swing:
    """The motion of a part. `far`: the velocity of its far end seen from the near one; `extension_rate`: of its length.

    `carrier_spin` is the angular velocity of what carries the reference axis, nothing if that does not turn; it is the
    platform if `on_platform`, else the base.
    """

    axes: CrossAxes
    length: Scalar
    inverse_length: Scalar
    extension_rate: Scalar
    far: Vector
    carrier_spin: Vector | None
    on_platform: bool = False

    @cached_property
    def reference_spin(self) -> Vector | None:
        """The carrier's angular velocity in axes 1, 2, 3."""
        return None if self.carrier_spin is None else self.axes.into(self.carrier_spin)

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
    def _swing_rate(self) -> Scalar:
        """The part of the spin's change that is there without any acceleration."""
        one, two, about = self.spin
        tangent = self.axes.tangent
        if self.reference_spin is None:
            return one * two * (1 + tangent * tangent)
        ahead, beside = self.reference_spin[0] - one, self.reference_spin[1] - two
        return ahead * self.reference_spin[1] * (1 + tangent * tangent) - beside * (one + tangent * about)

    @cached_property
    def relative_spin(self) -> Vector:
        """The angular velocity against the carrier, in axes 1, 2, 3."""
        return self.spin if self.reference_spin is None else minus(self.spin, self.reference_spin)

    def relative_change(self, curl: Curl, carrier: Vector | None) -> Vector:
        """How that changes, from the carrier's angular acceleration in platform axes."""
        change = curl.change
        if self.reference_spin is not None:
            change = plus(change, cross(self.spin, self.reference_spin))
        return change if carrier is None else minus(change, self.axes.into(carrier))

    def curl(self, far: Vector, carrier: Vector | None) -> Curl:
        """The accelerations of points of the part, from the far end's in axes 1, 2, 3 and the angular one of the
        carrier in platform axes."""
        one, two, about = self.spin
        drift = 2 * self.extension_rate * self.inverse_length
        # The far end moves across the part with its length times the last column of U, and as the part grows.
        u13 = far[0] * self.inverse_length - drift * two
        u23 = far[1] * self.inverse_length + drift * one
        first, second = two * about - u23, u13 - one * about
        third = self.axes.tangent * first + self._swing_rate
        if carrier is not None:
            third = third + dot(self.axes.reach, carrier)
        return Curl(self.spin, (first, second, third), u13, u23)

    def at_end(self, moment: Vector) -> Vector:
        """The force on the far end, in axes 1, 2, 3, that does what a moment on the part does."""
        first = moment[1] * self.inverse_length
        second = -((moment[0] + self.axes.tangent * moment[2]) * self.inverse_length)
        return first, second, moment[0].number(0)


@dataclass(frozen=True)
class Curl:
    """U = [e x] + [w x]^2, which gives the acceleration of a point of a part relative to its origin.

    `u13` and `u23` are known without the angular acceleration `change`; what cancels in it is never computed.
    """

    spin: Vector
    change: Vector
    u13: Scalar
    u23: Scalar

    @cached_property
    def matrix(self) -> Matrix:
        """U by rows."""
        w1, w2, w3 = self.spin
        e1, e2, e3 = self.change
        return (
            (-(w2 * w2 + w3 * w3), w1 * w2 - e3, self.u13),
            (w1 * w2 + e3, -(w1 * w1 + w3 * w3), self.u23),
            (w1 * w3 - e2, w2 * w3 + e1, -(w1 * w1 + w2 * w2)),
        )

    def moment(self, part: RigidPart) -> Vector:
        """I e + w x I w about the origin."""
        w1, w2, w3 = self.spin
        xx, yy, zz = part.second[:3]
        found = (
            2 * yy * (w2 * w3) - (yy + zz) * self.u23,
            (xx + zz) * self.u13 - 2 * xx * (w1 * w3),
            (xx + yy) * self.change[2] + (xx - yy) * (w1 * w2),
        )
        products = part.second[3:]
        return found if all(item.is_zero for item in products) else plus(found, self._of_products(*products))

    def _of_products(self, yz: Scalar, xz: Scalar, xy: Scalar) -> Vector:
        """What products of inertia add to the moment."""
        (u11, u12, u13), (u21, u22, u23), (u31, u32, u33) = self.matrix
        return (
            u31 * xy + u33 * yz - u21 * xz - u22 * yz,
            u11 * xz + u12 * yz - u32 * xy - u33 * xz,
            u22 * xy + u23 * xz - u11 * xy - u13 * yz,
        )

    def force(self, first: Vector) -> Vector:
        """U s: the force that a first moment adds to that on the origin."""
        return apply(self.matrix, first)


@dataclass(frozen=True)
class SwingMass:
    """The inertia of a swinging part in the motion of its far end across it, and about itself.

    `across` acts along 1, `more` is what comes on top along 2, `mixed` between both; `about` couples 1, 2 and 3 with
    the spin that the platform causes, `about_itself` is that spin's own.
    """

    across: Scalar
    more: Scalar
    mixed: Scalar
    about: Vector
    about_itself: Scalar


def swing_mass(swing: Swing, inertia: Symmetric) -> SwingMass:
    """From the inertia tensor about the near end."""
    inverse, t = swing.inverse_length, swing.axes.tangent
    both = inverse * inverse
    more = (inertia.xx - inertia.yy) + 2 * t * inertia.xz + t * t * inertia.zz
    about = inertia.yz * inverse, -((inertia.xz + t * inertia.zz) * inverse), t.number(0)
    mixed = -(inertia.xy + t * inertia.yz) * both
    return SwingMass(inertia.yy * both, more * both, mixed, about, inertia.zz)


def isotropic(value: Scalar) -> Symmetric:
    """The unit tensor times a value."""
    zero = value.number(0)
    return Symmetric(value, value, value, zero, zero, zero)


def symmetric_sum(start: Symmetric, pairs: Sequence[tuple[Vector, Vector]]) -> Symmetric:
    """start + sum a b^T for vectors a along b."""
    entries = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    return Symmetric(*(one + sum(a[i] * b[j] for a, b in pairs) for one, (i, j) in zip(start, entries, strict=True)))


# What struts and rods share: a line to the joint on the platform that swings on a universal joint, and its angles.
#
# The joint on the base stops the line from turning about itself; where the joint at the platform is universal, that one
# turns what stands behind it, and the angle between both is the leg's twist.


class SwingingLeg(Leg):
    """A leg with a line of a length that ends in its joint on the platform."""

    line: Vector
    length: Scalar
    inverse_length: Scalar

    def __init__(self, kind: LegType, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion) -> None:
        super().__init__(numbers, platform_motion, joint)
        self.kind = kind

    @property
    @abstractmethod
    def extension_rate(self) -> Scalar:
        """The rate of the length."""

    @property
    @abstractmethod
    def end_velocity(self) -> Vector:
        """Of the line's end on the platform, seen from its other end by an observer who does not turn."""

    @abstractmethod
    def _beta(self, about_two: Scalar) -> Scalar:
        """The rate of beta of a line that turns about its axis 2."""

    @cached_property
    def at_base(self) -> Swing:
        """What does not turn about the line relative to the base."""
        return self._swing(self._axes(self.joint.base_axis), self.joint.base_spin, False)

    @cached_property
    def at_platform(self) -> Swing:
        """What the universal joint at the platform turns about the line."""
        return self._swing(self._axes(self.numbers.platform_axis), self.platform_motion.spin, True)

    def _swing(self, axes: CrossAxes, carrier_spin: Vector | None, on_platform: bool) -> Swing:
        return Swing(
            axes, self.length, self.inverse_length, self.extension_rate, self.end_velocity, carrier_spin, on_platform
        )

    def _axes(self, reference: Vector) -> CrossAxes:
        lies = self._lies_to(reference)
        return cross_axes(self.line, self.length, self.inverse_length, lies, lies.aside.reciprocal())

    def _lies_to(self, reference: Vector) -> Across:
        return across(self.line, self.length * self.length, reference)

    def _of_angles(self, forces: LegForces) -> Vector:
        """The moment, on a part behind the joint on the base, that takes what forces on the leg's angles do."""
        about = self.extension_rate.number(0) if forces.twist is None else forces.twist
        return -(forces.alpha * self.at_base.axes.inverse_cosine), -self._beta(forces.beta), about

    @abstractmethod
    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The rate of the drive, and of alpha from what the line turns about the joint's first axis."""

    @abstractmethod
    def _driven_accelerations(self, acceleration: JointAcceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The same of second derivatives."""

    @abstractmethod
    def _end_acceleration(self, acceleration: JointAcceleration) -> Vector:
        """What goes with `end_velocity`."""

    def rates(self) -> tuple[Scalar, ...]:
        one, two, _ = self.at_base.relative_spin
        found = *self._driven_rates(one * self.at_base.axes.inverse_cosine), self._beta(two)
        return (*found, self.at_platform.spin[2] - self.at_base.spin[2]) if self.kind.universal_at_ring else found

    def accelerations(self, acceleration: JointAcceleration) -> tuple[Scalar, ...]:
        end, swing = self._end_acceleration(acceleration), self.at_base
        curl = swing.curl(swing.axes.into(end), acceleration.base)
        first, second, _ = swing.relative_change(curl, acceleration.base)
        one, two, _ = swing.relative_spin
        alpha = (first + one * two * swing.axes.tangent) * swing.axes.inverse_cosine
        found = *self._driven_accelerations(acceleration, alpha), self._beta(second)
        if not self.kind.universal_at_ring:
            return found
        spun = self.at_platform.curl(self.at_platform.axes.into(end), acceleration.platform)
        return (*found, spun.change[2] - curl.change[2])
