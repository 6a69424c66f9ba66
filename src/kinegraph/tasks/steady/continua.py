"""Equilibria that are not isolated: points on a continuum, and isolated points whose linear forces vanish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.steady.balance import Balance, SteadyCircling

#: Slopes below this fraction of the usual ones are zero.
_ZERO = 1e-7
_NOTHING = 1e-10
#: Points closer than this are equal.
_EQUAL = 1e-6
#: If linear forces are below this fraction of all forces after a step, higher orders decide.
_FLAT = 1e-8
#: The length of a test step along a direction without force, and the fraction that must remain after Newton's method.
_STEP, _REMAINS = 0.02, 0.5
#: The number of steps between neighbors. Newton's method corrects a step along a continuum by a small fraction of it,
#: and a step that leaves one by all of it: this fraction is allowed, and this fraction of the final distance.
_WALK, _CORRECTED = 4, 0.5
_DIRECTIONS, _NEIGHBORS, _MOST_PARTS = 4, 3, 30

#: Newton's method for rows of unknowns; rows that do not converge are NaN.
Corrector = Callable[[Floats], Floats]
#: The difference of two rows of unknowns, modulo whole turns.
Difference = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Hit:
    """A solution. neutral: the number of directions without force. dimension: of the continuum of other solutions."""

    unknowns: Floats
    neutral: int = 0
    dimension: int = 0


@dataclass(frozen=True)
class UsualSlopes:
    """The usual size of the slopes of each equation, and which unknowns count; cyclic coordinates do not."""

    rows: Floats
    columns: Floats
    counted: list[int]

    def neutral_directions(self, slope: Floats) -> Floats:
        """Unit vectors of the unknowns along which nothing changes, row by row."""
        scaled = (slope / self.rows[:, None] / self.columns)[:, self.counted]
        if not scaled.size or not np.isfinite(scaled).all():
            return np.zeros((0, slope.shape[1]))
        _, sizes, vectors = np.linalg.svd(scaled)
        rank = int(np.sum(sizes > _ZERO))
        found = np.zeros((len(vectors) - rank, slope.shape[1]))
        found[:, self.counted] = vectors[rank:] / self.columns[self.counted]
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300))

    def is_flat(self, slope: Floats, residual: Floats) -> bool:
        """Whether forces after a step are nonlinear to leading order; a soft spring beside stiff ones is not flat."""
        linear, all_orders = (float(np.linalg.norm(one / self.rows)) for one in (_STEP * slope, residual))
        return not linear > _FLAT * all_orders


def usual_slopes(equations: Balance | SteadyCircling, unknowns: Floats) -> UsualSlopes:
    """Slopes at random points."""
    _, slopes = equations.missing(unknowns)
    slopes = np.abs(slopes[np.all(np.isfinite(slopes), axis=(1, 2))])
    size = slopes.shape[2]
    if not len(slopes):
        return UsualSlopes(np.ones(slopes.shape[1]), np.ones(size), [])
    rows = np.median(np.max(slopes, axis=2), axis=0)
    rows = np.where(rows > _NOTHING * np.max(rows, initial=0.0), rows, 1.0)  # otherwise it is a rounding error
    columns = np.median(np.max(slopes / rows[:, None], axis=1), axis=0)
    columns[: equations.positions] = 1.0
    counted = [k for k in range(size) if k not in equations.cyclic]
    return UsualSlopes(rows, np.where(columns > _NOTHING, columns, 1.0), counted)


def classified(
    equations: Balance | SteadyCircling, usual: UsualSlopes, places: Sequence[Floats], corrector: Corrector
) -> list[Hit]:
    """For every solution whether it is isolated, and whether its linear forces decide stability."""
    if not len(places):
        return []
    _, slopes = equations.missing(np.array(places))
    found = [usual.neutral_directions(slope) for slope in slopes]
    random = np.random.default_rng(11)
    tried = [_tried(directions, random) for directions in found]
    starts = [place + _STEP * along for place, ways in zip(places, tried, strict=True) for along in ways]
    if not starts:
        return [Hit(place) for place in places]
    forces, _ = equations.missing(np.array(starts))
    ends = np.split(corrector(np.array(starts)), np.cumsum([len(ways) for ways in tried])[:-1])
    residuals = np.split(forces, np.cumsum([len(ways) for ways in tried])[:-1])
    hits = []
    for place, slope, ways, directions, end, force in zip(places, slopes, tried, found, ends, residuals, strict=True):
        arrived = [_arrives(place, along, there, equations.positions) for along, there in zip(ways, end, strict=True)]
        flat = [usual.is_flat(slope @ along, row) for along, row in zip(directions, force, strict=False)]
        dimension = _dimension(len(directions), arrived)
        neutral = sum(one or other for one, other in zip(arrived, flat, strict=False))
        hits.append(Hit(place, max(dimension, neutral), dimension))
    return hits


def _arrives(place: Floats, along: Floats, end: Floats, positions: int) -> bool:
    """Whether a step leads to another solution, at about its own length."""
    moved = float(np.linalg.norm((end - place)[:positions]))
    wanted = _STEP * float(np.linalg.norm(along[:positions]))
    return bool(np.isfinite(moved) and _REMAINS * wanted < moved < wanted / _REMAINS)


def _tried(directions: Floats, random: np.random.Generator) -> list[Floats]:
    """The directions themselves with both signs, and mixtures of them."""
    if len(directions) == 0:
        return []
    if len(directions) == 1:
        return [directions[0], -directions[0]]
    mixed = [weights @ directions for weights in random.standard_normal((_DIRECTIONS, len(directions)))]
    units = [one / np.linalg.norm(one) for one in mixed]
    return [*directions, *units]


def _dimension(neutral: int, arrived: list[bool]) -> int:
    """The dimension: that of all directions if each leads on; if only some do, a line or crossing lines."""
    if not any(arrived):
        return 0
    return neutral if all(arrived) else 1


@dataclass(frozen=True)
class Path:
    """Steps between points of a continuum. rates: which unknowns are velocities."""

    positions: int
    rates: slice
    corrector: Corrector
    difference: Difference

    def distance(self, one: Floats, other: Floats) -> Floats:
        """The distance of positions, row by row."""
        return np.asarray(np.linalg.norm(self.difference(one, other)[:, : self.positions], axis=1))

    def joins(self, first: Floats, second: Floats) -> np.ndarray:
        """Which rows of the first points lead to those of the second ones along solutions."""
        here, goal = first.copy(), second
        length = self.distance(goal, here)
        joined = np.ones(len(here), dtype=bool)
        for left in range(_WALK, 0, -1):
            going = np.flatnonzero(joined)
            before = here[going]
            predicted = before + self.difference(goal[going], before) / left
            here[going] = self.corrector(predicted)
            corrected = np.linalg.norm((here[going] - predicted)[:, : self.positions], axis=1)
            size = np.linalg.norm((predicted - before)[:, : self.positions], axis=1)
            follows = np.isfinite(corrected) & (corrected <= _CORRECTED * size + _EQUAL)
            joined[going] = follows & ~self._reversed(before, here[going], first[going], goal[going])
        with np.errstate(invalid="ignore"):
            return np.asarray(joined & (self.distance(goal, here) <= _CORRECTED * length + _EQUAL))

    def _reversed(self, before: Floats, after: Floats, first: Floats, last: Floats) -> np.ndarray:
        """Whether rates change sign through infinity and not through zero: a step across a pole."""
        one, other = before[:, self.rates], after[:, self.rates]
        largest = np.maximum(np.abs(first[:, self.rates]), np.abs(last[:, self.rates])) + _EQUAL
        with np.errstate(invalid="ignore"):
            return np.asarray(((one * other < 0) & (np.abs(one - other) > largest)).any(axis=1))


def path_along(equations: Balance | SteadyCircling, corrector: Corrector, difference: Difference) -> Path:
    """The steps between solutions of equations."""
    rates = slice(equations.positions + equations.rows, equations.unknowns)
    return Path(equations.positions, rates, corrector, difference)


def grouped(hits: Sequence[Hit], path: Path) -> list[list[Hit]]:
    """Points grouped by continuum: steps lead from each neighbor to the next."""
    if len(hits) < 2:
        return [[hit] for hit in hits]
    places = np.array([hit.unknowns for hit in hits])
    distances = np.array([path.distance(places, place) for place in places])
    first, second = _edges(distances)
    joined = path.joins(places[first], places[second])
    edges = np.zeros((len(hits), len(hits)), dtype=bool)
    edges[first[joined], second[joined]] = True
    count, labels = connected_components(edges, directed=False)
    if 1 < count <= _MOST_PARTS:  # if points are few, the nearest ones may belong to another continuum
        first, second = _between(distances, labels, count)
        joined = path.joins(places[first], places[second])
        edges[first[joined], second[joined]] = True
        count, labels = connected_components(edges, directed=False)
    return [[hit for hit, label in zip(hits, labels, strict=True) if label == number] for number in range(count)]


def _between(distances: Floats, labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest pairs of points of every two parts."""
    pairs: list[tuple[int, int]] = []
    for one in range(count):
        for other in range(one):
            rows, columns = np.flatnonzero(labels == one), np.flatnonzero(labels == other)
            order = np.argsort(distances[np.ix_(rows, columns)], axis=None)[:_NEIGHBORS]
            pairs += [(rows[k // len(columns)], columns[k % len(columns)]) for k in order]
    first, second = zip(*pairs, strict=True)
    return np.array(first), np.array(second)


def _edges(distances: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of neighbors: the nearest ones of each point, and as many more as connect all."""
    near = np.maximum(distances, 1e-12)  # a sparse matrix has no edge of length zero
    np.fill_diagonal(near, 0.0)
    tree = minimum_spanning_tree(near).tocoo()
    found = set(zip(tree.row.tolist(), tree.col.tolist(), strict=True))
    for row, others in enumerate(np.argsort(distances, axis=1)[:, 1 : _NEIGHBORS + 1].tolist()):
        found |= {(row, other) for other in others if (other, row) not in found and other != row}
    first, second = zip(*sorted(found), strict=True)
    return np.array(first), np.array(second)
