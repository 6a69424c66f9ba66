"""Derivatives of generalized forces and accelerations by recursive algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinegraph.derive.dynamics.composite_body import (
    Column,
    Square,
    composite_moments,
    inertia_times,
    own_columns,
    unit_screws,
)
from kinegraph.derive.dynamics.coriolis import (
    PropagatedMomentum,
    Wrench,
    at_ancestors,
    moving_masses,
    of_prismatic,
    of_revolute,
    origin_steps,
)
from kinegraph.derive.dynamics.newton_euler import link_motions, projected, subtree_wrenches
from kinegraph.derive.tree.algebra import Vector, cross, dot, minus, plus, times
from kinegraph.derive.tree.displacements import Motion, position_rates
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import is_prismatic
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.model.mechanism import Mechanism

# ---- Derivatives of joint forces, in O(n depth) operations
#
# Let u_k be the velocity field of joint component k at unit rate, and V and A the velocity and the acceleration (minus
# gravity) of a particle at x, with V and x relative to the joint. Joint forces are f_i = sum m u_i . A, and
#
#     df_i/da_k = sum m u_i . u_k
#     df_i/dv_k = sum m u_i . dA/dv_k,   dA/dv_k = e' x x + 2 e x V     (e' = (w_parent + w) x e)
#     df_i/dp_k = sum m u_i . dA/dp_k + sum m du_i/dp_k . A
#
# For k at i or toward the base, the last sum rotates everything beyond k rigidly, and the result is
#
#     df_i/dp_k = sum m u_i . (e'' x x + 2 e' x V - e x A_k)            (e' = w_parent x e, e'' its rate)
#
# So three vectors of i, propagated to its ancestors, give its row: P = sum m u_i, L = sum m x x u_i, N = sum m V x u_i.
# For k beyond i, the wrench of k's fields, propagated inward, gives its column.

Entries = dict[tuple[Column, Column], Scalar]


class JointForceDerivatives(NamedTuple):
    """The joint forces, and their derivatives in joint components with key (force, by)."""

    forces: list[tuple[Scalar, ...]]
    by_position: Entries
    by_velocity: Entries
    by_acceleration: Entries


class _Rates(NamedTuple):
    """The unit motion of a joint component and its rates, in the link's frame of computation.

    `unit_rate` and `unit_acceleration` are e' and e'' due to the parent's motion; `velocity_rate` is e' of dA/dv.
    """

    unit: Vector
    unit_rate: Vector
    unit_acceleration: Vector
    velocity_rate: Vector


def joint_force_derivatives(
    layout: FrameAssignment, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]
) -> JointForceDerivatives:
    """All derivatives of the joint forces by the wanted joint components."""
    work = _JointForceRecursion(layout, motion, euler, wanted)
    for index in range(1, len(layout.tree.links)):
        for column in own_columns(layout, index, wanted):
            work.propagate_inward(column)
    return work.found


class _JointForceRecursion:
    def __init__(
        self, layout: FrameAssignment, motion: Motion, euler: frozenset[int], wanted: frozenset[Column]
    ) -> None:
        self.layout = layout
        self.wanted = wanted
        self.states, gradients = link_motions(layout, motion)
        self.wrenches = subtree_wrenches(layout, self.states, gradients, euler)
        self.spins = [state.angular_velocity for state in self.states]
        # Only twice the moving masses are needed; they are linear in the velocities.
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

    # vectors that are propagated to the ancestors

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
            Wrench(times(moments.mass, rates.velocity_rate), cross(moments.first, rates.velocity_rate)),
            Wrench(
                times(moments.mass, rates.unit_acceleration),
                plus(cross(moments.first, rates.unit_acceleration), falling),
            ),
        )

    def _revolute_wrenches(self, column: Column) -> tuple[Wrench, Wrench]:
        moments, moving = self.composites[column.link], self.double_moving[column.link]
        e, unit_rate, unit_acceleration, velocity_rate = self.rates[column]
        acceleration = self.states[column.link].acceleration
        force, moment = self.wrenches[column.link]
        relative = cross(e, minus(force, times(moments.mass, acceleration)))
        falling = plus(cross(e, moment), cross(moments.first, cross(acceleration, e)))
        by_velocity = Wrench(
            plus(cross(velocity_rate, moments.first), cross(e, moving.first)),
            plus(inertia_times(moments, velocity_rate), moving.moment(e)),
        )
        by_position = Wrench(
            plus(plus(cross(unit_acceleration, moments.first), cross(unit_rate, moving.first)), relative),
            plus(plus(inertia_times(moments, unit_acceleration), moving.moment(unit_rate)), falling),
        )
        return by_velocity, by_position

    def propagate_inward(self, column: Column) -> None:
        """Compute the entries of a joint component and all its ancestors, including itself."""
        for index, propagated in at_ancestors(self.layout, column, self._sent(column), self.double_steps):
            for other in own_columns(self.layout, index, self.wanted):
                self._row(column, other, propagated)
                if index != column.link:
                    self._column(column, other, propagated)

    def _row(self, force: Column, by: Column, c: PropagatedMomentum) -> None:
        """The derivatives of the component's force by an ancestor's motion."""
        rates = self.rates[by]
        key = force, by
        if self.is_prismatic(by.link):
            self.found.by_acceleration[key] = dot(rates.unit, c.momentum)
            self.found.by_velocity[key] = dot(rates.velocity_rate, c.momentum)
            self.found.by_position[key] = dot(rates.unit_acceleration, c.momentum)
        else:
            falling = cross(self.states[by.link].acceleration, rates.unit)
            self.found.by_acceleration[key] = dot(rates.unit, c.angular)
            self.found.by_velocity[key] = dot(rates.velocity_rate, c.angular) + dot(rates.unit, c.counter)
            self.found.by_position[key] = (
                dot(rates.unit_acceleration, c.angular) + dot(rates.unit_rate, c.counter) + dot(falling, c.momentum)
            )
        self.found.by_acceleration[by, force] = self.found.by_acceleration[key]

    def _column(self, by: Column, force: Column, c: PropagatedMomentum) -> None:
        """The derivatives of an ancestor's force by the component's motion."""
        unit = self.rates[force].unit
        by_velocity, by_position = (one.force if self.is_prismatic(force.link) else one.moment for one in c.wrenches)
        self.found.by_velocity[force, by] = dot(unit, by_velocity)
        self.found.by_position[force, by] = dot(unit, by_position)


# ---- Derivatives by displacements and velocities of coordinates
#
# There is one displacement `dq` for each velocity: the change of an ordinary coordinate, or a small rotation about a
# body axis for quaternions. Derivatives of forces follow from those in joint components by the chain rule, and those of
# accelerations from 0 = d(tau) along the motion: d(qdd) = - H^-1 d(tau) at a = qdd.


def displacement_seeds(mechanism: Mechanism, builder: GraphBuilder) -> list[dict[int, int]]:
    """For every velocity: the rates of position symbols along its displacement, a column of N(q)."""
    zero, one = builder.zero, builder.one
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    columns = []
    for index in range(len(mechanism.layout.velocities)):
        unit = [Scalar(builder, one if k == index else zero) for k in range(len(mechanism.layout.velocities))]
        rates = position_rates(mechanism, builder, unit)
        columns.append({symbol: rate.index for symbol, rate in zip(symbols, rates, strict=True)})
    return columns


def joints_are_straight(motion: Motion) -> bool:
    """Are all joint displacements linear in the coordinates? Then their rates do not depend on the coordinates."""
    return all(slope.static for columns in motion.columns for column in columns for slope in column.values())


class ChainRule:
    """From derivatives in joint components to those by displacements and velocities of coordinates."""

    def __init__(
        self, builder: GraphBuilder, motion: Motion, slopes: JointForceDerivatives, seeds: Sequence[Mapping[int, int]]
    ) -> None:
        self.builder = builder
        self.motion = motion
        self.slopes = slopes
        self.seeds = seeds
        self.zero = Scalar(builder, builder.zero)

    def by_displacement(self) -> Square:
        """sum P_ik (df_i/dp_j P_jm + df_i/dv_j dp'_j/dq_m + df_i/da_j dp''_j/dq_m) + sum dP_ik/dq_m f_i."""
        matrix = self._square()
        self._add(matrix, self.slopes.by_position, self.motion.columns)
        if joints_are_straight(self.motion):
            return matrix
        directions = [ForwardDerivative(self.builder, self._ordinary(seeds)) for seeds in self.seeds]
        self._add(matrix, self.slopes.by_velocity, self._changes(directions, "velocity"))
        self._add(matrix, self.slopes.by_acceleration, self._changes(directions, "acceleration"))
        for columns, forces in zip(self.motion.columns, self.slopes.forces, strict=True):
            for column, force in zip(columns, forces, strict=True):
                for k, slope in column.items():
                    self._add_bending(matrix, k, slope, force, directions)
        return matrix

    def by_velocity(self) -> Square:
        """sum P_ik (df_i/dv_j P_jm + df_i/da_j dp''_j/dv_m)."""
        matrix = self._square()
        self._add(matrix, self.slopes.by_velocity, self.motion.columns)
        if joints_are_straight(self.motion):
            return matrix
        symbols = [velocity.index for velocity in self.motion.velocities]
        directions = [ForwardDerivative(self.builder, {symbol: self.builder.one}) for symbol in symbols]
        self._add(matrix, self.slopes.by_acceleration, self._changes(directions, "acceleration"))
        return matrix

    def _square(self) -> Square:
        return [[self.zero] * len(self.seeds) for _ in self.seeds]

    def _ordinary(self, seeds: Mapping[int, int]) -> Mapping[int, int]:
        """The seeds of ordinary coordinates; rates of joints do not depend on quaternions."""
        return {symbol: rate for symbol, rate in seeds.items() if rate in (self.builder.zero, self.builder.one)}

    def _add(self, matrix: Square, entries: Entries, right: Sequence[Sequence[Mapping[int, Scalar]]]) -> None:
        for (i, j), value in entries.items():
            for m, change in right[j.link][j.component].items():
                for k, left in self.motion.columns[i.link][i.component].items():
                    matrix[k][m] = matrix[k][m] + left * change * value

    def _changes(self, directions: Sequence[ForwardDerivative], name: str) -> list[list[dict[int, Scalar]]]:
        """The nonzero derivatives of every joint's rate of this name along each direction."""
        found = []
        for rates in self.motion.rates:
            components = []
            for rate in getattr(rates, name):
                changes = ((m, Scalar(self.builder, along(rate.index))) for m, along in enumerate(directions))
                components.append({m: change for m, change in changes if not change.is_zero})
            found.append(components)
        return found

    def _add_bending(
        self, matrix: Square, k: int, slope: Scalar, force: Scalar, directions: Sequence[ForwardDerivative]
    ) -> None:
        if slope.static:
            return
        for m, along in enumerate(directions):
            matrix[k][m] = matrix[k][m] + Scalar(self.builder, along(slope.index)) * force
