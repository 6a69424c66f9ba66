"""Which constraint rows are independent at a state, and how many degrees of freedom remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.conditions import Floats

#: A row is dependent on those before it if less than this part of it is left after taking them off.
DEPENDENT = 1e-9


@dataclass(frozen=True)
class RowRank:
    """Rows by index: those that restrict the motion, and those that follow from them."""

    independent: tuple[int, ...]
    redundant: tuple[int, ...]
    velocities: int

    @property
    def mobility(self) -> int:
        """Degrees of freedom."""
        return self.velocities - len(self.independent)


def row_rank(jacobian: Floats, weights: Floats | None = None, tolerance: float = DEPENDENT) -> RowRank:
    """Independent rows in the order given: a row that follows from earlier ones is redundant.

    Columns are scaled by `weights` (lengths of displacements that count as equal), rows to unit length.
    """
    scaled = jacobian if weights is None else jacobian * weights
    basis: list[Floats] = []
    independent, redundant = [], []
    for index, row in enumerate(scaled):
        length = float(np.linalg.norm(row))
        rest = row / length if length > 0 else row
        for _ in range(2):  # twice is enough (Parlett)
            for unit in basis:
                rest = rest - unit * float(unit @ rest)
        left = float(np.linalg.norm(rest))
        if length == 0 or left < tolerance:
            redundant.append(index)
        else:
            independent.append(index)
            basis.append(rest / left)
    return RowRank(tuple(independent), tuple(redundant), jacobian.shape[1])


def dependent_columns(jacobian: Floats, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """Columns to solve the rows for: the largest pivots of a complete elimination, `preferred` ones first.

    The rows must be independent. Large pivots keep the chart valid as far as possible around the state.
    """
    matrix = np.array(jacobian, dtype=float)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(lengths > 0, lengths, 1.0)
    rows = list(range(matrix.shape[0]))
    chosen: list[int] = []
    while rows:
        row, column = _largest(matrix, rows, chosen, preferred)
        chosen.append(column)
        rows.remove(row)
        for other in rows:
            matrix[other] -= matrix[row] * (matrix[other, column] / matrix[row, column])
    return tuple(sorted(chosen))


def _largest(matrix: Floats, rows: list[int], taken: list[int], preferred: Sequence[int]) -> tuple[int, int]:
    size = np.abs(matrix[rows])
    size[:, taken] = -1.0
    wanted = [column for column in preferred if column not in taken]
    if wanted and float(np.max(size[:, wanted])) > 1e-3 * float(np.max(size)):
        place = np.unravel_index(int(np.argmax(size[:, wanted])), (len(rows), len(wanted)))
        return rows[int(place[0])], wanted[int(place[1])]
    place = np.unravel_index(int(np.argmax(size)), size.shape)
    return rows[int(place[0])], int(place[1])
