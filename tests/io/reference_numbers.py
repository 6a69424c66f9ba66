"""Writes tests/data/robots_pinocchio.json and robots_mujoco.json: what the peers say about our own small test robots.

    pip install pin mujoco
    python tests/io/reference_numbers.py

The tests then need neither. Numbers are in our coordinates (see `benchmarks.robots`); MuJoCo uses the
same as we do.
"""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from benchmarks.peers.sides.pinocchio_robot import PinocchioRobot
from benchmarks.robots import random_states

from kinegraph.io.options import UrdfOptions
from kinegraph.io.robot.findings import Base
from kinegraph.io.urdf import load_urdf

HERE = Path(__file__).parent
MODELS = HERE / "data"
STATES = 3


def pinocchio_numbers(path: Path, base: Base) -> dict[str, object]:
    """Every quantity of a URDF at a few states."""
    robot = load_urdf(path, options=UrdfOptions(base=base, right_angles=False))
    peer = PinocchioRobot(path, robot, base, mimic=True)
    states = []
    for q, v, a, force in random_states(robot.mechanism, STATES):
        found = peer.quantities(q, v, a, force, ["toe", "drone"])
        given = {"q": q, "v": v, "a": a, "force": force}
        states.append({name: value.tolist() for name, value in {**given, **found}.items()})
    return {"file": path.name, "base": base.value, "states": states}


def mujoco_numbers(path: Path) -> dict[str, object]:
    """Inertia matrix, bias and energies of an MJCF model without its armature, springs and constraints."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.dof_armature[:] = 0
    model.jnt_stiffness[:] = 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    random = np.random.default_rng(1)
    states = []
    for _ in range(STATES):
        data.qpos[:] = random.uniform(-1, 1, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = random.uniform(-1, 1, model.nv)
        mujoco.mj_forward(model, data)
        inertia = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, inertia)
        potential, kinetic = data.energy
        found = {"q": data.qpos, "v": data.qvel, "H": inertia, "bias": data.qfrc_bias}
        found |= {"energy": np.array([kinetic, potential]), "site": data.site_xpos[0]}
        states.append({name: value.tolist() for name, value in found.items()})
    return {"file": path.name, "start": model.qpos0.tolist(), "states": states}


def passive_numbers(path: Path) -> dict[str, object]:
    """Inertia with armature, accelerations with springs and dampers, and where a second of motion ends."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    random = np.random.default_rng(2)
    states = []
    for _ in range(STATES):
        data.qpos[:] = random.uniform(-1, 1, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = random.uniform(-1, 1, model.nv)
        mujoco.mj_forward(model, data)
        inertia = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, inertia)
        potential, kinetic = data.energy
        found = {"q": data.qpos, "v": data.qvel, "H": inertia, "qdd": data.qacc, "forces": data.qfrc_passive}
        found |= {"energy": np.array([kinetic, potential])}
        states.append({name: value.tolist() for name, value in found.items()})
    start = {"q": data.qpos.tolist(), "v": data.qvel.tolist()}
    data.time = 0.0
    while data.time < 1 - 1e-9:
        mujoco.mj_step(model, data)
    end = {"q": data.qpos.tolist(), "v": data.qvel.tolist()}
    return {"file": path.name, "states": states, "start": start, "end": end}


def write(name: str, content: dict[str, object]) -> None:
    path = HERE.parent / "data" / name
    path.write_text(json.dumps(content) + "\n", encoding="utf-8")


def main() -> None:
    source = f"Pinocchio {pin.__version__}, computed by tests/io/reference_numbers.py"
    urdf = MODELS / "every_joint.urdf"
    write("robots_pinocchio.json", {"source": source, "robots": [pinocchio_numbers(urdf, base) for base in Base]})
    source = f"MuJoCo {mujoco.__version__}, computed by tests/io/reference_numbers.py"
    write("robots_mujoco.json", {"source": source, "robots": [mujoco_numbers(MODELS / "branched.xml")]})
    write("passive_mujoco.json", {"source": source, **passive_numbers(MODELS / "passive.xml")})


if __name__ == "__main__":
    main()
