"""Sums over legs, and small matrices of signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from kinegraph.derive.tree.algebra import Matrix, Vector, vector
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
