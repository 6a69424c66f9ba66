"""`pose_solver`: inverse kinematics of many poses at once, in closed form and refined by Levenberg-Marquardt steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.tasks.closed_form_kinematics import (
    MARGINS,
    SOLUTIONS,
    SYMBOLS,
    ClosedForm,
    SerialArm,
    closed_form,
    place_closed_form,
    serial_arm,
)
from kinegraph.tasks.operating_point import Floats, kernel_of, refuse_quaternions

# Requested poses, checked, and the errors of poses.


def target(pose: ArrayLike) -> Floats:
    """One requested pose: a 4 x 4 matrix, or three numbers for a point."""
    wanted = _numbers(pose)
    if wanted.shape == (3,):
        return wanted
    if wanted.shape != (4, 4):
        raise TaskError(f"a pose is a 4 x 4 matrix, or three numbers for a point; this has shape {wanted.shape}")
    return np.asarray(targets(wanted[None], 6)[0])


def targets(poses: ArrayLike, rows: int) -> Floats:
    """Rows of requested poses (rows = 6), or of points (3)."""
    wanted = _numbers(poses)
    shape = (4, 4) if rows == 6 else (3,)
    if wanted.shape[1:] != shape:
        words = "4 x 4 matrices" if rows == 6 else "points of three numbers"
        raise TaskError(f"poses must be rows of {words}; these have shape {wanted.shape}")
    if rows == 6:
        turn = wanted[:, :3, :3]
        defects = np.abs(turn @ np.swapaxes(turn, 1, 2) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        wrong = np.flatnonzero((defects > 1e-6) | (np.linalg.det(turn) < 0))
        if len(wrong):
            place = f" {wrong[0]}" if len(wanted) > 1 else ""
            raise TaskError(
                f"the upper left 3 x 3 part of the pose{place} is not a rotation: its rows must be orthonormal"
            )
    return wanted


def _numbers(values: ArrayLike) -> Floats:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TaskError("a pose is a 4 x 4 matrix of numbers, or three numbers for a point") from None
    if not np.isfinite(found).all():
        raise TaskError("the pose has entries that are not finite")
    return found


def pose_errors(pose: Floats, wanted: Floats, rows: int) -> Floats:
    """The errors by row: a translation, and for poses (rows = 6) a rotation vector."""
    if rows == 3:
        return np.asarray(wanted - pose[:, :3, 3])
    shift = wanted[..., :3, 3] - pose[:, :3, 3]
    return np.hstack([shift, rotation_vectors(wanted[..., :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2))])


def sizes(errors: Floats) -> Floats:
    """The size of the errors by row: the distance, or for poses the angle if that is larger."""
    parts = [np.linalg.norm(errors[:, start : start + 3], axis=1) for start in range(0, errors.shape[1], 3)]
    return np.asarray(np.max(parts, axis=0))


def rotation_vectors(turns: Floats) -> Floats:
    """The vectors of rotation matrices: axis times angle."""
    skew = np.stack(
        [turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]], axis=1
    )
    sine = np.linalg.norm(skew, axis=1) / 2
    cosine = (np.trace(turns, axis1=1, axis2=2) - 1) / 2
    angle = np.arctan2(sine, cosine)
    usual = np.where(sine > 1e-12, angle / np.maximum(2 * sine, 1e-300), 0.5)[:, None] * skew
    for row in np.flatnonzero((sine <= 1e-6) & (cosine < 0)):  # half a turn: the axis is in the symmetric part
        symmetric = (turns[row] + np.eye(3)) / 2
        axis = symmetric[:, int(np.argmax(np.diag(symmetric)))]
        usual[row] = np.pi * axis / np.linalg.norm(axis)
    return np.asarray(usual)


# The search for positions with a pose: Levenberg-Marquardt steps with the exact Jacobian, many rows at once. It also
# finds the nearest position to a pose out of reach, and whether a position can move while the body is fixed.

#: A pose is reached if its error is not larger than this (meters and radians).
REACHED = 1e-10
_STEPS = 80
_STEPS_TO_NEAREST = 300
_LARGEST_STEP = 0.6
#: The distance of test positions along directions that do not move the body.
_ASIDE = 0.05


class PoseSearch:
    """Newton's method for many rows of positions at once; the kernel gives pose and Jacobian of the body."""

    def __init__(self, kernel: Kernel, body: str, wanted: Floats) -> None:
        self.kernel, self.wanted = kernel, wanted
        self._pose, self._jacobian = f"pose:{body}", f"jacobian:{body}"
        self._rows = 3 if wanted.shape == (3,) else 6

    def arrive(self, q: Floats) -> tuple[Floats, Floats]:
        """Positions and remaining errors. Converged rows are skipped, so most steps are for few rows."""
        q = q.copy()
        active = np.arange(len(q))
        for _ in range(_STEPS):
            error, jacobian = self._at(q[active])
            size = sizes(error)
            going = (size >= 1e-15) & (size <= 1e6)
            if not going.any():
                break
            active = active[going]
            q[active] += _limited(_damped_steps(jacobian[going], error[going], size[going]))
        error, _ = self._at(q)
        return q, sizes(error)

    def nearest(self, q: Floats, limits: Floats) -> tuple[Floats, Floats]:
        """Positions within limits (from, to by coordinate) nearest to the pose from these starts, and their errors.

        Nearest is the least sum of squares: of the distance, and for poses of the chord between the rotations, which
        is the angle if it is small.
        """
        low, high = limits[:, 0], limits[:, 1]
        q = np.clip(q, low, high)
        missing, slope = self._residuals(q)
        damping = np.full(len(q), 1e-3)
        for _ in range(_STEPS_TO_NEAREST):
            uphill = np.einsum("nij,ni->nj", slope, missing)
            free = ~(((q <= low) & (uphill > 0)) | ((q >= high) & (uphill < 0)))
            movable = slope * free[:, None, :]
            gram = np.swapaxes(movable, 1, 2) @ movable + damping[:, None, None] * np.eye(q.shape[1])
            step = -np.linalg.solve(gram, (uphill * free)[:, :, None])[:, :, 0]
            trial = np.clip(q + _limited(step), low, high)
            there, slope_there = self._residuals(trial)
            better = np.sum(there * there, axis=1) < np.sum(missing * missing, axis=1)
            q[better], missing[better], slope[better] = trial[better], there[better], slope_there[better]
            damping = np.clip(np.where(better, damping / 4, damping * 5), 1e-15, 1e15)
            if (damping > 1e12).all():
                break
        return q, self.errors(q)

    def can_move(self, q: Floats) -> NDArray[np.bool_]:
        """For positions with the pose: whether the mechanism can move from there while the body is fixed.

        It can if there are more coordinates than rows. Dependent rows alone decide nothing (an arm stretched out):
        positions slightly aside along free directions either return, or converge elsewhere.
        """
        count = q.shape[1]
        jacobian = self._at(q)[1]
        _, values, directions = np.linalg.svd(jacobian)
        ranks = np.sum(values > 1e-7 * np.maximum(values[:, :1], 1e-300), axis=1)
        found = np.asarray((ranks == self._rows) & (ranks < count))
        random = np.random.default_rng(0)
        for row in np.flatnonzero(ranks < min(self._rows, count)):
            free = directions[row, ranks[row] :]
            aside = random.normal(size=(6, len(free))) @ free
            aside *= _ASIDE / np.abs(aside).max(axis=1, keepdims=True)
            arrived, errors = self.arrive(q[row] + aside)
            away = np.abs(arrived - q[row]).max(axis=1)
            found[row] = bool(((errors <= REACHED) & (away > _ASIDE / 20)).any())
        return found

    def errors(self, q: Floats) -> Floats:
        """The pose errors of positions: meters or radians, whichever is larger."""
        return sizes(self._at(q)[0])

    def _residuals(self, q: Floats) -> tuple[Floats, Floats]:
        """The residuals as smooth functions of q (a distance, and entries of the rotation), and their derivatives."""
        found = self.kernel.batch(q=q)
        pose, jacobian = found[self._pose], found[self._jacobian]
        shift = pose[:, :3, 3] - (self.wanted if self._rows == 3 else self.wanted[:3, 3])
        if self._rows == 3:
            return shift, jacobian[:, :3]
        turn = pose[:, :3, :3]
        rates = np.cross(jacobian[:, 3:, None, :], turn[:, :, :, None], axis=1)  # of the columns of the rotation
        missing = np.concatenate([shift, (turn - self.wanted[:3, :3]).reshape(len(q), 9) / np.sqrt(2)], axis=1)
        slope = np.concatenate([jacobian[:, :3], rates.reshape(len(q), 9, -1) / np.sqrt(2)], axis=1)
        return missing, slope

    def _at(self, q: Floats) -> tuple[Floats, Floats]:
        found = self.kernel.batch(q=q)
        error = pose_errors(found[self._pose], self.wanted, self._rows)
        jacobian = found[self._jacobian][:, : self._rows]
        without_value = ~(np.isfinite(error).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2)))
        error[without_value], jacobian[without_value] = np.inf, 0.0  # a start that does not converge
        return error, jacobian


def _damped_steps(jacobian: Floats, error: Floats, size: Floats) -> Floats:
    """Damping decreases with the error, so the last steps are Newton's."""
    gram = jacobian @ np.swapaxes(jacobian, 1, 2)
    damping = 1e-3 * np.minimum(size, 1.0) ** 2 + 1e-14
    gram = gram + damping[:, None, None] * np.eye(gram.shape[1])
    return np.asarray(np.einsum("nij,ni->nj", jacobian, np.linalg.solve(gram, error[:, :, None])[:, :, 0]))


def _limited(step: Floats) -> Floats:
    largest = np.max(np.abs(step), axis=1, keepdims=True, initial=0.0)
    return np.asarray(step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300)))


# `pose_solver`: the closed form is compiled as a kernel. Its solutions are checked by the mechanism's own forward
# kinematics; near a singular position, Newton steps with the exact Jacobian remove amplified rounding errors.

#: Errors above the first get a Newton step; those above the second are not solutions.
_POLISHED, _NEAR = 2e-14, 1e-4
#: Two branches may coincide if the relative square root between them is this small.
_AT_BOUNDARY = 1e-6


@dataclass(frozen=True, eq=False)
class PoseBatch:
    """Solutions of many poses: q[pose, branch, coordinate], errors[pose, branch]; `reached` says which are solutions.

    Branches that touch (an arm stretched out) are reached once. `singular` says at which poses they do: joints may
    be free to rotate there while the body is fixed, and the branches are only examples.
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
        self.mechanism = mechanism
        self.size = len(mechanism.layout.positions)
        self._revolute = np.array([joint.turns for joint in arm.joints])
        self.kernel: Kernel = compile_graph(reduce(found.graph, Effort.QUICK).graph, [Argument("wanted", SYMBOLS)])

    @property
    def name(self) -> str:
        """The geometry that makes the arm solvable."""
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
        """The solutions of the closed form before certification, and their margins; coordinates that move nothing
        stay zero."""
        found = self.kernel.batch(self._displacements(wanted))
        amounts = found[SOLUTIONS]
        if self.form.backwards:
            amounts = -amounts[:, :, ::-1]
        q = np.zeros((*amounts.shape[:2], self.size))
        q[:, :, self.arm.moving] = amounts
        return q, found[MARGINS]

    def _displacements(self, wanted: Floats) -> Floats:
        """The displacement from the pose at q = 0 to the requested one, or its inverse; points unchanged."""
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
        """The pose error of each branch: entries of the matrix, close to meters and radians."""
        if self.rows == 3:
            return np.asarray(np.abs(pose[:, :, :3, 3] - wanted[:, None]).max(axis=2))
        return np.asarray(np.abs(pose[:, :, :3] - wanted[:, None, :3]).max(axis=(2, 3)))

    def _polish(self, flat: Floats, errors: Floats, wanted: Floats) -> None:
        """Newton steps, in place, for solutions with rounding errors; a step that increases the error is rejected."""
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
    """No closed form is known for an arm; `inverse_kinematics` searches instead."""


def pose_solver(
    model: MechanismSource, body: str, *, points: bool = False, parameters: Mapping[str, Scalar] | None = None
) -> PoseSolver:
    """Return a solver of inverse kinematics for many poses at once, if the arm has a closed form.

    points: solve for the position of a point with three joints instead of a pose with six.
    """
    mechanism = mechanism_of(model)
    refuse_quaternions(mechanism, "inverse kinematics supports")
    return PoseSolver(mechanism, body, points, parameters)


def _reason(mechanism: Mechanism, body: str, arm: SerialArm | None) -> str:
    if arm is None:
        return (
            f"{mechanism.name}: the joints before {body} are not a chain of revolute and prismatic joints "
            "with one coordinate each"
        )
    return (
        f"{mechanism.name}: no closed form is known for the {arm.kinds} arm before {body}; it needs axes "
        "that intersect or are parallel\n"
        "  use inverse_kinematics, which searches"
    )


def _repeated(q: Floats, reached: NDArray[np.bool_], revolute: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which solutions repeat an earlier one, modulo whole turns."""
    found = np.zeros_like(reached)
    for later in range(1, q.shape[1]):
        apart = np.abs(q[:, :later] - q[:, later : later + 1])
        wrapped = np.mod(apart[..., revolute], 2 * np.pi)
        apart[..., revolute] = np.minimum(wrapped, 2 * np.pi - wrapped)
        found[:, later] = ((apart < 1e-6).all(axis=2) & reached[:, :later]).any(axis=1)
    return found
