"""Numbers of welded bodies, kept short.

A quaternion of a file is exact, and so are products of quaternions: every body that is welded to another makes the
numbers of a link longer, until nothing can be computed with them. Where they have become long they are rounded here,
far below what double precision can tell. This happens once, when the tree is made: all that is derived from the tree
agrees exactly, so that derivations can be proved equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, vector
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.node import Coefficient
from kinegraph.graph.scalar import Scalar

#: Numbers are long if their numerator or denominator has more bits: those of two quaternions of 17 digits have fewer.
_LONG_PLACE, _LONG_MOMENT = 300, 600
#: How many bits are kept: of quaternions, whose squares are the denominators of rotations; of everything else.
_QUATERNION, _OTHERS = 96, 128


def short_rotation(rotation: Matrix) -> Matrix:
    """The rotation itself, or one that differs by less than 1e-28 of a turn; it is exactly a rotation, too."""
    entries = [entry for row in rotation for entry in row]
    return _by_short_quaternion(rotation) if _are_long(entries, _LONG_PLACE) else rotation


def short_position(position: Vector) -> Vector:
    """The position itself, or one that differs by less than 1e-38 of its largest coordinate."""
    return vector(_rounded(position)) if _are_long(position, _LONG_PLACE) else position


def short_moments(moments: MassMoments) -> MassMoments:
    """The moments themselves, or such that differ by less than 1e-38 of the largest of their kind."""
    first, second = moments.first, moments.second
    if _are_long(first, _LONG_MOMENT):
        first = vector(_rounded(first))
    if _are_long(second, _LONG_MOMENT):
        second = Symmetric(*_rounded(second))
    return MassMoments(moments.mass, first, second)


def _are_long(entries: Iterable[Scalar], bits: int) -> bool:
    """Whether these are plain numbers, and one of them is long."""
    values = [entry.value for entry in entries]
    return None not in values and any(_bits(value) > bits for value in values if value is not None)


def _bits(value: Coefficient) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _rounded(entries: Sequence[Scalar]) -> list[Scalar]:
    """Multiples of a power of two: sums of such numbers stay short. Zero stays zero."""
    values = [Fraction(entry.value or 0) for entry in entries]
    largest = max(abs(value) for value in values)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length() - _OTHERS
    unit = Fraction(2) ** exponent
    return [entry.number(round(value / unit) * unit) for entry, value in zip(entries, values, strict=True)]


def _by_short_quaternion(rotation: Matrix) -> Matrix:
    """The rotation of a quaternion with few digits."""
    like = rotation[0][0]
    parts = _quaternion([[Fraction(entry.value or 0) for entry in row] for row in rotation])
    largest = max(abs(part) for part in parts)
    w, x, y, z = (round(part / largest * 2**_QUATERNION) for part in parts)
    square = w * w + x * x + y * y + z * z
    rows = (
        (square - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), square - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), square - 2 * (x * x + y * y)),
    )
    first, second, third = (vector([like.number(Fraction(entry, square)) for entry in row]) for row in rows)
    return first, second, third


def _quaternion(m: list[list[Fraction]]) -> list[Fraction]:
    """The quaternion of a rotation matrix, of some length, by the largest of its four components (Shepperd)."""
    trace = m[0][0] + m[1][1] + m[2][2]
    squares = [1 + trace, *(1 + 2 * m[i][i] - trace for i in range(3))]
    i = squares.index(max(squares))
    if i == 0:
        return [squares[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    a, b, c = i - 1, i % 3, (i + 1) % 3
    found = [m[c][b] - m[b][c], Fraction(0), Fraction(0), Fraction(0)]
    found[1 + a], found[1 + b], found[1 + c] = squares[i], m[b][a] + m[a][b], m[c][a] + m[a][c]
    return found
