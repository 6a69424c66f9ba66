"""Folds and branch points to full accuracy: extended systems that are regular where the curve's own are singular.

At a fold F = 0, F_x f = 0, f.f = 1. At a branch point (Moore) F + b g = 0, F_y^T g = 0, g.g = 1. Their second
derivatives come from differences of the exact first ones: they change how fast Newton's method goes, not where to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from kinegraph.tasks.branches.curve import Curve
from kinegraph.tasks.operating_point import Floats

_DIFFERENCE = 1e-5
_STEPS = 12


@dataclass(frozen=True)
class _Square:
    """As many equations as unknowns: independent ones of both, chosen at a regular place; the others stay."""

    curve: Curve
    base: Floats
    rows: list[int]
    columns: list[int]

    def filled(self, x: Floats) -> Floats:
        y = self.base.copy()
        y[self.columns] = x
        return y

    def slope(self, x: Floats) -> tuple[Floats, Floats]:
        value, slope = self.curve.slope(self.filled(x))
        return value[self.rows], slope[np.ix_(self.rows, self.columns)]

    def second(self, x: Floats) -> Floats:
        """The derivative of the slope, the last index that of the unknown."""
        found = []
        for index in range(len(x)):
            step = np.zeros_like(x)
            step[index] = _DIFFERENCE
            found.append((self.slope(x + step)[1] - self.slope(x - step)[1]) / (2 * _DIFFERENCE))
        return np.stack(found, axis=2)


def exact_fold(curve: Curve, regular: Floats, guess: Floats) -> Floats | None:
    """The fold near a guess; None if Newton's method finds none."""
    square = _square(curve, regular, guess)
    x = guess[square.columns]
    f = np.linalg.svd(square.slope(x)[1][:, :-1])[2][-1]
    for _ in range(_STEPS):
        value, slope = square.slope(x)
        left = slope[:, :-1]
        turned = np.einsum("ijk,j->ik", square.second(x)[:, :-1], f)
        count = len(value)
        matrix = np.block([
            [slope, np.zeros((count, count))],
            [turned, left],
            [np.zeros((1, count + 1)), 2 * f[None]],
        ])  # fmt: skip
        step = _solved(matrix, np.concatenate([value, left @ f, [f @ f - 1]]))
        if step is None:
            return None
        x, f = x - step[: count + 1], f - step[count + 1 :]
        if float(np.max(np.abs(step))) < 1e-13:
            break
    return _accepted(square, x, guess)


def exact_branch_point(curve: Curve, regular: Floats, guess: Floats) -> Floats | None:
    """The branch point near a guess; None if Newton's method finds none."""
    square = _square(curve, regular, guess)
    x, b = guess[square.columns], 0.0
    g = np.linalg.svd(square.slope(x)[1])[0][:, -1]
    for _ in range(_STEPS):
        value, slope = square.slope(x)
        turned = np.einsum("ijk,i->jk", square.second(x), g)
        count = len(value)
        matrix = np.block([
            [slope, g[:, None], b * np.eye(count)],
            [turned, np.zeros((count + 1, 1)), slope.T],
            [np.zeros((1, count + 2)), 2 * g[None]],
        ])  # fmt: skip
        step = _solved(matrix, np.concatenate([value + b * g, slope.T @ g, [g @ g - 1]]))
        if step is None:
            return None
        x, b, g = x - step[: count + 1], b - step[count + 1], g - step[count + 2 :]
        if float(np.max(np.abs(step))) < 1e-13:
            break
    return _accepted(square, x, guess) if abs(b) < 1e-9 else None


def _square(curve: Curve, regular: Floats, base: Floats) -> _Square:
    """Independent rows and columns at a regular place; the varied unknown is the last column."""
    _, slope = curve.slope(regular)
    count = slope.shape[1] - 1 - curve.neutral
    rows = scipy.linalg.qr(slope.T, mode="r", pivoting=True)[1][:count]
    columns = scipy.linalg.qr(slope[rows][:, :-1], mode="r", pivoting=True)[1][:count]
    return _Square(curve, base, sorted(rows.tolist()), [*sorted(columns.tolist()), slope.shape[1] - 1])


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    try:
        step = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() and float(np.max(np.abs(step))) < 10 else None


def _accepted(square: _Square, x: Floats, guess: Floats) -> Floats | None:
    """The whole place, if all equations hold there, those that were left out too, and it is near."""
    y = square.filled(x)
    value, _ = square.curve.slope(y)
    holds = float(np.max(np.abs(value), initial=0.0)) < 1e-11
    return y if holds and float(np.max(np.abs(y - guess))) < 0.05 else None
