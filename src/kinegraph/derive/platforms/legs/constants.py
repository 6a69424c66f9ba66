"""The numbers of a leg: places, axes, lengths and inertia, in the axes in which it is computed.

A leg is computed in axes 1, 2, 3 of its own parts: 3 along the part, 2 at right angles to a reference axis (of the base
or of the ring), 1 completes them. The parts' own axes are these up to order and sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinegraph.derive.platforms.vectors import Square3, signed
from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, minus, plus, times, zero_vector
from kinegraph.derive.tree.inertia import MassMoments, axial_inertia, no_mass
from kinegraph.graph.scalar import Scalar
from kinegraph.model.platforms.recognise import FoundLeg
from kinegraph.model.platforms.records import LegType

#: The axes (1, 2, 3) of a part in its own axes, as rows: behind a joint at the base, behind one at the ring, of a rod.
AT_BASE: Square3 = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
AT_RING: Square3 = ((0, 1, 0), (-1, 0, 0), (0, 0, 1))
OF_ROD: Square3 = ((0, 0, 1), (0, -1, 0), (1, 0, 0))


@dataclass(frozen=True)
class Part:
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

    def joined(self, other: Part) -> Part:
        """The inertia of both, about origins of their own, with this part's mass and first moment."""
        return Part(self.mass, self.first, self.inertia.plus(other.inertia))


@dataclass(frozen=True)
class LegNumbers:
    """What legs of one type differ in. `base` is the place of the first joint as far as it does not move.

    `lower` swings about the joint on the base (of a rod: about the crank's tip), with a point mass taken out of it
    that moves with the ring, `on_ring`. `upper` slides; its origin is the joint on the ring. Of a crank only
    `crank_inertia` about its drive and its first moment matter to the motion.
    """

    base: Vector
    base_axis: Vector
    ring: Vector
    ring_axis: Vector
    lower: Part
    upper: Part
    armature: Scalar
    on_ring: Scalar
    crank: Part
    lengths: tuple[Scalar, ...]

    @property
    def numbers(self) -> tuple[Scalar, ...]:
        """All of them in one row."""
        places = (*self.base, *self.base_axis, *self.ring, *self.ring_axis)
        parts = (*self.lower.numbers, *self.upper.numbers, *self.crank.numbers)
        return (*places, *parts, self.armature, self.on_ring, *self.lengths)

    def with_numbers(self, numbers: Sequence[Scalar]) -> LegNumbers:
        """The same leg with other numbers, in the order of `numbers`."""
        rest = iter(numbers)

        def triple() -> Vector:
            return next(rest), next(rest), next(rest)

        def part() -> Part:
            return Part(next(rest), triple(), Symmetric(*(next(rest) for _ in range(6))))

        places = triple(), triple(), triple(), triple()
        parts = part(), part(), part()
        return LegNumbers(*places, parts[0], parts[1], next(rest), next(rest), parts[2], tuple(rest))


def part_of(moments: MassMoments, axes: Square3 = AT_BASE) -> Part:
    """A part from the moments of its mass distribution, in axes 1, 2, 3."""
    turned = moments.turned(signed(moments.mass, axes))
    return Part(turned.mass, turned.first, tensor_of(turned.second))


def tensor_of(second: Symmetric) -> Symmetric:
    """The inertia tensor of second moments."""
    columns = [axial_inertia(second, axis) for axis in range(3)]
    return Symmetric(columns[0][0], columns[1][1], columns[2][2], columns[1][2], columns[0][2], columns[0][1])


def prismatic_parts(leg: FoundLeg, lower: MassMoments, upper: MassMoments) -> tuple[Part, Part, Scalar]:
    """Both parts, the upper one without the mass that can be given to the ring: all of it, at the joint there."""
    first = part_of(lower, AT_RING if leg.type is LegType.SPU else AT_BASE)
    second = part_of(upper, AT_BASE if leg.type is LegType.UPS else AT_RING)
    return first, Part(second.mass.number(0), second.first, second.inertia), second.mass


def crank_and_rod(crank: MassMoments, rod: MassMoments, lengths: Sequence[Scalar]) -> tuple[Part, Part, Scalar]:
    """Crank and rod, with point masses taken out of the rod: one goes to the ring, one to the crank's tip.

    The first takes the rod's first moment along its axis with it, the second the rest of the mass.
    """
    turned = rod.turned(signed(rod.mass, OF_ROD))
    on_ring = turned.first[2] / lengths[1]
    on_crank = turned.mass - on_ring
    at_ring = (lengths[1].number(0), lengths[1].number(0), lengths[1])
    rest = _without_point(turned, on_ring, at_ring)
    rest = MassMoments(rest.mass.number(0), rest.first, rest.second)
    tip = (lengths[0], lengths[0].number(0), lengths[0].number(0))
    point = MassMoments(on_crank, zero_vector(on_crank), no_mass(on_crank).second).shifted(tip)
    return part_of(crank.plus(point)), part_of(rest), on_ring


def _without_point(moments: MassMoments, mass: Scalar, place: Vector) -> MassMoments:
    point = MassMoments(mass, zero_vector(mass), no_mass(mass).second).shifted(place)
    second = Symmetric(*(a - b for a, b in zip(moments.second, point.second, strict=True)))
    return MassMoments(moments.mass - mass, minus(moments.first, point.first), second)


def no_part(like: Scalar) -> Part:
    """A part without mass."""
    return part_of(no_mass(like))


def column(rotation: Matrix, axis: int) -> Vector:
    """An axis of a frame."""
    return rotation[0][axis], rotation[1][axis], rotation[2][axis]


def shifted(position: Vector, rotation: Matrix, axis: int, amount: Scalar) -> Vector:
    """A point moved along an axis of a frame."""
    return plus(position, times(amount, column(rotation, axis)))
