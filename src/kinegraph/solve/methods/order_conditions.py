"""Rooted trees and the order conditions of Runge-Kutta methods (Butcher; Hairer-Norsett-Wanner, II.2).

A method of s stages has order p if sum_i b_i Phi_i(t) = 1/gamma(t) for all rooted trees t of up to p vertices. With
t = [t_1, ..., t_k]: Phi_i(t) = prod_m sum_j a_ij Phi_j(t_m) and gamma(t) = |t| prod_m gamma(t_m).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: A tree is the sorted tuple of the subtrees of its root; a single vertex is ().
Tree: TypeAlias = "tuple[Tree, ...]"


@cache
def vertices(tree: Tree) -> int:
    """How many vertices a tree has: the order it belongs to."""
    return 1 + sum(map(vertices, tree))


@cache
def density(tree: Tree) -> int:
    """gamma(t)."""
    return vertices(tree) * prod(map(density, tree))


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees of this many vertices, each once."""
    return tuple(sorted(set(_forests(order - 1, order - 1))))


def _forests(total: int, largest: int) -> Iterator[tuple[Tree, ...]]:
    """All multisets of trees with `total` vertices together, none larger than `largest`."""
    if total == 0:
        yield ()
        return
    for size in range(min(total, largest), 0, -1):
        for tree in trees(size):
            for rest in _forests(total - size, size):
                yield tuple(sorted((tree, *rest)))


def defect(a: Floats, b: Floats, order: int) -> float:
    """The largest violation of the conditions for this order."""
    known: dict[Tree, Floats] = {}

    def weights(tree: Tree) -> Floats:
        if tree not in known:
            known[tree] = np.prod([a @ weights(branch) for branch in tree], axis=0) if tree else np.ones(len(b))
        return known[tree]

    every = (tree for size in range(1, order + 1) for tree in trees(size))
    return max(abs(float(b @ weights(tree)) - 1 / density(tree)) for tree in every)
