"""A quadruped on its feet beside MuJoCo: standing, pushed, and trotting for 30 s with one Python controller.

Both take steps of the same length with the same joint torques, held for a step. Contacts of MuJoCo are soft and give
way; ours are rigid. Joint damping and friction, which our reader of URDF leaves out, are switched off there. Ratios of
one run; the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import kinegraph as kg
from kinegraph.arrays import Floats
from kinegraph.model.poses import quaternion_matrix
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.simulate import ContactSettings
from kinegraph.simulate.simulator import Simulator, simulator

DT, FRICTION, HEIGHT = 1e-3, 0.8, 0.27
STANCE = np.array([0.0, 0.8, -1.6] * 4)
LINK, PERIOD, SPEED, STIFFNESS, DAMPING, STRONGEST = 0.2, 0.4, 0.3, 200.0, 4.0, 33.5
#: Which of the two diagonal pairs the legs FR, FL, RR, RL belong to.
PAIRS = (0, 1, 1, 0)


def robot_file() -> Path:
    """The URDF of A1 in the installed package example-robot-data."""
    for one in files("example-robot-data") or ():
        if str(one).endswith("a1_description/urdf/a1.urdf"):
            return Path(str(one.locate()))
    raise SystemExit("install example-robot-data, or name a URDF of the quadruped A1 with --urdf")


def torques(q: Floats, v: Floats, wanted: Floats) -> Floats:
    """Springs and dampers in the joints, within what the drives can do."""
    return np.clip(STIFFNESS * (wanted - q[7:]) - DAMPING * v[6:], -STRONGEST, STRONGEST)


def trot(t: float, q: Floats, v: Floats) -> Floats:
    """Joint angles of a trot: two diagonal legs push back, the others swing to where Raibert's rule puts them."""
    velocity = quaternion_matrix(q[3:7].tolist()).T @ v[:3]
    wanted = np.empty(12)
    for leg, pair in enumerate(PAIRS):
        phase, half = (t / PERIOD + 0.5 * pair) % 1, SPEED * PERIOD / 4
        x, y, z = half * (1 - 4 * phase), 0.0, HEIGHT
        if phase >= 0.5:
            swing = 2 * phase - 1
            x = -half + (2 * half + 0.08 * (velocity[0] - SPEED)) * swing
            y, z = 0.12 * velocity[1] * swing, HEIGHT - 0.06 * np.sin(np.pi * swing)
        knee = -2 * np.arccos(np.clip(np.hypot(x, z), 0.1, 0.399) / (2 * LINK))
        wanted[3 * leg : 3 * leg + 3] = np.arctan2(y, z), -np.arctan2(x, z) - knee / 2, knee
    return wanted


class Ours:
    """The robot in Kinegraph."""

    def __init__(self, path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = kg.load(path, floating=True)
        begun = perf_counter()
        sim = simulator(self.model, dt=DT, state=self.start, contacts=ContactSettings(ground=0.0, friction=FRICTION))
        assert isinstance(sim, Simulator)
        self.sim, self.ready = sim, perf_counter() - begun
        self.u = np.zeros(18)

    @property
    def start(self) -> dict[str, float]:
        """On the ground nearly, in the stance."""
        joints = zip(self.model.layout.positions[7:], STANCE.tolist(), strict=True)
        return {self.model.layout.positions[2]: 0.32, **dict(joints)}

    @property
    def state(self) -> tuple[float, Floats, Floats]:
        """Time, positions and velocities."""
        return self.sim.t, self.sim.q, self.sim.v

    def step(self, torque: Floats, force: Floats, steps: int = 1) -> None:
        """Hold torques of the joints and a force on the trunk."""
        self.u[:3], self.u[6:] = force, torque
        self.sim.step(self.u, steps=steps)

    def deepest(self) -> float:
        """The deepest penetration."""
        return -min([one.gap for one in self.sim.contacts], default=0.0)


class Peer:
    """The robot in MuJoCo."""

    def __init__(self, path: Path, ours: Ours) -> None:
        import mujoco

        self.mujoco: Any = mujoco
        spec = mujoco.MjSpec.from_file(str(path))
        spec.worldbody.first_body().add_freejoint()
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        for geom in spec.geoms:
            geom.friction = [FRICTION, 0.005, 0.0001]
            robot = geom.parent.name != "world"
            geom.contype, geom.conaffinity = int(not robot), int(robot)
        model = spec.compile()
        model.opt.timestep = DT
        model.dof_damping[:], model.dof_frictionloss[:], model.dof_armature[:] = 0.0, 0.0, 0.0
        self.model, self.data = model, mujoco.MjData(model)
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(1, model.njnt)]
        assert names == list(ours.model.layout.positions[7:]), names
        self.data.qpos[:], self.data.qvel[:] = ours.sim.q, ours.sim.v

    @property
    def state(self) -> tuple[float, Floats, Floats]:
        """Time, positions and velocities."""
        return self.data.time, self.data.qpos, self.data.qvel

    def step(self, torque: Floats, force: Floats, steps: int = 1) -> None:
        """Hold torques of the joints and a force on the trunk."""
        self.data.qfrc_applied[:3], self.data.qfrc_applied[6:] = force, torque
        self.mujoco.mj_step(self.model, self.data, steps)

    def deepest(self) -> float:
        """The deepest penetration."""
        return -min([one.dist for one in self.data.contact], default=0.0)


def run(side: Ours | Peer, seconds: float, wanted: Callable[..., Floats], force: float = 0.0) -> dict[str, float]:
    """Control a robot; how deep its feet went, and how its trunk moved."""
    deepest, lowest, begin = 0.0, 1.0, side.state[1][:3].copy()
    push = np.array([0.0, force, 0.0])
    for _ in range(round(seconds / DT)):
        t, q, v = side.state
        side.step(torques(q, v, wanted(t, q, v)), push)
        deepest, lowest = max(deepest, side.deepest()), min(lowest, float(side.state[1][2]))
    moved = side.state[1][:3] - begin
    return {"deepest": deepest, "lowest": lowest, "ahead": float(moved[0]), "aside": float(moved[1])}


def step_time(side: Ours | Peer, steps: int = 50, repeats: int = 20) -> float:
    """The least time of a step with held torques, in us, from the state at hand; it goes on a little."""
    _, q, v = side.state
    torque, none, times = torques(q, v, STANCE), np.zeros(3), []
    for _ in range(repeats):
        begun = perf_counter()
        side.step(torque, none, steps)
        times.append(perf_counter() - begun)
        for _ in range(100):
            _, q, v = side.state
            side.step(torques(q, v, STANCE), none)
        torque = torques(q, v, STANCE)
    return min(times) / steps * 1e6


def measured(path: Path, seconds: float) -> dict[str, Any]:
    """What both did."""
    ours = Ours(path)
    peer = Peer(path, ours)
    found: dict[str, Any] = {"processor": cpu_model(), "ready, s": ours.ready}
    for name, side in (("Kinegraph", ours), ("MuJoCo", peer)):
        parts = found[name] = {"stands": run(side, 2.0, lambda *_: STANCE)}
        parts["step standing, us"] = step_time(side)
        run(side, 0.2, lambda *_: STANCE, 60.0)
        parts["pushed"] = run(side, 2.0, lambda *_: STANCE)
        parts["trots"] = run(side, seconds, trot)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks feet", description=__doc__)
    parser.add_argument("--urdf", type=Path, help="the file of A1; without it, that of example-robot-data")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to trot")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measured(options.urdf or robot_file(), options.seconds)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['processor']}; ready to step after {found['ready, s']:.1f} s")
    for name in ("Kinegraph", "MuJoCo"):
        side = found[name]
        print(f"{name}: {side['step standing, us']:.1f} us a step standing")
        for part in ("stands", "pushed", "trots"):
            values = ", ".join(f"{word} {value:.3g} m" for word, value in side[part].items())
            print(f"  {part}: {values}")
    print(f"ratio of step times: {found['MuJoCo']['step standing, us'] / found['Kinegraph']['step standing, us']:.1f}")


if __name__ == "__main__":
    main()
