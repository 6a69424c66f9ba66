"""A revolute joint's origin may lie anywhere on its axis: shifting it there moves lengths from one link to the next."""

from __future__ import annotations

from dataclasses import replace

from kinegraph.derive.choices import OriginShift
from kinegraph.derive.tree.algebra import dot, minus, plus, times, transpose, unit_vector
from kinegraph.derive.tree.links import JointKind, Tree
from kinegraph.graph.scalar import Scalar


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
    """Move one link's origin by `distance` along its axis; all that is placed on the link moves back by as much."""
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
