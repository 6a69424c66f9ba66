"""A platform of which first joints slide on rails: their coordinates join the ring's six.

A leg on a rail has the energy v P^T b + v K v / 2 + m b^2 / 2 with b the velocity of its first joint, v that of its
joint on the ring against it, K its inertia there, P what momentum it has by v and m the mass at its first joint. With
v + b given by the ring this couples ring and rail by P^T - K and adds m + K - P - P^T to the rail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.platforms.dynamics import PlatformDynamics
from kinegraph.derive.platforms.legs.constants import LegNumbers
from kinegraph.derive.platforms.legs.leg import Leg
from kinegraph.derive.platforms.reading import BaseJoint, RailMass, rail_masses
from kinegraph.derive.platforms.state import RingAccelerations
from kinegraph.derive.platforms.vectors import total, totals
from kinegraph.derive.tree.algebra import Vector, apply, cross, dot, minus, plus, times, transpose, vector
from kinegraph.graph.scalar import Scalar


class RailPlatform(PlatformDynamics):
    """A platform with carriages on rails of the fixed frame."""

    @cached_property
    def _rails(self) -> list[str]:
        return [name for one in self.platform.carriages for name in one.coordinates]

    @cached_property
    def _carriages(self) -> list[RailMass]:
        return rail_masses(self.platform, self.tree, self.names)

    # inertia

    def _on_rail(self, leg: Leg, axis: Vector) -> tuple[Vector, Vector]:
        """By a unit acceleration of a leg's first joint, what the ring must do more, and the carriage: forces."""
        inertia, momenta = leg.inertia().at_joint, leg.momenta().linear
        held = minus(apply(transpose(momenta), axis), inertia.apply(axis))
        return held, minus(times(leg.base_mass, axis), plus(apply(momenta, axis), held))

    def _coupling(self, leg: Leg, numbers: LegNumbers, axis: Vector, held: Vector) -> list[Scalar]:
        """The column of the ring's equations; a leg that the ring spins has a moment as well."""
        rotated = cross(numbers.ring, held)
        spin, momentum = leg.inertia().spin, leg.momenta().spin
        if spin is not None and momentum is not None:
            rotated = plus(rotated, times(dot(minus(momentum.linear, spin.coupling), axis), spin.reach))
        return [*held, *rotated]

    def _rail_blocks(self) -> tuple[dict[str, list[Scalar]], dict[tuple[str, str], list[Scalar]]]:
        """What all legs add, by rail to the ring's columns, by two rails to theirs."""
        columns: dict[str, list[list[Scalar]]] = {name: [] for name in self._rails}
        pairs: dict[tuple[str, str], list[Scalar]] = {(i, j): [] for i in self._rails for j in self._rails}
        for leg, numbers, base in zip(self.legs, self.numbers, self.joints, strict=True):
            axes = {name: self.base.into(axis) for name, axis in base.rails.items()}
            for name, axis in axes.items():
                held, moved_along = self._on_rail(leg, axis)
                columns[name].append(self._coupling(leg, numbers, axis, held))
                for other, direction in axes.items():
                    pairs[other, name].append(dot(direction, moved_along))
        return {name: [total(list(row)) for row in zip(*some, strict=True)] for name, some in columns.items()}, pairs

    def _matrix(self) -> list[list[Scalar]]:
        ring, (columns, pairs) = self._ring_matrix(), self._rail_blocks()
        for one in self._carriages:
            for i, a in one.axes.items():
                for j, b in one.axes.items():
                    pairs[i, j].append(one.mass * dot(a, b))
        for name in self._rails:
            pairs[name, name].append(self._armature(name))
        upper = [[*ring[i], *(columns[name][i] for name in self._rails)] for i in range(6)]
        zero = ring[0][0].number(0)
        lower = [
            [*columns[i], *(total(pairs[i, j]) if pairs[i, j] else zero for j in self._rails)] for i in self._rails
        ]
        return [*upper, *lower]

    def _armature(self, name: str) -> Scalar:
        zero = self.tree.like.number(0)
        return self.tree.armature.get(f"{name}'", zero)

    # forces

    def _rail_needs(self, motion: RingAccelerations, forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """The forces on carriages along their rails that a motion takes beside `forces`."""
        found: dict[str, list[Scalar]] = {name: [] for name in self._rails}
        zipped = zip(self.legs, self.joints, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, base, joint, own in zipped:
            if base.rails:
                force, _ = leg.on_base(joint, leg.load(joint, own))
                for name, axis in base.rails.items():
                    found[name].append(-dot(self.base.into(axis), force))
        for one in self._carriages:
            taken = self._momentum_along(one, motion.rails or {})
            for name, axis in one.axes.items():
                found[name].append(dot(axis, taken))
        return {name: total(items) + self._own(name, motion, forces) for name, items in found.items()}

    def _own(self, name: str, motion: RingAccelerations, forces: Sequence[Scalar]) -> Scalar:
        given = forces[self.index[f"{name}'"]]
        return -given if motion.rails is None else self._armature(name) * motion.rails[name] - given

    def _momentum_along(self, one: RailMass, rails: Mapping[str, Scalar]) -> Vector:
        """The force that a carriage takes by itself, its weight included, in fixed axes."""
        return times(one.mass, minus(self._moved_by(one.axes, rails), self.tree.gravity))

    def _moved_by(self, axes: Mapping[str, Vector], rails: Mapping[str, Scalar]) -> Vector:
        zero = self.tree.like.number(0)
        parts = [times(rails[name], axis) for name, axis in axes.items() if name in rails]
        return totals([vector([zero] * 3), *parts])

    # accelerations

    def motion(self, forces: Sequence[Scalar]) -> RingAccelerations:
        rails = self._rail_needs(self.easy, forces)
        right = [-item for item in (*self._still_needs(forces), *(rails[name] for name in self._rails))]
        names = [*self._ring_names(), *self._rails]
        # Rails first: a carriage has its own mass, whatever the ring is.
        order = (*range(6, 6 + len(self._rails)), *range(6))
        x = Factorised(self._matrix(), order, names).solve(right)
        moved = self.easy.changed(vector(x[:3]), vector(x[3:6]))
        return replace(moved, rails=dict(zip(self._rails, x[6:], strict=True)))

    def _of_bodies(self, motion: RingAccelerations) -> dict[str, Scalar]:
        assert motion.rails is not None
        return super()._of_bodies(motion) | {f"{name}'": item for name, item in motion.rails.items()}

    # a motion that is given

    def given_motion(self, accelerations: Sequence[Scalar]) -> RingAccelerations:
        rails = {name: accelerations[self.index[f"{name}'"]] for name in self._rails}
        return replace(super().given_motion(accelerations), rails=rails)

    def efforts(self, accelerations: Sequence[Scalar], forces: Sequence[Scalar]) -> dict[str, Scalar]:
        found = super().efforts(accelerations, forces)
        driven = list(forces)
        for name, effort in found.items():
            driven[self.index[name]] = driven[self.index[name]] + effort
        needed = self._rail_needs(self.given_motion(accelerations), driven)
        return found | {f"{name}'": item for name, item in needed.items()}

    # what is exerted on the base

    def sum_on_base(self, rows: Sequence[Sequence[Scalar]], motion: RingAccelerations) -> list[Scalar]:
        """Force and moment of all legs and carriages together."""
        taken = [(one, self._momentum_along(one, motion.rails or {})) for one in self._carriages]
        loads = [[*times(-1, force), *times(-1, cross(one.centre, force))] for one, force in taken]
        return super().sum_on_base([*rows, *loads], motion)

    def _railed(self, base: BaseJoint, motion: RingAccelerations) -> Vector | None:
        return self.base.into(self._moved_by(base.rails, motion.rails)) if base.rails and motion.rails else None
