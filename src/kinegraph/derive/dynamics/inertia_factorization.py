"""Forward dynamics by factorization of the inertia matrix, and the check that the matrix is regular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.tree.displacements import Motion, unit_quaternions
from kinegraph.errors import DerivationError, MasslessError
from kinegraph.graph.build import Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.proof import prove
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import names
from kinegraph.model.mechanism import Mechanism, amounts


def base_to_tip(motion: Motion) -> list[int]:
    """Velocity indices in order from the base to the tips."""
    first: dict[int, int] = {}
    for link, columns in enumerate(motion.columns):
        for column in columns:
            for index in column:
                first.setdefault(index, link)
    return sorted(range(len(motion.velocities)), key=lambda index: (first.get(index, 0), index))


class LinearSystem(NamedTuple):
    """The structure of a factorized system: the order of the unknowns, and the pairs (i, j) with an entry L_ij."""

    order: tuple[int, ...]
    lower: tuple[tuple[int, int], ...]


class Factorized:
    """The factorization H = L^T D L of a symmetric positive definite matrix. names: the velocities, for errors.

    Featherstone's factorization runs from the tips to the base, so it preserves the zeros of branches. These are exact
    zeros of the graph, so no list of branches is needed.
    """

    def __init__(self, matrix: Square, order: Sequence[int], names: Sequence[str]) -> None:
        self.order = order
        self.lower, self.inverse = _factorize([list(row) for row in matrix], order, names)

    @property
    def pivots(self) -> dict[int, Scalar]:
        """The pivots, by index."""
        return {index: self.lower[index][index] for index in self.order}

    def guarded(self, room: Mapping[int, Scalar]) -> Factorized:
        """The same factors, but solutions are NaN if a `room`, by index, is negative."""
        found = copy(self)
        found.inverse = {
            index: one.apply("guarded", room[index]) if index in room else one for index, one in self.inverse.items()
        }
        return found

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with matrix x = right."""
        return self.solve_lower(self.solve_upper(right))

    def solve_upper(self, right: Sequence[Scalar]) -> list[Scalar]:
        """y with L^T y = right."""
        y, order, lower = list(right), self.order, self.lower
        for position in range(len(order) - 1, -1, -1):
            i = order[position]
            for j in order[:position]:
                y[j] = y[j] - lower[i][j] * y[i]
        return y

    def solve_lower(self, upper: Sequence[Scalar]) -> list[Scalar]:
        """x with D L x = upper."""
        x = [self.inverse[i] * item for i, item in enumerate(upper)]
        for position, i in enumerate(self.order):
            for j in self.order[:position]:
                x[i] = x[i] - self.lower[i][j] * x[j]
        return x

    def scaled(self, upper: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 times L^-T a."""
        return [item * self.inverse[index] for index, item in enumerate(upper)]

    def weighted(self, first: Sequence[Scalar], second: Sequence[Scalar]) -> Scalar:
        """a^T matrix^-1 b, from L^-T a and L^-T b."""
        total = first[0].number(0)
        for index in range(len(first)):
            if not (first[index].is_zero or second[index].is_zero):
                total = total + first[index] * second[index] * self.inverse[index]
        return total

    def system(self) -> LinearSystem:
        """The positions of the entries of L."""
        pairs = [
            (i, j)
            for position, i in enumerate(self.order)
            for j in self.order[:position]
            if not self.lower[i][j].is_zero
        ]
        return LinearSystem(tuple(self.order), tuple(pairs))

    def solve_columns(self, right: Square) -> Square:
        """X with matrix X = right."""
        columns = [self.solve(column) for column in zip(*right, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    def inverted(self) -> Square:
        """The inverse, by columns, using symmetry."""
        size = len(self.order)
        one, zero = self.lower[0][0].number(1), self.lower[0][0].number(0)
        matrix = self.solve_columns([[one if i == j else zero for j in range(size)] for i in range(size)])
        place = {index: position for position, index in enumerate(self.order)}
        for i in range(size):
            for j in range(size):
                if place[i] > place[j]:
                    matrix[i][j] = matrix[j][i]
        return matrix


def _factorize(h: Square, order: Sequence[int], names: Sequence[str]) -> tuple[Square, dict[int, Scalar]]:
    inverse: dict[int, Scalar] = {}
    for position in range(len(order) - 1, -1, -1):
        k = order[position]
        if h[k][k].is_zero:
            raise MasslessError(names[k])
        inverse[k] = h[k][k].reciprocal()
        below = [i for i in order[:position] if not h[k][i].is_zero]
        ratios = {i: h[k][i] * inverse[k] for i in below}
        for place, i in enumerate(below):
            for j in below[: place + 1]:
                h[i][j] = h[j][i] = h[i][j] - ratios[i] * h[k][j]
        for i in below:
            h[k][i] = ratios[i]
    return h, inverse


# ---- Coordinates that move no mass

#: A pivot below this fraction of its diagonal entry may be rounding.
_SMALL = 1e-9
_STATES = 3


def massless_remedy(mechanism: Mechanism, velocity: str) -> str:
    """Further lines of an error: the bodies that a velocity moves, and advice for loops."""
    coordinate = velocity.removesuffix("'")
    moved = [
        body.name
        for body in mechanism.bodies
        if any(coordinate in names(amount) for transform in body.transforms for amount in amounts(transform))
    ]
    text = f"\n  {', '.join(moved)} and the bodies beyond have no mass" if moved else ""
    if is_constrained(mechanism):
        text += "\n  the spanning tree without loops leaves it free: cut another joint (`cut NAME;`), or give it mass"
    return text


def require_inertia(mechanism: Mechanism, inertia: Square, factors: Factorized) -> None:
    """DerivationError, which names the coordinates, if the inertia matrix is singular at every position.

    A pivot may vanish without being an exact zero of the graph, because sines and cosines cancel. If a pivot is small
    at random states, a proof decides whether it is zero.
    """
    own = [row[k] for k, row in enumerate(inertia)]
    if not own:
        return
    pivots = [factors.pivots[k] for k in range(len(own))]
    small = np.all(np.abs(_at_random(mechanism, pivots)) <= _SMALL * np.abs(_at_random(mechanism, own)), axis=0)
    first = next((k for k in reversed(factors.order) if small[k]), None)
    if first is None or not _is_zero(mechanism, pivots[first]):
        return
    (matrix, *_) = _at_random(mechanism, [entry for row in inertia for entry in row])
    size = np.sqrt(np.maximum(np.diag(matrix.reshape(len(own), -1)), 1e-300))
    still = np.linalg.svd(matrix.reshape(len(own), -1) / np.outer(size, size))[2][-1]
    velocities = [name for name, part in zip(mechanism.layout.velocities, still, strict=True) if abs(part) > 1e-6]
    raise DerivationError(
        f"forward dynamics: the inertia matrix of {mechanism.name} is singular at every position: "
        f"{', '.join(velocities)} can change together without moving any mass\n  remove one of them, or give a body "
        "that they move mass or moments of inertia (`Jx`, `Jy`, `Jz`)"
    )


def _is_zero(mechanism: Mechanism, scalar: Scalar) -> bool:
    pivot, nothing = (one.builder.graph([Output("pivot", (1,), (one.index,))]) for one in (scalar, scalar.number(0)))
    return bool(prove(pivot, nothing, quaternions=unit_quaternions(mechanism)))


def _at_random(mechanism: Mechanism, scalars: Sequence[Scalar]) -> np.ndarray:
    """Values at random states with random parameters, by state and scalar."""
    graph = scalars[0].builder.graph([Output("values", (len(scalars),), tuple(one.index for one in scalars))])
    random = np.random.default_rng(3)
    symbols = [node for node in graph.nodes if isinstance(node, Symbol)]
    low = {symbol.name: 0.5 if symbol.kind is Kind.PARAMETER else -1.2 for symbol in symbols}
    given = {name: random.uniform(least, 1.3, _STATES) for name, least in low.items()}
    for start in mechanism.layout.quaternions:
        parts = [name for name in mechanism.layout.positions[start : start + 4] if name in given]
        length = np.sqrt(sum(given[name] ** 2 for name in parts)) if len(parts) == 4 else 1.0
        given |= {name: given[name] / length for name in parts}
    return np.broadcast_to(interpret(graph, given)["values"], (_STATES, len(scalars)))
