"""The workspace of a platform and its poses for given drives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.tasks.platforms.workspace import Verdict, segment_distance
from tests.cli.run import runner


def test_stroke_reach_and_singularity() -> None:
    """Verdicts by hand: lengths of legs from the table's points, and the drives' lines from these."""
    found = kg.workspace("stewart", {"x": (-2, -1, 5), "z": (0.5, 1.5, 4)}, stroke=(1.1, 1.5), state={"y": 0.1})
    base = np.array([[-2.12, 1.374], [-2.38, 1.224], [-2.38, -1.224], [-2.12, -1.374], [0, -0.15], [0, 0.15]])
    ring = np.array([[0.17, 0.595], [-0.6, 0.15], [-0.6, -0.15], [0.17, -0.595], [0.43, -0.445], [0.43, 0.445]])
    on_base, on_ring = np.column_stack([base, np.zeros(6)]), np.column_stack([ring, np.full(6, -0.4)])
    size = np.mean(np.linalg.norm(on_ring, axis=1))
    for i, x in enumerate(found.axes["x"]):
        for k, z in enumerate(found.axes["z"]):
            lines = on_ring + np.array([x, 0.1, z]) - on_base
            lengths = np.linalg.norm(lines, axis=1)
            np.testing.assert_allclose(found.drives[i, k], lengths, rtol=1e-13)
            assert (found.verdict[i, k] == Verdict.INSIDE) == bool(np.all((lengths > 1.1) & (lengths < 1.5)))
            screws = np.column_stack([lines, np.cross(on_ring, lines) / size])
            screws /= np.linalg.norm(screws, axis=1, keepdims=True)
            values = np.linalg.svd(screws, compute_uv=False)
            assert found.dexterity[i, k] == pytest.approx(values[-1] / values[0], rel=1e-9)
    assert 0 < found.share < 1 and "drive exceeds its stroke" in str(found)


def test_cranks_that_do_not_reach_legs_that_lean_and_collide() -> None:
    far = kg.workspace("hunt", {"z": (0.3, 1.2, 10)})
    assert {Verdict(int(one)) for one in np.ravel(far.verdict)} == {Verdict.INSIDE, Verdict.OUT_OF_REACH}
    leaning = kg.workspace("stewart", {"x": (-2, -1, 11)}, tilt=0.2)
    assert leaning.verdict[5] == Verdict.INSIDE and leaning.verdict[0] == Verdict.TILT
    thick = kg.workspace("stewart", {"x": (-1.6, -1.4, 3)}, radius=0.2)
    assert np.all(thick.verdict == Verdict.COLLISION)
    singular = kg.workspace("stewart", {"z": (0.35, 0.45, 3)}, least=0.01)
    assert singular.verdict[1] == Verdict.SINGULAR  # all joints in one plane


def test_limits_name_the_leg() -> None:
    """By hand: the length that is farthest beyond its stroke, the angles between leg and ring."""
    found = kg.workspace("stewart", {"x": (-1.9, -1.1, 9), "y": (-0.3, 0.3, 5)}, stroke=(1.1, 1.5))
    outside = ~found.inside
    excess = np.maximum(1.1 - found.drives, found.drives - 1.5)
    assert np.array_equal(found.at_fault[outside], np.argmax(excess, axis=-1)[outside])
    assert np.all(found.at_fault[found.inside] == -1)
    assert sum(found.limits().values()) == np.sum(outside) and (Verdict.STROKE, "A") in found.limits()
    assert "(" in str(found).splitlines()[2]
    # Turned about its own z, the ring leans against legs that hardly lean against the base.
    turned = kg.workspace("stewart", {"e3": (0.0, 0.2, 3)}, platform_tilt=0.3)
    assert turned.verdict.tolist() == [Verdict.INSIDE, Verdict.INSIDE, Verdict.PLATFORM_TILT]
    angle = 2 * np.arctan(0.2)
    assert not kg.workspace("stewart", {"e3": (0.0, 0.2, 3)}, tilt=angle).verdict.any()
    assert kg.workspace("stewart", {"x": (-1.6, -1.4, 3)}, radius=0.2).at_fault.min() >= 0


def test_distance_of_segments() -> None:
    random = np.random.default_rng(0)
    ends = random.normal(size=(4, 50, 3))
    steps = np.linspace(0, 1, 201)
    first = ends[0][:, None] + steps[:, None] * (ends[1] - ends[0])[:, None]
    second = ends[2][:, None] + steps[:, None] * (ends[3] - ends[2])[:, None]
    sampled = np.min(np.linalg.norm(first[:, :, None] - second[:, None], axis=-1), axis=(1, 2))
    np.testing.assert_allclose(segment_distance(*ends), sampled, atol=0.02)


def test_all_poses_for_given_drives() -> None:
    """Every pose has the drives that were asked for; the pose they came from is among them, and its mirror image."""
    lengths = kg.compile("stewart", "leg_positions")
    mechanism = kg.load("stewart")
    e = np.array([1, 0.05, -0.03, 0.02])
    e /= np.linalg.norm(e)
    q = np.zeros(len(mechanism.layout.positions))
    q[6:13] = [-1.45, 0.05, 1.1, *e]
    drives = dict(zip(mechanism.layout.positions[:6], np.asarray(lengths(q))[:6], strict=True))
    found = kg.platform_poses(mechanism, drives)
    assert found.complete and found.paths is not None and found.paths.real == len(found)
    assert 2 <= len(found) <= 40 and len(found) % 2 == 0
    by_newton = kg.platform_poses(mechanism, drives, starts=200)
    assert 0 < len(by_newton) <= len(found) and not by_newton.complete
    rings = np.array([list(one.coordinates.values()) for one in found])
    assert np.min(np.max(np.abs(rings - q[6:13]), axis=1)) < 1e-8
    heights = rings[:, 2:3] + [[-0.4]] * rotated_z(rings[:, 3:])
    assert np.sum(heights > 0) == np.sum(heights < 0)  # the base's plane is a mirror
    for one in rings:
        at = q.copy()
        at[6:13] = one
        np.testing.assert_allclose(np.asarray(lengths(at))[:6], list(drives.values()), atol=1e-10)


def rotated_z(e: np.ndarray) -> np.ndarray:
    """The height that a unit length along the ring's z has."""
    return 1 - 2 * (e[:, 1:2] ** 2 + e[:, 2:3] ** 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kg.workspace("four-bar", {"x": (0, 1)}), "is not a platform"),
        (lambda: kg.workspace("stewart", {"w": (0, 1)}), "w is not a coordinate of the platform"),
        (lambda: kg.workspace("stewart", {"x": (1, 0)}), "the smaller first"),
        (lambda: kg.workspace("stewart", {}), "one to three coordinates"),
        (lambda: kg.workspace("stewart", {"x": (0, 1), "y": (0, 1), "z": (0, 1)}, points=500), "the limit is"),
        (lambda: kg.platform_poses("stewart", {"A_l": 1}), "a value for every drive"),
        (lambda: kg.platform_poses("stewart", {"A": 1}), "A is not a drive"),
    ],
)
def test_faults(call: object, message: str) -> None:
    with pytest.raises(KinegraphError, match=message):
        call()  # type: ignore[operator]


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = "workspace stewart --over x=-1.7:-1.3 --over y=-0.2:0.2 --points 5 --stroke 1.1:1.5 --json --plot"
    done = runner(capsys)(line, tmp_path / "w.png")
    answer = json.loads(done.out)
    assert answer["share"] > 0 and len(answer["verdict"]) == 5 and (tmp_path / "w.png").exists()
