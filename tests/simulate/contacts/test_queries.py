"""Collision queries: distances and normals of shapes, beside closed forms and a search over points."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.model.poses import quaternion_matrix
from kinegraph.simulate.contacts.queries import clearances

TWO = """
    coordinates x, y, z;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
    A | Sx(0) | m(1);
    B | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(1), Jx(1), Jy(1), Jz(1);
    shape A | Sx(0) | {};
    shape B | Sx(0) | {};
"""


def test_round_shapes_by_closed_forms() -> None:
    balls = kg.parse(TWO.format("sphere(0.3)", "sphere(0.2)"))
    (one,) = clearances(balls, [0, 0.6, 0.8, 1, 0, 0, 0], within=1)
    assert one.gap == pytest.approx(0.5) and one.normal == pytest.approx([0, 0.6, 0.8])
    assert one.point == pytest.approx(0.55 * np.array([0, 0.6, 0.8]))
    assert clearances(balls, [0, 0.6, 0.8, 1, 0, 0, 0], within=0.4) == ()
    capsules = kg.parse(TWO.format("capsule(0.1, 1)", "capsule(0.2, 1)"))
    half = np.sqrt(0.5)
    (crossed,) = clearances(capsules, [0.7, 0, 0, half, half, 0, 0], within=1)
    assert crossed.gap == pytest.approx(0.4) and crossed.normal == pytest.approx([1, 0, 0])


@pytest.mark.parametrize(
    "shapes",
    [
        ("box(0.4, 0.6, 0.8)", "box(0.5, 0.3, 0.2)"),
        ("box(0.4, 0.6, 0.8)", "capsule(0.1, 0.5)"),
        ("cylinder(0.3, 0.5)", "ellipsoid(0.1, 0.2, 0.3)"),
    ],
)
def test_the_normal_separates_and_nothing_separates_more(shapes: tuple[str, str]) -> None:
    model, random = kg.parse(TWO.format(*shapes)), np.random.default_rng(1)
    directions = random.normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for place in range(12):
        q = np.concatenate([random.normal(size=3) * (0.5 if place % 2 else 0.15), random.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        (one,) = clearances(model, q, within=9)
        axes = quaternion_matrix(q[3:])

        def apart(n: np.ndarray, q: np.ndarray = q, axes: np.ndarray = axes) -> np.ndarray:
            """How far planes across n separate the shapes."""
            return n @ q[:3] - reach(shapes[1], -n @ axes) - reach(shapes[0], n)

        assert apart(one.normal) == pytest.approx(one.gap, abs=1e-5)
        assert apart(directions).max() < one.gap + 1e-5


def reach(shape: str, n: np.ndarray) -> np.ndarray:
    """How far a shape reaches along directions."""
    kind, numbers = shape[:-1].split("(")
    a = np.array([float(one) for one in numbers.split(",")])
    if kind == "box":
        return np.abs(n) @ (a / 2)
    if kind == "ellipsoid":
        return np.sqrt((n * n) @ (a * a))
    if kind == "capsule":
        return a[0] + np.abs(n[..., 2]) * a[1] / 2
    return a[0] * np.hypot(n[..., 0], n[..., 1]) + np.abs(n[..., 2]) * a[1] / 2


@pytest.mark.parametrize("shapes", [("box(0.4, 0.6, 0.8)", "ellipsoid(0.1, 0.2, 0.3)"), ("sphere(0.3)", "sphere(0.2)")])
def test_witness_points_and_gradients(shapes: tuple[str, str]) -> None:
    moved = TWO.replace("Sy(y), Sz(z), Q(e0, e1, e2, e3)", "Rz(y), Ry(z)")
    moved = moved.replace("quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);", "")
    model = kg.parse(moved.format(*shapes))
    q = np.array([0.9, 0.4, 0.3])
    (one,) = clearances(model, q, within=9, gradients=True)
    assert one.on_second - one.on_first == pytest.approx(one.gap * one.normal)
    assert one.gradient is not None
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-5
        (above,), (below,) = (clearances(model, q + sign * step, within=9) for sign in (1, -1))
        assert one.gradient[k] == pytest.approx((above.gap - below.gap) / 2e-5, abs=2e-6)


def test_wrong_positions_are_refused() -> None:
    with pytest.raises(SolveError, match=r"q has shape \(2,\): give 7 positions"):
        clearances(kg.parse(TWO.format("sphere(1)", "sphere(1)")), [0, 0])
