"""Denavit-Hartenberg tables, standard and modified, from CSV or Python rows, with numbers or symbols.

| column | meaning |
|---|---|
| alpha, a, d, theta | the four quantities of a row: expressions; empty is zero |
| kind | revolute (the default), prismatic or fixed; the first letter is enough |
| name | the coordinate's name; q1, q2, ... by default |
| m, x, y, z, Jx, Jy, Jz, Jxy, Jyz, Jxz | optional: mass, center of mass in the link frame, moments about it |

The coordinate of a revolute row is added to theta, that of a prismatic row to d, unless the cell contains it. All other
names are parameters. A modified row (Craig) is Rx(alpha) Sx(a) Rz(theta) Sz(d) with alpha and a of the previous link; a
standard row is Rz(theta) Sz(d) Sx(a) Rx(alpha).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from kinegraph.errors import ModelError, Place, one_of
from kinegraph.files import read_input_text
from kinegraph.io.language.expressions import read_expression
from kinegraph.io.robot.findings import Findings, Robot
from kinegraph.io.robot.placement import AngleReader, plus
from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE, RightAngles, pi_multiple
from kinegraph.io.robot.xml import Written
from kinegraph.model.expressions import PI, TIME, Expression, Name, Number, Scalar, expression, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Quaternion,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.names import did_you_mean, model_name_from
from kinegraph.model.report import Places
from kinegraph.model.validation.mechanism import validate

Cell: TypeAlias = "Scalar | None"
Row: TypeAlias = "Mapping[str, Cell] | Sequence[Cell]"

_FIRST = ("alpha", "a", "d", "theta", "kind", "name")
_CENTER = ("x", "y", "z")
_MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
_COLUMNS = (*_FIRST, "m", *_CENTER, *_MOMENTS)
_DECIMAL = re.compile(r"[+-]?[0-9]*\.([0-9]+)")
_MAX_ROWS = 10_000
_MAX_BYTES = 5_000_000


class Convention(Enum):
    """The convention of the table: standard, or modified (Craig)."""

    STANDARD = "standard"
    MODIFIED = "modified"


class AngleUnit(Enum):
    """The unit of the numbers in the columns alpha and theta."""

    RADIANS = "radians"
    DEGREES = "degrees"


def _words(convention: Convention | str, angles: AngleUnit | str) -> tuple[Convention, AngleUnit]:
    return one_of(Convention, convention, "convention", ModelError), one_of(AngleUnit, angles, "angles", ModelError)


def load_denavit_hartenberg(
    path: str | PathLike[str],
    *,
    convention: Convention | str = Convention.STANDARD,
    angles: AngleUnit | str = AngleUnit.RADIANS,
    gravity: tuple[Scalar, Scalar, Scalar] = (0, 0, -9.81),
    right_angles: bool = True,
    angle_tolerance: float = ANGLE_TOLERANCE,
) -> Robot:
    """Read a CSV file (UTF-8, separated by comma or semicolon) with the names of the columns in the first line."""
    text = read_input_text(path, _MAX_BYTES, "table")
    rule = RightAngles.within(angle_tolerance, right_angles)
    table = _Table(str(path), *_words(convention, angles), AngleReader(rule, Findings()))
    return table.robot(Path(path).stem, _csv_rows(text, str(path)), gravity)


def denavit_hartenberg(
    rows: Iterable[Row],
    *,
    name: str = "mechanism",
    convention: Convention | str = Convention.STANDARD,
    angles: AngleUnit | str = AngleUnit.RADIANS,
    gravity: tuple[Scalar, Scalar, Scalar] = (0, 0, -9.81),
    right_angles: bool = True,
    angle_tolerance: float = ANGLE_TOLERANCE,
) -> Robot:
    """A robot from rows: (alpha, a, d, theta[, kind[, name]]) each, or mappings with any of the columns.

    Cells are numbers, expressions, or text in the model language such as `"pi/2"`.
    """
    rule = RightAngles.within(angle_tolerance, right_angles)
    table = _Table("", *_words(convention, angles), AngleReader(rule, Findings()))
    return table.robot(name, [(Place(line, 1), _columns(row)) for line, row in enumerate(rows, 1)], gravity)


def _csv_rows(text: str, source: str) -> list[tuple[Place, Mapping[str, Cell]]]:
    lines = text.splitlines()
    separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    records = _records(lines, separator, source)
    _, header = next(records, (Place(1, 1, source), []))
    _check_columns(header, Place(1, 1, source))
    rows: list[tuple[Place, Mapping[str, Cell]]] = []
    for place, cells in records:
        if len(cells) > len(header):
            raise ModelError(f"the row has {len(cells)} cells, but the header {len(header)}", place, "remove cells")
        if any(cells):
            rows.append((place, dict(zip(header, cells, strict=False))))
    return rows


def _records(lines: Sequence[str], separator: str, source: str) -> Iterator[tuple[Place, list[str]]]:
    """The cells of each line and its place; an error names the place of invalid CSV."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            remedy = "close each quote on its line; cells of a table need no quotes"
            raise ModelError(f"the table is not valid CSV: {error}", Place(begin, 1, source), remedy) from None
        if cells is None:
            return
        yield Place(begin, 1, source), [cell.strip() for cell in cells]


def _columns(row: Row) -> Mapping[str, Cell]:
    if isinstance(row, Mapping):
        _check_columns(list(row), None)
        return row
    if len(row) > len(_FIRST):
        raise ModelError(f"a row has {len(row)} entries", remedy=f"write {', '.join(_FIRST)}, or a mapping")
    return dict(zip(_FIRST, row, strict=False))


def _check_columns(found: Sequence[str], place: Place | None) -> None:
    for column in found:
        if column not in _COLUMNS or found.count(column) > 1:
            message = f"the column {column!r} is unknown, or occurs twice"
            raise ModelError(message, place, did_you_mean(column, _COLUMNS))
    if not {"alpha", "a", "d", "theta"} & set(found):
        raise ModelError("the table has none of the columns alpha, a, d, theta", place, f"name {', '.join(_FIRST)}")


class _Table:
    """Converts a table to a mechanism."""

    def __init__(self, source: str, convention: Convention, unit: AngleUnit, angle_reader: AngleReader) -> None:
        self.source = source
        self.convention = convention
        self.unit = unit
        self.angle_reader = angle_reader
        self.places = Places()

    def robot(
        self, name: str, rows: Sequence[tuple[Place, Mapping[str, Cell]]], gravity: tuple[Scalar, Scalar, Scalar]
    ) -> Robot:
        if not 0 < len(rows) <= _MAX_ROWS:
            raise ModelError(f"the table has {len(rows)} rows", remedy=f"write 1 to {_MAX_ROWS} rows")
        bodies: list[Body] = []
        coordinates: list[Coordinate] = []
        for number, (place, row) in enumerate(rows, 1):
            transforms, coordinate = self._joint(row, number, place)
            body = Body(f"link{number}", bodies[-1].name if bodies else None, transforms, self._inertia(row, place))
            bodies.append(self.places.mark(body, place))
            if coordinate is not None:
                coordinates.append(self.places.mark(coordinate, place))
        x, y, z = (expression(item) for item in gravity)
        own = {coordinate.name for coordinate in coordinates} | {PI, TIME}
        used = [*(used for body in bodies for used in _names(body)), *sorted(names(x) | names(y) | names(z))]
        parameters = tuple(Parameter(symbol) for symbol in dict.fromkeys(used) if symbol not in own)
        found = Mechanism(model_name_from(name), tuple(bodies), tuple(coordinates), parameters, (x, y, z))
        validate(found, self.places)
        found = replace(found, report=self.angle_reader.findings.report())
        return Robot(found, {body.name: body.name for body in bodies}, {c.name: c.name for c in coordinates})

    def _joint(
        self, row: Mapping[str, Cell], number: int, place: Place
    ) -> tuple[tuple[Transform, ...], Coordinate | None]:
        kind = _kind(row.get("kind"), place)
        name = str(row.get("name") or f"q{number}")
        alpha, theta = (self._angle(row, column, number, place) for column in ("alpha", "theta"))
        a, d = (self._amount(row.get(column), place) for column in ("a", "d"))
        if kind == "revolute":
            theta = _with(theta, name)
        elif kind == "prismatic":
            d = _with(d, name)
        along = (Rotation(Axis.Z, theta), Shift(Axis.Z, d))
        if self.convention is Convention.STANDARD:
            steps: tuple[Transform, ...] = (*along, Shift(Axis.X, a), Rotation(Axis.X, alpha))
        else:
            steps = (Rotation(Axis.X, alpha), Shift(Axis.X, a), *along)
        retained = tuple(step for step in steps if _size(step) != ZERO)
        return retained, None if kind == "fixed" else Coordinate(name)

    def _amount(self, cell: Cell, place: Place) -> Expression:
        if cell is None or cell == "":
            return ZERO
        return read_expression(cell, place) if isinstance(cell, str) else expression(cell)

    def _angle(self, row: Mapping[str, Cell], column: str, number: int, place: Place) -> Expression:
        cell = row.get(column)
        amount = self._amount(cell, place)
        if not isinstance(amount, Number):
            return amount
        if self.unit is AngleUnit.DEGREES:
            return pi_multiple(amount.value / 180)
        match = _DECIMAL.fullmatch(cell if isinstance(cell, str) else repr(cell))
        written = Written(amount.value, len(match[1]) if match else 0)
        return self.angle_reader.angle(written, f"{column} of row {number}", place)

    def _inertia(self, row: Mapping[str, Cell], place: Place) -> Inertia:
        center = [self._amount(row.get(axis), place) for axis in _CENTER]
        central = tuple(Shift(axis, at) for axis, at in zip(Axis, center, strict=True) if at != ZERO)
        mass, *moments = (self._amount(row.get(column), place) for column in ("m", *_MOMENTS))
        Jx, Jy, Jz, Jxy, Jyz, Jxz = moments
        return Inertia(mass, Jx, Jy, Jz, Jxy, Jyz, Jxz, central)


def _kind(cell: Cell, place: Place) -> str:
    word = str(cell or "revolute").lower()
    for kind in ("revolute", "prismatic", "fixed"):
        if kind.startswith(word):
            return kind
    raise ModelError(f"unknown kind of joint {word!r}", place, "write revolute, prismatic or fixed")


def _with(cell: Expression, name: str) -> Expression:
    """The cell with the coordinate, which is added unless the cell contains it."""
    if name in names(cell):
        return cell
    return plus(Name(name), cell)


def _size(step: Transform) -> Expression:
    assert not isinstance(step, Quaternion)  # a table has none
    return step.angle if isinstance(step, Rotation) else step.distance


def _names(body: Body) -> Iterable[str]:
    inertia = body.inertia
    parts = [_size(step) for step in (*body.transforms, *inertia.central)]
    parts += [getattr(inertia, part) for part in ("mass", *_MOMENTS)]
    return sorted(frozenset[str]().union(*(names(part) for part in parts)))
