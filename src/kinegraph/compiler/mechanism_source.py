"""From a file, or a name of the library, to a mechanism.

The readers of robot files and tables are imported when such a file is read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kinegraph import io, library
from kinegraph.errors import LeftOutWarning, ModelError, Place
from kinegraph.io.model_format import ModelFormat, format_by_name, format_by_root, holds_xml
from kinegraph.io.robot.right_angles import ANGLE_TOLERANCE as ANGLE_TOLERANCE
from kinegraph.model import changes
from kinegraph.model import joint_models as robot
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import full_report

if TYPE_CHECKING:
    from kinegraph.io.options import RobotFileOptions
    from kinegraph.io.robot.xml import Element
    from kinegraph.model.joint_models import JointModel


@dataclass(frozen=True)
class ReadOptions:
    """How a model file is read.

    floating: set the base of a URDF robot free. package_roots: the folders in which `package://` meshes of a URDF are
    looked for, and below which meshes and includes of an MJCF may lie beside those below its own folder.
    elements: whether what robot files say about joints (damping, springs, armature) is part of the equations; None does
    as each format's own engines do: MJCF and SDF yes, URDF no. `JointModel` chooses more: dry friction, limits.
    angle_tolerance: how far off, in radians, a right angle of a robot file may be to be taken as exact; above 1e-7 only
    angles rounded or cut off to the digits written are.
    parameters: values of parameters by name, or a file of them (.json, .toml, .csv, or lines `name = value`); or the
    word "inertial", which makes parameters of all numbers in the inertias of a robot file.
    equalities: False leaves out the constraints by which a robot file closes loops: <equality> of MJCF, <loop_joint> of
    URDF, joints of SDF that close a loop.
    actuators: False leaves out the actuators of MJCF, whose controls are inputs of the mechanism otherwise.
    mocap: prescribed motions of the mocap bodies of MJCF, as formulas of time.
    xacro: values of xacro:arg; if it is given, the macros of a URDF are expanded, which evaluates Python expressions of
    the file.
    """

    floating: bool = False
    package_roots: tuple[str | Path, ...] = ()
    elements: bool | JointModel | None = None
    angle_tolerance: float = ANGLE_TOLERANCE
    parameters: Mapping[str, Scalar] | str | Path | None = None
    equalities: bool = True
    actuators: bool = True
    mocap: Mapping[str, Sequence[Scalar]] | None = None
    xacro: Mapping[str, object] | None = None


#: The word for `parameters` that makes parameters of all numbers in inertias.
INERTIAL = "inertial"

#: What every function that needs a mechanism takes: a mechanism, or a model file or name of the library to load.
MechanismSource: TypeAlias = Mechanism | str | Path


def mechanism_of(model: MechanismSource) -> Mechanism:
    """The mechanism itself, or the one that `load` finds under this name or path."""
    if isinstance(model, Mechanism):
        return model
    if isinstance(model, str | Path):
        return load(model)
    what = f"{type(model).__name__} is not a mechanism"
    raise ModelError(what, remedy="give a Mechanism, the path of a model file, or a name such as 'puma560'")


def write(model: MechanismSource) -> str:
    """Return a mechanism as text in the model language; `kg.parse` reads it back."""
    return io.write(mechanism_of(model))


def lock(model: MechanismSource, *coordinates: str | Mapping[str, Scalar], **values: Scalar) -> Mechanism:
    """Return the mechanism with fixed coordinates: `lock(robot, q4=0)`, or `lock(robot, "q4")` at its initial value."""
    return changes.lock(mechanism_of(model), *coordinates, **values)


def in_principal_axes(model: MechanismSource) -> Mechanism:
    """Return the mechanism with quaternion velocities about principal axes, for bodies with products of inertia.

    The equations become shorter. The initial state, the motion and all quantities of bodies stay the same.
    """
    return changes.in_principal_axes(mechanism_of(model))


def with_contacts(model: MechanismSource, *, restitution: Scalar = 0, friction: Scalar = 0) -> Mechanism:
    """Return the mechanism with a `contact` wherever one of its spheres, capsules or boxes may touch a fixed plane.

    restitution: coefficient of restitution. friction: coefficient for corners of boxes; round shapes have none, because
        their contact point moves along the surface.
    """
    return changes.with_contacts(mechanism_of(model), restitution=restitution, friction=friction)


def load(
    model: str | Path,
    *,
    floating: bool = False,
    package_roots: Sequence[str | Path] = (),
    elements: bool | JointModel | None = None,
    angle_tolerance: float = ANGLE_TOLERANCE,
    parameters: Mapping[str, Scalar] | str | Path | None = None,
    contacts: bool = False,
    equalities: bool = True,
    actuators: bool = True,
    mocap: Mapping[str, Sequence[Scalar]] | None = None,
    xacro: Mapping[str, object] | None = None,
) -> Mechanism:
    """Load a mechanism from a file, or by its name in the library.

    model: a path (model language, URDF, MJCF, SDF, a Denavit-Hartenberg table as CSV, vectors as TOML), or a name.
        The content of the file decides its format.
    floating: let the base of a URDF robot move freely. package_roots: folders with meshes.
    elements: use damping, springs and friction of robot files; None does as the file's engine does.
    angle_tolerance: round angles this close to a right angle. parameters: values, a file of values, or "inertial": all
        numbers in the inertias become parameters, such as m_hand, cx_hand, Jx_hand, with their numbers as values.
    contacts: let spheres, capsules and boxes touch fixed planes, without rebound or friction; see `with_contacts`.
    equalities: use the constraints of a robot file, or read a tree.
    actuators: make the controls of MJCF actuators inputs of the mechanism.
    mocap: motions of mocap bodies of MJCF in m and rad: `{"target": ("0.1*sin(t)", 0, 0.3)}`, and three angles if it
        turns, about its x, y and z axes. Others stay at their place.
    xacro: expand the macros of a URDF with these values of xacro:arg, `{}` for none. This evaluates Python expressions
        of the file, so do it only with files that you trust.
    A LeftOutWarning lists what the equations do not include; `mechanism.report` keeps the list.
    """
    roots = tuple(package_roots)
    options = ReadOptions(floating, roots, elements, angle_tolerance, parameters, equalities, actuators, mocap, xacro)
    mechanism = read(model, options)
    if contacts:
        mechanism = changes.with_contacts(mechanism)
    summary = mechanism.report.summary()
    if summary:
        message = f"{model}: left out or rounded: {summary}; `kinegraph check` and `mechanism.report` say more"
        warnings.warn(message, LeftOutWarning, stacklevel=2)
    return mechanism


def read(source: str | Path, options: ReadOptions) -> Mechanism:
    """Like `load`, without a warning."""
    mechanism = _read(source, options)
    mechanism = replace(mechanism, report=full_report(mechanism))
    given = options.parameters
    if given is None or given == INERTIAL:
        return mechanism
    if isinstance(given, Mapping):
        return changes.with_parameters(mechanism, given)
    from kinegraph.io.parameters import read_parameters

    return changes.with_parameters(mechanism, read_parameters(given))


def _read(source: str | Path, options: ReadOptions) -> Mechanism:
    if Path(source).suffix.lower() == ".mjz":
        source = _unpacked(Path(source))
    kind, root = (ModelFormat.RECORDS, None) if _in_library(source) else _recognized(source, options)
    if kind is not ModelFormat.URDF and options.xacro is not None:
        raise ModelError(f"{source}: only URDF files have xacro macros", remedy="leave xacro out")
    if kind is not ModelFormat.URDF and options.floating:
        raise ModelError(f"{source}: only a URDF's base can be set free when it is read", remedy="leave floating out")
    if kind is not ModelFormat.MJCF and options.mocap:
        raise ModelError(f"{source}: only MJCF files have mocap bodies", remedy="leave mocap out")
    if kind is ModelFormat.USD:
        from kinegraph.io.usd.reader import load_usd

        found = load_usd(source, _shared(options)).mechanism
        return _with_joint_model(found, options.elements or False, options.parameters == INERTIAL)
    if root is None and options.package_roots:
        message = f"{source}: only URDF, MJCF, SDF and USD files have package roots"
        raise ModelError(message, remedy="leave the package roots out")
    if root is None and not options.equalities:
        message = f"{source}: only URDF, MJCF, SDF and USD files have equalities to leave out"
        raise ModelError(message, remedy="leave the loops and constraints out of the model itself")
    if root is None:
        mechanism = _without_xml(source, kind, options)
        return changes.with_inertial_parameters(mechanism) if options.parameters == INERTIAL else mechanism
    return _robot(root, kind, Path(source), options)


def read_text(text: str, path: Path) -> Mechanism:
    """A mechanism from the text of a file that need not be saved; `path` says where its meshes and includes are."""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        from kinegraph.io.robot.xml import parse_xml

        root = parse_xml(text.removeprefix("\ufeff").encode())
        found = _robot(root, format_by_root(root), path, ReadOptions())
    elif path.suffix.lower() in (".csv", ".toml"):
        if not path.is_file() or path.read_text("utf-8") != text:
            raise ModelError("a table is read from its file", remedy=f"save {path.name} first")
        found = _read(path, ReadOptions())
    else:
        found = io.parse(text, path.stem)
    return replace(found, report=full_report(found))


def _robot(root: Element, kind: ModelFormat, path: Path, options: ReadOptions) -> Mechanism:
    """The mechanism of a robot file, with the joint model its own engines use unless another is asked for."""
    shared = _shared(options)
    usual = robot.JointModel() if options.elements is None else options.elements
    inertial = options.parameters == INERTIAL
    if kind is ModelFormat.MJCF:
        from kinegraph.io.mjcf.reader import read_mjcf

        return _with_joint_model(read_mjcf(root, path, shared).mechanism, usual, inertial)
    if kind is ModelFormat.SDF:
        from kinegraph.io.sdf.reader import read_sdf

        return _with_joint_model(read_sdf(root, path, shared).mechanism, usual, inertial)
    return _with_joint_model(_urdf(root, path, options), options.elements or False, inertial)


def _unpacked(archive: Path) -> Path:
    """The model file of an archive, in the cache folder."""
    from kinegraph.io.mjcf.archive import unpacked
    from kinegraph.jit.cache import directory

    return unpacked(archive, directory() / "archives")


def _shared(options: ReadOptions) -> RobotFileOptions:
    """The options that all readers of robot files have."""
    from kinegraph.io.options import RobotFileOptions

    return RobotFileOptions(
        options.package_roots,
        angle_tolerance=options.angle_tolerance,
        equalities=options.equalities,
        actuators=options.actuators,
        mocap=_motions(options.mocap or {}),
    )


def _motions(given: Mapping[str, Sequence[Scalar]]) -> dict[str, tuple[Scalar, ...]]:
    """The motions of bodies; formulas are read in the model language."""
    from kinegraph.io.language.expressions import read_expression

    def read(item: Scalar, name: str) -> Scalar:
        return read_expression(item, Place(1, 1, f"the motion of {name}")) if isinstance(item, str) else item

    return {name: tuple(read(item, name) for item in motion) for name, motion in given.items()}


def _urdf(root: Element, path: Path, options: ReadOptions) -> Mechanism:
    from kinegraph.io.options import UrdfOptions
    from kinegraph.io.robot.findings import Base
    from kinegraph.io.urdf.reader import read_urdf

    base = Base.FLOATING if options.floating else Base.FIXED
    chosen = UrdfOptions(
        options.package_roots, angle_tolerance=options.angle_tolerance, equalities=options.equalities, base=base
    )
    return read_urdf(root, path, chosen).mechanism


def _with_joint_model(mechanism: Mechanism, elements: bool | JointModel, inertial: bool) -> Mechanism:
    if inertial:  # before armature and gravity compensation become part of the equations
        mechanism = changes.with_inertial_parameters(mechanism)
    if not elements:
        return mechanism
    chosen = elements if isinstance(elements, robot.JointModel) else robot.JointModel(dry_friction=True)
    return robot.with_elements(mechanism, chosen)


def _in_library(source: str | Path) -> bool:
    """A word without suffix or folder is a name of the library, unless there is a file of that name."""
    words = os.fspath(source)
    if os.sep in words or (os.altsep and os.altsep in words) or Path(source).suffix:
        return False
    # lexists first: it alone takes a name that is too long for a file
    return not os.path.lexists(source) or Path(source).is_dir()


def _recognized(source: str | Path, options: ReadOptions) -> tuple[ModelFormat, Element | None]:
    """The format of a file, and its root element if it holds XML."""
    if not holds_xml(source):
        return format_by_name(source), None
    from kinegraph.io.robot.xml import parse_xml, read_xml

    root = read_xml(source)
    if options.xacro is not None and format_by_root(root) is ModelFormat.URDF:
        from kinegraph.io.urdf.xacro_macros import expanded

        roots = [Path(one) for one in options.package_roots]
        root = parse_xml(expanded(Path(source), options.xacro, roots), str(source))
    return format_by_root(root), root


def _without_xml(source: str | Path, kind: ModelFormat, options: ReadOptions) -> Mechanism:
    if _in_library(source):
        return library.mechanism(str(source))
    if kind is ModelFormat.TABLE:
        from kinegraph.io.dh import load_denavit_hartenberg

        return load_denavit_hartenberg(source, angle_tolerance=options.angle_tolerance).mechanism
    if kind is ModelFormat.VECTORS:
        from kinegraph.io.vectors import load_vectors

        return load_vectors(source)
    return io.load(source)
