"""`pose_solver`: inverse kinematics in closed form for many poses at once, certified by forward kinematics.

The closed form is compiled as a kernel. Its solutions are put through the mechanism's own forward kinematics; where
rounding has grown near a singular position, Newton's steps with the exact Jacobian take it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import Argument, Kernel, compile_graph
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.pipeline import reduce
from kinegraph.passes.step import Effort
from kinegraph.tasks.forces.coordinates_alone import refuse_quaternions
from kinegraph.tasks.kernels import kernel_of
from kinegraph.tasks.kinematics.decompositions import (
    MARGINS,
    SOLUTIONS,
    SYMBOLS,
    ClosedForm,
    closed_form,
    place_closed_form,
)
from kinegraph.tasks.kinematics.pose_errors import pose_errors, targets
from kinegraph.tasks.kinematics.pose_search import REACHED
from kinegraph.tasks.kinematics.serial_arm import SerialArm, serial_arm
from kinegraph.tasks.operating_point import Floats

#: Errors above this are worth a Newton step, those above the other are no solutions.
_POLISHED, _NEAR = 2e-14, 1e-4
#: Two branches may be one where the square root between them is this small, by its scale.
_AT_BOUNDARY = 1e-6


@dataclass(frozen=True, eq=False)
class PoseBatch:
    """Solutions of many poses: q[pose, branch, coordinate], errors[pose, branch]; `reached` says which are solutions.

    Branches that touch each other (an arm stretched out) are reached once. `singular` says at which poses branches do:
    there joints may be free to turn while the body stays, and the branches are no more than examples.
    """

    q: Floats
    errors: Floats
    reached: NDArray[np.bool_]
    singular: NDArray[np.bool_]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many solutions each pose has."""
        return np.asarray(self.reached.sum(axis=1))


class PoseSolver:
    """All solutions of one arm, in closed form."""

    def __init__(
        self, mechanism: Mechanism, body: str, points: bool, parameters: Mapping[str, Scalar] | None = None
    ) -> None:
        self.body = body
        self.rows = 3 if points else 6
        self.forward = kernel_of(mechanism, [f"pose:{body}", f"jacobian:{body}"], parameters)
        self._pose = kernel_of(mechanism, f"pose:{body}", parameters)
        arm = serial_arm(self.forward, body)
        found = arm and (place_closed_form(arm) if points else closed_form(arm))
        if not arm or not found:
            raise NoClosedForm(_reason(mechanism, body, arm))
        self.arm: SerialArm = arm
        self.form: ClosedForm = found
        self.size = len(mechanism.layout.positions)
        self._revolute = np.array([joint.turns for joint in arm.joints])
        self.kernel: Kernel = compile_graph(reduce(found.graph, Effort.QUICK).graph, [Argument("wanted", SYMBOLS)])

    @property
    def name(self) -> str:
        """What makes the arm solvable."""
        return self.form.name

    def batch(self, poses: ArrayLike) -> PoseBatch:
        """All solutions for rows of poses: 4 x 4 matrices, or points of three numbers."""
        wanted = targets(poses, self.rows)
        q, margins = self.candidates(wanted)
        rows, branches = q.shape[:2]
        flat = q.reshape(-1, self.size)
        pose = self._pose.batch(flat).reshape(rows, branches, 4, 4)
        errors = self._misses(pose, wanted)
        self._polish(flat, errors, wanted)
        reached = errors <= REACHED
        at_boundary = np.abs(margins).min(axis=1, initial=1.0) < _AT_BOUNDARY
        if at_boundary.any():
            reached[at_boundary] &= ~_repeated(
                q[at_boundary][:, :, self.arm.moving], reached[at_boundary], self._revolute
            )
        return PoseBatch(q, errors, reached, at_boundary)

    def candidates(self, wanted: Floats) -> tuple[Floats, Floats]:
        """What the closed form says, not certified, and its margins; coordinates that move nothing stay zero."""
        found = self.kernel.batch(self._displacements(wanted))
        amounts = found[SOLUTIONS]
        if self.form.backwards:
            amounts = -amounts[:, :, ::-1]
        q = np.zeros((*amounts.shape[:2], self.size))
        q[:, :, self.arm.moving] = amounts
        return q, found[MARGINS]

    def _displacements(self, wanted: Floats) -> Floats:
        """From the pose at q = 0 to the wanted one, or back; of points, themselves."""
        if self.rows == 3:
            found = np.tile(np.eye(4)[:3], (len(wanted), 1, 1))
            found[:, :, 3] = wanted
            return found.reshape(-1, 12)
        home = self.arm.home
        inverse = np.eye(4)
        inverse[:3, :3], inverse[:3, 3] = home[:3, :3].T, -home[:3, :3].T @ home[:3, 3]
        moved = wanted @ inverse
        if self.form.backwards:
            turn = np.swapaxes(moved[:, :3, :3], 1, 2)
            place = -np.einsum("nij,nj->ni", turn, moved[:, :3, 3])
            moved = np.concatenate([turn, place[:, :, None]], axis=2)
        return np.ascontiguousarray(moved[:, :3]).reshape(-1, 12)

    def _misses(self, pose: Floats, wanted: Floats) -> Floats:
        """By how much each branch misses its pose: entries of the matrix, close to metres and radians."""
        if self.rows == 3:
            return np.asarray(np.abs(pose[:, :, :3, 3] - wanted[:, None]).max(axis=2))
        return np.asarray(np.abs(pose[:, :, :3] - wanted[:, None, :3]).max(axis=(2, 3)))

    def _polish(self, flat: Floats, errors: Floats, wanted: Floats) -> None:
        """Newton's steps, in place, for solutions with rounding; a step that makes it worse is not taken."""
        branches = errors.shape[1]
        for _ in range(3):
            chosen = np.flatnonzero((errors.ravel() > _POLISHED) & (errors.ravel() < _NEAR))
            if not len(chosen):
                return
            goal = wanted[chosen // branches]
            found = self.forward.batch(flat[chosen])
            miss = pose_errors(found[f"pose:{self.body}"], goal, self.rows)
            jacobian = found[f"jacobian:{self.body}"][:, : self.rows]
            step = np.einsum("nij,nj->ni", np.linalg.pinv(jacobian, rcond=1e-9), miss)
            nearer = flat[chosen] + step
            pose = self._pose.batch(nearer)[:, None]
            size = self._misses(pose, goal)[:, 0]
            better = size < errors.ravel()[chosen]
            flat[chosen[better]] = nearer[better]
            errors.ravel()[chosen[better]] = size[better]
            if not better.any():
                return


class NoClosedForm(TaskError):
    """An arm that no closed form is known for; `inverse_kinematics` searches instead."""


def pose_solver(
    mechanism: MechanismSource, body: str, *, points: bool = False, parameters: Mapping[str, Scalar] | None = None
) -> PoseSolver:
    """All solutions of inverse kinematics for many poses at once, where the arm has a closed form.

    points: the place of a point by three joints, in place of a pose by six.
    """
    mechanism = mechanism_of(mechanism)
    refuse_quaternions(mechanism, "inverse kinematics takes")
    return PoseSolver(mechanism, body, points, parameters)


def _reason(mechanism: Mechanism, body: str, arm: SerialArm | None) -> str:
    if arm is None:
        return f"{mechanism.name}: before {body} is no chain of revolute and prismatic joints by one coordinate each"
    return (
        f"{mechanism.name}: no closed form is known for the {arm.kinds} arm before {body}; it needs axes that meet or "
        "are parallel\n  use inverse_kinematics, which searches"
    )


def _repeated(q: Floats, reached: NDArray[np.bool_], revolute: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which solutions are an earlier one again, but for whole turns."""
    found = np.zeros_like(reached)
    for later in range(1, q.shape[1]):
        apart = np.abs(q[:, :later] - q[:, later : later + 1])
        wrapped = np.mod(apart[..., revolute], 2 * np.pi)
        apart[..., revolute] = np.minimum(wrapped, 2 * np.pi - wrapped)
        found[:, later] = ((apart < 1e-6).all(axis=2) & reached[:, :later]).any(axis=1)
    return found
