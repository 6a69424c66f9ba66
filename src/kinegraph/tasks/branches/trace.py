"""Following one branch: steps of pseudo-arclength, and what happens between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kinegraph.tasks.branches.curve import Curve
from kinegraph.tasks.branches.stability import Spectrum
from kinegraph.tasks.operating_point import Floats

_FIRST, _LARGEST, _SMALLEST = 0.01, 0.04, 1e-7
_BEYOND = 1e-12
_ENDLESS = 4.0
#: Cosines of the angle between two tangents: above the first steps grow, below the second they are tried again.
_STRAIGHT, _BENT = 0.999, 0.98


class Ending(StrEnum):
    """Why a branch ends; the value is how it is said."""

    BOUND = "the range ends"
    CLOSED = "it closes"
    LONG = "it has as many points as allowed"
    LOST = "no further point was found"
    SINGULAR = "forces of constraints grow without bound: a singular position"
    COORDINATES = "the position becomes singular: its coordinates do not tell how it moves"


@dataclass(frozen=True)
class BranchPlace:
    """A place of a branch: scaled unknowns, the tangent in the direction of the way, the eigenvalues."""

    y: Floats
    tangent: Floats
    spectrum: Spectrum


@dataclass(frozen=True)
class Step:
    """One step: from a place by a length along its tangent, corrected across it."""

    first: BranchPlace
    second: BranchPlace
    length: float


@dataclass(frozen=True)
class Tracer:
    """Follows a curve between two values of the varied unknown.

    spectrum: the eigenvalues at a place. difference: of two places, whole turns left out. forces: which unknowns are
    forces of constraints, scaled by ten times the largest they begin with.
    """

    curve: Curve
    spectrum: Callable[[Floats], Spectrum]
    difference: Callable[[Floats, Floats], Floats]
    low: float
    high: float
    points: int
    forces: slice

    def place(self, y: Floats, along: Floats) -> BranchPlace:
        """A place whose tangent is on the side of `along`."""
        return BranchPlace(y, self.curve.tangent(y, along), self.spectrum(y))

    def between(self, first: BranchPlace, length: float) -> BranchPlace | None:
        """The place a length further along the tangent."""
        y = self.curve.corrected(first.y + length * first.tangent, first.tangent)
        return None if y is None else self.place(y, first.tangent)

    def within(self, y: Floats) -> bool:
        """Whether a place belongs to the range, up to rounding."""
        return bool(self.low - _BEYOND <= y[-1] <= self.high + _BEYOND)

    def distance(self, first: Floats, second: Floats) -> float:
        """How far two places are apart, whole turns left out."""
        return float(np.linalg.norm(self.difference(first, second)))

    def trace(self, start: BranchPlace) -> tuple[list[Step], Ending]:
        """All steps from a place on, in the direction of its tangent."""
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

    def _step(self, here: BranchPlace, length: float) -> Step | None:
        """The next step: halved until the curve bends little within it."""
        while length > _SMALLEST:
            there = self.between(here, length)
            if there is not None and not there.spectrum.singular and float(here.tangent @ there.tangent) > _BENT:
                return Step(here, there, length)
            length /= 2
        return None

    def _is_singular_ahead(self, here: BranchPlace) -> bool:
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

    def _closes(self, start: BranchPlace, here: BranchPlace, length: float) -> bool:
        near = self.distance(start.y, here.y) < 0.75 * length
        return near and float(start.tangent @ here.tangent) > 0.9
