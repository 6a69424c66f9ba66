"""The files a studio may read and write: the models of one folder, or one model. Nothing outside is reached."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.files import read_input_text, written_to

#: File names that are listed as models.
SUFFIXES = frozenset({".kg", ".txt", ".urdf", ".xml", ".mjcf", ".sdf", ".csv", ".toml"})
#: What a new file may be called: the text is in the model language.
NEW_SUFFIXES = frozenset({".kg", ".txt"})

LARGEST = 5_000_000  # bytes of a model
_MOST_FILES = 500
_DEEPEST = 3


@dataclass(frozen=True)
class ModelFile:
    """The text of a file, and a stamp that changes whenever the file does."""

    name: str
    text: str
    stamp: str


@dataclass(frozen=True)
class Folder:
    """A folder whose models a studio may open. only: the name of the one file it may touch, or None for all."""

    root: Path
    only: str | None = None

    @classmethod
    def of(cls, path: Path) -> Folder:
        """The folder of a path; a path of a file gives access to this file alone."""
        path = path.resolve()
        if path.is_dir():
            return cls(path)
        if not path.parent.is_dir():
            raise ModelError(f"the folder {path.parent} does not exist", remedy="check the path")
        return cls(path.parent, path.name)

    def names(self) -> list[str]:
        """The models of the folder and of the folders below, in order; hidden ones and links out are not listed."""
        if self.only is not None:
            return [self.only] if (self.root / self.only).exists() else []
        return sorted(self._walk(self.root, 0))[:_MOST_FILES]

    def _walk(self, folder: Path, depth: int) -> Iterator[str]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST and entry.name != "node_modules":
                    yield from self._walk(Path(entry.path), depth + 1)
                elif Path(entry.name).suffix.lower() in SUFFIXES and entry.is_file():
                    name = Path(entry.path).relative_to(self.root).as_posix()
                    if self._within(Path(entry.path).resolve()):
                        yield name

    def path(self, name: str) -> Path:
        """The path of a file by its name in this folder; ModelError for any name that leads out of it."""
        parts = PurePosixPath(name).parts
        bad = not name or "\0" in name or "\\" in name or ":" in name or name.startswith("/") or ".." in parts
        if bad or len(name) > 400 or any(part.startswith(".") for part in parts):
            raise _outside(name)
        if self.only is not None and name != self.only:
            raise ModelError(f"this studio has only the file {self.only}", remedy="open a folder to edit several files")
        found = (self.root / name).resolve()
        if not self._within(found):
            raise _outside(name)
        return found

    def _within(self, path: Path) -> bool:
        return path != self.root and path.is_relative_to(self.root)

    def read(self, name: str) -> ModelFile:
        """The text of a file."""
        path = self.path(name)
        stamp = stamp_of(path)
        return ModelFile(name, read_input_text(path, LARGEST), stamp)

    def stamp(self, name: str) -> str:
        """The stamp of a file now; empty if there is none."""
        return stamp_of(self.path(name))

    def write(self, name: str, text: str, stamp: str) -> str:
        """Write a file whole or not at all, and return its new stamp.

        stamp: that of the version the text was made from, empty for a new file. ModelError if the file has changed
        since, so that nobody's work is overwritten.
        """
        path = self.path(name)
        if len(text.encode()) > LARGEST:
            raise ModelError(f"the text of {name} has more than {LARGEST} bytes, which is the limit")
        if not path.exists() and path.suffix.lower() not in NEW_SUFFIXES:
            raise ModelError(f"cannot write {name}: a new model is a .kg file", remedy="choose a name such as arm.kg")
        if stamp_of(path) != stamp:
            raise ModelError(
                f"{name} has changed on disk since it was opened", remedy="load the new version, or save another name"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".studio-", suffix=path.suffix)
        try:
            with written_to(temporary), os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            Path(temporary).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        return stamp_of(path)


def stamp_of(path: Path) -> str:
    """The time of the last change and the size; empty if the file does not exist."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def _outside(name: str) -> ModelError:
    return ModelError(f"{name[:100]!r} is not a file of this folder", remedy="a studio opens only the files below it")
