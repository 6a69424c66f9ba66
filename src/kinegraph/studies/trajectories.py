"""Trajectories of all cases as one Zarr group: `states` (case, time, entry), `case`, `t`; entries are named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from kinegraph.extras import extra
from kinegraph.studies.results import Study

FOLDER = "trajectories.zarr"


def require_zarr() -> Any:
    """Zarr; an error says how to install it."""
    return extra("zarr", "keeping trajectories of a study")


def write_trajectories(study: Study, folder: Path) -> Path:
    """Write the states of all cases; the group appears whole."""
    zarr = require_zarr()
    target, temporary = folder / FOLDER, folder / f".{FOLDER}.{os.getpid()}"
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
    return target
