"""The graph of bodies and joints: lower pairs of the records, spanning trees, cut joints, loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.expressions import TIME, Name, expressions, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
    amounts,
    inverse,
)

# The joint of a record: `Sx(l), Rz(q), Rx(a)` is a revolute joint about z between the frame after `Sx(l)`, on the
# base, and the frame before `Rx(a)`, on the body. It can be cut if its coordinates occur nowhere else.


@dataclass(frozen=True, slots=True)
class LowerPair:
    """The joint of a body on its base, between a frame of the base and a frame of the body, with its coordinates."""

    joint: Joint
    first: Frame
    second: Frame
    coordinates: tuple[str, ...]


def lower_pairs(mechanism: Mechanism) -> dict[str, LowerPair]:
    """The joints, by body, whose coordinates occur nowhere else in the mechanism."""
    owners = _owners(mechanism)
    roots = expressions(_users_of_coordinates(mechanism))
    uses = Counter(name for root in roots for name in {owners[used] for used in names(root) & owners.keys()})
    found = {}
    for body in mechanism.bodies:
        pair = lower_pair(body, mechanism)
        if pair is not None and all(uses[name] == 1 for name in _own(pair, owners)):
            found[body.name] = pair
    return found


def _own(pair: LowerPair, owners: Mapping[str, str]) -> set[str]:
    return {owners[name] for name in pair.coordinates}


def _users_of_coordinates(mechanism: Mechanism) -> tuple[object, ...]:
    """All parts of a mechanism that may use a coordinate."""
    transforms = tuple(amounts(one)[0] for body in mechanism.bodies for one in body.transforms)
    coupled = tuple(Name(end) for one in mechanism.loops for end in (one.first, one.second) if isinstance(end, str))
    laws = (mechanism.elements, mechanism.constraints, mechanism.contacts)
    return transforms, coupled, laws, mechanism.quasivelocities, mechanism.definitions


def _owners(mechanism: Mechanism) -> dict[str, str]:
    """The coordinate of each position and velocity; the first component for a quaternion."""
    found: dict[str, str] = {}
    for one in mechanism.coordinates:
        if isinstance(one, Coordinate):
            found |= {one.name: one.name, one.name + "'": one.name}
        else:
            found |= dict.fromkeys((*one.names, *one.velocities), one.names[0])
    return found


def lower_pair(body: Body, mechanism: Mechanism) -> LowerPair | None:
    """The joint of a body's record; None if it is not a lower pair."""
    moving = [place for place, one in enumerate(body.transforms) if _moves(one, mechanism)]
    if not moving:
        return LowerPair(Joint(JointType.FIXED), Frame(body.base, body.transforms), Frame(body.name), ())
    start, stop = moving[0], moving[-1] + 1
    middle = body.transforms[start:stop]
    joint = _joint(middle)
    coordinates = _coordinates(middle, mechanism)
    if joint is None or coordinates is None:
        return None
    first = Frame(body.base, body.transforms[:start])
    return LowerPair(joint, first, Frame(body.name, inverse(body.transforms[stop:])), coordinates)


def _moves(transform: Transform, mechanism: Mechanism) -> bool:
    still = {parameter.name for parameter in mechanism.parameters}
    return any(names(amount) - still - {"pi"} for amount in amounts(transform))


def _coordinates(transforms: Sequence[Transform], mechanism: Mechanism) -> tuple[str, ...] | None:
    """The coordinates if each transform has its own coordinate (or a quaternion); None otherwise."""
    found: list[str] = []
    for transform in transforms:
        used = tuple(part.text for part in amounts(transform) if isinstance(part, Name))
        single_names = len(used) == len(amounts(transform)) and TIME not in used
        if not single_names or (isinstance(transform, Quaternion) and not _is_quaternion(used, mechanism)):
            return None
        found.extend(used)
    return tuple(found) if len(set(found)) == len(found) else None


def _is_quaternion(names_used: tuple[str, ...], mechanism: Mechanism) -> bool:
    return any(isinstance(c, QuaternionCoordinates) and c.names == names_used for c in mechanism.coordinates)


def _joint(moving: Sequence[Transform]) -> Joint | None:
    """The joint with this pattern of rotations and shifts."""
    turns = [one.axis for one in moving if isinstance(one, Rotation)]
    shifts = [one.axis for one in moving if isinstance(one, Shift)]
    match (len(turns), len(shifts), len(moving)):
        case (1, 0, 1):
            return Joint(JointType.REVOLUTE, (turns[0],))
        case (0, 1, 1):
            return Joint(JointType.PRISMATIC, (shifts[0],))
        case (0, 0, 1):
            return Joint(JointType.SPHERICAL)
        case (1, 1, 2) if turns == shifts:
            return Joint(JointType.CYLINDRICAL, (turns[0],))
        case (2, 0, 2) if turns[0] is not turns[1]:
            return Joint(JointType.UNIVERSAL, (turns[0], turns[1]))
        case (1, 2, 3) if {*turns, *shifts} == set(Axis) and isinstance(moving[2], Rotation):
            return Joint(JointType.PLANAR, (turns[0],))
    return None


# Bodies and joints as a graph. Each record adds one joint, of the body on its base; loops add further joints. The
# records are a spanning tree, but rarely the best: a chain that returns to the ground is better cut in its middle. The
# tree with the shortest chains from the fixed frame is a candidate; a model may name the joints to cut. A joint has
# the name of its body, or of its loop.

#: The fixed frame, the root of every tree.
GROUND = None

Vertex = str | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint between two bodies. loop: it is the joint of a loop, not of a record.

    may_stand: it can be part of a tree. stays: it is cut only if the model requests it, or no other joint can be cut.
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

    The chains are bodies from the ancestor outwards, without the ancestor; the first ends at the joint's first body.
    """

    joint: str
    ancestor: Vertex
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def bodies(self) -> tuple[Vertex, ...]:
        """The bodies around the loop, beginning with the ancestor."""
        return (self.ancestor, *self.first, *reversed(self.second))


@dataclass(frozen=True)
class SpanningTree:
    """The joint of each body toward the fixed frame, and the cut joints."""

    inward: Mapping[str, Edge]  # by body, parents first
    cut: tuple[Edge, ...]

    def parent(self, body: str) -> Vertex:
        """The parent of a body in this tree (None: the fixed frame)."""
        return self.inward[body].other(body)

    def is_end(self, body: Vertex) -> bool:
        """Whether a body is a leaf of the tree."""
        return body is not GROUND and all(self.parent(other) != body for other in self.inward)

    def path(self, body: Vertex) -> tuple[str, ...]:
        """The bodies from the fixed frame (excluded) to a body."""
        found: list[str] = []
        while body is not GROUND:
            found.append(body)
            body = self.parent(body)
        return tuple(reversed(found))

    @cached_property
    def loops(self) -> tuple[Chains, ...]:
        """One loop for each cut joint; together they are a cycle basis."""
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
        """Groups of cut joints whose loops share a joint, so that they must be solved together."""
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
    """All joints; those of the records come first."""
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
    """The joints of loops. Joints of massless bodies are cut last, because a cut would leave such a body free."""
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
    """The tree with the shortest chains that does not contain the joints the model cuts.

    A joint that may not be cut is always part of it. For equally long chains, joints of records come first.
    """
    return shortest_tree(edges(mechanism), {cut.joint for cut in mechanism.cuts})


def tree_of_records(mechanism: Mechanism) -> SpanningTree:
    """The tree of the records: each loop is cut at its own joint."""
    every = edges(mechanism)
    inward = {edge.joint: edge for edge in every if not edge.loop}
    ordered = {body: inward[body] for body in _outwards(inward)}
    return SpanningTree(ordered, tuple(edge for edge in every if edge.loop))


def shortest_tree(every: Sequence[Edge], wanted: Collection[str] = ()) -> SpanningTree:
    """The tree of these joints without those in `wanted`: grown from the fixed frame, nearest bodies first."""
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
            # Joints that stay have distance zero, so both their bodies enter the tree together.
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
    """Bodies, parents first; otherwise in the order of the model."""
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
    """The joints the model cuts, if they differ from the joints of its loops."""
    loops = {loop.name for loop in mechanism.loops}
    if all(cut.joint in loops for cut in mechanism.cuts):
        return ()
    return tuple(edge.joint for edge in spanning_tree(mechanism).cut)
