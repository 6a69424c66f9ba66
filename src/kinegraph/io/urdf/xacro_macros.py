"""Expand xacro macros of a URDF with the package xacro (extra `xacro`), on request only.

Xacro evaluates Python expressions of the file, so a file is expanded only if the caller asks for it.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kinegraph.errors import ModelError
from kinegraph.extras import Foreign, extra

_PURPOSE = "a file with xacro macros"
_LOCK = threading.Lock()  # xacro keeps its state in global variables


class _Arguments(dict[str, str]):
    """The values of arguments; `declared` are the arguments that the file has, because xacro asks for each."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.declared: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.declared.add(name)
        return super().__contains__(name)


def expanded(path: Path, arguments: Mapping[str, object], roots: Sequence[Path]) -> bytes:
    """The URDF after all macros; `arguments` are the values of xacro:arg, `roots` the folders of packages."""
    xacro, substitutions = extra("xacro", _PURPOSE), extra("xacro.substitution_args", _PURPOSE)
    given = _Arguments({name: _text(value) for name, value in arguments.items()})
    with _LOCK, _packages(substitutions, path, roots), contextlib.redirect_stderr(io.StringIO()):
        try:
            document = xacro.process_file(str(path), mappings=given)
        except ModelError:
            raise
        except Exception as error:
            message = f"xacro cannot expand {path}: {type(error).__name__}: {str(error).strip()[:300]}"
            remedy = "check the file with the command `xacro`; give values of xacro:arg in xacro={...}"
            raise ModelError(message, remedy=remedy) from None
    unknown = sorted(arguments.keys() - given.declared)
    if unknown:
        message = f"{path} has no xacro:arg {', '.join(unknown)}"
        raise ModelError(message, remedy="leave it out of xacro={...}, or check its spelling")
    return bytes(document.toxml("utf-8"))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextlib.contextmanager
def _packages(substitutions: Foreign, path: Path, roots: Sequence[Path]) -> Iterator[None]:
    """Let $(find NAME) search below the roots and around the file, as meshes do."""
    own = path.resolve().parent

    def find(package: str) -> str:
        for folder in (*roots, *(root / package for root in roots), own, *own.parents):
            if folder.name == package and folder.is_dir():
                return str(folder.resolve())
        remedy = "name the folder that contains the package: package_roots, --package-root DIR"
        raise ModelError(f"{path}: the package {package} was not found", remedy=remedy)

    before = substitutions._eval_find
    substitutions._eval_find = find
    try:
        yield
    finally:
        substitutions._eval_find = before
