"""Where the meshes a model refers to lie: looked for below given folders and in the model's own package, never read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

from kinegraph.io.robot.attributes import numbers, vector
from kinegraph.io.robot.report import Findings
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Expression, Number
from kinegraph.model.mechanism import ONE
from kinegraph.model.report import FindingKind

#: What pages draw; Collada needs a library that is an extra.
DRAWN = (".stl", ".obj", ".msh", ".dae")


@dataclass(frozen=True)
class MeshFinder:
    """Resolves references of a model in `folder`; `package://NAME/...` is looked for in `roots`, and in the package
    of that name the model lies in: a folder around it that is called NAME and holds a package.xml. A relative path
    starts in `folder`; what it names may lie below the roots too."""

    folder: Path | None
    roots: tuple[Path, ...] = ()

    def file(self, reference: str) -> str | None:
        """The file a reference means, or None if there is no such file below the folders allowed."""
        scheme, separator, rest = reference.partition("://")
        if separator and scheme in ("package", "model"):
            return self._in_package(rest)
        if separator and scheme == "file":
            return self.inside(Path(unquote(rest)))
        if separator:
            return None
        return next((found for own in self._own() if (found := self.inside(own / reference))), None)

    def inside(self, path: Path) -> str | None:
        """The path if it is a file below the model's folder or one of the roots; None otherwise."""
        return self._inside(path, (*self._own(), *self.roots))

    def fault(self, reference: str) -> str | None:
        """Why a page cannot draw the mesh; None if it can, or if the model is no file and nothing is looked for."""
        if self.folder is None:
            return None
        suffix = Path(reference).suffix.lower()
        if suffix == ".dae" and find_spec("collada") is None:
            return "Collada needs the extra mesh: pip install 'kinegraph[mesh]'"
        if suffix not in DRAWN:
            return f"pages draw {', '.join(DRAWN)}"
        if self.file(reference) is not None:
            return None
        where = "; --package-root says where packages are" if reference.startswith("package:") else ""
        return f"not found{where}"

    def _own(self) -> tuple[Path, ...]:
        return () if self.folder is None else (self.folder,)

    def _in_package(self, rest: str) -> str | None:
        package, _, inner = rest.partition("/")
        for root in (*self.roots, *self._around(package)):
            below = root / inner if root.name == package else root / package / inner
            if found := self._inside(below, (root,)):
                return found
        return None

    def _around(self, package: str) -> tuple[Path, ...]:
        if self.folder is None:
            return ()
        own = self.folder.resolve()
        return tuple(one for one in (own, *own.parents) if one.name == package and (one / "package.xml").is_file())

    @staticmethod
    def _inside(path: Path, folders: tuple[Path, ...]) -> str | None:
        """The path if it is a file inside one of the folders, links and `..` followed; None otherwise."""
        try:
            real = path.resolve()
            if real.is_file() and any(real.is_relative_to(folder.resolve()) for folder in folders):
                return str(real)
        except (OSError, ValueError, RuntimeError):  # a name no file system takes, a link to itself
            return None
        return None


def mesh_scale(element: Element, findings: Findings) -> tuple[Expression, Expression, Expression]:
    """The scale of a mesh that is only drawn. Some files write a fourth number, which means nothing."""
    found = numbers(element, "scale")
    if found is not None and len(found) == 4:
        message = "scale of a mesh has four numbers, and the first three count"
        findings.count(FindingKind.ASSUMED, "mesh scales", message, element.place)
        found = found[:3]
    elif found is not None:
        found = vector(element, "scale", 3)
    x, y, z = (Number(item.value) for item in found) if found else (ONE, ONE, ONE)
    return x, y, z
