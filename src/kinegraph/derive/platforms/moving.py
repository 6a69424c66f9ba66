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

    def _whole_rate(self) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, that velocities take of base and legs alone."""
        base, spin = self._base_moments, self._carrier.spin
        forces = [self._carrier.curl.apply(base.first)]
        moments = [cross(base.second.apply(spin), spin)]
        found = zip(self.legs, self.numbers, self.at_joints(self.easy), self.joints, strict=True)
        for leg, numbers, acceleration, joint in found:
            force, moment = leg.momentum_rate(acceleration)
            moments.append(plus(moment, cross(numbers.ring, force)))
            forces.append(force)
            if joint.moves:
                own = times(leg.base_mass, self.moved(joint))
                forces.append(own)
                moments.append(cross(minus(numbers.ring, leg.joint.place), own))
        return totals(forces), totals(moments)

    # accelerations

    def motion(self, forces: Sequence[Scalar]) -> RingAccelerations:
        ring = self._ring_needs(self.easy, forces)
        against = [-(a + b) for a, b in zip(ring, system.loads(self._still(forces)), strict=True)]
        given, needed = self._on_base_body(forces), self._whole_rate()
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
