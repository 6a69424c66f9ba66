"""Bodies and joints as a graph: the spanning tree, the joints that are cut, the loops they close.

Every body has one joint on its base, from its record; loops add joints between bodies that are connected already. The
records alone are a spanning tree, but seldom the best one: a chain that comes back to the ground is better cut in its
middle. So the tree is chosen here, with the shortest chains from the fixed frame to every body, unless the model names
the joints to cut. Joints are called by the body whose record states them, or by the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.lower_pairs import LowerPair, lower_pairs
from kinegraph.model.constraints.records import Loop
from kinegraph.model.mechanism import ZERO, Body, Mechanism

#: The fixed frame, where every tree begins.
GROUND = None

Vertex = str | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint between two bodies. `loop` says that no record states it.

    may_stand: it can be part of a tree. stays: it is not cut unless the model asks for it, or no other can be.
    """

    joint: str
    first: Vertex
    second: Vertex
    loop: bool
    may_be_cut: bool
    may_stand: bool
    stays: bool

    def other(self, end: Vertex) -> Vertex:
        """The body at the other end."""
        return self.second if end == self.first else self.first


@dataclass(frozen=True)
class Chains:
    """A loop: two chains that begin at a common ancestor and meet at the cut joint.

    The chains are bodies, outwards from the ancestor, without it; the first ends at the joint's first body.
    """

    joint: str
    ancestor: Vertex
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def bodies(self) -> tuple[Vertex, ...]:
        """The bodies around the loop, from the ancestor out and back."""
        return (self.ancestor, *self.first, *reversed(self.second))


@dataclass(frozen=True)
class SpanningTree:
    """Every body's joint towards the fixed frame, and the joints that are left over."""

    inward: Mapping[str, Edge]  # by body, parents first
    cut: tuple[Edge, ...]

    def parent(self, body: str) -> Vertex:
        """The body (None: the fixed frame) that a body stands on in this tree."""
        return self.inward[body].other(body)

    def is_end(self, body: Vertex) -> bool:
        """Whether nothing stands on a body."""
        return body is not GROUND and all(self.parent(other) != body for other in self.inward)

    def path(self, body: Vertex) -> tuple[str, ...]:
        """The bodies from the fixed frame, which is left out, to a body."""
        found: list[str] = []
        while body is not GROUND:
            found.append(body)
            body = self.parent(body)
        return tuple(reversed(found))

    @cached_property
    def loops(self) -> tuple[Chains, ...]:
        """One loop for every cut joint; together they are a basis of all cycles."""
        return tuple(self._chains(edge) for edge in self.cut)

    def _chains(self, edge: Edge) -> Chains:
        first, second = self.path(edge.first), self.path(edge.second)
        common = 0
        while common < min(len(first), len(second)) and first[common] == second[common]:
            common += 1
        ancestor = first[common - 1] if common else GROUND
        return Chains(edge.joint, ancestor, first[common:], second[common:])

    @cached_property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Cut joints whose loops share a joint, and so must be solved together."""
        members = {chains.joint: {*chains.first, *chains.second} for chains in self.loops}
        groups: list[tuple[list[str], set[str]]] = []
        for joint, bodies in members.items():
            joined, own = [joint], set(bodies)
            for group in [group for group in groups if group[1] & own]:
                joined, own = [*group[0], *joined], own | group[1]
                groups.remove(group)
            groups.append((joined, own))
        return tuple(tuple(joints) for joints, _ in groups)


def edges(mechanism: Mechanism) -> tuple[Edge, ...]:
    """All joints, those of the records first."""
    pairs = lower_pairs(mechanism) if mechanism.loops else {}
    light: set[Vertex] = {body.name for body in mechanism.bodies if is_massless(body)}
    return (*_record_edges(mechanism, pairs, light), *_loop_edges(mechanism, light))


def _record_edges(mechanism: Mechanism, pairs: Mapping[str, LowerPair], light: set[Vertex]) -> Iterator[Edge]:
    for body in mechanism.bodies:
        pair = pairs.get(body.name)
        may_be_cut = pair is not None and pair.joint.type is not JointType.FIXED
        stays = not may_be_cut or not light.isdisjoint({body.base, body.name})
        yield Edge(body.name, body.base, body.name, False, may_be_cut, may_stand=True, stays=stays)


def _loop_edges(mechanism: Mechanism, light: set[Vertex]) -> Iterator[Edge]:
    """A body without mass at a cut would be free: its joints are cut last."""
    for loop in mechanism.loops:
        if isinstance(loop, Loop):
            first, second, may_stand = loop.first.body, loop.second.body, loop.type.is_lower_pair
            stays = may_stand and not light.isdisjoint({first, second})
            yield Edge(loop.name, first, second, True, may_be_cut=True, may_stand=may_stand, stays=stays)


def is_massless(body: Body) -> bool:
    """Whether a body has neither mass nor moments of inertia."""
    inertia = body.inertia
    return all(item == ZERO for item in (inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz))


def spanning_tree(mechanism: Mechanism) -> SpanningTree:
    """The tree with the shortest chains among those that leave out the joints the model wants cut.

    A joint that may not be cut is always part of it. Where chains are equally long, joints of records come first.
    """
    return shortest_tree(edges(mechanism), {cut.joint for cut in mechanism.cuts})


def tree_of_records(mechanism: Mechanism) -> SpanningTree:
    """The tree as the records state it: every loop is cut at its own joint."""
    every = edges(mechanism)
    inward = {edge.joint: edge for edge in every if not edge.loop}
    ordered = {body: inward[body] for body in _outwards(inward)}
    return SpanningTree(ordered, tuple(edge for edge in every if edge.loop))


def shortest_tree(every: Sequence[Edge], wanted: Collection[str] = ()) -> SpanningTree:
    """The tree of these joints, without those that are to be cut: grown from the fixed frame, nearest bodies first."""
    around: dict[Vertex, list[tuple[int, Edge]]] = {}
    for number, edge in enumerate(every):
        if edge.may_stand and edge.joint not in wanted:
            for end in (edge.first, edge.second):
                around.setdefault(end, []).append((number, edge))
    inward: dict[str, Edge] = {}
    reached: set[Vertex] = {GROUND}
    waiting: list[tuple[int, int, int, Edge]] = []

    def reach(body: Vertex, depth: int) -> None:
        for number, edge in around.get(body, ()):
            # What stays goes first, at no distance: its two bodies enter the tree together.
            far = 0 if edge.stays else depth + 1
            heappush(waiting, (far, depth + 1, number, edge))

    reach(GROUND, 0)
    while waiting:
        _, depth, _, edge = heappop(waiting)
        new = edge.second if edge.first in reached else edge.first
        if new in reached:
            continue
        assert new is not None
        reached.add(new)
        inward[new] = edge
        reach(new, depth)
    standing = {edge.joint for edge in inward.values()}
    left = tuple(edge for edge in every if edge.joint not in standing)
    return SpanningTree(inward, left)


def _outwards(inward: Mapping[str, Edge]) -> list[str]:
    """Bodies, parents first; otherwise in the order they are written."""
    done: dict[str, None] = {}
    for body in inward:
        path: list[str] = []
        here: Vertex = body
        while here is not None and here not in done:
            path.append(here)
            here = inward[here].other(here)
        done |= dict.fromkeys(reversed(path))
    return list(done)


def wanted_cut(mechanism: Mechanism) -> tuple[str, ...]:
    """The joints the model wants cut, if they are others than those that close its loops."""
    loops = {loop.name for loop in mechanism.loops}
    if all(cut.joint in loops for cut in mechanism.cuts):
        return ()
    return tuple(edge.joint for edge in spanning_tree(mechanism).cut)
