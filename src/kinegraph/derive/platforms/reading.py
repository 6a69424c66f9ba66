"""The numbers of a platform's legs and ring, read from the tree of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kinegraph.derive.platforms.legs.constants import (
    LegNumbers,
    Part,
    column,
    crank_and_rod,
    no_part,
    part_of,
    prismatic_parts,
    shifted,
)
from kinegraph.derive.platforms.vectors import joined
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    identity,
    minus,
    plus,
    product,
    times,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.inertia import MassMoments, no_mass
from kinegraph.derive.tree.links import Tree, rotation_matrix, second_frame, static_quaternion_matrix
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Quaternion, Rotation, Transform
from kinegraph.model.platforms.rails import Carriage
from kinegraph.model.platforms.recognise import FoundLeg, Platform


@dataclass(frozen=True)
class BaseJoint:
    """The frame of a leg's joint on the base, in the base's axes; time or rails may move it, not turn it.

    `rails` are the directions of the rails by the names of their coordinates; `acceleration` is that by time alone.
    """

    position: Vector
    rotation: Matrix
    velocity: Vector
    acceleration: Vector
    rails: Mapping[str, Vector] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        """Whether time or a rail moves it."""
        return any(not item.is_zero for item in (*self.velocity, *self.acceleration))


def base_joint(leg: FoundLeg, platform: Platform, tree: Tree, names: Names) -> BaseJoint:
    """Where a leg stands."""
    carriage = next((one for one in platform.carriages if one.body.name == leg.carrier), None)
    position, rotation = _shifted(carriage, tree, names)
    if leg.first.base is not None:
        place = tree.bodies[leg.first.base]
        position, rotation = plus(position, apply(rotation, place.position)), product(rotation, place.rotation)
    for transform in leg.at_base:
        position, rotation = _moved(position, rotation, transform, names)
    coordinates = carriage.coordinates if carriage else ()
    rails = {name: _by(position, Kind.COORDINATE, name) for name in coordinates}
    by_time = _by_time(position)
    velocity = by_time
    for name, axis in rails.items():
        velocity = plus(velocity, times(names[f"{name}'"], axis))
    return BaseJoint(position, rotation, velocity, _by_time(by_time), rails)


def _shifted(carriage: Carriage | None, tree: Tree, names: Names) -> tuple[Vector, Matrix]:
    """Where the frame behind a carriage's last rail is, in fixed axes; the origin without one."""
    position, rotation = zero_vector(tree.like), identity(tree.like)
    if carriage is None:
        return position, rotation
    if carriage.body.base is not None:
        place = tree.bodies[carriage.body.base]
        position, rotation = place.position, place.rotation
    for transform in carriage.up_to_last_rail:
        position, rotation = _moved(position, rotation, transform, names)
    return position, rotation


@dataclass(frozen=True)
class RailMass:
    """A carriage by its mass, the directions of its rails, and its centre of mass, in fixed axes.

    `centre` is from the base's origin; of a carriage without mass its own origin.
    """

    mass: Scalar
    axes: Mapping[str, Vector]
    centre: Vector


def rail_masses(platform: Platform, tree: Tree, names: Names) -> list[RailMass]:
    """All carriages of a platform."""
    found = []
    for one in platform.carriages:
        position, rotation = _shifted(one, tree, names)
        moments = tree.links[tree.bodies[one.body.name].link].moments
        axes = {name: _by(position, Kind.COORDINATE, name) for name in one.coordinates}
        centre = position
        if not moments.mass.is_zero:
            centre = plus(position, times(moments.mass.reciprocal(), apply(rotation, moments.first)))
        found.append(RailMass(moments.mass, axes, centre))
    return found


def _moved(position: Vector, rotation: Matrix, transform: Transform, names: Names) -> tuple[Vector, Matrix]:
    if isinstance(transform, Quaternion):
        e0, e1, e2, e3 = (names.scalar(item) for item in transform.components)
        inverse = (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3).reciprocal()
        return position, product(rotation, static_quaternion_matrix(e0, e1, e2, e3, inverse))
    if isinstance(transform, Rotation):
        return position, product(rotation, rotation_matrix(transform.axis.value, names.scalar(transform.angle)))
    return shifted(position, rotation, transform.axis.value, names.scalar(transform.distance)), rotation


def _by_time(a: Vector) -> Vector:
    return _by(a, Kind.TIME, "t")


def _by(a: Vector, kind: Kind, name: str) -> Vector:
    """The derivative by one symbol."""
    builder = a[0].builder
    rate = ForwardDerivative(builder, {builder.symbol(kind, name): builder.one})
    return vector([Scalar(builder, rate(item.index)) for item in a])


def leg_numbers(leg: FoundLeg, tree: Tree, joint: BaseJoint, names: Names, origin: Vector) -> LegNumbers:
    """The numbers of one leg; its joint on the ring is seen from `origin` on the ring, in ring axes."""
    place = tree.bodies[second_frame(leg.loop)]
    moments = [tree.links[tree.bodies[body.name].link].moments for body in (leg.first, leg.second)]
    lengths = tuple(names.scalar(one) for one in leg.lengths)
    none = no_part(tree.like)
    lower = crank = none
    if leg.type.has_crank:
        crank, upper, on_ring = crank_and_rod(moments[0], moments[1], lengths)
    else:
        lower, upper, on_ring = prismatic_parts(leg, *moments)
    zero = tree.like.number(0)
    return LegNumbers(
        base=joint.position if not joint.moves else zero_vector(zero),
        base_axis=column(joint.rotation, 2 if leg.type.has_crank else 0),
        ring=minus(place.position, origin),
        ring_axis=column(place.rotation, 1) if leg.type.universal_at_ring else zero_vector(zero),
        lower=lower,
        upper=upper,
        armature=tree.armature.get(leg.drive + "'", zero),
        on_ring=on_ring,
        crank=crank,
        lengths=lengths,
    )


def plane_of_joints(platform: Platform, tree: Tree) -> Vector:
    """A point of the ring such that as many joints as possible lie in its plane across z."""
    heights = [tree.bodies[second_frame(leg.loop)].position[2] for leg in platform.legs]
    zero = tree.like.number(0)
    return zero, zero, heights[0] if all(item == heights[0] for item in heights) else zero


def ring_part(platform: Platform, tree: Tree, origin: Vector, masses: list[tuple[Scalar, Vector]]) -> Part:
    """The ring about `origin`, with the point masses of legs that move with it."""
    moments = tree.links[tree.bodies[platform.ring.body.name].link].moments
    back = minus(zero_vector(tree.like), origin)
    return part_of(joined([moments.shifted(back), *_points(masses)]))


def base_moments(platform: Platform, tree: Tree, masses: list[tuple[Scalar, Vector]]) -> MassMoments:
    """The base about its origin, with the point masses of legs that move with it."""
    assert platform.base is not None
    return joined([tree.links[tree.bodies[platform.base.body.name].link].moments, *_points(masses)])


def _points(masses: list[tuple[Scalar, Vector]]) -> list[MassMoments]:
    return [
        MassMoments(mass, zero_vector(mass), no_mass(mass).second).shifted(place)
        for mass, place in masses
        if not mass.is_zero
    ]
