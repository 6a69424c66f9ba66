"""Which constraint rows are independent at a state, and how many degrees of freedom remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.conditions import Floats

#: A row is dependent on those before it if less than this part of it is left after taking them off.
DEPENDENT = 1e-9
#: Beside a singular position rows count as dependent from here on: rates there are right to fewer than six digits.
NEARLY_DEPENDENT = 1e-5
#: A row this much smaller than the largest is what rounded numbers leave of a row that says nothing.
NOTHING = 1e-12
#: A column is well enough determined if this part of the best one is left of it.
_ENOUGH = 0.05
#: And a column that should follow from others does, if this part of it is left after those that follow, too.
_LEAST_PART = 1e-4
#: A column this much smaller than the largest is what rounding leaves of a coordinate that moves no row.
_ROUNDED_COLUMN = 1e-9


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
    nothing = NOTHING * float(np.max(np.linalg.norm(scaled, axis=1), initial=0.0))
    for index, row in enumerate(scaled):
        length = float(np.linalg.norm(row))
        rest = _without(row / length if length > 0 else row, basis)
        left = float(np.linalg.norm(rest))
        if length <= nothing or left < tolerance:
            redundant.append(index)
        else:
            independent.append(index)
            basis.append(rest / left)
    return RowRank(tuple(independent), tuple(redundant), jacobian.shape[1])


def nearly_dependent(jacobian: Floats, groups: Sequence[object], part: float = NEARLY_DEPENDENT) -> tuple[int, ...]:
    """Rows of which no more than a part is left after those before them, beside the longest row of their group.

    Rows of one group have one unit: translations of a loop, turns of a loop. A row that becomes short counts, too.
    """
    lengths = np.linalg.norm(jacobian, axis=1)
    longest = {group: max(lengths[k] for k, other in enumerate(groups) if other == group) for group in groups}
    basis: list[Floats] = []
    found = []
    for index, (row, group) in enumerate(zip(jacobian, groups, strict=True)):
        rest = _without(row, basis)
        left = float(np.linalg.norm(rest))
        if not left > part * longest[group]:
            found.append(index)
        else:
            basis.append(rest / left)
    return tuple(found)


def _without(row: Floats, basis: Sequence[Floats]) -> Floats:
    """What is left of a row after taking off its parts along unit vectors; twice is enough (Parlett)."""
    for _ in range(2):
        for unit in basis:
            row = row - unit * float(unit @ row)
    return row


def following_columns(jacobian: Floats, first: Sequence[int]) -> frozenset[int]:
    """Columns to solve the rows for: those of `first` only where the others do not suffice, and its last before others.

    How much of a column is left after those taken before it is measured by itself: units do not matter.
    """
    rows = list(row_rank(jacobian).independent)
    left = np.array(jacobian[rows], dtype=float)
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-300)
    lengths = np.linalg.norm(left, axis=0)
    lengths = np.maximum(lengths, _ROUNDED_COLUMN * np.max(lengths, initial=1e-300))
    others = [column for column in range(jacobian.shape[1]) if column not in first]
    chosen: list[int] = []
    for _ in rows:
        part = np.linalg.norm(left, axis=0) / lengths
        part[chosen] = 0.0
        wanted = [k for k in others if part[k] > _ENOUGH]
        wanted = wanted or [max(others, key=lambda k: part[k])] if others else []
        wanted = [k for k in wanted if part[k] > _LEAST_PART] or [k for k in first if part[k] > _LEAST_PART]
        column = wanted[-1] if wanted else int(np.argmax(part))
        chosen.append(column)
        unit = left[:, column] / np.linalg.norm(left[:, column])
        left = left - np.outer(unit, unit @ left)
    return frozenset(chosen)


def dependent_columns(jacobian: Floats) -> tuple[int, ...]:
    """Columns to solve the rows for. Later ones come first: a model names its drives before what follows from them.

    A column is taken if enough of it is left after those before it; else the one of which most is left.
    """
    left = np.array(jacobian, dtype=float)
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-300)
    chosen: list[int] = []
    for _ in range(left.shape[0]):
        sizes = np.linalg.norm(left, axis=0)
        sizes[chosen] = 0.0
        good = np.flatnonzero(sizes > _ENOUGH * np.max(sizes))
        column = int(good[-1])
        chosen.append(column)
        unit = left[:, column] / sizes[column]
        left = left - np.outer(unit, unit @ left)
    return tuple(sorted(chosen))
