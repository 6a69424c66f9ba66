"""What happens within a step of a branch: folds, branch points, oscillations that begin to grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.optimize import brentq

from kinegraph.tasks.branches.exact_points import exact_branch_point, exact_fold
from kinegraph.tasks.branches.trace import BranchPlace, Step, Tracer
from kinegraph.tasks.operating_point import Floats

#: Singular values below this say that branches cross; equations and unknowns are scaled to about one.
_CROSSING = 1e-5


class Kind(StrEnum):
    """What happens at a special point."""

    FOLD = "fold"
    BRANCH = "branch point"
    HOPF = "Hopf"
    #: A real eigenvalue passes zero, but no other branch of steady motions of this kind leaves.
    DIVERGENCE = "divergence"


@dataclass(frozen=True)
class Special:
    """One special point: the place, and for Hopf points the angular frequency."""

    kind: Kind
    place: BranchPlace
    frequency: float = 0.0


def special_points(tracer: Tracer, step: Step) -> list[Special]:
    """All that is found within a step, in its order."""
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

    def real_part(there: BranchPlace) -> float:
        return float("nan") if there.spectrum.singular else float(there.spectrum.real_parts[index])

    if stable.real_parts[index] < -stable.rounding:
        place = _root(tracer, step, real_part)
    else:  # without damping real parts are zero until two frequencies meet: found by whether there is growth
        place = _halved(tracer, step, lambda there: real_part(there) > there.spectrum.rounding)
    if place is None or place.spectrum.singular:
        return []
    frequency = _frequency(place, index)
    if frequency > 1e-4 * max(1.0, float(np.max(np.abs(place.spectrum.eigenvalues)))):
        return [Special(Kind.HOPF, place, frequency)]
    return [Special(Kind.BRANCH, place)] if is_crossing(tracer, place.y) else []


def _frequency(place: BranchPlace, index: int) -> float:
    values = place.spectrum.eigenvalues
    nearest = values[np.argsort(np.abs(values.real - place.spectrum.real_parts[index]))]
    return float(np.max(np.abs(nearest[:2].imag)))


def is_crossing(tracer: Tracer, y: Floats) -> bool:
    """Whether F is singular beyond the curve's own and the neutral directions."""
    _, slope = tracer.curve.slope(y)
    sizes = np.linalg.svd(slope, compute_uv=False)
    index = slope.shape[1] - tracer.curve.neutral - 2
    return bool(index < len(sizes) and sizes[index] < _CROSSING)


def _root(tracer: Tracer, step: Step, function: Callable[[BranchPlace], float]) -> BranchPlace | None:
    """Where a function of the place is zero within a step."""
    seen: dict[float, BranchPlace] = {0.0: step.first, step.length: step.second}

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


def _halved(tracer: Tracer, step: Step, holds: Callable[[BranchPlace], bool]) -> BranchPlace | None:
    """Where a condition changes, by halving."""
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


def _exactly(tracer: Tracer, place: BranchPlace, step: Step, kind: Kind) -> list[Special]:
    """The point to full accuracy; nothing where its own equations have no solution near the place."""
    polish = exact_fold if kind is Kind.FOLD else exact_branch_point
    y = polish(tracer.curve, step.first.y, place.y)
    if y is None:
        return []
    exact = tracer.place(y, step.first.tangent)
    return [] if exact.spectrum.singular else [Special(kind, exact)]
