"""Every URDF of the example-robot-data wheel against Pinocchio: all quantities, random states, relative errors.

    pip install "kinegraph[bench]"
    python -m benchmarks robots [--states 100] [--base fixed|floating|both] [--json FILE] [NAME ...]

Both read the same file with the angles as written (right angles are not recognized here, for Pinocchio keeps 1.5708).
Conventions are brought together exactly: Pinocchio's quaternion has its scalar part last, and the velocity of a
floating base stands in the base's own axes, ours in the fixed ones. Most of Pinocchio's algorithms refuse mimic joints,
so it keeps them as joints of their own, and the coupling q_mimic = multiplier q + offset, read from the file once more,
is applied to its results. NAME is a part of a file's path.

Accelerations are as uncertain as the inertia matrix is ill-conditioned: qdd may differ by what its condition leaves of
16 digits, and derivatives of qdd are compared by the forces they stand for: H d(qdd) must be minus Pinocchio's d(tau)
at our qdd, and H d(qdd)/d(tau) the unit matrix. Matrices that cancel to nothing (the slopes of rotors) are measured by
the inertias they come from.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmarks.peers.sides.pinocchio_robot import FORWARD_SLOPES, SLOPES, Arrays, PinocchioRobot
from kinegraph.compiler.compile import compile
from kinegraph.errors import ModelError
from kinegraph.io.options import UrdfOptions
from kinegraph.io.robot.findings import Base, Robot
from kinegraph.io.urdf import load_urdf
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.report import FindingKind

LIMIT = 1e-9
DYNAMICS = ("tau", "H", "bias", "gravity", "coriolis")
CANCELLING = (*SLOPES, *FORWARD_SLOPES, "coriolis")
FRAMES = 3  # bodies whose pose and Jacobian are compared


@dataclass
class Comparison:
    """One robot: the largest relative error of each quantity over all states."""

    name: str
    base: str
    size: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    condition: float = 0.0
    problem: str = ""
    seconds: float = 0.0

    @property
    def agrees(self) -> bool:
        """All within the limit; accelerations within what the condition of the inertia matrix leaves of 16 digits."""
        exact = all(error <= LIMIT for name, error in self.errors.items() if name != "qdd")
        forward = self.errors.get("qdd", 0.0) <= max(LIMIT, 1e-15 * self.condition)
        return not self.problem and exact and forward


def frames_of(mechanism: Mechanism) -> list[str]:
    """A few bodies to look at: the last ones that carry nothing."""
    bases = {body.base for body in mechanism.bodies}
    leaves = [body.name for body in mechanism.bodies if body.name not in bases and body.base is not None]
    return leaves[:: max(1, len(leaves) // FRAMES)][:FRAMES]


def random_states(mechanism: Mechanism, count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Positions within a turn, unit quaternions, velocities, accelerations and forces of order one."""
    random = np.random.default_rng(1)
    nv = len(mechanism.layout.velocities)
    for _ in range(count):
        parts = []
        for coordinate in mechanism.coordinates:
            part = random.uniform(-3, 3, 1) if isinstance(coordinate, Coordinate) else random.normal(size=4)
            parts.append(part if isinstance(coordinate, Coordinate) else part / np.linalg.norm(part))
        q = np.concatenate(parts) if parts else np.zeros(0)
        yield q, *(random.uniform(-1, 1, nv) for _ in range(3))


class Own:
    """Our kernels of all quantities, compiled as for users."""

    def __init__(self, robot: Robot, bodies: list[str], peer: PinocchioRobot) -> None:
        mechanism = robot.mechanism
        frames = [f"{word}:{body}" for body in bodies for word in ("pose", "jacobian")]
        wanted = [(*DYNAMICS, *(SLOPES if peer.straight else ())), ("energy", "momentum", *frames)]
        if not robot.report.of(FindingKind.MASSLESS):  # else the inertia matrix is singular
            wanted.append(("qdd", *(FORWARD_SLOPES if peer.straight and not peer.couplings else ())))
        options = KernelOptions(cache=False)
        self.kernels = [compile(mechanism, words, options=options) for words in wanted]
        self.words = wanted

    def quantities(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, force: np.ndarray) -> Arrays:
        """What our kernels give for one state, by name."""
        state = {"q": q, "v": v, "a": a, "tau": force}
        found: Arrays = {}
        for words, kernel in zip(self.words, self.kernels, strict=True):
            result = kernel(
                *(state[argument if isinstance(argument, str) else argument.name] for argument in kernel.arguments)
            )
            found |= result if len(words) > 1 else {words[0]: result}
        return found


def compare(path: Path, base: Base, states: int) -> Comparison:
    """Load, derive, compile and compare one robot."""
    began = time.perf_counter()
    comparison = Comparison(path.stem, base.value)
    mimic = True
    try:
        try:
            robot = load_urdf(path, options=UrdfOptions(base=base, right_angles=False))
        except ModelError as error:
            if "mimic=False" not in str(error):
                raise
            mimic = False
            comparison.name += " (mimic off)"
            robot = load_urdf(path, options=UrdfOptions(base=base, right_angles=False, mimic=False))
    except ModelError as error:
        comparison.problem = str(error).replace(str(path), path.name).replace("\n", ";")
        return comparison
    mechanism = robot.mechanism
    comparison.size = len(mechanism.layout.velocities)
    if not comparison.size:
        comparison.problem = "nothing moves"
        return comparison
    bodies = frames_of(mechanism)
    peer = PinocchioRobot(path, robot, base, mimic)
    own = Own(robot, bodies, peer)
    level = None
    for q, v, a, force in random_states(mechanism, states):
        ours, theirs = own.quantities(q, v, a, force), peer.quantities(q, v, a, force, bodies)
        if FORWARD_SLOPES[0] in ours:
            theirs |= peer.forces_of_slopes(q, v, ours["qdd"])
            ours |= {name: theirs["H"] @ ours[name] for name in FORWARD_SLOPES}
        offset = ours["energy"][1] - theirs["energy"][1]  # mass on the fixed root: Pinocchio leaves it out
        level = offset if level is None else level
        ours["energy"][1] -= level
        comparison.condition = max(comparison.condition, float(np.linalg.cond(theirs["H"])))
        for name in ours:
            value, found = theirs[name], ours[name]
            least = 1e-6 * float(np.abs(theirs["H"]).max()) if name in CANCELLING else 1e-12
            scale = max(float(np.abs(value).max()), least)
            off = float(np.abs(found - value).max()) / scale
            word = name.partition(":")[0]
            comparison.errors[word] = max(comparison.errors.get(word, 0.0), off if np.isfinite(off) else np.inf)
    comparison.seconds = time.perf_counter() - began
    return comparison


def line(comparison: Comparison) -> str:
    """One row of the table."""
    head = f"{comparison.name:34s} {comparison.base:8s} {comparison.size:3d}"
    if comparison.problem:
        return f"{head}  {comparison.problem}"
    errors = " ".join(f"{name} {error:.0e}" for name, error in comparison.errors.items())
    verdict = "agrees" if comparison.agrees else "DIFFERS"
    return f"{head}  {verdict}: {errors}; cond {comparison.condition:.0e}, {comparison.seconds:.0f} s"


def main() -> int:
    """Compare every robot file with the peers; the exit code is 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--base", choices=("fixed", "floating", "both"), default="both")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--wheels", action="store_true", help="the MJCF, URDF, SDF and USD files of all packages")
    parser.add_argument("--folder", type=Path, help="with --wheels: the files of this folder")
    parser.add_argument("--every", type=int, default=1, help="with --wheels: each N-th file")
    options = parser.parse_args()
    if options.wheels:
        from benchmarks.wheels import run  # needs MuJoCo, which the rest does not

        return run(options.names, min(options.states, 3), options.json, options.folder, options.every)
    folder = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    paths = [p for p in sorted(folder.rglob("*.urdf")) if not options.names or any(n in str(p) for n in options.names)]
    bases = tuple(Base) if options.base == "both" else (Base(options.base),)
    comparisons = []
    for base in bases:
        for path in sorted(paths, key=lambda p: p.stat().st_size):
            comparisons.append(compare(path, base, options.states))
            print(line(comparisons[-1]), flush=True)
    loaded = [comparison for comparison in comparisons if not comparison.problem]
    print(f"{sum(o.agrees for o in loaded)} of {len(loaded)} agree; {len(comparisons) - len(loaded)} not compared")
    if options.json:
        options.json.write_text(
            json.dumps([vars(comparison) for comparison in comparisons], indent=1), encoding="utf-8"
        )
    return 0 if all(comparison.agrees for comparison in loaded) else 1


if __name__ == "__main__":
    sys.exit(main())
