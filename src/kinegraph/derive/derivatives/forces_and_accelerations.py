"""Derivatives of generalized forces and accelerations by displacements, velocities and what drives them.

A displacement `dq` is a change of an ordinary coordinate, or a small turn about the axes of a body whose attitude is a
quaternion: as many as there are velocities. Forces come from the slopes in joint components by the chain rule;
accelerations from 0 = d(tau) along the motion: d(qdd) = - H^-1 d(tau) at a = qdd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinegraph.derive.derivatives.inverse_dynamics import Entries, JointForceDerivatives
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Mechanism


def displacement_seeds(mechanism: Mechanism, builder: GraphBuilder) -> list[dict[int, int]]:
    """For every velocity: how the position symbols change along its displacement, a column of N(q)."""
    zero, one = builder.zero, builder.one
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    columns = []
    for index in range(len(mechanism.layout.velocities)):
        unit = [Scalar(builder, one if k == index else zero) for k in range(len(mechanism.layout.velocities))]
        rates = position_rates(mechanism, builder, unit)
        columns.append({symbol: rate.index for symbol, rate in zip(symbols, rates, strict=True)})
    return columns


def joints_are_straight(motion: Motion) -> bool:
    """Are all joints driven by coordinates at constant ratios? Then their rates do not change with the coordinates."""
    return all(slope.static for columns in motion.columns for column in columns for slope in column.values())


class ChainRule:
    """From slopes in joint components to the coordinates' displacements and velocities."""

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
        """Rates of joints never change with a quaternion, so only ordinary coordinates count."""
        return {symbol: rate for symbol, rate in seeds.items() if rate in (self.builder.zero, self.builder.one)}

    def _add(self, matrix: Square, entries: Entries, right: Sequence[Sequence[Mapping[int, Scalar]]]) -> None:
        for (i, j), value in entries.items():
            for m, change in right[j.link][j.component].items():
                for k, left in self.motion.columns[i.link][i.component].items():
                    matrix[k][m] = matrix[k][m] + left * change * value

    def _changes(self, directions: Sequence[ForwardDerivative], name: str) -> list[list[dict[int, Scalar]]]:
        """How every joint's rate of that name changes along each way, where it does."""
        found = []
        for rates in self.motion.rates:
            components = []
            for rate in getattr(rates, name):
                changes = ((m, Scalar(self.builder, way(rate.index))) for m, way in enumerate(directions))
                components.append({m: change for m, change in changes if not change.is_zero})
            found.append(components)
        return found

    def _add_bending(
        self, matrix: Square, k: int, slope: Scalar, force: Scalar, directions: Sequence[ForwardDerivative]
    ) -> None:
        if slope.static:
            return
        for m, way in enumerate(directions):
            matrix[k][m] = matrix[k][m] + Scalar(self.builder, way(slope.index)) * force
