"""Pseudo-arclength continuation: follow one branch of solutions and its stability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats

# Curves F(y) = 0 with one more unknown than equations. F may have dependent rows, and directions in which nothing
# changes (a cyclic coordinate): all linear systems are solved by minimum-norm least squares. The number of neutral
# directions is fixed at the start of a curve.

#: F and its derivative for rows of y.
CurveEquations: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]

_RANK_ROUNDING = 1e-10
_STEPS = 12
_CONVERGED = 1e-13
#: The allowed ratio of the slopes of one equation along a range.
_WIDEST = 1e9
#: An equation with slopes below this fraction of the largest is not scaled up: rounding turns zeros into 1e-16, which
#: must stay below _ROUNDING.
_FAINTEST = 1e-5


@dataclass(frozen=True)
class Curve:
    """The equations in scaled unknowns; the last unknown is the varied value.

    rows: the scale of each equation. neutral: the number of directions besides the curve in which nothing changes.
    """

    equations: CurveEquations
    scales: Floats
    rows: Floats
    neutral: int = 0

    def slope(self, y: Floats) -> tuple[Floats, Floats]:
        """F and its derivative at one point."""
        values, slopes = self.equations((y * self.scales)[None])
        return values[0] / self.rows, slopes[0] * self.scales / self.rows[:, None]

    def nullity(self, y: Floats) -> int:
        """The dimension of the null space of F's derivative by all unknowns but the varied one."""
        _, slope = self.slope(y)
        sizes = np.linalg.svd(slope[:, :-1], compute_uv=False)
        rank = int(np.sum(sizes > _RANK_ROUNDING))
        return int(slope.shape[1]) - 1 - rank

    def directions(self, y: Floats, count: int | None = None) -> Floats:
        """The unit vectors along which F changes least: the curve's own and the neutral ones."""
        _, slope = self.slope(y)
        return np.asarray(np.linalg.svd(slope)[2][-(self.neutral + 1 if count is None else count) :])

    def neutral_directions(self, y: Floats) -> Floats:
        """The unit vectors, without the varied unknown, along which nothing changes at a regular point."""
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
        """The point of the curve in the plane through y normal to `normal`; None if Newton's method finds none."""
        guess, last = y, np.inf
        for _ in range(_STEPS):
            value, slope = self.slope(guess)
            if not (np.isfinite(value).all() and np.isfinite(slope).all()):
                return None
            matrix, right = np.vstack([slope, normal]), np.append(value, normal @ (guess - y))
            step = np.linalg.lstsq(matrix, right, rcond=_RANK_ROUNDING)[0]
            guess = guess - step
            size = float(np.max(np.abs(step)))
            if size < _CONVERGED * (1 + float(np.max(np.abs(guess)))):
                return guess
            if size > 1.0 or (size > 0.7 * last and size < 1e-11):
                break
            last = size
        return guess if self.fits(guess, normal, y) else None

    def fits(self, y: Floats, normal: Floats, plane: Floats) -> bool:
        """Whether a point is on the curve and in the plane, up to rounding."""
        value, _ = self.slope(y)
        return bool(np.max(np.abs(value), initial=0.0) < 1e-11 and abs(normal @ (y - plane)) < 1e-9)

    def at_value(self, y: Floats, value: float) -> Floats | None:
        """The point of the curve near y where the varied unknown has this (scaled) value."""
        across = np.zeros_like(y)
        across[-1] = 1.0
        found = self.corrected(np.append(y[:-1], value), across)
        return None if found is None else np.append(found[:-1], value)


def curve_through(equations: CurveEquations, scales: Floats, places: list[Floats]) -> Curve:
    """The curve in scaled unknowns, every equation divided by its largest slope at some of its points."""
    _, slopes = equations(np.array(places) * scales)
    sizes = np.max(np.abs(slopes * scales), axis=2)
    largest = np.max(sizes, axis=0)
    if np.any(largest > _WIDEST * np.where(sizes > 0, sizes, np.inf).min(axis=0)):
        raise TaskError(
            "over this range the equations change by too many orders of magnitude to be continued\n"
            "  choose a narrower range"
        )
    return Curve(equations, scales, np.maximum(largest, _FAINTEST * float(np.max(largest, initial=1e-300))))


# Stability of a point of a branch, and the determinant that changes sign where an eigenvalue crosses zero.

_EIGENVALUE_ROUNDING = 1e-11
_GROWING = 1e-7


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of A without those that are zero along the whole branch (cyclic coordinates, momenta).

    singular: the position is singular and has no linear system.
    """

    essential: Floats
    eigenvalues: np.ndarray
    singular: bool = False

    @property
    def rounding(self) -> float:
        """Real parts below this are zero."""
        return _GROWING * max(1.0, float(np.max(np.abs(self.eigenvalues), initial=0.0)))

    @property
    def real_parts(self) -> Floats:
        """Largest first."""
        return np.asarray(np.sort(self.eigenvalues.real)[::-1])

    @property
    def unstable(self) -> int:
        """How many eigenvalues grow."""
        return int(np.sum(self.real_parts > self.rounding))

    @property
    def sign(self) -> float:
        """The determinant: it changes its sign where one real eigenvalue does."""
        return float(np.linalg.det(self.essential)) if len(self.essential) else 1.0


NO_SPECTRUM = Spectrum(np.zeros((0, 0)), np.zeros(0), singular=True)


def zero_dimensions(A: Floats) -> tuple[int, ...]:
    """The dimension of the null space of A; then of A restricted to its complement, and so on."""
    found: list[int] = []
    rest = A
    while len(rest):
        sizes, rows = np.linalg.svd(rest)[1:]
        count = int(np.sum(sizes <= _EIGENVALUE_ROUNDING * max(float(sizes[0]), 1e-300)))
        if not count:
            break
        found.append(count)
        rest = _without(rest, rows, count)
    return tuple(found)


def spectrum(A: Floats, zeros: tuple[int, ...]) -> Spectrum:
    """The eigenvalues; `zeros` zero eigenvalues are removed exactly."""
    rest = A
    for count in zeros:
        rest = _without(rest, np.linalg.svd(rest)[2], count)
    values = np.linalg.eigvals(rest) if len(rest) else np.zeros(0)
    return Spectrum(rest, np.asarray(values[np.lexsort((values.imag, values.real, np.abs(values)))]))


def _without(matrix: Floats, rows: Floats, count: int) -> Floats:
    """The matrix on the complement of its last `count` right singular vectors, which it maps to zero."""
    retained = rows[: len(matrix) - count]
    return np.asarray(retained @ matrix @ retained.T)


# Following one branch: pseudo-arclength steps, and events between two of them.

_FIRST, _LARGEST, _SMALLEST = 0.01, 0.04, 1e-7
_BEYOND = 1e-12
_ENDLESS = 4.0
#: Cosines of the angle between two tangents: above the first steps grow, below the second they are repeated.
_STRAIGHT, _BENT = 0.999, 0.98


class Ending(StrEnum):
    """Why a branch ends, as text."""

    BOUND = "the range ends"
    CLOSED = "the branch closes"
    LONG = "the branch has the maximum number of points"
    LOST = "no further point was found"
    SINGULAR = "constraint forces grow without bound: a singular position"
    COORDINATES = "the position becomes singular: its coordinates do not determine its motion"


@dataclass(frozen=True)
class BranchState:
    """A point of a branch: scaled unknowns, the tangent in the direction of travel, the eigenvalues."""

    y: Floats
    tangent: Floats
    spectrum: Spectrum


@dataclass(frozen=True)
class Step:
    """One step: from a point by a length along its tangent, corrected normal to it."""

    first: BranchState
    second: BranchState
    length: float


@dataclass(frozen=True)
class Tracer:
    """Follows a curve between two values of the varied unknown.

    spectrum: the eigenvalues at a point. difference: of two points, modulo whole turns. forces: which unknowns are
    constraint forces, scaled by ten times their largest initial value.
    """

    curve: Curve
    spectrum: Callable[[Floats], Spectrum]
    difference: Callable[[Floats, Floats], Floats]
    low: float
    high: float
    points: int
    forces: slice

    def place(self, y: Floats, along: Floats) -> BranchState:
        """A point whose tangent is on the side of `along`."""
        return BranchState(y, self.curve.tangent(y, along), self.spectrum(y))

    def between(self, first: BranchState, length: float) -> BranchState | None:
        """The point a length further along the tangent."""
        y = self.curve.corrected(first.y + length * first.tangent, first.tangent)
        return None if y is None else self.place(y, first.tangent)

    def within(self, y: Floats) -> bool:
        """Whether a point is in the range, up to rounding."""
        return bool(self.low - _BEYOND <= y[-1] <= self.high + _BEYOND)

    def distance(self, first: Floats, second: Floats) -> float:
        """The distance of two points, modulo whole turns."""
        return float(np.linalg.norm(self.difference(first, second)))

    def trace(self, start: BranchState) -> tuple[list[Step], Ending]:
        """All steps from a point on, in the direction of its tangent."""
        steps: list[Step] = []
        here, length = start, _FIRST
        while len(steps) < self.points:
            step = self._step(here, length)
            if step is None:
                return steps, Ending.COORDINATES if self._is_singular_ahead(here) else Ending.LOST
            if not self.within(step.second.y):
                last = self._at_bound(step)
                return ([*steps, last] if last else steps), Ending.BOUND
            steps.append(step)
            here = step.second
            if np.any(np.abs(here.y[self.forces]) > _ENDLESS):
                return steps, Ending.SINGULAR
            if len(steps) > 3 and self._closes(start, here, step.length):
                return steps, Ending.CLOSED
            straight = float(step.first.tangent @ here.tangent) > _STRAIGHT
            length = min(_LARGEST, step.length * (1.6 if straight else 1.0))
        return steps, Ending.LONG

    def _step(self, here: BranchState, length: float) -> Step | None:
        """The next step: halved until the curve bends little within it."""
        while length > _SMALLEST:
            there = self.between(here, length)
            if there is not None and not there.spectrum.singular and float(here.tangent @ there.tangent) > _BENT:
                return Step(here, there, length)
            length /= 2
        return None

    def _is_singular_ahead(self, here: BranchState) -> bool:
        there = self.between(here, _SMALLEST)
        return there is not None and there.spectrum.singular

    def _at_bound(self, step: Step) -> Step | None:
        """The last step, up to the end of the range."""
        bound = self.low if step.second.y[-1] < self.low else self.high
        here, there = step.first, step.second
        part = (bound - here.y[-1]) / (there.y[-1] - here.y[-1])
        y = self.curve.at_value(here.y + part * (there.y - here.y), bound)
        if y is None or abs(part) < 1e-9:
            return None
        last = self.place(y, here.tangent)
        return None if last.spectrum.singular else Step(here, last, float(here.tangent @ (y - here.y)))

    def _closes(self, start: BranchState, here: BranchState, length: float) -> bool:
        near = self.distance(start.y, here.y) < 0.75 * length
        return near and float(start.tangent @ here.tangent) > 0.9
