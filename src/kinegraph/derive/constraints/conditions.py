"""Numerical constraint equations: values, Jacobian and rates at a state, and the rank of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.model.constraints import row_group

Floats: TypeAlias = npt.NDArray[np.float64]

#: Cosines between axes of closed frames are 1 if the frames are parallel, otherwise 0 or less.
_PARALLEL = 0.5
#: A lever shorter than this fraction of the mechanism's lengths counts as zero. Positions near a stretched one satisfy
#: the constraints up to the square of their distance.
_NO_LEVER = 1e-5


@dataclass(frozen=True)
class Conditions:
    """The constraints of one mechanism at one time, with values of its parameters.

    `value(q)` is zero if the positions are consistent. `jacobian(q)` is its derivative by displacements (one for every
    velocity). `rate(q, v)` is zero if the velocities are consistent. Rows that restrict velocities only come last and
    have no value; `by_position` holds the indices of the others. `names` are the names of rows, such as `pin.x`.
    """

    names: tuple[str, ...]
    by_position: list[int]
    value: Callable[[Floats], Floats]
    jacobian: Callable[[Floats], Floats]
    rate: Callable[[Floats, Floats], Floats]
    moved: Callable[[Floats, Floats], Floats]
    """`moved(q, d)`: positions after a small displacement d; quaternions keep unit length."""
    facing: Callable[[Floats], Floats]
    """`facing(q)`: cosines between axes that should be parallel; below one if a frame is turned away."""
    shifts: npt.NDArray[np.bool_]
    """Which positions are lengths; the others are angles."""
    shift_rates: npt.NDArray[np.bool_]
    """Which displacements and velocities are lengths."""
    extent: float = 0.0
    """The longest constant length inside the mechanism, to distinguish levers from rounding."""
    length: float = 1.0
    """The unit of length (see `measured`)."""
    row_sizes: Floats | float = 1.0
    """The units of the values of rows."""

    def turned_round(self, q: Floats) -> bool:
        """Are frames that should be parallel off by half a turn or a third? The rows alone do not show this."""
        return bool(np.any(self.facing(q) < _PARALLEL))

    @property
    def sizes(self) -> Floats:
        """The units of displacements."""
        return np.where(self.shift_rates, self.length, 1.0)

    @property
    def position_sizes(self) -> Floats:
        """The units of positions."""
        return np.where(self.shifts, self.length, 1.0)

    def measured(self, q: Floats) -> Conditions:
        """These conditions with lengths and rows relative to the mechanism's lengths in this position.

        Tolerances then do not depend on the unit of length. Positions are unchanged.
        """
        length = self._usual_length(q)
        sizes = np.where(self.shift_rates, length, 1.0)
        largest = self.largest_entries(self.jacobian(q) * sizes)
        rows = np.exp2(np.round(np.log2(largest)))  # powers of two cause no rounding
        columns = sizes / rows[:, None]
        return replace(
            self,
            value=lambda p: self.value(p) / rows,
            jacobian=lambda p: self.jacobian(p) * columns,
            rate=lambda p, v: self.rate(p, v * sizes) / rows,
            moved=lambda p, d: self.moved(p, d * sizes),
            length=length,
            row_sizes=rows,
        )

    def largest_entries(self, jacobian: Floats) -> Floats:
        """For every row the scale of its value: the largest entry among rows of its kind.

        The translations of a loop are rows of one kind. A constraint is its own kind, because its unit is unknown. The
        scale of rotations, and of rows without entries, is a radian; that of translations without entries is the
        mechanism's extent.
        """
        largest = np.zeros(len(self._kinds))
        np.maximum.at(largest, self._kinds, np.abs(jacobian).max(axis=1, initial=0.0))
        found = largest[self._kinds]
        extent = self.extent / self.row_sizes * self._translations
        return np.where(self._turns | (found <= _NO_LEVER * extent), np.where(extent > 0.0, extent, 1.0), found)

    def _usual_length(self, q: Floats) -> float:
        """The longest lever of an angle about a closing joint. Without levers: the length that changes constraints as
        much as a radian does, or else the largest given length."""
        jacobian = self.jacobian(q)
        angular, linear = jacobian[:, ~self.shift_rates], jacobian[:, self.shift_rates]
        if not linear.shape[1]:
            return 1.0
        extent = max(self.extent, float(np.abs(q[self.shifts]).max(initial=0.0)))
        levers = np.zeros((len(self._kinds), angular.shape[1]))
        np.add.at(levers, self._kinds[self._translations], angular[self._translations] ** 2)
        longest = float(np.sqrt(levers.max(initial=0.0)))
        if longest > _NO_LEVER * extent:
            return longest
        radian, metre = (np.abs(one).max(axis=1, initial=0.0) for one in (angular, linear))
        both = (metre > 0) & (radian > _NO_LEVER * extent * metre)
        if both.any():
            return float(np.exp(np.mean(np.log(radian[both] / metre[both]))))
        return extent or 1.0

    @cached_property
    def _kinds(self) -> npt.NDArray[np.intp]:
        """The number of each row's kind."""
        groups = [row_group(name) for name in self.names]
        return np.array([groups.index(group) for group in groups], dtype=np.intp)

    @cached_property
    def _turns(self) -> npt.NDArray[np.bool_]:
        return np.array([row_group(name)[1] for name in self.names], dtype=bool)

    @cached_property
    def _translations(self) -> npt.NDArray[np.bool_]:
        """The rows of coinciding points along an axis, whose values are lengths."""
        return np.array([name.partition(".")[2] in ("x", "y", "z") for name in self.names], dtype=bool)


# ---- Rank: independent rows and dependent columns

#: A row depends on others if less than this fraction remains after orthogonalization: numbers in files are rounded.
DEPENDENT = 1e-5
#: Near a singular position, rows count as dependent from this fraction on: rates have fewer than six correct digits.
NEARLY_DEPENDENT = DEPENDENT
#: A row smaller than this fraction of the largest is a rounded empty row.
NOTHING = 1e-12
#: Translations of a loop shorter than this fraction of the longest row are due to rounding.
_SHORTEST = 1e-2
#: Rows are accepted in order if this fraction of them remains; then with smaller fractions.
_PARTS = (1e-2, 1e-3, 1e-4)
#: A column is well determined if it keeps this fraction of the best one.
_ENOUGH = 0.05
#: A column can still be solved for if it keeps this fraction of itself.
_LEAST_PART = 1e-4
#: A column smaller than this fraction of the largest is a rounded empty column.
_ROUNDED_COLUMN = 1e-9


@dataclass(frozen=True)
class RowRank:
    """Indices of independent rows and of redundant rows, which follow from them."""

    independent: tuple[int, ...]
    redundant: tuple[int, ...]
    velocities: int

    @property
    def mobility(self) -> int:
        """Degrees of freedom."""
        return self.velocities - len(self.independent)


def row_rank(jacobian: Floats, names: Sequence[str] = (), tolerance: float = DEPENDENT) -> RowRank:
    """Independent rows in the given order: a row that follows from earlier ones is redundant. Rows are normalized.

    names: the names of the rows, if they belong to loops and constraints. Then a row of a loop that is much shorter
    than others of its kind counts as empty.
    """
    lengths = np.linalg.norm(jacobian, axis=1)
    nothing = np.full(len(lengths), NOTHING * float(np.max(lengths, initial=0.0)))
    if names:
        nothing = np.maximum(nothing, tolerance * usual_lengths(lengths, names))
    places = np.flatnonzero(lengths > nothing)
    units = jacobian[places] / lengths[places, None]
    count = _count(units, tolerance)
    taken: list[int] = []
    for part in (*_PARTS, tolerance):  # a row of which little remains is accepted only if there is no better one
        taken = _in_order(units, part, count)
        if len(taken) == count:
            break
    independent = tuple(int(places[k]) for k in taken)
    redundant = tuple(k for k in range(len(jacobian)) if k not in independent)
    return RowRank(independent, redundant, jacobian.shape[1])


def usual_lengths(lengths: Floats, names: Sequence[str]) -> Floats:
    """The scale of each row's length: a radian for rotations, the longest of the loop for translations."""
    groups = [row_group(name) for name in names]
    least = _SHORTEST * float(np.max(lengths, initial=0.0))
    longest = [max(lengths[k] for k, other in enumerate(groups) if other == group) for group in groups]
    in_loops = [max(size, 1.0 if turn else least) for size, (_, turn) in zip(longest, groups, strict=True)]
    return np.array([
        size if "." in name else length for size, name, length in zip(in_loops, names, lengths, strict=True)
    ])  # fmt: skip


def _count(units: Floats, tolerance: float) -> int:
    """The number of independent rows among unit rows: orthogonalization with the largest remainder first."""
    left = units
    for count in range(len(units)):
        sizes = np.linalg.norm(left, axis=1)
        row = int(np.argmax(sizes))
        if sizes[row] < tolerance:
            return count
        left = _without_rows(_without_rows(left, left[row] / sizes[row]), left[row] / sizes[row])
    return len(units)


def _without_rows(rows: Floats, unit: Floats) -> Floats:
    return np.asarray(rows - np.outer(rows @ unit, unit))


def _in_order(units: Floats, part: float, most: int) -> list[int]:
    """Rows that keep this fraction after orthogonalization against earlier rows; at most `most` of them."""
    basis: list[Floats] = []
    taken: list[int] = []
    for index, row in enumerate(units):
        rest = _without(row, basis)
        left = float(np.linalg.norm(rest))
        if left >= part and len(taken) < most:
            taken.append(index)
            basis.append(rest / left)
    return taken


def chosen_rows(jacobian: Floats, count: int) -> tuple[int, ...]:
    """`count` rows, each with the largest remainder after the earlier ones, as graphs choose them by position."""
    left = np.array(jacobian, dtype=float)
    chosen: list[int] = []
    for _ in range(count):
        sizes = np.sum(left * left, axis=1)
        sizes[chosen] = -1.0
        row = int(np.argmax(sizes))
        chosen.append(row)
        if sizes[row] > 0:
            unit = left[row] / np.sqrt(sizes[row])
            left = left - np.outer(left @ unit, unit)
    return tuple(chosen)


def nearly_dependent(jacobian: Floats, groups: Sequence[object], part: float = NEARLY_DEPENDENT) -> tuple[int, ...]:
    """Rows whose remainder after earlier rows is at most this fraction of the longest row of their group.

    Rows of one group have one unit: translations of a loop, or rotations of a loop. Short rows count too.
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
    """The remainder of a row after orthogonalization against unit vectors; twice is enough (Parlett)."""
    for _ in range(2):
        for unit in basis:
            row = row - unit * float(unit @ row)
    return row


def following_columns(jacobian: Floats, first: Sequence[int]) -> frozenset[int]:
    """Columns to solve the rows for: those of `first` only if the others do not suffice, the last of them first.

    The remainder of a column is relative to the column, so units do not matter.
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
    """Columns to solve the rows for. Later columns are preferred, because models name their drives first.

    A column is accepted if enough of it remains after the columns chosen before; otherwise the largest is chosen.
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
