"""A platform at a state: ring, base, and all legs with the motion of their joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.platforms.base import Base, FixedBase, FreeBase
from kinegraph.derive.platforms.legs.constants import LegNumbers, Part, column
from kinegraph.derive.platforms.legs.cranks import Crank
from kinegraph.derive.platforms.legs.leg import Acceleration, Forces, JointMotion, Leg, Turn
from kinegraph.derive.platforms.legs.struts import Strut
from kinegraph.derive.platforms.reading import BaseJoint, base_joint, leg_numbers, plane_of_joints, ring_part
from kinegraph.derive.platforms.ring import FreeMotion, curled, free_motion
from kinegraph.derive.tree.algebra import Vector, cross, minus, negative, plus, times
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.links import Tree
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import FoundLeg, Platform


@dataclass(frozen=True)
class RingAccelerations:
    """Accelerations in ring axes: of the reference point on the ring less gravity, and angular.

    Of a base that moves the same: of its point that is now at the reference point, and angular.
    """

    point: Vector
    angular: Vector
    base_point: Vector | None = None
    base_angular: Vector | None = None


class PlatformState:
    """A platform in one builder. `numbers` may stand in symbols for the numbers of legs (see `alike.py`)."""

    def __init__(
        self, mechanism: Mechanism, platform: Platform, tree: Tree, names: Names, numbers: Sequence[LegNumbers]
    ) -> None:
        self.mechanism, self.platform, self.tree, self.names = mechanism, platform, tree, names
        self.numbers = numbers
        self.index = {name: index for index, name in enumerate(mechanism.layout.velocities)}

    @cached_property
    def ring(self) -> FreeMotion:
        """The ring's motion."""
        return free_motion(self.platform.ring, self.names)

    @cached_property
    def base(self) -> Base:
        """What the legs stand on."""
        body = self.platform.base
        return FixedBase(self.ring) if body is None else FreeBase(self.ring, free_motion(body, self.names))

    @cached_property
    def origin(self) -> Vector:
        """The reference point on the ring, in its axes."""
        return plane_of_joints(self.platform, self.tree)

    @cached_property
    def part(self) -> Part:
        """The ring's inertia about the reference point, with what of the legs moves as the ring does."""
        masses = [(one.on_ring, one.ring) for one in self.numbers]
        return ring_part(self.platform, self.tree, self.origin, masses)

    @cached_property
    def joints(self) -> list[BaseJoint]:
        """Where the legs stand."""
        return [base_joint(leg, self.tree, self.names) for leg in self.platform.legs]

    def stand(self, numbers: LegNumbers, base: BaseJoint) -> Vector:
        """Where a leg stands, in the base's axes."""
        return base.position if base.moves else numbers.base

    @cached_property
    def gravity(self) -> Vector:
        """Gravity in ring axes."""
        return self.ring.into(self.tree.gravity)

    # legs

    @cached_property
    def legs(self) -> list[Leg]:
        """All legs at the state."""
        found = zip(self.platform.legs, self.numbers, self.joints, strict=True)
        return [self._leg(*one) for one in found]

    def _leg(self, leg: FoundLeg, numbers: LegNumbers, base: BaseJoint) -> Leg:
        made = Crank if leg.type.has_crank else Strut
        return made(leg.type, numbers, self.ring, self._joint_motion(numbers, base))

    @cached_property
    def _level(self) -> Vector:
        """A point on the base, in its axes, below which most joints have no height."""
        heights = [one.base[2] for one in self.numbers]
        zero = heights[0].number(0)
        return zero, zero, heights[0] if all(item == heights[0] for item in heights) else zero

    @cached_property
    def _centre(self) -> Vector:
        """From that point to the reference point on the ring, in ring axes."""
        return plus(self.base.ring_from(self._level), self.origin)

    @cached_property
    def _velocity(self) -> Vector:
        """Of the reference point against that point, in ring axes."""
        found = plus(self.base.ring_velocity(), cross(self.ring.spin, self.origin))
        return found if self.base.spin is None else minus(found, cross(self.base.spin, self.base.into(self._level)))

    def _near(self, numbers: LegNumbers, base: BaseJoint) -> Vector:
        """From that point to the joint on the base, in ring axes."""
        return self.base.into(minus(self.stand(numbers, base), self._level))

    def _joint_motion(self, numbers: LegNumbers, base: BaseJoint) -> JointMotion:
        near, spin = self._near(numbers, base), self.base.spin
        place = plus(self._centre, minus(numbers.ring, near))
        velocity = plus(self._velocity, cross(self.ring.spin, numbers.ring))
        if spin is not None:
            velocity = minus(velocity, cross(spin, near))
        if base.moves:
            velocity = minus(velocity, self.base.into(base.velocity))
        return JointMotion(place, velocity, self.base.into(numbers.base_axis), spin)

    def leg_forces(self, forces: Sequence[Scalar]) -> list[Forces]:
        """The forces on each leg's own coordinates."""
        return [Forces(*(forces[self.index[name + "'"]] for name in leg.coordinates)) for leg in self.platform.legs]

    # accelerations of joints

    def at_joints(self, motion: RingAccelerations | None) -> list[Acceleration]:
        """The accelerations of the joints of all legs; without a motion those that velocities cause alone."""
        return [self._at_joint(*one, motion) for one in zip(self.numbers, self.joints, strict=True)]

    def _at_joint(self, numbers: LegNumbers, base: BaseJoint, motion: RingAccelerations | None) -> Acceleration:
        joint, fall = curled(self.ring, numbers.ring), self._fall(numbers, base, motion)
        if motion is None:
            return Acceleration(joint, fall)
        joint = plus(plus(motion.point, cross(motion.angular, numbers.ring)), joint)
        return Acceleration(joint, fall, motion.angular, motion.base_angular)

    def _fall(self, numbers: LegNumbers, base: BaseJoint, motion: RingAccelerations | None) -> Vector:
        """Gravity less the acceleration of a joint on the base."""
        if not isinstance(self.base, FreeBase):
            return minus(self.gravity, self.base.into(base.acceleration)) if base.moves else self.gravity
        place = minus(self._near(numbers, base), self._centre)
        found = plus(self.base.curl.apply(place), self.moved(base))
        if motion is not None and motion.base_point is not None and motion.base_angular is not None:
            found = plus(found, plus(motion.base_point, cross(motion.base_angular, place)))
        return negative(found)

    def moved(self, base: BaseJoint) -> Vector:
        """What time adds to the acceleration of a joint on the base, in ring axes."""
        own = self.base.into(base.acceleration)
        if not base.moves or self.base.spin is None:
            return own
        return plus(own, times(2, cross(self.base.spin, self.base.into(base.velocity))))

    # coordinates of legs

    def _on_base(self, base: BaseJoint) -> tuple[Vector, Vector, Vector]:
        """The axes of a leg's frame on the base, in ring axes."""
        x, y, z = (self.base.into(column(base.rotation, axis)) for axis in range(3))
        return x, y, z

    def leg_positions(self) -> dict[str, Scalar]:
        """The coordinates of all legs by name, from the poses of ring and base alone."""
        found: dict[str, Scalar] = {}
        for leg, found_leg, base in zip(self.legs, self.platform.legs, self.joints, strict=True):
            found |= dict(zip(found_leg.coordinates, leg.positions(self._on_base(base)), strict=True))
        return found

    def leg_turns(self) -> dict[str, Turn]:
        """Sine and cosine of those that are angles."""
        found: dict[str, Turn] = {}
        for leg, found_leg, base in zip(self.legs, self.platform.legs, self.joints, strict=True):
            turns = zip(found_leg.coordinates, leg.turns(self._on_base(base)), strict=True)
            found |= {name: turn for name, turn in turns if turn is not None}
        return found

    def leg_rates(self) -> dict[str, Scalar]:
        """Their rates by the name of the velocity."""
        found: dict[str, Scalar] = {}
        for leg, found_leg in zip(self.legs, self.platform.legs, strict=True):
            found |= {f"{name}'": rate for name, rate in zip(found_leg.coordinates, leg.rates(), strict=True)}
        return found


def numbers_of(platform: Platform, tree: Tree, names: Names) -> list[LegNumbers]:
    """The numbers of all legs as the model gives them."""
    origin = plane_of_joints(platform, tree)
    return [leg_numbers(leg, tree, base_joint(leg, tree, names), names, origin) for leg in platform.legs]
