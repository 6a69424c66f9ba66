"""What MuJoCo says about an MJCF model, and how far our own numbers are from it.

    pip install mujoco
    python -m tests.io.mujoco_numbers

writes tests/data/mjcf_mujoco.json for the models of tests/io/data/mjcf; the tests then do not need MuJoCo. It uses the
same coordinates as we do: positions and velocities of a free joint in the world, angular velocities in the body.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import ForwardMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.interpret import interpret
from kinegraph.io.mjcf import load_mjcf
from kinegraph.io.options import RobotFileOptions
from kinegraph.model.evaluate import initial_positions
from kinegraph.model.joint_models import with_elements
from kinegraph.model.mechanism import Coordinate, Mechanism

Floats = NDArray[np.float64]
Numbers = dict[str, Any]

MODELS = Path(__file__).parent / "data" / "mjcf"
NUMBERS = Path(__file__).parents[1] / "data" / "mjcf_mujoco.json"
QUANTITIES = ("H", "bias", "forces", "energy", "momentum")


def mujoco_numbers(path: Path, states: int = 2) -> Numbers:
    """The numbers of a model without constraints and actuators: where it starts, and at a few random states."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    model.opt.disableflags |= off
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    random = np.random.default_rng(2)
    found = []
    for _ in range(states):
        data.qpos[:] = random.uniform(-1, 1, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = random.uniform(-1, 1, model.nv)
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        found.append(_state(mujoco, model, data))
    return {"file": path.name, "start": model.qpos0.tolist(), "states": found}


def _state(mujoco: Any, model: Any, data: Any) -> Numbers:
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    potential, kinetic = data.energy
    linear = data.subtree_linvel[0] * model.body_subtreemass[0]
    angular = data.subtree_angmom[0] + np.cross(data.subtree_com[0], linear)
    values = {
        "q": data.qpos, "v": data.qvel, "H": inertia, "bias": data.qfrc_bias, "forces": data.qfrc_passive,
        "qdd": data.qacc, "energy": [kinetic, potential], "momentum": [*linear, *angular],
    }  # fmt: skip
    return {name: np.asarray(value).tolist() for name, value in values.items()}


def differences(path: Path, numbers: Numbers, accelerations: bool = True) -> dict[str, float]:
    """How far our numbers are from MuJoCo's, by quantity, relative to the largest entry.

    Forces, energies and momenta that nearly vanish are measured by a thousandth of the inertia: velocities are about 1.
    """
    mechanism = with_elements(load_mjcf(path, options=RobotFileOptions(right_angles=False)).mechanism)
    worst = {"start": start_difference(mechanism, numbers["start"])}
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), Plan(forward=ForwardMethod.ARTICULATED))
    words = (*QUANTITIES, "qdd") if accelerations else QUANTITIES
    graph = derivation.builder.graph([derivation.output(Quantity(word)) for word in words])
    layout = mechanism.layout
    for state in numbers["states"]:
        given = dict(zip(layout.positions, state["q"], strict=True)) | dict(
            zip(layout.velocities, state["v"], strict=True)
        )
        found = interpret(graph, given | dict.fromkeys(layout.forces, 0.0))
        state = state | {"bias": np.subtract(state["bias"], state["forces"])}  # ours has all forces in it
        least = 1e-3 * float(np.abs(state["H"]).max(initial=0.0))
        for word in words:
            off = _relative(np.asarray(found[word]), np.asarray(state[word]), 0.0 if word == "qdd" else least)
            worst[word] = max(worst.get(word, 0.0), off)
    return worst


def _relative(found: Floats, expected: Floats, least: float) -> float:
    return float(np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), least, 1e-6))


def start_difference(mechanism: Mechanism, expected: list[float]) -> float:
    """How far the start is from MuJoCo's; a quaternion and its negative are the same."""
    found, place, worst = initial_positions(mechanism, {}), 0, 0.0
    for coordinate in mechanism.coordinates:
        width = 1 if isinstance(coordinate, Coordinate) else 4
        ours, theirs = np.array(found[place : place + width]), np.array(expected[place : place + width])
        same = np.abs(ours - theirs).max()
        worst = max(worst, min(same, np.abs(ours + theirs).max()) if width == 4 else same)
        place += width
    return float(worst)


def main() -> None:
    """Write the numbers of all models."""
    import mujoco

    source = f"MuJoCo {mujoco.__version__}, computed by tests/io/mujoco_numbers.py"
    models = [mujoco_numbers(path) for path in sorted(MODELS.glob("*.xml"))]
    NUMBERS.write_text(json.dumps({"source": source, "models": models}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
