"""A planar linkage with its loops cut at other pins: bodies that stood on others may carry them now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kinegraph.derive.constraints.cuts.absolute import AbsoluteAngles, absolute_angles
from kinegraph.derive.constraints.cuts.plane import NotPlanar, PlanarLinkage, planar_linkage
from kinegraph.errors import DerivationError
from kinegraph.graph.node import Graph
from kinegraph.model.changes.rewrite import rewritten
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.lower_pairs import inverse
from kinegraph.model.constraints.records import AnyLoop, Frame, Joint, Loop
from kinegraph.model.constraints.topology import Edge, SpanningTree, shortest_tree, wanted_cut
from kinegraph.model.expression import Defined, Expression, Name
from kinegraph.model.mechanism import Body, Mechanism, Rotation, Transform

#: So many other cuts are looked at, those with the shortest chains first.
MOST_CUTS = 6
#: Sets of cuts that are compared by their chains.
_MOST_SETS = 300


@dataclass(frozen=True)
class Recut:
    """`mechanism` moves as `stated` does wherever its loops are closed."""

    stated: Mechanism
    mechanism: Mechanism
    angles: AbsoluteAngles

    def in_stated_coordinates(self, graph: Graph) -> Graph:
        """Accelerations of the mechanism as those the model asks for."""
        return self.angles.in_stated_coordinates(graph, self.stated, self.mechanism)


def recut(mechanism: Mechanism, cut: Sequence[str]) -> Recut:
    """The mechanism with its loops cut at these joints; DerivationError if they cannot be."""
    try:
        linkage = planar_linkage(mechanism)
        tree = _tree(linkage, cut)
        return Recut(mechanism, *_recut(linkage, tree))
    except NotPlanar:
        raise DerivationError(
            f"{mechanism.name}: the cut at {', '.join(cut)} is not derived yet\n  loops of bodies that all turn about "
            "one axis are cut at any pin, all others at the joints that close them: name those, or none"
        ) from None


def _tree(linkage: PlanarLinkage, cut: Sequence[str]) -> SpanningTree:
    edges = linkage.edges()
    wrong = [edge for edge in edges if edge.joint in cut and not edge.may_be_cut]
    tree = shortest_tree(edges, cut)
    whole = len(tree.inward) == len(linkage.mechanism.bodies)
    if wrong or not whole or {edge.joint for edge in tree.cut} != set(cut):
        raise NotPlanar
    return tree


def _recut(linkage: PlanarLinkage, tree: SpanningTree) -> tuple[Mechanism, AbsoluteAngles]:
    mechanism, angles = linkage.mechanism, absolute_angles(linkage)
    other = replace(
        mechanism,
        bodies=tuple(_body(linkage, tree, body) for body in mechanism.bodies),
        loops=tuple(_loop(linkage, edge) for edge in tree.cut),
        cuts=(),
    )

    def change(name: Name | Defined) -> Expression:
        meaning = angles.meaning(name.text) if isinstance(name, Name) else None
        return name if meaning is None else meaning

    other = rewritten(other, change)
    return replace(other, coordinates=angles.coordinates), angles


def _body(linkage: PlanarLinkage, tree: SpanningTree, body: Body) -> Body:
    """A body's record on the body it stands on now."""
    edge = tree.inward[body.name]
    base = tree.parent(body.name)
    if edge.loop:
        return replace(body, base=base, transforms=_across(linkage, edge, body.name))
    child = linkage.mechanism.body_by_name[edge.joint]
    return body if child is body else replace(body, base=base, transforms=inverse(child.transforms))


def _across(linkage: PlanarLinkage, edge: Edge, onto: str) -> tuple[Transform, ...]:
    """From the body at one end of a loop's pin to the body at the other."""
    loop = next(one for one in linkage.mechanism.loops if one.name == edge.joint)
    assert isinstance(loop, Loop)
    here, there = (loop.first, loop.second) if loop.second.body == onto else (loop.second, loop.first)
    turn = Rotation(linkage.axis, linkage.angle(there) - linkage.angle(here))
    return (*here.transforms, turn, *inverse(there.transforms))


def _loop(linkage: PlanarLinkage, edge: Edge) -> AnyLoop:
    """The joint of a record that is cut, as a loop."""
    if edge.loop:
        return next(one for one in linkage.mechanism.loops if one.name == edge.joint)
    body = linkage.mechanism.body_by_name[edge.joint]
    pin = linkage.pin(body)
    assert pin is not None
    first, second = body.transforms[: pin[0]], inverse(body.transforms[pin[1] :])
    joint = Joint(JointType.REVOLUTE, (linkage.axis,))
    return Loop(f"pin of {body.name}", joint, Frame(body.base, first), Frame(body.name, second))


@lru_cache(maxsize=32)
def refuse_cuts(mechanism: Mechanism) -> None:
    """DerivationError if the model wants cuts that are not derived."""
    cut = wanted_cut(mechanism)
    if cut:
        recut(mechanism, cut)


@lru_cache(maxsize=32)
def other_cuts(mechanism: Mechanism) -> tuple[tuple[str, ...], ...]:
    """Ways to cut the loops elsewhere whose chains are no longer than those of the model, the shortest first."""
    try:
        linkage = planar_linkage(mechanism)
        absolute_angles(linkage)
    except NotPlanar:
        return ()
    edges = linkage.edges()
    stated = frozenset(edge.joint for edge in edges if edge.loop)
    lengths = {cut: _length(shortest_tree(edges, cut)) for cut in _exchanged(edges, stated)}
    limit = lengths.pop(stated)
    found = sorted((cut for cut in lengths if lengths[cut] <= limit), key=lambda cut: (lengths[cut], sorted(cut)))
    return tuple(tuple(sorted(cut)) for cut in found[:MOST_CUTS])


def _length(tree: SpanningTree) -> int:
    """How many pairs of bodies stand on each other: entries of the inertia matrix that are not zero."""
    return sum(len(tree.path(body)) for body in tree.inward)


def _exchanged(edges: Sequence[Edge], stated: frozenset[str]) -> list[frozenset[str]]:
    """Sets of cuts, each one exchange from another: a joint that is cut stands, one of its loop is cut instead."""
    found = {stated: None}
    waiting = [stated]
    while waiting and len(found) < _MOST_SETS:
        here = waiting.pop(0)
        for new in _neighbours(edges, here):
            if new not in found:
                found[new] = None
                waiting.append(new)
    return list(found)


def _neighbours(edges: Sequence[Edge], cut: frozenset[str]) -> Iterator[frozenset[str]]:
    tree = shortest_tree(edges, cut)
    for edge, chains in zip(tree.cut, tree.loops, strict=True):
        if edge.may_stand:
            for body in (*chains.first, *chains.second):
                if tree.inward[body].may_be_cut:
                    yield cut - {edge.joint} | {tree.inward[body].joint}
