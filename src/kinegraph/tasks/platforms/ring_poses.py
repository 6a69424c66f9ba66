"""All poses of a platform's ring for given drives: forward kinematics, of which there may be forty solutions.

Newton's method from many starts at once, in the ring's six velocities; what is found is sorted out. More starts may
find more: `starts` says how many were made, `hits` how often each pose was reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.load import MechanismSource
from kinegraph.errors import TaskError
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.platforms.legs import Floats, LegsInNumbers, platform_in

_STEPS = 80
_CLOSED = 1e-11
_SAME = 1e-6


@dataclass(frozen=True)
class RingPose:
    """A pose of the ring: its coordinates by name, what is left of the drives' misses, and how often it was found."""

    ring: Mapping[str, float]
    residual: float
    hits: int


def ring_poses(
    mechanism: MechanismSource, drives: Mapping[str, float], *, starts: int = 2000, seed: int = 0
) -> list[RingPose]:
    """Poses of the ring for which the drives have these values, the most often found first."""
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
    q = _starts(legs, wanted, starts, seed)
    for _ in range(_STEPS):
        q = _improved(legs, q, wanted)
    return _sorted_out(legs, q, wanted)


def _starts(legs: LegsInNumbers, wanted: Floats, count: int, seed: int) -> Floats:
    """Random places around the joints on the base, random rotations; the start of the model first."""
    random = np.random.default_rng(seed)
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
    longest = np.linalg.norm(step, axis=1, keepdims=True)
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
    names = [legs.mechanism.layout.positions[place] for place in legs.ring_places]
    kept: list[Floats] = []
    hits: list[int] = []
    misses: list[float] = []
    for row, residual in zip(q[miss < _CLOSED], miss[miss < _CLOSED], strict=True):
        ring = row[legs.ring_places]
        ring[3:] *= np.sign(ring[3 + int(np.argmax(np.abs(ring[3:])))])
        same = [k for k, one in enumerate(kept) if np.max(np.abs(one - ring)) < _SAME]
        if same:
            hits[same[0]] += 1
        else:
            kept.append(ring)
            hits.append(1)
            misses.append(float(residual))
    order = sorted(range(len(kept)), key=lambda k: -hits[k])
    return [RingPose(dict(zip(names, kept[k].tolist(), strict=True)), misses[k], hits[k]) for k in order]
