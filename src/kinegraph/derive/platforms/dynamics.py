"""The dynamics of a platform: accelerations, efforts of the drives, what legs do to ring and base."""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.platforms import system
from kinegraph.derive.platforms.gram_schmidt import solved
from kinegraph.derive.platforms.legs.leg import Load
from kinegraph.derive.platforms.ring import FreeMotion, curled
from kinegraph.derive.platforms.state import PlatformState, RingAccelerations
from kinegraph.derive.platforms.vectors import totals
from kinegraph.derive.tree.algebra import Vector, apply, cross, minus, plus, times, vector, zero_vector
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.free_body import FreeBody


class PlatformDynamics(PlatformState):
    """A platform on the fixed frame; `moving.py` has the one on a free body."""

    # accelerations

    def motion(self, forces: Sequence[Scalar]) -> RingAccelerations:
        """The accelerations of the ring under `forces` on all velocities."""
        right = [-item for item in self._still_needs(forces)]
        x = Factorised(self._ring_matrix(), range(6), self._ring_names()).solve(right)
        return self.easy.changed(vector(x[:3]), vector(x[3:]))

    def _still_needs(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the reference point that the easy motion lacks."""
        needed = system.loads(self._still(forces))
        return [a + b for a, b in zip(self._ring_needs(self.easy, forces), needed, strict=True)]

    def _ring_matrix(self) -> list[list[Scalar]]:
        inertia = [(leg.inertia(), numbers.ring) for leg, numbers in zip(self.legs, self.numbers, strict=True)]
        return system.matrix(self.part, inertia)

    def _ring_names(self) -> list[str]:
        return [*self.platform.ring.position, *["the ring's rotation"] * 3]

    def _still(self, forces: Sequence[Scalar]) -> list[tuple[Load, Vector]]:
        """The loads of legs in the easy motion."""
        found = zip(self.legs, self.at_joints(self.easy), self.leg_forces(forces), strict=True)
        return self._placed([leg.load(joint, own) for leg, joint, own in found])

    def _placed(self, found: Sequence[Load]) -> list[tuple[Load, Vector]]:
        return [(load, numbers.ring) for load, numbers in zip(found, self.numbers, strict=True)]

    def _on_ring(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, of weight and forces on the ring's coordinates, in ring axes."""
        force, torque = self._on_body(self.platform.ring, self.ring, forces)
        force = self.ring.into(plus(force, times(self.part.mass, self.frame_gravity)))
        first = plus(self.part.first, times(self.part.mass, self.origin))
        weight = cross(first, self.ring.into(self.frame_gravity))
        return force, plus(minus(torque, cross(self.origin, force)), weight)

    def _on_body(self, body: FreeBody, motion: FreeMotion, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Forces on a free body's coordinates as a force in fixed axes and a torque in its own."""
        given = [forces[self.index[name]] for name in body.velocities]
        return vector(given[:3]), motion.torque(vector(given[3:]))

    def accelerations(self, forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """Of ring, base and legs by the name of the velocity, from the forces on all velocities."""
        motion = self.motion(forces)
        return self._of_bodies(motion) | self.leg_accelerations(motion)

    def leg_accelerations(self, motion: RingAccelerations) -> dict[str, Scalar]:
        """Of the legs' coordinates, by the name of the velocity."""
        found: dict[str, Scalar] = {}
        for leg, names, one in zip(self.legs, self.platform.legs, self.at_joints(motion), strict=True):
            found |= {f"{name}'": item for name, item in zip(names.coordinates, leg.accelerations(one), strict=True)}
        return found

    def _of_bodies(self, motion: RingAccelerations) -> dict[str, Scalar]:
        return dict(zip(self.platform.ring.velocities, self._ring_out(motion), strict=True))

    def ring_alone(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The ring's own six: of its position, then of its rotation."""
        return self._ring_out(self.motion(forces))

    def _ring_out(self, motion: RingAccelerations) -> list[Scalar]:
        """From the reference point to the ring's own, in its coordinates."""
        own = minus(motion.point, apply(self.field(motion), self.origin))
        linear = plus(self.ring.out(own), self.fallen)
        return [*linear, *self.ring.angle_accelerations(motion.angular)]

    # a motion that is given

    def given_motion(self, accelerations: Sequence[Scalar]) -> RingAccelerations:
        """As `motion` says it, from accelerations of all coordinates; those of ring and base count."""
        return RingAccelerations(*self._of_body(self.platform.ring, self.ring, self.origin, accelerations))

    def _of_body(
        self, body: FreeBody, motion: FreeMotion, place: Vector, accelerations: Sequence[Scalar]
    ) -> tuple[Vector, Vector]:
        """Of the point of a free body at `place` in its axes, and angular, in its axes."""
        given = [accelerations[self.index[name]] for name in body.velocities]
        angular = motion.angular(vector(given[3:]))
        own = motion.into(minus(vector(given[:3]), self.fallen))
        return plus(own, plus(cross(angular, place), curled(motion, place))), angular

    def efforts(self, accelerations: Sequence[Scalar], forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """The forces of six drives, and on a base that moves, that cause a motion beside other forces.

        They are given by the name of the velocity.
        """
        motion = self.given_motion(accelerations)
        found = zip(self.legs, self.at_joints(motion), self.leg_forces(forces), strict=True)
        needed = system.loads(self._placed([leg.load(joint, own) for leg, joint, own in found]))
        own = self._ring_needs(motion, forces)
        columns = [
            [*leg.effort(), *cross(numbers.ring, leg.effort())]
            for leg, numbers in zip(self.legs, self.numbers, strict=True)
        ]
        efforts = solved(columns, [a + b for a, b in zip(own, needed, strict=True)])
        drives = [leg.drive + "'" for leg in self.platform.legs]
        return dict(zip(drives, efforts, strict=True)) | self._base_efforts(motion, own, forces)

    def _base_efforts(
        self, motion: RingAccelerations, ring: Sequence[Scalar], forces: Sequence[Scalar]
    ) -> dict[str, Scalar]:
        """The forces on the base's own coordinates; `ring` is what the ring takes."""
        return {}

    def _ring_needs(self, motion: RingAccelerations, forces: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the reference point that the ring takes beside those of `forces`."""
        part, point, field = self.part, motion.point, self.field(motion)
        force = plus(times(part.mass, point), apply(field, part.first))
        moment = plus(system.moment_in(part, field), cross(part.first, point))
        given = self._on_ring(forces)
        return [*minus(force, given[0]), *minus(moment, given[1])]

    # what legs do

    def on_ring(self, motion: RingAccelerations, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force and moment of each leg on the ring at its joint, in fixed axes."""
        return [[*self.ring.out(force), *self.ring.out(moment)] for force, moment in self._pairs(motion, forces)]

    def _pairs(self, motion: RingAccelerations, forces: Sequence[Scalar]) -> list[tuple[Vector, Vector]]:
        found = []
        zipped = zip(self.legs, self.numbers, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, numbers, joint, own in zipped:
            load = leg.load(joint, own)
            force = plus(load.force, times(numbers.on_ring, joint.joint))
            moment = zero_vector(force[0]) if load.moment is None else load.moment
            found.append((times(-1, force), times(-1, moment)))
        return found

    def on_base(self, motion: RingAccelerations, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force, and moment about the base's origin, of each leg on the base, in fixed axes."""
        found = []
        zipped = zip(self.legs, self.numbers, self.joints, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, numbers, base, joint, own in zipped:
            force, moment = leg.on_base(joint, leg.load(joint, own))
            moment = plus(moment, cross(self.base.into(self.stand(numbers, base)), force))
            found.append([*self.ring.out(force), *self.ring.out(moment)])
        return found

    def sum_on_base(self, rows: Sequence[Sequence[Scalar]], motion: RingAccelerations) -> list[Scalar]:
        """Force and moment of all legs together, of which each has a row."""
        force = totals([vector(row[:3]) for row in rows])
        return [*force, *totals([vector(row[3:]) for row in rows])]
