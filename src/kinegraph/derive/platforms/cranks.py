"""Legs with a crank and a rod: RUS and RSU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.platforms.free_motion import FreeMotion, added, outer
from kinegraph.derive.platforms.leg_parameters import LegNumbers, RigidPart
from kinegraph.derive.platforms.legs import (
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
    isotropic,
    swing_mass,
)
from kinegraph.derive.tree.algebra import (
    MassMoments,
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
    transpose,
)
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import GUARDED
from kinegraph.model.platforms.leg_table import LegType


@dataclass(frozen=True)
class CrankBody:
    """A crank on a base that may rotate: its inertia about the drive, its axes in platform axes (z is the drive's), its
    rate, and the base's angular velocity."""

    part: RigidPart
    axes: tuple[Vector, Vector, Vector]
    rate: Scalar
    base_spin: Vector | None

    def into(self, a: Vector) -> Vector:
        """A vector in platform axes, expressed in the crank's axes."""
        x, y, z = self.axes
        return dot(x, a), dot(y, a), dot(z, a)

    def out(self, a: Vector) -> Vector:
        """A vector in the crank's axes, expressed in platform axes."""
        x, y, z = self.axes
        return plus(plus(times(a[0], x), times(a[1], y)), times(a[2], z))

    def moments(self) -> MassMoments:
        """The mass distribution about the drive, in platform axes, without the point mass there."""
        own = MassMoments(self.rate.number(0), self.part.first, self.part.second)
        return own.turned(transpose(self.axes))

    def unit_momentum(self) -> tuple[Vector, Vector]:
        """Momentum, and angular momentum about the drive, for a unit rate on a fixed base."""
        zero = self.rate.number(0)
        turn = (zero, zero, zero.number(1))
        return self.out(cross(turn, self.part.first)), self.out(self.part.inertia.apply(turn))

    def motion(self, change: Scalar, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        """Angular velocity and acceleration in the crank's axes. change: the second derivative of its angle."""
        zero = self.rate.number(0)
        if self.base_spin is None:
            return (zero, zero, self.rate), (zero, zero, change)
        x, y, z = self.into(self.base_spin)
        turn = y * self.rate, -(x * self.rate), change
        if acceleration.base is not None:
            turn = plus(turn, self.into(acceleration.base))
        return (x, y, z + self.rate), turn

    def moment(self, change: Scalar, acceleration: JointAcceleration) -> Vector:
        """I e + w x I w in the crank's axes."""
        spin, turn = self.motion(change, acceleration)
        return plus(self.part.inertia.apply(turn), cross(spin, self.part.inertia.apply(spin)))

    def momentum_rate(self, change: Scalar, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        """The rates of momentum and angular momentum about the drive, without the point mass, in platform axes."""
        spin, turn = self.motion(change, acceleration)
        first = self.part.first
        force = self.out(plus(cross(turn, first), cross(spin, cross(spin, first))))
        weight = cross(self.out(first), acceleration.fall)
        return force, minus(self.out(self.moment(change, acceleration)), weight)


class Crank(SwingingLeg):
    """A crank on the base and a rod from its tip to the platform (RUS, RSU). alpha: the coordinate of the rod's angle.

    Let d be the vector from the joint on the base to that on the platform, z the drive's axis, a and b the lengths of
    crank and rod. The crank's tip E is in the plane normal to z, at the distance b from the end of d. So d . E = a k
    with k = (d^2 + a^2 - b^2) / (2 a). With r the length of d across z and w = sqrt(r^2 - k^2),

        E = a / r^2 (k (d - (d . z) z) - w z x d),    q = z x E,    (d - E) . q = a w.

    The direction of the rod is d - E, and its axes are those of a part on a universal joint (`CrossAxes`). If crank and
    rod are aligned, w is zero and the crank is at a dead point. The solution with -w has the elbow on the other side,
    where alpha is negative; there this closed form gives NaN.
    """

    def __init__(
        self, kind: LegType, numbers: LegNumbers, platform_motion: FreeMotion, joint: JointMotion, alpha: Scalar
    ) -> None:
        super().__init__(kind, numbers, platform_motion, joint)
        crank, rod = numbers.lengths
        d, z = joint.place, joint.base_axis
        high = dot(d, z)
        square = dot(d, d)
        self.wide = square - high * high
        along = (square + (crank * crank - rod * rod)) / (2 * crank)
        self.root = (self.wide - along * along).apply("sqrt")
        flat, turned = minus(d, times(high, z)), cross(z, d)
        share = crank / self.wide
        first, second = share * along, share * self.root
        self.tip = minus(times(first, flat), times(second, turned))
        self.tip_turned = plus(times(first, turned), times(second, flat))
        self.line, self.length = minus(d, self.tip), rod
        self.inverse_length = rod.reciprocal()
        self.along = times(self.inverse_length, self.line)
        #: The rate of the crank is the product of this row and the velocity of the joint on the platform.
        self.inverse = (crank * self.root).reciprocal().apply(GUARDED, alpha.sin())
        self.row = times(self.inverse, self.line)
        self.rate = dot(self.row, self._seen_from_base(joint.velocity, d))
        self._end_velocity = minus(joint.velocity, self._tip_velocity())

    @property
    def extension_rate(self) -> Scalar:
        return self.rate.number(0)

    @property
    def end_velocity(self) -> Vector:
        return self._end_velocity

    def _beta(self, about_two: Scalar) -> Scalar:
        return -about_two

    def _seen_from_base(self, velocity: Vector, place: Vector) -> Vector:
        spin = self.joint.base_spin
        return velocity if spin is None else minus(velocity, cross(spin, place))

    def _tip_velocity(self) -> Vector:
        """The velocity of the crank's tip relative to the joint on the base, for a nonrotating observer."""
        turned, spin = times(self.rate, self.tip_turned), self.joint.base_spin
        return turned if spin is None else plus(turned, cross(spin, self.tip))

    @cached_property
    def body(self) -> CrankBody:
        """The crank."""
        inverse = self.numbers.lengths[0].reciprocal()
        axes = times(inverse, self.tip), times(inverse, self.tip_turned), self.joint.base_axis
        return CrankBody(self.numbers.crank, axes, self.rate, self.joint.base_spin)

    @property
    def swing(self) -> Swing:
        """The motion of the rod."""
        return self.at_base if self.kind is LegType.RUS else self.at_platform

    @property
    def about_drive(self) -> Scalar:
        """The inertia about the drive's axis."""
        return self.numbers.crank.inertia.zz + self.numbers.armature

    # inertia

    def inertia(self) -> LegInertia:
        rod, swing = self.numbers.upper, self.swing
        mass = swing_mass(swing, rod.inertia)
        q, row = self.tip_turned, self.row
        crank = self.numbers.lengths[0]
        # The velocity across the rod is v - q (row . v), and its square needs no axes.
        half = (self.about_drive + mass.across * crank * crank) / 2
        folded = minus(times(half, row), times(mass.across, q))
        matrix = symmetric_product(row, folded)
        matrix = matrix.plus(isotropic(mass.across))
        one, two = self._swung(swing.axes.one), self._swung(swing.axes.two)
        matrix = matrix.plus(scaled(mass.more, outer_square(two)))
        if not mass.mixed.is_zero:
            matrix = matrix.plus(scaled(mass.mixed, symmetric_product(one, two)))
        lever = self._lever()
        if lever is not None:
            force = swing.at_end(lever)
            turned = plus(times(force[0], one), times(force[1], two))
            matrix = matrix.plus(symmetric_product(row, turned))
        if not swing.on_platform:
            return LegInertia(matrix)
        coupling = plus(times(mass.about[0], one), times(mass.about[1], two))
        if lever is not None:
            coupling = plus(coupling, times(lever[2], row))
        return LegInertia(matrix, SpinInertia(coupling, mass.about_itself, swing.axes.reach))

    def _swung(self, axis: Vector) -> Vector:
        """The row that gives the relative velocity of the rod's ends along an axis from the joint's velocity."""
        return minus(axis, times(dot(axis, self.tip_turned), self.row))

    def _lever(self) -> Vector | None:
        """s x q in the rod's axes; None if the rod has no first moment."""
        first = self.numbers.upper.first
        if all(item.is_zero for item in first):
            return None
        return cross(first, self.swing.axes.into(self.tip_turned))

    # loads

    def _tip(self, acceleration: JointAcceleration) -> tuple[Scalar, Vector]:
        """The second derivative of the crank's angle, and the acceleration of its tip relative to the base joint."""
        square = self.rate * self.rate
        rest = square * dot(self.line, self.tip) + dot(self.end_velocity, self.end_velocity)
        transferred = self._transferred(acceleration)
        seen = acceleration.seen if transferred is None else minus(acceleration.seen, transferred)
        change = dot(self.row, seen) + rest * self.inverse
        tip = minus(times(change, self.tip_turned), times(square, self.tip))
        return change, tip if transferred is None else plus(tip, transferred)

    def _transferred(self, acceleration: JointAcceleration) -> Vector | None:
        """The acceleration of the tip due to the rotation of the base."""
        spin = self.joint.base_spin
        if spin is None:
            return None
        found = cross(spin, plus(cross(spin, self.tip), times(2 * self.rate, self.tip_turned)))
        return found if acceleration.base is None else plus(found, cross(acceleration.base, self.tip))

    def _curl(self, acceleration: JointAcceleration, tip: Vector) -> Curl:
        swing = self.swing
        carrier = acceleration.platform if swing.on_platform else acceleration.base
        return swing.curl(swing.axes.into(minus(acceleration.seen, tip)), carrier)

    def load(self, acceleration: JointAcceleration, forces: LegForces) -> LegLoad:
        swing, rod = self.swing, self.numbers.upper
        change, tip = self._tip(acceleration)
        curl = self._curl(acceleration, tip)
        moment = curl.moment(rod)
        if self._lever() is not None:
            moment = plus(moment, cross(rod.first, swing.axes.into(minus(tip, acceleration.fall))))
        if not swing.on_platform:
            moment = plus(moment, self._of_angles(forces))
        else:
            moment = (moment[0], moment[1], moment[2] - (forces.twist or 0))
        across = swing.axes.out(swing.at_end(moment))
        if swing.on_platform and forces.on_angles:
            across = plus(across, self.at_base.axes.out(self.at_base.at_end(self._of_angles(forces))))
        shift = swing.axes.out(curl.force(rod.first))
        drive = (
            dot(minus(shift, across), self.tip_turned)
            + self._crank_moment(change, acceleration)
            - forces.drive
            + forces.alpha
        )
        force = plus(across, times(drive, self.row))
        return LegLoad(force, times(moment[2], swing.axes.reach) if swing.on_platform else None)

    def _crank_moment(self, change: Scalar, acceleration: JointAcceleration) -> Scalar:
        """The moment about the drive's axis for inertia and gravity of the crank."""
        x, y, _ = self.numbers.crank.first
        length = self.numbers.lengths[0]
        needed = self.numbers.armature * change + self.body.moment(change, acceleration)[2]
        if not x.is_zero:
            needed = needed - x / length * dot(self.tip_turned, acceleration.fall)
        if not y.is_zero:
            needed = needed + y / length * dot(self.tip, acceleration.fall)
        return needed

    def effort(self) -> Vector:
        return self.row

    # effect on the base

    @property
    def base_mass(self) -> Scalar:
        return self.numbers.crank.mass

    def moments(self) -> MassMoments:
        axes, rod = self.swing.axes, self.numbers.upper
        shift = axes.out(rod.first)
        far = MassMoments(self.rate.number(0), shift, axes.spread(rod.second).plus(symmetric_product(self.tip, shift)))
        return self.body.moments().plus(far).shifted(negative(self.joint.place))

    def momenta(self) -> LegMomenta:
        axes, inverse, zero = self.swing.axes, self.inverse_length, self.rate.number(0)
        found = [
            (self._swung(axes.one), *self._of_rod((zero, inverse, zero))),
            (self._swung(axes.two), *self._of_rod((-inverse, zero, -(axes.tangent * inverse)))),
            (self.row, *self._of_crank()),
        ]
        linear = added([outer(linear, by) for by, linear, _ in found])
        angular = added([outer(angular, by) for by, _, angular in found])
        if not self.swing.on_platform:
            return LegMomenta(linear, angular)
        return LegMomenta(linear, angular, SpinMomentum(*self._of_rod((zero, zero, zero.number(1))), axes.reach))

    def _about_platform_joint(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Momentum, and angular momentum about the joint on the platform from that about the joint on the base."""
        return linear, minus(angular, cross(self.joint.place, linear))

    def _of_rod(self, spin: Vector) -> tuple[Vector, Vector]:
        """The momenta due to an angular velocity of the rod, in its axes, about the fixed crank's tip."""
        rod, axes = self.numbers.upper, self.swing.axes
        linear = axes.out(cross(spin, rod.first))
        return self._about_platform_joint(linear, plus(axes.out(rod.inertia.apply(spin)), cross(self.tip, linear)))

    def _of_crank(self) -> tuple[Vector, Vector]:
        """The momenta due to a unit rate of the crank, including the rod's first moment."""
        (linear, angular), lever = self.body.unit_momentum(), self._lever()
        return self._about_platform_joint(
            linear, angular if lever is None else plus(angular, self.swing.axes.out(lever))
        )

    def momentum_rate(self, acceleration: JointAcceleration) -> tuple[Vector, Vector]:
        swing, rod = self.swing, self.numbers.upper
        change, tip = self._tip(acceleration)
        curl = self._curl(acceleration, tip)
        shift = swing.axes.out(curl.force(rod.first))
        own = plus(curl.moment(rod), cross(rod.first, swing.axes.into(minus(tip, acceleration.fall))))
        force, moment = self.body.momentum_rate(change, acceleration)
        moment = plus(moment, plus(swing.axes.out(own), cross(self.tip, shift)))
        return self._about_platform_joint(plus(shift, force), moment)

    # coordinates

    def lengths(self) -> tuple[Scalar, ...]:
        return ()

    def turns(self, base: tuple[Vector, Vector, Vector]) -> tuple[LegAngle | None, ...]:
        x, y, z = base
        ahead, beside, _ = self.body.axes
        axes = self.at_base.axes
        theta = LegAngle(dot(ahead, y), dot(ahead, x))
        alpha = LegAngle(dot(self.along, beside) * axes.inverse_cosine, dot(self.along, ahead) * axes.inverse_cosine)
        beta = LegAngle(-dot(self.along, z), axes.cosine)
        if self.kind is LegType.RUS:
            return theta, alpha, beta
        own = self.at_platform.axes.two
        return theta, alpha, beta, LegAngle(-dot(own, axes.one), dot(own, axes.two))

    def _driven_rates(self, alpha: Scalar) -> tuple[Scalar, Scalar]:
        return self.rate, alpha - self.rate

    def _driven_accelerations(self, acceleration: JointAcceleration, alpha: Scalar) -> tuple[Scalar, Scalar]:
        change, _ = self._tip(acceleration)
        return change, alpha - change

    def _end_acceleration(self, acceleration: JointAcceleration) -> Vector:
        return minus(acceleration.seen, self._tip(acceleration)[1])

    def pivots(self) -> tuple[Scalar, ...]:
        return self.root * self.root / self.wide, self.swing.axes.cosine
