"""The way from an MJCF file to a robot: XML with includes -> settings, classes -> bodies -> mechanism."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kinegraph.io.mjcf.build import RobotBuilder
from kinegraph.io.mjcf.defaults import Defaults
from kinegraph.io.mjcf.include import with_includes
from kinegraph.io.mjcf.orientation import Orienter
from kinegraph.io.mjcf.replicate import with_replicas
from kinegraph.io.mjcf.settings import read_settings
from kinegraph.io.mjcf.vocabulary import MJCF
from kinegraph.io.mjcf.walk import bodies_of
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import AS_WRITTEN, RobotFileOptions
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.report import Findings, Robot
from kinegraph.io.robot.vocabulary import report_words
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml
from kinegraph.model.report import FindingKind


def load_mjcf(path: str | PathLike[str], options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an MJCF file; its includes and meshes lie in its folder or below, or below one of the package roots.

    Angles in degrees are exact, whatever the options say.
    """
    return read_mjcf(read_xml(path), Path(path), options)


def read_mjcf(root: Element, path: Path, options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an MJCF document that came from the file `path`; like `load_mjcf` otherwise."""
    return _robot(root, options.meshes(path.parent), path.stem, options)


def parse_mjcf(text: str | bytes, source: str = "", options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read MJCF from its text, which cannot include files; `source` names it in messages."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), "mechanism", options)


def _robot(root: Element, finder: MeshFinder, name: str, options: RobotFileOptions) -> Robot:
    require_root(root, ModelFormat.MJCF)
    root = with_includes(root, finder.folder, finder.roots)
    findings = Findings()
    report_words(root, "mujoco", MJCF, findings, text=FindingKind.NOT_USED)
    root = with_replicas(root)
    settings, defaults = read_settings(root), Defaults(root)
    orienter = Orienter(AngleReader(options.rule, findings), settings.degrees, settings.euler_sequence)
    bodies = bodies_of(root, defaults, orienter)
    builder = RobotBuilder(root, bodies, defaults, orienter, settings, finder)
    return builder.robot(root.get("model") or name, options.equalities)
