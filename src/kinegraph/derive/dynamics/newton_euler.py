"""Inverse dynamics: the recursive Newton-Euler equations on the matrix U = [w']x + [w]x^2.

With first moments mc and second moments S about the link's origin, the acceleration field a + U x gives
force = m a + U mc and moment = mc x a + axial(U S): no product of two computed quantities is formed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinegraph.derive.choices import CrossAxis, Propagated
from kinegraph.derive.dynamics.propagated_gradient import Spin, propagated_axis, propagated_gradient
from kinegraph.derive.tree.algebra import (
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    negative,
    plus,
    times,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion, Rates
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.derive.tree.links import JointKind, is_prismatic
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class LinkMotion:
    """Angular velocity and acceleration, and acceleration of the origin less gravity, in the frame of computation."""

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

    The links of `euler` form their moment by Euler's equation, the others from U; those of `propagated` take U over
    from their parent.
    """
    states, gradients = link_motions(layout, motion, propagated)
    wrenches = subtree_wrenches(layout, states, gradients, euler)
    return [(), *(projected(layout, index, *wrenches[index]) for index in range(1, len(wrenches)))]


def without_products(layout: FrameAssignment) -> frozenset[int]:
    """The links whose second moment is diagonal: there Euler's equation needs fewer operations."""
    return frozenset(
        index
        for index, moments in enumerate(layout.moments)
        if all(item.is_zero for item in (moments.second.yz, moments.second.xz, moments.second.xy))
    )


def link_motions(
    layout: FrameAssignment, motion: Motion, propagated: Propagated = frozenset()
) -> tuple[list[LinkMotion], list[Matrix]]:
    """How every link moves, from the base outwards, and the gradient of its field of accelerations."""
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
    """A link's motion and U: its parent's in the same frame, propagated, or formed anew."""
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
    """Force and moment about its origin that every link needs for itself and all that hangs on it."""
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
    """Force and moment about the link's origin that give a link its acceleration."""
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
    """The same without the entries of U: I w' + w x I w for a diagonal inertia."""
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
    """The components of a wrench a joint works on."""
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
