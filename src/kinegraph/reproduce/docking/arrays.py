"""Matrices of scalars of a graph: zeros and ones fold away as they are multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.graph.scalar import Scalar

Array: TypeAlias = npt.NDArray[np.object_]


def array(items: object) -> Array:
    """Scalars, or rows of them, as an array."""
    return np.array(items, dtype=object)


def zeros(like: Scalar, *shape: int) -> Array:
    """Zeros in the builder of `like`."""
    return np.full(shape, like.number(0), dtype=object)


def cross(a: Array, b: Array) -> Array:
    """The cross product; b may be a matrix of columns."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def inverse(matrix: Array) -> Array:
    """By cofactors: the matrices are 3 x 3 and 4 x 4."""
    n = len(matrix)
    cofactors = array([[(-1) ** (i + j) * _determinant(_without(matrix, i, j)) for j in range(n)] for i in range(n)])
    over = (matrix[0] @ cofactors[0]).reciprocal()
    return array(cofactors.T * over)


def _without(matrix: Array, i: int, j: int) -> Array:
    return np.delete(np.delete(matrix, i, axis=0), j, axis=1)


def _determinant(matrix: Array) -> Scalar:
    if len(matrix) == 1:
        found: Scalar = matrix[0, 0]
        return found
    parts = [(-1) ** j * matrix[0, j] * _determinant(_without(matrix, 0, j)) for j in range(len(matrix))]
    return total(parts)


def total(items: Sequence[Scalar]) -> Scalar:
    """The sum of some scalars."""
    found = items[0]
    for item in items[1:]:
        found = found + item
    return found
