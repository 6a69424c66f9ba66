"""<include file="..."/>: the content of other files of the model's own folder or its roots, in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import MAX_ELEMENTS, Element, read_xml

#: Most files one model may be made of.
MAX_FILES = 200


def with_includes(root: Element, folder: Path | None, roots: Sequence[Path] = ()) -> Element:
    """The document with every include replaced by the content of its file, which lies below `folder` or the roots.

    Names start in `folder`, or else where the including file lies; None allows no includes.
    """
    return _Includer(folder, roots).expanded(root)


class _Includer:
    def __init__(self, folder: Path | None, roots: Sequence[Path]) -> None:
        self.folder = folder
        self.roots = roots
        self._seen: set[Path] = set()
        self._size = 0

    def expanded(self, root: Element) -> Element:
        pending = [root]
        while pending:
            here = pending.pop()
            children: list[Element] = []
            waiting = list(reversed(here.children))
            while waiting:
                child = waiting.pop()
                self._count(child)
                if child.tag == "include":
                    waiting.extend(reversed(self._content(child)))
                else:
                    children.append(child)
            here.children[:] = children
            pending.extend(children)
        return root

    def _content(self, include: Element) -> list[Element]:
        path = self._path(include)
        if path in self._seen or len(self._seen) >= MAX_FILES:
            message = f"{include.get('file')} is included a second time, or more than {MAX_FILES} files are"
            raise ModelError(message, include.place, "include every file once")
        self._seen.add(path)
        return read_xml(path).children

    def _path(self, include: Element) -> Path:
        name = include.required("file")
        if self.folder is None:
            raise ModelError(f"{name} cannot be included: the model is no file", include.place, "load it from a file")
        folder = self.folder.resolve()
        try:
            path = (folder / name).resolve()
            beside = (Path(include.place.source).parent / name).resolve()
            path = beside if not path.exists() and beside.exists() else path
        except (OSError, ValueError, RuntimeError):  # RuntimeError: a link to itself
            raise ModelError(f"{name!r} is no name of a file", include.place) from None
        if not any(path.is_relative_to(allowed) for allowed in (folder, *(root.resolve() for root in self.roots))):
            message = f"{name} lies outside the model's folder"
            remedy = f"put the file into {folder} or below, or name a folder around both: --package-root DIR"
            raise ModelError(message, include.place, remedy)
        return path

    def _count(self, element: Element) -> None:
        self._size += 1
        if self._size > MAX_ELEMENTS:
            raise ModelError(f"the model has more than {MAX_ELEMENTS} elements", element.place)
