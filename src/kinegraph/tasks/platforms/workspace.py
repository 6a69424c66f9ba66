"""`workspace`: the poses a platform can reach, and their distance from singular poses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import Value, initial_positions, number, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.initial_pose import body_pose, pose
from kinegraph.model.platforms.recognition import Platform, platform_of
from kinegraph.tabular import Tabular
from kinegraph.tasks.operating_point import Floats

# The legs of a platform in numbers, for many poses at once.


def platform_in(model: MechanismSource) -> tuple[Mechanism, Platform]:
    """The mechanism and its platform; TaskError if it is not a platform."""
    found = mechanism_of(model)
    platform = platform_of(found)
    if platform is None:
        raise TaskError(
            f"{found.name} is not a platform: a platform is a free body on legs UPS, SPU, UCU, RUS or RSU, "
            "which are based on the fixed frame, on carriages that slide on it, or on one free body"
        )
    return found, platform


@dataclass(frozen=True)
class PlatformLegs:
    """One platform: drives, their rates and points of its legs as functions of the platform pose.

    `at` are coordinates of the base of the legs, if it is not at the initial position of the model.
    """

    mechanism: Mechanism
    platform: Platform
    at: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[str, Value]:
        """The parameters, and time zero."""
        return {**parameter_values(self.mechanism), "t": 0.0}

    @cached_property
    def start(self) -> Floats:
        """The initial positions; for the base of the legs those that are given."""
        found = np.array(initial_positions(self.mechanism, self.values))
        for name, value in self.at.items():
            if name not in self.platform.moving.coordinates:
                found[self.mechanism.layout.positions.index(name)] = value
        return found

    @cached_property
    def platform_places(self) -> list[int]:
        """The indices of the platform's coordinates in q."""
        return [self.mechanism.layout.positions.index(name) for name in self.platform.moving.coordinates]

    @cached_property
    def platform_velocities(self) -> list[int]:
        """The indices of the platform's six velocities in v."""
        return [self.mechanism.layout.velocities.index(name) for name in self.platform.moving.velocities]

    @cached_property
    def _order(self) -> list[str]:
        own = {name for leg in self.platform.legs for name in leg.coordinates}
        return [name for name in self.mechanism.layout.positions if name in own]

    @cached_property
    def _drives(self) -> list[int]:
        return [self._order.index(leg.drive) for leg in self.platform.legs]

    @cached_property
    def _positions(self) -> Kernel:
        return compile(self.mechanism, "leg_positions")

    @cached_property
    def _rates(self) -> Kernel:
        return compile(self.mechanism, "leg_velocities")

    def coordinates(self, q: Floats) -> Floats:
        """All coordinates of legs, one row for each row of q; NaN where a leg cannot reach."""
        found = self._positions.batch(q, **self._time(self._positions))
        return np.asarray(found)

    def drives(self, q: Floats) -> Floats:
        """The driven coordinates, in the order of the legs."""
        return np.asarray(self.coordinates(q)[:, self._drives])

    def jacobian(self, q: Floats) -> Floats:
        """Rates of the drives by the platform's velocities: (rows, legs, 6)."""
        columns = []
        for index in self.platform_velocities:
            v = np.zeros((len(q), len(self.mechanism.layout.velocities)))
            v[:, index] = 1
            columns.append(np.asarray(self._rates.batch(q, v, **self._time(self._rates)))[:, self._drives])
        return np.stack(columns, axis=2)

    def _time(self, kernel: Kernel) -> dict[str, float]:
        return {"t": 0.0} if any(argument.name == "t" for argument in kernel.arguments) else {}

    # points

    @cached_property
    def size(self) -> float:
        """The characteristic length: the mean distance of the platform joints from the platform origin."""
        return float(np.mean(np.linalg.norm(self.on_platform, axis=1)))

    @cached_property
    def on_platform(self) -> Floats:
        """The joints on the platform, in its axes."""
        back = np.linalg.inv(self._pose(self.platform.moving.body.name))
        ends = [leg.loop.second for leg in self.platform.legs]
        return np.array([(back @ self._pose(end.body) @ pose(end.transforms, self.values))[:3, 3] for end in ends])

    @cached_property
    def _at_start(self) -> dict[str, Value]:
        return {**self.values, **dict(zip(self.mechanism.layout.positions, self.start, strict=True))}

    def _pose(self, body: str | None) -> Floats:
        """The pose of a body at the start."""
        return body_pose(self.mechanism, body, self._at_start)

    @cached_property
    def bases(self) -> Floats:
        """The frames of the joints on the base, which stays at its initial position: (legs, 4, 4)."""
        return np.array([self._pose(leg.first.base) @ pose(leg.at_base, self.values) for leg in self.platform.legs])

    def _platform_poses(self, q: Floats) -> Floats:
        found = []
        for row in q:
            at: dict[str, Value] = {**self.values, **dict(zip(self.mechanism.layout.positions, row, strict=True))}
            found.append(pose(self.platform.moving.body.transforms, at))
        return np.array(found)

    def platform_turns(self, q: Floats) -> Floats:
        """The rotation matrices from platform axes to fixed axes: (rows, 3, 3)."""
        return self._platform_poses(q)[:, :3, :3]

    def platform_points(self, q: Floats) -> Floats:
        """The joints on the platform in fixed axes: (rows, legs, 3)."""
        poses = self._platform_poses(q)
        return np.asarray(np.einsum("pij,kj->pki", poses[:, :3, :3], self.on_platform) + poses[:, None, :3, 3])

    def lacking(self, q: Floats) -> Floats:
        """The length by which each leg fails to reach the platform, not positive if it reaches: (rows, legs)."""
        found = np.full((len(q), len(self.platform.legs)), -np.inf)
        ends = self.platform_points(q)
        for k, leg in enumerate(self.platform.legs):
            if leg.type.has_crank:
                crank, rod = (number(one, self.values) for one in leg.lengths)
                d = (ends[:, k] - self.bases[k, :3, 3]) @ self.bases[k, :3, :3]
                along = (np.sum(d * d, axis=1) + crank**2 - rod**2) / (2 * crank)
                found[:, k] = np.abs(along) - np.hypot(d[:, 0], d[:, 1])
        return found

    def segments(self, q: Floats) -> tuple[Floats, Floats]:
        """Both ends of the last part of every leg: (rows, legs, 3) each."""
        ends = self.platform_points(q)
        starts = np.broadcast_to(self.bases[:, :3, 3], ends.shape).copy()
        angles = self.drives(q)
        for k, leg in enumerate(self.platform.legs):
            if leg.type.has_crank:
                crank = number(leg.lengths[0], self.values)
                x, y = self.bases[k, :3, 0], self.bases[k, :3, 1]
                starts[:, k] += crank * (np.cos(angles[:, k, None]) * x + np.sin(angles[:, k, None]) * y)
        return starts, ends


# The workspace of a platform.

#: The maximum number of poses of a grid.
MOST_POSES = 2_000_000

#: The least missing length of a leg that cannot reach, beyond rounding.
_LEAST = 1e-300


class Verdict(IntEnum):
    """Why a pose is inside the workspace or not."""

    INSIDE = 0
    OUT_OF_REACH = 1
    STROKE = 2
    TILT = 3
    COLLISION = 4
    SINGULAR = 5
    PLATFORM_TILT = 6

    @property
    def meaning(self) -> str:
        """The verdict in words."""
        return _MEANINGS[self]


_MEANINGS = {
    Verdict.INSIDE: "inside",
    Verdict.OUT_OF_REACH: "a leg cannot reach",
    Verdict.STROKE: "a drive exceeds its stroke",
    Verdict.TILT: "a joint on the base exceeds its angle",
    Verdict.PLATFORM_TILT: "a joint on the platform exceeds its angle",
    Verdict.COLLISION: "legs collide",
    Verdict.SINGULAR: "too close to a singular pose",
}


@dataclass(frozen=True)
class Workspace(Tabular):
    """The workspace on a grid of poses.

    axes: the varied coordinates and their values. verdict: a `Verdict` for every pose. dexterity: the distance from
    singular poses, 1 to 0: the ratio of the smallest to the largest singular value of the drive lines, with lengths
    in units of the platform size. drives: the driven coordinates, legs in the last index. at_fault: which leg
    exceeds a limit (of colliding legs the first), -1 if none; names: of the legs.
    """

    axes: Mapping[str, Floats]
    verdict: npt.NDArray[np.int8]
    dexterity: Floats
    drives: Floats
    at_fault: npt.NDArray[np.int8]
    names: tuple[str, ...]

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """The poses inside the workspace."""
        return np.asarray(self.verdict == Verdict.INSIDE)

    @property
    def share(self) -> float:
        """The fraction of the grid inside the workspace."""
        return float(np.mean(self.inside))

    def counts(self) -> dict[str, int]:
        """How many poses have each verdict."""
        return {one.meaning: int(np.sum(self.verdict == one)) for one in Verdict if np.any(self.verdict == one)}

    def limits(self) -> dict[tuple[Verdict, str], int]:
        """How many poses each leg excludes, and by which limit; the most important first."""
        pairs = zip(self.verdict.ravel().tolist(), self.at_fault.ravel().tolist(), strict=True)
        found = Counter((Verdict(one), self.names[leg] if leg >= 0 else "") for one, leg in pairs if one)
        return dict(found.most_common())

    def __str__(self) -> str:
        spans = ", ".join(f"{name} from {values[0]:g} to {values[-1]:g}" for name, values in self.axes.items())
        lines = [f"{self.verdict.size} poses, {spans}: {self.share:.1%} inside"]
        lines += [f"  {meaning}: {count}{self._legs_of(meaning)}" for meaning, count in self.counts().items()]
        if np.any(self.inside):
            found = self.dexterity[self.inside]
            lines.append(f"  distance from singular poses inside: {found.min():.3g} to {found.max():.3g}")
        return "\n".join(lines)

    def _legs_of(self, meaning: str) -> str:
        own = [f"{leg} {count}" for (one, leg), count in self.limits().items() if one.meaning == meaning and leg]
        return f" ({', '.join(own)})" if own else ""

    def _table(self) -> Mapping[str, npt.NDArray[np.generic]]:
        """A row for each pose of the grid; `leg` exceeds the limit that excludes it."""
        grid = np.meshgrid(*self.axes.values(), indexing="ij")
        legs = np.array([*self.names, ""])
        return {
            **{name: values.ravel() for name, values in zip(self.axes, grid, strict=True)},
            "verdict": np.array([one.meaning for one in Verdict])[self.verdict.ravel()],
            "leg": legs[self.at_fault.ravel()],
            "dexterity": self.dexterity.ravel(),
        }

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        inside = self.dexterity[self.inside]
        limits = self.limits().items()
        return {
            "axes": {name: values.tolist() for name, values in self.axes.items()},
            "verdict": self.verdict.tolist(),
            "share": self.share,
            "counts": self.counts(),
            "limits": [{"limit": one.meaning, "leg": leg, "poses": count} for (one, leg), count in limits],
            "dexterity": [float(inside.min()), float(inside.max())] if inside.size else None,
        }


def workspace(
    model: MechanismSource,
    over: Mapping[str, tuple[float, float] | tuple[float, float, int]],
    *,
    state: Mapping[str, float] | None = None,
    stroke: tuple[float, float] | None = None,
    tilt: float | None = None,
    platform_tilt: float | None = None,
    radius: float = 0.0,
    least: float = 0.0,
    points: int = 41,
) -> Workspace:
    """Compute where a platform can be, over one to three of its coordinates.

    over: from, to and optionally the number of values of each coordinate. state: its other coordinates.
    stroke: limits of all drives. tilt, platform_tilt: the largest tilt of a leg from its initial direction, in radians,
        in its joints on base and platform. radius: of the legs, which must not touch.
    least: the smallest distance from singular poses. points: number of values of each coordinate by default.
    If a pose exceeds several limits, the result names the first of these, and the leg that exceeds it most.
    """
    found, platform = platform_in(model)
    for name in state or {}:
        if name not in found.layout.positions:
            raise TaskError(f"{found.name} has no coordinate {name!r}\n  {did_you_mean(name, found.layout.positions)}")
    legs = PlatformLegs(found, platform, state or {})
    axes = _axes(legs, over, points)
    q = _poses(legs, axes, state or {})
    drives = legs.drives(q)
    dexterity = _dexterity(legs, q)
    judged = _Judged(np.zeros(len(q), dtype=np.int8), np.full(len(q), -1, dtype=np.int8))
    judged.by_leg(np.where(np.isfinite(drives), -1.0, np.maximum(legs.lacking(q), _LEAST)), Verdict.OUT_OF_REACH)
    if stroke is not None:
        if not stroke[0] < stroke[1]:
            raise TaskError(f"the stroke is from {stroke[0]} to {stroke[1]}: give two numbers, the smaller first")
        judged.by_leg(np.maximum(stroke[0] - drives, drives - stroke[1]), Verdict.STROKE)
    if tilt is not None:
        judged.by_leg(_lean(legs, q, False) - tilt, Verdict.TILT)
    if platform_tilt is not None:
        judged.by_leg(_lean(legs, q, True) - platform_tilt, Verdict.PLATFORM_TILT)
    if radius > 0:
        judged.by_leg(2 * radius - _clearances(legs, q), Verdict.COLLISION)
    judged.by_leg((least - dexterity)[:, None], Verdict.SINGULAR, of_legs=False)
    shape = tuple(len(values) for values in axes.values())
    names = tuple(leg.name for leg in platform.legs)
    verdict, at_fault = judged.verdict.reshape(shape), judged.at_fault.reshape(shape)
    return Workspace(axes, verdict, dexterity.reshape(shape), drives.reshape(*shape, -1), at_fault, names)


@dataclass(frozen=True)
class _Judged:
    """Verdicts being filled in."""

    verdict: npt.NDArray[np.int8]
    at_fault: npt.NDArray[np.int8]

    def by_leg(self, excess: Floats, one: Verdict, of_legs: bool = True) -> None:
        """Mark poses still inside at which a leg has a positive excess."""
        excess = np.where(np.isnan(excess), -np.inf, excess)
        fault = (self.verdict == Verdict.INSIDE) & (np.max(excess, axis=1) > 0)
        self.verdict[fault] = one
        if of_legs:
            self.at_fault[fault] = np.argmax(excess[fault], axis=1)


def _axes(
    legs: PlatformLegs, over: Mapping[str, tuple[float, float] | tuple[float, float, int]], points: int
) -> dict[str, Floats]:
    known = [legs.mechanism.layout.positions[place] for place in legs.platform_places]
    if not 1 <= len(over) <= 3:
        raise TaskError(f"a workspace needs one to three coordinates of the platform, not {len(over)}")
    found = {}
    for name, (first, last, *count) in over.items():
        if name not in known:
            raise TaskError(f"{name} is not a coordinate of the platform\n  {did_you_mean(name, known)}")
        if not (np.isfinite(first) and np.isfinite(last)) or first >= last:
            raise TaskError(f"{name} is from {first} to {last}: give two numbers, the smaller first")
        found[name] = np.linspace(first, last, int(count[0]) if count else points)
    if (size := int(np.prod([len(values) for values in found.values()]))) > MOST_POSES:
        raise TaskError(f"the grid has {size} poses; the limit is {MOST_POSES}: use fewer points")
    return found


def _poses(legs: PlatformLegs, axes: Mapping[str, Floats], at: Mapping[str, float]) -> Floats:
    positions = legs.mechanism.layout.positions
    start = legs.start.copy()
    for name, value in at.items():
        start[positions.index(name)] = value
    grid = np.meshgrid(*axes.values(), indexing="ij")
    q = np.tile(start, (grid[0].size, 1))
    for name, values in zip(axes, grid, strict=True):
        q[:, positions.index(name)] = values.ravel()
    return _of_unit_length(legs, q)


def _of_unit_length(legs: PlatformLegs, q: Floats) -> Floats:
    for start in legs.mechanism.layout.quaternions:
        q[:, start : start + 4] /= np.linalg.norm(q[:, start : start + 4], axis=1, keepdims=True)
    return q


def _dexterity(legs: PlatformLegs, q: Floats) -> Floats:
    """The ratio of the smallest to the largest singular value of the drive lines, each of unit length, by the
    platform's velocities."""
    lines = legs.jacobian(q)
    lines[:, :, 3:] /= legs.size
    lines /= np.linalg.norm(lines, axis=2, keepdims=True)
    fine = np.all(np.isfinite(lines), axis=(1, 2))
    found = np.zeros(len(q))
    if np.any(fine):
        values = np.linalg.svd(lines[fine], compute_uv=False)
        full = values.shape[1] >= lines.shape[2]
        found[fine] = values[:, -1] / values[:, 0] if full else 0.0
    return found


def _directions(legs: PlatformLegs, q: Floats) -> Floats:
    starts, ends = legs.segments(q)
    lines = ends - starts
    return np.asarray(lines / np.linalg.norm(lines, axis=2, keepdims=True))


def _lean(legs: PlatformLegs, q: Floats, from_platform: bool) -> Floats:
    """The angle of each leg from its initial direction, seen from the base or the platform."""
    beginning = PlatformLegs(legs.mechanism, legs.platform)  # of the model, wherever the base is now
    start = _of_unit_length(legs, beginning.start[None].copy())
    first, now = _directions(beginning, start), _directions(legs, q)
    if from_platform:
        first, now = (np.einsum("pij,pki->pkj", legs.platform_turns(at), one) for at, one in ((start, first), (q, now)))
    return np.asarray(np.arccos(np.clip(np.sum(now * first, axis=2), -1, 1)))


def _clearances(legs: PlatformLegs, q: Floats) -> Floats:
    """The smallest distance of each leg from any later one."""
    starts, ends = legs.segments(q)
    found = np.full(starts.shape[:2], np.inf)
    for a, b in combinations(range(starts.shape[1]), 2):
        distance = segment_distance(starts[:, a], ends[:, a], starts[:, b], ends[:, b])
        found[:, a] = np.minimum(found[:, a], distance)
    return found


def segment_distance(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """The distance of the segments from a to b and from c to d, row by row: inside both, or from an end."""
    inner = _lines_distance(a, b, c, d)
    ends = [_point_distance(a, c, d), _point_distance(b, c, d), _point_distance(c, a, b), _point_distance(d, a, b)]
    return np.asarray(np.minimum.reduce([inner, *ends]))


def _lines_distance(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """The length of the shortest connection of the lines if it ends inside both segments; otherwise infinity."""
    u, v, w = b - a, d - c, a - c
    uu, uv, vv, uw, vw = (np.sum(x * y, axis=1) for x, y in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    parallel = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uv * vw - vv * uw) / parallel, (uu * vw - uv * uw) / parallel
        gap = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
        inside = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    return np.where(inside, gap, np.inf)


def _point_distance(p: Floats, a: Floats, b: Floats) -> Floats:
    u = b - a
    s = np.clip(np.sum((p - a) * u, axis=1) / np.sum(u * u, axis=1), 0, 1)
    return np.asarray(np.linalg.norm(p - a - s[:, None] * u, axis=1))
