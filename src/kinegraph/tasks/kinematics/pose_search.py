"""The search for positions with a pose: Levenberg-Marquardt steps with the exact Jacobian, many rows at once.

Also what comes nearest to a pose that is out of reach, and whether a position can move while the body stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinegraph.jit.kernel import Kernel
from kinegraph.tasks.kinematics.pose_errors import pose_errors, sizes
from kinegraph.tasks.operating_point import Floats

#: A pose is reached if it is missed by no more than this (metres and radians).
REACHED = 1e-10
_STEPS = 80
_STEPS_TO_NEAREST = 300
_LARGEST_STEP = 0.6
#: How far a position is moved along directions that do not move the body, to see whether it comes back.
_ASIDE = 0.05


class PoseSearch:
    """Newton's method for many rows of positions at once; the kernel gives pose and Jacobian of the body."""

    def __init__(self, kernel: Kernel, body: str, wanted: Floats) -> None:
        self.kernel, self.wanted = kernel, wanted
        self._pose, self._jacobian = f"pose:{body}", f"jacobian:{body}"
        self._rows = 3 if wanted.shape == (3,) else 6

    def arrive(self, q: Floats) -> tuple[Floats, Floats]:
        """Positions and remaining errors. Rows that have arrived are left alone, so most steps are for few rows."""
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
        """Positions within limits (from, to by coordinate) that come nearest to the pose from these, and their errors.

        Nearest is the least sum of squares: of the distance, and for poses of the length of the chord between the
        rotations, which is the angle where it is small.
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
        """Of positions that have the pose: whether the mechanism can move from there while the body stays.

        More coordinates than independent rows do. Where rows are dependent, that alone says nothing (an arm stretched
        out): positions a little aside along free directions either come back, or arrive elsewhere.
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
        """By how much positions miss the pose: metres or radians, whichever is more."""
        return sizes(self._at(q)[0])

    def _residuals(self, q: Floats) -> tuple[Floats, Floats]:
        """What is missing as smooth functions of q (a distance, and entries of the rotation), and their derivatives."""
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
        error[without_value], jacobian[without_value] = np.inf, 0.0  # a start that leads nowhere
        return error, jacobian


def _damped_steps(jacobian: Floats, error: Floats, size: Floats) -> Floats:
    """Damping fades as the error does, so the end is Newton's."""
    gram = jacobian @ np.swapaxes(jacobian, 1, 2)
    damping = 1e-3 * np.minimum(size, 1.0) ** 2 + 1e-14
    gram = gram + damping[:, None, None] * np.eye(gram.shape[1])
    return np.asarray(np.einsum("nij,ni->nj", jacobian, np.linalg.solve(gram, error[:, :, None])[:, :, 0]))


def _limited(step: Floats) -> Floats:
    largest = np.max(np.abs(step), axis=1, keepdims=True, initial=0.0)
    return np.asarray(step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300)))
