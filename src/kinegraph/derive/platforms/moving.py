"""A platform whose base is a free body: twelve equations for ring and base together.

The unknowns are accelerations in ring axes at one point: of the ring against the base, then of the base. To the first
six every leg is what it is on a fixed base. To the last six, a motion of everything as one rigid body, it is the mass
distribution it has at this moment; between both stands the momentum it has by its own motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.platforms import system
from kinegraph.derive.platforms.base import FreeBase
from kinegraph.derive.platforms.dynamics import PlatformDynamics
from kinegraph.derive.platforms.legs.constants import Part, tensor_of
from kinegraph.derive.platforms.reading import base_moments
from kinegraph.derive.platforms.state import RingAccelerations
from kinegraph.derive.platforms.vectors import joined, totals
from kinegraph.derive.tree.algebra import Vector, cross, minus, negative, plus, times, vector
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.free_body import FreeBody

#: The base's translation is eliminated first, by the whole mass, then its rotation.
_ORDER = (0, 1, 2, 3, 4, 5, 9, 10, 11, 6, 7, 8)


class MovingPlatform(PlatformDynamics):
    """Ring, base and legs."""

    @cached_property
    def _body(self) -> FreeBody:
        assert self.platform.base is not None
        return self.platform.base

    @cached_property
    def _carrier(self) -> FreeBase:
        assert isinstance(self.base, FreeBase)
        return self.base

    @cached_property
    def _away(self) -> Vector:
        """From the base's origin to the reference point, in ring axes."""
        return plus(self._carrier.away, self.origin)

    # inertia

    @cached_property
    def _base_moments(self) -> MassMoments:
        """The base about the reference point, with the masses at the joints on it, in ring axes."""
        stands = [self.stand(*one) for one in zip(self.numbers, self.joints, strict=True)]
        masses = [(leg.base_mass, stand) for leg, stand in zip(self.legs, stands, strict=True)]
        moments = base_moments(self.platform, self.tree, masses)
        return moments.turned(self._carrier.turn).shifted(negative(self._away))

    @cached_property
    def _whole(self) -> Part:
        """Everything as one rigid body about the reference point."""
        legs = [leg.moments().shifted(one.ring) for leg, one in zip(self.legs, self.numbers, strict=True)]
        moments = joined([self._base_moments, *legs])
        part = self.part
        return Part(
            part.mass + moments.mass,
            plus(part.first, moments.first),
            part.inertia.plus(tensor_of(moments.second)),
        )

    def _matrix(self) -> list[list[Scalar]]:
        ring = self._ring_matrix()
        momenta = [(leg.momenta(), one.ring) for leg, one in zip(self.legs, self.numbers, strict=True)]
        between = system.between(self.part, momenta)
        whole = system.rigid_block(self._whole)
        upper = [[*ring[i], *(between[j][i] for j in range(6))] for i in range(6)]
        return [*upper, *([*between[i], *whole[i]] for i in range(6))]

    # forces

    def _on_base_body(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, of forces on the base's coordinates, in ring axes."""
        force, torque = self._on_body(self._body, self._carrier.body, forces)
        force = self.ring.into(force)
        return force, minus(self._carrier.into(torque), cross(self._away, force))

    def _whole_rate(self, motion: RingAccelerations) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, that a motion takes of base and legs alone."""
        forces, moments = ([one] for one in self._base_rate(motion))
        found = zip(self.legs, self.numbers, self.at_joints(motion), self.joints, strict=True)
        for leg, numbers, acceleration, joint in found:
            force, moment = leg.momentum_rate(acceleration)
            moments.append(plus(moment, cross(numbers.ring, force)))
            forces.append(force)
            if joint.moves:
                own = times(leg.base_mass, self.moved(joint))
                forces.append(own)
                moments.append(cross(minus(numbers.ring, leg.joint.place), own))
        return totals(forces), totals(moments)

    def _base_rate(self, motion: RingAccelerations) -> tuple[Vector, Vector]:
        """The same of the base, with the masses at the joints on it."""
        base, spin = self._base_moments, self._carrier.spin
        force, moment = self._carrier.curl.apply(base.first), cross(base.second.apply(spin), spin)
        if motion.base_point is None or motion.base_angular is None:
            return force, moment
        angular = motion.base_angular
        force = plus(force, plus(times(base.mass, motion.base_point), cross(angular, base.first)))
        turned = plus(tensor_of(base.second).apply(angular), cross(base.first, motion.base_point))
        return force, plus(moment, turned)

    # a motion that is given

    def given_motion(self, accelerations: Sequence[Scalar]) -> RingAccelerations:
        ring = super().given_motion(accelerations)
        place = self._carrier.out(self._away)
        point, angular = self._of_body(self._body, self._carrier.body, place, accelerations)
        return RingAccelerations(ring.point, ring.angular, self._carrier.into(point), self._carrier.into(angular))

    def _base_efforts(
        self, motion: RingAccelerations, ring: Sequence[Scalar], forces: Sequence[Scalar]
    ) -> dict[str, Scalar]:
        needed, given = self._whole_rate(motion), self._on_base_body(forces)
        force = plus(vector(ring[:3]), minus(needed[0], given[0]))
        moment = plus(vector(ring[3:]), minus(needed[1], given[1]))
        torque = self._carrier.out(plus(moment, cross(self._away, force)))
        own = [*self.ring.out(force), *self._carrier.body.angle_forces(torque)]
        return dict(zip(self._body.velocities, own, strict=True))

    # accelerations

    def motion(self, forces: Sequence[Scalar]) -> RingAccelerations:
        ring = self._ring_needs(self.easy, forces)
        against = [-(a + b) for a, b in zip(ring, system.loads(self._still(forces)), strict=True)]
        given, needed = self._on_base_body(forces), self._whole_rate(self.easy)
        base = [*minus(given[0], needed[0]), *minus(given[1], needed[1])]
        right = [*against, *(a - b for a, b in zip(base, ring, strict=True))]
        names = [*self._ring_names(), *self._body.position, *["the rotation of the base"] * 3]
        x = Factorised(self._matrix(), _ORDER, names).solve(right)
        point, angular, base_point, base_angular = (vector(x[k : k + 3]) for k in (0, 3, 6, 9))
        moved = self.easy.changed(plus(point, base_point), plus(angular, base_angular))
        return RingAccelerations(moved.point, moved.angular, base_point, base_angular)

    def _of_bodies(self, motion: RingAccelerations) -> dict[str, Scalar]:
        return super()._of_bodies(motion) | dict(zip(self._body.velocities, self._base_out(motion), strict=True))

    def _base_out(self, motion: RingAccelerations) -> list[Scalar]:
        """From the reference point to the base's own, in its coordinates."""
        assert motion.base_point is not None and motion.base_angular is not None
        shift = plus(cross(motion.base_angular, self._away), self._carrier.curl.apply(self._away))
        linear = plus(self.ring.out(minus(motion.base_point, shift)), self.tree.gravity)
        angular = self._carrier.out(motion.base_angular)
        return [*linear, *self._carrier.body.angle_accelerations(angular)]
