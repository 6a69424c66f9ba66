"""The results of a study as files: one row a case (Parquet, or .npz without pyarrow), trajectories as a Zarr group."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from kinegraph.extras import Foreign, extra
from kinegraph.solve.results.files import save_columns
from kinegraph.studies.results import Study
from kinegraph.studies.storage import explained

RESULTS, TRAJECTORIES = "results", "trajectories.zarr"


def require_zarr() -> Foreign:
    """Zarr; an error says how to install it."""
    return extra("zarr", "keeping trajectories of a study")


def write_results(study: Study, folder: Path) -> Path:
    """Write the table, and the trajectories if there are any; each appears whole."""
    ending = "parquet" if find_spec("pyarrow") else "npz"
    target, temporary = folder / f"{RESULTS}.{ending}", folder / f".{RESULTS}.{os.getpid()}.{ending}"
    with explained(target):
        save_columns(temporary, study.columns)
        temporary.replace(target)
        if study.plan.grid:
            _write_trajectories(study, folder)
    return target


def _write_trajectories(study: Study, folder: Path) -> None:
    """`states` (case, time, entry), `case` and `t`; the attribute `names` says what the entries are."""
    zarr = require_zarr()
    target, temporary = folder / TRAJECTORIES, folder / f".{TRAJECTORIES}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    group = zarr.open_group(str(temporary), mode="w")
    rows = max(min(study.plan.chunk, len(study)), 1)
    states = group.create_array("states", shape=study.states.shape, chunks=(rows, *study.states.shape[1:]), dtype="f8")
    states[:] = study.states
    for name, values in (("case", study["case"]), ("t", study.plan.grid_times())):
        array = group.create_array(name, shape=values.shape, dtype=values.dtype)
        array[:] = values
    group.attrs["names"] = list(study.plan.equations().names)
    shutil.rmtree(target, ignore_errors=True)
    temporary.replace(target)
