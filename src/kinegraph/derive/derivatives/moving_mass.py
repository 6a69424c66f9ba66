"""The moving mass beyond a link: sum m (V - V_O) and sum m x (V - V_O)^T, x from the link's origin O.

Together with the composite moments it says what any rate of a velocity field costs in force and moment.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.derive.dynamics.composite_body import composite_moments
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    minus,
    plus,
    times,
    transpose,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.scalar import Scalar


class MovingMass(NamedTuple):
    """sum m (V - V_O) and B = sum m x (V - V_O)^T of all that hangs on a link."""

    first: Vector
    second: Matrix

    def moment(self, e: Vector) -> Vector:
        """sum m x x (e x (V - V_O)) = e tr B - B^T e."""
        return minus(times(self._trace, e), apply(transpose(self.second), e))

    def transposed_moment(self, e: Vector) -> Vector:
        """sum m (V - V_O) x (e x x) = e tr B - B e."""
        return minus(times(self._trace, e), apply(self.second, e))

    @property
    def _trace(self) -> Scalar:
        return self.second[0][0] + self.second[1][1] + self.second[2][2]


def origin_steps(layout: FrameAssignment, spins: list[Vector], motion: Motion) -> list[Vector]:
    """For every link: the velocity of its origin less that of its parent's, in the parent's frame.

    `spins` are the links' angular velocities.
    """
    return [zero_vector(layout.tree.like), *(_step(layout, i, spins, motion) for i in range(1, len(spins)))]


def _step(layout: FrameAssignment, index: int, spins: list[Vector], motion: Motion) -> Vector:
    result = cross(spins[layout.tree.links[index].parent], layout.offsets[index])
    joint = layout.tree.links[index].joint
    axis = layout.link_frames[index].joint_axis
    if joint is not None and joint.kind is JointKind.PRISMATIC and axis is not None:
        result = plus(result, times(motion.rates[index].velocity[0], axis))
    return result


def moving_masses(layout: FrameAssignment, spins: list[Vector], steps: list[Vector]) -> list[MovingMass]:
    """For every link: the moving mass of all that hangs on it, in its frame of computation."""
    found = [_own(moments, spin) for moments, spin in zip(layout.moments, spins, strict=True)]
    composites = composite_moments(layout)
    for index in range(len(found) - 1, 0, -1):
        parent = layout.tree.links[index].parent
        joining = _inward(layout, index, found[index], composites[index], steps[index])
        found[parent] = _joined(found[parent], joining)
    return found


def _own(moments: MassMoments, spin: Vector) -> MovingMass:
    """sum m x (w x x)^T = - S [w]x, whose rows are w x (rows of S)."""
    rows = [cross(spin, moments.second.column(i)) for i in range(3)]
    return MovingMass(cross(spin, moments.first), (rows[0], rows[1], rows[2]))


def _joined(a: MovingMass, b: MovingMass) -> MovingMass:
    rows = [plus(x, y) for x, y in zip(a.second, b.second, strict=True)]
    return MovingMass(plus(a.first, b.first), (rows[0], rows[1], rows[2]))


def _inward(layout: FrameAssignment, index: int, mass: MovingMass, moments: MassMoments, step: Vector) -> MovingMass:
    offset = layout.offsets[index]
    half = [layout.inward(index, row) for row in mass.second]
    columns = [layout.inward(index, vector(column)) for column in zip(*half, strict=True)]
    turned = transpose((columns[0], columns[1], columns[2]))
    first = layout.inward(index, mass.first)
    centre = layout.inward(index, moments.first)
    rows = [
        plus(turned[i], plus(times(offset[i], first), times(centre[i] + moments.mass * offset[i], step)))
        for i in range(3)
    ]
    return MovingMass(plus(first, times(moments.mass, step)), (rows[0], rows[1], rows[2]))
