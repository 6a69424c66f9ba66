"""Points: velocities and accelerations are the derivatives of places, also where time moves the mechanism."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.graph.interpret import interpret
from tests.derive.every_quantity import MECHANISMS


def test_accelerations_where_time_moves_the_mechanism():
    driven = MECHANISMS["driven"]
    graph = kg.derive(driven, ["pose:B", "velocity:B", "acceleration:B", "velocity:B@B"], numeric=True)

    def at(t):
        q, v, a = 0.3 * np.sin(1.3 * t), 0.39 * np.cos(1.3 * t), -0.507 * np.sin(1.3 * t)
        return {name: np.squeeze(x) for name, x in interpret(graph, {"q": q, "q'": v, "q''": a, "t": t}).items()}

    h, t = 1e-3, 0.7
    weights = np.array([1, -8, 0, 8, -1]) / (12 * h)
    rows = [at(t + k * h) for k in range(-2, 3)]
    pose = rows[2]["pose:B"].reshape(4, 4)
    slope = np.tensordot(weights, [row["pose:B"].reshape(4, 4) for row in rows], 1)
    turn = slope[:3, :3] @ pose[:3, :3].T
    velocity = rows[2]["velocity:B"]
    np.testing.assert_allclose(velocity, [*slope[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]], atol=1e-10)
    np.testing.assert_allclose(
        rows[2]["acceleration:B"], np.tensordot(weights, [r["velocity:B"] for r in rows], 1), atol=1e-10
    )
    np.testing.assert_allclose(rows[2]["velocity:B@B"][:3], pose[:3, :3].T @ velocity[:3], atol=1e-14)


def test_a_pendulum_bob():
    bob = kg.parse("coordinates q; gravity 0, 0, -9.81; Bob | Ry(q) | Sz(-2), m(1);")
    found = kg.point_motion(bob, ("Bob", (0, 0, -2)), {"q": 0, "q'": 3})
    np.testing.assert_allclose(found.place, [0, 0, -2], atol=1e-15)
    np.testing.assert_allclose(found.velocity, [-6, 0, 0], atol=1e-14)
    np.testing.assert_allclose(found.acceleration, [0, 0, 18], atol=1e-13)  # toward the pin
    np.testing.assert_allclose(found.angular_velocity, [0, 3, 0], atol=1e-15)
    assert "Bob(0, 0, -2)" in str(found)


def test_along_a_run_velocities_are_slopes_of_places():
    run = kg.simulate("double-pendulum", 1, times=2000, rtol=1e-11, native=False, progress=False)
    found = kg.point_motion(run, "tip")
    np.testing.assert_allclose(found.place[:, 0], run["tip.x"], atol=1e-12)
    slope = np.gradient(run["tip.x"], run.t, edge_order=2)[5:-5]
    np.testing.assert_allclose(found.velocity[5:-5, 0], slope, atol=1e-5)
    slope = np.gradient(found.velocity[:, 2], run.t, edge_order=2)[5:-5]
    np.testing.assert_allclose(found.acceleration[5:-5, 2], slope, atol=1e-4)


def test_mistakes_are_named():
    with pytest.raises(TaskError, match="unknown body or point 'tipp'"):
        kg.point_motion("double-pendulum", "tipp")
    with pytest.raises(TaskError, match="three numbers"):
        kg.point_motion("double-pendulum", ("Upper", (1, 2)))
