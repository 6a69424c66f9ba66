"""Which joints of a model carry its links, and which close its loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kinegraph.io.sdf.frames import WORLD, Frames
from kinegraph.io.sdf.joints import JointReader, SdfJoint
from kinegraph.io.sdf.mimic import follows_or_leads
from kinegraph.model.constraints.topology import GROUND, Edge, SpanningTree, Vertex, shortest_tree

#: Before the name of a link: the joint with six degrees of freedom of one that nothing ties to the world.
FREE = "::free::"


def link_tree(frames: Frames, joints: Collection[SdfJoint], reader: JointReader) -> SpanningTree:
    """The tree with the shortest chains; joints with springs, friction or limits carry links where they can."""
    edges = [_edge(joint, reader, follows_or_leads(joint, joints)) for joint in joints]
    free = [
        Edge(FREE + link, GROUND, link, False, False, may_stand=True, stays=True) for link in _roots(frames, joints)
    ]
    return shortest_tree([*free, *edges])


def _edge(joint: SdfJoint, reader: JointReader, related: bool) -> Edge:
    may_close = reader.can_close(joint)
    stays = not may_close or related or any(_says_more(joint))
    return Edge(joint.name, _vertex(joint.parent), _vertex(joint.child), False, may_close, may_stand=True, stays=stays)


def _says_more(joint: SdfJoint) -> Iterator[bool]:
    for tag in joint.kind.axes:
        axis = joint.element.first(tag)
        yield axis is not None and axis.first("dynamics") is not None


def _vertex(link: str) -> Vertex:
    return GROUND if link == WORLD else link


def _roots(frames: Frames, joints: Collection[SdfJoint]) -> list[str]:
    """A link of every part of the model that no joint ties to the world: one that is no child, if there is one."""
    around: dict[str, list[str]] = {link: [] for link in (WORLD, *frames.links)}
    for joint in joints:
        around[joint.parent].append(joint.child)
        around[joint.child].append(joint.parent)
    children = {joint.child for joint in joints}
    reached: set[str] = set()
    found: list[str] = []
    for link in (WORLD, *sorted(frames.links, key=lambda one: one in children)):
        if link not in reached:
            found.append(link)
            _reach(link, around, reached)
    return found[1:]


def _reach(start: str, around: dict[str, list[str]], reached: set[str]) -> None:
    pending = [start]
    while pending:
        here = pending.pop()
        if here not in reached:
            reached.add(here)
            pending.extend(around[here])
