"""Platforms on a moving base: a free body, carriages on rails, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kinegraph.derive.platforms.free_motion import FreeBase, joined, total, totals
from kinegraph.derive.platforms.leg_parameters import (
    BaseJoint,
    LegNumbers,
    RailMass,
    RigidPart,
    base_moments,
    rail_masses,
    tensor_of,
)
from kinegraph.derive.platforms.legs import Leg
from kinegraph.derive.platforms.platform_dynamics import PlatformDynamics, coupling_block, platform_loads, rigid_block
from kinegraph.derive.platforms.platform_state import PlatformAccelerations
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Vector,
    apply,
    cross,
    dot,
    identity,
    minus,
    negative,
    plus,
    times,
    transpose,
    vector,
    zero_vector,
)
from kinegraph.graph.build import Scalar
from kinegraph.model.platforms.recognition import FreeBody

# ---- A free body as the base: twelve equations for platform and base
#
# The unknowns are accelerations in platform axes at one point: of the platform relative to the base, then of the base.
# In the first six equations a leg is the same as on a fixed base. In the last six, a motion of everything as one rigid
# body, it is a mass distribution. Its momentum relative to the base couples both.

#: The order of the unknowns: the base's translation comes last and is eliminated first, by the total mass.
_ORDER = (0, 1, 2, 3, 4, 5, 9, 10, 11, 6, 7, 8)


class MovingPlatform(PlatformDynamics):
    """A platform on a free body."""

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
        """The vector from the base's origin to the reference point, in platform axes."""
        return plus(self._carrier.away, self.origin)

    # inertia

    @cached_property
    def _base_moments(self) -> MassMoments:
        """The base about the reference point, with the point masses at its joints, in platform axes."""
        return self._own_moments().turned(self._carrier.turn).shifted(negative(self._away))

    def _own_moments(self) -> MassMoments:
        """The base about its origin, with the point masses at its joints, in its axes."""
        at_base = [self.base_joint_position(*one) for one in zip(self.numbers, self.joints, strict=True)]
        masses = [(leg.base_mass, point) for leg, point in zip(self.legs, at_base, strict=True)]
        return base_moments(self.platform, self.tree, masses)

    @cached_property
    def _whole(self) -> RigidPart:
        """The whole mechanism as one rigid body about the reference point."""
        legs = [leg.moments().shifted(one.platform_point) for leg, one in zip(self.legs, self.numbers, strict=True)]
        moments = joined([self._base_moments, *legs])
        part = self.part
        return RigidPart(
            part.mass + moments.mass,
            plus(part.first, moments.first),
            part.inertia.plus(tensor_of(moments.second)),
        )

    def _matrix(self) -> list[list[Scalar]]:
        platform = super()._matrix()
        momenta = [(leg.momenta(), one.platform_point) for leg, one in zip(self.legs, self.numbers, strict=True)]
        coupling = coupling_block(self.part, momenta)
        whole = rigid_block(self._whole)
        upper = [[*platform[i], *(coupling[j][i] for j in range(6))] for i in range(6)]
        return [*upper, *([*coupling[i], *whole[i]] for i in range(6))]

    # forces

    def _on_base_body(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, of the forces on the base, in platform axes."""
        force, torque = self._on_body(self._body, self._carrier.body, forces)
        force = self.platform_motion.into(force)
        return force, minus(self._carrier.into(torque), cross(self._away, force))

    def _whole_rate(self, motion: PlatformAccelerations) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, that a motion of base and legs takes."""
        forces, moments = ([one] for one in self._base_rate(motion))
        found = zip(self.legs, self.numbers, self.at_joints(motion), self.joints, strict=True)
        for leg, numbers, acceleration, joint in found:
            force, moment = leg.momentum_rate(acceleration)
            moments.append(plus(moment, cross(numbers.platform_point, force)))
            forces.append(force)
            if joint.moves:
                own = times(leg.base_mass, self.moved(joint, motion))
                forces.append(own)
                moments.append(cross(minus(numbers.platform_point, leg.joint.place), own))
        return totals(forces), totals(moments)

    def _base_rate(self, motion: PlatformAccelerations) -> tuple[Vector, Vector]:
        """The same for the base, with the point masses at its joints."""
        base, spin = self._base_moments, self._carrier.spin
        force, moment = self._carrier.curl.apply(base.first), cross(base.second.apply(spin), spin)
        if motion.base_point is None or motion.base_angular is None:
            return force, moment
        angular = motion.base_angular
        force = plus(force, plus(times(base.mass, motion.base_point), cross(angular, base.first)))
        turned = plus(tensor_of(base.second).apply(angular), cross(base.first, motion.base_point))
        return force, plus(moment, turned)

    # given motion

    def given_motion(self, accelerations: Sequence[Scalar]) -> PlatformAccelerations:
        platform = super().given_motion(accelerations)
        place = self._carrier.out(self._away)
        point, angular = self._of_body(self._body, self._carrier.body, place, accelerations)
        return PlatformAccelerations(
            platform.point, platform.angular, self._carrier.into(point), self._carrier.into(angular)
        )

    def _base_efforts(
        self, motion: PlatformAccelerations, platform: Sequence[Scalar], forces: Sequence[Scalar]
    ) -> dict[str, Scalar]:
        needed, given = self._whole_rate(motion), self._on_base_body(forces)
        force = plus(vector(platform[:3]), minus(needed[0], given[0]))
        moment = plus(vector(platform[3:]), minus(needed[1], given[1]))
        torque = self._carrier.out(plus(moment, cross(self._away, force)))
        own = [*self.platform_motion.out(force), *self._carrier.body.angle_forces(torque)]
        return dict(zip(self._body.velocities, own, strict=True))

    # accelerations

    def _right(self, forces: Sequence[Scalar]) -> list[Scalar]:
        platform = self._platform_needs(self.trial, forces)
        against = [-(a + b) for a, b in zip(platform, platform_loads(self._trial_loads(forces)), strict=True)]
        given, needed = self._on_base_body(forces), self._whole_rate(self.trial)
        base = [*minus(given[0], needed[0]), *minus(given[1], needed[1])]
        return [*against, *(a - b for a, b in zip(base, platform, strict=True))]

    def _order(self) -> Sequence[int]:
        return _ORDER

    def _unknowns(self) -> list[str]:
        return [*super()._unknowns(), *self._body.position, *["the rotation of the base"] * 3]

    def _found(self, x: Sequence[Scalar]) -> PlatformAccelerations:
        point, angular, base_point, base_angular = (vector(x[k : k + 3]) for k in (0, 3, 6, 9))
        moved = self.trial.changed(plus(point, base_point), plus(angular, base_angular))
        return PlatformAccelerations(moved.point, moved.angular, base_point, base_angular)

    def _of_bodies(self, motion: PlatformAccelerations) -> dict[str, Scalar]:
        return super()._of_bodies(motion) | dict(zip(self._body.velocities, self._base_out(motion), strict=True))

    def _base_out(self, motion: PlatformAccelerations) -> list[Scalar]:
        """The accelerations of the base's coordinates from those of the reference point."""
        assert motion.base_point is not None and motion.base_angular is not None
        shift = plus(cross(motion.base_angular, self._away), self._carrier.curl.apply(self._away))
        linear = plus(self.platform_motion.out(minus(motion.base_point, shift)), self.tree.gravity)
        angular = self._carrier.out(motion.base_angular)
        return [*linear, *self._carrier.body.angle_accelerations(angular)]


# ---- Carriages on rails as the base: one more equation for each rail


class RailPlatform(PlatformDynamics):
    """A platform with carriages on fixed rails.

    A leg on a rail has the energy v P^T b + v K v / 2 + m b^2 / 2. Here b is the velocity of its first joint, v that of
    its joint on the platform relative to it, K its inertia there, P v its momentum, and m the mass at its first joint.
    The platform determines v + b. So P^T - K couples platform and rail, and m + K - P - P^T is the inertia of the rail.
    """

    @cached_property
    def _rails(self) -> list[str]:
        return [name for one in self.platform.carriages for name in one.coordinates]

    @cached_property
    def _carriages(self) -> list[RailMass]:
        return rail_masses(self.platform, self.tree, self.names)

    # inertia

    def _on_rail(self, leg: Leg, axis: Vector) -> tuple[Vector, Vector]:
        """The additional forces on the platform, and on everything, for a unit acceleration of a leg's first joint."""
        inertia, momenta = leg.inertia().at_joint, leg.momenta().linear
        held = minus(apply(transpose(momenta), axis), inertia.apply(axis))
        return held, minus(times(leg.base_mass, axis), apply(momenta, axis))

    def _coupling(self, leg: Leg, numbers: LegNumbers, axis: Vector, held: Vector) -> list[Scalar]:
        """The column in the platform's equations; a leg that the platform spins also has a moment."""
        rotated = cross(numbers.platform_point, held)
        spin, momentum = leg.inertia().spin, leg.momenta().spin
        if spin is not None and momentum is not None:
            rotated = plus(rotated, times(dot(minus(momentum.linear, spin.coupling), axis), spin.reach))
        return [*held, *rotated]

    def _whole_coupling(self, leg: Leg, numbers: LegNumbers, axis: Vector, taken: Vector) -> list[Scalar]:
        """The column of a leg in the equations of everything as one rigid body; none on fixed rails."""
        return []

    def _carriage_coupling(self, one: RailMass, axis: Vector) -> list[Scalar]:
        """The column of a carriage in all equations but those of rails."""
        return [axis[0].number(0)] * 6

    def _rail_blocks(self) -> tuple[dict[str, list[Scalar]], dict[tuple[str, str], list[Scalar]]]:
        """The contributions of legs and carriages to the columns of rails, and to pairs of rails."""
        columns: dict[str, list[list[Scalar]]] = {name: [] for name in self._rails}
        pairs: dict[tuple[str, str], list[Scalar]] = {(i, j): [] for i in self._rails for j in self._rails}
        for leg, numbers, base in zip(self.legs, self.numbers, self.joints, strict=True):
            axes = {name: self.base.into(axis) for name, axis in base.rails.items()}
            for name, axis in axes.items():
                held, taken = self._on_rail(leg, axis)
                whole = self._whole_coupling(leg, numbers, axis, taken)
                columns[name].append([*self._coupling(leg, numbers, axis, held), *whole])
                for other, direction in axes.items():
                    pairs[other, name].append(dot(direction, minus(taken, held)))
        for one in self._carriages:
            for i, a in one.axes.items():
                columns[i].append(self._carriage_coupling(one, a))
                for j, b in one.axes.items():
                    pairs[i, j].append(one.mass * dot(a, b))
        return {name: [total(list(row)) for row in zip(*some, strict=True)] for name, some in columns.items()}, pairs

    def _matrix(self) -> list[list[Scalar]]:
        rest, (columns, pairs) = super()._matrix(), self._rail_blocks()
        for name in self._rails:
            pairs[name, name].append(self._armature(name))
        upper = [[*row, *(columns[name][i] for name in self._rails)] for i, row in enumerate(rest)]
        zero = rest[0][0].number(0)
        lower = [
            [*columns[i], *(total(pairs[i, j]) if pairs[i, j] else zero for j in self._rails)] for i in self._rails
        ]
        return [*upper, *lower]

    def _armature(self, name: str) -> Scalar:
        zero = self.tree.like.number(0)
        return self.tree.armature.get(f"{name}'", zero)

    # forces

    def _rail_needs(self, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """The forces on carriages along their rails that a motion takes in addition to `forces`."""
        found: dict[str, list[Scalar]] = {name: [] for name in self._rails}
        zipped = zip(self.legs, self.joints, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, base, joint, own in zipped:
            if base.rails:
                force, _ = leg.on_base(joint, leg.load(joint, own))
                for name, axis in base.rails.items():
                    found[name].append(-dot(self.base.into(axis), force))
        for one in self._carriages:
            taken = self._carriage_force(one, motion)
            for name, axis in one.axes.items():
                found[name].append(dot(axis, taken))
        return {name: total(items) + self._own(name, motion, forces) for name, items in found.items()}

    def _own(self, name: str, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> Scalar:
        given = forces[self.index[f"{name}'"]]
        return -given if motion.rails is None else self._armature(name) * motion.rails[name] - given

    def _carriage_force(self, one: RailMass, motion: PlatformAccelerations) -> Vector:
        """The force that a carriage takes, including its weight, in the base's axes."""
        return times(one.mass, minus(self._moved_by(one.axes, motion.rails or {}), self.tree.gravity))

    def _carriage_moment(self, one: RailMass, motion: PlatformAccelerations, force: Vector) -> Vector:
        """The moment about the base's origin that a carriage takes, in the base's axes."""
        return cross(one.center, force)

    def _moved_by(self, axes: Mapping[str, Vector], rails: Mapping[str, Scalar]) -> Vector:
        zero = self.tree.like.number(0)
        parts = [times(rails[name], axis) for name, axis in axes.items() if name in rails]
        return totals([vector([zero] * 3), *parts])

    # accelerations

    def _right(self, forces: Sequence[Scalar]) -> list[Scalar]:
        rails = self._rail_needs(self.trial, forces)
        return [*super()._right(forces), *(-rails[name] for name in self._rails)]

    def _order(self) -> Sequence[int]:
        # Rails first, because a carriage has its own mass.
        rest = super()._order()
        return (*range(len(rest), len(rest) + len(self._rails)), *rest)

    def _unknowns(self) -> list[str]:
        return [*super()._unknowns(), *self._rails]

    def _found(self, x: Sequence[Scalar]) -> PlatformAccelerations:
        count = len(x) - len(self._rails)
        return replace(super()._found(x[:count]), rails=dict(zip(self._rails, x[count:], strict=True)))

    def _of_bodies(self, motion: PlatformAccelerations) -> dict[str, Scalar]:
        assert motion.rails is not None
        return super()._of_bodies(motion) | {f"{name}'": item for name, item in motion.rails.items()}

    # given motion

    def given_motion(self, accelerations: Sequence[Scalar]) -> PlatformAccelerations:
        rails = {name: accelerations[self.index[f"{name}'"]] for name in self._rails}
        return replace(super().given_motion(accelerations), rails=rails)

    def efforts(self, accelerations: Sequence[Scalar], forces: Sequence[Scalar]) -> dict[str, Scalar]:
        found = super().efforts(accelerations, forces)
        driven = list(forces)
        for name, effort in found.items():
            driven[self.index[name]] = driven[self.index[name]] + effort
        needed = self._rail_needs(self.given_motion(accelerations), driven)
        return found | {f"{name}'": item for name, item in needed.items()}

    # forces on the base

    def sum_on_base(self, rows: Sequence[Sequence[Scalar]], motion: PlatformAccelerations) -> list[Scalar]:
        """The sum of force and moment of all legs and carriages."""
        loads = []
        for one in self._carriages:
            force = self._carriage_force(one, motion)
            moment = self._carriage_moment(one, motion, force)
            loads.append([*times(-1, self._in_fixed_axes(force)), *times(-1, self._in_fixed_axes(moment))])
        return super().sum_on_base([*rows, *loads], motion)

    def _in_fixed_axes(self, a: Vector) -> Vector:
        """A vector in the base's axes, expressed in fixed axes."""
        return a

    def _railed(self, base: BaseJoint, motion: PlatformAccelerations) -> Vector | None:
        return self.base.into(self._moved_by(base.rails, motion.rails)) if base.rails and motion.rails else None


# ---- Carriages on rails of a free body


class MovingRailPlatform(RailPlatform, MovingPlatform):
    """A platform with carriages on rails of a free body.

    A rail moves its carriage and the first joints of its legs relative to the base, whose axes it does not turn. So the
    equations of platform and base are those of `MovingPlatform`, with the carriages as parts of the base, and the rails
    border them as on fixed rails. In the equations of everything as one rigid body a rail has the momentum m n - P n.
    """

    def _own_moments(self) -> MassMoments:
        return joined([super()._own_moments(), *(one.moments for one in self._carriages)])

    def _whole_coupling(self, leg: Leg, numbers: LegNumbers, axis: Vector, taken: Vector) -> list[Scalar]:
        """The momentum, and the angular momentum about the reference point, for a unit velocity along a rail."""
        moments, momenta, place = leg.moments(), leg.momenta(), numbers.platform_point
        force = times(leg.base_mass, axis)
        about_joint = minus(cross(moments.first, axis), apply(momenta.angular, axis))
        at_joint = minus(taken, force)
        moment = plus(plus(about_joint, cross(place, at_joint)), cross(minus(place, leg.joint.place), force))
        return [*taken, *moment]

    def _carriage_coupling(self, one: RailMass, axis: Vector) -> list[Scalar]:
        force = times(one.mass, self.base.into(axis))
        place = minus(self.base.into(one.center), self._away)
        return [*super()._carriage_coupling(one, axis), *force, *cross(place, force)]

    # forces

    @cached_property
    def _centers(self) -> list[BaseJoint]:
        """The motion of each carriage's center of mass relative to the base, in its axes."""
        found = []
        for one in self._carriages:
            velocity = self._moved_by(one.axes, {name: self.names[f"{name}'"] for name in one.axes})
            rest = zero_vector(self.tree.like)
            found.append(BaseJoint(one.center, identity(self.tree.like), velocity, rest, one.axes))
        return found

    def _base_rate(self, motion: PlatformAccelerations) -> tuple[Vector, Vector]:
        """The force and moment on base and carriages, which also move along their rails."""
        force, moment = super()._base_rate(motion)
        for one, center in zip(self._carriages, self._centers, strict=True):
            own = times(one.mass, self.moved(center, motion))
            place = minus(self.base.into(one.center), self._away)
            force, moment = plus(force, own), plus(moment, cross(place, own))
        return force, moment

    def _carriage_force(self, one: RailMass, motion: PlatformAccelerations) -> Vector:
        center = self._centers[self._carriages.index(one)]
        place = minus(self.base.into(one.center), self._away)
        acceleration = self._of_base_point(place, center, motion)
        return self._carrier.out(times(one.mass, acceleration))

    def _carriage_moment(self, one: RailMass, motion: PlatformAccelerations, force: Vector) -> Vector:
        second, spin = one.moments.shifted(negative(one.center)).second, self._carrier.body.spin
        moment = plus(super()._carriage_moment(one, motion, force), cross(second.apply(spin), spin))
        if motion.base_angular is None:
            return moment
        return plus(moment, tensor_of(second).apply(self._carrier.out(motion.base_angular)))

    def _in_fixed_axes(self, a: Vector) -> Vector:
        return self._carrier.body.out(a)
