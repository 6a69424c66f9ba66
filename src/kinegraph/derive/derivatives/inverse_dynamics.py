"""How joint forces change with displacements, velocities and accelerations, in O(n depth) steps.

With u_k the velocity field of joint component k at unit rate, V and A the velocity and the acceleration (less gravity)
of a particle x, joint forces are f_i = sum m u_i . A, and
    df_i/da_k = sum m u_i . u_k,
    df_i/dv_k = sum m u_i . dA/dv_k,   dA/dv_k = e' x x + 2 e x V    (e' = (w_parent + w) x e),
    df_i/dp_k = sum m u_i . dA/dp_k + sum m du_i/dp_k . A,
with V and x from the joint. For k at or below i the last sum turns everything beyond k rigidly, and what is left is
    df_i/dp_k = sum m u_i . (e'' x x + 2 e' x V - e x A_k)            (e' = w_parent x e, e'' its rate),
so that three vectors of i, propagated to its ancestors, give its whole row: P = sum m u_i, L = sum m x x u_i,
N = sum m V x u_i. For k above i the wrench of k's fields, propagated inwards, gives its whole column.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.derivatives.moving_mass import moving_masses, origin_steps
from kinegraph.derive.derivatives.propagated_momentum import (
    PropagatedMomentum,
    Wrench,
    at_ancestors,
    of_prismatic,
    of_revolute,
)
from kinegraph.derive.dynamics.composite_body import Column, composite_moments, inertia_times, own_columns, unit_screws
from kinegraph.derive.dynamics.newton_euler import link_motions, projected, subtree_wrenches
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, plus, times
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import is_prismatic
from kinegraph.graph.scalar import Scalar

Entries = dict[tuple[Column, Column], Scalar]


class JointForceDerivatives(NamedTuple):
    """The joint forces, and their derivatives in joint components with key (force, by)."""

    forces: list[tuple[Scalar, ...]]
    by_position: Entries
    by_velocity: Entries
    by_acceleration: Entries


class _Rates(NamedTuple):
    """Unit motion of a joint component and how it changes, in the link's frame of computation.

    `unit_rate` and `unit_acceleration` are e' and e'' of the parent's motion; `blown` is the parameter of dA/dv.
    """

    unit: Vector
    unit_rate: Vector
    unit_acceleration: Vector
    blown: Vector


def joint_force_derivatives(
    layout: FrameAssignment, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]
) -> JointForceDerivatives:
    """All derivatives of the joint forces by the wanted joint components."""
    work = _Slopes(layout, motion, euler, wanted)
    for index in range(1, len(layout.tree.links)):
        for column in own_columns(layout, index, wanted):
            work.carry_in(column)
    return work.found


class _Slopes:
    def __init__(
        self, layout: FrameAssignment, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]
    ) -> None:
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
        self.found = JointForceDerivatives([(), *forces], {}, {}, {})

    def is_prismatic(self, index: int) -> bool:
        return is_prismatic(self.layout.tree, index)

    def _rates(self, column: Column) -> _Rates:
        layout, index = self.layout, column.link
        screw = unit_screws(layout, index)[column.component]
        e = screw.linear if self.is_prismatic(index) else screw.angular
        parent = self.states[layout.tree.links[index].parent]
        spin = layout.outward(index, parent.angular_velocity)
        unit_rate = cross(spin, e)
        unit_acceleration = plus(cross(layout.outward(index, parent.angular_acceleration), e), cross(spin, unit_rate))
        return _Rates(e, unit_rate, unit_acceleration, plus(unit_rate, cross(self.spins[index], e)))

    # what a joint component sends to its ancestors

    def _sent(self, column: Column) -> PropagatedMomentum:
        moments, moving = self.composites[column.link], self.double_moving[column.link]
        unit = self.rates[column].unit
        if self.is_prismatic(column.link):
            return of_prismatic(moments, moving, unit, self._prismatic_wrenches(column))
        return of_revolute(moments, moving, unit, self._revolute_wrenches(column))

    def _prismatic_wrenches(self, column: Column) -> tuple[Wrench, Wrench]:
        moments, rates = self.composites[column.link], self.rates[column]
        falling = cross(rates.unit, self.wrenches[column.link][0])
        return (
            Wrench(times(moments.mass, rates.blown), cross(moments.first, rates.blown)),
            Wrench(
                times(moments.mass, rates.unit_acceleration),
                plus(cross(moments.first, rates.unit_acceleration), falling),
            ),
        )

    def _revolute_wrenches(self, column: Column) -> tuple[Wrench, Wrench]:
        moments, moving = self.composites[column.link], self.double_moving[column.link]
        e, unit_rate, unit_acceleration, blown = self.rates[column]
        acceleration = self.states[column.link].acceleration
        force, moment = self.wrenches[column.link]
        relative = cross(e, minus(force, times(moments.mass, acceleration)))
        falling = plus(cross(e, moment), cross(moments.first, cross(acceleration, e)))
        by_velocity = Wrench(
            plus(cross(blown, moments.first), cross(e, moving.first)),
            plus(inertia_times(moments, blown), moving.moment(e)),
        )
        by_position = Wrench(
            plus(plus(cross(unit_acceleration, moments.first), cross(unit_rate, moving.first)), relative),
            plus(plus(inertia_times(moments, unit_acceleration), moving.moment(unit_rate)), falling),
        )
        return by_velocity, by_position

    def carry_in(self, column: Column) -> None:
        """Meet all ancestors of a joint component, itself included."""
        for index, propagated in at_ancestors(self.layout, column, self._sent(column), self.double_steps):
            for other in own_columns(self.layout, index, self.wanted):
                self._row(column, other, propagated)
                if index != column.link:
                    self._column(column, other, propagated)

    def _row(self, force: Column, by: Column, c: PropagatedMomentum) -> None:
        """The force of the component by an ancestor's motion."""
        rates = self.rates[by]
        key = force, by
        if self.is_prismatic(by.link):
            self.found.by_acceleration[key] = dot(rates.unit, c.momentum)
            self.found.by_velocity[key] = dot(rates.blown, c.momentum)
            self.found.by_position[key] = dot(rates.unit_acceleration, c.momentum)
        else:
            falling = cross(self.states[by.link].acceleration, rates.unit)
            self.found.by_acceleration[key] = dot(rates.unit, c.angular)
            self.found.by_velocity[key] = dot(rates.blown, c.angular) + dot(rates.unit, c.counter)
            self.found.by_position[key] = (
                dot(rates.unit_acceleration, c.angular) + dot(rates.unit_rate, c.counter) + dot(falling, c.momentum)
            )
        self.found.by_acceleration[by, force] = self.found.by_acceleration[key]

    def _column(self, by: Column, force: Column, c: PropagatedMomentum) -> None:
        """The force of an ancestor by the component's motion."""
        unit = self.rates[force].unit
        by_velocity, by_position = (one.force if self.is_prismatic(force.link) else one.moment for one in c.wrenches)
        self.found.by_velocity[force, by] = dot(unit, by_velocity)
        self.found.by_position[force, by] = dot(unit, by_position)
