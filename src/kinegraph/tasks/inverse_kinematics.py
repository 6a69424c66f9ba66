"""`inverse_kinematics`: find all joint positions for a pose, each certified by forward kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice, product
from math import ceil, floor, inf, isfinite, pi, prod

import numpy as np

from kinegraph.assembly.initial_values import angle_names, is_among
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import coordinate_limits
from kinegraph.seeds import generator
from kinegraph.tabular import Tabular, by_name
from kinegraph.tasks.operating_point import Floats, kernel_of, refuse_quaternions, search_box
from kinegraph.tasks.pose_solver import REACHED, NoClosedForm, PoseSearch, PoseSolver, target

#: The method of solutions found by search.
SEARCH = "search"
#: Tolerance of limits, for rounding.
_AT_LIMIT = 1e-9
#: The search range of lengths without limits.
_LENGTH = 2.0
#: The maximum number of listed solutions that differ by whole turns.
_MOST = 4096


@dataclass(frozen=True)
class PoseSolution:
    """One solution: positions, and the pose error (meters, radians; the larger counts).

    `isolated`: the mechanism cannot move from there while the body is fixed.
    """

    q: Floats
    error: float
    isolated: bool = True


@dataclass(frozen=True)
class PoseSolutions(Tabular):
    """All solutions found within the limits. Solutions that differ by whole turns count once unless requested.

    Empty: no position within the limits has the pose; `nearest` is the closest one found, by the least sum of squares
        of meters and radians. `outside` are positions with the pose that exceed the limits.
    `family`: the mechanism can move while the body is fixed (it is redundant for the pose, or singular there), so there
        are infinitely many solutions; `isolated` of each says which are examples of these.
    `method`: the closed form that gave them, in which case they are complete, or `search`.
    `with_turns`: the number of solutions within the limits if whole turns count as different.
    """

    solutions: tuple[PoseSolution, ...]
    coordinates: tuple[str, ...]
    nearest: PoseSolution
    family: bool
    method: str = SEARCH
    outside: tuple[PoseSolution, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    with_turns: int = 0

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def complete(self) -> bool:
        """Whether there are certainly no further solutions, except for whole turns where `with_turns` counts more."""
        return self.method != SEARCH and not self.family

    def __str__(self) -> str:
        if not self.solutions:
            return self.reason
        kind = "examples of infinitely many" if self.family else "all" if self.complete else "all that were found"
        if self.family and any(one.isolated for one in self.solutions):
            kind = "isolated ones and examples of infinitely many"
        lines = [f"{len(self)} solutions, {kind} ({self.method}){self.remark}"]
        for one in self.solutions:
            note = "; isolated" if self.family and one.isolated else ""
            lines.append(f"  {self._place(one)}; error {one.error:.1e}{note}")
        return "\n".join(lines)

    @property
    def remark(self) -> str:
        """Remarks on the solutions: those outside the limits, and further turns."""
        beyond = f", {len(self.outside)} more outside the limits" if self.outside else ""
        turned = self.with_turns if self.with_turns > len(self) else 0
        return beyond + (f", {turned} if whole turns count" if turned else "")

    @property
    def reason(self) -> str:
        """Why there is no solution."""
        missed = f"misses it by {self.nearest.error:.3g}"
        if not self.outside:
            within = " within the limits" if self._limited else ""
            return f"the pose cannot be reached{within} ({self.method}): the nearest position found {missed}"
        count = len(self.outside)
        first = "position with the pose exceeds" if count == 1 else "positions with the pose each exceed"
        return (
            f"the pose cannot be reached within the limits: {count} {first} a limit "
            f"({self._exceeded(self.outside[0])}{', ...' if count > 1 else ''}); the nearest position within "
            f"them {missed}"
        )

    @property
    def _limited(self) -> bool:
        return any(ends != (-inf, inf) for ends in self.limits)

    def _exceeded(self, solution: PoseSolution) -> str:
        beyond = [max(low - x, x - high) for x, (low, high) in zip(solution.q, self.limits, strict=True)]
        worst = int(np.argmax(beyond))
        low, high = self.limits[worst]
        return f"{self.coordinates[worst]} = {solution.q[worst]:.6g}, not in {low:.6g} .. {high:.6g}"

    def _place(self, solution: PoseSolution) -> str:
        return ", ".join(f"{name} = {x:.9g}" for name, x in zip(self.coordinates, solution.q, strict=True))

    def _table(self) -> Mapping[str, np.ndarray]:
        """A row for each solution within the limits, then one for each outside."""
        listed = (*self.solutions, *self.outside)
        return {
            **by_name(self.coordinates, [one.q for one in listed]),
            "error": np.array([one.error for one in listed]),
            "isolated": np.array([one.isolated for one in listed], dtype=bool),
            "within_limits": np.arange(len(listed)) < len(self.solutions),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        rows, outside = (
            [
                {
                    "q": dict(zip(self.coordinates, one.q.tolist(), strict=True)),
                    "error": one.error,
                    "isolated": one.isolated,
                }
                for one in solutions
            ]
            for solutions in (self.solutions, self.outside)
        )
        data = {"solutions": rows, "family": self.family, "nearest": self.nearest.error, "outside_limits": outside}
        return {**data, "with_turns": self.with_turns, "method": self.method, "complete": self.complete}


def inverse_kinematics(
    model: MechanismSource,
    body: str,
    pose: Floats | Sequence[float],
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 256,
    seed: int = 0,
    parameters: Mapping[str, Scalar] | None = None,
    closed_form: bool = True,
    limits: bool = True,
    turns: bool | None = None,
) -> PoseSolutions:
    """Find all positions at which `body` (or an output point) has a pose: a 4 x 4 matrix, or three numbers for a point.

    bounds: limits by coordinate instead of those of the robot file. limits: respect the file's limits for the others.
        Without limits, angles cover one turn, and lengths are searched in -2..2.
    starts, seed: number and seed of random starts, where the arm has no closed form (or `closed_form` is False).
    turns: list solutions that differ by whole turns separately; by default for coordinates in `bounds`.
    """
    mechanism = mechanism_of(model)
    _require_open_tree(mechanism)
    wanted = target(pose)
    search_box(mechanism, bounds or {}, _LENGTH)  # checks `bounds`
    ends = _limits(mechanism, bounds or {}, limits, parameters)
    solver = _solver(mechanism, body, wanted, parameters) if closed_form else None
    kernel = kernel_of(mechanism, [f"pose:{body}", f"jacobian:{body}"], parameters)
    search = PoseSearch(kernel, body, wanted)
    box, random = _box(mechanism, ends), generator(seed)
    collector = _Collector(mechanism, search, ends, _periodic(mechanism, kernel, body))
    if solver is None:
        begin = random.uniform(box[:, 0], box[:, 1], (starts, len(box)))
        q = search.arrive(begin)[0]
        if np.isfinite(ends).any():
            q = np.concatenate([q, search.nearest(begin, ends)[0]])
    else:
        batch = solver.batch(wanted[None])
        q = batch.q[0]
        if batch.singular[0]:
            more = collector.freely_moving(q, random.uniform(box[:, 0], box[:, 1], (64, len(box))))
            q = np.concatenate([q, more])
    method = solver.name if solver else SEARCH
    names = mechanism.layout.positions
    apart = frozenset(bounds or ()) if turns is None else frozenset(names if turns else ())
    found = collector.collected(q, method, apart)
    if found.solutions:
        return found
    begin = np.concatenate([q[np.isfinite(q).all(axis=1)], random.uniform(box[:, 0], box[:, 1], (64, len(box)))])
    near, errors = search.nearest(begin, ends)
    inside = near[errors <= REACHED][:4]  # the known ones of infinitely many may all be outside the limits
    if len(inside):
        return collector.collected(np.concatenate([q, inside]), method, apart)
    return replace(found, nearest=collector.nearest(near, errors))


def _limits(
    mechanism: Mechanism, within: Mapping[str, tuple[float, float]], limits: bool,
    parameters: Mapping[str, Scalar] | None,
) -> Floats:  # fmt: skip
    """Lower and upper limits by coordinate, infinite where there is no limit."""
    values = parameter_values(mechanism, parameters)
    stated = coordinate_limits(mechanism, values) if limits else {}
    ends = {**stated, **within}
    return np.array([ends.get(name, (-inf, inf)) for name in mechanism.layout.positions]).reshape(-1, 2)


def _box(mechanism: Mechanism, ends: Floats) -> Floats:
    """The search box: the limits, or one turn or a usual length where there are none."""
    usual = search_box(mechanism, {}, _LENGTH)
    low, high, width = ends[:, 0], ends[:, 1], usual[:, 1] - usual[:, 0]
    least = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - width, usual[:, 0]))
    most = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + width, usual[:, 1]))
    return np.stack([least, most], axis=1)


def _periodic(mechanism: Mechanism, kernel: Kernel, body: str) -> list[int]:
    """The indices of coordinates that are periodic by a whole turn: not those with half turns, as in Rz(q/2)."""
    names, angles = mechanism.layout.positions, angle_names(mechanism)
    places = [k for k, name in enumerate(names) if name in angles]
    somewhere = np.random.default_rng(1).uniform(-1, 1, len(names))
    rows = somewhere + 2 * pi * np.concatenate([np.zeros((1, len(names))), np.eye(len(names))[places]])
    poses = kernel.batch(q=rows)[f"pose:{body}"]
    same = np.abs(poses[1:] - poses[0]).max(axis=(1, 2), initial=0.0) < 1e-9 * (1 + np.abs(poses[0]).max())
    return [place for place, holds in zip(places, same, strict=True) if holds]


def _require_open_tree(mechanism: Mechanism) -> None:
    refuse_quaternions(mechanism, "inverse kinematics supports")
    if is_constrained(mechanism):
        raise TaskError(
            f"{mechanism.name} has loops or constraints, but inverse kinematics supports only trees\n"
            "  kg.follow moves a point along a path, kg.assemble closes loops with given coordinates; "
            "kg.load(file, equalities=False) reads a robot file as a tree"
        )


def _solver(
    mechanism: Mechanism, body: str, wanted: Floats, parameters: Mapping[str, Scalar] | None
) -> PoseSolver | None:
    """The closed form; None if there is none, or if other coordinates are free."""
    try:
        solver = PoseSolver(mechanism, body, wanted.ndim == 1, parameters)
    except NoClosedForm:
        return None
    return solver if len(solver.arm.moving) == solver.size else None


@dataclass(frozen=True)
class _Collector:
    """Separates the results of a search or a closed form; `turns` are the indices of coordinates that are angles."""

    mechanism: Mechanism
    search: PoseSearch
    limits: Floats
    turns: Sequence[int]

    def collected(self, q: Floats, method: str, apart: Set[str]) -> PoseSolutions:
        """The solutions among rows of positions; `apart`: the angles whose whole turns count as different solutions."""
        names = self.mechanism.layout.positions
        errors = self.search.errors(q)
        reached = errors <= REACHED
        different = self._different(q[reached], errors[reached])
        movable = self.search.can_move(np.array([one.q for one in different])) if different else np.zeros(0, bool)
        found: list[PoseSolution] = []
        outside: list[PoseSolution] = []
        total = 0
        for one, moves in zip(different, movable, strict=True):
            choices = [self._turned(k, x) for k, x in enumerate(one.q)]
            usual = np.array([nearest for nearest, _ in choices])
            count = prod(len(every) for _, every in choices)
            total += count
            if not count:
                outside.append(PoseSolution(usual, one.error, not moves))
                continue
            listed = [every if name in apart else [x] for name, (x, every) in zip(names, choices, strict=True)]
            if len(found) + prod(map(len, listed)) > _MOST:
                raise TaskError(
                    f"more than {_MOST} solutions differ by whole turns: narrow `bounds`, or give turns=False"
                )
            found += [PoseSolution(np.array(row), one.error, not moves) for row in product(*listed)]
        best = int(np.nanargmin(errors)) if np.isfinite(errors).any() else 0
        return PoseSolutions(
            tuple(sorted(found, key=_order)), self.mechanism.layout.positions,
            PoseSolution(q[best], float(errors[best])), bool(movable.any()), method, tuple(sorted(outside, key=_order)),
            tuple((float(low), float(high)) for low, high in self.limits), total,
        )  # fmt: skip

    def freely_moving(self, q: Floats, starts: Floats) -> Floats:
        """A few positions that can move while the body is fixed, if none of the branches of a closed form can.

        If an angle is free, a closed form takes any value, with which the rest of the arm may not reach the pose.
        """
        reached = q[self.search.errors(q) <= REACHED]
        if len(reached) and self.search.can_move(reached).any():
            return q[:0]
        arrived, errors = self.search.arrive(np.concatenate([q[np.isfinite(q).all(axis=1)], starts]))
        different = self._different(arrived[errors <= REACHED], errors[errors <= REACHED])
        moving = (one.q for one in different if self.search.can_move(one.q[None])[0])
        return np.array(list(islice(moving, 4))).reshape(-1, q.shape[1])

    def nearest(self, q: Floats, errors: Floats) -> PoseSolution:
        """The best of the positions within the limits, turned nearest to their center."""
        best = int(np.argmin(errors))
        usual = np.array([self._turned(k, x)[0] for k, x in enumerate(q[best])])
        return PoseSolution(usual, float(errors[best]))

    def _different(self, q: Floats, errors: Floats) -> list[PoseSolution]:
        """Each solution once, the more exact first: of several at one position the most exact is kept."""
        found: list[PoseSolution] = []
        for row in np.argsort(errors, kind="stable"):
            if not is_among(q[row], [other.q for other in found], self.turns):
                found.append(PoseSolution(q[row], float(errors[row])))
        return found

    def _turned(self, place: int, x: float) -> tuple[float, list[float]]:
        """A coordinate turned nearest to the center of its limits, and all its values within them."""
        low, high = self.limits[place] + (-_AT_LIMIT, _AT_LIMIT)
        if place not in self.turns:
            return float(x), [float(x)] if low <= x <= high else []
        if not (isfinite(low) and isfinite(high)):
            middle = 0.0 if not (isfinite(low) or isfinite(high)) else low + pi if isfinite(low) else high - pi
            usual = _around(middle, x)
            return usual, [usual]
        least, most = ceil((low - x) / (2 * pi)), floor((high - x) / (2 * pi))
        every = [float(x + 2 * pi * k) for k in range(least, most + 1)]
        return _around((low + high) / 2, x), every


def _around(middle: float, x: float) -> float:
    """The angle within half a turn of a center; rounding does not flip it from half a turn to minus half a turn."""
    high = middle + pi + _AT_LIMIT
    return float(high - np.mod(high - x, 2 * pi))


def _order(one: PoseSolution) -> list[float]:
    return [float(x) for x in np.round(one.q, 9)]
