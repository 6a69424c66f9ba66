"""The way from a URDF file to a robot: XML -> tree of links -> coordinates -> bodies and extras."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.report import Base, Findings, Robot
from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE, RightAngles
from kinegraph.io.robot.vocabulary import report_words
from kinegraph.io.robot.xml import Element, parse_xml, read_xml
from kinegraph.io.urdf.build import RobotBuilder
from kinegraph.io.urdf.tree import read_tree
from kinegraph.io.urdf.vocabulary import URDF
from kinegraph.model.expression import Scalar, expression

Gravity = tuple[Scalar, Scalar, Scalar]

#: What URDF leaves unsaid: gravity points down the z axis of the fixed frame.
GRAVITY: Gravity = (0, 0, -9.81)


def load_urdf(
    path: str | PathLike[str],
    *,
    base: Base | str = Base.FIXED,
    gravity: Gravity = GRAVITY,
    mimic: bool = True,
    package_roots: Iterable[str | PathLike[str]] = (),
    right_angles: bool = True,
    angle_tolerance: float = ANGLE_TOLERANCE,
) -> Robot:
    """Read a URDF file.

    base: whether the root link is fixed or floats with six degrees of freedom.
    mimic: joints that mimic another follow its coordinate; otherwise they move by themselves.
    package_roots: the folders in which `package://` references to meshes are looked for.
    right_angles: take rounded right angles for exact ones if they are off by no more than `angle_tolerance`; each is
    listed in the report of the result.
    """
    return read_urdf(
        read_xml(path),
        Path(path),
        base=base,
        gravity=gravity,
        mimic=mimic,
        package_roots=package_roots,
        right_angles=right_angles,
        angle_tolerance=angle_tolerance,
    )


def read_urdf(
    root: Element,
    path: Path,
    *,
    base: Base | str = Base.FIXED,
    gravity: Gravity = GRAVITY,
    mimic: bool = True,
    package_roots: Iterable[str | PathLike[str]] = (),
    right_angles: bool = True,
    angle_tolerance: float = ANGLE_TOLERANCE,
) -> Robot:
    """Read a URDF document that came from the file `path`; like `load_urdf` otherwise."""
    meshes = MeshFinder(path.parent, tuple(Path(root) for root in package_roots))
    choice = _Choice(Base(base), gravity, mimic, RightAngles.within(angle_tolerance, right_angles))
    return _robot(root, meshes, choice)


def parse_urdf(
    text: str | bytes,
    source: str = "",
    *,
    base: Base | str = Base.FIXED,
    gravity: Gravity = GRAVITY,
    mimic: bool = True,
    right_angles: bool = True,
    angle_tolerance: float = ANGLE_TOLERANCE,
) -> Robot:
    """Read URDF from its text; `source` names it in messages. Meshes stay references."""
    content = text.encode() if isinstance(text, str) else text
    choice = _Choice(Base(base), gravity, mimic, RightAngles.within(angle_tolerance, right_angles))
    return _robot(parse_xml(content, source), MeshFinder(None), choice)


@dataclass(frozen=True)
class _Choice:
    base: Base
    gravity: Gravity
    mimic: bool
    rule: RightAngles


def _robot(root: Element, meshes: MeshFinder, choice: _Choice) -> Robot:
    require_root(root, ModelFormat.URDF)
    angle_reader = AngleReader(choice.rule, Findings())
    tree = read_tree(root, angle_reader.findings)
    report_words(root, "robot", URDF, angle_reader.findings)
    x, y, z = (expression(item) for item in choice.gravity)
    return RobotBuilder(root, tree, meshes, angle_reader, choice.mimic).robot(choice.base, (x, y, z))
