"""All branches that hang together: every start is followed both ways, every branch point is left in all directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinegraph.tasks.branches.special_points import Kind, Special, special_points
from kinegraph.tasks.branches.trace import BranchPlace, Ending, Step, Tracer
from kinegraph.tasks.operating_point import Floats

_LEAVING = (0.02, 0.05, 0.1)
_MOST = 64


@dataclass(frozen=True)
class FollowedBranch:
    """One branch as it was followed: its places in order, special points, and why it ends on both sides."""

    places: tuple[BranchPlace, ...]
    special: tuple[Special, ...]
    endings: tuple[Ending | Kind, Ending]


class Explorer:
    """Finds branches from starts and branch points; each is followed once."""

    def __init__(self, tracer: Tracer, metric: Floats) -> None:
        self.tracer = tracer
        self.followed: list[FollowedBranch] = []
        self._metric = metric
        self._left: list[Floats] = []

    def start(self, y: Floats) -> None:
        """Follow the branch through a solution, and what hangs on it, unless it is known."""
        if self.known(y):
            return
        along = np.zeros_like(y)
        along[-1] = 1.0
        place = self.tracer.place(y, along)
        if place.spectrum.singular:
            return
        if not np.any(place.tangent):
            place = self.tracer.place(y, self.tracer.curve.directions(y)[-1])
        forward, end = self.tracer.trace(place)
        back, beginning = ([], end) if end is Ending.CLOSED else self.tracer.trace(_turned(place))
        before, after = self._passed(back), self._passed(forward)
        places = [*(_turned(one) for one in reversed(before.places)), place, *after.places]
        self._add(FollowedBranch(tuple(places), (*reversed(before.special), *after.special), (beginning, end)))

    def known(self, y: Floats) -> bool:
        """Whether a place lies on a branch that was followed."""
        return any(self._lies_on(way, y) for way in self.followed)

    def places_at(self, value: float) -> list[Floats]:
        """Where the followed branches have this value of the varied unknown."""
        found: list[Floats] = []
        for way in self.followed:
            places = np.array([place.y for place in way.places])
            for before, after in pairwise(places):
                if (before[-1] - value) * (after[-1] - value) <= 0 and before[-1] != after[-1]:
                    part = (value - before[-1]) / (after[-1] - before[-1])
                    there = self.tracer.curve.at_value(before + part * (after - before), value)
                    found += [] if there is None else [there]
        return found

    def _passed(self, steps: list[Step]) -> _Passed:
        """The places after the first one, special points among them."""
        found = _Passed([], [])
        for step in steps:
            special = special_points(self.tracer, step)
            found.special.extend(special)
            found.places.extend([*(one.place for one in special), step.second])
        return found

    def _add(self, way: FollowedBranch) -> None:
        self.followed.append(way)
        for one in way.special:
            if one.kind is Kind.BRANCH and len(self.followed) < _MOST and not self._was_left(one.place.y):
                self._left.append(one.place.y)
                self._leave(one.place)

    def _was_left(self, y: Floats) -> bool:
        return any(self.tracer.distance(y, other) < 1e-4 for other in self._left)

    def _leave(self, place: BranchPlace) -> None:
        """Follow the other branches of a branch point."""
        for direction in self._directions(place):
            for length in _LEAVING:
                y = self.tracer.curve.corrected(place.y + length * direction, direction)
                if y is None or self.known(y) or not self.tracer.within(y):
                    continue
                first = self.tracer.place(y, direction)
                if first.spectrum.singular:
                    continue
                steps, end = self.tracer.trace(first)
                passed = self._passed(steps)
                self._add(FollowedBranch((place, first, *passed.places), tuple(passed.special), (Kind.BRANCH, end)))
                break

    def _directions(self, place: BranchPlace) -> Iterator[Floats]:
        """Unit vectors across the known branch along which F is flat too."""
        curve = self.tracer.curve
        _, slope = curve.slope(place.y)
        sizes, rows = np.linalg.svd(slope)[1:]
        flat = rows[int(np.sum(sizes > 1e-5)) :]
        neutral = curve.neutral_directions(self.followed[-1].places[0].y)
        taken = np.vstack([place.tangent, *neutral])
        across = flat - flat @ np.linalg.pinv(taken) @ taken
        count = max(1, len(flat) - len(taken))
        for direction in np.linalg.svd(across)[2][:count]:
            yield direction
            yield -direction

    def _lies_on(self, way: FollowedBranch, y: Floats) -> bool:
        """Whether a place is near the line through a branch's places, whole turns left out."""
        places = np.array([place.y for place in way.places])
        if len(places) < 2:
            return self.tracer.distance(places[0], y) < 1e-6
        sides = np.diff(places, axis=0) * self._metric
        offsets = np.array([self.tracer.difference(y, one) for one in places[:-1]]) * self._metric
        lengths = np.maximum(np.linalg.norm(sides, axis=1), 1e-300)
        along = np.clip(np.sum(sides * offsets, axis=1) / lengths**2, 0, 1)
        away = np.linalg.norm(offsets - along[:, None] * sides, axis=1)
        return bool(np.any(away < 0.05 * lengths + 1e-6))


@dataclass(frozen=True)
class _Passed:
    places: list[BranchPlace]
    special: list[Special]


def _turned(place: BranchPlace) -> BranchPlace:
    return BranchPlace(place.y, -place.tangent, place.spectrum)
