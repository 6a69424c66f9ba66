"""From a file, or a name of the library, to a mechanism."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from kinegraph import library
from kinegraph.errors import ModelError
from kinegraph.io.dh.table import load_denavit_hartenberg
from kinegraph.io.mjcf.load import read_mjcf
from kinegraph.io.model_format import ModelFormat, format_by_name, format_by_root, holds_xml
from kinegraph.io.records.load import load as load_records
from kinegraph.io.records.write import write as write_records
from kinegraph.io.robot.report import Base
from kinegraph.io.robot.xml import Element, read_xml
from kinegraph.io.urdf.load import read_urdf
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot.elements import JointModel, with_elements

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
    elements: bool | JointModel | None = None,
) -> Mechanism:
    """A mechanism from a file (the model language, URDF, MJCF, a Denavit-Hartenberg table as CSV), or by its name in
    the library. What a file holds decides how it is read: URDF and MJCF are told apart by their root element.
    `floating` frees the base of a URDF robot, `package_roots` are the folders its `package://` meshes are looked for
    in. The readers in `kinegraph.io` take more options and report what they found.

    elements: whether what robot files say about joints (damping, springs, armature) is part of the equations; None
    does as each format's own engines do: MJCF yes, URDF no. `JointModel` chooses more: dry friction, limits.
    """
    kind, root = (ModelFormat.RECORDS, None) if _in_library(source) else _recognised(source)
    if kind is not ModelFormat.URDF and (floating or package_roots):
        what = "only a URDF's base can be set free when it is read" if floating else "only a URDF has package roots"
        raise ModelError(f"{source}: {what}", remedy=f"leave {'floating' if floating else 'the package roots'} out")
    if root is None:
        return _without_xml(source, kind)
    path = Path(source)
    if kind is ModelFormat.URDF:
        base = Base.FLOATING if floating else Base.FIXED
        mechanism = read_urdf(root, path, base=base, package_roots=package_roots).mechanism
    else:
        mechanism = read_mjcf(root, path).mechanism
    if elements is None:
        elements = JointModel() if kind is ModelFormat.MJCF else False
    if not elements:
        return mechanism
    return with_elements(mechanism, elements if isinstance(elements, JointModel) else JointModel(dry_friction=True))


def _in_library(source: str | Path) -> bool:
    """A word without suffix or folder is a name of the library, unless there is a file of that name."""
    words = os.fspath(source)
    if os.sep in words or (os.altsep and os.altsep in words) or Path(source).suffix:
        return False
    # lexists first: it alone takes a name that is too long for a file
    return not os.path.lexists(source) or Path(source).is_dir()


def _recognised(source: str | Path) -> tuple[ModelFormat, Element | None]:
    """The format of a file, and its root element if it holds XML."""
    if not holds_xml(source):
        return format_by_name(source), None
    root = read_xml(source)
    return format_by_root(root), root


def _without_xml(source: str | Path, kind: ModelFormat) -> Mechanism:
    if _in_library(source):
        return library.mechanism(str(source))
    return load_denavit_hartenberg(source).mechanism if kind is ModelFormat.TABLE else load_records(source)
