"""The frame of computation of each link, and the position of its origin on the joint axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from kinegraph.derive.plan import OriginShift
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    congruence,
    dot,
    identity,
    minus,
    plus,
    product,
    signed_axis,
    times,
    transpose,
    turn_symmetric,
    turn_vector,
    unit_vector,
)
from kinegraph.derive.tree.links import Joint, JointKind, Tree, unit_quaternion_matrix
from kinegraph.graph.build import Scalar

# ---- The frame of computation
#
# The vectors of a link may be expressed in a frame that rotates with it, or in its parent's frame. In the latter case
# the link's own moments are rotated instead of propagated vectors, and a sequence of parallel axes takes one rotation
# by the sum of its angles. This choice decides much of the operation count.


@dataclass(frozen=True)
class PlanarTurn:
    """The rotation R_axis(angle) from one frame to the next."""

    axis: int
    sine: Scalar
    cosine: Scalar

    def outward(self, a: Vector) -> Vector:
        """A vector in the parent's axes, seen along the turned axes."""
        return turn_vector(self.axis, -self.sine, self.cosine, a)

    def inward(self, a: Vector) -> Vector:
        """A vector along the turned axes, in the parent's axes."""
        return turn_vector(self.axis, self.sine, self.cosine, a)

    def inward_symmetric(self, s: Symmetric) -> Symmetric:
        """A symmetric matrix along the turned axes, in the parent's axes."""
        return turn_symmetric(self.axis, self.sine, self.cosine, s)


@dataclass(frozen=True)
class MatrixTurn:
    """A rotation matrix from one frame to the next."""

    matrix: Matrix

    def outward(self, a: Vector) -> Vector:
        """A vector in the parent's axes, seen along the turned axes."""
        return apply(transpose(self.matrix), a)

    def inward(self, a: Vector) -> Vector:
        """A vector along the turned axes, in the parent's axes."""
        return apply(self.matrix, a)

    def inward_symmetric(self, s: Symmetric) -> Symmetric:
        """A symmetric matrix along the turned axes, in the parent's axes."""
        return congruence(self.matrix, s)


Turn = PlanarTurn | MatrixTurn


@dataclass(frozen=True)
class LinkFrame:
    """A link in its frame of computation: link axes = R_axis(angle) matrix; axis None means angle zero.

    turns: the rotations from the parent's frame to this link's frame; empty if the frame is the parent's.
    """

    matrix: Matrix
    axis: int | None = None
    angle: Scalar | None = None
    turns: tuple[Turn, ...] = ()
    #: Direction of the joint in the link's frame of computation.
    joint_axis: Vector | None = None

    def place(self, a: Vector) -> Vector:
        """A vector fixed in the link, in the frame of computation."""
        still = apply(self.matrix, a)
        if self.axis is None or self.angle is None:
            return still
        return turn_vector(self.axis, self.angle.sin(), self.angle.cos(), still)

    def place_moments(self, moments: MassMoments) -> MassMoments:
        """The link's own mass moments in the frame of computation."""
        second = congruence(self.matrix, moments.second)
        if self.axis is not None and self.angle is not None:
            second = turn_symmetric(self.axis, self.angle.sin(), self.angle.cos(), second)
        return MassMoments(moments.mass, self.place(moments.first), second)


@dataclass(frozen=True)
class FrameAssignment:
    """A tree with the frame of computation of every link."""

    tree: Tree
    in_parent_frame: frozenset[int]
    link_frames: tuple[LinkFrame, ...]

    def outward(self, link: int, a: Vector) -> Vector:
        """A vector of the parent's frame in this link's frame."""
        for turn in self.link_frames[link].turns:
            a = turn.outward(a)
        return a

    def inward(self, link: int, a: Vector) -> Vector:
        """A vector of this link's frame in the parent's frame."""
        for turn in reversed(self.link_frames[link].turns):
            a = turn.inward(a)
        return a

    def inward_symmetric(self, link: int, s: Symmetric) -> Symmetric:
        """A symmetric matrix of a link's frame, in its parent."""
        for turn in reversed(self.link_frames[link].turns):
            s = turn.inward_symmetric(s)
        return s

    @cached_property
    def offsets(self) -> tuple[Vector, ...]:
        """For every link: the vector from the parent's origin to its own, in the parent's frame of computation."""
        found: list[Vector] = [self.tree.gravity]
        for index in range(1, len(self.tree.links)):
            link = self.tree.links[index]
            assert link.origin is not None and link.joint is not None
            offset = self.link_frames[link.parent].place(link.origin.position)
            if link.joint.kind is JointKind.PRISMATIC:
                axis = self.link_frames[index].joint_axis
                assert axis is not None
                offset = plus(offset, times(link.joint.displacement, axis))
            found.append(offset)
        return tuple(found)

    @cached_property
    def moments(self) -> tuple[MassMoments, ...]:
        """Every link's own mass moments about its origin, in its frame of computation."""
        return tuple(
            link_frame.place_moments(link.moments)
            for link_frame, link in zip(self.link_frames, self.tree.links, strict=True)
        )


def arrange(tree: Tree, in_parent_frame: frozenset[int]) -> FrameAssignment:
    """Assign frames: the links of `in_parent_frame` use their parent's frame if their axis allows it."""
    link_frames = [LinkFrame(identity(tree.like))]
    for index in range(1, len(tree.links)):
        link = tree.links[index]
        assert link.joint is not None and link.origin is not None
        link_frames.append(
            _link_frame(link_frames[link.parent], link.joint, link.origin.rotation, index in in_parent_frame)
        )
    return FrameAssignment(tree, in_parent_frame, tuple(link_frames))


def _link_frame(parent: LinkFrame, joint: Joint, rotation: Matrix, keep: bool) -> LinkFrame:
    matrix = product(parent.matrix, rotation)
    if joint.kind is JointKind.PRISMATIC:
        moving = LinkFrame(matrix, parent.axis, parent.angle)
        return LinkFrame(
            matrix, parent.axis, parent.angle, joint_axis=moving.place(unit_vector(matrix[0][0], joint.axis))
        )
    if joint.kind is JointKind.REVOLUTE:
        return _revolute_frame(parent, joint, matrix, keep)
    assert joint.quaternion is not None
    turns = (*_opening_turns(parent, matrix), MatrixTurn(unit_quaternion_matrix(*joint.quaternion)))
    return LinkFrame(identity(matrix[0][0]), turns=turns)


def _revolute_frame(parent: LinkFrame, joint: Joint, matrix: Matrix, keep: bool) -> LinkFrame:
    like = matrix[0][0]
    direction = signed_axis(transpose(matrix)[joint.axis])
    if direction is not None and (parent.axis is None or parent.axis == direction[0]):
        axis, sign = direction
        angle = sign * joint.displacement if parent.angle is None else parent.angle + sign * joint.displacement
        joint_axis = transpose(matrix)[joint.axis]
        if keep:
            return LinkFrame(matrix, axis, angle, joint_axis=joint_axis)
        return LinkFrame(matrix, turns=(PlanarTurn(axis, angle.sin(), angle.cos()),), joint_axis=joint_axis)
    angle = joint.displacement
    turns = (*_opening_turns(parent, matrix), PlanarTurn(joint.axis, angle.sin(), angle.cos()))
    return LinkFrame(identity(like), turns=turns, joint_axis=unit_vector(like, joint.axis))


def _opening_turns(parent: LinkFrame, matrix: Matrix) -> tuple[Turn, ...]:
    """The rotations from the parent's frame of computation to the frame before a joint."""
    still = MatrixTurn(matrix)
    if parent.axis is None or parent.angle is None:
        return (still,)
    return PlanarTurn(parent.axis, parent.angle.sin(), parent.angle.cos()), still


def parallel_runs(tree: Tree) -> frozenset[int]:
    """The links followed by a joint parallel to their own, which are best computed in their parent's frame."""
    in_parent_frame = set()
    for index in range(1, len(tree.links)):
        joint = tree.links[index].joint
        assert joint is not None
        if joint.kind is JointKind.REVOLUTE and _parallel_follows(tree, index, joint.axis):
            in_parent_frame.add(index)
    return frozenset(in_parent_frame)


def _parallel_follows(tree: Tree, index: int, axis: int) -> bool:
    for child in tree.children[index]:
        link = tree.links[child]
        assert link.joint is not None and link.origin is not None
        if link.joint.kind is JointKind.REVOLUTE:
            direction = signed_axis(transpose(link.origin.rotation)[link.joint.axis])
            if direction is not None and direction[0] == axis:
                return True
    return False


# ---- Origins, which may be anywhere on the axis of a revolute joint


def with_shifted_origins(tree: Tree, origin_shifts: frozenset[tuple[int, OriginShift]]) -> Tree:
    """The same tree with some origins moved along their joint's axis."""
    for index, shift in sorted(origin_shifts, key=lambda item: (item[0], item[1].value)):
        link = tree.links[index]
        if link.joint is not None and link.joint.kind is JointKind.REVOLUTE:
            tree = _moved(tree, index, _distance(tree, index, shift))
    return tree


def _distance(tree: Tree, index: int, shift: OriginShift) -> Scalar:
    link = tree.links[index]
    assert link.joint is not None and link.origin is not None
    if shift is OriginShift.PARENT:
        return -dot(link.origin.position, transpose(link.origin.rotation)[link.joint.axis])
    for child in tree.children[index]:
        origin = tree.links[child].origin
        assert origin is not None
        return origin.position[link.joint.axis]
    return tree.like.number(0)


def _moved(tree: Tree, index: int, distance: Scalar) -> Tree:
    """Move one link's origin by `distance` along its axis, and everything on the link back relative to it."""
    if distance.is_zero:
        return tree
    links = list(tree.links)
    link = links[index]
    assert link.joint is not None and link.origin is not None
    step = times(distance, unit_vector(tree.like, link.joint.axis))
    outer = times(distance, transpose(link.origin.rotation)[link.joint.axis])
    origin = replace(link.origin, position=plus(link.origin.position, outer))
    back = tuple(-item for item in step)
    links[index] = replace(link, origin=origin, moments=link.moments.shifted((back[0], back[1], back[2])))
    for child in tree.children[index]:
        place = links[child].origin
        assert place is not None
        links[child] = replace(links[child], origin=replace(place, position=minus(place.position, step)))
    bodies = {
        name: replace(place, position=minus(place.position, step)) if place.link == index else place
        for name, place in tree.bodies.items()
    }
    return replace(tree, links=tuple(links), bodies=bodies)
