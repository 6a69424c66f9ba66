"""Geometry and inertia of the legs and the platform, from the tree of links, and legs of one type in vector lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.platforms.free_motion import Square3, joined, signed
from kinegraph.derive.tree.algebra import (
    MassMoments,
    Matrix,
    Symmetric,
    Vector,
    apply,
    axial_inertia,
    identity,
    minus,
    no_mass,
    plus,
    product,
    times,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.limbs import SideBySide, known_numbers
from kinegraph.derive.tree.links import Tree, rotation_matrix, second_frame, static_quaternion_matrix
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.mechanism import Quaternion, Rotation, Transform
from kinegraph.model.platforms.leg_table import LegType
from kinegraph.model.platforms.recognition import Carriage, Platform, RecognizedLeg
from kinegraph.model.states import force_on

# ---- Parameters of a leg
#
# A leg is computed in axes 1, 2, 3 of its parts: 3 along the part, 2 perpendicular to a reference axis (of the base or
# of the platform), and 1 perpendicular to both. The axes of the model are these up to order and sign.

#: Axes 1, 2, 3 in the model's axes of a part, as rows: for a joint at the base, for a joint at the platform, for a rod.
AT_BASE: Square3 = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
AT_PLATFORM: Square3 = ((0, 1, 0), (-1, 0, 0), (0, 0, 1))
OF_ROD: Square3 = ((0, 0, 1), (0, -1, 0), (1, 0, 0))


@dataclass(frozen=True)
class RigidPart:
    """Mass, first moment and inertia tensor of a part about its origin."""

    mass: Scalar
    first: Vector
    inertia: Symmetric

    @property
    def numbers(self) -> tuple[Scalar, ...]:
        """All ten parameters, mass first."""
        return (self.mass, *self.first, *self.inertia)

    @property
    def second(self) -> Symmetric:
        """The second moments: I = tr(S) 1 - S."""
        half = (self.inertia.xx + self.inertia.yy + self.inertia.zz) / 2
        diagonal = (half - item for item in self.inertia[:3])
        return Symmetric(*diagonal, *(-item for item in self.inertia[3:]))

    def joined(self, other: RigidPart) -> RigidPart:
        """This part with the sum of both inertia tensors, each about its own origin."""
        return RigidPart(self.mass, self.first, self.inertia.plus(other.inertia))


@dataclass(frozen=True)
class LegNumbers:
    """The parameters of a leg. `base` is the position of the first joint, without its prescribed or rail motion.

    `platform_point` is the joint on the platform. `lower` rotates about the joint on the base (a rod: about the crank's
    tip). `upper` slides, and its origin is the joint on the platform. The point mass `on_platform` is removed from the
    leg and added to the platform. Only the inertia about the drive and the first moment of a crank affect the motion.
    """

    base: Vector
    base_axis: Vector
    platform_point: Vector
    platform_axis: Vector
    lower: RigidPart
    upper: RigidPart
    armature: Scalar
    on_platform: Scalar
    crank: RigidPart
    lengths: tuple[Scalar, ...]

    @property
    def numbers(self) -> tuple[Scalar, ...]:
        """All parameters in one sequence."""
        places = (*self.base, *self.base_axis, *self.platform_point, *self.platform_axis)
        parts = (*self.lower.numbers, *self.upper.numbers, *self.crank.numbers)
        return (*places, *parts, self.armature, self.on_platform, *self.lengths)

    def with_numbers(self, numbers: Sequence[Scalar]) -> LegNumbers:
        """The leg with other parameters, in the order of `numbers`."""
        rest = iter(numbers)

        def triple() -> Vector:
            return next(rest), next(rest), next(rest)

        def part() -> RigidPart:
            return RigidPart(next(rest), triple(), Symmetric(*(next(rest) for _ in range(6))))

        places = triple(), triple(), triple(), triple()
        parts = part(), part(), part()
        return LegNumbers(*places, parts[0], parts[1], next(rest), next(rest), parts[2], tuple(rest))


def part_of(moments: MassMoments, axes: Square3 = AT_BASE) -> RigidPart:
    """A part in axes 1, 2, 3, from the moments of its mass distribution."""
    turned = moments.turned(signed(moments.mass, axes))
    return RigidPart(turned.mass, turned.first, tensor_of(turned.second))


def tensor_of(second: Symmetric) -> Symmetric:
    """The inertia tensor of second moments."""
    columns = [axial_inertia(second, axis) for axis in range(3)]
    return Symmetric(columns[0][0], columns[1][1], columns[2][2], columns[1][2], columns[0][2], columns[0][1])


def prismatic_parts(leg: RecognizedLeg, lower: MassMoments, upper: MassMoments) -> tuple[RigidPart, RigidPart, Scalar]:
    """Both parts, and the mass of the upper part, which moves to the platform as a point mass at the joint."""
    first = part_of(lower, AT_PLATFORM if leg.type is LegType.SPU else AT_BASE)
    second = part_of(upper, AT_BASE if leg.type is LegType.UPS else AT_PLATFORM)
    return first, RigidPart(second.mass.number(0), second.first, second.inertia), second.mass


def crank_and_rod(
    crank: MassMoments, rod: MassMoments, lengths: Sequence[Scalar]
) -> tuple[RigidPart, RigidPart, Scalar]:
    """Crank and rod, with point masses moved from the rod to the platform and to the crank's tip.

    The first has the rod's first moment along its axis, the second the rest of the mass.
    """
    turned = rod.turned(signed(rod.mass, OF_ROD))
    on_platform = turned.first[2] / lengths[1]
    on_crank = turned.mass - on_platform
    at_platform = (lengths[1].number(0), lengths[1].number(0), lengths[1])
    rest = _without_point(turned, on_platform, at_platform)
    rest = MassMoments(rest.mass.number(0), rest.first, rest.second)
    tip = (lengths[0], lengths[0].number(0), lengths[0].number(0))
    point = MassMoments(on_crank, zero_vector(on_crank), no_mass(on_crank).second).shifted(tip)
    return part_of(crank.plus(point)), part_of(rest), on_platform


def _without_point(moments: MassMoments, mass: Scalar, place: Vector) -> MassMoments:
    point = MassMoments(mass, zero_vector(mass), no_mass(mass).second).shifted(place)
    second = Symmetric(*(a - b for a, b in zip(moments.second, point.second, strict=True)))
    return MassMoments(moments.mass - mass, minus(moments.first, point.first), second)


def no_part(like: Scalar) -> RigidPart:
    """A part without mass."""
    return part_of(no_mass(like))


def column(rotation: Matrix, axis: int) -> Vector:
    """An axis of a frame."""
    return rotation[0][axis], rotation[1][axis], rotation[2][axis]


def shifted(position: Vector, rotation: Matrix, axis: int, amount: Scalar) -> Vector:
    """A point moved along an axis of a frame."""
    return plus(position, times(amount, column(rotation, axis)))


# ---- Parameters of all legs and of the platform, from the tree of links


@dataclass(frozen=True)
class BaseJoint:
    """The frame of a leg's joint on the base, in the base's axes; prescribed motion or rails may translate it.

    rails: the directions of rails by the names of their coordinates. acceleration: due to prescribed motion only.
    """

    position: Vector
    rotation: Matrix
    velocity: Vector
    acceleration: Vector
    rails: Mapping[str, Vector] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        """Does the joint translate?"""
        return any(not item.is_zero for item in (*self.velocity, *self.acceleration))


def base_joint(leg: RecognizedLeg, platform: Platform, tree: Tree, names: Names) -> BaseJoint:
    """The joint of a leg on the base."""
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
    """The frame after a carriage's last rail, in the base's axes; the base without a carriage."""
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
    """The moments of a carriage about the base's origin, the directions of its rails, and its center of mass.

    All are in the base's axes. center: relative to the base's origin; the carriage's origin if it has no mass.
    """

    moments: MassMoments
    axes: Mapping[str, Vector]
    center: Vector

    @property
    def mass(self) -> Scalar:
        """Its mass."""
        return self.moments.mass


def rail_masses(platform: Platform, tree: Tree, names: Names) -> list[RailMass]:
    """All carriages of a platform."""
    found = []
    for one in platform.carriages:
        position, rotation = _shifted(one, tree, names)
        moments = tree.links[tree.bodies[one.body.name].link].moments.turned(rotation)
        axes = {name: _by(position, Kind.COORDINATE, name) for name in one.coordinates}
        center = position
        if not moments.mass.is_zero:
            center = plus(position, times(moments.mass.reciprocal(), moments.first))
        found.append(RailMass(moments.shifted(position), axes, center))
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


def leg_numbers(leg: RecognizedLeg, tree: Tree, joint: BaseJoint, names: Names, origin: Vector) -> LegNumbers:
    """The parameters of one leg; its joint on the platform is relative to `origin`, in platform axes."""
    place = tree.bodies[second_frame(leg.loop)]
    moments = [tree.links[tree.bodies[body.name].link].moments for body in (leg.first, leg.second)]
    lengths = tuple(names.scalar(one) for one in leg.lengths)
    none = no_part(tree.like)
    lower = crank = none
    if leg.type.has_crank:
        crank, upper, on_platform = crank_and_rod(moments[0], moments[1], lengths)
    else:
        lower, upper, on_platform = prismatic_parts(leg, *moments)
    zero = tree.like.number(0)
    return LegNumbers(
        base=joint.position if not joint.moves else zero_vector(zero),
        base_axis=column(joint.rotation, 2 if leg.type.has_crank else 0),
        platform_point=minus(place.position, origin),
        platform_axis=column(place.rotation, 1) if leg.type.universal_at_platform else zero_vector(zero),
        lower=lower,
        upper=upper,
        armature=tree.armature.get(leg.drive + "'", zero),
        on_platform=on_platform,
        crank=crank,
        lengths=lengths,
    )


def plane_of_joints(platform: Platform, tree: Tree) -> Vector:
    """A point of the platform, in the plane normal to z of the joints if they have one plane."""
    heights = [tree.bodies[second_frame(leg.loop)].position[2] for leg in platform.legs]
    zero = tree.like.number(0)
    return zero, zero, heights[0] if all(item == heights[0] for item in heights) else zero


def platform_part(platform: Platform, tree: Tree, origin: Vector, masses: list[tuple[Scalar, Vector]]) -> RigidPart:
    """The platform about `origin`, with the point masses of its legs."""
    moments = tree.links[tree.bodies[platform.moving.body.name].link].moments
    back = minus(zero_vector(tree.like), origin)
    return part_of(joined([moments.shifted(back), *_points(masses)]))


def base_moments(platform: Platform, tree: Tree, masses: list[tuple[Scalar, Vector]]) -> MassMoments:
    """The base about its origin, with the point masses of its legs."""
    assert platform.base is not None
    return joined([tree.links[tree.bodies[platform.base.body.name].link].moments, *_points(masses)])


def _points(masses: list[tuple[Scalar, Vector]]) -> list[MassMoments]:
    return [
        MassMoments(mass, zero_vector(mass), no_mass(mass).second).shifted(place)
        for mass, place in masses
        if not mass.is_zero
    ]


# ---- Legs of one type in vector lanes: their formulas differ only in symbols


@dataclass(frozen=True)
class LegsSideBySide(SideBySide):
    """The legs, with symbols for parameters."""

    legs: tuple[LegNumbers, ...]


def legs_side_by_side(platform: Platform, numbers: Sequence[LegNumbers]) -> LegsSideBySide:
    """Replace parameters that differ between legs of one type by symbols."""
    legs = list(numbers)
    static = known_numbers(numbers[0].armature.builder)
    if not all(static[item.index] for one in numbers for item in one.numbers):
        return LegsSideBySide({}, {}, tuple(legs))
    known: dict[Symbol, Scalar] = {}
    exchange: dict[Exchanged, Exchanged] = {}
    for group in _groups(platform):
        symbols_of: dict[tuple[Scalar, ...], list[Symbol]] = {}
        for place, column in enumerate(zip(*(numbers[k].numbers for k in group), strict=True)):
            if all(item == column[0] for item in column):
                continue
            # Equal parameters of a leg get the same symbol, so that axially symmetric parts are recognized.
            symbols = symbols_of.setdefault(
                column, [Symbol(Kind.PARAMETER, f"number {place} of leg {k}") for k in group]
            )
            known |= dict(zip(symbols, column, strict=True))
            exchange |= _cycle(symbols)
            for k, symbol in zip(group, symbols, strict=True):
                legs[k] = _with_number(legs[k], place, column[0].symbol(*symbol))
        exchange |= _coordinates([platform.legs[k] for k in group])
    return LegsSideBySide(known, exchange, tuple(legs))


def _groups(platform: Platform) -> list[list[int]]:
    """Groups of several legs of one type."""
    types = dict.fromkeys(leg.type for leg in platform.legs)
    found = [[k for k, leg in enumerate(platform.legs) if leg.type is kind] for kind in types]
    return [group for group in found if len(group) > 1]


def _with_number(leg: LegNumbers, place: int, item: Scalar) -> LegNumbers:
    numbers = list(leg.numbers)
    numbers[place] = item
    return leg.with_numbers(numbers)


def _coordinates(legs: Sequence[RecognizedLeg]) -> dict[Exchanged, Exchanged]:
    """The exchange of the symbols of coordinates, rates and forces from leg to leg."""
    found: dict[Exchanged, Exchanged] = {}
    for names in zip(*(leg.coordinates for leg in legs), strict=True):
        found |= _cycle([Symbol(Kind.COORDINATE, name) for name in names])
        found |= _cycle([Symbol(Kind.VELOCITY, name + "'") for name in names])
        found |= _cycle([Symbol(Kind.ACCELERATION, name + "''") for name in names])
        found |= _cycle([Symbol(Kind.INPUT, force_on(name + "'")) for name in names])
    return found


def _cycle(symbols: Sequence[Symbol]) -> dict[Exchanged, Exchanged]:
    found: dict[Exchanged, Exchanged] = {}
    found.update(pairwise([*symbols, symbols[0]]))
    return found
