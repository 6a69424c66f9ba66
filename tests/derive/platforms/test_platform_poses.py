"""Forty paths: the generic platform that is kept, real platforms from it, cranks, lengths that fit nowhere."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.tasks.platforms import platform_poses as homotopy
from kinegraph.tasks.platforms.platform_poses import (
    Distances,
    Ends,
    all_tracked,
    distinct,
    generic,
    monodromy_solutions,
    path_between,
    tracked,
)
from tests.effort import SOAK

DRIVES = ["A", "B", "C", "D", "E", "F"]


def misses(distances: Distances, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("kxy,px,py->pk", distances.forms(), x, x))


def test_the_generic_platform_has_forty_poses() -> None:
    kept = generic()
    assert len(distinct([*kept.poses])) == 40
    assert np.max(np.abs(misses(kept.distances, kept.poses))) < 1e-12
    assert np.min(np.abs(np.sum(kept.poses[:, :4] ** 2, axis=1))) > 1e-6  # e.e: none is at infinity
    assert np.max(np.abs(np.sum(kept.poses[:, :4] * kept.poses[:, 4:], axis=1))) < 1e-13  # Study


@pytest.mark.soak
def test_loops_of_parameters_find_more_poses() -> None:
    anew = monodromy_solutions(2, most=3)
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
    ends = tracked(path_between(start.distances, wanted), start.poses, start.plane)
    assert np.all(ends.arrived) and len(distinct([*ends.x])) == 40
    rows = ends.x / np.linalg.norm(ends.x, axis=1, keepdims=True)
    overlaps = np.abs(rows @ rows.T)  # of each with the conjugate of each
    np.testing.assert_allclose(np.max(overlaps, axis=1), 1, atol=1e-9)
    w, v = -p @ e[1:] / 2, (e[0] * p + np.cross(p, e[1:])) / 2  # g = p e / 2
    known = np.array([*e, w, *v])
    assert np.max(np.abs(rows @ known)) / np.linalg.norm(known) > 1 - 1e-9


@pytest.mark.soak
def test_cranks_and_legs_that_fit_nowhere() -> None:
    cranks = kg.platform_poses("hunt", {f"{one}_theta": 0.95 for one in DRIVES})
    assert cranks.complete and len(cranks) >= 1 and all(one.residual < 1e-11 for one in cranks)
    none = kg.platform_poses("stewart", {f"{one}_l": 0.2 for one in DRIVES})
    assert none.complete and len(none) == 0
    with pytest.raises(KinegraphError, match="finite"):
        kg.platform_poses("stewart", {f"{one}_l": float("nan") for one in DRIVES})


def drawn(case: int) -> Distances:
    """A platform of a series of random ones, at a random pose."""
    random = np.random.default_rng(7)
    for _ in range(case + 1):
        base, ring, p, e = (random.normal(size=shape) for shape in ((6, 3), (6, 3), 3, 4))
    w, (x, y, z) = e[0] / np.linalg.norm(e), e[1:] / np.linalg.norm(e)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    away = p + ring @ (np.eye(3) + 2 * w * skew + 2 * skew @ skew).T - base
    rest = np.sum(base**2 + ring**2, axis=1) - np.sum(away**2, axis=1)
    return Distances(base + 0j, ring + 0j, rest + 0j)


@pytest.mark.parametrize("case", [4, 5, 6] if SOAK else [5])
def test_paths_past_singular_places(case: int) -> None:
    """Where rounding leaves large corrections paths go on: forty ends, an even number of them real."""
    ends = all_tracked(generic(), drawn(case))
    assert np.all(ends.arrived) and len(distinct([*ends.x])) == 40
    assert np.max(np.abs(misses(drawn(case), ends.x))) < 1e-6 * np.max(np.abs(ends.x)) ** 2
    rows = ends.x / ends.x[np.arange(40), np.argmax(np.abs(ends.x[:, :4]), axis=1)][:, None]
    assert np.sum(np.max(np.abs(rows.imag), axis=1) < 1e-7) % 2 == 0


@pytest.mark.soak
def test_paths_that_stop_are_found_by_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends that one way loses, real ones as well, come as conjugates or by detours."""
    whole, calls = all_tracked(generic(), drawn(0)), []

    def losing(*arguments: object) -> Ends:
        ends = tracked(*arguments)  # type: ignore[arg-type]
        calls.append(1)
        return ends if len(calls) > 1 else Ends(ends.x, np.where(np.arange(40) % 4 == 0, 0.5, ends.t))

    monkeypatch.setattr(homotopy, "tracked", losing)
    found = homotopy.all_tracked(generic(), drawn(0))
    assert len(calls) > 1 and np.all(found.arrived)
    assert len(distinct([*found.x])) == len(distinct([*found.x, *whole.x])) == 40
