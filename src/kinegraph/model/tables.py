"""Tables of measured or designed values: `table torque | (0, 12), (100, 14), (200, 9) | spline, hold;`.

A table is a function of one or two arguments, made of polynomial pieces between its points. It may be used in every
expression, and its derivatives are the exact derivatives of its pieces.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.lazy_imports import Functions
from kinegraph.model.expressions import Call, Compound, Expression, Scalar, expression

if TYPE_CHECKING:
    from scipy import interpolate
else:
    interpolate = Functions("scipy.interpolate")

Floats: TypeAlias = NDArray[np.float64]
Value: TypeAlias = Fraction | float


class Interpolation(Enum):
    """The curve between the points.

    LINEAR: straight lines. SPLINE: a cubic spline with continuous second derivative. MONOTONE: cubic pieces with
    continuous first derivative (PCHIP), which never leave the range of neighboring values.
    """

    LINEAR = "linear"
    SPLINE = "spline"
    MONOTONE = "monotone"


class Outside(Enum):
    """The value outside the points: none (not a number), the value at the end, the last piece, or repetition."""

    REFUSE = "refuse"
    HOLD = "hold"
    EXTRAPOLATE = "extrapolate"
    PERIODIC = "periodic"


#: The most points of a table: its pieces are part of the equations and of the code.
MAX_POINTS = 100_000
#: An argument beyond the end by less than this fraction of the range is inside: times end with a rounding error.
MARGIN = Fraction(1, 10**9)


@dataclass(frozen=True)
class Table:
    """Values over one or two strictly increasing axes, in row-major order: the second axis runs fastest."""

    name: str
    axes: tuple[tuple[Fraction, ...], ...]
    values: tuple[Fraction, ...]
    interpolation: Interpolation = Interpolation.LINEAR
    outside: Outside = Outside.REFUSE

    def __call__(self, *arguments: Scalar) -> Lookup:
        """The value of the table at the arguments, as an expression."""
        return Lookup(self.name, tuple(expression(one) for one in arguments), self)

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """The fields only: a hash of strings differs between processes."""
        return {name: self.__dict__[name] for name in ("name", "axes", "values", "interpolation", "outside")}

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.axes, self.values, self.interpolation, self.outside))

    @property
    def period(self) -> Fraction:
        """The length of the first axis."""
        return self.axes[0][-1] - self.axes[0][0]

    @cached_property
    def pieces(self) -> tuple[tuple[Fraction, ...], ...]:
        """The coefficients of each piece, in row-major order.

        With one axis, c[k] belongs to u^k, and u is the distance from the start of the piece. With two, c[k, l] belongs
        to u^k w^l.
        """
        found = self._straight() if self.interpolation is Interpolation.LINEAR else self._cubic()
        return tuple(found)

    @property
    def order(self) -> int:
        """The number of coefficients of a piece along each axis."""
        return 2 if self.interpolation is Interpolation.LINEAR else 4

    def _straight(self) -> list[tuple[Fraction, ...]]:
        x = self.axes[0]
        if len(self.axes) == 1:
            y = self.values
            return [(y[i], (y[i + 1] - y[i]) / (x[i + 1] - x[i])) for i in range(len(x) - 1)]
        across, width = self.axes[1], len(self.axes[1])
        found: list[tuple[Fraction, ...]] = []
        for i in range(len(x) - 1):
            for j in range(width - 1):
                a, b = self.values[i * width + j], self.values[i * width + j + 1]
                c, d = self.values[(i + 1) * width + j], self.values[(i + 1) * width + j + 1]
                dx, dy = x[i + 1] - x[i], across[j + 1] - across[j]
                found.append((a, (b - a) / dy, (c - a) / dx, (d - b - c + a) / (dx * dy)))
        return found

    def _cubic(self) -> list[tuple[Fraction, ...]]:
        axes = [np.array([float(item) for item in axis]) for axis in self.axes]
        values = np.array([float(item) for item in self.values]).reshape([len(axis) for axis in axes])
        pieces = self._along(axes[0], values)  # power, piece, (second axis)
        if len(axes) == 2:
            pieces = np.moveaxis(self._along(axes[1], np.moveaxis(pieces, 2, 0)), (2, 3), (0, 1))
            pieces = np.moveaxis(pieces, (0, 1, 2, 3), (2, 0, 3, 1))  # piece, piece, power, power
            flat = pieces.reshape(-1, 16)
        else:
            flat = pieces.T
        return [tuple(Fraction(float.__repr__(float(item))) for item in row) for row in flat]

    def _along(self, x: Floats, values: Floats) -> Floats:
        """Powers in rising order by pieces, along the first axis of the values."""
        if self.interpolation is Interpolation.MONOTONE:
            c = interpolate.PchipInterpolator(x, values).c
        else:
            ends = "periodic" if self.outside is Outside.PERIODIC else "not-a-knot"
            c = interpolate.CubicSpline(x, values, bc_type=ends).c
        rising: Floats = c[::-1]
        return rising

    # values

    def at(self, arguments: Sequence[Value]) -> Value:
        """The value at numbers; not a number where the table refuses its argument."""
        places: list[int] = []
        steps: list[Value] = []
        for axis, given in zip(self.axes, arguments, strict=True):
            inside = self._inside(axis, given)
            if inside is None:
                return math.nan
            place = min(max(bisect_right(axis, inside) - 1, 0), len(axis) - 2)
            places.append(place)
            steps.append(inside - axis[place])
        piece = places[0] if len(places) == 1 else places[0] * (len(self.axes[1]) - 1) + places[1]
        return self._polynomial(self.pieces[piece], steps)

    def _inside(self, axis: tuple[Fraction, ...], given: Value) -> Value | None:
        """The argument in the range of the axis; None if it is refused."""
        first, last = axis[0], axis[-1]
        if self.outside is Outside.HOLD:
            return min(max(given, first), last)
        if self.outside is Outside.PERIODIC:
            return first + (given - first) % (last - first)
        room = MARGIN * (last - first)
        if self.outside is Outside.REFUSE and not first - room <= given <= last + room:
            return None
        return given

    def _polynomial(self, coefficients: tuple[Fraction, ...], steps: Sequence[Value]) -> Value:
        order = self.order
        if len(steps) == 2:
            rows = [horner(coefficients[k * order : (k + 1) * order], steps[1]) for k in range(order)]
            return float(horner(rows, steps[0]))
        found: Value = horner(coefficients, steps[0])
        return found


def horner(coefficients: Sequence[Any], step: Any) -> Any:
    """The polynomial of rising powers at a step."""
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * step + coefficient
    return total


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lookup(Call):
    """The value of a table at its arguments; written as a call of the table's name."""

    table: Table = field()

    @property
    def identity(self) -> object:
        return self.table

    def with_parts(self, parts: tuple[Expression, ...]) -> Compound:
        return Lookup(self.function, parts, self.table)

    def __reduce__(self) -> tuple[type[Compound], tuple[object, ...]]:  # type: ignore[override]
        return Lookup, (self.function, self.arguments, self.table)


def lookups(tables: Sequence[Table]) -> Callable[[Call], Expression]:
    """The replacement of calls by lookups, for `rewritten` and `renamed`."""
    known = {table.name: table for table in tables}
    return lambda call: Lookup(call.function, call.arguments, known[call.function]) if call.function in known else call


def checked(table: Table) -> None:
    """Raise a ModelError unless the points make a table."""
    count = math.prod(len(axis) for axis in table.axes)
    if len(table.axes) not in (1, 2) or any(len(axis) < 2 for axis in table.axes):
        raise ModelError(f"the table {table.name} has too few points", remedy="write two points or more on each axis")
    if count != len(table.values):
        shape = " by ".join(str(len(axis)) for axis in table.axes)
        raise ModelError(f"the table {table.name} has {len(table.values)} values", remedy=f"write {shape} values")
    if count > MAX_POINTS:
        raise ModelError(
            f"the table {table.name} has {count} points; the limit is {MAX_POINTS}",
            remedy="use fewer points, a spline needs far fewer than a linear table; or give a signal of time as "
            "samples of an input",
        )
    if any(abs(number) > sys.float_info.max for number in chain(*table.axes, table.values)):
        raise ModelError(f"the table {table.name} has a number beyond 1.8e308", remedy="choose other units")
    for axis in table.axes:
        for before, after in pairwise(axis):
            if after <= before:
                message = f"the arguments of the table {table.name} do not increase: {float(before):g} is followed by"
                raise ModelError(f"{message} {float(after):g}", remedy="sort the points, and remove duplicates")
    _check_kind(table)


def _check_kind(table: Table) -> None:
    if table.interpolation is Interpolation.MONOTONE and len(table.axes) == 2:
        raise ModelError(
            f"the table {table.name} has two arguments and cannot be monotone", remedy="write `linear` or `spline`"
        )
    if table.outside is not Outside.PERIODIC:
        return
    if len(table.axes) == 2:
        raise ModelError(
            f"the table {table.name} has two arguments and cannot be periodic",
            remedy="write `refuse`, `hold` or `extrapolate`, or give one table for each row",
        )
    if table.interpolation is Interpolation.MONOTONE:
        raise ModelError(
            f"the table {table.name} is periodic and cannot be monotone: its slope would jump at the end",
            remedy="write `spline` or `linear`",
        )
    first, last = table.values[0], table.values[-1]
    if first != last:
        raise ModelError(
            f"the periodic table {table.name} ends with {float(last):g}, but begins with {float(first):g}",
            remedy="end it with the first value again; the distance of the first and the last argument is the period",
        )
