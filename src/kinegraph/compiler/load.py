"""Where mechanisms come from: model files of all formats, and the library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from kinegraph import library
from kinegraph.errors import ModelError
from kinegraph.io.dh.table import load_denavit_hartenberg
from kinegraph.io.mjcf import load_mjcf
from kinegraph.io.records.load import load as load_file
from kinegraph.io.records.write import write as write_records
from kinegraph.io.robot.report import Base
from kinegraph.io.urdf import load_urdf
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot.elements import Taken, with_elements

#: What every function that needs a mechanism takes: a mechanism, or a model file or name of the library to load.
MechanismSource: TypeAlias = Mechanism | str | Path


def mechanism_of(source: MechanismSource) -> Mechanism:
    """The mechanism itself, or the one that `load` finds under this name or path."""
    if isinstance(source, Mechanism):
        return source
    if isinstance(source, str | Path):
        return load(source)
    what = f"{type(source).__name__} is no mechanism"
    raise ModelError(what, remedy="give a Mechanism, the path of a model file, or a name such as 'puma560'")


def write(mechanism: MechanismSource) -> str:
    """The mechanism in the model language; `kg.parse` reads it back. Takes a mechanism, a file or a library name."""
    return write_records(mechanism_of(mechanism))


def load(
    source: str | Path,
    *,
    floating: bool = False,
    package_roots: Sequence[str | Path] = (),
    elements: bool | Taken | None = None,
) -> Mechanism:
    """A mechanism from a file (.kg records, .urdf, .xml or .mjcf for MuJoCo, .csv Denavit-Hartenberg), or by its name
    in the library. `floating` frees the base of a URDF robot, `package_roots` are the folders its `package://` meshes
    are looked for in. The readers in `kinegraph.io` take more options and report what they found.

    elements: whether what robot files say about joints (damping, springs, rotor inertia) is part of the equations; None
    does as each format's own engines do: MJCF yes, URDF no. `Taken` chooses more: dry friction, limits.
    """
    mechanism = _read(source, floating, package_roots)
    if elements is None:
        elements = Taken() if Path(source).suffix.lower() in _MJCF else False
    if not elements:
        return mechanism
    return with_elements(mechanism, elements if isinstance(elements, Taken) else Taken(dry=True))


_MJCF = (".xml", ".mjcf")


def _read(source: str | Path, floating: bool, package_roots: Sequence[str | Path]) -> Mechanism:
    path = Path(source)
    kind = path.suffix.lower()
    if kind != ".urdf" and (floating or package_roots):
        what = "only a URDF's base can be set free when it is read" if floating else "only a URDF has package roots"
        raise ModelError(f"{path}: {what}", remedy=f"leave {'floating' if floating else 'the package roots'} out")
    if not kind and not path.exists():
        return library.mechanism(str(source))
    if kind == ".urdf":
        base = Base.FLOATING if floating else Base.FIXED
        return load_urdf(path, base=base, package_roots=package_roots).mechanism
    if kind in _MJCF:
        return load_mjcf(path).mechanism
    return load_denavit_hartenberg(path).mechanism if kind == ".csv" else load_file(path)
