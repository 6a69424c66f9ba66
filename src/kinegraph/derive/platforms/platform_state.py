"""The state of a platform: platform, base, and all legs with the motion of their joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.platforms.cranks import Crank
from kinegraph.derive.platforms.free_motion import (
    FixedBase,
    FreeBase,
    FreeMotion,
    PlatformBase,
    added,
    free_motion,
    skew,
    square,
)
from kinegraph.derive.platforms.leg_parameters import (
    BaseJoint,
    LegNumbers,
    RigidPart,
    base_joint,
    column,
    leg_numbers,
    plane_of_joints,
    platform_part,
)
from kinegraph.derive.platforms.legs import JointAcceleration, JointMotion, Leg, LegAngle, LegForces
from kinegraph.derive.platforms.struts import RoundStrut, Strut, is_round
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    dot,
    minus,
    plus,
    signed_axis,
    times,
    zero_vector,
)
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import Tree
from kinegraph.graph.build import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.leg_table import LegType
from kinegraph.model.platforms.recognition import Platform, RecognizedLeg


@dataclass(frozen=True)
class PlatformAccelerations:
    """Linear acceleration of the reference point and angular acceleration of the platform, in platform axes.

    For a moving base likewise: of its point that coincides with the reference point, and angular. Accelerations are
    absolute; with a moving base gravity is subtracted.
    """

    point: Vector
    angular: Vector
    base_point: Vector | None = None
    base_angular: Vector | None = None
    #: The difference of the first two from the trial motion, if only they are unknown.
    more: tuple[Vector, Vector] | None = None
    #: Accelerations of the coordinates of rails by name; None: zero.
    rails: Mapping[str, Scalar] | None = None

    def changed(self, point: Vector, angular: Vector) -> PlatformAccelerations:
        """The accelerations with increments for the platform."""
        return PlatformAccelerations(plus(self.point, point), plus(self.angular, angular), more=(point, angular))


class PlatformState:
    """A platform in one builder. numbers: the parameters of legs, or symbols for them (`legs_side_by_side`)."""

    def __init__(
        self, mechanism: Mechanism, platform: Platform, tree: Tree, names: Names, numbers: Sequence[LegNumbers]
    ) -> None:
        self.mechanism, self.platform, self.tree, self.names = mechanism, platform, tree, names
        self.numbers = numbers
        self.index = {name: index for index, name in enumerate(mechanism.layout.velocities)}

    @cached_property
    def platform_motion(self) -> FreeMotion:
        """Pose and velocity of the platform."""
        return free_motion(self.platform.moving, self.names)

    @cached_property
    def base(self) -> PlatformBase:
        """The base of the legs."""
        body = self.platform.base
        return (
            FixedBase(self.platform_motion)
            if body is None
            else FreeBase(self.platform_motion, free_motion(body, self.names))
        )

    @cached_property
    def origin(self) -> Vector:
        """The reference point on the platform, in its axes."""
        return plane_of_joints(self.platform, self.tree)

    @cached_property
    def part(self) -> RigidPart:
        """The platform's inertia about the reference point, with the point masses of the legs."""
        masses = [(one.on_platform, one.platform_point) for one in self.numbers]
        return platform_part(self.platform, self.tree, self.origin, masses)

    @cached_property
    def joints(self) -> list[BaseJoint]:
        """The joints of the legs on the base."""
        return [base_joint(leg, self.platform, self.tree, self.names) for leg in self.platform.legs]

    def base_joint_position(self, numbers: LegNumbers, base: BaseJoint) -> Vector:
        """The position of a leg's joint on the base, in the base's axes."""
        return base.position if base.moves else numbers.base

    @cached_property
    def frame_gravity(self) -> Vector:
        """Gravity in the frame of accelerations, in fixed axes; zero with a moving base, because that frame falls."""
        return self.tree.gravity if self.platform.base is None else zero_vector(self.tree.like)

    @cached_property
    def fallen(self) -> Vector:
        """The rest of gravity, in fixed axes."""
        return minus(self.tree.gravity, self.frame_gravity)

    # legs

    @cached_property
    def legs(self) -> list[Leg]:
        """All legs at the state."""
        found = zip(self.platform.legs, self.numbers, self.joints, strict=True)
        return [self._leg(*one) for one in found]

    def _leg(self, leg: RecognizedLeg, numbers: LegNumbers, base: BaseJoint) -> Leg:
        motion = self._joint_motion(numbers, base)
        if leg.type is LegType.UPS and motion.base_spin is None and is_round(numbers):
            return RoundStrut(numbers, self.platform_motion, motion)
        if leg.type.has_crank:
            return Crank(leg.type, numbers, self.platform_motion, motion, self.names[leg.alpha])
        return Strut(leg.type, numbers, self.platform_motion, motion)

    @cached_property
    def _level(self) -> Vector:
        """A point on the base, in its axes, at the common height of the joints if they have one."""
        heights = [one.base[2] for one in self.numbers]
        zero = heights[0].number(0)
        return zero, zero, heights[0] if all(item == heights[0] for item in heights) else zero

    @cached_property
    def _center(self) -> Vector:
        """The vector from that point to the reference point on the platform, in platform axes."""
        return plus(self.base.platform_from(self._level), self.origin)

    @cached_property
    def _velocity(self) -> Vector:
        """The velocity of the reference point relative to that point, in platform axes."""
        found = plus(self.base.platform_velocity(), cross(self.platform_motion.spin, self.origin))
        return found if self.base.spin is None else minus(found, cross(self.base.spin, self.base.into(self._level)))

    def _near(self, numbers: LegNumbers, base: BaseJoint) -> Vector:
        """The vector from that point to a joint on the base, in platform axes."""
        return self.base.into(minus(self.base_joint_position(numbers, base), self._level))

    def _joint_motion(self, numbers: LegNumbers, base: BaseJoint) -> JointMotion:
        near, spin = self._near(numbers, base), self.base.spin
        place = plus(self._center, minus(numbers.platform_point, near))
        velocity = plus(self._velocity, cross(self.platform_motion.spin, numbers.platform_point))
        if spin is not None:
            velocity = minus(velocity, cross(spin, near))
        if base.moves:
            velocity = minus(velocity, self.base.into(base.velocity))
        axis = self.base.into(numbers.base_axis)
        return JointMotion(place, velocity, axis, self._ahead(numbers, base, axis, place), spin)

    def _ahead(self, numbers: LegNumbers, base: BaseJoint, axis: Vector, place: Vector) -> Scalar:
        """The component of a leg's line along an axis of the base; for x, y and z from the platform's coordinates."""
        if self.platform.base is not None or signed_axis(numbers.base_axis) is None:
            return dot(place, axis)
        along = dot(numbers.base_axis, minus(self.platform_motion.position, self.base_joint_position(numbers, base)))
        return along + dot(axis, self.origin) + dot(axis, numbers.platform_point)

    def leg_forces(self, forces: Sequence[Scalar]) -> list[LegForces]:
        """The forces on the coordinates of each leg."""
        return [LegForces(*(forces[self.index[name + "'"]] for name in leg.coordinates)) for leg in self.platform.legs]

    # accelerations of joints

    @cached_property
    def trial(self) -> PlatformAccelerations:
        """A trial motion with simple accelerations of the joints, from which the solution starts.

        The reference point does not accelerate. Its angular acceleration cancels all terms of the acceleration field in
        the plane of the joints except centripetal ones. A moving base falls freely.
        """
        x, y, z = self.platform_motion.spin
        return PlatformAccelerations(zero_vector(x), (-(y * z), x * z, x * y))

    def field(self, motion: PlatformAccelerations) -> Matrix:
        """[e x] + [w x]^2: the gradient of the platform's acceleration field."""
        return added([skew(motion.angular), square(self.platform_motion.curl)])

    def at_joints(self, motion: PlatformAccelerations) -> list[JointAcceleration]:
        """The accelerations of the joints of all legs."""
        field = self.field(motion)
        return [self._at_joint(*one, motion, field) for one in zip(self.numbers, self.joints, strict=True)]

    def _at_joint(
        self, numbers: LegNumbers, base: BaseJoint, motion: PlatformAccelerations, field: Matrix
    ) -> JointAcceleration:
        at_base = self._base_acceleration(numbers, base, motion)
        fall = minus(self.platform_motion.into(self.frame_gravity), at_base)
        if motion.more is None:
            seen = plus(minus(motion.point, at_base), apply(field, numbers.platform_point))
            return JointAcceleration(seen, fall, motion.angular, motion.base_angular)
        point, angular = motion.more
        trial = self._at_joint(numbers, base, self.trial, self.field(self.trial)).seen
        railed = self._railed(base, motion)
        seen = plus(plus(trial, point), cross(angular, numbers.platform_point))
        return JointAcceleration(seen if railed is None else minus(seen, railed), fall, motion.angular)

    def _base_acceleration(self, numbers: LegNumbers, base: BaseJoint, motion: PlatformAccelerations) -> Vector:
        """The acceleration of a joint on the base, minus gravity if the base moves."""
        if not isinstance(self.base, FreeBase):
            return self.moved(base, motion)
        return self._of_base_point(minus(self._near(numbers, base), self._center), base, motion)

    def _of_base_point(self, place: Vector, base: BaseJoint, motion: PlatformAccelerations) -> Vector:
        """The acceleration of a point on a moving base minus gravity, from its position relative to the reference
        point."""
        assert isinstance(self.base, FreeBase)
        found = plus(self.base.curl.apply(place), self.moved(base, motion))
        if motion.base_point is not None and motion.base_angular is not None:
            found = plus(found, plus(motion.base_point, cross(motion.base_angular, place)))
        return found

    def _railed(self, base: BaseJoint, motion: PlatformAccelerations) -> Vector | None:
        """The acceleration of a joint on the base due to rails, in platform axes."""
        return None

    def moved(self, base: BaseJoint, motion: PlatformAccelerations) -> Vector:
        """The acceleration of a joint on the base due to prescribed motion and rails, in platform axes."""
        own, railed = self.base.into(base.acceleration), self._railed(base, motion)
        if base.moves and self.base.spin is not None:
            own = plus(own, times(2, cross(self.base.spin, self.base.into(base.velocity))))
        return own if railed is None else plus(own, railed)

    # coordinates of legs

    def on_base_axes(self, base: BaseJoint) -> tuple[Vector, Vector, Vector]:
        """The axes of a leg's frame on the base, in platform axes."""
        x, y, z = (self.base.into(column(base.rotation, axis)) for axis in range(3))
        return x, y, z

    def leg_positions(self) -> dict[str, Scalar]:
        """The coordinates of all legs by name, from the poses of platform and base."""
        found: dict[str, Scalar] = {}
        for leg, found_leg, base in zip(self.legs, self.platform.legs, self.joints, strict=True):
            found |= dict(zip(found_leg.coordinates, leg.positions(self.on_base_axes(base)), strict=True))
        return found

    def leg_turns(self) -> dict[str, LegAngle]:
        """Sine and cosine of the legs' angles, by name."""
        found: dict[str, LegAngle] = {}
        for leg, found_leg, base in zip(self.legs, self.platform.legs, self.joints, strict=True):
            turns = zip(found_leg.coordinates, leg.turns(self.on_base_axes(base)), strict=True)
            found |= {name: turn for name, turn in turns if turn is not None}
        return found

    def leg_rates(self) -> dict[str, Scalar]:
        """The rates of the legs' coordinates, by the name of the velocity."""
        found: dict[str, Scalar] = {}
        for leg, found_leg in zip(self.legs, self.platform.legs, strict=True):
            found |= {f"{name}'": rate for name, rate in zip(found_leg.coordinates, leg.rates(), strict=True)}
        return found


def numbers_of(platform: Platform, tree: Tree, names: Names) -> list[LegNumbers]:
    """The parameters of all legs of the model."""
    origin = plane_of_joints(platform, tree)
    return [leg_numbers(leg, tree, base_joint(leg, platform, tree, names), names, origin) for leg in platform.legs]
