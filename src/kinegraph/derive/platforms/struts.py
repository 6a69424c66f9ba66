"""Extensible legs: UPS, SPU and UCU, with a shorter form of UPS for axially symmetric parts."""

from __future__ import annotations

from functools import cached_property

from kinegraph.derive.platforms.free_motion import FreeMotion, added, skew
from kinegraph.derive.platforms.leg_parameters import LegNumbers, RigidPart
from kinegraph.derive.platforms.legs import (
    Across,
    CrossAxes,
    Curl,
    JointAcceleration,
    JointMotion,
    LegAngle,
    LegForces,
    LegInertia,
    LegLoad,
    LegMomenta,
    SpinInertia,
    SpinMomentum,
    Swing,
    SwingingLeg,
    across,
    cross_axes,
    isotropic,
    swing_mass,
    symmetric_sum,
)
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Symmetric,
    Vector,
    cross,
    dot,
    minus,
    negative,
    no_mass,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    zero_symmetric,
    zero_vector,
)
from kinegraph.graph.build import Scalar
from kinegraph.model.platforms.leg_table import LegType


class Strut(SwingingLeg):
    """An extensible leg from the joint on the base straight to the joint on the platform (UPS, SPU, UCU)."""

    def __init__(self, kind: LegType, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion) -> None:
        super().__init__(kind, numbers, platform_motion, joint)
        self.line = joint.place
        square = dot(joint.place, joint.place)
        self.length = square.apply("sqrt")
        main = (numbers.platform_axis, None) if kind is LegType.SPU else (joint.base_axis, joint.ahead)
        self._square, self._main = square, across(joint.place, square, *main)
        # One division serves both roots.
        shared = (self.length * self._main.aside).reciprocal()
        self.inverse_length = self._main.aside * shared
        self._inverse_aside = self.length * shared

    @cached_property
    def along(self) -> Vector:
        """The unit vector from the base to the platform."""
        return times(self.inverse_length, self.joint.place)

    @cached_property
    def extension_rate(self) -> Scalar:
        """The rate of the length."""
        return dot(self.along, self.joint.velocity)

    @property
    def end_velocity(self) -> Vector:
        return self.joint.velocity

    def _beta(self, about_two: Scalar) -> Scalar:
        return about_two

    def _axes(self, reference: Vector) -> CrossAxes:
        if reference is self._main.reference:
            return cross_axes(self.line, self.length, self.inverse_length, self._main, self._inverse_aside)
        return super()._axes(reference)

    def _lies_to(self, reference: Vector) -> Across:
        return across(self.line, self._square, reference)

    @cached_property
    def swings(self) -> list[tuple[Swing, RigidPart, RigidPart]]:
        """For each motion: the part on the base and the sliding part that move so."""
        none = RigidPart(
            self.extension_rate.number(0), zero_vector(self.extension_rate), zero_symmetric(self.extension_rate)
        )
        lower, upper = self.numbers.lower, self.numbers.upper
        if self.kind is LegType.UPS:
            return [(self.at_base, lower, upper)]
        if self.kind is LegType.SPU:
            return [(self.at_platform, lower, upper)]
        return [(self.at_base, lower, none), (self.at_platform, none, upper)]

    # inertia

    def inertia(self) -> LegInertia:
        matrix = zero_symmetric(self.extension_rate)
        spin: SpinInertia | None = None
        for swing, lower, upper in self.swings:
            matrix = matrix.plus(self._swung(swing, lower, upper))
            if swing.on_platform:
                spin = self._spun(swing, lower, upper)
        return LegInertia(matrix.plus(scaled(self.numbers.armature, outer_square(self.along))), spin)

    def _swung(self, swing: Swing, lower: RigidPart, upper: RigidPart) -> Symmetric:
        """The inertia of parts at the joint on the platform; the sliding part's mass belongs to the platform."""
        axes, inverse, t = swing.axes, self.inverse_length, swing.axes.tangent
        mass = swing_mass(swing, lower.inertia.plus(upper.inertia))
        s1, s2, s3 = upper.first
        across = mass.across + 2 * s3 * inverse
        more = mass.more - 2 * t * s1 * inverse
        mixed = mass.mixed + t * s2 * inverse
        one, two, three = axes.one, axes.two, axes.three
        matrix = isotropic(across).plus(scaled(more, outer_square(two))).plus(scaled(-across, outer_square(three)))
        pairs = ((mixed, one, two), (-s1 * inverse, one, three), (-s2 * inverse, two, three))
        for entry, a, b in pairs:
            if not entry.is_zero:
                matrix = matrix.plus(scaled(entry, symmetric_product(a, b)))
        return matrix

    def _spun(self, swing: Swing, lower: RigidPart, upper: RigidPart) -> SpinInertia:
        mass = swing_mass(swing, lower.inertia.plus(upper.inertia))
        shift = -upper.first[1], upper.first[0], self.extension_rate.number(0)
        return SpinInertia(swing.axes.out(plus(mass.about, shift)), mass.about_itself, swing.axes.reach)

    # loads

    def load(self, acceleration: JointAcceleration, forces: LegForces) -> LegLoad:
        force, moment = zero_vector(self.extension_rate), None
        for swing, lower, upper in self.swings:
            local, about = self._local_load(swing, lower, upper, acceleration, forces)
            if upper is self.numbers.upper:
                local = (local[0], local[1], local[2] + self._axial(acceleration, forces))
            force = plus(force, swing.axes.out(local))
            if about is not None:
                moment = times(about, swing.axes.reach)
        if self.kind is LegType.SPU and forces.on_angles:
            force = plus(force, self.at_base.axes.out(self.at_base.at_end(self._of_angles(forces))))
        return LegLoad(force, moment)

    def _local_load(
        self, swing: Swing, lower: RigidPart, upper: RigidPart, acceleration: JointAcceleration, forces: LegForces
    ) -> tuple[Vector, Scalar | None]:
        """The force at the joint, and the moment about the leg if the platform spins these parts."""
        curl, moment = self._moment(swing, lower, upper, acceleration)
        if not swing.on_platform:
            return plus(curl.force(upper.first), swing.at_end(plus(moment, self._of_angles(forces)))), None
        moment = (moment[0], moment[1], moment[2] - (forces.twist or 0))
        return plus(curl.force(upper.first), swing.at_end(moment)), moment[2]

    def _moment(
        self, swing: Swing, lower: RigidPart, upper: RigidPart, acceleration: JointAcceleration
    ) -> tuple[Curl, Vector]:
        """The acceleration field of parts, and the moment of each about its origin, in axes 1, 2, 3."""
        fall = self._falling(swing, lower, upper, acceleration)
        seen = swing.axes.into(acceleration.seen)
        curl = swing.curl(seen, acceleration.platform if swing.on_platform else acceleration.base)
        weighed = cross(plus(upper.first, lower.first), fall)
        return curl, plus(curl.moment(lower.joined(upper)), minus(cross(upper.first, seen), weighed))

    def _falling(self, swing: Swing, lower: RigidPart, upper: RigidPart, acceleration: JointAcceleration) -> Vector:
        """Gravity in the axes of a part; zero if the part has no first moment."""
        if all(item.is_zero for item in (*lower.first, *upper.first)):
            return zero_vector(self.extension_rate)
        return swing.axes.into(acceleration.fall)

    def _axial(self, acceleration: JointAcceleration, forces: LegForces) -> Scalar:
        armature = self.numbers.armature
        return -forces.drive if armature.is_zero else armature * self._growth(acceleration) - forces.drive

    def _growth(self, acceleration: JointAcceleration) -> Scalar:
        """The second derivative of the length."""
        swing = self.swings[-1][0]
        one, two, _ = swing.spin
        return dot(self.along, acceleration.seen) + self.length * (one * one + two * two)

    def effort(self) -> Vector:
        return self.along

    # effect on the base

    @property
    def base_mass(self) -> Scalar:
        return self.numbers.lower.mass

    def moments(self) -> MassMoments:
        found, zero = no_mass(self.extension_rate), self.extension_rate.number(0)
        for swing, lower, upper in self.swings:
            second = lower.second.plus(upper.second)
            x, y, z = times(-self.length, lower.first)
            shifted = Symmetric(second.xx, second.yy, second.zz + 2 * z, second.yz + y, second.xz + x, second.xy)
            first = swing.axes.out(plus(lower.first, upper.first))
            found = found.plus(MassMoments(zero, first, swing.axes.spread(shifted)))
        return found

    def momenta(self) -> LegMomenta:
        parts = [self._momenta(*one) for one in self.swings]
        linear, angular = (added([getattr(one, word) for one in parts]) for word in ("linear", "angular"))
        return LegMomenta(linear, angular, parts[-1].spin)

    def _momenta(self, swing: Swing, lower: RigidPart, upper: RigidPart) -> LegMomenta:
        """The momenta for unit velocities along 1, 2, 3: angular velocities (0, 1/l, 0), (-1/l, 0, -t/l) and 0."""
        axes, inverse, t = swing.axes, self.inverse_length, swing.axes.tangent
        inertia, zero = lower.inertia.plus(upper.inertia), self.extension_rate.number(0)
        (s1, s2, s3), (a1, a2, a3), (b1, b2, b3) = plus(lower.first, upper.first), lower.first, upper.first
        round_about = inertia.xx * inverse + b3 - a3
        linear = (
            (zero, t * s2 * inverse, zero),
            (zero, -(t * s1 * inverse), zero),
            (-s1 * inverse, -s2 * inverse, zero),
        )
        angular = (
            (inertia.xy * inverse, -(t * (inertia.xz * inverse + a1)), b2),
            ((inertia.yy - inertia.xx) * inverse, -((inertia.xy + t * inertia.yz) * inverse + t * a2), -b1),
            (inertia.yz * inverse - b2, b1 - (inertia.xz + t * inertia.zz) * inverse, zero),
        )
        return LegMomenta(
            added([axes.across(s3 * inverse), axes.spread_out(linear)]),
            added([skew(times(round_about, axes.three)), axes.spread_out(angular)]),
            self._spin_momentum(swing, lower, upper) if swing.on_platform else None,
        )

    def _spin_momentum(self, swing: Swing, lower: RigidPart, upper: RigidPart) -> SpinMomentum:
        zero, axes = self.extension_rate.number(0), swing.axes
        (s1, s2, _), (a1, a2, _) = plus(lower.first, upper.first), lower.first
        inertia = lower.inertia.plus(upper.inertia)
        about = inertia.xz + self.length * a1, inertia.yz + self.length * a2, inertia.zz
        return SpinMomentum(axes.out((-s2, s1, zero)), axes.out(about), axes.reach)

    def momentum_rate(self, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        force = moment = zero_vector(self.extension_rate)
        for swing, lower, upper in self.swings:
            curl, own = self._moment(swing, lower, upper, acceleration)
            x, y, _ = curl.force(lower.first)
            own = (own[0] + self.length * y, own[1] - self.length * x, own[2])
            force = plus(force, swing.axes.out(curl.force(plus(lower.first, upper.first))))
            moment = plus(moment, swing.axes.out(own))
        return force, moment

    # coordinates

    def lengths(self) -> tuple[Scalar, ...]:
        return (self.length,)

    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[LegAngle | None, ...]:
        _, y, z = base
        axes = self.at_base.axes
        alpha = LegAngle(-dot(self.along, y) * axes.inverse_cosine, dot(self.along, z) * axes.inverse_cosine)
        beta = LegAngle(dot(self.along, self.joint.base_axis), axes.cosine)
        if self.kind is LegType.UPS:
            return None, alpha, beta
        cross_axis = negative(self.at_platform.axes.two)
        return None, alpha, beta, LegAngle(dot(cross_axis, axes.two), dot(cross_axis, axes.one))

    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self.extension_rate, alpha

    def _driven_accelerations(self, acceleration: JointAcceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self._growth(acceleration), alpha

    def _end_acceleration(self, acceleration: JointAcceleration) -> Vector:
        return acceleration.seen

    def pivots(self) -> tuple[Scalar, ...]:
        return tuple(swing.axes.cosine for swing, _, _ in self.swings)


# ---- Axially symmetric UPS legs on a base that does not rotate: one square root, and scalar products without axes
#
# Let d be the vector from the joint on the base to that on the platform, l its length, a the first axis of the
# universal joint, h = d . a, m = d x a, S = m^2, and v the velocity of the end of d. The angles follow from
# alpha' = m . v / S (with opposite sign in the model) and sin(beta) = h / l. Parts with inertia J across the leg and I
# about it, and with the first moment s of the sliding part, have the energy
#
#     T = (J / l^2 + 2 s / l) / 2 (v^2 - (d . v)^2 / l^2) + I / 2 (sin(beta) alpha')^2.
#
# Lagrange's equations of d give the inertia A 1 + b d d^T + c m m^T and a load along the acceleration, v, d, m and a.
# The gyroscopic part of the spin is that of a monopole: the derivative of sin(beta) d(alpha) is the area of the sphere.


def is_round(numbers: LegNumbers) -> bool:
    """Are both parts of a leg axially symmetric, with their centers of mass on the axis?"""
    return all(_is_round(part) for part in (numbers.lower, numbers.upper))


def _is_round(part: RigidPart) -> bool:
    x, y, _ = part.first
    return part.inertia.xx == part.inertia.yy and all(item.is_zero for item in (x, y, *part.inertia[3:]))


class RoundStrut(Strut):
    """An axially symmetric UPS leg on a base that does not rotate."""

    def __init__(self, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion) -> None:
        super().__init__(LegType.UPS, numbers, platform_motion, joint)
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

    # motion

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
        """alpha', with opposite sign."""
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

    def _seen_normal(self, acceleration: JointAcceleration) -> Scalar:
        """alpha'' S, with opposite sign."""
        aside = self._far - self._ahead * self._rise
        return dot(self._normal, acceleration.seen) - 2 * (self._turn * aside)

    def _growth(self, acceleration: JointAcceleration) -> Scalar:
        return (self._stretched(acceleration) + self._climbed) * self.inverse_length

    def _stretched(self, acceleration: JointAcceleration) -> Scalar:
        """l l'' without the term of beta'."""
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
        """The factor of m . v / l in the spin."""
        return self._ahead * self._inverse_aside_square

    @cached_property
    def _spin_inertia(self) -> Scalar:
        """The inertia of the spin times its factor of m . v / l^2."""
        return self._about * self._inverse_square * self._spin_row

    def inertia(self) -> LegInertia:
        along = (self.numbers.armature - self._isotropic) * self._inverse_square
        spun = times(self._spin_inertia * self._spin_row, self._normal)
        pairs = (times(along, self.joint.place), self.joint.place), (spun, self._normal)
        return LegInertia(symmetric_sum(isotropic(self._isotropic), pairs))

    # loads

    @cached_property
    def _slowing(self) -> Scalar:
        """The factor of the velocity across the leg in the Coriolis force of extension."""
        return 2 * (self._stretch * (self._swing_inertia + self._lever))

    def load(self, acceleration: JointAcceleration, forces: LegForces) -> LegLoad:
        weight = (self.numbers.lower.first[2] + self.numbers.upper.first[2]) * self.inverse_length
        aside = self._aside(forces)
        along = self._along(acceleration, forces) + aside * self._ahead
        along = along + weight * dot(self.joint.place, acceleration.fall)
        found = plus(times(self._isotropic, acceleration.seen), times(along * self._inverse_square, self.joint.place))
        found = plus(found, times(self._round_about(acceleration, forces), self._normal))
        return LegLoad(minus(found, plus(times(aside, self.joint.base_axis), times(weight, acceleration.fall))))

    def _aside(self, forces: LegForces) -> Scalar:
        """The load along -a, which has a component h / l^2 along d."""
        slowed = self._slowing * (self._climb * self._slant)
        return self._spin_inertia * self._turned + slowed + forces.beta * self._inverse_aside

    def _along(self, acceleration: JointAcceleration, forces: LegForces) -> Scalar:
        """The load along d, times l^2, without the component of the load along a."""
        pushed = dot(self.joint.place, times(self._isotropic, acceleration.seen))
        flung = self._lever * (self._turned + self._climbed)
        return self._axial(acceleration, forces) * self.length - pushed - flung

    def _round_about(self, acceleration: JointAcceleration, forces: LegForces) -> Scalar:
        """The load along m."""
        spun = self._spin_inertia * self._spin_row * self._seen_normal(acceleration)
        turned = self._turn * (2 * (self._spin_inertia * self._climb) - self._slowing)
        return spun + turned + forces.alpha * self._inverse_aside_square

    # coordinates

    def rates(self) -> tuple[Scalar, ...]:
        return self.extension_rate, -self._turn, self._climb * self._inverse_aside

    def accelerations(self, acceleration: JointAcceleration) -> tuple[Scalar, ...]:
        lifted = self._lean * self._stretched(acceleration)
        rest = dot(self.joint.base_axis, acceleration.seen) - lifted - 2 * (self._climb * self._stretch)
        alpha = self._seen_normal(acceleration) * self._inverse_aside_square
        return self._growth(acceleration), -alpha, rest * self._inverse_aside
