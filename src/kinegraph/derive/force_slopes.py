"""How joint forces change with displacements, velocities and accelerations, in O(n depth) steps.

With u_k the velocity field of joint component k at unit rate, V and A the velocity and the acceleration (less gravity)
of a particle x, joint forces are f_i = sum m u_i . A, and
    df_i/da_k = sum m u_i . u_k,
    df_i/dv_k = sum m u_i . dA/dv_k,   dA/dv_k = e' x x + 2 e x V    (e' = (w_parent + w) x e),
    df_i/dp_k = sum m u_i . dA/dp_k + sum m du_i/dp_k . A,
with V and x from the joint. For k at or below i the last sum turns everything beyond k rigidly, and what is left is
    df_i/dp_k = sum m u_i . (e'' x x + 2 e' x V - e x A_k)            (e' = w_parent x e, e'' its rate),
so that three vectors of i, carried in to its ancestors, give its whole row: P = sum m u_i, L = sum m x x u_i,
N = sum m V x u_i. For k above i the wrench of k's fields, carried in, gives its whole column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kinegraph.derive.algebra import Vector, cross, dot, minus, plus, times
from kinegraph.derive.composite_body import Column, composite_moments, inertia_times, own_columns, unit_screws
from kinegraph.derive.inertia import MassMoments
from kinegraph.derive.layout import Layout
from kinegraph.derive.links import JointKind
from kinegraph.derive.motion import Motion
from kinegraph.derive.moving_mass import MovingMass, moving_masses, origin_steps
from kinegraph.derive.newton_euler import link_motions, projected, subtree_wrenches
from kinegraph.graph.scalar import Scalar

Entries = dict[tuple[Column, Column], Scalar]


class ForceSlopes(NamedTuple):
    """The joint forces, and their derivatives in joint components with key (force, by)."""

    forces: list[tuple[Scalar, ...]]
    by_position: Entries
    by_velocity: Entries
    by_acceleration: Entries


class _Rates(NamedTuple):
    """Unit motion of a joint component and how it changes, in the link's frame of computation.

    `turning` and `bending` are e' and e'' of the parent's motion; `blown` is the parameter of dA/dv.
    """

    unit: Vector
    turning: Vector
    bending: Vector
    blown: Vector


class _Carried(NamedTuple):
    """What is carried in from a joint component, about the origin of the link reached; `counter` is 2 N."""

    momentum: Vector
    angular: Vector
    counter: Vector
    velocity_force: Vector
    velocity_moment: Vector
    position_force: Vector
    position_moment: Vector


def force_slopes(layout: Layout, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]) -> ForceSlopes:
    """All derivatives of the joint forces by the wanted joint components."""
    work = _Slopes(layout, motion, euler, wanted)
    for index in range(1, len(layout.tree.links)):
        for column in own_columns(layout, index, wanted):
            work.carry_in(column)
    return work.found


class _Slopes:
    def __init__(self, layout: Layout, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]) -> None:
        self.layout = layout
        self.wanted = wanted
        self.states, gradients = link_motions(layout, motion)
        self.wrenches = subtree_wrenches(layout, self.states, gradients, euler)
        self.spins = [state.angular_velocity for state in self.states]
        # Moving masses are only ever needed twice; they are linear in the velocities.
        self.double_steps = [times(2, step) for step in origin_steps(layout, self.spins, motion)]
        self.double_moving = moving_masses(layout, [times(2, spin) for spin in self.spins], self.double_steps)
        self.composites = composite_moments(layout)
        self.rates = {column: self._rates(column) for column in wanted}
        forces = [projected(layout, i, *self.wrenches[i]) for i in range(1, len(self.states))]
        self.found = ForceSlopes([(), *forces], {}, {}, {})

    def slides(self, index: int) -> bool:
        joint = self.layout.tree.links[index].joint
        return joint is not None and joint.kind is JointKind.PRISMATIC

    def _rates(self, column: Column) -> _Rates:
        layout, index = self.layout, column.link
        screw = unit_screws(layout, index)[column.component]
        e = screw.linear if self.slides(index) else screw.angular
        parent = self.states[layout.tree.links[index].parent]
        spin = layout.outward(index, parent.angular_velocity)
        turning = cross(spin, e)
        bending = plus(cross(layout.outward(index, parent.angular_acceleration), e), cross(spin, turning))
        return _Rates(e, turning, bending, plus(turning, cross(self.spins[index], e)))

    # what a joint component sends to its ancestors

    def _sent(self, column: Column) -> _Carried:
        index = column.link
        moments, moving, wrench = self.composites[index], self.double_moving[index], self.wrenches[index]
        rates = self.rates[column]
        if self.slides(index):
            return _sliding(moments, moving, wrench[0], rates)
        return _turning(moments, moving, wrench, self.states[index].acceleration, rates)

    def carry_in(self, column: Column) -> None:
        """Meet all ancestors of a joint component, itself included."""
        carried = self._sent(column)
        for index, is_own in self._way(column.link):
            for other in own_columns(self.layout, index, self.wanted):
                self._row(column, other, carried)
                if not is_own:
                    self._column(column, other, carried)
            carried = self._inward(index, carried)

    def _way(self, index: int) -> Iterator[tuple[int, bool]]:
        start = index
        while index > 0:
            yield index, index == start
            index = self.layout.tree.links[index].parent

    def _inward(self, index: int, carried: _Carried) -> _Carried:
        c = _Carried(*(self.layout.inward(index, part) for part in carried))
        offset = self.layout.offsets[index]
        return c._replace(
            angular=plus(c.angular, cross(offset, c.momentum)),
            counter=plus(c.counter, cross(self.double_steps[index], c.momentum)),
            velocity_moment=plus(c.velocity_moment, cross(offset, c.velocity_force)),
            position_moment=plus(c.position_moment, cross(offset, c.position_force)),
        )

    def _row(self, force: Column, by: Column, c: _Carried) -> None:
        """The force of the component by an ancestor's motion."""
        rates = self.rates[by]
        key = force, by
        if self.slides(by.link):
            self.found.by_acceleration[key] = dot(rates.unit, c.momentum)
            self.found.by_velocity[key] = dot(rates.blown, c.momentum)
            self.found.by_position[key] = dot(rates.bending, c.momentum)
        else:
            falling = cross(self.states[by.link].acceleration, rates.unit)
            self.found.by_acceleration[key] = dot(rates.unit, c.angular)
            self.found.by_velocity[key] = dot(rates.blown, c.angular) + dot(rates.unit, c.counter)
            self.found.by_position[key] = (
                dot(rates.bending, c.angular) + dot(rates.turning, c.counter) + dot(falling, c.momentum)
            )
        self.found.by_acceleration[by, force] = self.found.by_acceleration[key]

    def _column(self, by: Column, force: Column, c: _Carried) -> None:
        """The force of an ancestor by the component's motion."""
        unit, slides = self.rates[force].unit, self.slides(force.link)
        self.found.by_velocity[force, by] = dot(unit, c.velocity_force if slides else c.velocity_moment)
        self.found.by_position[force, by] = dot(unit, c.position_force if slides else c.position_moment)


def _sliding(moments: MassMoments, moving: MovingMass, force: Vector, rates: _Rates) -> _Carried:
    e = rates.unit
    return _Carried(
        momentum=times(moments.mass, e),
        angular=cross(moments.first, e),
        counter=cross(moving.first, e),
        velocity_force=times(moments.mass, rates.blown),
        velocity_moment=cross(moments.first, rates.blown),
        position_force=times(moments.mass, rates.bending),
        position_moment=plus(cross(moments.first, rates.bending), cross(e, force)),
    )


def _turning(
    moments: MassMoments, moving: MovingMass, wrench: tuple[Vector, Vector], acceleration: Vector, rates: _Rates
) -> _Carried:
    e, turning, bending, blown = rates
    force, moment = wrench
    relative = minus(force, times(moments.mass, acceleration))
    falling = cross(moments.first, cross(acceleration, e))
    return _Carried(
        momentum=cross(e, moments.first),
        angular=inertia_times(moments, e),
        counter=moving.counter_swirl(e),
        velocity_force=plus(cross(blown, moments.first), cross(e, moving.first)),
        velocity_moment=plus(inertia_times(moments, blown), moving.swirl(e)),
        position_force=plus(plus(cross(bending, moments.first), cross(turning, moving.first)), cross(e, relative)),
        position_moment=plus(
            plus(inertia_times(moments, bending), moving.swirl(turning)), plus(cross(e, moment), falling)
        ),
    )
