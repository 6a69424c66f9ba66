"""Results that are tables: `to_pandas` hands them to pandas, and `to_xarray` hands runs to xarray."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.display import RichDisplay
from kinegraph.extras import Foreign, extra

#: One column of a table: one entry per row.
Column: TypeAlias = NDArray[np.generic]
Entry = TypeVar("Entry", bound=np.generic)


class Tabular(RichDisplay):
    """Base of results with a table of columns of equal length."""

    __slots__ = ()

    @abstractmethod
    def _table(self) -> Mapping[str, Column]:
        """The columns by name."""

    def to_pandas(self) -> Foreign:
        """The table as a pandas DataFrame. Needs the extra `tables`."""
        return extra("pandas", "a data frame").DataFrame(dict(self._table()))


def by_name(names: Sequence[str], rows: Sequence[NDArray[Entry]] | NDArray[Entry]) -> dict[str, NDArray[Entry]]:
    """Columns of an array with one row per entry; no rows give empty columns."""
    array = np.asarray(rows).reshape(len(rows), len(names))
    return {name: array[:, place] for place, name in enumerate(names)}


def time_series(columns: Mapping[str, Column], time: str, facts: Mapping[str, str]) -> Foreign:
    """Columns over time as an xarray Dataset; facts become its attributes."""
    variables = {name: (time, column) for name, column in columns.items() if name != time}
    return extra("xarray", "a dataset").Dataset(variables, {time: columns[time]}, dict(facts))


def runs_over_time(
    values: Mapping[str, NDArray[np.generic]],
    times: Column,
    runs: Mapping[str, Column],
    facts: Mapping[str, str],
    *,
    dimension: str = "run",
) -> Foreign:
    """Arrays of one row per run and one column per time as an xarray Dataset.

    runs: what is known of each run, as coordinates along `dimension`.
    """
    coordinates = {"t": times, **{name: (dimension, column) for name, column in runs.items()}}
    variables = {name: ((dimension, "t"), array) for name, array in values.items()}
    return extra("xarray", "a dataset").Dataset(variables, coordinates, dict(facts))
