"""Forty paths: the generic platform that is kept, real platforms from it, cranks, lengths that fit nowhere."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.tasks.platforms.homotopy import Distances, distinct, found_anew, generic, tracked, way

DRIVES = ["A", "B", "C", "D", "E", "F"]


def misses(distances: Distances, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("kxy,px,py->pk", distances.forms(), x, x))


def test_the_generic_platform_has_forty_poses() -> None:
    kept = generic()
    assert len(distinct([*kept.poses])) == 40
    assert np.max(np.abs(misses(kept.distances, kept.poses))) < 1e-12
    assert np.min(np.abs(np.sum(kept.poses[:, :4] ** 2, axis=1))) > 1e-6  # e.e: none is at infinity
    assert np.max(np.abs(np.sum(kept.poses[:, :4] * kept.poses[:, 4:], axis=1))) < 1e-13  # Study


def test_loops_of_parameters_find_more_poses() -> None:
    anew = found_anew(2, most=3)
    assert len(anew.poses) >= 3 and np.max(np.abs(misses(anew.distances, anew.poses))) < 1e-10


def test_poses_of_a_real_platform() -> None:
    """Forty ends that come in conjugate pairs, the pose the lengths were taken from among them."""
    random = np.random.default_rng(5)
    base, ring = random.normal(size=(6, 3)), 0.6 * random.normal(size=(6, 3))
    e, p = np.array([0.5, 0.5, -0.5, 0.5]), np.array([0.3, -0.2, 1.1])
    turned = ring[:, [1, 2, 0]] * [-1, -1, 1]  # by that quaternion
    lengths = np.linalg.norm(p + turned - base, axis=1)
    rest = np.sum(base**2 + ring**2, axis=1) - lengths**2
    wanted = Distances(base + 0j, ring + 0j, rest + 0j)
    start = generic()
    ends = tracked(way(start.distances, wanted), start.poses, start.plane)
    assert np.all(ends.arrived) and len(distinct([*ends.x])) == 40
    rows = ends.x / np.linalg.norm(ends.x, axis=1, keepdims=True)
    overlaps = np.abs(rows @ rows.T)  # of each with the conjugate of each
    np.testing.assert_allclose(np.max(overlaps, axis=1), 1, atol=1e-9)
    w, v = -p @ e[1:] / 2, (e[0] * p + np.cross(p, e[1:])) / 2  # g = p e / 2
    known = np.array([*e, w, *v])
    assert np.max(np.abs(rows @ known)) / np.linalg.norm(known) > 1 - 1e-9


def test_cranks_and_legs_that_fit_nowhere() -> None:
    cranks = kg.ring_poses("hunt", {f"{one}_theta": 0.95 for one in DRIVES})
    assert cranks.complete and len(cranks) >= 1 and all(one.residual < 1e-11 for one in cranks)
    none = kg.ring_poses("stewart", {f"{one}_l": 0.2 for one in DRIVES})
    assert none.complete and len(none) == 0
    with pytest.raises(KinegraphError, match="finite"):
        kg.ring_poses("stewart", {f"{one}_l": float("nan") for one in DRIVES})
