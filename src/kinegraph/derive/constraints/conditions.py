"""What assembly asks of a mechanism's constraints: values, Jacobian and rates at a state, as plain functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.model.constraints.records import row_group

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
