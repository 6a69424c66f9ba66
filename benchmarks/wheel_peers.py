"""One robot file read and compared with an engine: MJCF with MuJoCo, URDF with Pinocchio, SDF with Drake.

Both give the inertia matrix and the forces tau(q, v, a) at random states. Contacts, limits and dry friction of the
engine are switched off, for the report names them; passive forces (springs, dampers, tendons, fluid) and actuators, at
random controls and activations, are on. Equality constraints and joints that close loops are left out on both sides:
forces and inertias are those of the tree. USD files are read, without an engine beside them. Equations are derived and
interpreted, not compiled, so that a thousand files take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from benchmarks.peers.sides.drake import Drake
from benchmarks.peers.sides.pinocchio_robot import PinocchioRobot
from benchmarks.robots import random_states
from kinegraph.compiler.mechanism_source import ReadOptions, read
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import KinegraphError
from kinegraph.graph.interpret import interpret
from kinegraph.io.options import RobotFileOptions, UrdfOptions
from kinegraph.io.robot.findings import Base
from kinegraph.io.sdf import load_sdf
from kinegraph.io.urdf import load_urdf
from kinegraph.io.urdf.xacro_macros import expanded
from kinegraph.model.joint_models import JointModel, with_elements
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import full_report

LIMIT = 1e-9

_OFF = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS")
Floats = NDArray[np.float64]


class Verdict(Enum):
    """What became of a file."""

    AGREES = "agrees"
    LEFT_OUT = "agrees without the fluid or tendons that the report says are left out"
    PARTLY = "read, but not all of its actuators drive it, as the report says"
    DIFFERS = "DIFFERS"
    READ = "read; no engine to compare with"
    STILL = "read, nothing moves"
    REFUSED = "refused"
    NO_MECHANISM = "describes no mechanism: no bodies"
    PEER_REFUSES = "the other engine refuses it"


#: Files of which nothing can be compared; they are not counted.
APART = (Verdict.NO_MECHANISM, Verdict.PEER_REFUSES)


@dataclass(frozen=True)
class FileOutcome:
    """One file: the verdict, the largest relative error of tau and H, and the reason or what is left out."""

    format: str
    package: str
    file: str
    verdict: str
    velocities: int = 0
    error: float = 0.0
    words: str = ""


@dataclass(frozen=True)
class _File:
    """A file of a package, and the outcomes it may have."""

    format: str
    path: Path
    package: Path

    def is_(self, verdict: Verdict, words: object = "", size: int = 0, error: float = 0.0) -> FileOutcome:
        """The outcome."""
        inner = str(self.path.relative_to(self.package))
        first = str(words).partition("\n")[0].replace(str(self.path), self.path.name)
        return FileOutcome(self.format, self.package.name, inner, verdict.name, size, error, first)

    def compared(self, mechanism: Mechanism, error: float) -> FileOutcome:
        """Whether both sides agree."""
        verdict = Verdict.AGREES if error <= LIMIT else Verdict.DIFFERS
        return self.is_(verdict, left_out(mechanism), len(mechanism.layout.velocities), error)

    @property
    def options(self) -> ReadOptions:
        """Angles as written; meshes and includes may be anywhere in the package."""
        return ReadOptions(angle_tolerance=0, package_roots=(self.package,))


def left_out(mechanism: Mechanism) -> str:
    """What the report says is missing."""
    return full_report(mechanism).summary(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)


def off(ours: Floats, theirs: Floats) -> float:
    """The largest difference, as a part of the largest entry."""
    found = float(np.abs(ours - theirs).max() / max(float(np.abs(theirs).max()), 1e-12))
    return found if np.isfinite(found) else np.inf


class Forces:
    """H and tau of a mechanism, and the rates of its first-order states, as they are first derived."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.layout = mechanism.layout
        words = ("H", "tau", "state_rates") if mechanism.states else ("H", "tau")
        derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan())
        self.graph = derivation.builder.graph([derivation.output(Quantity(word)) for word in words])

    def at(self, q: Floats, v: Floats, a: Floats, u: ArrayLike = (), z: ArrayLike = ()) -> dict[str, Floats]:
        """The quantities at a state, with inputs u and first-order states z."""
        layout = self.layout
        named = (layout.positions, q), (layout.velocities, v), (layout.accelerations, a)
        values = {name: x for names, given in named for name, x in zip(names, np.asarray(given), strict=True)}
        values |= dict(zip(layout.inputs, np.asarray(u), strict=True)) | dict(
            zip(layout.states, np.asarray(z), strict=True)
        )
        return interpret(self.graph, {**values, "t": 0.0})


# MJCF


class MuJoCo:
    """Forces and inertias of a model by MuJoCo; None of what the report names but passive forces."""

    def __init__(self, path: Path) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(path))
        for flag in _OFF:
            self.model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        self.data = mujoco.MjData(self.model)

    @property
    def bodies(self) -> int:
        """Bodies beside the world."""
        return int(self.model.nbody) - 1

    def switch_off(self, topics: set[str]) -> None:
        """Take away passive forces that a report says are left out: nothing else may be missing then."""
        if "fluid forces" in topics:
            self.model.opt.density = self.model.opt.viscosity = 0
        if "tendons" in topics:
            for name in ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature"):
                if hasattr(self.model, f"tendon_{name}"):
                    getattr(self.model, f"tendon_{name}")[:] = 0

    def quantities(self, q: Floats, v: Floats, a: Floats, controls: Floats, activations: Floats) -> dict[str, Floats]:
        """H, and the forces that make the motion: H a + bias - passive forces - forces of actuators."""
        self.data.qpos[:], self.data.qvel[:] = q, v
        self.data.ctrl[:], self.data.act[:] = controls, activations
        mujoco.mj_forward(self.model, self.data)
        inertia = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, inertia)
        return {
            "H": inertia,
            "tau": inertia @ a + self.data.qfrc_bias - self.data.qfrc_passive - self.data.qfrc_actuator,
        } | ({"state_rates": self.data.act_dot} if self.model.na else {})


def compare_mjcf(path: Path, package: Path, states: int) -> FileOutcome:
    """Read an MJCF file and compare it with MuJoCo."""
    file = _File("MJCF", path, package)
    try:
        peer = MuJoCo(path)
    except ValueError as error:
        return file.is_(Verdict.PEER_REFUSES, f"MuJoCo: {error}")
    if not peer.bodies:
        return file.is_(Verdict.NO_MECHANISM, "no bodies")
    try:
        mechanism = replace(read(path, file.options), loops=(), constraints=())
    except KinegraphError as error:
        return file.is_(Verdict.REFUSED, error)
    left, size = left_out(mechanism), len(mechanism.layout.velocities)
    if not size:
        return file.is_(Verdict.STILL, left)
    if (len(mechanism.layout.positions), size) != (peer.model.nq, peer.model.nv):
        return file.is_(Verdict.DIFFERS, f"{size} velocities, MuJoCo {peer.model.nv}; {left}", size, np.inf)
    if (len(mechanism.layout.inputs), len(mechanism.layout.states)) != (peer.model.nu, peer.model.na):
        return file.is_(Verdict.PARTLY, left, size)
    forces = Forces(mechanism)
    worst = largest_error(forces, mechanism, peer, states)
    if worst > LIMIT:
        peer.switch_off({finding.topic for finding in full_report(mechanism).of(FindingKind.LEFT_OUT)})
        if largest_error(forces, mechanism, peer, states) <= LIMIT:
            return file.is_(Verdict.LEFT_OUT, left, size, worst)
    return file.compared(mechanism, worst)


def largest_error(forces: Forces, mechanism: Mechanism, peer: MuJoCo, states: int) -> float:
    """The largest relative difference of H and tau at random states."""
    worst = 0.0
    draw = np.random.default_rng(27)
    for q, v, a, _ in random_states(mechanism, states):
        controls, activations = draw.normal(size=peer.model.nu) * 2, draw.normal(size=peer.model.na)
        ours = forces.at(q, v, a, controls, activations)
        theirs = peer.quantities(q, v, a, controls, activations)
        for name, value in theirs.items():
            worst = max(worst, off(ours[name], value))
    return worst


# URDF and SDF


def compare_urdf(path: Path, package: Path, states: int) -> FileOutcome:
    """Read a URDF, after its macros if it has any, and compare it with Pinocchio, on a fixed base."""
    file = _File("URDF", path, package)
    text = path.read_bytes()
    if b"xmlns:xacro" not in text:
        return _compare_urdf(file, path, states)
    file = replace(file, format="xacro")
    with TemporaryDirectory() as folder:
        plain = Path(folder) / f"{path.stem}.urdf"
        try:
            plain.write_bytes(expanded(path, {}, (package, path.parent)))
        except KinegraphError as error:
            return file.is_(Verdict.PEER_REFUSES, error)
        return _compare_urdf(file, plain, states)


def _compare_urdf(file: _File, path: Path, states: int) -> FileOutcome:
    try:
        pin.buildModelFromUrdf(str(path))
    except ValueError as error:
        verdict = Verdict.PEER_REFUSES if b"<link" in path.read_bytes() else Verdict.NO_MECHANISM
        return file.is_(verdict, f"Pinocchio: {error}")
    try:
        robot = load_urdf(path, UrdfOptions(base=Base.FIXED, right_angles=False, equalities=False))
    except KinegraphError as error:
        return file.is_(Verdict.REFUSED, error)
    mechanism = robot.mechanism
    if not mechanism.layout.velocities:
        return file.is_(Verdict.STILL, left_out(mechanism))
    try:
        peer = PinocchioRobot(path, robot, Base.FIXED, mimic=True)
    except ElementTree.ParseError as error:  # of the couplings, which Pinocchio does not read
        return file.is_(Verdict.READ, f"couplings not read: {error}", len(mechanism.layout.velocities))
    forces = Forces(mechanism)
    worst = 0.0
    for q, v, a, force in random_states(mechanism, states):
        theirs = peer.quantities(q, v, a, force, [])
        ours = forces.at(q, v, a)
        worst = max(worst, *(off(ours[name], theirs[name]) for name in ("H", "tau")))
    return file.compared(mechanism, worst)


def compare_sdf(path: Path, package: Path, states: int) -> FileOutcome:
    """Read an SDF file and compare it with Drake, unless loops or extensions make them different mechanisms."""
    file = _File("SDF", path, package)
    try:
        robot = load_sdf(path, RobotFileOptions((package,), right_angles=False, equalities=False))
    except KinegraphError as error:
        return file.is_(Verdict.REFUSED, error)
    mechanism = with_elements(robot.mechanism, JointModel())
    if not mechanism.layout.velocities:
        return file.is_(Verdict.STILL, left_out(mechanism))
    try:
        peer = Drake(path, package, robot)
    except RuntimeError as error:
        return file.is_(Verdict.READ, f"Drake: {error}", len(mechanism.layout.velocities))
    forces = Forces(mechanism)
    worst = 0.0
    for q, v, a, _ in random_states(mechanism, states):
        theirs = peer.quantities(q, v, a)
        ours = forces.at(q, v, a)
        worst = max(worst, *(off(ours[name], theirs[name]) for name in ("H", "tau")))
    return file.compared(mechanism, worst)


def compare_usd(path: Path, package: Path, states: int) -> FileOutcome:
    """Read a USD file."""
    file = _File("USD", path, package)
    try:
        mechanism = read(path, file.options)
    except KinegraphError as error:
        verdict = Verdict.NO_MECHANISM if "no rigid bodies" in str(error) else Verdict.REFUSED
        return file.is_(verdict, error)
    size = len(mechanism.layout.velocities)
    return file.is_(Verdict.READ if size else Verdict.STILL, left_out(mechanism), size)
