"""A serial arm by its joint axes: a body's pose as a product of rotations and shifts, exp(x1 q1) ... exp(xn qn) home.

The axes are those at q = 0, read from the Jacobian there; whether the product is the pose is checked at random places,
so it does not matter how the model describes the arm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.derive.tree.links import JointKind
from kinegraph.jit.kernel import Kernel
from kinegraph.tasks.operating_point import Floats

_EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class ArmJoint:
    """A joint by its axis at q = 0: a unit vector and, of a revolute one, a point."""

    kind: JointKind
    direction: Floats
    point: Floats

    @property
    def turns(self) -> bool:
        """Whether the joint is revolute."""
        return self.kind is JointKind.REVOLUTE

    def displacement(self, amount: float) -> Floats:
        """The 4 x 4 matrix of a rotation or shift."""
        found = np.eye(4)
        if not self.turns:
            found[:3, 3] = amount * self.direction
            return found
        x, y, z = self.direction
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + np.sin(amount) * skew + (1 - np.cos(amount)) * skew @ skew
        found[:3, :3], found[:3, 3] = turn, self.point - turn @ self.point
        return found


@dataclass(frozen=True, eq=False)
class SerialArm:
    """The joints that move a body, in order, and its pose at q = 0. moving: their places among the coordinates."""

    joints: tuple[ArmJoint, ...]
    home: Floats
    moving: tuple[int, ...]

    def pose(self, amounts: Floats) -> Floats:
        """The pose of the body."""
        found = np.eye(4)
        for joint, amount in zip(self.joints, amounts, strict=True):
            found = found @ joint.displacement(float(amount))
        return np.asarray(found @ self.home)

    @property
    def kinds(self) -> str:
        """The kinds of its joints in order, as in `RRP`: R for revolute, P for prismatic."""
        return "".join("R" if joint.turns else "P" for joint in self.joints)

    def reversed(self) -> SerialArm:
        """The arm whose pose at -q, backwards, is the inverse: what the hand sees of the base."""
        return SerialArm(self.joints[::-1], self.home, self.moving[::-1])


def serial_arm(kernel: Kernel, body: str) -> SerialArm | None:
    """The arm that moves a body; None if the pose is not such a product. The kernel gives pose and Jacobian."""
    size = len(kernel.arguments[0].symbols)
    at_zero = kernel(np.zeros(size))
    home, jacobian = at_zero[f"pose:{body}"], at_zero[f"jacobian:{body}"]
    if not (np.isfinite(home).all() and np.isfinite(jacobian).all()):
        return None
    moving = [k for k in range(size) if np.max(np.abs(jacobian[:, k])) > _EXACT]
    joints = [_joint(jacobian[:, k], home[:3, 3]) for k in moving]
    if not joints or any(joint is None for joint in joints):
        return None
    arm = SerialArm(tuple(joint for joint in joints if joint is not None), np.asarray(home), tuple(moving))
    return arm if _is_product(arm, kernel, body, size) else None


def _joint(column: Floats, place: Floats) -> ArmJoint | None:
    """A joint from its column of the Jacobian; None if it is a screw, or by other than q itself."""
    velocity, turn = column[:3], column[3:]
    if abs(np.linalg.norm(turn) - 1) < _EXACT:
        direction = _clean(turn)
        joint = ArmJoint(JointKind.REVOLUTE, direction, _clean(place - np.cross(velocity, direction)))
        return joint if abs(velocity @ direction) < _EXACT else None
    prismatic = np.linalg.norm(turn) < _EXACT and abs(np.linalg.norm(velocity) - 1) < _EXACT
    return ArmJoint(JointKind.PRISMATIC, _clean(velocity), np.zeros(3)) if prismatic else None


def _clean(values: Floats) -> Floats:
    """Without the rounding of zeros and ones."""
    near = np.round(values)
    return np.where(np.abs(values - near) < 1e-15, near, values)


def _is_product(arm: SerialArm, kernel: Kernel, body: str, size: int) -> bool:
    random = np.random.default_rng(5)
    for _ in range(3):
        q = random.uniform(-2, 2, size)
        if np.max(np.abs(arm.pose(q[list(arm.moving)]) - kernel(q)[f"pose:{body}"])) > 1e-11:
            return False
    return True
