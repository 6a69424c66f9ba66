"""Sums over legs, and small matrices of signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from kinegraph.derive.tree.algebra import Matrix, Symmetric, Vector, plus, times, vector, zero_vector
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.graph.scalar import Scalar

Square3: TypeAlias = tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]


def signed(like: Scalar, axes: Square3) -> Matrix:
    """A matrix of whole numbers in a builder."""
    rows = [vector([like.number(item) for item in row]) for row in axes]
    return rows[0], rows[1], rows[2]


def total(items: Sequence[Scalar]) -> Scalar:
    """A sum as one node, so that it stays the same when legs are exchanged."""
    builder = items[0].builder
    return Scalar(builder, builder.polynomial((1, ((item.index, 1),)) for item in items))


def totals(vectors: Iterable[Vector]) -> Vector:
    """The sum of vectors, each component one node."""
    x, y, z = zip(*vectors, strict=True)
    return total(x), total(y), total(z)


def joined(parts: list[MassMoments]) -> MassMoments:
    """Mass distributions as one, each entry a single sum."""
    entries = zip(*((one.mass, *one.first, *one.second) for one in parts), strict=True)
    mass, x, y, z, *second = (total(list(items)) for items in entries)
    return MassMoments(mass, (x, y, z), type(parts[0].second)(*second))


def outer(a: Vector, b: Vector) -> Matrix:
    """a b^T."""
    return times(a[0], b), times(a[1], b), times(a[2], b)


def skew(a: Vector) -> Matrix:
    """The matrix that gives a x b."""
    x, y, z = a
    zero = x.number(0)
    return (zero, -z, y), (z, zero, -x), (-y, x, zero)


def square(a: Symmetric) -> Matrix:
    """A symmetric matrix by its rows."""
    return a.column(0), a.column(1), a.column(2)


def no_matrix(like: Scalar) -> Matrix:
    """Zeros."""
    return zero_vector(like), zero_vector(like), zero_vector(like)


def added(matrices: Sequence[Matrix]) -> Matrix:
    """Their sum."""
    found = matrices[0]
    for one in matrices[1:]:
        found = plus(found[0], one[0]), plus(found[1], one[1]), plus(found[2], one[2])
    return found
