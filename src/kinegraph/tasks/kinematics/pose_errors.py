"""Wanted poses, checked, and by how much poses miss them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats


def target(pose: ArrayLike) -> Floats:
    """One wanted pose: a 4 x 4 matrix, or three numbers for a point."""
    wanted = _numbers(pose)
    if wanted.shape == (3,):
        return wanted
    if wanted.shape != (4, 4):
        raise TaskError(f"a pose is a 4 x 4 matrix, or three numbers for a point; this has shape {wanted.shape}")
    return np.asarray(targets(wanted[None], 6)[0])


def targets(poses: ArrayLike, rows: int) -> Floats:
    """Rows of wanted poses (rows = 6), or of points (3)."""
    wanted = _numbers(poses)
    shape = (4, 4) if rows == 6 else (3,)
    if wanted.shape[1:] != shape:
        words = "4 x 4 matrices" if rows == 6 else "points of three numbers"
        raise TaskError(f"poses are rows of {words}; these have shape {wanted.shape}")
    if rows == 6:
        turn = wanted[:, :3, :3]
        defects = np.abs(turn @ np.swapaxes(turn, 1, 2) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        wrong = np.flatnonzero((defects > 1e-6) | (np.linalg.det(turn) < 0))
        if len(wrong):
            place = f" {wrong[0]}" if len(wanted) > 1 else ""
            raise TaskError(
                f"the upper left 3 x 3 part of the pose{place} is no rotation: its rows must be orthonormal"
            )
    return wanted


def _numbers(values: ArrayLike) -> Floats:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TaskError("a pose is a 4 x 4 matrix of numbers, or three numbers for a point") from None
    if not np.isfinite(found).all():
        raise TaskError("the pose has entries that are no finite numbers")
    return found


def pose_errors(pose: Floats, wanted: Floats, rows: int) -> Floats:
    """What is missing, row by row: a shift, and for poses (rows = 6) the vector of a turn."""
    if rows == 3:
        return np.asarray(wanted - pose[:, :3, 3])
    shift = wanted[..., :3, 3] - pose[:, :3, 3]
    return np.hstack([shift, rotation_vectors(wanted[..., :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2))])


def sizes(errors: Floats) -> Floats:
    """How much is missing, row by row: the distance, or for poses the angle if that is more."""
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
