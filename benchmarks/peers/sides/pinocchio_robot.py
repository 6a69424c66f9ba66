"""A robot as Pinocchio reads it, its quantities in our coordinates and conventions; see `bench/robots.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from kinegraph.io.robot.findings import Base, Robot
from kinegraph.model.mechanism import Coordinate
from kinegraph.model.report import FindingKind

Arrays = dict[str, np.ndarray]
SLOPES = ("d(tau)/d(dq)", "d(tau)/d(v)")  # where our velocities are Pinocchio's but for couplings
FORWARD_SLOPES = ("d(qdd)/d(dq)", "d(qdd)/d(v)", "d(qdd)/d(tau)")  # without couplings


class PinocchioRobot:
    """Pinocchio's model of the same file, answering in our coordinates."""

    def __init__(self, path: Path, robot: Robot, base: Base, mimic: bool) -> None:
        if base is Base.FLOATING:
            self.model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), "base")
        else:
            self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.robot = robot
        self.couplings = couplings(path) if mimic else {}
        self._joints = list(self._arranged())

    def _arranged(self) -> Iterator[tuple[int, int, str]]:
        """For each of our coordinates: its place in our q and v, and the joint it belongs to."""
        q = v = 0
        for coordinate in self.robot.mechanism.coordinates:
            if isinstance(coordinate, Coordinate):
                yield q, v, self.robot.joints[coordinate.name]
                q, v = q + 1, v + 1
            else:
                yield q, v, self.robot.joints[coordinate.names[0]]
                q, v = q + 4, v + 3

    @property
    def straight(self) -> bool:
        """Does each joint have one velocity, the same for both?"""
        return all(joint.nv == 1 for joint in list(self.model.joints)[1:])

    def state(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pinocchio's q, and the matrix T of v_pin = T v."""
        theirs = pin.neutral(self.model)
        turn = np.zeros((self.model.nv, len(self.robot.mechanism.layout.velocities)))
        places = {joint: (at_q, at_v) for at_q, at_v, joint in reversed(self._joints)}
        for number in range(1, self.model.njoints):
            joint, name = self.model.joints[number], self.model.names[number]
            leader, factor, offset = self.couplings.get(name, (name, 1.0, 0.0))
            at_q, at_v = places[leader]
            if joint.nv == 6:
                position, (e0, e1, e2, e3) = q[at_q : at_q + 3], q[at_q + 3 : at_q + 7]
                theirs[joint.idx_q : joint.idx_q + 7] = *position, e1, e2, e3, e0
                rotation = pin.Quaternion(e0, e1, e2, e3).toRotationMatrix()
                turn[joint.idx_v : joint.idx_v + 3, at_v : at_v + 3] = rotation.T
                turn[joint.idx_v + 3 : joint.idx_v + 6, at_v + 3 : at_v + 6] = np.eye(3)
            elif joint.nv == 3:  # planar: its linear velocity stands in the turned axes
                x, y, angle = q[at_q : at_q + 3]
                c, s = np.cos(angle), np.sin(angle)
                theirs[joint.idx_q : joint.idx_q + 4] = x, y, c, s
                turn[joint.idx_v : joint.idx_v + 3, at_v : at_v + 3] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
            else:
                angle = factor * q[at_q] + offset
                own = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
                theirs[joint.idx_q : joint.idx_q + joint.nq] = own
                turn[joint.idx_v, at_v] = factor
        return theirs, turn

    def quantities(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, force: np.ndarray, bodies: list[str]) -> Arrays:
        """All quantities at one state, in our coordinates."""
        model, data = self.model, self.data
        qp, turn = self.state(q)
        vp = turn @ v
        drift = self._drift(vp)
        inertia = pin.crba(model, data, qp).copy()
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        zero = np.zeros(model.nv)
        found = {
            "tau": turn.T @ pin.rnea(model, data, qp, vp, turn @ a + drift),
            "H": turn.T @ inertia @ turn,
            "bias": turn.T @ pin.rnea(model, data, qp, vp, drift),
            "gravity": turn.T @ pin.rnea(model, data, qp, zero, zero),
        }
        matrix = pin.computeCoriolisMatrix(model, data, qp, vp)
        found["coriolis"] = turn.T @ (matrix @ turn + inertia @ self._rotated(turn, vp))
        energies = pin.computeKineticEnergy(model, data, qp, vp), pin.computePotentialEnergy(model, data, qp)
        found["energy"] = np.array(energies)
        found["momentum"] = self._momentum(qp, vp)
        if self.straight:
            by_q, by_v, _ = pin.computeRNEADerivatives(model, data, qp, vp, turn @ a)
            found |= zip(SLOPES, (turn.T @ by_q @ turn, turn.T @ by_v @ turn), strict=True)
        if self.robot.report.of(FindingKind.MASSLESS):
            return self._frames(found, qp, turn, bodies)
        if self.couplings:
            found["qdd"] = np.linalg.solve(found["H"], force - found["bias"])
        else:
            accelerated = pin.aba(model, data, qp, vp, np.linalg.solve(turn.T, force))
            found["qdd"] = np.linalg.solve(turn, accelerated - drift)
        return self._frames(found, qp, turn, bodies)

    def forces_of_slopes(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
        """What H times the derivatives of the acceleration must be where the acceleration is a."""
        qp, turn = self.state(q)
        by_q, by_v, _ = pin.computeRNEADerivatives(self.model, self.data, qp, turn @ v, turn @ a)
        slopes = -turn.T @ by_q @ turn, -turn.T @ by_v @ turn, np.eye(len(a))
        return dict(zip(FORWARD_SLOPES, slopes, strict=True))

    def _drift(self, vp: np.ndarray) -> np.ndarray:
        """What a_pin = T a + drift adds: the axes of a floating joint's linear velocity turn with it."""
        drift = np.zeros(self.model.nv)
        for joint in self.model.joints:
            at = joint.idx_v
            if joint.nv == 6:
                drift[at : at + 3] = -np.cross(vp[at + 3 : at + 6], vp[at : at + 3])
            elif joint.nv == 3:
                drift[at : at + 2] = vp[at + 2] * vp[at + 1], -vp[at + 2] * vp[at]
        return drift

    def _rotated(self, turn: np.ndarray, vp: np.ndarray) -> np.ndarray:
        """dT/dt."""
        rate = np.zeros_like(turn)
        for joint in self.model.joints:
            at = joint.idx_v
            if joint.nv == 6:
                rate[at : at + 3] = -np.cross(vp[at + 3 : at + 6], turn[at : at + 3].T).T
            elif joint.nv == 3:
                rate[at], rate[at + 1] = vp[at + 2] * turn[at + 1], -vp[at + 2] * turn[at]
        return rate

    def _frames(self, found: Arrays, qp: np.ndarray, turn: np.ndarray, bodies: list[str]) -> Arrays:
        model, data = self.model, self.data
        pin.computeJointJacobians(model, data, qp)
        pin.updateFramePlacements(model, data)
        for body in bodies:
            frame = model.getFrameId(self.robot.links[body], pin.FrameType.BODY)
            found[f"pose:{body}"] = data.oMf[frame].homogeneous.copy()
            aligned = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            found[f"jacobian:{body}"] = aligned.reshape(6, model.nv) @ turn  # of one velocity it is a vector
        return found

    def _momentum(self, qp: np.ndarray, vp: np.ndarray) -> np.ndarray:
        """Linear momentum, and angular momentum about the fixed origin (Pinocchio's is about the center of mass)."""
        central = pin.computeCentroidalMomentum(self.model, self.data, qp, vp)
        return np.concatenate([central.linear, central.angular + np.cross(self.data.com[0], central.linear)])


def couplings(path: Path) -> dict[str, tuple[str, float, float]]:
    """Mimic joints: which joint each follows in the end, with which factor and offset."""
    found: dict[str, tuple[str, float, float]] = {}
    for joint in ElementTree.parse(path).getroot().iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            factor, offset = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            found[joint.attrib["name"]] = mimic.attrib["joint"], factor, offset
    for name, (leader, factor, offset) in list(found.items()):
        while leader in found:
            leader, more, further = found[leader]
            factor, offset = factor * more, offset + factor * further
        found[name] = leader, factor, offset
    return found
