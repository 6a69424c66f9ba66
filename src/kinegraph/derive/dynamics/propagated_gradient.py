"""The gradient U of a link's field of accelerations, propagated from its parent where they share a revolute joint.

Points on the joint's axis k belong to both links, so both fields agree there: U e_k is the parent's, turned. With
U + U^T = 2 (w w^T - |w|^2) the rest of U follows in fewer operations than from w and w' alone: U_kk is known, which
gives one square of w by another, and the products of velocities that a turn of w' would add never arise.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.choices import CrossAxis
from kinegraph.derive.tree.algebra import FOLLOWING, Matrix, Vector, apply, signed_axis, unit_vector, vector
from kinegraph.derive.tree.displacements import Rates
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Spin:
    """Angular velocity and angular acceleration, in the frame of computation."""

    velocity: Vector
    acceleration: Vector


def propagated_axis(layout: FrameAssignment, index: int) -> int | None:
    """The axis of the link's frame its joint turns about; None if the gradient cannot be propagated."""
    joint = layout.tree.links[index].joint
    direction = layout.link_frames[index].joint_axis
    if joint is None or direction is None or joint.kind is not JointKind.REVOLUTE:
        return None
    found = signed_axis(direction)
    return found[0] if found else None


def propagated_gradient(
    layout: FrameAssignment, index: int, parent: tuple[Vector, Matrix], spin: Spin, rates: Rates, square: CrossAxis
) -> tuple[Matrix, Vector]:
    """U of a link and its angular acceleration, from the parent's angular velocity and U."""
    axis, direction = propagated_axis(layout, index), layout.link_frames[index].joint_axis
    assert axis is not None and direction is not None
    along = _along(layout, index, parent[1], axis)
    if layout.link_frames[index].turns:
        u = _turned(along, spin, axis, square)
    else:
        rate, gain = direction[axis] * rates.velocity[0], direction[axis] * rates.acceleration[0]
        u = _spun_up(parent, spin.velocity, rate, gain, axis)
    return u, _angular_acceleration(along, spin, axis)


def _along(layout: FrameAssignment, index: int, u: Matrix, axis: int) -> Vector:
    """The column of the parent's U along the joint's axis, in the link's frame."""
    direction = layout.inward(index, unit_vector(u[0][0], axis))
    return layout.outward(index, apply(u, direction))


def _angular_acceleration(along: Vector, spin: Spin, k: int) -> Vector:
    """w' from the column of U along the axis: U_jk = w_j w_k - w'_i and U_ik = w_i w_k + w'_j."""
    i, j = FOLLOWING[k]
    w, found = spin.velocity, list(spin.acceleration)
    found[i] = w[j] * w[k] - along[j]
    found[j] = along[i] - w[i] * w[k]
    return vector(found)


def _turned(along: Vector, spin: Spin, k: int, square: CrossAxis) -> Matrix:
    """U of a link in a frame of its own."""
    i, j = FOLLOWING[k]
    w = spin.velocity
    u = _Entries(along, k)
    gain = _angular_acceleration(along, spin, k)
    u[k, i], u[k, j] = w[i] * w[k] - gain[j], w[j] * w[k] + gain[i]
    u[i, j], u[j, i] = w[i] * w[j] - gain[k], w[i] * w[j] + gain[k]
    formed, other = (i, j) if square is CrossAxis.FIRST else (j, i)
    across, along_square = w[formed] * w[formed], w[k] * w[k]
    u[formed, formed] = along[k] + (across - along_square)
    u[other, other] = -(across + along_square)
    return u.matrix()


def _spun_up(parent: tuple[Vector, Matrix], w: Vector, rate: Scalar, gain: Scalar, k: int) -> Matrix:
    """U of a link in its parent's frame: the parent's, and what the joint's own rate adds."""
    i, j = FOLLOWING[k]
    before, u = parent[0], parent[1]
    faster = rate * (before[k] + w[k])
    found = _Entries(vector([u[row][k] for row in range(3)]), k)
    found[i, i], found[j, j] = u[i][i] - faster, u[j][j] - faster
    found[i, j], found[j, i] = u[i][j] - gain, u[j][i] + gain
    found[k, i], found[k, j] = u[k][i] + 2 * rate * w[i], u[k][j] + 2 * rate * w[j]
    return found.matrix()


class _Entries(dict[tuple[int, int], Scalar]):
    """A matrix being filled, one column of which is known."""

    def __init__(self, column: Vector, k: int) -> None:
        super().__init__({(row, k): item for row, item in enumerate(column)})

    def matrix(self) -> Matrix:
        rows = [vector([self[row, column] for column in range(3)]) for row in range(3)]
        return rows[0], rows[1], rows[2]
