"""Inertia as moments of the mass distribution: mass, first moment, second moment.

The second moment S = sum of m x x^T ("pseudo-inertia") turns and shifts like the distribution itself, and its entries
say plainly what regrouping can move: I = tr(S) 1 - S.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from kinegraph.derive.tree.algebra import (
    Matrix,
    Symmetric,
    Vector,
    apply,
    congruence,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    zero_symmetric,
    zero_vector,
)
from kinegraph.graph.scalar import Scalar


class MassMoments(NamedTuple):
    """Mass, first and second moment of a distribution about a frame's origin, in that frame's axes."""

    mass: Scalar
    first: Vector
    second: Symmetric

    def plus(self, other: MassMoments) -> MassMoments:
        """The moments of both bodies together."""
        return MassMoments(self.mass + other.mass, plus(self.first, other.first), self.second.plus(other.second))

    def turned(self, m: Matrix) -> MassMoments:
        """The same distribution turned by a matrix."""
        return MassMoments(self.mass, apply(m, self.first), congruence(m, self.second))

    def shifted(self, r: Vector) -> MassMoments:
        """The same distribution moved by r: S + r mc^T + mc r^T + m r r^T."""
        second = self.second.plus(symmetric_product(r, self.first)).plus(scaled(self.mass, outer_square(r)))
        return MassMoments(self.mass, plus(self.first, times(self.mass, r)), second)

    @property
    def is_zero(self) -> bool:
        """Whether there is no mass at all."""
        return all(item.is_zero for item in (self.mass, *self.first, *self.second))


def no_mass(like: Scalar) -> MassMoments:
    """The inertia of nothing."""
    return MassMoments(like.number(0), zero_vector(like), zero_symmetric(like))


def central_moments(mass: Scalar, moments: Vector, products: Vector) -> MassMoments:
    """From mass, (Jx, Jy, Jz) and the products (Jyz, Jxz, Jxy), all about the centre of mass."""
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
