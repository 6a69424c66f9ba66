"""Vectors, matrices and mass moments of scalars, with the cheapest known formulas for their rotation."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from kinegraph.graph.build import Scalar

Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

#: The two axes that follow an axis cyclically: x -> (y, z), y -> (z, x), z -> (x, y).
FOLLOWING = ((1, 2), (2, 0), (0, 1))


def vector(items: Sequence[Scalar]) -> Vector:
    """A vector from three scalars."""
    x, y, z = items
    return x, y, z


def zero_vector(like: Scalar) -> Vector:
    """Three zeros."""
    zero = like.number(0)
    return zero, zero, zero


def unit_vector(like: Scalar, axis: int) -> Vector:
    """The unit vector along an axis."""
    return vector([like.number(int(axis == i)) for i in range(3)])


def identity(like: Scalar) -> Matrix:
    """The unit matrix."""
    return unit_vector(like, 0), unit_vector(like, 1), unit_vector(like, 2)


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(scale: Scalar | int, a: Vector) -> Vector:
    """A vector times a number."""
    return scale * a[0], scale * a[1], scale * a[2]


def negative(a: Vector) -> Vector:
    """The negative of a vector."""
    return -a[0], -a[1], -a[2]


def dot(a: Vector, b: Vector) -> Scalar:
    """The dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def sum_of_products(a: Sequence[Scalar], b: Sequence[Scalar], start: Scalar | None = None) -> Scalar:
    """start + sum a_i b_i as one node."""
    builder = a[0].builder
    terms = [(1, ((x.index, 1), (y.index, 1)) if x != y else ((x.index, 2),)) for x, y in zip(a, b, strict=True)]
    return Scalar(builder, builder.polynomial([*([(1, ((start.index, 1),))] if start else []), *terms]))


def cross(a: Vector, b: Vector) -> Vector:
    """The cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def transpose(m: Matrix) -> Matrix:
    """The matrix with rows and columns exchanged."""
    return vector([r[0] for r in m]), vector([r[1] for r in m]), vector([r[2] for r in m])


def apply(m: Matrix, a: Vector) -> Vector:
    """A matrix times a vector."""
    return dot(m[0], a), dot(m[1], a), dot(m[2], a)


def product(a: Matrix, b: Matrix) -> Matrix:
    """The product of two matrices."""
    columns = transpose(b)
    return (
        vector([dot(a[0], c) for c in columns]),
        vector([dot(a[1], c) for c in columns]),
        vector([dot(a[2], c) for c in columns]),
    )


def signed_axis(a: Vector) -> tuple[int, int] | None:
    """(axis, sign) if the vector is exactly plus or minus a unit vector, otherwise None."""
    values = [item.value for item in a]
    for axis in range(3):
        if values[axis] in (1, -1) and all(values[other] == 0 for other in FOLLOWING[axis]):
            return axis, 1 if values[axis] == 1 else -1
    return None


class Symmetric(NamedTuple):
    """A symmetric matrix by its six entries."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    yz: Scalar
    xz: Scalar
    xy: Scalar

    def diagonal(self, axis: int) -> Scalar:
        """The moment about an axis."""
        return self[axis]

    def off(self, i: int, j: int) -> Scalar:
        """The entry of two different axes."""
        return self[6 - i - j]

    def entry(self, i: int, j: int) -> Scalar:
        """An entry by row and column."""
        return self[i] if i == j else self[6 - i - j]

    def column(self, axis: int) -> Vector:
        """A column as a vector."""
        return vector([self.entry(i, axis) for i in range(3)])

    def plus(self, other: Symmetric) -> Symmetric:
        """The sum of two symmetric matrices."""
        return Symmetric(*(a + b for a, b in zip(self, other, strict=True)))

    def apply(self, a: Vector) -> Vector:
        """The matrix times a vector."""
        return dot(self.column(0), a), dot(self.column(1), a), dot(self.column(2), a)


def zero_symmetric(like: Scalar) -> Symmetric:
    """A symmetric matrix of zeros."""
    return Symmetric(*([like.number(0)] * 6))


def symmetric_product(a: Vector, b: Vector) -> Symmetric:
    """a b^T + b a^T."""
    return Symmetric(
        2 * (a[0] * b[0]),
        2 * (a[1] * b[1]),
        2 * (a[2] * b[2]),
        a[1] * b[2] + a[2] * b[1],
        a[0] * b[2] + a[2] * b[0],
        a[0] * b[1] + a[1] * b[0],
    )


def outer_square(a: Vector) -> Symmetric:
    """a a^T."""
    return Symmetric(a[0] * a[0], a[1] * a[1], a[2] * a[2], a[1] * a[2], a[0] * a[2], a[0] * a[1])


def scaled(scale: Scalar, s: Symmetric) -> Symmetric:
    """A symmetric matrix times a number."""
    return Symmetric(*(scale * item for item in s))


def _symmetric_from(axis: int, along: Scalar, jj: Scalar, kk: Scalar, jk: Scalar, aj: Scalar, ak: Scalar) -> Symmetric:
    j, k = FOLLOWING[axis]
    entries: list[Scalar] = [along] * 6
    entries[axis], entries[j], entries[k] = along, jj, kk
    entries[6 - j - k], entries[6 - axis - j], entries[6 - axis - k] = jk, aj, ak
    return Symmetric(*entries)


def turn_vector(axis: int, sine: Scalar, cosine: Scalar, a: Vector) -> Vector:
    """R_axis(angle) a."""
    j, k = FOLLOWING[axis]
    turned = list(a)
    turned[j] = cosine * a[j] - sine * a[k]
    turned[k] = sine * a[j] + cosine * a[k]
    return vector(turned)


def turn_symmetric(axis: int, sine: Scalar, cosine: Scalar, s: Symmetric) -> Symmetric:
    """R S R^T in 8 multiplications: with t = (Sjj - Skk) cos - 2 Sjk sin, Sjj' = Skk + cos t, Sjk' = Sjk + sin t.

    A matrix that is symmetric about the axis is unchanged, because t is then exactly zero.
    """
    j, k = FOLLOWING[axis]
    jj, kk, jk = s[j], s[k], s.off(j, k)
    t = (jj - kk) * cosine - (2 * jk) * sine
    new_jj = kk + cosine * t
    new_kk = jj - cosine * t
    aj, ak = s.off(axis, j), s.off(axis, k)
    return _symmetric_from(
        axis, s[axis], new_jj, new_kk, jk + sine * t, cosine * aj - sine * ak, sine * aj + cosine * ak
    )


def congruence(m: Matrix, s: Symmetric) -> Symmetric:
    """M S M^T for any matrix."""
    half = [s.apply(row) for row in m]
    return Symmetric(
        dot(m[0], half[0]), dot(m[1], half[1]), dot(m[2], half[2]),
        dot(m[1], half[2]), dot(m[0], half[2]), dot(m[0], half[1]),
    )  # fmt: skip


class MassMoments(NamedTuple):
    """Mass, first and second moment of a mass distribution about a frame's origin, in that frame's axes.

    The second moment S = sum m x x^T ("pseudo-inertia") has simple rules of rotation and translation, and shows what
    regrouping can move. The inertia tensor is I = tr(S) 1 - S.
    """

    mass: Scalar
    first: Vector
    second: Symmetric

    def plus(self, other: MassMoments) -> MassMoments:
        """The moments of both bodies together."""
        return MassMoments(self.mass + other.mass, plus(self.first, other.first), self.second.plus(other.second))

    def turned(self, m: Matrix) -> MassMoments:
        """The same distribution rotated by a matrix."""
        return MassMoments(self.mass, apply(m, self.first), congruence(m, self.second))

    def shifted(self, r: Vector) -> MassMoments:
        """The same distribution translated by r: S + r mc^T + mc r^T + m r r^T."""
        second = self.second.plus(symmetric_product(r, self.first)).plus(scaled(self.mass, outer_square(r)))
        return MassMoments(self.mass, plus(self.first, times(self.mass, r)), second)

    @property
    def is_zero(self) -> bool:
        """Is there no mass?"""
        return all(item.is_zero for item in (self.mass, *self.first, *self.second))


def no_mass(like: Scalar) -> MassMoments:
    """Zero moments."""
    return MassMoments(like.number(0), zero_vector(like), zero_symmetric(like))


def central_moments(mass: Scalar, moments: Vector, products: Vector) -> MassMoments:
    """From mass, (Jx, Jy, Jz) and the products (Jyz, Jxz, Jxy), all about the center of mass."""
    half = Fraction(1, 2)
    jx, jy, jz = moments
    second = Symmetric(half * (jy + jz - jx), half * (jz + jx - jy), half * (jx + jy - jz), *products)
    return MassMoments(mass, zero_vector(mass), second)


def axial_inertia(second: Symmetric, axis: int) -> Vector:
    """I e for a unit vector e: the column of the inertia tensor."""
    column = [-second.entry(i, axis) for i in range(3)]
    j, k = (axis + 1) % 3, (axis + 2) % 3
    column[axis] = second[j] + second[k]
    return column[0], column[1], column[2]
