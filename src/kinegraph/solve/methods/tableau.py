"""Butcher tableaux of explicit Runge-Kutta methods, checked against the order conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import TypeAlias

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.errors import TableauError
from kinegraph.solve.methods import dop853_coefficients as dop853_numbers

# Order conditions by rooted trees (Butcher; Hairer-Norsett-Wanner, II.2).
#
# A method of s stages has order p if sum_i b_i Phi_i(t) = 1/gamma(t) for all rooted trees t of up to p vertices. With
# t = [t_1, ..., t_k]: Phi_i(t) = prod_m sum_j a_ij Phi_j(t_m) and gamma(t) = |t| prod_m gamma(t_m).

#: A tree is the sorted tuple of the subtrees of its root; a single vertex is ().
Tree: TypeAlias = "tuple[Tree, ...]"


@cache
def vertices(tree: Tree) -> int:
    """The number of vertices of a tree, which is the order of its condition."""
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


Number: TypeAlias = float | Fraction
Row: TypeAlias = tuple[Number, ...]

_ROUNDING = 2e-13  # tabulated numbers have sixteen digits, and conditions multiply many of them


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method with embedded error estimate and dense output.

    name, order: the method and its order.
    a: the rows below the diagonal, from the second stage on; c and b as usual.
    error: weights whose product with the slopes (stages, then the slope at the end of the step) estimates the error;
        none for a method that cannot choose its step, two for Dormand-Prince 8(5,3).
    error_order: the order of the embedded solution the first row belongs to.
    extra_a, extra_c: further stages that only dense output needs; they may use the slope at the end.
    dense: weights of the terms of dense output beyond the cubic that every method has.
    """

    name: str
    order: int
    a: tuple[Row, ...]
    b: Row
    c: Row
    error: tuple[Row, ...] = ()
    error_order: int = 0
    extra_a: tuple[Row, ...] = ()
    extra_c: Row = ()
    dense: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        self._check_shapes()
        self._check_row_sums()
        self._check_order("b", self._floats(self.b), self.order)
        if self.error:
            embedded = self._floats((*self.b, Fraction(0))) - self._floats(self.error[0])
            self._check_order("the embedded solution", embedded, self.error_order)

    @property
    def stages(self) -> int:
        """Evaluations of a step (one of them also serves the next step)."""
        return len(self.b)

    @property
    def all_stages(self) -> int:
        """Slopes a step may hold: stages, the slope at the end, and those for dense output."""
        return len(self.b) + 1 + len(self.extra_a)

    def matrix(self) -> Floats:
        """All rows of a, square: stages, then the end of the step (b), then the stages for dense output."""
        size = self.all_stages
        full = np.zeros((size, size))
        for index, row in enumerate((*self.a, self.b, *self.extra_a), start=1):
            full[index, : len(row)] = self._floats(row)
        return full

    def nodes(self) -> Floats:
        """c of all slopes: stages, the end, dense output."""
        return self._floats((*self.c, Fraction(1), *self.extra_c))

    def error_weights(self) -> Floats:
        """One row for each error estimate, over stages and the slope at the end."""
        return np.array([self._floats(row) for row in self.error]).reshape(len(self.error), self.stages + 1)

    def dense_weights(self) -> Floats:
        """Dense output y + u (F0 + (1-u) (F1 + u (F2 + (1-u) (F3 + ...)))) with F = h W K: the rows of W.

        The first three rows make the cubic of Hermite, the others come from the method.
        """
        rows = np.zeros((3 + len(self.dense), self.all_stages))
        end = self.stages
        rows[0, :end] = self._floats(self.b)
        rows[1] = -rows[0]
        rows[1, 0] += 1
        rows[2] = 2 * rows[0]
        rows[2, 0] -= 1
        rows[2, end] -= 1
        for index, row in enumerate(self.dense):
            rows[3 + index, : len(row)] = self._floats(row)
        return rows

    # checks

    @staticmethod
    def _floats(row: Sequence[Number]) -> Floats:
        return np.array([float(value) for value in row])

    def _check_shapes(self) -> None:
        good = (
            len(self.a) == self.stages - 1
            and len(self.c) == self.stages
            and all(len(row) == index for index, row in enumerate(self.a, start=1))
            and all(len(row) == self.stages + 1 for row in self.error)
            and all(len(row) <= self.all_stages for row in self.dense)
            and len(self.extra_a) == len(self.extra_c)
            and all(len(row) == self.stages + 1 + index for index, row in enumerate(self.extra_a))
        )
        if not good:
            raise TableauError(f"{self.name}: rows of a, b, c, error and dense do not match {self.stages} stages")

    def _check_row_sums(self) -> None:
        sums, nodes = self.matrix().sum(axis=1), self.nodes()
        for index in np.flatnonzero(np.abs(sums - nodes) > _ROUNDING * 10):
            raise TableauError(f"{self.name}: row {index} of a sums to {sums[index]}, but c is {nodes[index]}")
        for row in self.error:
            if abs(sum(self._floats(row))) > _ROUNDING:
                raise TableauError(f"{self.name}: error weights sum to {sum(self._floats(row))}, not to zero")

    def _check_order(self, what: str, b: Floats, order: int) -> None:
        size = len(b)
        wrong = defect(self.matrix()[:size, :size], b, order)
        if wrong > _ROUNDING * 10:
            raise TableauError(f"{self.name}: {what} misses the conditions of order {order} by {wrong:.1e}")


def _fractions(*rows: str) -> tuple[Row, ...]:
    return tuple(tuple(Fraction(entry) for entry in row.split()) for row in rows)


RK4 = Tableau(
    name="Runge-Kutta 4",
    order=4,
    a=_fractions("1/2", "0 1/2", "0 0 1"),
    b=_fractions("1/6 1/3 1/3 1/6")[0],
    c=_fractions("0 1/2 1/2 1")[0],
)

#: Dormand & Prince (1980); dense output of order 4 by Shampine (Hairer-Norsett-Wanner, II.6).
DORMAND_PRINCE_5 = Tableau(
    name="Dormand-Prince 5(4)",
    order=5,
    a=_fractions(
        "1/5",
        "3/40 9/40",
        "44/45 -56/15 32/9",
        "19372/6561 -25360/2187 64448/6561 -212/729",
        "9017/3168 -355/33 46732/5247 49/176 -5103/18656",
    ),
    b=_fractions("35/384 0 500/1113 125/192 -2187/6784 11/84")[0],
    c=_fractions("0 1/5 3/10 4/5 8/9 1")[0],
    error=_fractions("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40"),
    error_order=4,
    dense=_fractions(
        "-12715105075/11282082432 0 87487479700/32700410799 -10690763975/1880347072"
        " 701980252875/199316789632 -1453857185/822651844 69997945/29380423"
    ),
)

#: Hairer's DOP853: order 8, error estimates of orders 5 and 3, dense output of order 7.
DORMAND_PRINCE_8 = Tableau(
    name="Dormand-Prince 8(5,3)",
    order=8,
    a=dop853_numbers.A,
    b=dop853_numbers.B,
    c=dop853_numbers.C,
    error=(dop853_numbers.E5, dop853_numbers.E3),
    error_order=5,
    extra_a=dop853_numbers.EXTRA_A,
    extra_c=dop853_numbers.EXTRA_C,
    dense=dop853_numbers.D,
)
