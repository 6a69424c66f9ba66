"""A leg as a chain of joints with one degree of freedom, read from the tree of a mechanism (section 3)."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.platforms.legs.constants import part_of
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.links import JointKind, Link, Tree, first_frame, rotation_matrix, second_frame
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Axis
from kinegraph.model.platforms.recognise import FoundLeg
from kinegraph.model.state_layout import force_on
from kinegraph.reproduce.docking.arrays import Array, array


@dataclass(frozen=True)
class Segment:
    """Body j and its joint: `turn` are its axes in those of body j-1 (beta_j transposed), `arm` is r_{j-1,j} there.

    `axis` is that of the joint; `first` is c = m d and `inertia` the tensor about the body's origin, in body axes. A
    body that only splits a joint has no mass. `force` is the active force or moment in the joint.
    """

    turn: Array
    arm: Array
    axis: Array
    prismatic: bool
    mass: Scalar
    first: Array
    inertia: Array
    rate: Scalar
    force: Scalar


@dataclass(frozen=True)
class Chain:
    """Leg k: its segments from the base; the cut joint on its last body and on the ring, with axes y and z if it is
    universal; `names` are those of its coordinates, in this order."""

    segments: tuple[Segment, ...]
    end: Array
    ring: Array
    axis_on_leg: Array | None
    axis_on_ring: Array | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Ring:
    """The ring: its pose and velocities, its inertia, what acts on it from outside (force at its centre in fixed axes,
    moment in its own)."""

    motion: FreeMotion
    rotation: Array
    spin: Array
    mass: Scalar
    inertia: Array
    force: Array
    moment: Array


def chain_of(leg: FoundLeg, tree: Tree, names: Names) -> Chain:
    """The chain of a leg; forces in joints are the symbols that `tau` has."""
    end, ring = tree.bodies[first_frame(leg.loop)], tree.bodies[second_frame(leg.loop)]
    path = [end.link]
    while tree.links[path[-1]].parent:
        path.append(tree.links[path[-1]].parent)
    used = [tree.links[index] for index in reversed(path)]
    coordinates = {names[name].index: name for name in leg.coordinates}
    own = [_name(link, coordinates) for link in used]
    on_leg, on_ring = leg.loop.joint.axes or (Axis.X, Axis.Y)
    universal = leg.type.universal_at_ring
    return Chain(
        tuple(_segment(link, name, names) for link, name in zip(used, own, strict=True)),
        array(end.position),
        array(ring.position),
        array(end.rotation)[:, on_leg.value] if universal else None,
        array(ring.rotation)[:, on_ring.value] if universal else None,
        tuple(own),
    )


def _name(link: Link, coordinates: dict[int, str]) -> str:
    assert link.joint is not None
    return coordinates[link.joint.displacement.index]


def _segment(link: Link, name: str, names: Names) -> Segment:
    joint, origin = link.joint, link.origin
    assert joint is not None and origin is not None
    part, prismatic = part_of(link.moments), joint.kind is JointKind.PRISMATIC
    base, place = array(origin.rotation), array(origin.position)
    axis = array([joint.displacement.number(int(i == joint.axis)) for i in range(3)])
    if prismatic:
        place = place + base @ (axis * joint.displacement)
    else:
        base = base @ array(rotation_matrix(joint.axis, joint.displacement))
    inertia = array([part.inertia.column(i) for i in range(3)])
    rate, force = names[f"{name}'"], names[force_on(name)]
    return Segment(base, place, axis, prismatic, part.mass, array(part.first), inertia, rate, force)
