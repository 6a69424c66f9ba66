"""Legs of a platform: inertia and load at the joint on the platform, and parts on a universal joint.

`struts.py` has legs of variable length, `cranks.py` legs with a crank and a rod.
"""

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

# ---- The effect of a leg on the platform: inertia and load at its joint


@dataclass(frozen=True)
class LegForces:
    """Generalized forces on the coordinates of a leg; `twist` is None if the leg has no such coordinate."""

    drive: Scalar
    alpha: Scalar
    beta: Scalar
    twist: Scalar | None = None

    @property
    def on_angles(self) -> bool:
        """Does any force act on coordinates other than the drive?"""
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
        """The angle nearest to a coordinate, because springs and limits depend on full turns."""
        sine, cosine = coordinate.sin(), coordinate.cos()
        ahead = self.sine * cosine - self.cosine * sine
        return coordinate + ahead.apply("atan2", self.cosine * cosine + self.sine * sine)


@dataclass(frozen=True)
class LegInertia:
    """The inertia of a leg at its joint on the platform, in platform axes; `spin`: if the platform spins the leg."""

    at_joint: Symmetric
    spin: SpinInertia | None = None


@dataclass(frozen=True)
class SpinInertia:
    """The spin of a leg about its axis due to the platform: `reach` . (angular velocity of the platform).

    coupling: with the joint's velocity. itself: the inertia of the spin.
    """

    coupling: Vector
    itself: Scalar
    reach: Vector


@dataclass(frozen=True)
class LegLoad:
    """The force and moment on a leg at its joint on the platform that its motion takes, in platform axes, without the
    point mass that belongs to the platform."""

    force: Vector
    moment: Vector | None = None


@dataclass(frozen=True)
class JointMotion:
    """The motion of the joint on the platform, in platform axes.

    `place` and `velocity` are relative to the joint on the base, `velocity` for a nonrotating observer. `base_spin` is
    the angular velocity of the base, None if it does not rotate. `ahead` is the component of `place` along the base's
    axis.
    """

    place: Vector
    velocity: Vector
    base_axis: Vector
    ahead: Scalar
    base_spin: Vector | None = None


@dataclass(frozen=True)
class JointAcceleration:
    """Accelerations of a leg's joints: `seen`, of the joint on the platform relative to that on the base; and angular
    accelerations of platform and base (None: zero).

    fall: gravity minus the acceleration of the joint on the base.
    """

    seen: Vector
    fall: Vector
    platform: Vector | None = None
    base: Vector | None = None

    @property
    def joint(self) -> Vector:
        """The acceleration of the joint on the platform minus gravity."""
        return minus(self.seen, self.fall)


@dataclass(frozen=True)
class LegMomenta:
    """Momentum, and angular momentum about the joint on the platform, of a leg on a fixed base, in platform axes.

    Both are matrices that multiply the velocity of the joint on the platform; `spin`: if the platform spins the leg.
    """

    linear: Matrix
    angular: Matrix
    spin: SpinMomentum | None = None


@dataclass(frozen=True)
class SpinMomentum:
    """Momentum and angular momentum of the spin due to the platform: `reach` . (its angular velocity)."""

    linear: Vector
    angular: Vector
    reach: Vector


class Leg(ABC):
    """One leg at one state. Arguments `forces` are those on its coordinates, without inertia and gravity."""

    def __init__(self, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion) -> None:
        self.numbers = numbers
        self.platform_motion = platform_motion
        self.joint = joint

    @abstractmethod
    def inertia(self) -> LegInertia:
        """The inertia at the joint on the platform."""

    @abstractmethod
    def load(self, acceleration: JointAcceleration, forces: LegForces) -> LegLoad:
        """The load at the joint on the platform for given accelerations."""

    @abstractmethod
    def effort(self) -> Vector:
        """The force at the joint due to a unit drive force, in platform axes."""

    @property
    @abstractmethod
    def base_mass(self) -> Scalar:
        """The point mass at its joint on the base."""

    @abstractmethod
    def moments(self) -> MassMoments:
        """Its mass distribution about its joint on the platform, in platform axes, without its point masses."""

    @abstractmethod
    def momenta(self) -> LegMomenta:
        """Its momenta due to its motion relative to the base, without the point masses at its ends."""

    @abstractmethod
    def momentum_rate(self, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        """The rates of momentum and angular momentum about its joint on the platform, without its point masses."""

    def on_base(self, acceleration: JointAcceleration, load: LegLoad) -> tuple[Vector, Vector]:
        """Force, and moment about its joint on the base, that it exerts on the base, in platform axes."""
        taken, about = self.momentum_rate(acceleration)
        rest = minus(load.force, taken)
        moment = minus(cross(self.joint.place, rest), about)
        force = plus(rest, times(self.base_mass, acceleration.fall))
        return force, moment if load.moment is None else plus(moment, load.moment)

    @abstractmethod
    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[LegAngle | None, ...]:
        """Sine and cosine of its coordinates, the drive first, None for a length. base: the axes of its frame on the
        base, in platform axes."""

    @abstractmethod
    def lengths(self) -> tuple[Scalar, ...]:
        """The values of its coordinates that are lengths."""

    def positions(self, base: tuple[Vector, Vector, Vector]) -> tuple[Scalar, ...]:
        """Its coordinates, the drive first."""
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
        """The distance from singular positions, from 1 to 0."""


# ---- A long part on a universal joint: its angular velocity and acceleration from the motion of its far end
#
# Axis 3 is along the part. The motion of the far end determines the rotation across axis 3. The universal joint
# determines the rotation about it: one axis of its cross is perpendicular to a reference axis, which is fixed in the
# base or in the platform. In axes 1, 2, 3 with 2 along that axis of the cross, the reference is (c, 0, s), and the spin
# follows from the swing by t = s / c.


@dataclass(frozen=True)
class CrossAxes:
    """Axes 1, 2, 3 of a part in platform axes; cosine and tangent of the angle between axis 1 and the reference."""

    one: Vector
    two: Vector
    three: Vector
    cosine: Scalar
    inverse_cosine: Scalar
    tangent: Scalar

    def into(self, a: Vector) -> Vector:
        """A vector in platform axes, expressed in axes 1, 2, 3."""
        return dot(self.one, a), dot(self.two, a), dot(self.three, a)

    def out(self, a: Vector) -> Vector:
        """A vector in axes 1, 2, 3, expressed in platform axes."""
        return plus(plus(times(a[0], self.one), times(a[1], self.two)), times(a[2], self.three))

    def spread(self, second: Symmetric) -> Symmetric:
        """A symmetric tensor in axes 1, 2, 3, expressed in platform axes; cheapest for axially symmetric parts."""
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
        """The tensor value (1 - 3 3^T) in platform axes."""
        return square(isotropic(value).plus(scaled(-value, outer_square(self.three))))

    def spread_out(self, m: Matrix) -> Matrix:
        """A matrix in axes 1, 2, 3, expressed in platform axes."""
        columns = zip(transpose(m), (self.one, self.two, self.three), strict=True)
        found = [outer(self.out(column), axis) for column, axis in columns if any(not item.is_zero for item in column)]
        return added([*found, no_matrix(self.cosine)])

    @cached_property
    def reach(self) -> Vector:
        """The factor of the carrier's angular velocity in the spin: 3 - t 1."""
        return minus(self.three, times(self.tangent, self.one))


@dataclass(frozen=True)
class Across:
    """The components of a line along a reference axis (`ahead`) and across it (`aside`)."""

    reference: Vector
    ahead: Scalar
    aside: Scalar


def across(line: Vector, length_squared: Scalar, reference: Vector, ahead: Scalar | None = None) -> Across:
    """The components of a line, whose squared length is given, along and across a unit axis."""
    ahead = dot(line, reference) if ahead is None else ahead
    return Across(reference, ahead, (length_squared - ahead * ahead).apply("sqrt"))


def cross_axes(line: Vector, length: Scalar, inverse: Scalar, components: Across, inverse_aside: Scalar) -> CrossAxes:
    """The axes of a part along a line, with axis 2 perpendicular to the reference."""
    along, two = times(inverse, line), times(inverse_aside, cross(line, components.reference))
    cosine, tangent = components.aside * inverse, components.ahead * inverse_aside
    return CrossAxes(cross(two, along), two, along, cosine, length * inverse_aside, tangent)


@dataclass(frozen=True)
class Swing:
    """The motion of a part. far: the velocity of its far end relative to the near end. extension_rate: of its length.

    carrier_spin: the angular velocity of the carrier of the reference axis, None if it does not rotate. The carrier is
    the platform if `on_platform`, otherwise the base.
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
        """The rate of the spin at zero accelerations."""
        one, two, about = self.spin
        tangent = self.axes.tangent
        if self.reference_spin is None:
            return one * two * (1 + tangent * tangent)
        ahead, beside = self.reference_spin[0] - one, self.reference_spin[1] - two
        return ahead * self.reference_spin[1] * (1 + tangent * tangent) - beside * (one + tangent * about)

    @cached_property
    def relative_spin(self) -> Vector:
        """The angular velocity relative to the carrier, in axes 1, 2, 3."""
        return self.spin if self.reference_spin is None else minus(self.spin, self.reference_spin)

    def relative_change(self, curl: Curl, carrier: Vector | None) -> Vector:
        """The rate of `relative_spin`, from the carrier's angular acceleration in platform axes."""
        change = curl.change
        if self.reference_spin is not None:
            change = plus(change, cross(self.spin, self.reference_spin))
        return change if carrier is None else minus(change, self.axes.into(carrier))

    def curl(self, far: Vector, carrier: Vector | None) -> Curl:
        """The acceleration field of the part, from the acceleration of the far end in axes 1, 2, 3 and the angular
        acceleration of the carrier in platform axes."""
        one, two, about = self.spin
        drift = 2 * self.extension_rate * self.inverse_length
        # The far end accelerates across the part by its length times the last column of U, plus extension terms.
        u13 = far[0] * self.inverse_length - drift * two
        u23 = far[1] * self.inverse_length + drift * one
        first, second = two * about - u23, u13 - one * about
        third = self.axes.tangent * first + self._swing_rate
        if carrier is not None:
            third = third + dot(self.axes.reach, carrier)
        return Curl(self.spin, (first, second, third), u13, u23)

    def at_end(self, moment: Vector) -> Vector:
        """The force on the far end, in axes 1, 2, 3, that is equivalent to a moment on the part."""
        first = moment[1] * self.inverse_length
        second = -((moment[0] + self.axes.tangent * moment[2]) * self.inverse_length)
        return first, second, moment[0].number(0)


@dataclass(frozen=True)
class Curl:
    """U = [e x] + [w x]^2, which gives the acceleration of a point of a part relative to its origin.

    `u13` and `u23` are known without the angular acceleration `change`, which avoids terms that cancel.
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
        """The moment due to products of inertia."""
        (u11, u12, u13), (u21, u22, u23), (u31, u32, u33) = self.matrix
        return (
            u31 * xy + u33 * yz - u21 * xz - u22 * yz,
            u11 * xz + u12 * yz - u32 * xy - u33 * xz,
            u22 * xy + u23 * xz - u11 * xy - u13 * yz,
        )

    def force(self, first: Vector) -> Vector:
        """U s: the force due to a first moment s."""
        return apply(self.matrix, first)


@dataclass(frozen=True)
class SwingMass:
    """The inertia of a part at its far end, and about its axis.

    across: along axis 1. more: the additional inertia along axis 2. mixed: the product of axes 1 and 2. about: the
    coupling of the far end with the spin due to the platform. about_itself: the inertia of that spin.
    """

    across: Scalar
    more: Scalar
    mixed: Scalar
    about: Vector
    about_itself: Scalar


def swing_mass(swing: Swing, inertia: Symmetric) -> SwingMass:
    """The inertia at the far end, from the inertia tensor about the near end."""
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
    """start + sum a b^T for parallel vectors a and b."""
    entries = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    return Symmetric(*(one + sum(a[i] * b[j] for a, b in pairs) for one, (i, j) in zip(start, entries, strict=True)))


class SwingingLeg(Leg):
    """A leg with a line (strut or rod) on a universal joint that ends in its joint on the platform.

    The joint on the base prevents a rotation about the line. A universal joint on the platform rotates the parts behind
    it about the line; the angle between both is the twist of the leg.
    """

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
        """The velocity of the line's end on the platform relative to its other end, for a nonrotating observer."""

    @abstractmethod
    def _beta(self, about_two: Scalar) -> Scalar:
        """The rate of beta from the angular velocity about axis 2."""

    @cached_property
    def at_base(self) -> Swing:
        """The motion of parts that do not rotate about the line relative to the base."""
        return self._swing(self._axes(self.joint.base_axis), self.joint.base_spin, False)

    @cached_property
    def at_platform(self) -> Swing:
        """The motion of parts that the universal joint at the platform rotates about the line."""
        return self._swing(self._axes(self.numbers.platform_axis), self.platform_motion.spin, True)

    def _swing(self, axes: CrossAxes, carrier_spin: Vector | None, on_platform: bool) -> Swing:
        return Swing(
            axes, self.length, self.inverse_length, self.extension_rate, self.end_velocity, carrier_spin, on_platform
        )

    def _axes(self, reference: Vector) -> CrossAxes:
        components = self._components_along(reference)
        return cross_axes(self.line, self.length, self.inverse_length, components, components.aside.reciprocal())

    def _components_along(self, reference: Vector) -> Across:
        return across(self.line, self.length * self.length, reference)

    def _of_angles(self, forces: LegForces) -> Vector:
        """The moment on a part at the base joint that balances forces on the leg's angles."""
        about = self.extension_rate.number(0) if forces.twist is None else forces.twist
        return -(forces.alpha * self.at_base.axes.inverse_cosine), -self._beta(forces.beta), about

    @abstractmethod
    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The rates of the drive and of alpha, from the line's rate about the joint's first axis."""

    @abstractmethod
    def _driven_accelerations(self, acceleration: JointAcceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        """The second derivatives of the drive and of alpha."""

    @abstractmethod
    def _end_acceleration(self, acceleration: JointAcceleration) -> Vector:
        """The acceleration that belongs to `end_velocity`."""

    def rates(self) -> tuple[Scalar, ...]:
        one, two, _ = self.at_base.relative_spin
        found = *self._driven_rates(one * self.at_base.axes.inverse_cosine), self._beta(two)
        return (*found, self.at_platform.spin[2] - self.at_base.spin[2]) if self.kind.universal_at_platform else found

    def accelerations(self, acceleration: JointAcceleration) -> tuple[Scalar, ...]:
        end, swing = self._end_acceleration(acceleration), self.at_base
        curl = swing.curl(swing.axes.into(end), acceleration.base)
        first, second, _ = swing.relative_change(curl, acceleration.base)
        one, two, _ = swing.relative_spin
        alpha = (first + one * two * swing.axes.tangent) * swing.axes.inverse_cosine
        found = *self._driven_accelerations(acceleration, alpha), self._beta(second)
        if not self.kind.universal_at_platform:
            return found
        spun = self.at_platform.curl(self.at_platform.axes.into(end), acceleration.platform)
        return (*found, spun.change[2] - curl.change[2])
