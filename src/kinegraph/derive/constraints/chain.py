"""The way from an ancestor link out to a frame on another link, in the ancestor's axes.

A closing joint sees only how its two frames move relative to each other, so the nearest common ancestor of both may
be taken to be at rest. In a run of parallel axes all segments are already expressed in one frame, so nothing is turned.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.dynamics.composite_body import Column, Screw
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    identity,
    plus,
    times,
    transpose,
    zero_vector,
)
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind, Placement, Tree


@dataclass(frozen=True)
class ChainMotion:
    """How a frame moves relative to the ancestor, in its axes; `bias` is what is left when all q'' are zero."""

    point: Vector
    velocity: Vector
    angular_velocity: Vector
    bias_acceleration: Vector
    bias_angular_acceleration: Vector
    #: Velocity of the point and angular velocity due to a unit rate of every joint component on the way.
    screws: dict[Column, Screw]
    rotation: Matrix

    def axis(self, index: int) -> Vector:
        """An axis of the frame."""
        return transpose(self.rotation)[index]


def common_ancestor(tree: Tree, first: int, second: int) -> int:
    """The outermost link both links stand on. Parents come before children, so the larger index steps inward."""
    while first != second:
        if first > second:
            first = tree.links[first].parent
        else:
            second = tree.links[second].parent
    return first


def path_between(tree: Tree, ancestor: int, link: int) -> list[int]:
    """The links from an ancestor (left out) to a link (the last)."""
    path = []
    while link != ancestor:
        path.append(link)
        link = tree.links[link].parent
    return path[::-1]


class _Walk:
    """Walks from the ancestor outwards; everything is kept in the ancestor's axes."""

    def __init__(self, layout: FrameAssignment, motion: Motion) -> None:
        zero = zero_vector(layout.tree.like)
        self.layout, self.motion = layout, motion
        self.turn = identity(layout.tree.like)
        self.point = self.velocity = self.acceleration = zero
        self.spin = self.spin_change = zero
        self.joints: list[tuple[Column, bool, Vector, Vector]] = []

    def move(self, segment: Vector) -> None:
        """Go along a segment that turns with the current link."""
        swing = cross(self.spin, segment)
        self.point = plus(self.point, segment)
        self.velocity = plus(self.velocity, swing)
        curved = plus(cross(self.spin_change, segment), cross(self.spin, swing))
        self.acceleration = plus(self.acceleration, curved)

    def enter(self, index: int) -> None:
        """Pass a joint."""
        link = self.layout.tree.links[index]
        assert link.joint is not None
        self.move(apply(self.turn, self.layout.offsets[index]))
        rows = [self.layout.outward(index, row) for row in self.turn]
        self.turn = (rows[0], rows[1], rows[2])
        for component, axis in enumerate(self._axes(index, link.joint.kind)):
            prismatic = link.joint.kind is JointKind.PRISMATIC
            self.joints.append((Column(index, component), prismatic, axis, self.point))
        if link.joint.kind is JointKind.PRISMATIC:
            self._shift(index)
        else:
            self._spin(index)

    def _axes(self, index: int, kind: JointKind) -> list[Vector]:
        if kind is JointKind.SPHERICAL:
            return list(transpose(self.turn))
        local = self.layout.link_frames[index].joint_axis
        assert local is not None
        return [apply(self.turn, local)]

    def _shift(self, index: int) -> None:
        rates, axis = self.motion.rates[index], self.joints[-1][2]
        self.velocity = plus(self.velocity, times(rates.velocity[0], axis))
        coriolis = cross(self.spin, times(2 * rates.velocity[0], axis))
        self.acceleration = plus(self.acceleration, plus(times(rates.acceleration[0], axis), coriolis))

    def _spin(self, index: int) -> None:
        rates = self.motion.rates[index]
        axes = [entry[2] for entry in self.joints if entry[0].link == index]
        spin = _sum([times(rate, axis) for rate, axis in zip(rates.velocity, axes, strict=True)])
        gain = _sum([times(rate, axis) for rate, axis in zip(rates.acceleration, axes, strict=True)])
        self.spin_change = plus(plus(self.spin_change, gain), cross(self.spin, spin))
        self.spin = plus(self.spin, spin)


def chain_motion(layout: FrameAssignment, motion: Motion, ancestor: int, place: Placement) -> ChainMotion:
    """The motion of a placed frame relative to an ancestor of its link. `motion` carries no accelerations."""
    walk = _Walk(layout, motion)
    for index in path_between(layout.tree, ancestor, place.link):
        walk.enter(index)
    link_frame = layout.link_frames[place.link]
    walk.move(apply(walk.turn, link_frame.place(place.position)))
    columns = [apply(walk.turn, link_frame.place(column)) for column in transpose(place.rotation)]
    return ChainMotion(
        walk.point, walk.velocity, walk.spin, walk.acceleration, walk.spin_change,
        {column: _screw(prismatic, axis, origin, walk.point) for column, prismatic, axis, origin in walk.joints},
        transpose((columns[0], columns[1], columns[2])),
    )  # fmt: skip


def _screw(prismatic: bool, axis: Vector, origin: Vector, point: Vector) -> Screw:
    if prismatic:
        return Screw(zero_vector(axis[0]), axis)
    arm = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    return Screw(axis, cross(axis, arm))


def _sum(vectors: list[Vector]) -> Vector:
    total = vectors[0]
    for item in vectors[1:]:
        total = plus(total, item)
    return total
