"""Legs that change their length: UPS, SPU, UCU."""

from __future__ import annotations

from functools import cached_property

from kinegraph.derive.platforms.legs.constants import LegNumbers, Part
from kinegraph.derive.platforms.legs.leg import (
    Acceleration,
    Forces,
    JointMotion,
    LegInertia,
    Load,
    Momenta,
    SpinInertia,
    SpinMomentum,
    Turn,
)
from kinegraph.derive.platforms.legs.swing import (
    Across,
    CrossAxes,
    Curl,
    Swing,
    across,
    cross_axes,
    isotropic,
    swing_mass,
)
from kinegraph.derive.platforms.legs.swinging import SwingingLeg
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.platforms.vectors import added, skew
from kinegraph.derive.tree.algebra import (
    Symmetric,
    Vector,
    cross,
    dot,
    minus,
    negative,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    zero_symmetric,
    zero_vector,
)
from kinegraph.derive.tree.inertia import MassMoments, no_mass
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.records import LegType


class Strut(SwingingLeg):
    """A leg from the joint on the base straight to the joint on the ring."""

    def __init__(self, kind: LegType, numbers: LegNumbers, ring: FreeMotion, joint: JointMotion) -> None:
        super().__init__(kind, numbers, ring, joint)
        self.line = joint.place
        square = dot(joint.place, joint.place)
        self.length = square.apply("sqrt")
        main = (numbers.ring_axis, None) if kind is LegType.SPU else (joint.base_axis, joint.ahead)
        self._square, self._main = square, across(joint.place, square, *main)
        # Both roots are there before the one division that serves both.
        shared = (self.length * self._main.aside).reciprocal()
        self.inverse_length = self._main.aside * shared
        self._inverse_aside = self.length * shared

    @cached_property
    def along(self) -> Vector:
        """The unit vector from the base to the ring."""
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
    def swings(self) -> list[tuple[Swing, Part, Part]]:
        """How parts swing: what stands on the base, what slides."""
        none = Part(
            self.extension_rate.number(0), zero_vector(self.extension_rate), zero_symmetric(self.extension_rate)
        )
        lower, upper = self.numbers.lower, self.numbers.upper
        if self.kind is LegType.UPS:
            return [(self.at_base, lower, upper)]
        if self.kind is LegType.SPU:
            return [(self.at_ring, lower, upper)]
        return [(self.at_base, lower, none), (self.at_ring, none, upper)]

    # inertia

    def inertia(self) -> LegInertia:
        matrix = zero_symmetric(self.extension_rate)
        spin: SpinInertia | None = None
        for swing, lower, upper in self.swings:
            matrix = matrix.plus(self._swung(swing, lower, upper))
            if swing.on_ring:
                spin = self._spun(swing, lower, upper)
        return LegInertia(matrix.plus(scaled(self.numbers.armature, outer_square(self.along))), spin)

    def _swung(self, swing: Swing, lower: Part, upper: Part) -> Symmetric:
        """The inertia of parts in the motion of the joint; the prismatic part's mass is counted with the ring."""
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

    def _spun(self, swing: Swing, lower: Part, upper: Part) -> SpinInertia:
        mass = swing_mass(swing, lower.inertia.plus(upper.inertia))
        shift = -upper.first[1], upper.first[0], self.extension_rate.number(0)
        return SpinInertia(swing.axes.out(plus(mass.about, shift)), mass.about_itself, swing.axes.reach)

    # loads

    def load(self, acceleration: Acceleration, forces: Forces) -> Load:
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
        return Load(force, moment)

    def _local_load(
        self, swing: Swing, lower: Part, upper: Part, acceleration: Acceleration, forces: Forces
    ) -> tuple[Vector, Scalar | None]:
        """The force at the joint, and the moment about the leg if the ring turns these parts."""
        curl, moment = self._moment(swing, lower, upper, acceleration)
        if not swing.on_ring:
            return plus(curl.force(upper.first), swing.at_end(plus(moment, self._of_angles(forces)))), None
        moment = (moment[0], moment[1], moment[2] - (forces.twist or 0))
        return plus(curl.force(upper.first), swing.at_end(moment)), moment[2]

    def _moment(self, swing: Swing, lower: Part, upper: Part, acceleration: Acceleration) -> tuple[Curl, Vector]:
        """How parts move, and the moment this takes in axes 1, 2, 3, of each about its origin."""
        fall = self._falling(swing, lower, upper, acceleration)
        seen = swing.axes.into(acceleration.seen)
        curl = swing.curl(seen, acceleration.ring if swing.on_ring else acceleration.base)
        weighed = cross(plus(upper.first, lower.first), fall)
        return curl, plus(curl.moment(lower.joined(upper)), minus(cross(upper.first, seen), weighed))

    def _falling(self, swing: Swing, lower: Part, upper: Part, acceleration: Acceleration) -> Vector:
        """Gravity in the axes of a part, if it has a first moment to act on."""
        if all(item.is_zero for item in (*lower.first, *upper.first)):
            return zero_vector(self.extension_rate)
        return swing.axes.into(acceleration.fall)

    def _axial(self, acceleration: Acceleration, forces: Forces) -> Scalar:
        armature = self.numbers.armature
        return -forces.drive if armature.is_zero else armature * self._growth(acceleration) - forces.drive

    def _growth(self, acceleration: Acceleration) -> Scalar:
        """The second derivative of the length."""
        swing = self.swings[-1][0]
        one, two, _ = swing.spin
        return dot(self.along, acceleration.seen) + self.length * (one * one + two * two)

    def effort(self) -> Vector:
        return self.along

    # what it does to the base

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

    def momenta(self) -> Momenta:
        parts = [self._momenta(*one) for one in self.swings]
        linear, angular = (added([getattr(one, word) for one in parts]) for word in ("linear", "angular"))
        return Momenta(linear, angular, parts[-1].spin)

    def _momenta(self, swing: Swing, lower: Part, upper: Part) -> Momenta:
        """By the angular velocities (0, 1/l, 0), (-1/l, 0, -t/l), 0 that unit velocities along 1, 2, 3 cause."""
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
        return Momenta(
            added([axes.across(s3 * inverse), axes.spread_out(linear)]),
            added([skew(times(round_about, axes.three)), axes.spread_out(angular)]),
            self._spin_momentum(swing, lower, upper) if swing.on_ring else None,
        )

    def _spin_momentum(self, swing: Swing, lower: Part, upper: Part) -> SpinMomentum:
        zero, axes = self.extension_rate.number(0), swing.axes
        (s1, s2, _), (a1, a2, _) = plus(lower.first, upper.first), lower.first
        inertia = lower.inertia.plus(upper.inertia)
        about = inertia.xz + self.length * a1, inertia.yz + self.length * a2, inertia.zz
        return SpinMomentum(axes.out((-s2, s1, zero)), axes.out(about), axes.reach)

    def momentum_rate(self, acceleration: Acceleration) -> tuple[Vector, Vector]:
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

    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[Turn | None, ...]:
        _, y, z = base
        axes = self.at_base.axes
        alpha = Turn(-dot(self.along, y) * axes.inverse_cosine, dot(self.along, z) * axes.inverse_cosine)
        beta = Turn(dot(self.along, self.joint.base_axis), axes.cosine)
        if self.kind is LegType.UPS:
            return None, alpha, beta
        cross_axis = negative(self.at_ring.axes.two)
        return None, alpha, beta, Turn(dot(cross_axis, axes.two), dot(cross_axis, axes.one))

    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self.extension_rate, alpha

    def _driven_accelerations(self, acceleration: Acceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self._growth(acceleration), alpha

    def _end_acceleration(self, acceleration: Acceleration) -> Vector:
        return acceleration.seen

    def pivots(self) -> tuple[Scalar, ...]:
        return tuple(swing.axes.cosine for swing, _, _ in self.swings)
