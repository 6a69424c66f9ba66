"""Constraint conditions in numbers: values, Jacobian and rates at a state, and the rank of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.model.constraints import row_group

# What assembly asks of a mechanism's constraints: values, Jacobian and rates at a state, as plain functions.

Floats: TypeAlias = npt.NDArray[np.float64]

#: Cosines of frames that fit are 1, or 0 and less.
_PARALLEL = 0.5
#: A longest lever this much shorter than the mechanism's lengths is what rounding leaves of none: positions beside a
#: stretched one close to the square of what they are off.
_NO_LEVER = 1e-5


@dataclass(frozen=True)
class Conditions:
    """The constraints of one mechanism with numbers for its parameters, at one time.

    `value(q)` is zero where the positions are consistent, `jacobian(q)` is its derivative by displacements (one for
    every velocity), `rate(q, v)` is zero where the velocities are consistent. Rows that restrict velocities only come
    last and have no value; `by_position` are the others, by index. `names` says what each row is, e.g. `pin.x`.
    """

    names: tuple[str, ...]
    by_position: list[int]
    value: Callable[[Floats], Floats]
    jacobian: Callable[[Floats], Floats]
    rate: Callable[[Floats, Floats], Floats]
    moved: Callable[[Floats, Floats], Floats]
    """`moved(q, d)`: positions after a small displacement d; quaternions keep unit length."""
    facing: Callable[[Floats], Floats]
    """`facing(q)`: cosines between axes of frames that stay parallel; not one where these are turned away."""
    shifts: npt.NDArray[np.bool_]
    """Which positions are lengths; the others count as angles."""
    shift_rates: npt.NDArray[np.bool_]
    """The same of displacements and velocities."""
    extent: float = 0.0
    """The longest constant length inside the mechanism, to tell levers from what rounding leaves."""
    length: float = 1.0
    """What lengths are counted in (`measured`)."""
    row_sizes: Floats | float = 1.0
    """And what values of rows are counted in."""

    def turned_round(self, q: Floats) -> bool:
        """Whether frames that should be parallel are turned by half a turn or a third: rows alone do not tell."""
        return bool(np.any(self.facing(q) < _PARALLEL))

    @property
    def sizes(self) -> Floats:
        """What displacements are counted in, one by one."""
        return np.where(self.shift_rates, self.length, 1.0)

    @property
    def position_sizes(self) -> Floats:
        """What positions are counted in."""
        return np.where(self.shifts, self.length, 1.0)

    def measured(self, q: Floats) -> Conditions:
        """These conditions, lengths and rows counted beside the mechanism's own lengths in this position.

        So what is near, far or nothing does not depend on the unit of length. Positions stay as they are.
        """
        length = self._usual_length(q)
        sizes = np.where(self.shift_rates, length, 1.0)
        largest = self.largest_entries(self.jacobian(q) * sizes)
        rows = np.exp2(np.round(np.log2(largest)))  # powers of two change no bit of what is computed
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
        """For every row the largest entry among rows of its kind: what its value is compared with.

        Rows of one kind are the translations of a loop; the unit of a constraint is known to its author only. Turns
        are compared with a radian, and so is a row without entries; translations without with the mechanism's extent.
        """
        largest = np.zeros(len(self._kinds))
        np.maximum.at(largest, self._kinds, np.abs(jacobian).max(axis=1, initial=0.0))
        found = largest[self._kinds]
        extent = self.extent / self.row_sizes * self._translations
        return np.where(self._turns | (found <= _NO_LEVER * extent), np.where(extent > 0.0, extent, 1.0), found)

    def _usual_length(self, q: Floats) -> float:
        """The longest lever of an angle about the places where loops close. Without such places: the length that moves
        constraints as much as a radian does; then the largest of the given lengths. Rounding leaves no lever."""
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
        """A number for each row, the same for rows of one kind."""
        groups = [row_group(name) for name in self.names]
        return np.array([groups.index(group) for group in groups], dtype=np.intp)

    @cached_property
    def _turns(self) -> npt.NDArray[np.bool_]:
        return np.array([row_group(name)[1] for name in self.names], dtype=bool)

    @cached_property
    def _translations(self) -> npt.NDArray[np.bool_]:
        """The rows that say along which axis points agree: their values are lengths."""
        return np.array([name.partition(".")[2] in ("x", "y", "z") for name in self.names], dtype=bool)


# Which constraint rows are independent at a state, and how many degrees of freedom remain.

#: A row is dependent on others if less than this part of it is left after taking them off: files are rounded.
DEPENDENT = 1e-5
#: Beside a singular position rows count as dependent from here on: rates there are right to fewer than six digits.
NEARLY_DEPENDENT = DEPENDENT
#: A row this much smaller than the largest is what rounded numbers leave of a row that says nothing.
NOTHING = 1e-12
#: Translations of a loop beside its turns, or those of other loops: shorter ones are what rounded numbers leave.
_SHORTEST = 1e-2
#: Rows are taken in order if this part of them is left, then with less.
_PARTS = (1e-2, 1e-3, 1e-4)
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


def row_rank(jacobian: Floats, names: Sequence[str] = (), tolerance: float = DEPENDENT) -> RowRank:
    """Independent rows in the order given: a row that follows from earlier ones is redundant. Rows have unit length.

    names: of the rows, where it is known that they are those of loops and constraints; a row of a loop that is much
    shorter than others of its kind says nothing.
    """
    lengths = np.linalg.norm(jacobian, axis=1)
    nothing = np.full(len(lengths), NOTHING * float(np.max(lengths, initial=0.0)))
    if names:
        nothing = np.maximum(nothing, tolerance * usual_lengths(lengths, names))
    places = np.flatnonzero(lengths > nothing)
    units = jacobian[places] / lengths[places, None]
    count = _count(units, tolerance)
    taken: list[int] = []
    for part in (*_PARTS, tolerance):  # a row of which little is left is taken where there is no better one
        taken = _in_order(units, part, count)
        if len(taken) == count:
            break
    independent = tuple(int(places[k]) for k in taken)
    redundant = tuple(k for k in range(len(jacobian)) if k not in independent)
    return RowRank(independent, redundant, jacobian.shape[1])


def usual_lengths(lengths: Floats, names: Sequence[str]) -> Floats:
    """Beside what each row is short: turns beside a radian, translations beside the longest of their loop."""
    groups = [row_group(name) for name in names]
    least = _SHORTEST * float(np.max(lengths, initial=0.0))
    longest = [max(lengths[k] for k, other in enumerate(groups) if other == group) for group in groups]
    in_loops = [max(size, 1.0 if turn else least) for size, (_, turn) in zip(longest, groups, strict=True)]
    return np.array([
        size if "." in name else length for size, name, length in zip(in_loops, names, lengths, strict=True)
    ])  # fmt: skip


def _count(units: Floats, tolerance: float) -> int:
    """How many rows of unit length are independent: those of which most is left are taken off first."""
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
    """Rows of which this part is left after those before them, at most so many."""
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
    """So many rows, each the one of which most is left after those before it: as graphs choose them by position."""
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
