"""Inverse dynamics by the recursive Newton-Euler equations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinegraph.derive.plan import CrossAxis, Propagated
from kinegraph.derive.tree.algebra import (
    FOLLOWING,
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    negative,
    plus,
    signed_axis,
    times,
    unit_vector,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion, Rates
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind, is_prismatic
from kinegraph.graph.build import Scalar

# ---- The gradient U of a link's acceleration field, propagated from its parent through a revolute joint
#
# Points on the joint's axis k belong to both links, so both fields agree there: U e_k is that of the parent, rotated.
# With U + U^T = 2 (w w^T - |w|^2) the rest of U follows in fewer operations than from w and w'. U_kk is known, which
# gives one square of w from another, and products of velocities due to the rotation of w' are avoided.


@dataclass(frozen=True)
class Spin:
    """Angular velocity and angular acceleration, in the frame of computation."""

    velocity: Vector
    acceleration: Vector


def propagated_axis(layout: FrameAssignment, index: int) -> int | None:
    """The axis of the link's frame that is its joint's axis; None if the gradient cannot be propagated."""
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
    """U of a link in its own frame."""
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
    """U of a link in its parent's frame: that of the parent plus the terms of the joint's rate."""
    i, j = FOLLOWING[k]
    before, u = parent[0], parent[1]
    faster = rate * (before[k] + w[k])
    found = _Entries(vector([u[row][k] for row in range(3)]), k)
    found[i, i], found[j, j] = u[i][i] - faster, u[j][j] - faster
    found[i, j], found[j, i] = u[i][j] - gain, u[j][i] + gain
    found[k, i], found[k, j] = u[k][i] + 2 * rate * w[i], u[k][j] + 2 * rate * w[j]
    return found.matrix()


class _Entries(dict[tuple[int, int], Scalar]):
    """A matrix with one known column, to be filled."""

    def __init__(self, column: Vector, k: int) -> None:
        super().__init__({(row, k): item for row, item in enumerate(column)})

    def matrix(self) -> Matrix:
        rows = [vector([self[row, column] for column in range(3)]) for row in range(3)]
        return rows[0], rows[1], rows[2]


# ---- The recursive Newton-Euler algorithm with the matrix U = [w']x + [w]x^2
#
# With first moments mc and second moments S about the link's origin, the acceleration field a + U x gives
# force = m a + U mc and moment = mc x a + axial(U S). No product of two computed quantities is formed twice.


@dataclass(frozen=True)
class LinkMotion:
    """Angular velocity and acceleration, and acceleration of the origin minus gravity, in the frame of computation."""

    angular_velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector

    def gradient(self) -> Matrix:
        """U, the gradient of the acceleration field."""
        (x, y, z), (dx, dy, dz) = self.angular_velocity, self.angular_acceleration
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        return (
            (-(yy + zz), xy - dz, xz + dy),
            (xy + dz, -(xx + zz), yz - dx),
            (xz - dy, yz + dx, -(xx + yy)),
        )


def joint_forces(
    layout: FrameAssignment, motion: Motion, euler: frozenset[int], propagated: Propagated = frozenset()
) -> list[tuple[Scalar, ...]]:
    """The force or moment in every joint (three components for a ball joint), by link.

    The moments of links in `euler` follow from Euler's equation, those of the others from U. Links in `propagated`
    get U from their parent.
    """
    states, gradients = link_motions(layout, motion, propagated)
    wrenches = subtree_wrenches(layout, states, gradients, euler)
    return [(), *(projected(layout, index, *wrenches[index]) for index in range(1, len(wrenches)))]


def without_products(layout: FrameAssignment) -> frozenset[int]:
    """The links with a diagonal second moment, for which Euler's equation takes fewer operations."""
    return frozenset(
        index
        for index, moments in enumerate(layout.moments)
        if all(item.is_zero for item in (moments.second.yz, moments.second.xz, moments.second.xy))
    )


def link_motions(
    layout: FrameAssignment, motion: Motion, propagated: Propagated = frozenset()
) -> tuple[list[LinkMotion], list[Matrix]]:
    """The motion of every link, from the base outward, and the gradients of their acceleration fields."""
    tree, squares = layout.tree, dict(propagated)
    rest = zero_vector(tree.like)
    states = [LinkMotion(rest, rest, negative(tree.gravity))]
    gradients = [states[0].gradient()]
    for index in range(1, len(tree.links)):
        parent = tree.links[index].parent
        before = states[parent], gradients[parent]
        state = _next(layout, index, *before, motion.rates[index])
        state, gradient = _with_gradient(layout, index, before, state, motion.rates[index], squares.get(index))
        states.append(state)
        gradients.append(gradient)
    return states, gradients


def _with_gradient(
    layout: FrameAssignment, index: int, parent: tuple[LinkMotion, Matrix], state: LinkMotion, rates: Rates,
    square: CrossAxis | None,
) -> tuple[LinkMotion, Matrix]:  # fmt: skip
    """A link's motion and U: that of its parent in the same frame, or propagated, or computed from w and w'."""
    if is_prismatic(layout.tree, index):
        return state, parent[1]
    if square is None or propagated_axis(layout, index) is None:
        return state, state.gradient()
    before = parent[0].angular_velocity, parent[1]
    spin = Spin(state.angular_velocity, state.angular_acceleration)
    gradient, acceleration = propagated_gradient(layout, index, before, spin, rates, square)
    return replace(state, angular_acceleration=acceleration), gradient


def _next(layout: FrameAssignment, index: int, parent: LinkMotion, gradient: Matrix, rates: Rates) -> LinkMotion:
    joint = layout.tree.links[index].joint
    axis = layout.link_frames[index].joint_axis
    assert joint is not None
    w = layout.outward(index, parent.angular_velocity)
    dw = layout.outward(index, parent.angular_acceleration)
    acceleration = plus(parent.acceleration, apply(gradient, layout.offsets[index]))
    if joint.kind is JointKind.PRISMATIC:
        assert axis is not None  # prismatic joints stay in the parent's frame
        prismatic = plus(times(rates.acceleration[0], axis), cross(w, times(2 * rates.velocity[0], axis)))
        return LinkMotion(w, dw, plus(acceleration, prismatic))
    acceleration = layout.outward(index, acceleration)
    if joint.kind is JointKind.REVOLUTE:
        assert axis is not None
        spin, gain = times(rates.velocity[0], axis), times(rates.acceleration[0], axis)
    else:
        spin, gain = _triple(rates.velocity), _triple(rates.acceleration)
    return LinkMotion(plus(w, spin), plus(plus(dw, gain), cross(w, spin)), acceleration)


def _triple(items: tuple[Scalar, ...]) -> Vector:
    return items[0], items[1], items[2]


def subtree_wrenches(
    layout: FrameAssignment, states: list[LinkMotion], gradients: list[Matrix], euler: frozenset[int]
) -> list[tuple[Vector, Vector]]:
    """Force and moment about the origin of every link that accelerate its subtree."""
    tree = layout.tree
    wrenches = [
        inertial_wrench(layout.moments[index], states[index], gradients[index], index in euler)
        for index in range(len(tree.links))
    ]
    for index in range(len(tree.links) - 1, 0, -1):
        parent = tree.links[index].parent
        force, moment = (layout.inward(index, part) for part in wrenches[index])
        moment = plus(moment, cross(layout.offsets[index], force))
        wrenches[parent] = plus(wrenches[parent][0], force), plus(wrenches[parent][1], moment)
    return wrenches


def inertial_wrench(moments: MassMoments, state: LinkMotion, u: Matrix, euler: bool) -> tuple[Vector, Vector]:
    """Force and moment about the link's origin that accelerate the link."""
    force = plus(times(moments.mass, state.acceleration), apply(u, moments.first))
    diagonal = _by_euler(moments.second, state) if euler else _by_gradient(moments.second, u)
    rotational = plus(diagonal, _by_products(moments.second, u))
    return force, plus(rotational, cross(moments.first, state.acceleration))


def _by_gradient(s: Symmetric, u: Matrix) -> Vector:
    """The part of axial(U S) from the diagonal of S."""
    return (
        u[2][1] * s.yy - u[1][2] * s.zz,
        u[0][2] * s.zz - u[2][0] * s.xx,
        u[1][0] * s.xx - u[0][1] * s.yy,
    )


def _by_euler(s: Symmetric, state: LinkMotion) -> Vector:
    """The same without U: I w' + w x I w for a diagonal inertia."""
    (x, y, z), (dx, dy, dz) = state.angular_velocity, state.angular_acceleration
    return (
        (s.yy + s.zz) * dx + (s.yy - s.zz) * (y * z),
        (s.zz + s.xx) * dy + (s.zz - s.xx) * (x * z),
        (s.xx + s.yy) * dz + (s.xx - s.yy) * (x * y),
    )


def _by_products(s: Symmetric, u: Matrix) -> Vector:
    """The part of axial(U S) from the products of inertia; differences of U's diagonal are shared."""
    return (
        (u[2][2] - u[1][1]) * s.yz + u[2][0] * s.xy - u[1][0] * s.xz,
        (u[0][0] - u[2][2]) * s.xz + u[0][1] * s.yz - u[2][1] * s.xy,
        (u[1][1] - u[0][0]) * s.xy + u[1][2] * s.xz - u[0][2] * s.yz,
    )


def projected(layout: FrameAssignment, index: int, force: Vector, moment: Vector) -> tuple[Scalar, ...]:
    """The components of a wrench along the free directions of a joint."""
    joint = layout.tree.links[index].joint
    axis = layout.link_frames[index].joint_axis
    assert joint is not None
    if joint.kind is JointKind.SPHERICAL:
        return moment
    assert axis is not None
    return (dot(axis, force if joint.kind is JointKind.PRISMATIC else moment),)


def generalized(motion: Motion, forces: list[tuple[Scalar, ...]], count: int, zero: Scalar) -> list[Scalar]:
    """Q_k = sum_j (dp_j/dq_k) tau_j: from joint forces to generalized forces."""
    totals = [zero] * count
    for columns, components in zip(motion.columns, forces, strict=True):
        for column, component in zip(columns, components, strict=True):
            for index, factor in column.items():
                totals[index] = totals[index] + factor * component
    return totals
