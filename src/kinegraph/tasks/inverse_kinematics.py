"""`inverse_kinematics`: all positions that bring a body to a pose, each certified by forward kinematics.

Damped Newton steps with the exact Jacobian from many starts at once; what arrives at the same place is one solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import Kernel
from kinegraph.model.expression import Scalar
from kinegraph.tasks.angles import angle_names, same_place, wrapped
from kinegraph.tasks.kernels import kernel_of
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.search_box import search_box

_STEPS = 80
_LARGEST_STEP = 0.6
#: A pose is reached if it is missed by no more than this (metres and radians).
REACHED = 1e-10


@dataclass(frozen=True)
class PoseSolution:
    """One solution: positions and how far the pose is missed (metres, radians; the larger counts)."""

    q: Floats
    error: float


@dataclass(frozen=True)
class PoseSolutions(RichDisplay):
    """All solutions that were found. Empty: the pose was not reached; `nearest` is the closest that was found.

    `family`: the mechanism can move while the body stays (it has more joints than the pose fixes, or is singular
    there), so the solutions are examples of infinitely many.
    """

    solutions: tuple[PoseSolution, ...]
    coordinates: tuple[str, ...]
    nearest: PoseSolution
    family: bool

    def __len__(self) -> int:
        return len(self.solutions)


def inverse_kinematics(
    mechanism: MechanismSource,
    body: str,
    pose: Floats | Sequence[float],
    *,
    within: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 256,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
) -> PoseSolutions:
    """Positions at which `body` (or an output point) has the pose: a 4 x 4 matrix, or three numbers for a point.

    within: limits by coordinate; by default angles take one turn, lengths -2..2.
    """
    mechanism = mechanism_of(mechanism)
    if mechanism.layout.quaternions:
        raise TaskError("inverse kinematics needs coordinates, and this mechanism has quaternions")
    wanted = _target(pose)
    names = mechanism.layout.positions
    box = search_box(mechanism, within or {}, 2.0)
    kernel = kernel_of(mechanism, [f"pose:{body}", f"jacobian:{body}"], parameters)
    solver = _Solver(kernel, body, wanted)
    random = np.random.default_rng(seed)
    q, errors, ranks = solver.arrive(random.uniform(box[:, 0], box[:, 1], (starts, len(names))))
    best = int(np.argmin(errors))
    reached = errors <= REACHED
    turns = [k for k, name in enumerate(names) if name in angle_names(mechanism)]
    found = _solutions(wrapped(q[reached], turns, box), errors[reached], turns, box if within else None)
    deficient = bool(np.any(ranks[reached] < len(names))) if reached.any() else False
    return PoseSolutions(found, names, PoseSolution(q[best], float(errors[best])), deficient)


def _target(pose: Floats | Sequence[float]) -> Floats:
    wanted = np.asarray(pose, dtype=float)
    if not np.isfinite(wanted).all():
        raise TaskError("the pose has entries that are no finite numbers")
    if wanted.shape == (3,):
        return wanted
    if wanted.shape != (4, 4):
        raise TaskError(f"a pose is a 4 x 4 matrix, or three numbers for a point; this has shape {wanted.shape}")
    turn = wanted[:3, :3]
    if np.max(np.abs(turn @ turn.T - np.eye(3))) > 1e-6 or np.linalg.det(turn) < 0:
        raise TaskError("the upper left 3 x 3 part of the pose is no rotation: its rows must be orthonormal")
    return wanted


class _Solver:
    """Newton's method for many rows of positions at once."""

    def __init__(self, kernel: Kernel, body: str, wanted: Floats) -> None:
        self.kernel, self.wanted = kernel, wanted
        self._pose, self._jacobian = f"pose:{body}", f"jacobian:{body}"
        self._rows = 3 if wanted.shape == (3,) else 6

    def arrive(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Positions, remaining errors, and the rank of the Jacobian there."""
        for _ in range(_STEPS):
            error, jacobian = self._at(q)
            size = np.max(np.abs(error), axis=1)
            if np.all((size < 1e-15) | (size > 1e6)):
                break
            q = q + _limited(_damped_steps(jacobian, error, size))
        error, jacobian = self._at(q)
        values = np.linalg.svd(jacobian, compute_uv=False)
        ranks = np.sum(values > 1e-7 * np.maximum(values[:, :1], 1e-300), axis=1)
        return q, np.max(np.abs(error), axis=1), ranks

    def _at(self, q: Floats) -> tuple[Floats, Floats]:
        found = self.kernel.batch(q=q)
        pose, jacobian = found[self._pose], found[self._jacobian][:, : self._rows]
        place = self.wanted if self._rows == 3 else self.wanted[:3, 3]
        error = place - pose[:, :3, 3]
        if self._rows == 6:
            error = np.hstack([error, rotation_vectors(self.wanted[:3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2))])
        without_value = ~(np.isfinite(error).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2)))
        error[without_value], jacobian[without_value] = np.inf, 0.0  # a start that leads nowhere
        return error, jacobian


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


def _damped_steps(jacobian: Floats, error: Floats, size: Floats) -> Floats:
    """Levenberg-Marquardt: damping fades as the error does, so the end is Newton's."""
    gram = jacobian @ np.swapaxes(jacobian, 1, 2)
    damping = 1e-3 * np.minimum(size, 1.0) ** 2 + 1e-14
    gram = gram + damping[:, None, None] * np.eye(gram.shape[1])
    return np.asarray(np.einsum("nij,ni->nj", jacobian, np.linalg.solve(gram, error[:, :, None])[:, :, 0]))


def _limited(step: Floats) -> Floats:
    largest = np.max(np.abs(step), axis=1, keepdims=True, initial=0.0)
    return np.asarray(step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300)))


def _solutions(q: Floats, errors: Floats, turns: Sequence[int], limits: Floats | None) -> tuple[PoseSolution, ...]:
    found: list[PoseSolution] = []
    for row, error in zip(q, errors, strict=True):
        if limits is not None and np.any((row < limits[:, 0] - 1e-9) | (row > limits[:, 1] + 1e-9)):
            continue
        if not any(same_place(row, other.q, turns) for other in found):
            found.append(PoseSolution(row, float(error)))
    return tuple(sorted(found, key=lambda one: np.round(one.q, 9).tolist()))
