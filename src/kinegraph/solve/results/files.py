"""Columns as files: .parquet and .npz with facts beside them, .csv for all other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import SolveError
from kinegraph.extras import Foreign, extra
from kinegraph.files import written_to
from kinegraph.solve.results.facts import SolutionFacts

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]

#: What the facts are called in the metadata of a table, and in an archive, where no column has this name.
_FACTS = "kinegraph"
_ENTRY = "kinegraph.json"


def require_format(path: str | Path) -> None:
    """SolveError or MissingPackageError unless columns can be written to files of this ending: said before a run."""
    path = Path(path)
    match path.suffix.lower():
        case ".parquet":
            extra("pyarrow.parquet", "a Parquet file (.csv and .npz need nothing)")
        case ".csv" | ".npz":
            pass
        case other:
            raise SolveError(f"cannot write {path.name}: the ending {other!r} is not .parquet, .csv or .npz")
    if not path.absolute().parent.is_dir():
        raise SolveError(f"cannot write {path}: there is no folder {path.parent}")


def save_columns(path: str | Path, columns: Columns, facts: SolutionFacts | None = None) -> Path:
    """Write columns of one length to a file; its ending says how. Facts are kept by .parquet and .npz."""
    path = Path(path)
    require_format(path)
    with written_to(path):
        match path.suffix.lower():
            case ".parquet":
                extra("pyarrow.parquet", "a Parquet file").write_table(arrow_table(columns, facts), path)
            case ".csv":
                _save_csv(path, columns)
            case _:
                _save_npz(path, columns, facts)
    return path


def load_columns(path: str | Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts]:
    """The columns and facts of a .parquet or .npz file; SolveError if it has no facts."""
    path = Path(path)
    columns, facts = _read_npz(path) if path.suffix.lower() == ".npz" else _read_parquet(path)
    if facts is None:
        raise SolveError(f"{path} holds no solution: it has no metadata of Kinegraph")
    return columns, facts


def arrow_table(columns: Columns, facts: SolutionFacts | None = None) -> Foreign:
    """Columns as an Arrow table; facts stand in its metadata."""
    table = extra("pyarrow", "an Arrow table").table(dict(columns))
    return table if facts is None else table.replace_schema_metadata({_FACTS: json.dumps(facts)})


def _read_parquet(path: Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts | None]:
    table = extra("pyarrow.parquet", "a Parquet file").read_table(path)
    written = (table.schema.metadata or {}).get(_FACTS.encode())
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return columns, None if written is None else json.loads(written)


def _save_csv(path: Path, columns: Columns) -> None:
    """Names in quotes; every number as the shortest decimal that is read back as the same double."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _save_npz(path: Path, columns: Columns, facts: SolutionFacts | None) -> None:
    arrays: dict[str, NDArray[np.generic]] = {_entry(name): column for name, column in columns.items()}
    if facts is not None:
        arrays[_ENTRY] = np.array(json.dumps(facts))
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _entry(name: str) -> str:
    """Names as they are: an archive of arrays takes any name but these two."""
    return f"{name}_" if name in ("file", "allow_pickle") else name


def _read_npz(path: Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts | None]:
    with np.load(path, allow_pickle=False) as archive:
        columns = {name: archive[name] for name in archive.files if name != _ENTRY}
        facts = json.loads(str(archive[_ENTRY])) if _ENTRY in archive.files else None
    return columns, facts
