"""Six equations for the ring: its own inertia and that of all legs, each at its joint.

Joints at (x, y, z) and (x, -y, z) have terms that are even and terms that are odd in y: the first take the sum of both
legs, the others the difference, and each product with a place is made once for two legs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kinegraph.derive.platforms.legs.constants import Part
from kinegraph.derive.platforms.legs.leg import LegInertia, Load, Momenta, SpinInertia
from kinegraph.derive.platforms.vectors import total
from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, cross, plus, transpose, vector
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar

#: A vector or a symmetric matrix, entry by entry.
Entries: TypeAlias = tuple[Scalar, ...]


def matrix(ring: Part, legs: Sequence[tuple[LegInertia, Vector]]) -> Square:
    """A*: by the acceleration of the reference point, then the angular acceleration, in ring axes."""
    round_about = [(leg.at_joint, place) for leg, place in legs if leg.spin is None]
    pairs = mirrored(round_about)
    blocks = [rigid_block(ring), *(_even_block(Symmetric(*even), Symmetric(*odd), at) for even, odd, at in pairs)]
    blocks += [_spun_block(leg, place, leg.spin) for leg, place in legs if leg.spin is not None]
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


def moment_in(part: Part, field: Matrix) -> Vector:
    """The moment about the origin of a part whose points accelerate by a field U: that of U S, S the second moments."""
    x, y, z = (part.second.apply(row) for row in field)
    return z[1] - y[2], x[2] - z[0], y[0] - x[1]


def loads(legs: Sequence[tuple[Load, Vector]]) -> list[Scalar]:
    """Force and moment about the reference point of all loads."""
    found = mirrored([(load.force, place) for load, place in legs])
    moments = [_even_cross(place, vector(even), vector(odd)) for even, odd, place in found]
    moments += [load.moment for load, _ in legs if load.moment is not None]
    return [total([one[i] for one in group]) for group in ([even for even, _, _ in found], moments) for i in range(3)]


def rigid_block(part: Part) -> Square:
    """[[m 1, -s x], [s x, I]]."""
    zero = part.mass.number(0)
    x, y, z = part.first
    turned = ((zero, z, -y), (-z, zero, x), (y, -x, zero))  # - [s] x
    upper = [[part.mass if i == j else zero for j in range(3)] + list(turned[i]) for i in range(3)]
    lower = [[turned[j][i] for j in range(3)] + list(part.inertia.column(i)) for i in range(3)]
    return upper + lower


def _spun_block(leg: LegInertia, place: Vector, spin: SpinInertia) -> Square:
    return _with_spin(_even_block(leg.at_joint, leg.at_joint, place), spin, place)


def _even_block(even: Symmetric, odd: Symmetric, place: Vector) -> Square:
    """The inertia K at a point r: [[K, -K r x], [r x K, -r x K r x]]."""
    columns = [_even_cross(place, even.column(i), odd.column(i)) for i in range(3)]  # r x K, column by column
    turned = [_even_cross(place, odd.column(i), even.column(i)) for i in range(3)]  # the same, odd in y
    rows, odd_rows = ([vector([one[i] for one in some]) for i in range(3)] for some in (columns, turned))
    # Row i of - r x K r x is r x (row i of r x K).
    lower = [[*rows[i], *_even_cross(place, rows[i], odd_rows[i])] for i in range(3)]
    upper = [[*even.column(i), *columns[i]] for i in range(3)]
    return upper + lower


def _even_cross(place: Vector, even: Vector, odd: Vector) -> Vector:
    """place x a; what the place's y multiplies is the odd one."""
    x, y, z = place
    return y * odd[2] - z * even[1], z * even[0] - x * even[2], x * even[1] - y * odd[0]


def mirrored(items: Sequence[tuple[Entries, Vector]]) -> list[tuple[Entries, Entries, Vector]]:
    """Sum and difference of what stands at places that mirror each other in y; what stands alone is both."""
    rest, found = list(items), []
    while rest:
        own, place = rest.pop(0)
        image = (place[0], -place[1], place[2])
        twin = next((k for k, (_, other) in enumerate(rest) if other == image), None)
        if twin is None:
            found.append((own, own, place))
            continue
        pairs = list(zip(own, rest.pop(twin)[0], strict=True))
        found.append((tuple(a + b for a, b in pairs), tuple(a - b for a, b in pairs), place))
    return found


def _with_spin(block: Square, spin: SpinInertia, place: Vector) -> Square:
    """The spin of a leg that the ring causes: coupled with the joint's velocity, and by itself."""
    row = [*spin.coupling, *cross(place, spin.coupling)]
    reach = [row[0].number(0)] * 3 + list(spin.reach)
    own = [spin.itself * item for item in reach]
    return [
        [block[i][j] + row[i] * reach[j] + reach[i] * row[j] + reach[i] * own[j] for j in range(6)] for i in range(6)
    ]
