"""Folds, branch points, and Hopf bifurcations: detect them within a step, and locate them to full accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.steady.pseudo_arclength import BranchState, Curve, Step, Tracer

# Extended systems, regular where the curve's own equations are singular. At a fold F = 0, F_x f = 0, f.f = 1. At a
# branch point (Moore) F + b g = 0, F_y^T g = 0, g.g = 1. Their second derivatives are differences of the exact first
# ones, which affects the speed of Newton's method but not its result.

_DIFFERENCE = 1e-5
_STEPS = 12


@dataclass(frozen=True)
class _Square:
    """A square system: independent equations and unknowns, chosen at a regular point; the other unknowns stay fixed."""

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
    """Independent rows and columns at a regular point; the varied unknown is the last column."""
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
    """The complete point, if it is near and all equations hold there, including those left out."""
    y = square.filled(x)
    value, _ = square.curve.slope(y)
    holds = float(np.max(np.abs(value), initial=0.0)) < 1e-11
    return y if holds and float(np.max(np.abs(y - guess))) < 0.05 else None


# Events within a step of a branch: folds, branch points, growing oscillations.

#: Smaller singular values mean that branches cross; equations and unknowns are scaled to about one.
_CROSSING = 1e-5


class Kind(StrEnum):
    """The kind of a special point."""

    FOLD = "fold"
    BRANCH = "branch point"
    HOPF = "Hopf"
    #: A real eigenvalue crosses zero, but no other branch of steady motions of this kind leaves.
    DIVERGENCE = "divergence"


@dataclass(frozen=True)
class Special:
    """One special point, with the angular frequency of a Hopf point."""

    kind: Kind
    place: BranchState
    frequency: float = 0.0


def special_points(tracer: Tracer, step: Step) -> list[Special]:
    """All special points within a step, in order."""
    first, second = step.first.spectrum, step.second.spectrum
    found: list[Special] = []
    steady = _sign(first.sign) != _sign(second.sign)
    turns = step.first.tangent[-1] * step.second.tangent[-1] < 0
    if turns:
        found += _fold(tracer, step)
    elif steady:
        found += _zero(tracer, step)
    change = abs(first.unstable - second.unstable)
    if change >= 2:
        found += _oscillation(tracer, step)
    return found


def _sign(value: float) -> bool:
    return value > 0


def _fold(tracer: Tracer, step: Step) -> list[Special]:
    place = _root(tracer, step, lambda there: float(there.tangent[-1]))
    if place is None:
        return []
    if is_crossing(tracer, place.y):
        return _exactly(tracer, place, step, Kind.BRANCH)
    return _exactly(tracer, place, step, Kind.FOLD)


def _zero(tracer: Tracer, step: Step) -> list[Special]:
    place = _root(tracer, step, lambda there: there.spectrum.sign)
    if place is None:
        return []
    if is_crossing(tracer, place.y):
        return _exactly(tracer, place, step, Kind.BRANCH)
    return [] if place.spectrum.singular else [Special(Kind.DIVERGENCE, place)]


def _oscillation(tracer: Tracer, step: Step) -> list[Special]:
    """Where a pair of eigenvalues gets a positive real part."""
    index = max(step.first.spectrum.unstable, step.second.spectrum.unstable) - 1
    stable = min((step.first, step.second), key=lambda one: one.spectrum.unstable).spectrum

    def real_part(there: BranchState) -> float:
        return float("nan") if there.spectrum.singular else float(there.spectrum.real_parts[index])

    if stable.real_parts[index] < -stable.rounding:
        place = _root(tracer, step, real_part)
    else:  # without damping, real parts are zero until two frequencies meet: found by the onset of growth
        place = _halved(tracer, step, lambda there: real_part(there) > there.spectrum.rounding)
    if place is None or place.spectrum.singular:
        return []
    frequency = _frequency(place, index)
    if frequency > 1e-4 * max(1.0, float(np.max(np.abs(place.spectrum.eigenvalues)))):
        return [Special(Kind.HOPF, place, frequency)]
    return [Special(Kind.BRANCH, place)] if is_crossing(tracer, place.y) else []


def _frequency(place: BranchState, index: int) -> float:
    values = place.spectrum.eigenvalues
    nearest = values[np.argsort(np.abs(values.real - place.spectrum.real_parts[index]))]
    return float(np.max(np.abs(nearest[:2].imag)))


def is_crossing(tracer: Tracer, y: Floats) -> bool:
    """Whether F is singular beyond the curve's own and the neutral directions."""
    _, slope = tracer.curve.slope(y)
    sizes = np.linalg.svd(slope, compute_uv=False)
    index = slope.shape[1] - tracer.curve.neutral - 2
    return bool(index < len(sizes) and sizes[index] < _CROSSING)


def _root(tracer: Tracer, step: Step, function: Callable[[BranchState], float]) -> BranchState | None:
    """Where a function of the point is zero within a step."""
    seen: dict[float, BranchState] = {0.0: step.first, step.length: step.second}

    def at(length: float) -> float:
        if length not in seen:
            there = tracer.between(step.first, length)
            if there is None:
                return float("nan")
            seen[length] = there
        return function(seen[length])

    try:
        root = float(brentq(at, 0.0, step.length, xtol=1e-15, rtol=1e-15))
    except (ValueError, RuntimeError):
        return None
    return seen.get(root) or tracer.between(step.first, root)


def _halved(tracer: Tracer, step: Step, holds: Callable[[BranchState], bool]) -> BranchState | None:
    """Where a condition changes, by bisection."""
    low, high = 0.0, step.length
    at_low, found = holds(step.first), step.second
    while high - low > 4e-16 * max(1.0, abs(step.length)):
        middle = (low + high) / 2
        there = tracer.between(step.first, middle)
        if there is None or middle in (low, high):
            break
        found = there
        if holds(there) == at_low:
            low = middle
        else:
            high = middle
    return found


def _exactly(tracer: Tracer, place: BranchState, step: Step, kind: Kind) -> list[Special]:
    """The point to full accuracy; None if its extended equations have no solution nearby."""
    polish = exact_fold if kind is Kind.FOLD else exact_branch_point
    y = polish(tracer.curve, step.first.y, place.y)
    if y is None:
        return []
    exact = tracer.place(y, step.first.tangent)
    return [] if exact.spectrum.singular else [Special(kind, exact)]
