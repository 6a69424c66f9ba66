"""Measured motion: times and columns, from arrays or a table of comma-separated values, checked."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import TaskError
from kinegraph.files import read_input_text
from kinegraph.model.expression import TIME
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.operating_point import Floats

#: Checked already; or columns by name, among them `t`; or the path of a CSV file with such a head.
MeasurementSource: TypeAlias = "Measurements | Mapping[str, ArrayLike] | str | PathLike[str]"

_LARGEST_TABLE = 200_000_000
_REMEDY = "give columns by name and their times, e.g. {'t': times, 'q1': values}, or the path of a CSV file"


@dataclass(frozen=True)
class Measurements:
    """values[time, column]; NaN where nothing was measured."""

    times: Floats
    columns: tuple[str, ...]
    values: Floats

    @property
    def known(self) -> np.ndarray:
        """Where there is a value."""
        return np.asarray(np.isfinite(self.values))

    def only(self, columns: Sequence[str]) -> Measurements:
        """Some of the columns."""
        for name in columns:
            if name not in self.columns:
                raise TaskError(f"the data have no column {name!r}\n  {did_you_mean(name, self.columns)}")
        return Measurements(self.times, tuple(columns), self.values[:, [self.columns.index(one) for one in columns]])


def measurements(source: MeasurementSource) -> Measurements:
    """What was measured, or a TaskError that says what is wrong with it."""
    if isinstance(source, Measurements):
        return source
    if isinstance(source, str | PathLike):
        source = _table(source)
    if not isinstance(source, Mapping):
        raise TaskError(f"the data are {source!r:.80}: {_REMEDY}")
    arrays = {str(name): _array(str(name), values) for name, values in source.items()}
    if TIME not in arrays:
        raise TaskError(f"the data have no column t (times in seconds): {_REMEDY}")
    times = arrays.pop(TIME)
    if not arrays or not len(times):
        raise TaskError(f"the data hold nothing that was measured: {_REMEDY}")
    if not np.all(np.isfinite(times)) or not np.all(np.diff(times) > 0):
        raise TaskError("the times of the data must increase and be finite numbers")
    for name, values in arrays.items():
        if len(values) != len(times):
            raise TaskError(f"the column {name} has {len(values)} values, t has {len(times)}: give one for each time")
        if np.isinf(values).any():
            raise TaskError(f"the column {name} holds an infinite value: write nan where nothing was measured")
        if np.isnan(values).all():
            raise TaskError(f"the column {name} holds no value")
    return Measurements(times, tuple(arrays), np.column_stack(list(arrays.values())))


def _array(name: str, values: object) -> Floats:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TaskError(f"the column {name} holds no numbers: {_REMEDY}") from None
    if array.ndim != 1:
        raise TaskError(f"the column {name} has shape {array.shape}: give one number for each time")
    return array


def _table(path: str | PathLike[str]) -> dict[str, list[float]]:
    """The columns of a file: names in the first line, then numbers; an empty field is no measurement."""
    lines = read_input_text(path, _LARGEST_TABLE, "table of measurements").splitlines()
    rows = [row for row in csv.reader(lines) if row]
    if not rows:
        raise TaskError(f"{path} is empty: write a line of names (t, q1, ...), then lines of numbers")
    head, *body = rows
    names = [name.strip() for name in head]
    if len(set(names)) < len(names):
        raise TaskError(f"{path}: a column is named twice in {', '.join(names)}")
    found: dict[str, list[float]] = {name: [] for name in names}
    for number, row in enumerate(body, 2):
        if len(row) != len(names):
            raise TaskError(f"{path}: row {number} has {len(row)} fields, the first one has {len(names)}")
        for name, text in zip(names, row, strict=True):
            found[name].append(_number(text, f"{path}: row {number}, {name}"))
    return found


def _number(text: str, place: str) -> float:
    try:
        return float(text) if text.strip() else float("nan")
    except ValueError:
        raise TaskError(f"{place}: {text[:40]!r} is not a number") from None
