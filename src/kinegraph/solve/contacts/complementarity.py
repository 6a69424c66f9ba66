"""Linear complementarity: w = M z + q, w >= 0, z >= 0, w z = 0, by Lemke's method.

Ties are broken by the lexicographic rule (Cottle, Pang, Stone, The Linear Complementarity Problem, 4.4 and 4.9), so no
sequence of pivots repeats itself. The result is a basic solution: the columns of M in the basis are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinegraph.solve.loops.contact_tolerances import SMALL, TIE

Floats = NDArray[np.float64]

_COVERINGS = 0.0, 1.0, -0.5  # how the entries of the covering vector grow


@dataclass(frozen=True)
class Complementary:
    """z, and which of its entries are in the basis: they may be positive, their w is zero."""

    z: Floats
    basic: NDArray[np.bool_]


def solve_complementarity(matrix: Floats, q: Floats) -> Complementary | None:
    """A solution, or None where Lemke's method ends on a ray (no solution, for the matrices of contacts)."""
    size = len(q)
    if not size or np.min(q) >= 0.0:
        return Complementary(np.zeros(size), np.zeros(size, dtype=bool))
    # Where rows depend on each other rounding may end on a ray; with another covering vector that seldom happens again.
    for slope in _COVERINGS:
        found = _lemke(matrix, q, 1.0 + slope * np.arange(size) / size)
        if found is not None:
            return found
    return None


def _lemke(matrix: Floats, q: Floats, covering: Floats) -> Complementary | None:
    size, level = len(q), float(np.max(np.abs(q)))
    # Columns: w, z, the artificial variable, the right-hand side.
    tableau = np.hstack([np.eye(size), -matrix, -covering[:, None], q[:, None] / level])
    basis = list(range(size))
    row, entering = _first_row(tableau), 2 * size
    for _ in range(50 * (size + 2)):
        leaving = basis[row]
        _pivot(tableau, row, entering)
        basis[row] = entering
        if leaving == 2 * size:
            return _solution(tableau, basis, size, level)
        entering = leaving + size if leaving < size else leaving - size
        found = _leaving_row(tableau, basis, entering, size)
        if found is None:
            return None
        row = found
    return None


def _first_row(tableau: Floats) -> int:
    """The row where the artificial variable must be largest; of equal ones the last, the lexicographic choice."""
    wanted = tableau[:, -1] / tableau[:, -2]
    return int(np.flatnonzero(wanted >= np.max(wanted) * (1 - TIE))[-1])


def _pivot(tableau: Floats, row: int, column: int) -> None:
    tableau[row] /= tableau[row, column]
    factors = tableau[:, column].copy()
    factors[row] = 0.0
    tableau -= np.outer(factors, tableau[row])


def _leaving_row(tableau: Floats, basis: list[int], entering: int, size: int) -> int | None:
    """The row whose variable first becomes zero as the entering one grows; None if none does."""
    column = tableau[:, entering]
    rows = np.flatnonzero(column > SMALL * max(1.0, float(np.max(np.abs(column)))))
    if not len(rows):
        return None
    ratios = tableau[rows, -1] / column[rows]
    least = float(np.min(ratios))
    tied = rows[ratios <= least + TIE * max(abs(least), 1.0)]
    for row in tied:
        if basis[row] == 2 * size:
            return int(row)
    for place in range(size):
        if len(tied) == 1:
            break
        further = tableau[tied, place] / column[tied]
        tied = tied[further <= np.min(further) + TIE * max(1.0, float(np.max(np.abs(further))))]
    return int(tied[0])


def _solution(tableau: Floats, basis: list[int], size: int, level: float) -> Complementary:
    z, basic = np.zeros(size), np.zeros(size, dtype=bool)
    for row, variable in enumerate(basis):
        if size <= variable < 2 * size:
            z[variable - size] = level * max(float(tableau[row, -1]), 0.0)
            basic[variable - size] = True
    return Complementary(z, basic)
