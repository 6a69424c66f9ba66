"""All poses of a platform's ring for given drives: forward kinematics, of which there may be forty solutions.

Six legs with given drives are six distances between points of base and ring. Forty paths of a homotopy lead to all
isolated poses (`homotopy.py`); what became of every path is said with the result. On request, or with other than six
legs, Newton's method from many starts instead, which says nothing of poses it did not find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from kinegraph.compiler.load import MechanismSource
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import number
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import generator
from kinegraph.tasks.platforms.homotopy import MOST_POSES, Complex, Distances, Ends, all_tracked, generic
from kinegraph.tasks.platforms.legs import Floats, LegsInNumbers, platform_in

_LEGS = 6
_STEPS = 80
#: Steps of Newton's method at the end of a path, at most: near a singular pose each only halves what is left.
_POLISH = 40
#: What may be left of a drive's miss and how far apart two poses are, in lengths of leg and ring, and in radians.
_CLOSED = 1e-11
_SAME = 1e-6
_REAL = 1e-7  # imaginary parts below this, in parts of the whole, are rounding
#: A path is beyond reach where e.e is below this part of the least it is at real poses: at its end, or before, where it
#: cannot be followed on.
_BEYOND = (0.5, 0.01)


@dataclass(frozen=True)
class RingPose:
    """A pose of the ring: its coordinates by name, what is left of the drives' misses, and how often it was found."""

    ring: Mapping[str, float]
    residual: float
    hits: int


@dataclass(frozen=True)
class Paths:
    """What became of the forty paths. `beyond` ended at infinity or farther away than legs reach; `other_branch` are
    real poses with a crank in its other position.

    `lost` could not be followed to the end, or met another: near a singular pose, or where poses form a curve.
    """

    real: int
    complex: int
    beyond: int
    other_branch: int
    lost: int


@dataclass(frozen=True)
class RingPoses(Sequence[RingPose]):
    """The poses that were found, and what became of all paths if paths were followed."""

    poses: tuple[RingPose, ...]
    paths: Paths | None = None

    @property
    def complete(self) -> bool:
        """Whether these are all isolated poses, with probability one: every path's end is known."""
        return self.paths is not None and self.paths.lost == 0

    def __len__(self) -> int:
        return len(self.poses)

    @overload
    def __getitem__(self, index: int) -> RingPose: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[RingPose, ...]: ...

    def __getitem__(self, index: int | slice) -> RingPose | tuple[RingPose, ...]:
        return self.poses[index]


def ring_poses(
    mechanism: MechanismSource, drives: Mapping[str, float], *, starts: int | None = None, seed: int = 0
) -> RingPoses:
    """Poses of the ring for which the drives have these values.

    All of them by forty paths; with `starts` by Newton's method from so many random starts, the most often found first.
    """
    found, platform = platform_in(mechanism)
    legs = LegsInNumbers(found, platform)
    names = [leg.drive for leg in platform.legs]
    for name in drives:
        if name not in names:
            raise TaskError(f"{name} is no drive of {found.name}\n  {did_you_mean(name, names)}")
    if platform.ring.quaternion is None:
        raise TaskError(f"{found.name}: all poses are found for a ring with a quaternion; give it one")
    if len(drives) != len(names):
        raise TaskError(f"a value for every drive is needed: {', '.join(names)}")
    wanted = np.array([float(drives[name]) for name in names])
    if not np.all(np.isfinite(wanted)):
        raise TaskError("the drives need finite values")
    if len(names) < _LEGS:
        remedy = "fix its place by `kinegraph assemble --at`, or give it as many legs as it has degrees of freedom"
        raise TaskError(
            f"{found.name}: the {len(names)} drives {', '.join(names)} leave the ring free to move\n  {remedy}"
        )
    if starts is None and len(names) == _LEGS:
        return _by_paths(legs, wanted)
    q = _starts(legs, wanted, starts or 2000, seed)
    for _ in range(_STEPS):
        q = _improved(legs, q, wanted)
    return RingPoses(tuple(_sorted_out(legs, q, wanted)))


# by paths


def _by_paths(legs: LegsInNumbers, wanted: Floats) -> RingPoses:
    distances, scale = _distances(legs, wanted)
    ends = all_tracked(generic(), distances)
    beyond = _beyond(ends, distances)
    known = ends.arrived & ~beyond
    x = _turned_real(ends.x[known])
    real = np.max(np.abs(x.imag), axis=1) < _REAL * np.max(np.abs(x), axis=1)
    poses = tuple(_sorted_out(legs, _polished(legs, x.real[real], scale, wanted), wanted))
    coincident = MOST_POSES - len(ends.x)  # two paths at one pose: it is singular, or one jumped
    dropped = int(np.sum(real)) - len(poses)
    other = dropped if any(leg.type.has_crank for leg in legs.platform.legs) else 0
    lost = int(np.sum(~ends.arrived & ~beyond)) + coincident + dropped - other
    return RingPoses(poses, Paths(len(poses), int(np.sum(~real)), int(np.sum(beyond)), other, lost))


def _beyond(ends: Ends, distances: Distances) -> npt.NDArray[np.bool_]:
    """Where the ring would be too far away: a real pose has e.e / x.x = 1 / (1 + p.p / 4), and p is within reach."""
    sides = [np.linalg.norm(one.real, axis=1) for one in (distances.base, distances.ring)]
    lengths = np.sqrt(np.maximum(sides[0] ** 2 + sides[1] ** 2 - distances.rest.real, 0.0))
    reach = float(np.min(sides[0] + sides[1] + lengths))
    square = np.abs(np.sum(ends.x[:, :4] ** 2, axis=1)) / np.linalg.norm(ends.x, axis=1) ** 2
    return np.asarray(square * (1 + reach**2 / 4) < np.where(ends.arrived, *_BEYOND))


def _distances(legs: LegsInNumbers, wanted: Floats) -> tuple[Distances, float]:
    """The legs as distances of points in lengths of the ring: of a crank that of its tip, which the drive places."""
    base, lengths = legs.bases[:, :3, 3].copy(), wanted.copy()
    for k, leg in enumerate(legs.platform.legs):
        if leg.type.has_crank:
            crank, rod = (number(one, legs.values) for one in leg.lengths)
            turn = np.array([np.cos(wanted[k]), np.sin(wanted[k]), 0.0])
            base[k] += crank * (legs.bases[k, :3, :3] @ turn)
            lengths[k] = rod
    scale = legs.size
    a, b, c = base / scale, legs.on_ring / scale, lengths / scale
    rest = np.sum(a * a, axis=1) + np.sum(b * b, axis=1) - c * c
    return Distances(a.astype(complex), b.astype(complex), rest.astype(complex)), scale


def _turned_real(x: Complex) -> Complex:
    """Each row times the number that makes its rotation real, if it can be."""
    rows = np.arange(len(x))
    largest = x[rows, np.argmax(np.abs(x[:, :4]), axis=1)]
    return np.asarray(x / largest[:, None])


def _polished(legs: LegsInNumbers, x: Floats, scale: float, wanted: Floats) -> Floats:
    """Poses of the ring from dual quaternions, p = 2 g e* / e.e, and some steps of Newton's method on the drives."""
    q = np.tile(legs.start, (len(x), 1))
    e, g = x[:, :4], x[:, 4:]
    square = np.sum(e * e, axis=1, keepdims=True)
    place = g[:, 1:] * e[:, :1] - g[:, :1] * e[:, 1:] - np.cross(g[:, 1:], e[:, 1:])
    q[:, legs.ring_places[:3]] = 2 * scale * place / square
    q[:, legs.ring_places[3:]] = e / np.sqrt(square)
    missed = _missed(legs, q, wanted)
    for _ in range(_POLISH if len(q) else 0):
        moved = _improved(legs, q, wanted)
        left = _missed(legs, moved, wanted)
        better = left < missed
        if not np.any(better):
            break
        q, missed = np.where(better[:, None], moved, q), np.where(better, left, missed)
    return q


def _missed(legs: LegsInNumbers, q: Floats, wanted: Floats) -> Floats:
    """The largest miss of a drive: of lengths in their own, or the ring's if that is longer; of cranks in radians."""
    lengths = np.maximum(np.abs(wanted), legs.size)
    scale = np.where([leg.type.has_crank for leg in legs.platform.legs], 1.0, lengths)
    return np.asarray(np.max(np.abs(legs.drives(q) - wanted) / scale, axis=1))


# by Newton's method


def _starts(legs: LegsInNumbers, wanted: Floats, count: int, seed: int) -> Floats:
    """Random places around the joints on the base, random rotations; the start of the model first."""
    random = generator(seed)
    centre = np.mean(legs.bases[:, :3, 3], axis=0)
    reach = float(np.max(np.linalg.norm(legs.ring_points(legs.start[None])[0] - centre, axis=1)))
    q = np.tile(legs.start, (count, 1))
    places = legs.ring_places
    q[1:, places[:3]] = centre + random.uniform(-1.2 * reach, 1.2 * reach, (count - 1, 3))
    e = random.normal(size=(count - 1, 4))
    q[1:, places[3:]] = e / np.linalg.norm(e, axis=1, keepdims=True)
    return q


def _improved(legs: LegsInNumbers, q: Floats, wanted: Floats) -> Floats:
    """One damped Newton step for every row; rows where a leg does not reach are left where they are."""
    miss = legs.drives(q) - wanted
    jacobian = legs.jacobian(q)
    fine = np.all(np.isfinite(miss), axis=1) & np.all(np.isfinite(jacobian), axis=(1, 2))
    if not np.any(fine):
        return q
    j, r = jacobian[fine], miss[fine]
    turned = np.transpose(j, (0, 2, 1))
    size = np.linalg.norm(r, axis=1)
    damped = turned @ j + (1e-2 * np.minimum(size, 1.0) ** 2)[:, None, None] * np.eye(6) + 1e-14 * np.eye(6)
    step = np.linalg.solve(damped, -(turned @ r[:, :, None]))[:, :, 0]
    longest = np.linalg.norm(step / [*[legs.size] * 3, 1, 1, 1], axis=1, keepdims=True)
    step *= np.minimum(1.0, 0.7 / np.maximum(longest, 1e-300))
    moved = q.copy()
    moved[fine] = _moved(legs, q[fine], step)
    return moved


def _moved(legs: LegsInNumbers, q: Floats, step: Floats) -> Floats:
    """The ring moved by a displacement and turned about its own axes."""
    places = legs.ring_places
    found = q.copy()
    found[:, places[:3]] += step[:, :3]
    w, x, y, z = q[:, places[3:]].T
    a, b, c = (step[:, 3:] / 2).T
    e = [w - x * a - y * b - z * c, x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a]
    turned = np.stack(e, axis=1)
    found[:, places[3:]] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return found


def _sorted_out(legs: LegsInNumbers, q: Floats, wanted: Floats) -> list[RingPose]:
    miss = np.max(np.abs(legs.drives(q) - wanted), axis=1)
    closed = _missed(legs, q, wanted) < _CLOSED
    unit = np.array([*[legs.size] * 3, 1, 1, 1, 1])
    names = [legs.mechanism.layout.positions[place] for place in legs.ring_places]
    retained: list[Floats] = []
    hits: list[int] = []
    misses: list[float] = []
    for row, residual in zip(q[closed], miss[closed], strict=True):
        ring = row[legs.ring_places]
        ring[3:] *= np.sign(ring[3 + int(np.argmax(np.abs(ring[3:])))])
        same = [k for k, one in enumerate(retained) if np.max(np.abs(one - ring) / unit) < _SAME]
        if same:
            hits[same[0]] += 1
        else:
            retained.append(ring)
            hits.append(1)
            misses.append(float(residual))
    order = sorted(range(len(retained)), key=lambda k: -hits[k])
    return [RingPose(dict(zip(names, retained[k].tolist(), strict=True)), misses[k], hits[k]) for k in order]
