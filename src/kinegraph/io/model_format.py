"""The format of a model file, from its content if possible, otherwise from its name."""

from __future__ import annotations

from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from kinegraph.errors import ModelError
from kinegraph.files import read_head

if TYPE_CHECKING:
    from kinegraph.io.robot.xml import Element


class ModelFormat(Enum):
    """The supported formats."""

    RECORDS = "the model language"
    URDF = "URDF"
    MJCF = "MJCF"
    SDF = "SDFormat"
    TABLE = "a Denavit-Hartenberg table"
    VECTORS = "a table of vectors"
    USD = "USD Physics"


#: Extensions of XML files, whatever their first characters.
_XML_NAMES = frozenset({".urdf", ".xml", ".mjcf", ".sdf", ".world", ".xacro", ".srdf"})
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-8 and UTF-16

#: Formats by the root element.
_ROOTS = {
    "robot": ModelFormat.URDF,
    "mujoco": ModelFormat.MJCF,
    "mujocoinclude": ModelFormat.MJCF,
    "sdf": ModelFormat.SDF,
}

_FOREIGN_ROOTS = {
    "COLLADA": ("a Collada mesh, not a model", "load the URDF or MJCF file that refers to it"),
    "OpenSimDocument": (
        "an OpenSim model, which is not supported",
        "convert it to MJCF (e.g. with myoconverter), or write it in the model language",
    ),
}
_UNKNOWN = ("not a supported model", "the root element of URDF is <robot>, of MJCF <mujoco>, of SDF <sdf>")
_FOREIGN_NAMES = {
    ".mjb": ("a compiled MuJoCo model", "save it as XML with mujoco.mj_saveLastXML"),
    ".stl": ("a mesh, not a model", "load the URDF or MJCF file that refers to it"),
    ".obj": ("a mesh, not a model", "load the URDF or MJCF file that refers to it"),
    ".py": ("a Python program", "run it with Python; build models there with kinegraph.Builder"),
}


_BY_NAME = {
    ".csv": ModelFormat.TABLE,
    ".toml": ModelFormat.VECTORS,
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), ModelFormat.USD),
}


def holds_xml(path: str | PathLike[str]) -> bool:
    """Whether a file is XML. Raises a ModelError for formats that are not supported."""
    suffix = Path(path).suffix.lower()
    if suffix in _XML_NAMES:
        return True
    head = read_head(path, 200)
    if suffix in _FOREIGN_NAMES:
        what, remedy = _FOREIGN_NAMES[suffix]
        raise ModelError(f"{path} is {what}", remedy=remedy)
    for mark in _MARKS:
        head = head.removeprefix(mark)
    return head.replace(b"\0", b"").lstrip().startswith(b"<")


def format_by_name(path: str | PathLike[str]) -> ModelFormat:
    """The format of a file that is not XML."""
    return _BY_NAME.get(Path(path).suffix.lower(), ModelFormat.RECORDS)


def format_by_root(root: Element) -> ModelFormat:
    """The format of an XML document, by its root element."""
    if root.tag in _ROOTS:
        return _ROOTS[root.tag]
    what, remedy = _FOREIGN_ROOTS.get(root.tag, _UNKNOWN)
    raise ModelError(f"the root element is <{root.tag}>: this is {what}", root.place, remedy)


def require_root(root: Element, wanted: ModelFormat) -> None:
    """Raise a ModelError unless the document has the wanted format."""
    found = format_by_root(root)
    if found is not wanted:
        remedy = f"use kinegraph.load, which recognizes the format; this function reads only {wanted.value}"
        raise ModelError(f"the root element is <{root.tag}>: this is {found.value}", root.place, remedy)
