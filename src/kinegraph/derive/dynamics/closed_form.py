"""H, C and gravity by the closed formulas of Rackovic's Alg. 1.1 and 1.2: sums over all links, in the fixed frame.

Let e_i be the joint axes, r_ji the vector from joint i to the center of mass of link j, Q_j the link's axes and J_j its
inertia about its center of mass. Everything that depends on the posture follows from Q and e. The formulas take many
more operations than the recursive algorithms of `composite_body`. The reductions of the dissertation start here, and
agreement with the recursive algorithms checks both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.dynamics.composite_body import Column, Key
from kinegraph.derive.tree.algebra import (
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    dot,
    identity,
    minus,
    outer_square,
    plus,
    product,
    scaled,
    times,
    transpose,
    turn_vector,
    unit_vector,
    zero_vector,
)
from kinegraph.derive.tree.links import Joint, JointKind, Tree
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar


@dataclass(frozen=True)
class LinkInSpace:
    """A link in the fixed frame: axes (columns of Q), origin, and the direction of its joint."""

    axes: Matrix
    origin: Vector
    direction: Vector


class ClosedForm:
    """The formulas over one tree of revolute and prismatic joints."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.like = tree.like

    @cached_property
    def places(self) -> list[LinkInSpace]:
        """Axes and origins of all links in the fixed frame."""
        found = [LinkInSpace(identity(self.like), zero_vector(self.like), zero_vector(self.like))]
        for link in self.tree.links[1:]:
            assert link.joint is not None and link.origin is not None
            parent = found[link.parent]
            before = product(parent.axes, link.origin.rotation)
            direction = transpose(before)[link.joint.axis]
            origin = plus(parent.origin, apply(parent.axes, link.origin.position))
            if link.joint.kind is JointKind.PRISMATIC:
                found.append(LinkInSpace(before, plus(origin, times(link.joint.displacement, direction)), direction))
            else:
                found.append(LinkInSpace(product(before, _rotation(link.joint)), origin, direction))
        return found

    # terms of the formulas

    def dot(self, a: Vector, b: Vector) -> Scalar:
        """The dot product."""
        return dot(a, b)

    def cross(self, a: Vector, b: Vector) -> Vector:
        """The cross product."""
        return cross(a, b)

    def mass(self, link: int) -> Scalar:
        """The mass of a link."""
        return self.tree.links[link].moments.mass

    @property
    def weight(self) -> Vector:
        """G: the force of gravity on a unit mass."""
        return self.tree.gravity

    def path(self, link: int) -> list[int]:
        """The joints from the fixed frame to a link."""
        found: list[int] = []
        while link > 0:
            found.append(link)
            link = self.tree.links[link].parent
        return found[::-1]

    def turns(self, joint: int) -> bool:
        """Is a joint revolute?"""
        kind = self.tree.links[joint].joint
        return kind is not None and kind.kind is JointKind.REVOLUTE

    def arm(self, link: int, joint: int) -> Vector:
        """r_ji: from a joint to the center of mass of a link beyond it."""
        return minus(self.center(link), self.places[joint].origin)

    def velocity(self, joint: int, link: int) -> Vector:
        """The velocity of a center of mass for a unit rate of one joint: e x r, or e for a prismatic joint."""
        direction = self.places[joint].direction
        return self.cross(direction, self.arm(link, joint)) if self.turns(joint) else direction

    def center(self, link: int) -> Vector:
        """The center of mass of a link; its origin if it has no mass."""
        moments, place = self.tree.links[link].moments, self.places[link]
        if moments.mass.is_zero:
            return place.origin
        return plus(place.origin, apply(place.axes, times(moments.mass.reciprocal(), moments.first)))

    def inertia_products(self, link: int, left: Vector, right: Vector) -> Scalar:
        """sum (left . q_m) J_mn (right . q_n) over the link's axes q."""
        tensor = self.central_inertia(link)
        axes = transpose(self.places[link].axes)
        own = [self.dot(left, axis) for axis in axes], [self.dot(right, axis) for axis in axes]
        entries = [own[0][m] * own[1][n] * tensor.entry(m, n) for m in range(3) for n in range(3)]
        return sum(entries, self.like.number(0))

    def central_inertia(self, link: int) -> Symmetric:
        """J = tr(S) 1 - S with the second moment S about the center of mass."""
        mass, first, second = self.tree.links[link].moments
        if not mass.is_zero:
            second = second.plus(scaled(-mass.reciprocal(), outer_square(first)))
        return Symmetric(second.yy + second.zz, second.xx + second.zz, second.xx + second.yy, *(-s for s in second[3:]))

    # the formulas

    def inertia(self, wanted: frozenset[Column]) -> dict[tuple[Column, Column], Scalar]:
        """H_ik = sum_j m_j (e_i x r_ji) . (e_k x r_jk) + e_i . J_j e_k."""
        total: dict[tuple[Column, Column], Scalar] = {}
        for link in self._massive():
            mass, joints = self.mass(link), self._wanted(link, wanted)
            speeds = {joint: self.velocity(joint, link) for joint in joints}
            for i in joints:
                for k in joints:
                    value = mass * self.dot(speeds[i], speeds[k])
                    if self.turns(i) and self.turns(k):
                        value += self.inertia_products(link, self.places[i].direction, self.places[k].direction)
                    key = Column(i, 0), Column(k, 0)
                    total[key] = total.get(key, self.like.number(0)) + value
        return total

    def christoffel(self, wanted: frozenset[Column]) -> dict[Key, Scalar]:
        """C^i_kl for k at or beyond l, and C^i_lk = C^i_kl."""
        total: dict[Key, Scalar] = {}
        for link in self._massive():
            joints = self._wanted(link, wanted)
            for place, k in enumerate(joints):
                for h in joints[: place + 1]:
                    for i in joints:
                        value = self._of_link(link, i, k, h)
                        for key in {(i, k, h), (i, h, k)}:
                            full = Column(key[0], 0), Column(key[1], 0), Column(key[2], 0)
                            total[full] = total.get(full, self.like.number(0)) + value
        return {key: value for key, value in total.items() if not value.is_zero}

    def _of_link(self, link: int, i: int, k: int, h: int) -> Scalar:
        """m (e_i x r_i) . (e_h x (e_k x r_k)) plus half of the three terms of the inertia."""
        value = self.like.number(0)
        if not self.turns(h):
            return value
        e = {joint: self.places[joint].direction for joint in (i, k, h)}
        value += self.mass(link) * self.dot(self.velocity(i, link), self.cross(e[h], self.velocity(k, link)))
        if self.turns(i) and self.turns(k):
            for one, left, right in ((i, h, k), (k, i, h), (h, i, k)):
                value += Fraction(1, 2) * self.inertia_products(link, e[one], self.cross(e[left], e[right]))
        return value

    def gravity(self) -> list[tuple[Scalar, ...]]:
        """- sum_j (e_i x r_ji) . m_j g, for every joint."""
        total = [self.like.number(0)] * len(self.tree.links)
        for link in self._massive():
            for joint in self.path(link):
                total[joint] -= self.mass(link) * self.dot(self.velocity(joint, link), self.weight)
        return [(), *((value,) for value in total[1:])]

    def _massive(self) -> list[int]:
        return [index for index, link in enumerate(self.tree.links) if index and not link.moments.is_zero]

    def _wanted(self, link: int, wanted: frozenset[Column]) -> list[int]:
        return [joint for joint in self.path(link) if Column(joint, 0) in wanted]


def _rotation(joint: Joint) -> Matrix:
    """The rotation matrix of a revolute joint."""
    if joint.kind is not JointKind.REVOLUTE:
        raise DerivationError(
            "the closed formulas support only revolute and prismatic joints; use another plan for ball joints"
        )
    sine, cosine = joint.displacement.sin(), joint.displacement.cos()
    columns = [turn_vector(joint.axis, sine, cosine, unit_vector(sine, axis)) for axis in range(3)]
    return transpose((columns[0], columns[1], columns[2]))
