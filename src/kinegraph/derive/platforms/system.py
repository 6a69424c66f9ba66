"""Six equations for the ring: its own inertia and that of all legs, each at its joint."""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.derive.platforms.legs.constants import Part
from kinegraph.derive.platforms.legs.leg import LegInertia, Load, Momenta, SpinInertia
from kinegraph.derive.platforms.ring import FreeMotion
from kinegraph.derive.platforms.vectors import total
from kinegraph.derive.tree.algebra import Matrix, Vector, cross, plus, transpose, vector
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar


def matrix(ring: Part, legs: Sequence[tuple[LegInertia, Vector]]) -> Square:
    """A*: by the acceleration of the reference point, then the angular acceleration, in ring axes."""
    blocks = [rigid_block(ring), *(_leg_block(leg, place) for leg, place in legs)]
    entries = [[total([block[i][j] for block in blocks]) for j in range(i + 1)] for i in range(6)]
    return [[entries[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def between(ring: Part, legs: Sequence[tuple[Momenta, Vector]]) -> Square:
    """Momentum and moment of momentum about the reference point, by row, of the motion against the base, by column."""
    blocks = [rigid_block(ring), *(_momentum_block(*leg) for leg in legs)]
    return [[total([block[i][j] for block in blocks]) for j in range(6)] for i in range(6)]


def _momentum_block(momenta: Momenta, place: Vector) -> Square:
    lever = transpose(_lever_columns(momenta, place))
    rows = [[*row, *cross(place, row)] for row in (*momenta.linear, *lever)]
    spin = momenta.spin
    if spin is None:
        return rows
    by = [*spin.linear, *plus(spin.angular, cross(place, spin.linear))]
    return [
        [*row[:3], *(a + one * b for a, b in zip(row[3:], spin.reach, strict=True))]
        for row, one in zip(rows, by, strict=True)
    ]


def _lever_columns(momenta: Momenta, place: Vector) -> Matrix:
    """The columns of the moment of momentum about the reference point."""
    pairs = zip(transpose(momenta.linear), transpose(momenta.angular), strict=True)
    x, y, z = (plus(angular, cross(place, linear)) for linear, angular in pairs)
    return x, y, z


def ring_load(ring: Part, motion: FreeMotion) -> Vector:
    """The moment that the ring's rotation takes without acceleration."""
    return cross(motion.spin, ring.inertia.apply(motion.spin))


def loads(legs: Sequence[tuple[Load, Vector]]) -> list[Scalar]:
    """Force and moment about the reference point of all loads."""
    forces = [load.force for load, _ in legs]
    moments = [_moment(load, place) for load, place in legs]
    return [total([one[i] for one in group]) for group in (forces, moments) for i in range(3)]


def _moment(load: Load, place: Vector) -> Vector:
    moment = cross(place, load.force)
    return moment if load.moment is None else plus(moment, load.moment)


def rigid_block(part: Part) -> Square:
    """[[m 1, -s x], [s x, I]]."""
    zero = part.mass.number(0)
    x, y, z = part.first
    turned = ((zero, z, -y), (-z, zero, x), (y, -x, zero))  # - [s] x
    upper = [[part.mass if i == j else zero for j in range(3)] + list(turned[i]) for i in range(3)]
    lower = [[turned[j][i] for j in range(3)] + list(part.inertia.column(i)) for i in range(3)]
    return upper + lower


def _leg_block(leg: LegInertia, place: Vector) -> Square:
    """The inertia K at a point r: [[K, -K r x], [r x K, -r x K r x]]."""
    k = leg.at_joint
    columns = [cross(place, k.column(i)) for i in range(3)]  # r x K, column by column
    rows = [vector([column[i] for column in columns]) for i in range(3)]
    turned = [cross(place, row) for row in rows]  # row i of - r x K r x is r x (row i of r x K)
    upper = [[*k.column(i), *(columns[i][j] for j in range(3))] for i in range(3)]
    lower = [[*rows[i], *turned[i]] for i in range(3)]
    block = upper + lower
    return block if leg.spin is None else _with_spin(block, leg.spin, place)


def _with_spin(block: Square, spin: SpinInertia, place: Vector) -> Square:
    """The spin of a leg that the ring causes: coupled with the joint's velocity, and by itself."""
    row = [*spin.coupling, *cross(place, spin.coupling)]
    reach = [row[0].number(0)] * 3 + list(spin.reach)
    own = [spin.itself * item for item in reach]
    return [
        [block[i][j] + row[i] * reach[j] + reach[i] * row[j] + reach[i] * own[j] for j in range(6)] for i in range(6)
    ]
