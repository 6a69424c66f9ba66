"""The search for positions with a pose: Levenberg-Marquardt steps with the exact Jacobian, many rows at once."""

from __future__ import annotations

import numpy as np

from kinegraph.jit.kernel import Kernel
from kinegraph.tasks.kinematics.pose_errors import pose_errors
from kinegraph.tasks.operating_point import Floats

_STEPS = 80
_LARGEST_STEP = 0.6


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
            size = np.max(np.abs(error), axis=1)
            going = (size >= 1e-15) & (size <= 1e6)
            if not going.any():
                break
            active = active[going]
            q[active] += _limited(_damped_steps(jacobian[going], error[going], size[going]))
        error, _ = self._at(q)
        return q, np.max(np.abs(error), axis=1)

    def ranks(self, q: Floats) -> Floats:
        """The rank of the Jacobian at every position."""
        values = np.linalg.svd(self._at(q)[1], compute_uv=False)
        return np.asarray(np.sum(values > 1e-7 * np.maximum(values[:, :1], 1e-300), axis=1))

    def errors(self, q: Floats) -> Floats:
        """By how much positions miss the pose."""
        return np.asarray(np.max(np.abs(self._at(q)[0]), axis=1))

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
