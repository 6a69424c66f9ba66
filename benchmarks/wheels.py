"""The MJCF and URDF files of other packages, read and compared with MuJoCo and Pinocchio at random states.

    pip install mujoco pin
    pip install --no-deps dm_control gymnasium robosuite drake      (some 260 MB; only their files are used)
    python -m benchmarks robots --wheels [--states 3] [--json FILE] [NAME ...]

Of every file that describes a mechanism (it has a body, and the engine reads it): is it read, do the forces
tau(q, v, a) and the inertia matrix agree to 1e-9, and if not, what does the report say is left out? MuJoCo's contacts,
limits and dry friction are switched off, for the report names them; its passive forces (springs, dampers, tendons,
fluid) and its actuators, at random controls, are on. Equality constraints are left
out on both sides: forces and inertias are those of the tree.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from benchmarks.robots import compare, random_states
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import ReadOptions, read
from kinegraph.errors import KinegraphError
from kinegraph.io.model_format import ModelFormat, format_by_root
from kinegraph.io.robot.findings import Base
from kinegraph.io.robot.xml import read_xml
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import full_report

PACKAGES = (
    "mujoco", "dm_control", "gymnasium", "gymnasium_robotics", "robosuite", "robosuite_models", "metaworld", "d4rl",
    "dm_robotics", "fancy_gym", "genesis", "mani_skill", "mjlab", "mujoco_py", "brax", "rtbdata", "skrobot", "pydrake",
)  # fmt: skip
LIMIT = 1e-9

_OFF = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS")
Floats = NDArray[np.float64]


class Verdict(Enum):
    """What became of a file."""

    AGREES = "agrees"
    LEFT_OUT = "agrees without the fluid or tendons that the report says are left out"
    PARTLY = "read, but not all of its actuators drive it, as the report says"
    DIFFERS = "DIFFERS"
    STILL = "read, nothing moves"
    REFUSED = "refused"
    NO_MECHANISM = "describes no mechanism: no bodies"
    PEER_REFUSES = "the other engine refuses it"


#: Files of which nothing can be compared; they are not counted.
_APART = frozenset({Verdict.NO_MECHANISM, Verdict.PEER_REFUSES})


@dataclass(frozen=True)
class FileOutcome:
    """One file: the verdict, the largest relative error of tau and H, and the reason or what is left out."""

    package: str
    file: str
    verdict: str
    velocities: int = 0
    error: float = 0.0
    words: str = ""


def files_of(package: str) -> list[Path]:
    """The model files of an installed package; none if it is not there."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return []
    root = Path(next(iter(found.submodule_search_locations)))
    return sorted([*root.rglob("*.xml"), *root.rglob("*.urdf")])


def parted(path: Path, package: str) -> tuple[Path, str]:
    """The folder of a package, and where in it a file lies."""
    before, _, inner = str(path).partition(f"/{package}/")
    return Path(before) / package, inner


def kind_of(path: Path) -> ModelFormat | None:
    """The format of a file, by its root element; None if it is not a model."""
    try:
        return format_by_root(read_xml(path))
    except KinegraphError:
        return None


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


def compare_mjcf(path: Path, package: str, states: int) -> FileOutcome:
    """Read an MJCF file and compare it with MuJoCo."""
    root, inner = parted(path, package)
    try:
        peer = MuJoCo(path)
    except ValueError as error:
        return FileOutcome(package, inner, Verdict.PEER_REFUSES.name, words=f"MuJoCo: {str(error).splitlines()[0]}")
    if not peer.bodies:
        return FileOutcome(package, inner, Verdict.NO_MECHANISM.name, words="no bodies")
    try:
        full = read(path, ReadOptions(angle_tolerance=0, package_roots=(root,)))
        mechanism = replace(full, loops=(), constraints=())
    except KinegraphError as error:
        reason = str(error).partition("\n")[0].replace(str(path), path.name)
        return FileOutcome(package, inner, Verdict.REFUSED.name, words=reason)
    left = full_report(mechanism).summary(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)
    size = len(mechanism.layout.velocities)
    if not size:
        return FileOutcome(package, inner, Verdict.STILL.name, words=left)
    if (len(mechanism.layout.positions), size) != (peer.model.nq, peer.model.nv):
        words = f"{size} velocities, MuJoCo {peer.model.nv}; {left}"
        return FileOutcome(package, inner, Verdict.DIFFERS.name, size, np.inf, words)
    if (len(mechanism.layout.inputs), len(mechanism.layout.states)) != (peer.model.nu, peer.model.na):
        return FileOutcome(package, inner, Verdict.PARTLY.name, size, words=left)
    wanted = "H,tau,state_rates" if mechanism.states else "H,tau"
    kernel = compile(mechanism, wanted, options=KernelOptions(cache=False))
    off = largest_error(kernel, mechanism, peer, states)
    verdict = Verdict.AGREES if off <= LIMIT else Verdict.DIFFERS
    if off > LIMIT:
        peer.switch_off({finding.topic for finding in full_report(mechanism).of(FindingKind.LEFT_OUT)})
        verdict = Verdict.LEFT_OUT if largest_error(kernel, mechanism, peer, states) <= LIMIT else Verdict.DIFFERS
    return FileOutcome(package, inner, verdict.name, size, off, left)


def largest_error(kernel: Kernel, mechanism: Mechanism, peer: MuJoCo, states: int) -> float:
    """The largest relative difference of H and tau at random states."""
    worst = 0.0
    draw = np.random.default_rng(27)
    for q, v, a, _ in random_states(mechanism, states):
        controls, activations = draw.normal(size=peer.model.nu) * 2, draw.normal(size=peer.model.na)
        given: dict[str, ArrayLike] = {"q": q, "v": v, "a": a, "t": 0.0, "u": controls, "z": activations}
        arguments = (given[one.name] for one in kernel.arguments)
        ours, theirs = kernel(*arguments), peer.quantities(q, v, a, controls, activations)
        for name, value in theirs.items():
            off = float(np.abs(ours[name] - value).max() / max(float(np.abs(value).max()), 1e-12))
            worst = max(worst, off if np.isfinite(off) else np.inf)
    return worst


def compare_urdf(path: Path, package: str, states: int) -> FileOutcome:
    """Read a URDF and compare it with Pinocchio, on a fixed base."""
    _, inner = parted(path, package)
    try:
        pin.buildModelFromUrdf(str(path))
    except ValueError as error:
        return FileOutcome(package, inner, Verdict.PEER_REFUSES.name, words=f"Pinocchio: {str(error).splitlines()[0]}")
    found = compare(path, Base.FIXED, states)
    if found.problem:
        verdict = Verdict.STILL if found.problem == "nothing moves" else Verdict.REFUSED
        return FileOutcome(package, inner, verdict.name, found.size, words=found.problem)
    mechanism = read(path, ReadOptions())
    left = full_report(mechanism).summary(FindingKind.LEFT_OUT, FindingKind.NOT_UNDERSTOOD)
    verdict = Verdict.AGREES if found.agrees else Verdict.DIFFERS
    worst = max(found.errors.get(name, 0.0) for name in ("tau", "H"))
    return FileOutcome(package, inner, verdict.name, found.size, worst, left)


def outcomes(names: list[str], states: int) -> Iterator[FileOutcome]:
    """All files of all packages that are installed, in order."""
    for package in PACKAGES:
        for path in files_of(package):
            kind = kind_of(path)
            if kind not in (ModelFormat.MJCF, ModelFormat.URDF) or (
                names and not any(name in str(path) for name in names)
            ):
                continue
            by_kind = compare_mjcf if kind is ModelFormat.MJCF else compare_urdf
            yield by_kind(path, package, states)


def summary(found: list[FileOutcome]) -> str:
    """Files by package and verdict, as a table of Markdown."""
    counts = Counter((one.package, one.verdict) for one in found)
    columns = (
        "package",
        "mechanisms",
        "agree",
        "left out, said",
        "partly driven",
        "differ",
        "nothing moves",
        "refused",
        "read",
    )
    head = (*columns, "no bodies", "engine refuses")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    words = [verdict.name for verdict in Verdict if verdict not in _APART]
    for package in [one for one in PACKAGES if any(one == package for package, _ in counts)]:
        row = [counts[package, word] for word in words]
        total, refused = sum(row), counts[package, Verdict.REFUSED.name]
        share = f"{100 * (total - refused) / total:.0f} %" if total else "-"
        apart = [counts[package, verdict.name] for verdict in (Verdict.NO_MECHANISM, Verdict.PEER_REFUSES)]
        lines.append(f"| {package} | {total} | {' | '.join(map(str, row))} | {share} | {apart[0]} | {apart[1]} |")
    return "\n".join(lines)


def run(names: list[str], states: int, file: Path | None) -> int:
    """Compare and print; 0 if every file that is read agrees or says why not."""
    missing = [package for package in PACKAGES if not files_of(package)]
    if missing:
        print(f"not installed: {', '.join(missing)}; pip install --no-deps dm_control gymnasium robosuite drake")
    found: list[FileOutcome] = []
    for one in outcomes(names, states):
        found.append(one)
        numbers = f"{one.velocities:3d} {one.error:.0e}"
        print(f"{one.package:11s} {one.file:75s} {one.verdict:12s} {numbers}  {one.words}", flush=True)
    print(summary(found))
    if file:
        file.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    return 1 if any(one.verdict == Verdict.DIFFERS.name for one in found) else 0


def main() -> int:
    """Check the mechanism files of installed packages; the exit code is 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    return run(options.names, options.states, options.json)


if __name__ == "__main__":
    sys.exit(main())
