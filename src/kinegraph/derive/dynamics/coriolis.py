"""The Coriolis matrix, from the moving mass of each subtree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kinegraph.derive.dynamics.composite_body import Column, composite_moments, inertia_times, own_columns, unit_screws
from kinegraph.derive.dynamics.energy import link_velocities
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Vector,
    apply,
    cross,
    dot,
    minus,
    plus,
    times,
    transpose,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind, is_prismatic
from kinegraph.graph.build import Scalar

# ---- Moving mass of subtrees


class MovingMass(NamedTuple):
    """sum m (V - V_O) and B = sum m x (V - V_O)^T of a subtree, with x from the link's origin O.

    With the composite moments it gives the force and moment of any rate of a velocity field.
    """

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
    """For every link: the velocity of its origin relative to its parent's origin, in the parent's frame.

    spins: the links' angular velocities.
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
    """For every link: the moving mass of its subtree, in its frame of computation."""
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
    center = layout.inward(index, moments.first)
    rows = [
        plus(turned[i], plus(times(offset[i], first), times(center[i] + moments.mass * offset[i], step)))
        for i in range(3)
    ]
    return MovingMass(plus(first, times(moments.mass, step)), (rows[0], rows[1], rows[2]))


# ---- Vectors of a joint component, propagated to its ancestors


class Wrench(NamedTuple):
    """Force and moment about the origin of a link."""

    force: Vector
    moment: Vector


class PropagatedMomentum(NamedTuple):
    """P, L and N of a joint component, and wrenches of the rates of its field, about the origin O of some ancestor.

    With u the component's velocity field at unit rate, sums over its subtree are P = sum m u, L = sum m x x u and
    N = sum m (V - V_O) x u. One product with each gives the matrix entry of the component and the ancestor.
    """

    momentum: Vector
    angular: Vector
    counter: Vector
    wrenches: tuple[Wrench, ...]


def of_prismatic(
    moments: MassMoments, moving: MovingMass, axis: Vector, wrenches: tuple[Wrench, ...]
) -> PropagatedMomentum:
    """The vectors of a prismatic joint, whose field is the axis everywhere."""
    momentum = (moments.mass * axis[0], moments.mass * axis[1], moments.mass * axis[2])
    return PropagatedMomentum(momentum, cross(moments.first, axis), cross(moving.first, axis), wrenches)


def of_revolute(
    moments: MassMoments, moving: MovingMass, axis: Vector, wrenches: tuple[Wrench, ...]
) -> PropagatedMomentum:
    """The vectors of a revolute joint, whose field is axis x x."""
    return PropagatedMomentum(
        cross(axis, moments.first), inertia_times(moments, axis), moving.transposed_moment(axis), wrenches
    )


def at_ancestors(
    layout: FrameAssignment, column: Column, propagated: PropagatedMomentum, steps: list[Vector]
) -> Iterator[tuple[int, PropagatedMomentum]]:
    """The component's link and all its ancestors, with the vectors propagated to each.

    steps: the velocities of the links' origins relative to those of their parents, with the same factor as `counter`.
    """
    index = column.link
    while index > 0:
        yield index, propagated
        propagated = _propagated_inward(layout, index, propagated, steps[index])
        index = layout.tree.links[index].parent


def _propagated_inward(
    layout: FrameAssignment, index: int, propagated: PropagatedMomentum, step: Vector
) -> PropagatedMomentum:
    offset = layout.offsets[index]
    momentum, angular, counter = (layout.inward(index, part) for part in propagated[:3])
    wrenches = []
    for wrench in propagated.wrenches:
        force, moment = layout.inward(index, wrench.force), layout.inward(index, wrench.moment)
        wrenches.append(Wrench(force, plus(moment, cross(offset, force))))
    return PropagatedMomentum(
        momentum, plus(angular, cross(offset, momentum)), plus(counter, cross(step, momentum)), tuple(wrenches)
    )


# ---- The Coriolis matrix

Entries = dict[tuple[Column, Column], Scalar]


def coriolis_matrix(layout: FrameAssignment, motion: Motion, wanted: frozenset[Column]) -> Entries:
    """The matrix in joint components, key (row, column): C_ik = sum m u_i . (du_k/dt).

    u_k is the velocity field of joint component k at unit rate. This is the matrix of Christoffel symbols (dH/dt - 2C
    is skew), in O(n depth) operations. With the axis e_k and its rate e', du_k/dt = e' x x + e x (V - V_k). P, L and N
    of a component, propagated inward, give its row; the wrench of du/dt gives its column.
    """
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
