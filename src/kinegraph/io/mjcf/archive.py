"""Archives of MJCF (.mjz): a zip file with a model and its assets, unpacked into a folder that is kept."""

from __future__ import annotations

import hashlib
import io
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.files import read_input

#: Limits of an archive: bytes as a file, bytes unpacked, and number of files.
MAX_ARCHIVE = 500_000_000
MAX_BYTES = 2_000_000_000
MAX_FILES = 5_000

_PIECE = 1 << 20


def unpacked(path: Path, folder: Path) -> Path:
    """The model file of an archive, unpacked below `folder` under a digest of its content.

    The model is the only XML file that is in no folder of the archive, or the one with the name of the archive.
    """
    content = read_input(path, MAX_ARCHIVE)
    target = folder / hashlib.sha256(content).hexdigest()[:32]
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            _check(path, members)
            model = _model(path, [one.filename for one in members])
            if not target.is_dir():
                _extract(archive, members, target)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelError(f"{path} is not a readable archive: {error}", remedy="pack it again as a zip file") from None
    return target / model


def _check(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Raise a ModelError for an archive that is too large or names files outside itself."""
    if len(members) > MAX_FILES or sum(one.file_size for one in members) > MAX_BYTES:
        message = f"{path} unpacks to more than {MAX_FILES} files or {MAX_BYTES // 10**9} GB"
        raise ModelError(message, remedy="unpack it and load the XML file")
    for one in members:
        name = PurePosixPath(one.filename)
        is_link = stat.S_ISLNK(one.external_attr >> 16)
        if name.is_absolute() or ".." in name.parts or "\\" in one.filename or ":" in one.filename or is_link:
            message = f"{path} contains {one.filename!r}, which is outside the archive or a link"
            raise ModelError(message, remedy="pack only plain files below one folder")


def _model(path: Path, names: list[str]) -> str:
    every = [name for name in names if name.lower().endswith(".xml") and "/" not in name]
    named = [name for name in every if Path(name).stem == path.stem]
    chosen = named if len(named) == 1 else every
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(sorted(every)[:10]) or "none"
    message = f"{path} has no single model; XML files at its top: {listed}"
    raise ModelError(message, remedy=f"call the model {path.stem}.xml, or unpack the archive and load one of them")


def _extract(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], target: Path) -> None:
    """Write all files to a folder beside the target, then rename it: another process sees all or nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    waiting = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        room = MAX_BYTES
        for one in members:
            place = waiting / one.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(one) as source, place.open("wb") as file:
                while piece := source.read(_PIECE):
                    room -= len(piece)
                    if room < 0:
                        raise ModelError(f"{one.filename} is larger than the archive says", remedy="pack it again")
                    file.write(piece)
        try:
            waiting.replace(target)
        except OSError:  # another process was faster
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(waiting, ignore_errors=True)
