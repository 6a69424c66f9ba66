"""Read parameter values from a file: JSON, TOML, CSV, or lines `name = value`. Nothing is executed.

Numbers are exact as written; a value in quotes is an expression of other parameters.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from os import PathLike
from pathlib import Path
from typing import TypeVar

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_regular
from kinegraph.io.language.expressions import read_expression
from kinegraph.model.expressions import Expression, expression

T = TypeVar("T")

#: Maximum file size, in bytes.
MAX_BYTES = 5_000_000

_LINE = re.compile(r"\s*([^\s=:,]+)\s*=\s*(.*?)\s*[,;]?\s*")
_COMMENT = re.compile(r"#.*|//.*")


def read_parameters(path: str | PathLike[str]) -> dict[str, Expression]:
    """The parameter values of a file, by name."""
    source = str(path)
    try:
        text = read_regular(path, MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        remedy = "check the name of the parameter file"
        raise ModelError(f"cannot read {source}: {error.strerror}", remedy=remedy) from None
    except UnicodeDecodeError:
        raise ModelError(f"{source} is not UTF-8 text", remedy="save the file as UTF-8 text") from None
    match Path(source).suffix.lower():
        case ".json":
            return _from_tables(_json(text, source), source)
        case ".toml":
            return _from_tables(_toml(text, source), source)
        case ".csv":
            return _from_csv(text, source)
    return _from_lines(text, source)


def _decimal(text: str) -> Decimal:
    """The number as it is written; ValueError for an exponent beyond what decimals hold."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the number {text[:20]} is too large or too small") from None


def _json(text: str, source: str) -> object:
    try:
        return json.loads(text, parse_float=_decimal, object_pairs_hook=lambda pairs: _once(pairs, source))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{source} is not valid JSON: {error}", remedy='write {"m1": 2, "l1": 0.5}') from None


def _toml(text: str, source: str) -> object:
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{source} is not valid TOML: {error}", remedy="write lines `m1 = 2`") from None


def _once(pairs: Sequence[tuple[str, T]], source: str) -> dict[str, T]:
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise ModelError(f"{source} gives {name} twice", remedy="keep one of the two")
        found[name] = value
    return found


def _from_tables(read: object, source: str) -> dict[str, Expression]:
    """Names and values, or a single table `parameters` that contains them."""
    if isinstance(read, Mapping) and set(read) == {"parameters"} and isinstance(read["parameters"], Mapping):
        read = read["parameters"]
    if not isinstance(read, Mapping):
        raise ModelError(f"{source} does not contain names with values", remedy='write {"m1": 2, "l1": 0.5}')
    return {str(name): _value(value, str(name), Place(1, 1, source)) for name, value in read.items()}


def _value(value: object, name: str, place: Place) -> Expression:
    if isinstance(value, str):
        return read_expression(value, place)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        message = f"{place.source}: the value of {name} is not a number"
        raise ModelError(message, remedy='write a number, or an expression in quotes such as "2*m1"')
    return expression(value, f"{place.source}: {name}")


def _from_csv(text: str, source: str) -> dict[str, Expression]:
    """Rows `name,value`; a header and further columns (units, comments) are ignored."""
    pairs: list[tuple[str, Expression]] = []
    try:
        rows = list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise ModelError(f"{source} is not valid CSV: {error}", remedy="write rows `name,value`") from None
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        heading = number == 1 and [cell.lower() for cell in cells[:2]] in (["name", "value"], ["parameter", "value"])
        if heading or not any(cells) or cells[0].startswith("#"):
            continue
        place = Place(number, 1, source)
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise ModelError("a row needs a name and a value", place, "write `name,value`")
        pairs.append((cells[0], read_expression(cells[1], place)))
    return _once(pairs, source)


def _from_lines(text: str, source: str) -> dict[str, Expression]:
    """Lines `name = value`, optionally ended by `;` or `,`; `#` and `//` begin comments."""
    pairs: list[tuple[str, Expression]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = _COMMENT.sub("", line)
        if not line.strip():
            continue
        place = Place(number, 1, source)
        found = _LINE.fullmatch(line)
        if found is None or not found[2]:
            raise ModelError(f"cannot read `{line.strip()[:60]}`", place, "write `name = value`")
        pairs.append((found[1], read_expression(found[2], place)))
    return _once(pairs, source)
