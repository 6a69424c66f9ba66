"""`continuation`: follow equilibria and steady motions as one parameter, force, input, or rate varies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.quantities.variables import Variables, depends_on_time
from kinegraph.errors import TaskError
from kinegraph.model.constraints import tell_of_unknowns
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.equilibria import (
    continuum_path,
    difference_without,
    rates_in,
    repeating,
    require_isolated,
    searched,
    steady_equations,
    unknown_rates,
)
from kinegraph.tasks.linearize import linearized_at, period_of, real_and_imaginary
from kinegraph.tasks.operating_point import Floats, named_values, operating_point
from kinegraph.tasks.steady.balance import Balance, SteadyCircling, Varied, resting_matrix, varied_of
from kinegraph.tasks.steady.bifurcations import Kind, Special, special_points
from kinegraph.tasks.steady.continua import Hit
from kinegraph.tasks.steady.pseudo_arclength import (
    NO_SPECTRUM,
    BranchState,
    Curve,
    Ending,
    Spectrum,
    Step,
    Tracer,
    curve_through,
    spectrum,
    zero_dimensions,
)

# Connected branches: every start is followed in both directions, every branch point in all directions.

_LEAVING = (0.02, 0.05, 0.1)
_MOST = 64


@dataclass(frozen=True)
class FollowedBranch:
    """One branch as followed: its points in order, special points, and why it ends on each side."""

    places: tuple[BranchState, ...]
    special: tuple[Special, ...]
    endings: tuple[Ending | Kind, Ending]


class Explorer:
    """Finds branches from starts and branch points, and follows each once."""

    def __init__(self, tracer: Tracer, metric: Floats) -> None:
        self.tracer = tracer
        self.followed: list[FollowedBranch] = []
        self._metric = metric
        self._left: list[Floats] = []

    def start(self, y: Floats) -> None:
        """Follow the branch through a solution, and all branches connected to it, unless it is known."""
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
        """Whether a point is on a branch already followed."""
        return any(self._lies_on(way, y) for way in self.followed)

    def places_at(self, value: float) -> list[Floats]:
        """The points of the followed branches at this value of the varied unknown."""
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
        """The points after the first one, including special points."""
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

    def _leave(self, place: BranchState) -> None:
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

    def _directions(self, place: BranchState) -> Iterator[Floats]:
        """Unit vectors transverse to the known branch along which F is also stationary."""
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
        """Whether a point is near the polygon of a branch's points, modulo whole turns."""
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
    places: list[BranchState]
    special: list[Special]


def _turned(place: BranchState) -> BranchState:
    return BranchState(place.y, -place.tangent, place.spectrum)


# `continuation`: pseudo-arclength with exact derivatives. Folds, branch points and Hopf points are detected, and every
# branch point is left along all its branches.


@dataclass(frozen=True)
class SpecialPoint:
    """A fold, branch point, Hopf point or divergence: where it is, and the frequency (rad/s) of the growing mode."""

    kind: Kind
    value: float
    q: Floats
    v: Floats
    frequency: float
    eigenvalues: np.ndarray
    z: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Branch:
    """One branch: a row of q, v, z and eigenvalues for every value; `unstable` counts growing eigenvalues.

    Eigenvalues that are zero along the whole branch (cyclic coordinates and their momenta) are omitted.
    """

    values: Floats
    q: Floats
    v: Floats
    unstable: np.ndarray
    eigenvalues: tuple[np.ndarray, ...]
    special: tuple[SpecialPoint, ...]
    begins: str
    ends: str
    z: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def stable(self) -> np.ndarray:
        """Where no eigenvalue has a positive real part."""
        return np.asarray(self.unstable == 0)


@dataclass(frozen=True)
class Branches(Tabular):
    """All branches found, by the variable `over`, which begins at `low`."""

    model: str
    over: str
    coordinates: tuple[str, ...]
    branches: tuple[Branch, ...]
    low: float
    states: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.branches)

    def __getitem__(self, index: int) -> Branch:
        return self.branches[index]

    def __iter__(self) -> Iterator[Branch]:
        return iter(self.branches)

    @property
    def special(self) -> tuple[SpecialPoint, ...]:
        """All special points, each once, ordered by value."""
        found: list[SpecialPoint] = []
        for one in sorted((one for branch in self.branches for one in branch.special), key=lambda one: one.value):
            if not any(_same(one, other) for other in found):
                found.append(one)
        return tuple(found)

    def __str__(self) -> str:
        lines = [f"{self.model}: {len(self)} branches over {self.over}"]
        for number, branch in enumerate(self.branches, 1):
            lines.append(f"{number}: {branch.values[0]:.9g} to {branch.values[-1]:.9g}, {len(branch)} points")
            lines += [f"   {one.kind} at {self.over} = {one.value:.12g}" for one in branch.special]
        return "\n".join(lines)

    def _table(self) -> Mapping[str, np.ndarray]:
        """A row for each point of each branch; branches are numbered from 1, as printed."""
        rows = [q for branch in self.branches for q in branch.q]
        counts = [count for branch in self.branches for count in branch.unstable]
        return {
            "branch": np.repeat(np.arange(1, len(self) + 1), [len(branch) for branch in self.branches]),
            self.over: np.array([value for branch in self.branches for value in branch.values]),
            **by_name(self.coordinates, rows),
            **by_name(self.states, [z for branch in self.branches for z in branch.z]),
            "unstable": np.array(counts, dtype=int),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them; `equilibria` are those at the start of the range."""
        first = [
            self._point(branch, index)
            for branch in self.branches
            for index in range(len(branch))
            if branch.values[index] == self.low
        ]
        return {"over": self.over, "equilibria": first, "branches": [self._entry(one) for one in self.branches]}

    def _entry(self, branch: Branch) -> dict[str, object]:
        special = [
            {
                "kind": one.kind, self.over: one.value, "q": dict(zip(self.coordinates, one.q.tolist(), strict=True)),
                "frequency": one.frequency, "eigenvalues": [real_and_imaginary(value) for value in one.eigenvalues],
            }
            for one in branch.special
        ]  # fmt: skip
        points = [self._point(branch, index) for index in range(len(branch))]
        return {"points": points, "special": special, "begins": branch.begins, "ends": branch.ends}

    def _point(self, branch: Branch, index: int) -> dict[str, object]:
        return {
            self.over: float(branch.values[index]),
            "q": dict(zip(self.coordinates, branch.q[index].tolist(), strict=True)),
            **({"states": dict(zip(self.states, branch.z[index].tolist(), strict=True))} if self.states else {}),
            "stable": bool(branch.stable[index]),
            "eigenvalues": [real_and_imaginary(value) for value in branch.eigenvalues[index]],
        }


def continuation(
    model: MechanismSource,
    over: str,
    low: float,
    high: float,
    state: Mapping[str, Scalar] | None = None,
    *,
    unknown: Sequence[str] | str = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 200,
    seed: int = 0,
    points: int = 2000,
    parameters: Mapping[str, Scalar] | None = None,
) -> Branches:
    """Follow branches of equilibria while a parameter, force (tau:q1), input or steady rate (psi') varies.

    over: the name to vary, from low to high.
    state, unknown: the state to start from, and rates to find, as for `equilibria`.
    bounds: limits of the search by coordinate.
    starts: number of random starts at both ends and in the middle of the range. seed: of the random starts.
    points: the largest number of points of a branch.
    """
    mechanism = mechanism_of(model)
    require_isolated(mechanism)
    _check_range(over, low, high, points)
    varied = varied_of(mechanism, over)
    family = _Family(mechanism, varied, named_values(mechanism, state), dict(parameters or {}), low, unknown)
    starting = [
        (hit, value)
        for value in (low, high, (low + high) / 2)
        for hit in family.hits_at(value, bounds or {}, starts, seed)
    ]
    solutions = [np.append(hit.unknowns, value) for hit, value in starting]
    if not solutions:
        raise TaskError(
            f"{mechanism.name}: no equilibrium found for {over} = {low:g}, {(low + high) / 2:g} or "
            f"{high:g}\n"
            "  choose another range, widen `bounds`, or add starts"
        )
    explorer = family.explorer(solutions, (low, high), points, family.turns)
    family.require_constant(solutions)
    for one, (hit, value) in zip(solutions, starting, strict=True):
        if not (hit.dimension and family.is_beside(hit.unknowns, value, explorer)):
            explorer.start(one / explorer.tracer.curve.scales)
    found = [family.branch(way, explorer.tracer.curve.scales) for way in explorer.followed]
    return Branches(mechanism.name, over, mechanism.layout.positions, tuple(found), low, mechanism.layout.states)


class _Family:
    """The equations of one mechanism with one varied variable."""

    def __init__(
        self,
        mechanism: Mechanism,
        varied: Varied,
        at: Mapping[str, Scalar],
        parameters: dict[str, Scalar],
        low: float,
        unknown: Sequence[str] | str = (),
    ) -> None:
        self.mechanism, self.varied = mechanism, varied
        sought = unknown_rates(mechanism, unknown)
        if varied.name in sought:
            raise TaskError(f"{varied.name} cannot be both varied and unknown: leave it out of one of them")
        if varied.group is Variables.PARAMETERS:
            parameters[varied.name] = low
        else:
            at = {**at, varied.name: low}
        self.parameters = parameters
        tell_of_unknowns(mechanism, at)
        point = varied.at(operating_point(mechanism, at, parameters, guess=True), low)
        equations = steady_equations(mechanism, point, parameters, rates_in(mechanism, at), sought)
        if isinstance(equations, SteadyCircling) and varied.group is not Variables.VELOCITIES:
            raise TaskError(
                f"{mechanism.name}: circular motion can be continued over rates only, not over {varied.name}\n"
                "  vary the rate of a cyclic coordinate, or use equilibria at single values"
            )
        self.equations = replace(equations, varied=varied)

    def hits_at(self, value: float, within: Mapping[str, tuple[float, float]], starts: int, seed: int) -> list[Hit]:
        """The solutions at one value; for a continuum one solution, the nearest to the given state."""
        equations = self.equations_at(value)
        found = searched(self.mechanism, equations, within, starts, seed, self.parameters)
        return found.representatives(equations)

    def is_beside(self, unknowns: Floats, value: float, explorer: Explorer) -> bool:
        """Whether a continuum connects a solution to a known branch: other headings are not other branches."""
        scales = explorer.tracer.curve.scales
        others = [(y * scales)[:-1] for y in explorer.places_at(value / scales[-1])]
        if not others:
            return False
        path = continuum_path(self.equations_at(value), self.turns)
        return bool(np.any(path.joins(np.tile(unknowns, (len(others), 1)), np.array(others))))

    @cached_property
    def turns(self) -> list[int]:
        """The indices of positions that are periodic by a whole turn."""
        return repeating(self.mechanism, self.equations.point, self.parameters)

    def equations_at(self, value: float) -> Balance | SteadyCircling:
        """The equations at one value of the variable."""
        return replace(self.equations, point=self.varied.at(self.equations.point, value), varied=None)

    def require_constant(self, solutions: list[Floats]) -> None:
        """TaskError if the model depends on time in a way that affects stability."""
        if not depends_on_time(self.mechanism) or isinstance(self.equations, SteadyCircling):
            return
        for unknowns in solutions:
            if period_of(self.mechanism, self.equations.at(unknowns), self.parameters) is not None:
                raise TaskError(
                    f"{self.mechanism.name}: the model depends on time, so stability would need Floquet multipliers "
                    "at every point\n"
                    "  use `equilibria` or `modes` at single values, which compute them"
                )

    def explorer(self, solutions: list[Floats], span: tuple[float, float], points: int, turns: list[int]) -> Explorer:
        """The explorer of the branches, in unknowns of comparable size."""
        scales = self._scales(solutions, span)
        curve = curve_through(self.equations.missing, scales, [one / scales for one in solutions])
        regular = _regular(curve, [one / scales for one in solutions], (span[0] / scales[-1], span[1] / scales[-1]))
        curve = replace(curve, neutral=min(curve.nullity(y) for y in regular))
        matrices = [self._matrix(y * scales) for y in regular]
        zeros = min((zero_dimensions(one) for one in matrices if one is not None), key=sum, default=())

        def eigenvalues(y: Floats) -> Spectrum:
            matrix = self._matrix(y * scales)
            return NO_SPECTRUM if matrix is None else spectrum(matrix, zeros)

        low, high = span[0] / scales[-1], span[1] / scales[-1]
        forces = slice(self.equations.positions, self.equations.positions + self.equations.rows)
        tracer = Tracer(curve, eigenvalues, difference_without(turns), low, high, points, forces)
        metric = np.ones(len(scales))
        metric[forces] = 0.0
        return Explorer(tracer, metric)

    def _scales(self, solutions: list[Floats], span: tuple[float, float]) -> Floats:
        """Positions unchanged; multipliers and rates by their size; the variable by its range."""
        largest = np.max(np.abs(solutions), axis=0)
        scales = 10 * np.maximum(largest, 1.0)
        scales[: self.equations.positions] = 1.0
        scales[-1] = span[1] - span[0]
        return np.asarray(scales)

    def _matrix(self, unknowns: Floats) -> Floats | None:
        """The linear system at a point; None in a singular position."""
        point = self.equations.at(unknowns)
        try:
            if isinstance(self.equations, SteadyCircling):
                return resting_matrix(self.equations, point)[0]
            return linearized_at(self.mechanism, point, parameters=self.parameters, steady=False).A
        except TaskError:
            return None

    def branch(self, way: FollowedBranch, scales: Floats) -> Branch:
        """The branch as returned to the user."""
        rows = [place.y * scales for place in way.places]
        points = [self.equations.at(row) for row in rows]
        spectra = [place.spectrum for place in way.places]
        return Branch(
            np.array([row[-1] for row in rows]),
            np.array([point.q for point in points]),
            np.array([point.v for point in points]),
            np.array([one.unstable for one in spectra]),
            tuple(one.eigenvalues for one in spectra),
            tuple(self._special(one, scales) for one in way.special),
            str(way.endings[0]),
            str(way.endings[1]),
            np.array([point.z for point in points]),
        )

    def _special(self, one: Special, scales: Floats) -> SpecialPoint:
        row = one.place.y * scales
        point = self.equations.at(row)
        eigenvalues = one.place.spectrum.eigenvalues
        return SpecialPoint(one.kind, float(row[-1]), point.q, point.v, one.frequency, eigenvalues, point.z)


def _regular(curve: Curve, solutions: list[Floats], span: tuple[float, float]) -> list[Floats]:
    """Points slightly along the branches: the start of a range may be a branch point."""
    inside = [np.clip(y[-1], span[0] + 1.7e-3, span[1] - 1.7e-3) for y in solutions]
    moved = [curve.at_value(y, float(value)) for y, value in zip(solutions, inside, strict=True)]
    return [y for y in moved if y is not None] or solutions


def _same(one: SpecialPoint, other: SpecialPoint) -> bool:
    near = abs(one.value - other.value) <= 1e-6 * (1 + abs(one.value))
    return one.kind is other.kind and near and bool(np.all(np.abs(one.q - other.q) < 1e-4))


def _check_range(over: str, low: float, high: float, points: int) -> None:
    if not (isfinite(high - low) and low < high):
        raise TaskError(f"over: {over} is from {low:g} to {high:g}; give two finite numbers, the lower first")
    if points < 2:
        raise TaskError(f"points is {points}: a branch needs at least 2")
