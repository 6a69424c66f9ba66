"""The way from an SDF file to a robot: XML -> the model -> frames -> tree of links and loops -> mechanism."""

from __future__ import annotations

from fractions import Fraction
from os import PathLike
from pathlib import Path

from kinegraph.errors import ModelError
from kinegraph.io.model_format import ModelFormat, require_root
from kinegraph.io.options import AS_WRITTEN, RobotFileOptions
from kinegraph.io.robot.attributes import vector
from kinegraph.io.robot.meshes import MeshFinder
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.report import Findings, Robot
from kinegraph.io.robot.vocabulary import report_words
from kinegraph.io.robot.xml import Element, encoded, parse_xml, read_xml
from kinegraph.io.sdf.build import Gravity, RobotBuilder
from kinegraph.io.sdf.frames import Frames
from kinegraph.io.sdf.values import flag, stated
from kinegraph.io.sdf.vocabulary import SDF
from kinegraph.model.expression import Number, expression
from kinegraph.model.expression_text import text
from kinegraph.model.report import FindingKind

#: A model outside of a world says nothing about gravity; a world that says nothing has SDFormat's own.
_GRAVITY: Gravity = (expression(0), expression(0), Number(Fraction("-9.81")))
_WORLD_GRAVITY: Gravity = (expression(0), expression(0), Number(Fraction("-9.8")))

#: Elements of a model that stand for links of other files or models.
_ELSEWHERE = {
    "include": "it takes links from another file",
    "model": "its links and frames have names of their own",
}


def load_sdf(path: str | PathLike[str], options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an SDF file with one model, in a world or by itself."""
    return read_sdf(read_xml(path), Path(path), options)


def read_sdf(root: Element, path: Path, options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read an SDF document that came from the file `path`; like `load_sdf` otherwise."""
    return _robot(root, options.meshes(path.parent), options)


def parse_sdf(text: str | bytes, source: str = "", options: RobotFileOptions = AS_WRITTEN) -> Robot:
    """Read SDF from its text; `source` names it in messages. Meshes stay references."""
    return _robot(parse_xml(encoded(text), source), options.meshes(None), options)


def _robot(root: Element, meshes: MeshFinder, options: RobotFileOptions) -> Robot:
    require_root(root, ModelFormat.SDF)
    angle_reader = AngleReader(options.rule, Findings())
    report_words(root, "sdf", SDF, angle_reader.findings)
    world = root.first("world")
    model = _model(root if world is None else world, angle_reader.findings)
    frames = Frames(model, angle_reader)
    gravity = _gravity(root, world, angle_reader.findings)
    return RobotBuilder(frames, meshes, _is_old(root)).robot(gravity, options.equalities)


def _model(around: Element, findings: Findings) -> Element:
    """The one model that is not scenery; a static one if there is no other."""
    every = list(around.all("model"))
    moving = [model for model in every if not flag(model, "static")]
    if len(moving) > 1 or not every:
        named = ", ".join(model.get("name") or "" for model in moving) or "none"
        message = f"an SDF file is read with one model that moves; found {named}"
        raise ModelError(message, around.place, "write one <model>, and join what belongs together by joints")
    chosen = (moving or every)[0]
    for model in every:
        if model is not chosen:
            what = "<model> that is static"
            findings.count(FindingKind.LEFT_OUT, "static models", what, model.place, model.get("name") or "")
    for child in chosen.children:
        if child.tag in _ELSEWHERE:
            message = f"<{child.tag}> inside a model is not read: {_ELSEWHERE[child.tag]}"
            raise ModelError(message, child.place, "write the links and joints into the model itself")
    return chosen


def _gravity(root: Element, world: Element | None, findings: Findings) -> Gravity:
    written = None if world is None else vector(stated(world), "gravity", 3)
    if written is not None:
        x, y, z = (Number(item.value) for item in written)
        return x, y, z
    around, found, why = root, _GRAVITY, "a model outside of a world states none"
    if world is not None:
        around, found, why = world, _WORLD_GRAVITY, "SDFormat's own for a world that states none"
    findings.add(FindingKind.ASSUMED, f"gravity is 0 0 {text(found[2])}: {why}", around.place, "gravity")
    return found


def _is_old(root: Element) -> bool:
    """Whether axes of joints stand in the model's frame: before version 1.5."""
    major, _, minor = (root.get("version") or "").strip().partition(".")
    return major == "1" and minor.isdigit() and int(minor) < 5
