"""Files of a study: its folder with one file per finished chunk, and tables of its results."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import get_ident
from typing import BinaryIO, Protocol

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.extras import Foreign, extra
from kinegraph.files import open_regular, read_input_text
from kinegraph.solve.solution import save_columns
from kinegraph.studies.cases import CaseTable
from kinegraph.studies.outcomes import Column
from kinegraph.studies.plan import Plan
from kinegraph.studies.results import Study

# The folder of a study: its description, and one file per finished chunk. A chunk is written under another name and
# then renamed: if the process is killed at any moment, the folder contains only complete chunks. Running the same study
# again runs the missing chunks.

MANIFEST, CHUNKS, LOCK = "study.json", "chunks", "lock"
_LARGEST_MANIFEST = 100_000_000
_SAVED, _COLUMN = "saved states", "column "


class Storage(Protocol):
    """Storage of finished chunks."""

    def finished(self) -> set[int]:
        """The stored chunks."""
        ...

    def put(self, chunk: int, table: CaseTable) -> None:
        """Store a chunk."""
        ...

    def get(self, chunk: int) -> CaseTable:
        """A stored chunk."""
        ...


class Memory:
    """Chunks of a study that has no folder."""

    def __init__(self) -> None:
        self._tables: dict[int, CaseTable] = {}

    def finished(self) -> set[int]:
        """The stored chunks."""
        return set(self._tables)

    def put(self, chunk: int, table: CaseTable) -> None:
        """Store a chunk."""
        self._tables[chunk] = table

    def get(self, chunk: int) -> CaseTable:
        """A stored chunk."""
        return self._tables[chunk]


class Folder:
    """Chunks in a folder."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan
        with explained(path):
            (path / CHUNKS).mkdir(parents=True, exist_ok=True)
        if (path / MANIFEST).exists():
            self._check_manifest()

    def finished(self) -> set[int]:
        """The complete stored chunks; an unreadable one is run again."""
        names = (path.name for path in (self.path / CHUNKS).glob("*.npz"))
        numbers = {int(name[:-4]) for name in names if name[:-4].isdecimal()}
        return {chunk for chunk in numbers if chunk < self.plan.chunks and self._whole(chunk)}

    def put(self, chunk: int, table: CaseTable) -> None:
        """Store a chunk atomically."""
        write_chunk(self._file(chunk), table)

    def get(self, chunk: int) -> CaseTable:
        """A stored chunk."""
        with open_regular(self._file(chunk)) as file, np.load(file, allow_pickle=False) as archive:
            columns = {name.removeprefix(_COLUMN): archive[name] for name in archive.files if name != _SAVED}
            return CaseTable(self.plan.cases_of(chunk)[0], columns, archive[_SAVED])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run a block with this folder locked for other processes; the folder belongs to this study from then on."""
        with (self.path / LOCK).open("a") as file:
            if sys.platform != "win32":
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    message = f"another process is running the study in {self.path}"
                    raise StudyError(f"{message}: wait for it, or choose another folder") from None
            self._claim()
            yield

    def _file(self, chunk: int) -> Path:
        return self.path / CHUNKS / f"{chunk:08d}.npz"

    def _whole(self, chunk: int) -> bool:
        first, last = self.plan.cases_of(chunk)
        try:
            table = self.get(chunk)
            return np.array_equal(table.columns["case"], np.arange(first, last)) and table.complete
        except (OSError, ValueError, KeyError, EOFError, RuntimeError):
            return False
        except Exception as error:  # a damaged archive may raise any exception
            if type(error).__module__ in ("zipfile", "zlib"):
                return False
            raise

    def _claim(self) -> None:
        """Describe this study in a new folder. Requires the lock: of two studies that start at once, one would run
        under the other's description."""
        path = self.path / MANIFEST
        if path.exists():
            self._check_manifest()
            return
        if any((self.path / CHUNKS).iterdir()):
            raise StudyError(f"{self.path} contains results of an unknown study: choose another folder")
        text = json.dumps({"format": 1, "name": self.plan.mechanism.name, "facts": self._facts()}, indent=1)
        write_whole(path, lambda file: file.write(text.encode()))

    def _facts(self) -> dict[str, object]:
        """The description of the study, as read back from a file."""
        read: dict[str, object] = json.loads(json.dumps(self.plan.facts))
        return read

    def _check_manifest(self) -> None:
        """StudyError if the folder belongs to another study, with the differences."""
        facts, known = self._facts(), _read_manifest(self.path / MANIFEST)
        different = sorted(name for name in {*facts, *known} if facts.get(name) != known.get(name))
        if different:
            message = f"{self.path} contains another study: it differs in {', '.join(different)}"
            raise StudyError(f"{message}\n  choose another folder, or use the settings of the stored study")


def _read_manifest(path: Path) -> Mapping[str, object]:
    try:
        facts = json.loads(read_input_text(path, _LARGEST_MANIFEST, "description of a study"))["facts"]
    except (ValueError, KeyError, TypeError):
        raise StudyError(f"{path} is not a description of a study: choose another folder") from None
    return dict(facts)


def write_chunk(path: Path, table: CaseTable) -> None:
    """Write a chunk atomically."""
    columns = {_COLUMN + name: column for name, column in table.columns.items()}

    def write(file: BinaryIO) -> None:
        np.savez(file, allow_pickle=False, **{_SAVED: table.saved, **columns})

    write_whole(path, write)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file atomically, even if the machine stops."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    try:
        with explained(path):
            with temporary.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Disk errors as messages; a full disk loses nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = "no space is left on the disk"
        else:
            why = error.strerror or str(error)
        raise StudyError(
            f"cannot write {path}: {why}\n  finished chunks are saved: run the same study again to continue"
        ) from None


def joined(tables: list[CaseTable]) -> dict[str, Column]:
    """The columns of many chunks as one table."""
    return {name: np.concatenate([table.columns[name] for table in tables]) for name in tables[0].columns}


# The results of a study as files: one row per case (Parquet, or .npz without pyarrow), trajectories as a Zarr group.

RESULTS, TRAJECTORIES = "results", "trajectories.zarr"


def require_zarr() -> Foreign:
    """Zarr; the error says how to install it."""
    return extra("zarr", "keeping trajectories of a study")


def write_results(study: Study, folder: Path) -> Path:
    """Write the table, and the trajectories if there are any; each atomically."""
    ending = "parquet" if find_spec("pyarrow") else "npz"
    target, temporary = folder / f"{RESULTS}.{ending}", folder / f".{RESULTS}.{os.getpid()}.{ending}"
    with explained(target):
        save_columns(temporary, study.columns)
        temporary.replace(target)
        if study.plan.grid:
            _write_trajectories(study, folder)
    return target


def _write_trajectories(study: Study, folder: Path) -> None:
    """`states` (case, time, entry), `case` and `t`; the attribute `names` lists the entries."""
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
