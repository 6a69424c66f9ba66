"""Statements of tables: points, axes with values, or a CSV file beside the model."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import PurePosixPath
from typing import TypeVar

from lark import Token

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_input_text
from kinegraph.io.language.element_statements import Clause
from kinegraph.io.language.expressions import ExpressionReader
from kinegraph.model.evaluate import value
from kinegraph.model.expressions import Expression
from kinegraph.model.names import did_you_mean
from kinegraph.model.tables import Interpolation, Outside, Table, checked

E = TypeVar("E", bound=Enum)
Columns = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True)
class Points:
    """`(x, y), (x, y), ...`."""

    rows: tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """`x(...), y(...), values((...), ...)`: two axes, and a row of values for each entry of the first."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class TableFile:
    """`file("road.csv")`, optionally with the names or numbers of two columns."""

    path: Token
    columns: tuple[Token, ...]


_NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?")
#: The largest file of a table, in bytes.
_LARGEST_FILE = 20_000_000


def read_table(name: Token, data: Points | Axes | TableFile, words: Sequence[Token], reader: ExpressionReader) -> Table:
    """The table of one statement."""
    place = reader.place(name)
    if isinstance(data, Points):
        axes, values = _from_points(data, place)
    elif isinstance(data, Axes):
        axes, values = _from_axes(data, place)
    else:
        axes, values = _from_file(data, reader)
    interpolation, outside = _kinds(str(name), words, place, reader)
    table = Table(str(name), axes, values, interpolation, outside)
    try:
        checked(table)
    except ModelError as error:
        raise error.at(place) from None
    return reader.places.mark(table, place)


def _kinds(name: str, words: Sequence[Token], place: Place, reader: ExpressionReader) -> tuple[Interpolation, Outside]:
    """The curve between the points and the value outside. Both are stated, in any order."""
    curves = {one.value: one for one in Interpolation}
    ends = {one.value: one for one in Outside}
    for word in words:
        if str(word) not in curves and str(word) not in ends:
            raise ModelError(f"unknown word '{word}'", reader.place(word), did_you_mean(str(word), (*curves, *ends)))
    between = [curves[str(word)] for word in words if str(word) in curves]
    outside = [ends[str(word)] for word in words if str(word) in ends]
    if len(between) != 1 or len(outside) != 1:
        missing = "the curve between its points" if len(between) != 1 else "the value outside its points"
        options = curves if len(between) != 1 else ends
        message = f"the table {name} does not state {missing} once"
        raise ModelError(message, place, f"write one of {', '.join(options)}: `| linear, hold;`")
    return between[0], outside[0]


def _from_points(data: Points, place: Place) -> tuple[Columns, tuple[Fraction, ...]]:
    if any(len(row) != 2 for row in data.rows):
        remedy = "write points `(x, y)`; a table of two arguments is `| x(0, 1), y(0, 1, 2), values((..), (..)) |`"
        raise ModelError("a point of a table has two numbers", place, remedy)
    pairs = [(_exact(x, place), _exact(y, place)) for x, y in data.rows]
    return (tuple(x for x, _ in pairs),), tuple(y for _, y in pairs)


def _from_axes(data: Axes, place: Place) -> tuple[Columns, tuple[Fraction, ...]]:
    *axes, values = data.clauses
    if values.word != "values" or len(axes) not in (1, 2):
        remedy = (
            "write `| x(0, 1, 2), values(5, 6, 7) |`, or with two axes `| x(0, 1), y(0, 1, 2), values((..), (..)) |`"
        )
        raise ModelError("a table has one or two axes, and then `values`", values.place, remedy)
    found = tuple(_numbers(axis) for axis in axes)
    if len(axes) == 1:
        return found, _numbers(values)
    rows = [row if isinstance(row, tuple) else (row,) for row in values.arguments]
    shape = len(found[0]), len(found[1])
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        remedy = f"write {shape[0]} rows in parentheses, one for each entry of {axes[0].word}, of {shape[1]} values"
        raise ModelError("the rows of values do not fit the axes", values.place, remedy)
    return found, tuple(_exact(item, values.place) for row in rows for item in row)


def _numbers(clause: Clause) -> tuple[Fraction, ...]:
    found = []
    for item in clause.arguments:
        if isinstance(item, tuple):
            raise ModelError(f"`{clause.word}` has a vector as an entry", clause.place, "write numbers, `x(0, 1, 2)`")
        found.append(_exact(item, clause.place))
    return tuple(found)


def _exact(item: Expression, place: Place) -> Fraction:
    """A number of a table: exact, or the shortest decimal of a number with pi."""
    try:
        found = value(item, {})
    except ModelError as error:
        remedy = "write numbers; for a table with parameters, use them in its argument or as a factor: `s*torque(w)`"
        raise ModelError(f"the entries of a table are numbers: {error.problem}", place, remedy) from None
    return found if isinstance(found, Fraction) else Fraction(float.__repr__(found))


# Files


def _from_file(data: TableFile, reader: ExpressionReader) -> tuple[Columns, tuple[Fraction, ...]]:
    place = reader.place(data.path)
    written = str(data.path)[1:-1]
    path = PurePosixPath(written)
    if reader.folder is None:
        remedy = "save the model in a file beside the table and load it, or write the points into the model"
        raise ModelError(f'a model without a file cannot read "{written}"', place, remedy)
    if path.is_absolute() or ".." in path.parts or "\\" in written or ":" in written or not path.parts:
        remedy = 'write its name relative to the model, such as "road.csv"'
        raise ModelError(f'the table "{written}" is not in the folder of the model', place, remedy)
    try:
        text = read_input_text(reader.folder / path, _LARGEST_FILE)
    except ModelError as error:
        remedy = "a table lies in the folder of its model, or below it"
        raise ModelError(f'the table "{written}": {error.problem}', place, remedy) from None
    rows = _rows(text, written)
    x, y = _columns(rows, data.columns, written, place)
    return (tuple(row[x] for row in rows.numbers),), tuple(row[y] for row in rows.numbers)


@dataclass(frozen=True, slots=True)
class _Rows:
    heading: tuple[str, ...]  # empty if the file has none
    numbers: tuple[tuple[Fraction, ...], ...]


def _rows(text: str, source: str) -> _Rows:
    """The rows of a file: numbers separated by commas, semicolons, tabs or spaces; a heading, and `#` comments."""
    heading: tuple[str, ...] = ()
    found: list[tuple[Fraction, ...]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        cells = _cells(content)
        try:
            row = tuple(_decimal(cell) for cell in cells)
        except ValueError:
            if not found and not heading and not any(_NUMBER.fullmatch(cell) for cell in cells):
                heading = tuple(cells)
                continue
            remedy = "write numbers with a decimal point, one row for each point"
            raise ModelError(f"`{content[:60]}` is not a row of numbers", Place(number, 1, source), remedy) from None
        if (found and len(row) != len(found[0])) or (heading and len(row) != len(heading)):
            wanted = len(found[0]) if found else len(heading)
            message = f"this row has {len(row)} columns, the rows before have {wanted}"
            raise ModelError(message, Place(number, 1, source), "write a value in each column")
        found.append(row)
    if not found:
        raise ModelError(f'the table "{source}" has no numbers', Place(1, 1, source), "write rows `x,y`")
    return _Rows(heading, tuple(found))


def _cells(line: str) -> list[str]:
    for separator in (";", ",", "\t"):
        if separator in line:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
    return line.split()


def _decimal(cell: str) -> Fraction:
    """The exact number of a cell; ValueError for anything else."""
    if not _NUMBER.fullmatch(cell) or not isfinite(float(cell)):
        raise ValueError
    return Fraction(cell)


def _columns(rows: _Rows, wanted: Sequence[Token], source: str, place: Place) -> tuple[int, int]:
    """The indices of the two columns: those named, or the only two."""
    width = len(rows.numbers[0])
    if not wanted:
        if width != 2:
            named = " or ".join(
                f'`file("{source}", {pair})`'
                for pair in (["1, 2", ", ".join(rows.heading[:2])][: 1 + bool(rows.heading)])
            )
            raise ModelError(f'the table "{source}" has {width} columns', place, f"name two of them: {named}")
        return 0, 1
    if len(wanted) != 2:
        raise ModelError("a table from a file has two columns: argument and value", place, "name two columns")
    x, y = (_column(one, rows.heading, width, source, place) for one in wanted)
    return x, y


def _column(name: Token, heading: Sequence[str], width: int, source: str, place: Place) -> int:
    if name.type == "NUMBER":
        if name.isdecimal() and 1 <= int(name) <= width:
            return int(name) - 1
        raise ModelError(f'the table "{source}" has no column {name}', place, f"columns are numbered from 1 to {width}")
    if str(name) in heading:
        return list(heading).index(str(name))
    remedy = did_you_mean(str(name), heading) if heading else "it has no heading: give the numbers of its columns"
    raise ModelError(f"the table \"{source}\" has no column '{name}'", place, remedy)
