"""The way from a URDF file to a robot: XML -> tree of links -> coordinates -> bodies and extras."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kinegraph.errors import ModelError, one_of
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import URDF_AS_WRITTEN, UrdfOptions
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.report import Base, Findings, Robot
from kinegraph.io.robot.vocabulary import report_words
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml
from kinegraph.io.urdf.build import RobotBuilder
from kinegraph.io.urdf.tree import read_tree
from kinegraph.io.urdf.vocabulary import URDF
from kinegraph.model.expression import expression

#: Elements that say where something stands.
_PLACED = ("origin", "link1", "link2")


def load_urdf(path: str | PathLike[str], options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read a URDF file."""
    return read_urdf(read_xml(path), Path(path), options)


def read_urdf(root: Element, path: Path, options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read a URDF document that came from the file `path`; like `load_urdf` otherwise."""
    return _robot(root, options.meshes(path.parent), options)


def parse_urdf(text: str | bytes, source: str = "", options: UrdfOptions = URDF_AS_WRITTEN) -> Robot:
    """Read URDF from its text; `source` names it in messages. Meshes stay references."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), options)


def _robot(root: Element, meshes: MeshFinder, options: UrdfOptions) -> Robot:
    base = one_of(Base, options.base, "base", ModelError)
    require_root(root, ModelFormat.URDF)
    _check_quaternions(root)
    angle_reader = AngleReader(options.rule, Findings())
    tree = read_tree(root, angle_reader.findings)
    report_words(root, "robot", URDF, angle_reader.findings)
    x, y, z = (expression(item) for item in options.gravity)
    return RobotBuilder(root, tree, meshes, angle_reader, options.mimic).robot(base, (x, y, z), options.equalities)


def _check_quaternions(root: Element) -> None:
    """quat_xyzw came with version 1.1; other readers ignore it in files that do not say so."""
    major, _, minor = (root.get("version") or "1.0").strip().partition(".")
    if major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= (1, 1):
        return
    pending = [root]
    while pending:
        element = pending.pop()
        if element.tag in _PLACED and element.get("quat_xyzw") is not None:
            message = "quat_xyzw belongs to URDF 1.1, and this file is of version 1.0, where it is ignored"
            raise ModelError(message, element.place, 'write <robot version="1.1" ...>, or rpy in place of quat_xyzw')
        pending.extend(reversed(element.children))
