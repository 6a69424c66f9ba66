"""What MuJoCo says about actuators, tendons and forces on bodies.

    pip install mujoco
    python -m tests.io.mujoco_drives [FILE ...]

writes tests/data/drives_mujoco.json for all models of tests/io/data/drives, or for the named ones; the tests then do
not need MuJoCo.
Contacts, limits, dry friction and constraints are switched off. Controls are random, also beyond their ranges.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = dict[str, Any]

MODELS = Path(__file__).parent / "data" / "drives"
NUMBERS = Path(__file__).parents[1] / "data" / "drives_mujoco.json"

_STATES = 4
_OFF = ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS")


class Peer:
    """MuJoCo with one model."""

    def __init__(self, path: Path) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        for flag in _OFF:
            self.model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        self.data = mujoco.MjData(self.model)

    def at(self, q: Floats, v: Floats, controls: Floats, activations: Floats) -> Numbers:
        """Forces of actuators and passive forces, accelerations, and rates of activations."""
        self.data.qpos[:], self.data.qvel[:] = q, v
        self.data.ctrl[:], self.data.act[:] = controls, activations
        self.mujoco.mj_forward(self.model, self.data)
        forces = self.data.qfrc_actuator + self.data.qfrc_passive
        found = {"forces": forces.tolist(), "qdd": self.data.qacc.tolist()}
        return found | ({"state_rates": self.data.act_dot.tolist()} if self.model.na else {})

    def random_state(self, draw: np.random.Generator) -> tuple[Floats, Floats, Floats, Floats]:
        """Positions, velocities, controls and activations."""
        model = self.model
        q = np.array(model.qpos0)
        self.mujoco.mj_integratePos(model, q, draw.normal(size=model.nv), 0.5)
        return q, draw.normal(size=model.nv), draw.normal(size=model.nu) * 2, draw.normal(size=model.na)


def numbers_of(path: Path) -> Numbers:
    """States of one model with what MuJoCo finds there."""
    peer, draw = Peer(path), np.random.default_rng(27)
    states = []
    for _ in range(_STATES):
        q, v, controls, activations = peer.random_state(draw)
        given = {"q": q.tolist(), "v": v.tolist(), "ctrl": controls.tolist(), "act": activations.tolist()}
        states.append(given | peer.at(q, v, controls, activations))
    source = f"MuJoCo {peer.mujoco.__version__}, python -m tests.io.mujoco_drives"
    return {"file": path.name, "source": source, "states": states}


def main(names: list[str]) -> None:
    """Write the numbers of all models, or of the named ones."""
    known = {one["file"]: one for one in json.loads(NUMBERS.read_text(encoding="utf-8"))["models"]} if names else {}
    models = [path for path in sorted(MODELS.glob("*.xml")) if not names or path.name in names]
    known |= {path.name: numbers_of(path) for path in models}
    NUMBERS.write_text(json.dumps({"models": [known[name] for name in sorted(known)]}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
