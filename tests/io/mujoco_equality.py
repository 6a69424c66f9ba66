"""What MuJoCo says about equality constraints, and how far our own numbers are from it.

    pip install mujoco
    python -m tests.io.mujoco_equality

writes tests/data/equality_mujoco.json for the models of tests/io/data/equality; the tests then do not need MuJoCo. Its
constraints give way; here they are made exact: states are taken onto them by Newton's method, and accelerations solve
the dense equations of its inertia matrix, bias and rows. Rates of rows are differences of eighth order.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = dict[str, Any]

MODELS = Path(__file__).parent / "data" / "equality"
NUMBERS = Path(__file__).parents[1] / "data" / "equality_mujoco.json"

_STEP = 1e-2
_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # of central differences of eighth order


class Peer:
    """MuJoCo with one model, everything but equality constraints and passive forces switched off."""

    def __init__(self, path: Path) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        for flag in ("CONTACT", "LIMIT", "FRICTIONLOSS", "ACTUATION"):
            self.model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(self.model)

    def moved(self, q: Floats, v: Floats, time: float = 1.0) -> Floats:
        """Positions after moving with constant velocities."""
        found = q.copy()
        self.mujoco.mj_integratePos(self.model, found, v, time)
        return found

    def rows(self, q: Floats) -> tuple[Floats, Floats]:
        """Residuals and Jacobian of the constraints."""
        self.data.qpos[:] = q
        self.mujoco.mj_forward(self.model, self.data)
        count = self.data.ne
        jacobian = self.data.efc_J.reshape(-1, self.model.nv)[:count]
        return self.data.efc_pos[:count].copy(), jacobian.copy()

    def assembled(self, q: Floats) -> Floats:
        """The positions nearest to these, more or less, that meet the constraints."""
        for _ in range(50):
            residual, jacobian = self.rows(q)
            if np.abs(residual).max() < 1e-15:
                break
            step = -np.linalg.pinv(jacobian, rcond=1e-10) @ residual
            q = self.moved(q, step * min(1.0, 0.2 / float(np.linalg.norm(step))))
        assert np.abs(self.rows(q)[0]).max() < 1e-13, f"not assembled: {self.rows(q)[0]}"
        return q

    def rate(self, q: Floats, v: Floats) -> Floats:
        """The second derivative of the residuals at constant velocities."""
        found = np.zeros(len(self.rows(q)[0]))
        for place, weight in enumerate(_WEIGHTS, start=1):
            ahead, behind = (self.rows(self.moved(q, v, sign * place * _STEP))[1] @ v for sign in (1, -1))
            found += weight / _STEP * (ahead - behind)
        return found

    def state(self, q: Floats, v: Floats) -> Numbers:
        """Rows and accelerations at positions that meet the constraints; velocities are made to."""
        _, jacobian = self.rows(q)
        v = v - np.linalg.pinv(jacobian, rcond=1e-10) @ (jacobian @ v)
        rate = self.rate(q, v)
        self.data.qvel[:] = v
        self.rows(q)
        size = self.model.nv
        inertia = np.zeros((size, size))
        self.mujoco.mj_fullM(self.model, self.data, inertia)
        bias = self.data.qfrc_bias - self.data.qfrc_passive
        matrix = np.block([[inertia, jacobian.T], [jacobian, np.zeros((len(rate),) * 2)]])
        solution = np.linalg.lstsq(matrix, np.concatenate([-bias, -rate]), rcond=1e-12)[0]
        return {"q": q.tolist(), "v": v.tolist(), "rows": jacobian.tolist(), "qdd": solution[:size].tolist()}


def mujoco_numbers(path: Path, states: int = 2) -> Numbers:
    """Residuals anywhere, rows and accelerations where the constraints are met."""
    peer = Peer(path)
    random = np.random.default_rng(5)
    apart, met = [], []
    for _ in range(states):
        q = peer.moved(peer.model.qpos0, random.uniform(-0.4, 0.4, peer.model.nv))
        apart.append({"q": q.tolist(), "residuals": _by_constraint(peer, q)})
        met.append(peer.state(peer.assembled(q), random.uniform(-1, 1, peer.model.nv)))
    return {"file": path.name, "apart": apart, "met": met}


def _by_constraint(peer: Peer, q: Floats) -> list[list[float]]:
    """The residuals of each constraint: of positions alone, for those of rotations depend on how they are measured."""
    found, _ = peer.rows(q)
    owners = peer.data.efc_id[: len(found)]
    return [found[owners == owner][:3].tolist() for owner in dict.fromkeys(owners.tolist())]


def main() -> None:
    """Write the numbers of all models."""
    import mujoco

    source = f"MuJoCo {mujoco.__version__}, computed by tests/io/mujoco_equality.py"
    models = [mujoco_numbers(path) for path in sorted(MODELS.glob("*.xml"))]
    NUMBERS.write_text(json.dumps({"source": source, "models": models}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
