"""Planar loops as a row of bars from the ground to the ground, in the order one walks around.

A bar turns by its absolute angle; what is kept of it is its mass, its first moment and its moment of inertia about the
point where one enters it, and the way to the point where one leaves it. All vectors are in the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kinegraph.derive.tree.algebra import FOLLOWING, Vector, apply, congruence
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.frame_assignment import LinkFrame, arrange
from kinegraph.derive.tree.links import JointKind, Placement, Tree, first_frame, second_frame
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.joint_types import Rotation, Translation
from kinegraph.model.constraints.records import Loop
from kinegraph.model.mechanism import Mechanism

Plane: TypeAlias = tuple[Scalar, Scalar]


@dataclass(frozen=True)
class Bar:
    """One link. Its own velocity turns it, `sign` says which way, against `parent`: the link it stands on, or the
    ground (0) where coordinates are absolute angles."""

    link: int
    parent: int
    velocity: int
    sign: int
    sine: Scalar
    cosine: Scalar
    rate: Scalar
    mass: Scalar
    first: Plane
    inertia: Scalar
    way: Plane

    def reversed(self) -> Bar:
        """The same bar, walked from its other end."""
        (hx, hy), (lx, ly) = self.first, self.way
        inertia = self.inertia - 2 * (lx * hx + ly * hy) + self.mass * (lx * lx + ly * ly)
        first = hx - self.mass * lx, hy - self.mass * ly
        return Bar(
            self.link, self.parent, self.velocity, self.sign, self.sine, self.cosine, self.rate,
            self.mass, first, inertia, (-lx, -ly),
        )  # fmt: skip


@dataclass(frozen=True)
class Ring:
    """The bars in the order of the walk; `closing` is how many come before the joint that closes the loop.

    `gravity` lies in the plane; `rows` are the directions of the plane among the axes.
    """

    bars: tuple[Bar, ...]
    closing: int
    gravity: Plane
    rows: tuple[int, int]


def planar_ring(mechanism: Mechanism, tree: Tree, motion: Motion) -> Ring | None:
    """The mechanism as a ring of bars; None if it is anything else."""
    axis = _common_axis(tree)
    loop = _only_loop(mechanism)
    if axis is None or loop is None or tree.armature:
        return None
    ends = tree.bodies[first_frame(loop)], tree.bodies[second_frame(loop)]
    chains = [_chain(tree, end.link) for end in ends]
    if sorted(chains[0] + chains[1]) != list(range(1, len(tree.links))):
        return None
    walk = _Walk(tree, motion, axis)
    halves = [walk.bars(chain, end) for chain, end in zip(chains, ends, strict=True)]
    if halves[0] is None or halves[1] is None:
        return None
    back = [bar.reversed() for bar in reversed(halves[1])]
    return Ring((*halves[0], *back), len(halves[0]), walk.plane(tree.gravity), FOLLOWING[axis])


def _only_loop(mechanism: Mechanism) -> Loop | None:
    """The one loop, if it is closed by a joint that leaves only rotation in the plane."""
    if len(mechanism.loops) != 1 or mechanism.constraints or mechanism.contacts:
        return None
    if not isinstance(mechanism.loops[0], Loop):
        return None
    loop = mechanism.loops[0]
    fixes = loop.type.fixes
    revolute = fixes.rotation in (Rotation.FREE, Rotation.ACROSS)
    return loop if fixes.translation is Translation.ALL and revolute else None


def _common_axis(tree: Tree) -> int | None:
    """The axis all joints turn about."""
    if any(link.joint is None or link.joint.kind is not JointKind.REVOLUTE for link in tree.links[1:]):
        return None
    frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames[1:]
    axes = {frame.axis for frame in frames}
    return axes.pop() if len(axes) == 1 and not any(frame.turns for frame in frames) else None


def _chain(tree: Tree, link: int) -> list[int]:
    """The links from the ground to a link."""
    found = []
    while link:
        found.append(link)
        link = tree.links[link].parent
    return found[::-1]


class _Walk:
    """Makes bars of the links of a chain."""

    def __init__(self, tree: Tree, motion: Motion, axis: int) -> None:
        self.tree, self.motion, self.axis = tree, motion, axis
        self.frames = arrange(tree, frozenset(range(len(tree.links)))).link_frames

    def bars(self, chain: Sequence[int], end: Placement) -> list[Bar] | None:
        """The bars of a chain, the last one ending at `end`; None if one is not turned by one velocity of its own."""
        found: list[Bar] = []
        absolute: dict[int, Scalar] = {}
        for place, link in enumerate(chain):
            relative = self._turned_by(link)
            if relative is None:
                return None
            absolute = _added(absolute, relative)
            own = _single(relative) or _single(absolute)
            if own is None:
                return None
            parent = self.tree.links[link].parent if _single(relative) else 0
            rate = sum((self.motion.velocities[k] * factor for k, factor in absolute.items()), self.tree.like.number(0))
            following = self.tree.links[chain[place + 1]].origin if place + 1 < len(chain) else end
            assert following is not None
            found.append(self._bar((link, parent, *own), rate, following.position))
        return found

    def _turned_by(self, link: int) -> dict[int, Scalar] | None:
        """How velocities turn a link against the one it stands on, about the common axis; None if they do not alone."""
        columns, rates = self.motion.columns[link][0], self.motion.rates[link]
        joint_axis = self.frames[link].joint_axis
        assert joint_axis is not None
        whole = sum((factor * self.motion.velocities[k] for k, factor in columns.items()), self.tree.like.number(0))
        if whole != rates.velocity[0] or not rates.acceleration[0].is_zero:
            return None
        return {k: factor * joint_axis[self.axis] for k, factor in columns.items()}

    def _bar(self, moved: tuple[int, int, int, int], rate: Scalar, way: Vector) -> Bar:
        link = moved[0]
        frame, moments = self.frames[link], self.tree.links[link].moments
        second = congruence(frame.matrix, moments.second)
        u, v = FOLLOWING[self.axis]
        assert frame.angle is not None
        return Bar(
            *moved, frame.angle.sin(), frame.angle.cos(), rate,
            moments.mass, self._still(frame, moments.first), second[u] + second[v], self._still(frame, way),
        )  # fmt: skip

    def _still(self, frame: LinkFrame, a: Vector) -> Plane:
        """A vector fixed in a link, in the axes that its angle turns."""
        return self.plane(apply(frame.matrix, a))

    def plane(self, a: Vector) -> Plane:
        """The part of a vector in the plane."""
        u, v = FOLLOWING[self.axis]
        return a[u], a[v]


def _added(first: dict[int, Scalar], second: dict[int, Scalar]) -> dict[int, Scalar]:
    """The sum of two linear forms, without what cancels."""
    total = dict(first)
    for key, factor in second.items():
        total[key] = total[key] + factor if key in total else factor
    return {key: factor for key, factor in total.items() if not factor.is_zero}


def _single(form: dict[int, Scalar]) -> tuple[int, int] | None:
    """The one velocity of a form and its sign, if it is just plus or minus that."""
    if len(form) != 1:
        return None
    ((key, factor),) = form.items()
    return (key, int(factor.value)) if factor.value in (1, -1) else None
