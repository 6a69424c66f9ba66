"""Curves F(y) = 0 with one unknown more than equations, followed by pseudo-arclength.

F may have rows that follow from others, and directions in which nothing changes (a cyclic coordinate): all linear
systems are solved by least squares with the shortest solution. The number of such neutral directions is fixed where
a curve begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats

#: F and its derivative for rows of y.
CurveEquations: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]

_ROUNDING = 1e-10
_STEPS = 12
_CONVERGED = 1e-13
#: By how much the slopes of one equation may differ along a range.
_WIDEST = 1e9
#: An equation whose slopes are smaller than this part of the largest is not scaled up: rounding turns zeros into 1e-16,
#: which must stay below _ROUNDING.
_FAINTEST = 1e-5


@dataclass(frozen=True)
class Curve:
    """The equations in unknowns that are divided by their scales; the last unknown is the varied value.

    rows: by what each equation is divided.
    neutral: in how many directions besides the curve nothing changes.
    """

    equations: CurveEquations
    scales: Floats
    rows: Floats
    neutral: int = 0

    def slope(self, y: Floats) -> tuple[Floats, Floats]:
        """F and its derivative at one place."""
        values, slopes = self.equations((y * self.scales)[None])
        return values[0] / self.rows, slopes[0] * self.scales / self.rows[:, None]

    def nullity(self, y: Floats) -> int:
        """How many directions of F's derivative by all unknowns but the varied one lead nowhere."""
        _, slope = self.slope(y)
        sizes = np.linalg.svd(slope[:, :-1], compute_uv=False)
        rank = int(np.sum(sizes > _ROUNDING))
        return int(slope.shape[1]) - 1 - rank

    def directions(self, y: Floats, count: int | None = None) -> Floats:
        """The unit vectors along which F changes least: the curve's own and the neutral ones."""
        _, slope = self.slope(y)
        return np.asarray(np.linalg.svd(slope)[2][-(self.neutral + 1 if count is None else count) :])

    def neutral_directions(self, y: Floats) -> Floats:
        """The unit vectors, without the varied unknown, along which nothing changes at a regular place."""
        _, slope = self.slope(y)
        basis = np.linalg.svd(slope[:, :-1])[2][slope.shape[1] - 1 - self.neutral :]
        return np.hstack([basis, np.zeros((len(basis), 1))])

    def tangent(self, y: Floats, along: Floats) -> Floats:
        """The unit tangent on the side of a given direction."""
        basis = self.directions(y)
        found = basis.T @ (basis @ along)
        length = float(np.linalg.norm(found))
        return np.asarray(found / length) if length > 0 else found

    def corrected(self, y: Floats, normal: Floats) -> Floats | None:
        """The place of the curve in the plane through y across `normal`; None if Newton's method finds none."""
        guess, last = y, np.inf
        for _ in range(_STEPS):
            value, slope = self.slope(guess)
            if not (np.isfinite(value).all() and np.isfinite(slope).all()):
                return None
            matrix, right = np.vstack([slope, normal]), np.append(value, normal @ (guess - y))
            step = np.linalg.lstsq(matrix, right, rcond=_ROUNDING)[0]
            guess = guess - step
            size = float(np.max(np.abs(step)))
            if size < _CONVERGED * (1 + float(np.max(np.abs(guess)))):
                return guess
            if size > 1.0 or (size > 0.7 * last and size < 1e-11):
                break
            last = size
        return guess if self.fits(guess, normal, y) else None

    def fits(self, y: Floats, normal: Floats, plane: Floats) -> bool:
        """Whether a place is on the curve and in the plane, up to rounding."""
        value, _ = self.slope(y)
        return bool(np.max(np.abs(value), initial=0.0) < 1e-11 and abs(normal @ (y - plane)) < 1e-9)

    def at_value(self, y: Floats, value: float) -> Floats | None:
        """The place of the curve near y where the varied unknown has this value (divided by its scale)."""
        across = np.zeros_like(y)
        across[-1] = 1.0
        found = self.corrected(np.append(y[:-1], value), across)
        return None if found is None else np.append(found[:-1], value)


def curve_through(equations: CurveEquations, scales: Floats, places: list[Floats]) -> Curve:
    """The curve in scaled unknowns, every equation divided by its largest slope at some places of it."""
    _, slopes = equations(np.array(places) * scales)
    sizes = np.max(np.abs(slopes * scales), axis=2)
    largest = np.max(sizes, axis=0)
    if np.any(largest > _WIDEST * np.where(sizes > 0, sizes, np.inf).min(axis=0)):
        raise TaskError(
            "over this range the equations change by too many orders of magnitude to be followed\n"
            "  choose a narrower range"
        )
    return Curve(equations, scales, np.maximum(largest, _FAINTEST * float(np.max(largest, initial=1e-300))))
