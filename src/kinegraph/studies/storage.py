"""The folder of a study: what it is a study of, and one file for every chunk that is finished.

A chunk's file is written under another name and then renamed: killed at any moment, the folder holds whole chunks and
nothing else. Running the same study again runs the chunks that are missing.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import BinaryIO, Protocol

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.files import open_regular, read_input_text
from kinegraph.studies.column import Column
from kinegraph.studies.plan import Plan
from kinegraph.studies.running.cases import CaseTable

MANIFEST, CHUNKS, LOCK = "study.json", "chunks", "lock"
_LARGEST_MANIFEST = 100_000_000
_SAVED, _COLUMN = "saved states", "column "


class Storage(Protocol):
    """Where finished chunks are stored."""

    def finished(self) -> set[int]:
        """The chunks that are there."""
        ...

    def put(self, chunk: int, table: CaseTable) -> None:
        """Keep a chunk."""
        ...

    def get(self, chunk: int) -> CaseTable:
        """A chunk that was stored before."""
        ...


class Memory:
    """Chunks of a study that has no folder."""

    def __init__(self) -> None:
        self._tables: dict[int, CaseTable] = {}

    def finished(self) -> set[int]:
        """The chunks that are there."""
        return set(self._tables)

    def put(self, chunk: int, table: CaseTable) -> None:
        """Keep a chunk."""
        self._tables[chunk] = table

    def get(self, chunk: int) -> CaseTable:
        """A chunk that is there."""
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
        """The chunks that are there and whole; one that cannot be read is run again."""
        names = (path.name for path in (self.path / CHUNKS).glob("*.npz"))
        numbers = {int(name[:-4]) for name in names if name[:-4].isdecimal()}
        return {chunk for chunk in numbers if chunk < self.plan.chunks and self._whole(chunk)}

    def put(self, chunk: int, table: CaseTable) -> None:
        """Keep a chunk: wholly, or not at all."""
        write_chunk(self._file(chunk), table)

    def get(self, chunk: int) -> CaseTable:
        """A chunk that is there."""
        with open_regular(self._file(chunk)) as file, np.load(file, allow_pickle=False) as archive:
            columns = {name.removeprefix(_COLUMN): archive[name] for name in archive.files if name != _SAVED}
            return CaseTable(self.plan.cases_of(chunk)[0], columns, archive[_SAVED])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run a block while nobody else works in this folder, which belongs to this study from then on."""
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
        except Exception as error:  # what a damaged archive raises has no common name
            if type(error).__module__ in ("zipfile", "zlib"):
                return False
            raise

    def _claim(self) -> None:
        """Describe this study in a new folder. Only who holds it does: of two that begin at once one would run under
        the other's description."""
        path = self.path / MANIFEST
        if path.exists():
            self._check_manifest()
            return
        if any((self.path / CHUNKS).iterdir()):
            raise StudyError(f"{self.path} holds results of an unknown study: choose another folder")
        text = json.dumps({"format": 1, "name": self.plan.mechanism.name, "facts": self._facts()}, indent=1)
        write_whole(path, lambda file: file.write(text.encode()))

    def _facts(self) -> dict[str, object]:
        """What the study is, as it is read back."""
        read: dict[str, object] = json.loads(json.dumps(self.plan.facts))
        return read

    def _check_manifest(self) -> None:
        """The folder belongs to this study; StudyError says what is different where it does not."""
        facts, known = self._facts(), _read_manifest(self.path / MANIFEST)
        different = sorted(name for name in {*facts, *known} if facts.get(name) != known.get(name))
        if different:
            message = f"{self.path} holds another study: it differs in {', '.join(different)}"
            raise StudyError(f"{message}\n  choose another folder, or ask for what is there")


def _read_manifest(path: Path) -> Mapping[str, object]:
    try:
        facts = json.loads(read_input_text(path, _LARGEST_MANIFEST, "description of a study"))["facts"]
    except (ValueError, KeyError, TypeError):
        raise StudyError(f"{path} is no description of a study: choose another folder") from None
    return dict(facts)


def write_chunk(path: Path, table: CaseTable) -> None:
    """Write a chunk: wholly, or not at all."""
    columns = {_COLUMN + name: column for name, column in table.columns.items()}

    def write(file: BinaryIO) -> None:
        np.savez(file, allow_pickle=False, **{_SAVED: table.saved, **columns})

    write_whole(path, write)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file so that it appears whole or not at all, also if the machine stops."""
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
    """Errors of the disk in words; a full one loses nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = "there is no space left on the disk"
        else:
            why = error.strerror or str(error)
        raise StudyError(
            f"cannot write {path}: {why}\n  what was finished before is whole: run the same study again to go on"
        ) from None


def joined(tables: list[CaseTable]) -> dict[str, Column]:
    """The columns of many chunks as one table."""
    return {name: np.concatenate([table.columns[name] for table in tables]) for name in tables[0].columns}
