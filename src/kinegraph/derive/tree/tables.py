"""Tables as scalars of a graph: selections of coefficients, and polynomials of the distance from a point."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import pi
from typing import NamedTuple

from kinegraph.graph.build import Scalar
from kinegraph.graph.lookup import lookup_name
from kinegraph.graph.node import ENTRY, INTERVAL
from kinegraph.model.tables import MARGIN, Outside, Table, horner

# The coefficients are piecewise constant, so their derivatives are zero, and those of the table are exact.

#: Tables of more pieces are arrays; those of fewer are selections, which are simpler to prove, print and vectorize.
SELECTED = 32
#: A period is a rational multiple of pi if it differs by less, relative to its size.
_SAME_PERIOD = 1e-14
_LARGEST_DIVISOR = 360


def looked_up(table: Table, arguments: Sequence[Scalar]) -> Scalar:
    """The value of a table at scalars."""
    inside = [_inside(table, axis, given) for axis, given in zip(table.axes, arguments, strict=True)]
    found = _piece_value(table, inside)
    if table.outside is Outside.REFUSE:
        for axis, given in zip(table.axes, arguments, strict=True):
            room = MARGIN * (axis[-1] - axis[0])
            found = found.apply("guarded", (given - (axis[0] - room)) * ((axis[-1] + room) - given))
    return found


def _piece_value(table: Table, inside: Sequence[Scalar]) -> Scalar:
    if len(table.pieces) > SELECTED:
        return _from_arrays(table, inside)
    steps = [
        given - _selected(given, axis[1:-1], [given.number(start) for start in axis[:-1]])
        for axis, given in zip(table.axes, inside, strict=True)
    ]
    chosen = [_chosen(table, inside, [piece[power] for piece in table.pieces]) for power in range(len(table.pieces[0]))]
    if len(steps) == 1:
        return _polynomial(chosen, steps[0])
    order = table.order
    rows = [_polynomial(chosen[k * order : (k + 1) * order], steps[1]) for k in range(order)]
    return _polynomial(rows, steps[0])


def _from_arrays(table: Table, inside: Sequence[Scalar]) -> Scalar:
    """The value of a large table: the number of the piece by search, and its coefficients from arrays."""
    arrays = _arrays(table)
    places = [
        given.apply(bounds) if bounds else given.number(0) for bounds, given in zip(arrays.bounds, inside, strict=True)
    ]
    steps = [given - _of_piece(at, start) for at, start, given in zip(places, arrays.starts, inside, strict=True)]
    piece = places[0] if len(places) == 1 else places[0] * (len(table.axes[1]) - 1) + places[1]
    chosen = [_of_piece(piece, one) for one in arrays.coefficients]
    if len(steps) == 1:
        return _polynomial(chosen, steps[0])
    order = table.order
    rows = [_polynomial(chosen[k * order : (k + 1) * order], steps[1]) for k in range(order)]
    return _polynomial(rows, steps[0])


class _Arrays(NamedTuple):
    """The functions of a table: of each axis the search and the starts of its pieces, and the coefficients by power.

    Values that are all equal are one number.
    """

    bounds: tuple[str, ...]
    starts: tuple[str | Fraction, ...]
    coefficients: tuple[str | Fraction, ...]


@lru_cache(maxsize=32)
def _arrays(table: Table) -> _Arrays:
    return _Arrays(
        tuple(lookup_name(INTERVAL, axis[1:-1]) if len(axis) > 2 else "" for axis in table.axes),
        tuple(_entry(axis[:-1]) for axis in table.axes),
        tuple(map(_entry, zip(*table.pieces, strict=True))),
    )


def _entry(values: Sequence[Fraction]) -> str | Fraction:
    return values[0] if all(one == values[0] for one in values) else lookup_name(ENTRY, values)


def _of_piece(piece: Scalar, values: str | Fraction) -> Scalar:
    return piece.apply(values) if isinstance(values, str) else piece.number(values)


def _polynomial(coefficients: Sequence[Scalar], step: Scalar) -> Scalar:
    found: Scalar = horner(coefficients, step)
    return found


def _chosen(table: Table, inside: Sequence[Scalar], values: Sequence[Fraction]) -> Scalar:
    """The value of the piece in which the arguments are."""
    like = inside[0]
    numbers = [like.number(value) for value in values]
    if len(inside) == 1:
        return _selected(like, table.axes[0][1:-1], numbers)
    width = len(table.axes[1]) - 1
    across = table.axes[1][1:-1]
    rows = [_selected(inside[1], across, numbers[at : at + width]) for at in range(0, len(numbers), width)]
    return _selected(like, table.axes[0][1:-1], rows)


def _selected(given: Scalar, bounds: Sequence[Fraction], values: Sequence[Scalar]) -> Scalar:
    """The value between the bounds: a balanced tree of selections, `len(bounds) + 1` values."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    below = _selected(given, bounds[: middle - 1], values[:middle])
    above = _selected(given, bounds[middle:], values[middle:])
    return below if below.index == above.index else (given - bounds[middle - 1]).apply("select", above, below)


def _inside(table: Table, axis: Sequence[Fraction], given: Scalar) -> Scalar:
    first, last = given.number(axis[0]), given.number(axis[-1])
    if table.outside is Outside.HOLD:
        risen = (given - first).apply("select", given, first)
        return (last - given).apply("select", risen, last)
    return _wrapped(table, given) if table.outside is Outside.PERIODIC else given


def _wrapped(table: Table, given: Scalar) -> Scalar:
    """The argument in the period of the points, by its angle about the middle of the range."""
    middle = (table.axes[0][0] + table.axes[0][-1]) / 2
    rate = _angular_rate(table.period, Scalar(given.builder, given.builder.pi()))
    angle = rate * (given - middle)
    return middle + angle.sin().apply("atan2", angle.cos()) / rate


def _angular_rate(period: Fraction, circle: Scalar) -> Scalar:
    """2*pi/period; a plain number if the period was written as a multiple of pi, so that angles stay angles."""
    exact = 2 * pi / float(period)
    near = Fraction(exact).limit_denominator(_LARGEST_DIVISOR)
    if near and abs(exact / float(near) - 1) < _SAME_PERIOD:
        return circle.number(near)
    return circle * (2 / period)
