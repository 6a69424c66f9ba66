"""The dynamics of a platform: accelerations, efforts of the drives, what legs do to ring and base."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.platforms import system
from kinegraph.derive.platforms.constants import LegNumbers, Part, column
from kinegraph.derive.platforms.cranks import Crank
from kinegraph.derive.platforms.gram_schmidt import solved
from kinegraph.derive.platforms.leg import Acceleration, Forces, JointMotion, Leg, Load, Turn
from kinegraph.derive.platforms.reading import BaseJoint, base_joint, leg_numbers, plane_of_joints, ring_part
from kinegraph.derive.platforms.ring import RingMotion, curled, ring_motion
from kinegraph.derive.platforms.struts import Strut
from kinegraph.derive.platforms.vectors import totals
from kinegraph.derive.tree.algebra import Vector, cross, minus, plus, times, vector, zero_vector
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.links import Tree
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import FoundLeg, Platform


class PlatformDynamics:
    """A platform in one builder. `numbers` may stand in symbols for the numbers of legs (see `alike.py`)."""

    def __init__(
        self, mechanism: Mechanism, platform: Platform, tree: Tree, names: Names, numbers: Sequence[LegNumbers]
    ) -> None:
        self.mechanism, self.platform, self.tree, self.names = mechanism, platform, tree, names
        self.numbers = numbers
        self.index = {name: index for index, name in enumerate(mechanism.layout.velocities)}

    @cached_property
    def ring(self) -> RingMotion:
        """The ring's motion."""
        return ring_motion(self.platform, self.names)

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
        return [base_joint(leg, self.names) for leg in self.platform.legs]

    @cached_property
    def gravity(self) -> Vector:
        """Gravity in ring axes."""
        return self.ring.into(self.tree.gravity)

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
        """A point on the base, in fixed axes, below which most joints have no height."""
        heights = [one.base[2] for one in self.numbers]
        zero = heights[0].number(0)
        return zero, zero, heights[0] if all(item == heights[0] for item in heights) else zero

    @cached_property
    def _centre(self) -> Vector:
        """From that point to the reference point on the ring, in ring axes."""
        return plus(self.ring.into(minus(self.ring.position, self._level)), self.origin)

    @cached_property
    def _velocity(self) -> Vector:
        """Of the reference point, in ring axes."""
        return plus(self.ring.into(self.ring.velocity), cross(self.ring.spin, self.origin))

    def _joint_motion(self, numbers: LegNumbers, base: BaseJoint) -> JointMotion:
        into = self.ring.into
        stand = base.position if base.moves else numbers.base
        place = plus(self._centre, minus(numbers.ring, into(minus(stand, self._level))))
        velocity = plus(self._velocity, cross(self.ring.spin, numbers.ring))
        fall = self.gravity
        if base.moves:
            velocity = minus(velocity, into(base.velocity))
            fall = minus(fall, into(base.acceleration))
        return JointMotion(place, velocity, fall, into(numbers.base_axis))

    # accelerations

    def ring_accelerations(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Of the reference point less gravity, and angular, in ring axes; `forces` on all velocities."""
        inertia = [(leg.inertia(), numbers.ring) for leg, numbers in zip(self.legs, self.numbers, strict=True)]
        matrix = system.matrix(self.part, inertia)
        still = [
            leg.load(Acceleration(curled(self.ring, numbers.ring)), own)
            for leg, numbers, own in zip(self.legs, self.numbers, self.leg_forces(forces), strict=True)
        ]
        force, moment = self._on_ring(forces)
        given = [*minus(force, self._curl_force()), *minus(moment, system.ring_load(self.part, self.ring))]
        needed = system.loads(self._placed(still))
        right = [a - b for a, b in zip(given, needed, strict=True)]
        names = [*self.platform.position, "the ring's rotation", "the ring's rotation", "the ring's rotation"]
        x = Factorised(matrix, range(6), names).solve(right)
        return vector(x[:3]), vector(x[3:])

    def _placed(self, found: Sequence[Load]) -> list[tuple[Load, Vector]]:
        return [(load, numbers.ring) for load, numbers in zip(found, self.numbers, strict=True)]

    def _curl_force(self) -> Vector:
        return curled(self.ring, self.part.first)

    def _on_ring(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, of forces on the ring's coordinates, in ring axes."""
        force = self.ring.into(vector([forces[self.index[name + "'"]] for name in self.platform.position]))
        torque = self.ring.torque(vector([forces[index] for index in self._turn_indices]))
        return force, minus(torque, cross(self.origin, force))

    @cached_property
    def _turn_indices(self) -> list[int]:
        group = self.platform.quaternion
        names = group.velocities if group else tuple(name + "'" for _, name in self.platform.turns)
        return [self.index[name] for name in names]

    def leg_forces(self, forces: Sequence[Scalar]) -> list[Forces]:
        """The forces on each leg's own coordinates."""
        return [Forces(*(forces[self.index[name + "'"]] for name in leg.coordinates)) for leg in self.platform.legs]

    def accelerations(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Of all coordinates, from the forces on them."""
        found = self.ring_accelerations(forces)
        return self._in_order(*self._ring_out(*found), [
            leg.accelerations(one) for leg, one in zip(self.legs, self.at_joints(*found), strict=True)
        ])  # fmt: skip

    def ring_alone(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The ring's own six: of its position, then of its rotation."""
        linear, angular = self._ring_out(*self.ring_accelerations(forces))
        return [*linear, *angular]

    def _ring_out(self, point: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """From the reference point to the ring's own, in its coordinates."""
        own = minus(point, plus(cross(angular, self.origin), curled(self.ring, self.origin)))
        return plus(self.ring.out(own), self.tree.gravity), self.ring.angle_accelerations(angular)

    def at_joints(self, point: Vector, angular: Vector) -> list[Acceleration]:
        """The accelerations of the joints on the ring."""
        return [
            Acceleration(plus(plus(point, cross(angular, one.ring)), curled(self.ring, one.ring)), angular)
            for one in self.numbers
        ]

    def _in_order(self, linear: Vector, angular: Vector, legs: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        found = [linear[0]] * len(self.index)
        for name, item in zip(self.platform.position, linear, strict=True):
            found[self.index[name + "'"]] = item
        for index, item in zip(self._turn_indices, angular, strict=True):
            found[index] = item
        for leg, own in zip(self.platform.legs, legs, strict=True):
            for name, item in zip(leg.coordinates, own, strict=True):
                found[self.index[name + "'"]] = item
        return found

    # a motion that is given

    def given_motion(self, accelerations: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """As `ring_accelerations` says it, from accelerations of all coordinates; those of the ring count."""
        linear = vector([accelerations[self.index[name + "'"]] for name in self.platform.position])
        angular = self.ring.angular(vector([accelerations[index] for index in self._turn_indices]))
        own = self.ring.into(minus(linear, self.tree.gravity))
        return plus(own, plus(cross(angular, self.origin), curled(self.ring, self.origin))), angular

    def efforts(self, accelerations: Sequence[Scalar], forces: Sequence[Scalar]) -> list[Scalar]:
        """The forces of six drives that cause a motion beside other forces; nothing on other coordinates."""
        point, angular = self.given_motion(accelerations)
        joints = self.at_joints(point, angular)
        found = zip(self.legs, joints, self.leg_forces(forces), strict=True)
        needed = system.loads(self._placed([leg.load(joint, own) for leg, joint, own in found]))
        own = self._ring_needs(point, angular, forces)
        columns = [
            [*leg.effort(), *cross(numbers.ring, leg.effort())]
            for leg, numbers in zip(self.legs, self.numbers, strict=True)
        ]
        efforts = solved(columns, [a + b for a, b in zip(own, needed, strict=True)])
        result = [point[0].number(0)] * len(self.index)
        for leg_found, effort in zip(self.platform.legs, efforts, strict=True):
            result[self.index[leg_found.drive + "'"]] = effort
        return result

    def _ring_needs(self, point: Vector, angular: Vector, forces: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the reference point that the ring takes beside those of `forces`."""
        part = self.part
        force = plus(times(part.mass, point), plus(cross(angular, part.first), self._curl_force()))
        moment = plus(part.inertia.apply(angular), plus(system.ring_load(part, self.ring), cross(part.first, point)))
        given = self._on_ring(forces)
        return [*minus(force, given[0]), *minus(moment, given[1])]

    # what legs do

    def on_ring(self, point: Vector, angular: Vector, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force and moment of each leg on the ring at its joint, in fixed axes."""
        return [
            [*self.ring.out(force), *self.ring.out(moment)] for force, moment in self._pairs(point, angular, forces)
        ]

    def _pairs(self, point: Vector, angular: Vector, forces: Sequence[Scalar]) -> list[tuple[Vector, Vector]]:
        found = []
        zipped = zip(self.legs, self.numbers, self.at_joints(point, angular), self.leg_forces(forces), strict=True)
        for leg, numbers, joint, own in zipped:
            load = leg.load(joint, own)
            force = plus(load.force, times(numbers.on_ring, joint.joint))
            moment = zero_vector(force[0]) if load.moment is None else load.moment
            found.append((times(-1, force), times(-1, moment)))
        return found

    def on_base(self, point: Vector, angular: Vector, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force, and moment about the fixed origin, of each leg on the base, in fixed axes."""
        found = []
        zipped = zip(
            self.legs, self.numbers, self.joints, self.at_joints(point, angular), self.leg_forces(forces), strict=True
        )
        for leg, numbers, base, joint, own in zipped:
            force, moment = (self.ring.out(one) for one in leg.on_base(joint, leg.load(joint, own)))
            place = base.position if base.moves else numbers.base
            found.append([*force, *plus(moment, cross(place, force))])
        return found

    def sum_on_base(self, rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """Force and moment of all legs together."""
        force = totals([vector(row[:3]) for row in rows])
        return [*force, *totals([vector(row[3:]) for row in rows])]

    # coordinates of legs

    def _on_base(self, base: BaseJoint) -> tuple[Vector, Vector, Vector]:
        """The axes of a leg's frame on the base, in ring axes."""
        x, y, z = (self.ring.into(column(base.rotation, axis)) for axis in range(3))
        return x, y, z

    def leg_positions(self) -> dict[str, Scalar]:
        """The coordinates of all legs by name, from the ring's pose alone."""
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
    return [leg_numbers(leg, tree, base_joint(leg, names), names, origin) for leg in platform.legs]
