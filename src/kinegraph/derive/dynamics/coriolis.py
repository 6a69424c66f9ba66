"""The Coriolis matrix: C_ik = sum of m u_i . (du_k/dt), u_k the velocity field of joint component k at unit rate.

This is Christoffel's matrix (dH/dt - 2C is skew), formed in O(n depth) steps. With e_k the axis and e' its rate,
du_k/dt = e' x x + e x (V - V_k): P, L and N of a component, propagated inwards, give its row,
the wrench of du/dt its column.
"""

from __future__ import annotations

from kinegraph.derive.derivatives.moving_mass import moving_masses, origin_steps
from kinegraph.derive.derivatives.propagated_momentum import (
    PropagatedMomentum,
    Wrench,
    at_ancestors,
    of_prismatic,
    of_revolute,
)
from kinegraph.derive.dynamics.composite_body import Column, composite_moments, inertia_times, own_columns, unit_screws
from kinegraph.derive.dynamics.energy import link_velocities
from kinegraph.derive.tree.algebra import Vector, cross, dot, plus, times
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import is_prismatic
from kinegraph.graph.scalar import Scalar

Entries = dict[tuple[Column, Column], Scalar]


def coriolis_matrix(layout: FrameAssignment, motion: Motion, wanted: frozenset[Column]) -> Entries:
    """The matrix in joint components, key (row, column)."""
    return _Coriolis(layout, motion, wanted).entries()


class _Coriolis:
    def __init__(self, layout: FrameAssignment, motion: Motion, wanted: frozenset[Column]) -> None:
        self.layout = layout
        self.wanted = wanted
        self.spins = [screw.angular for screw in link_velocities(layout, motion)]
        self.steps = origin_steps(layout, self.spins, motion)
        self.moving = moving_masses(layout, self.spins, self.steps)
        self.composites = composite_moments(layout)

    def entries(self) -> Entries:
        found: Entries = {}
        for column in sorted(self.wanted):
            for index, propagated in at_ancestors(self.layout, column, self._sent(column), self.steps):
                for other in own_columns(self.layout, index, self.wanted):
                    found[column, other] = self._row(other, propagated)
                    if index != column.link:
                        found[other, column] = self._column(other, propagated)
        return found

    def _axis(self, column: Column) -> tuple[Vector, Vector]:
        """The axis and its rate."""
        screw = unit_screws(self.layout, column.link)[column.component]
        axis = screw.linear if is_prismatic(self.layout.tree, column.link) else screw.angular
        return axis, cross(self.spins[column.link], axis)

    def _sent(self, column: Column) -> PropagatedMomentum:
        moments, moving = self.composites[column.link], self.moving[column.link]
        axis, rate = self._axis(column)
        if is_prismatic(self.layout.tree, column.link):
            wrench = Wrench(times(moments.mass, rate), cross(moments.first, rate))
            return of_prismatic(moments, moving, axis, (wrench,))
        wrench = Wrench(
            plus(cross(rate, moments.first), cross(axis, moving.first)),
            plus(inertia_times(moments, rate), moving.moment(axis)),
        )
        return of_revolute(moments, moving, axis, (wrench,))

    def _row(self, column: Column, propagated: PropagatedMomentum) -> Scalar:
        axis, rate = self._axis(column)
        if is_prismatic(self.layout.tree, column.link):
            return dot(rate, propagated.momentum)
        return dot(rate, propagated.angular) + dot(axis, propagated.counter)

    def _column(self, row: Column, propagated: PropagatedMomentum) -> Scalar:
        axis, _ = self._axis(row)
        (wrench,) = propagated.wrenches
        return dot(axis, wrench.force if is_prismatic(self.layout.tree, row.link) else wrench.moment)
